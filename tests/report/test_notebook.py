"""Selectors show themselves in a notebook: settings, and what they chose."""

import numpy as np
from sklearn import config_context

from shortlist import FoBa


def test_a_fitted_selector_shows_what_it_chose():
    X = np.random.default_rng(0).normal(size=(60, 5))
    selector = FoBa(k=1)
    assert "chosen by" not in selector._repr_html_()
    selector.fit(X, 2 * X[:, 3])
    table = selector.shortlist_._repr_html_()
    assert selector._repr_html_().endswith(table)
    bundle = selector._repr_mimebundle_()
    assert bundle["text/html"].endswith(table)
    assert bundle["text/plain"] == repr(selector)
    with config_context(display="text"):
        assert not hasattr(selector, "_repr_html_")
        assert "text/html" not in selector._repr_mimebundle_()
