"""The log-det objective along single pairs, many at once.

If theta_ij = theta_ji changes by t and all else stays, the determinant of Theta changes
by the factor f(t) = (1 + t W_ij)^2 - t^2 W_ii W_jj. With a = W_ij, b = W_ii W_jj - a^2,

    Q(t) - Q(0) = t r - log(1 + 2 t a - t^2 b) / 2 + l2 t (2 theta + t) / 2.

Theta is positive definite as long as f > 0, on the one interval around 0 where it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._protocols import Floats

# As for blocks: a step from this decrement (of 2Q) is the last.
_LAST = 1e-6

_MAX_STEPS = 100


class Lines(NamedTuple):
    """Some pairs; all arrays have one entry for each."""

    r: Floats  #: correlations
    a: Floats  #: W_ij
    c: Floats  #: W_ii W_jj
    theta: Floats  #: where t = 0 is
    l2: Floats

    @property
    def b(self) -> Floats:
        """How fast the determinant falls: W_ii W_jj - W_ij^2."""
        return self.c - self.a**2

    def rise(self, t: Floats) -> Floats:
        """Q(t) - Q(0); infinite outside positive definiteness."""
        change = t * (2.0 * self.a - t * self.b)
        inside = change > -1.0
        log_factor = np.log1p(np.where(inside, change, 0.0))
        rise = (
            t * self.r - 0.5 * log_factor + 0.5 * self.l2 * t * (2.0 * self.theta + t)
        )
        return np.where(inside, rise, np.inf)

    def best(self) -> Floats:
        """Return the t of the smallest Q.

        Without l2, Q'(t) = 0 reads r b t^2 - (b + 2 r a) t + (a - r) = 0, whose
        discriminant is b^2 + 4 r^2 c. Of its roots one is in the domain: that which
        stays finite as r goes to 0.
        """
        r, a, b = self.r, self.a, self.b
        t = 2.0 * (a - r) / (b + 2.0 * r * a + np.sqrt(b**2 + 4.0 * r**2 * self.c))
        return self._penalised(t) if self.l2.any() else t

    def _penalised(self, t: Floats) -> Floats:
        """Go on with l2, from the best t without it, by Newton steps and halvings.

        The minimum of a sum of two convex functions is between theirs: t and -theta.
        """
        root = np.sqrt(self.c)
        low = np.maximum(np.minimum(t, -self.theta), -1.0 / (root + self.a))
        high = np.minimum(np.maximum(t, -self.theta), 1.0 / (root - self.a))
        for _ in range(_MAX_STEPS):
            factor = 1.0 + t * (2.0 * self.a - t * self.b)
            pull = (self.a - t * self.b) / factor
            slope = self.r - pull + self.l2 * (self.theta + t)
            curvature = self.b / factor + 2.0 * pull**2 + self.l2
            low, high = np.where(slope < 0.0, t, low), np.where(slope > 0.0, t, high)
            newton = t - slope / curvature
            inside = (low <= newton) & (newton <= high)
            t = np.where(inside, newton, 0.5 * (low + high))
            if (np.sqrt(2.0 / curvature) * np.abs(slope)).max() <= _LAST:
                break
        return t
