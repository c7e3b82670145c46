"""Settings that methods have of their own, as options of ``select``.

They are None unless given: defaults are the method's own, and what a method does not know
can be refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from shortlist.cli._options import all_of

F = TypeVar("F", bound=Callable[..., Any])

#: All options here, by the names that click and the methods have for them.
METHOD_OPTIONS = (
    "eta",
    "delta",
    "gamma",
    "forget",
    "truncation",
    "refit",
    "criterion",
    "overshoot",
    "l2",
    "groups",
    "r",
    "p",
    "lam",
    "relevance",
    "redundancy",
    "scheme",
    "bins",
    "n_neighbors",
)


class _NumberOrAuto(click.FloatRange):
    """A number in a range, or the word auto."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        return value if value == "auto" else super().convert(value, param, ctx)


def _as_groups(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> dict[str, str] | str | None:
    """Read what --groups asks for."""
    from shortlist._protocols import DataError, ShortlistError
    from shortlist.sources._label_maps import read_label_map

    if value is None or value == "columns":
        return value
    try:
        return read_label_map(
            value, "expected columns, or a file of features and groups"
        )
    except (DataError, ShortlistError) as error:
        raise click.BadParameter(str(error), ctx, param) from None


def method_options() -> Callable[[F], F]:
    """--eta, --r and others: settings of room rows and of room table."""
    decorators = [
        click.option(
            "--eta",
            type=click.FloatRange(min=0, min_open=True),
            help="Length of steps in room rows: by default 0.3, 0.2 for ofs.",
        ),
        click.option(
            "--delta",
            type=click.FloatRange(min=0, min_open=True),
            help="What adaptive steps divide by at first: by default 0.01.",
        ),
        click.option(
            "--gamma",
            type=click.FloatRange(min=0, min_open=True),
            help="sofs: how little an example counts, by default 1. mission --recipe "
            "paper: what is left, after each example, of weights outside the best K.",
        ),
        click.option(
            "--forget",
            type=click.FloatRange(0, 1, min_open=True),
            help="Share of the past that is left after each example, as 0.9999, for data "
            "that drift: barda, bamd and l1arda.",
        ),
        click.option(
            "--truncation",
            type=click.Choice(["paper", "naive"]),
            help="naive: barda and bamd keep the largest weights, whatever their past.",
        ),
        click.option(
            "--refit/--no-refit",
            default=None,
            help="Whether room rows fits the weights of what it chose again: by default "
            "for files, not for pipes.",
        ),
        click.option(
            "--criterion",
            type=click.Choice(["gradient", "objective"]),
            help="foba: what a forward step goes by, the largest gradient or the largest "
            "fall of the objective along a feature. By default gradient.",
        ),
        click.option(
            "--overshoot",
            type=click.FloatRange(min=0),
            metavar="SHARE",
            help="foba: go up to K and this share of it more, then eliminate; 0 is the "
            "paper's algorithm. By default 0.2.",
        ),
        click.option(
            "--l2",
            type=_NumberOrAuto(0),
            metavar="NUMBER|auto",
            help="foba, projected_gradient, iti, pht: ridge of standardised weights, but "
            "of those always in. By default auto: none for the squared loss, 5 over the "
            "number of rows for others.",
        ),
        click.option(
            "--groups",
            metavar="FILE|columns",
            callback=_as_groups,
            help="foba, projected_gradient, iti, pht, gsr, mtfs, rfs, erfs, rk1u: choose "
            "whole groups, of which K are counted. columns: all features column=value of "
            "a table's column are one. FILE: lines of feature, tab, group.",
        ),
        click.option(
            "--r",
            type=_NumberOrAuto(0, 2, min_open=True),
            metavar="NUMBER|auto",
            help="gsr: exponent of the loss, at most 2; the smaller, the less outliers "
            "count. By default auto: 2, 1 or 0.5, whichever does best on rows held out.",
        ),
        click.option(
            "--p",
            type=click.FloatRange(0, 1, min_open=True),
            metavar="NUMBER",
            help="gsr, rk1u, erfs: exponent of the penalty (of erfs also of the loss), at "
            "most 1; the smaller, the fewer features survive. By default 0.5.",
        ),
        click.option(
            "--lam",
            type=_NumberOrAuto(0),
            metavar="NUMBER|auto",
            help="The penalty. Of gsr, mtfs, rfs, erfs and rk1u by default auto: one under "
            "which about K features survive, or, where p is 1, a twentieth of what would "
            "leave none. In room rows a ridge, or an l1 penalty of l1arda and adafobos: by "
            "default 0 for barda and bamd, 0.01 for ofs, 0.001 for others. Of grafting an "
            "l1 penalty, by default 0, which rises while more than K features would be in.",
        ),
        click.option(
            "--relevance",
            type=click.Choice(["auto", "f", "mutual_info"]),
            help="mrmr: how much a feature tells of the label. By default auto: "
            "mutual_info for classes, f (the F-statistic) for numbers.",
        ),
        click.option(
            "--redundancy",
            type=click.Choice(["auto", "correlation", "mutual_info"]),
            help="mrmr: how much two features tell of each other. By default auto, which "
            "goes with --relevance.",
        ),
        click.option(
            "--scheme",
            type=click.Choice(["quotient", "difference"]),
            help="mrmr: what is made of relevance and redundancy. By default quotient.",
        ),
        click.option(
            "--bins",
            type=click.IntRange(min=2),
            metavar="N",
            help="mrmr: bins that numbers are cut into for mutual_info. By default 5.",
        ),
        click.option(
            "--n-neighbors",
            type=click.IntRange(min=1),
            metavar="N",
            help="relieff: nearest rows of each class to compare with. By default 10.",
        ),
    ]
    return all_of(decorators)
