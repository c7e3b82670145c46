"""How Sphinx builds the site: `make docs`, or

    sphinx-build -W --keep-going -n -c docs . docs/_build/html

The source folder is the project itself, so that every Markdown page is where a reader of
the repository finds it (docs/, papers/*/README.md, CHANGELOG.md) and links between pages
work in both places. Nothing is downloaded and no data are read.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "docs" / "_ext"), str(ROOT)]
os.environ["SHORTLIST_QUIET"] = "1"

from public_members import members_of_ours  # noqa: E402

import shortlist  # noqa: E402

project = "shortlist"
author = "The shortlist developers"
version = release = shortlist.__version__
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "cli_reference",
    "mathml",
    "plain_docstrings",
    "result_tables",
]
root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/**/*.md",
    "docs/api/generated/*.rst",
    "papers/*.md",
    "papers/**/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
]
exclude_patterns = [
    ".*",
    "docs/_build",
    "docs/_ext",
    "docs/_templates",
    "src",
    "tests",
]
templates_path = [str(ROOT / "docs" / "_templates")]  # autosummary asks for it so

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

html_theme = "furo"
html_title = f"shortlist {release}"
html_static_path = ["_static"]
html_css_files = ["shortlist.css"]
html_additional_pages = {"index": "to-the-front-page.html"}
smartquotes = False
html_copy_source = False
html_show_copyright = False
pygments_style = "friendly"
highlight_language = "text"

# Types in docstrings are prose for people ("int or 'auto'"), not names to link.
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autosummary_generate = True
autosummary_imported_members = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

autosummary_context = {"ours": members_of_ours(ROOT / "docs" / "api" / "index.md")}
