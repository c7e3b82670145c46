"""``shortlist select``: choose features from rows of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from shortlist.cli._checkpoint import checkpoint_options, open_checkpoint
from shortlist.cli._columns import (
    choose_from_columns,
    columns_options,
    refuse_workers,
)
from shortlist.cli._command import Command
from shortlist.cli._dna import as_params as dna_params
from shortlist.cli._dna import dna_options
from shortlist.cli._failures import INTERRUPTED
from shortlist.cli._front import (
    Budget,
    announce,
    check_cv,
    find_k,
    front_options,
    has_trial,
    in_lines,
    pick_method,
    split_rows,
    told,
    try_rivals,
    unsaid_notes,
)
from shortlist.cli._input import as_params as table_params
from shortlist.cli._input import skipped_line
from shortlist.cli._learner import make_learner
from shortlist.cli._method_options import method_options
from shortlist.cli._one_pass import find_on_the_way, hold_for_k
from shortlist.cli._options import (
    as_interactions,
    files_argument,
    input_format_option,
    label_map_option,
    named_feature_options,
    on_error_option,
    quiet_option,
    result_format_option,
    table_options,
)
from shortlist.cli._output import check_model_output
from shortlist.cli._presenting import notes_for_stderr, present, say
from shortlist.cli._reading import need_not_leave_out_groups, open_asked
from shortlist.cli._reproduce import command_line, how_to_repeat
from shortlist.cli._resampling import Resampling, resampling_options
from shortlist.cli._running import (
    NOTHING_LEARNED,
    Outcome,
    learn,
    what_ended,
    with_note,
)
from shortlist.cli._sequence import (
    choose_from_sequences,
    refuse_sensors,
    sequence_option,
)
from shortlist.cli._shards import as_shard, settle_like, shard_options

if TYPE_CHECKING:
    from shortlist._protocols import RowSource
    from shortlist._shortlist import Shortlist


@click.command(
    cls=Command,
    examples=(
        "shortlist select data.svm -k 20",
        "shortlist select 'day-*.svm.gz' -k 100 --memory 64MB -o model.shortlist",
        "zcat data.svm.gz | shortlist select - -k 20 --format json > chosen.json",
        "shortlist select clicks.vw -k 20",
        "shortlist select people.csv -k 5 --target income --never id",
        "shortlist select people.csv -k 5 --target income --method gsr --p 0.25",
        "shortlist select 'genomes/*.fna.gz' -k 20 --kmer 8 --canonical",
        "shortlist select people.csv -k 5 --target income --method foba --stability 50",
        "shortlist select --columns genes.parquet --target y -k 100 --workers 2",
        "shortlist select home.csv -k 5 --target activity --sequence day",
        "shortlist select data.svm -k 20 --dry-run",
    ),
)
@files_argument()
@click.option(
    "-k",
    type=Budget(min=1),
    metavar="NUMBER|auto",
    help="Budget: how many features to choose; of each class, if there are more than two "
    "and --method names one of room sketch or rows. auto: the smallest number whose score "
    "on rows held out is within one standard error of the best. Required but with --like.",
)
@click.option(
    "--method",
    default="auto",
    help="Selector. auto: goes by how many rows and features there are, how many values "
    "are zero, what the labels are and which options are given, and by a trial (--trial); "
    "says what it picked. "
    "mission, sgd_iht and batch_iht stream (room sketch), as do barda, "
    "bamd, ofs, sofs, l1arda and adafobos (room rows: memory grows with features); foba, "
    "projected_gradient, iti, pht, gsr, mtfs, rfs, erfs, rk1u, mrmr and relieff hold all "
    "rows in memory (room table), as does online_substitution without --columns; with "
    "it, it and grafting go through columns.",
)
@click.option(
    "--loss",
    default="auto",
    help="What a wrong prediction costs: auto looks at the first labels; squared, "
    "huber, epsilon_insensitive, poisson for numbers; logistic, softmax, hinge, "
    "squared_hinge for classes. Parameters follow a colon, as in huber:1.5.",
)
@click.option(
    "--classes",
    metavar="LABEL,LABEL,...",
    help="All labels there are. Where labels are numbers, or come through a pipe, the "
    "first 1,000 rows tell otherwise; files sorted by label are looked through.",
)
@click.option(
    "--passes",
    type=click.IntRange(min=1),
    default=1,
    help="Passes over the data to look for candidates; a refit adds one.",
)
@click.option(
    "--memory",
    default="16MB",
    help="Room for the sketch: 512KiB, 16MB, 2GB; a number of cells; or how far off "
    "estimates may be, as 1%. More means fewer collisions.",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=1000,
    help="Examples that batch_iht gathers gradients from before it cuts.",
)
@click.option(
    "--recipe",
    type=click.Choice(["auto", "refit", "newton", "shards", "paper"]),
    default="auto",
    help="refit: find candidates, then fit them exactly. newton: one pass, for data "
    "that pass by once. shards: one pass, so that runs can be merged. paper: the "
    "published algorithm. auto: refit for files, newton for pipes, shards with --shard.",
)
@shard_options()
@click.option(
    "--log1p",
    is_flag=True,
    help="Take the logarithm of 1 + each value first; for counts.",
)
@click.option(
    "--normalize",
    type=click.Choice(["l2", "none"]),
    help="l2: scale each row to length 1, after --log1p; for text. By default none, and "
    "l2 in room rows.",
)
@click.option(
    "--scale",
    type=click.Choice(["auto", "max_abs", "none"]),
    default="auto",
    help="max_abs: learn in units in which the largest value of each feature is 1. none: "
    "values as they come. auto: max_abs if the first rows show features in very "
    "different units.",
)
@click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help="Let all classes weigh the same, however rare.",
)
@click.option(
    "--interactions",
    metavar="2|SPACE*SPACE,...",
    callback=as_interactions,
    help="2: let the product of any two features of a row be a feature as well, a*b. "
    "user*ad,user*page: only of features in these namespaces of Vowpal Wabbit text.",
)
@click.option(
    "--budget",
    type=click.Choice(["per_class", "shared"]),
    default="per_class",
    help="With three classes or more: K features for each, or K distinct ones in all.",
)
@method_options()
@named_feature_options()
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    help="The same seed gives the same result.",
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.2,
    help="Share of rows, drawn by row number and seed, that is never learned from but "
    "scored at the end; 0 learns from all. Of fragments of sequences, it is the last part "
    "of every sequence.",
)
@resampling_options()
@front_options()
@columns_options()
@sequence_option()
@table_options()
@dna_options()
@label_map_option()
@input_format_option()
@on_error_option()
@checkpoint_options()
@click.option(
    "--dry-run",
    is_flag=True,
    help="Read only the beginning; say what would be done, how long it would take and "
    "how much memory; write nothing.",
)
@click.option("-o", "out", metavar="OUT", help="File to save the model in.")
@result_format_option()
@quiet_option()
@click.pass_context
def select(ctx: click.Context, /, **options: Any) -> None:
    """Choose the K features of FILE... that predict its labels best.

    FILE is libsvm text (label id:value id:value ...) or, if it ends in .vw, Vowpal
    Wabbit text (label |space name name:value ...); a table, if it ends in .csv or .tsv;
    JSON lines, if in .jsonl; DNA, if in .fasta, .fna, .fastq and such; all of these
    plain or .gz, .bz2, .zst; a table in .parquet or .arrow; a pattern in quotes; or -
    for standard input. Ids may be any 64-bit numbers and names any words: with a method
    that streams (--method mission), memory does not grow with them. Without --method,
    what fits into a quarter of the memory that is free is held in it while methods are
    tried; --dry-run says how much that is. Files are read twice, and once more to name
    features that have words in their names; a pipe once.

    Of a table, --target says which column holds the labels. A column of numbers is a
    feature; any other makes a feature column=value of each of its values. So it is with
    the keys of JSON lines. Of DNA, features are words of N letters (--kmer); FASTA files
    are a class each, and rows are fragments of them, FASTQ files have a read in a row.

    Ctrl-C ends the run early: what was learned so far is printed and saved, marked as
    partial, and the exit code is 130. Bad data in mid-run ends it with nothing printed;
    with -o, what was learned by then is saved, marked as partial.
    """
    given = command_line(ctx)
    settle_like(ctx)
    options = ctx.params
    need_not_leave_out_groups(options)
    files, out, quiet = options["files"], options["out"], options["quiet"]
    check_model_output(out, files)
    check_model_output(options["shard"], files, "--shard")
    if options["sequence"] is None:
        refuse_sensors(ctx)
        check_cv(ctx)
    if options["columns"] or options["sequence"] is not None:
        choose = choose_from_columns if options["columns"] else choose_from_sequences
        with telling_of_interrupts():
            found = choose(ctx)
            if found.interrupted and not found.shortlist.names:
                raise KeyboardInterrupt  # OUT may hold a result, which should stay
        present(found.shortlist, found.unsaid, options)
        if found.interrupted:
            click.echo(what_ended(found.shortlist), err=True)
            ctx.exit(INTERRUPTED)
        return
    refuse_workers(ctx)
    with telling_of_interrupts():
        source = open_table_or_rows(options)
        source, split = split_rows(ctx, source)  # a column of groups is no feature then
        choice = pick_method(ctx, source)
        choice, split = try_rivals(ctx, choice, split)
        split = hold_for_k(ctx, split)
        curve = find_k(ctx, split)
        on_the_way = find_on_the_way(ctx, split)
    if on_the_way is None:
        ctx.params["cv"] = None  # the command that gives this again splits nothing
    largest = options["k"] if on_the_way is None else on_the_way.largest
    capabilities, learner = make_learner(ctx, source, largest)
    learner = as_shard(ctx, learner, source)
    if options["dry_run"]:
        from shortlist.cli._dry_run import plan

        trial = choice if has_trial(ctx, choice) else None
        click.echo(plan(capabilities, learner, source, ctx.params, trial))
        return
    more = Resampling(ctx, capabilities, learner)
    announce(ctx, *in_lines(choice, curve))
    checkpoint = open_checkpoint(ctx, capabilities, source)
    asked = (options["holdout"], quiet, checkpoint)
    if on_the_way is None:
        outcome = learn(more.learner, split, *asked)
    else:
        rows = on_the_way.rows_of(split)
        outcome = learn(more.learner, rows, *asked, settle=on_the_way.settle)
        curve = on_the_way.curve
        announce(ctx, *in_lines(None, curve))
    refuse_empty_classes(outcome, source, options)
    outcome = told(more.finish(outcome, split.train), split, choice, curve)
    shortlist = finished(outcome.shortlist, source, how_to_repeat(ctx, given))
    unsaid = unsaid_notes(ctx, shortlist, choice, curve)
    try:
        if out is not None:
            shortlist.save(out)
    finally:  # a disk that is full should not cost hours of learning
        if not outcome.broken:
            say(shortlist, options["form"], unsaid)
    shown = options["form"] == "table" and not outcome.broken
    hidden = outcome.broken and out is None
    notes = [] if hidden else notes_for_stderr(unsaid, shown=shown)
    saved = (f"model saved to {out}",) if out is not None else ()
    if not quiet:
        for line in (*(f"note: {note}" for note in notes), *outcome.remarks, *saved):
            click.echo(line, err=True)
    if outcome.interrupted:
        for line in (what_ended(shortlist), *checkpoint.kept_line()):
            click.echo(line, err=True)
        ctx.exit(outcome.interrupted)
    if outcome.failure is not None:
        raise outcome.failure
    checkpoint.done()


def refuse_empty_classes(
    outcome: Outcome, source: RowSource, options: Mapping[str, Any]
) -> None:
    """Refuse classes without rows that somebody has named, if only by files of DNA."""
    from shortlist._protocols import DataError
    from shortlist._targets import EMPTY_CLASSES

    empty = outcome.shortlist.params.get(EMPTY_CLASSES)
    if not empty or outcome.interrupted or outcome.broken:
        return
    complaint = (
        f"{source.name}: expected rows of class {empty[0]} to learn from, got none"
    )
    if options["classes"] is not None:
        raise DataError(f"{complaint}; name only classes that there are (classes=)")
    if dna_params(source):
        raise DataError(
            f"{complaint}: are there records for it, and long enough? A larger --coverage "
            "or a smaller --fragment draws more rows"
        )


@contextmanager
def telling_of_interrupts() -> Iterator[None]:
    """Say, when Ctrl-C comes before learning has begun, that there is no result."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(NOTHING_LEARNED, err=True)
        raise


def open_table_or_rows(options: Mapping[str, Any]) -> RowSource:
    """Open the files; a table must have been told its target."""
    from shortlist.sources.pairs import with_pairs_as

    return with_pairs_as(options, open_asked(options))


def finished(
    shortlist: Shortlist, source: RowSource, repeat: Mapping[str, Any]
) -> Shortlist:
    """Add what only the command line knows: itself, and the lines left out."""
    skipped = skipped_line(source)
    if skipped is not None:
        shortlist = with_note(shortlist, skipped)
    known = {**table_params(source), **dna_params(source)}
    params = {**shortlist.params, **known, **repeat}
    return replace(shortlist, params=params)
