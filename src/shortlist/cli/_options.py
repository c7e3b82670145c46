"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def files_argument() -> Callable[[F], F]:
    """FILE...: what to read."""
    return click.argument(
        "files", nargs=-1, required=True, metavar="FILE...", callback=_check_files
    )


def _check_files(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    if value.count("-") > 1:
        raise click.BadParameter("standard input (-) can be read only once", ctx, param)
    return value


def model_argument() -> Callable[[F], F]:
    """MODEL: a shortlist that was saved."""
    return click.argument("model", metavar="MODEL")


def input_format_option() -> Callable[[F], F]:
    """--input-format: how the text is to be read."""
    return click.option(
        "--input-format",
        type=click.Choice(["auto", "libsvm", "vw"]),
        default="auto",
        help="What FILE holds: libsvm or Vowpal Wabbit text. auto: vw if it ends in .vw "
        "(or .vw.gz, .vw.bz2, .vw.zst), else libsvm, as for standard input.",
    )


def on_error_option() -> Callable[[F], F]:
    """--on-error: what a bad line does."""
    return click.option(
        "--on-error",
        type=click.Choice(["raise", "skip"]),
        default="raise",
        help="What a line that cannot be read does: end the run, or be left out and "
        "counted.",
    )


def quiet_option() -> Callable[[F], F]:
    """--quiet: silence on standard error."""
    return click.option(
        "-q",
        "--quiet",
        is_flag=True,
        callback=_hush,
        help="Say nothing on standard error but what went wrong.",
    )


def _hush(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    if value:
        os.environ["SHORTLIST_QUIET"] = "1"  # kernels that compile announce it
    return value
