"""Formulas as MathML, which browsers draw by themselves.

The usual ways fetch a script from a network or need TeX. Docutils, which Sphinx stands on,
can turn TeX into MathML; this hands it the formulas.
"""

from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx


def _inline(translator, node) -> None:
    translator.body.append(latex2mathml.tex2mathml(node.astext()))
    raise _done()


def _display(translator, node) -> None:
    formula = latex2mathml.tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="formula">{formula}</div>\n')
    raise _done()


def _done() -> Exception:
    from docutils.nodes import SkipNode

    return SkipNode()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
