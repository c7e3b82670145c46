"""What leaving costs, by a quadratic model."""

from __future__ import annotations

import numpy as np

from shortlist._protocols import Floats, Ints


def removal_costs(
    weights: Floats, inverse: Floats, unit_of: Ints, n_units: int
) -> Floats:
    """Rise of a quadratic if sets of weights leave and the others adapt.

    Without the set S a quadratic with the Hessian H rises from its minimum by
    w_S' ((H^-1)_SS)^-1 w_S / 2.

    Parameters
    ----------
    weights : ndarray of shape (n_weights,) or (n_weights, n_outputs)
        Where the minimum is; outputs share the Hessian, and their costs add up.
    inverse : ndarray of shape (n_weights, n_weights)
        H^-1.
    unit_of : ndarray of shape (n_weights,)
        Set that each weight belongs to, from 0.
    n_units : int
        Number of sets; those without weights cost nothing.

    Returns
    -------
    costs : ndarray of shape (n_units,)
    """
    costs = np.zeros(n_units)
    order = np.argsort(unit_of, kind="stable")
    units, first = np.unique(unit_of[order], return_index=True)
    for unit, members in zip(units, np.split(order, first)[1:], strict=True):
        w = weights[members]
        block = inverse[np.ix_(members, members)]
        costs[unit] = 0.5 * (w * np.linalg.solve(block, w)).sum()
    return costs
