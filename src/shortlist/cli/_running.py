"""A run of ``select``: learn with a bar, score on what was held out, keep what there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from shortlist._in_words import counted
from shortlist.cli._checkpoint import Checkpoint
from shortlist.cli._holdout import FEWEST_ROWS, Split, as_params, describe, share
from shortlist.cli._progress import progress_bar, watched

if TYPE_CHECKING:
    from shortlist._protocols import Progress, RowSource
    from shortlist._scoring import Score
    from shortlist._shortlist import Shortlist


NOTHING_LEARNED = "interrupted before anything was learned"
UNSCORED = "interrupted before the held-out rows were scored"


class Outcome(NamedTuple):
    """What a run gave, and what there is to say about it on standard error."""

    shortlist: Shortlist
    remarks: tuple[str, ...]
    failure: Exception | None = None  #: data that could not be learned from or scored
    interrupted: int = 0  #: exit code, if a signal ended the run
    broken: bool = False  #: bad data ended the run: the result is for -o only


class Unscored(NamedTuple):
    """What a run gave of which no rows were held out."""

    shortlist: Shortlist
    unsaid: tuple[str, ...]  #: notes that standard error does not know yet
    interrupted: bool  #: whether Ctrl-C ended the run


def learn(
    learner: Any,
    split: Split,
    fraction: float,
    quiet: bool,
    checkpoint: Checkpoint,
    settle: Callable[[Shortlist], Shortlist] = lambda shortlist: shortlist,
) -> Outcome:
    """Run the learner and score what it chose; Ctrl-C keeps what there is.

    ``settle`` cuts what was chosen to the k that it finds, before it is scored. Rows may
    have passed by for good: what ended early stays whole where no k is found.
    """
    from shortlist._protocols import DataError
    from shortlist.engines import Broken, Interrupted, run

    last: Progress | None = None

    def observe(progress: Progress) -> None:
        nonlocal last
        last = progress
        draw(progress)

    with progress_bar(quiet) as draw, checkpoint.guarded() as wish:
        try:
            chosen = run(
                learner,
                split.train,
                observe,
                keeper=checkpoint.keeper,
                resume=checkpoint.snapshot,
            )
        except Interrupted as stop:
            where = f" in pass {last.pass_number} ({last.stage})" if last else ""
            note = (
                f"partial: interrupted{where} after "
                f"{counted(stop.result.n_examples, 'example')}; not scored"
            )
            if not stop.result.names:  # OUT may hold a result, which should stay
                click.echo(NOTHING_LEARNED, err=True)
                raise click.exceptions.Exit(wish.exit_code) from None
            partial = with_note(_settled_early(settle, stop.result), note)
            return Outcome(partial, (), interrupted=wish.exit_code)
        except KeyboardInterrupt:
            click.echo(NOTHING_LEARNED, err=True)
            raise click.exceptions.Exit(wish.exit_code) from None
        except Broken as stop:
            n_learned = counted(stop.result.n_examples, "example")
            note = f"partial: bad data after {n_learned}"
            failure = DataError(str(stop))
            if not stop.result.names:
                raise failure from None
            partial = _settled_early(settle, stop.result)
            partial = with_note(partial, f"{note}; not scored")
            return Outcome(partial, (), failure, broken=True)
        try:
            shortlist = settle(chosen)
        except KeyboardInterrupt:
            partial = _with_largest_k(chosen, "interrupted before one was found")
            partial = with_note(partial, "partial: interrupted; not scored")
            return Outcome(partial, (), interrupted=wish.exit_code)
        remarks = () if split.remark is None else (split.remark,)
        if split.test is None:
            return Outcome(shortlist, remarks)
        try:
            wish.no_longer_deferred()
            score = _score(shortlist, watched(split.test, draw, "score"))
        except KeyboardInterrupt:
            noted = with_note(shortlist, UNSCORED)
            return Outcome(noted, (), interrupted=wish.exit_code)
        except DataError as error:
            return Outcome(shortlist, ("held out: no score",), error)
    if score is None or score.n_rows < FEWEST_ROWS:
        n = 0 if score is None else score.n_rows
        few = f"held out: {counted(n, 'row')}, too few to judge by"
        return Outcome(shortlist, (few,))
    holdout = as_params(score, fraction, split.of)
    params = {**shortlist.params, "holdout": holdout}
    where = f"{share(fraction, split.of)}, " if split.of else ""
    remark = f"held out: {where}{describe(**score._asdict())}"
    return Outcome(replace(shortlist, params=params), (remark,))


def _settled_early(
    settle: Callable[[Shortlist], Shortlist], partial: Shortlist
) -> Shortlist:
    """What a run that ended early gave, cut to a k if one is found."""
    from shortlist._protocols import ShortlistError
    from shortlist.cli._failures import as_options

    try:
        return settle(partial)
    except KeyboardInterrupt:
        why = "interrupted before one was found"
    except ShortlistError as error:
        why = as_options(str(error))
    return _with_largest_k(partial, why)


def _with_largest_k(shortlist: Shortlist, why: str) -> Shortlist:
    """The same, which says why it has so many features."""
    note = f"k is the largest that was to be tried, {shortlist.k}: {why}"
    return with_note(shortlist, note)


def _score(shortlist: Shortlist, test: RowSource) -> Score | None:
    """Score on the rows held out; None if a pipe ended before there were any."""
    from shortlist._protocols import DataError, ShortlistError
    from shortlist._scoring import evaluate

    try:
        return evaluate(shortlist, test)
    except DataError:
        raise
    except ShortlistError:
        return None


def what_ended(shortlist: Shortlist) -> str:
    """Say what Ctrl-C ended; the choice may have been done."""
    from shortlist._leaks import UNSEARCHED

    done = [note for note in shortlist.notes if note in (UNSCORED, UNSEARCHED)]
    return done[-1] if done else "interrupted: the result is partial"


def with_note(shortlist: Shortlist, note: str) -> Shortlist:
    """The same with one more thing to know about it."""
    return replace(shortlist, notes=(*shortlist.notes, note))
