"""Bounds on false choices: against brute force, and on designs where they must hold."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_regression

from reference.unimodal_tail import largest_tail
from shortlist import ShortlistError, stability
from shortlist.resampling._bounds import unimodal, worst_case


@pytest.mark.parametrize("chance", [0.05, 0.2, 0.45])
@pytest.mark.parametrize("n_pairs", [7, 12])
def test_no_unimodal_law_exceeds_the_bound_and_one_attains_it(chance, n_pairs):
    p = 100.0
    q = chance * p
    for agreements in range(2, n_pairs + 1):
        threshold = 0.5 + agreements / (2 * n_pairs)
        # probability that a feature is stable, times the features there are at most
        tail = largest_tail(n_pairs, agreements, n_pairs * chance**2)
        bound = unimodal(q, p, threshold, n_pairs)
        assert p * tail <= bound * (1 + 1e-6)
        assert bound <= worst_case(q, p, threshold, n_pairs)
        if threshold > 0.5 + 0.5 / n_pairs + 0.75 * chance**2:
            assert p * tail == pytest.approx(bound, rel=1e-6)


def test_bounds_are_those_of_the_papers():
    # C of Shah and Samworth, theorem 2: both of its cases
    assert unimodal(10, 1000, 0.7, 50) == pytest.approx(0.1 / (2 * (0.4 - 0.01)))
    assert unimodal(10, 1000, 0.9, 50) == pytest.approx(0.1 * 4 * 0.11 / 1.02)
    assert worst_case(10, 1000, 0.9, 50) == pytest.approx(100 / (0.8 * 1000))
    # shares are multiples of 1/100: 0.701 asks for 0.71
    assert worst_case(10, 1000, 0.701, 50) == worst_case(10, 1000, 0.71, 50)
    # so many are chosen that unimodality says nothing
    assert unimodal(70, 100, 0.9, 50) == worst_case(70, 100, 0.9, 50)
    with pytest.raises(ShortlistError, match=r"above 0\.5 and at most 1, got 0\.5"):
        worst_case(10, 1000, 0.5, 50)


def test_the_bound_holds_on_average_and_planted_features_are_stable():
    p, planted, n_sets = 60, 3, 25
    false = {0.55: 0, 0.65: 0, 0.75: 0}
    least_planted, noise_shares, bounds = [], [], {}
    for number in range(n_sets):
        rng = np.random.default_rng(number)
        X = rng.normal(size=(80, p))
        y = X[:, :planted].sum(axis=1) + 0.5 * rng.normal(size=80)
        selector = SelectKBest(f_regression, k=8)
        found = stability(selector, X, y, n_resamples=15, random_state=number)
        share = dict(zip(found.ids.tolist(), found.shares.tolist(), strict=True))
        least_planted.append(min(share[j] for j in range(planted)))
        noise_shares += [share.get(j, 0.0) for j in range(planted, p)]
        for threshold in false:
            stable = [j for j in share if share[j] >= threshold - 1e-9]
            false[threshold] += sum(j >= planted for j in stable)
            bounds[threshold] = found.expected_false(threshold)
        assert found.mean_chosen == 8
        assert found.shortlist is None
    assert np.mean(least_planted) > 0.9
    assert np.mean(noise_shares) < 8 / p
    for threshold, count in false.items():
        assert count / n_sets <= bounds[threshold]
    assert false[0.55] > 0  # so that the bound has something to bound
