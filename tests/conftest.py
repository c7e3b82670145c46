"""Settings that must stand before anything is imported."""

import os

# scikit-learn's array-API checks skip themselves without it; nothing is skipped here.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
