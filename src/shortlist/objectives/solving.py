"""Which method minimises a restricted objective: its loss decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._protocols import Floats
from shortlist.losses import Squared, SquaredVector
from shortlist.objectives.envelope import minimise_with_kinks
from shortlist.objectives.least_squares import solve_squared
from shortlist.objectives.newton import Minimum, minimise
from shortlist.objectives.restricted import Restricted


def minimum_of(
    problem: Restricted, theta: Floats, *, dense_limit: int, tol: float, **options: Any
) -> Minimum:
    """Minimise Q from theta on; all keywords are those of ``newton.minimise``.

    Squared losses are solved directly while the Gram matrix may be formed. A pointwise
    loss with kinks goes to the method of multipliers where it has no curvature at all,
    and where Newton's method gets stuck.
    """
    loss, widest = type(problem.loss), max(map(len, problem.features))
    if loss in (Squared, SquaredVector) and widest <= dense_limit:
        return solve_squared(problem)
    options |= {"dense_limit": dense_limit, "tol": tol}
    rough = not loss.is_vector and loss.smoothness == np.inf
    if rough and not problem.curvatures(problem.margins(theta)).any():
        return minimise_with_kinks(problem, theta, **options)
    found = minimise(problem, theta, **options)
    if rough and not (found.converged or found.miss <= tol):
        exact = minimise_with_kinks(problem, found.theta, **options)
        return exact if exact.value < found.value else found
    return found
