"""Formulas as MathML, which browsers draw by themselves.

The usual ways fetch a script from a network or need TeX. Docutils, which Sphinx stands on,
can turn TeX into MathML; this hands it the formulas.
"""

from docutils.nodes import SkipNode
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

LOG = logging.getLogger(__name__)


def as_mathml(node, *, as_block: bool) -> str:
    """The formula of a node; one that docutils does not know is a warning."""
    try:
        return latex2mathml.tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        LOG.warning("formula %r: %s", node.astext(), error, location=node)
        return node.astext()


def _inline(translator, node) -> None:
    translator.body.append(as_mathml(node, as_block=False))
    raise SkipNode


def _display(translator, node) -> None:
    formula = as_mathml(node, as_block=True)
    translator.body.append(f'<div class="formula">{formula}</div>\n')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
