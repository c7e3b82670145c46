"""Settings that must stand before anything is imported."""

import os

from hypothesis import settings

# scikit-learn's array-API checks skip themselves without it; nothing is skipped here.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Two processes run tests side by side; threads of BLAS would spin for each other's cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same examples on every run, so that a failure is never news to anyone but its
# author; `make fuzz` draws new ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("fuzz", deadline=None)
settings.load_profile("fuzz" if "SHORTLIST_FUZZ" in os.environ else "steady")
