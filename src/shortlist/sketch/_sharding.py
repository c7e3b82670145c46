"""What ``Mission`` does with shards: add up what several have learned."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from shortlist._online import OnlineState
from shortlist._online_selector import OnlineSelector
from shortlist._protocols import ShortlistError
from shortlist.sketch._merging import check_mergeable, merged, start_alike
from shortlist.sketch._shard_files import Shard


class Sharding(OnlineSelector):
    """Selectors whose states add up, if they learn with ``recipe="shards"``."""

    def branch(self) -> Any:
        """Give a fresh estimator that starts as this one did, for another shard.

        It has learned nothing yet, but it knows the classes, the units and the ridge that
        the first call of ``partial_fit`` settled here, so that ``merge`` takes it.

        Returns
        -------
        estimator : object

        Examples
        --------
        >>> import numpy as np
        >>> from shortlist.sketch import Mission
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(3000, 50))
        >>> y = X[:, 7] - X[:, 42] > 0
        >>> first = Mission(k=2, recipe="shards").partial_fit(X[:1500], y[:1500])
        >>> second = first.branch().partial_fit(X[1500:], y[1500:])
        >>> first.merge(second).get_feature_names_out()
        array(['x7', 'x42'], dtype=object)
        """
        self._check_mergeable()
        other = clone(self)
        other._first = self._state
        return other

    def merge(self, *others: Any) -> Any:
        """Add what others have learned to what this one has learned.

        Parameters
        ----------
        *others : estimators of the same settings
            Branches of this one, or of a common first one, fitted by ``partial_fit``. They
            stay as they are.

        Returns
        -------
        self : object

        Examples
        --------
        >>> import numpy as np
        >>> from shortlist.sketch import Mission
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(4000, 50))
        >>> y = X[:, 7] - X[:, 42] > 0
        >>> monday = Mission(k=2, recipe="shards").partial_fit(X[:2000], y[:2000])
        >>> tuesday = monday.branch().partial_fit(X[2000:], y[2000:])
        >>> monday.merge(tuesday).shortlist_.n_examples
        4000
        """
        self._check_mergeable()
        for other in others:
            if not isinstance(other, Sharding):
                raise ShortlistError(f"expected estimators to merge, got {other!r}")
            other._check_mergeable()
            self._check_same_settings(other)
        learner = self._learner(classes=self._state.target.classes, one_pass=True)
        self._state = merged(learner, [self._state, *(o._state for o in others)])
        ids = learner.candidates(self._state)
        names = getattr(self, "feature_names_in_", None)
        known = {i: f"x{i}" if names is None else names[i] for i in ids.tolist()}
        self._publish(Shard(learner, self._state, known).shortlist())
        return self

    def _example(self) -> OnlineState | None:
        return getattr(self, "_first", None)

    def _begun(self, state: OnlineState) -> OnlineState:
        first = self._example()
        return state if first is None else start_alike(state, first)

    def _check_mergeable(self) -> None:
        if not hasattr(self, "_state"):
            raise NotFittedError("call partial_fit first: shards are learned by it")
        check_mergeable(self._learner(one_pass=True))

    def _check_same_settings(self, other: Sharding) -> None:
        ours, theirs = self.get_params(), other.get_params()
        for name, mine in ours.items():
            if repr(mine) != repr(theirs[name]):
                raise ShortlistError(
                    f"shards should be learned alike, got {name} = {mine!r} and "
                    f"{theirs[name]!r}"
                )
        if self.n_features_in_ != other.n_features_in_:
            raise ShortlistError(
                f"shards should have the same features, got {self.n_features_in_} and "
                f"{other.n_features_in_} columns"
            )
