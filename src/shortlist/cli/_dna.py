"""FASTA and FASTQ on the command line: which words, of which pieces, labelled by what.

Options are None, or False, unless they were given, so that they can be refused where
files hold no sequences and be taken from a model where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from shortlist._shortlist import Shortlist

F = TypeVar("F", bound=Callable[..., Any])

FORMAT = "fasta"
NONE = "none"
#: Letters of a fragment, and of a word, where nobody says.
FRAGMENT, KMER = 200, 12

#: All options here, by the names that click has for them.
DNA_OPTIONS = ("kmer", "canonical", "iupac", "fragment", "coverage", "label")
_OF_WORDS = ("kmer", "canonical", "iupac")


def dna_options(of_model: bool = False) -> Callable[[F], F]:
    """--kmer and others: how sequences become rows."""
    default = " By default as in MODEL." if of_model else ""
    decorators = [
        click.option(
            "--kmer",
            type=click.IntRange(1, 31),
            metavar="N",
            help="Letters of the words that are the features of FASTA and FASTQ files."
            + (default or f" By default {KMER}."),
        ),
        click.option(
            "--canonical",
            is_flag=True,
            help=f"Take a word of DNA and its reverse complement as one.{default}",
        ),
        click.option(
            "--iupac",
            is_flag=True,
            help="Take N, R, Y and the other letters of ambiguous DNA as letters; else "
            f"words with them are left out.{default}",
        ),
        click.option(
            "--fragment",
            metavar="N|none",
            callback=_read_fragment,
            help="A row is a fragment of N letters, drawn at random from the sequences, "
            "or, with none, a whole record. By default "
            + ("none." if of_model else f"{FRAGMENT} for FASTA, none for FASTQ."),
        ),
        click.option(
            "--coverage",
            type=click.FloatRange(min=0, min_open=True),
            metavar="X",
            help="Draw so many fragments that a letter is in X of them on average; by "
            "default 1.",
        ),
        click.option(
            "--label",
            metavar="file|record|MAPFILE",
            help="Labels of sequences: the name of their file, their own name, or what "
            "lines of name, tab, label in MAPFILE say. By default "
            + ("there are none." if of_model else "file."),
        ),
    ]

    def decorate(command: F) -> F:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def _read_fragment(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> int | str | None:
    if value is None or value.lower() == NONE:
        return None if value is None else NONE
    if not value.isdecimal() or int(value) < 1:
        raise click.BadParameter(
            f"expected a number of letters or none, got {value!r}", ctx, param
        )
    return int(value)


def dna_settings(
    options: Mapping[str, Any], files: Sequence[str], input_format: str
) -> dict[str, Any]:
    """Settings to select from these files with; none if they hold no sequences."""
    given = _given(options, files, input_format)
    if given is None:
        return {}
    from shortlist.sources._files import find_files
    from shortlist.sources._records import is_fastq

    if "fragment" not in given:
        is_reads = is_fastq(find_files(files)[0])
        given["fragment"] = NONE if is_reads else max(FRAGMENT, given.get("kmer", 0))
    return {**_as_settings({"kmer": KMER, **given}), "seed": options["seed"]}


def dna_settings_of(
    shortlist: Shortlist,
    options: Mapping[str, Any],
    files: Sequence[str],
    input_format: str,
) -> dict[str, Any]:
    """Settings to apply a model to these files with; none if they hold no sequences."""
    given = _given(options, files, input_format)
    if given is None:
        return {}
    known = shortlist.params.get("kmers", {})
    for name in _OF_WORDS:
        if name in given and given[name] != known.get(name, given[name]):
            raise click.UsageError(
                f"--{name}: the model knows words with {name} = {known[name]}, and no "
                "others"
            )
    defaults = {"kmer": KMER, "fragment": NONE, "label": NONE}
    return _as_settings({**defaults, **known, **given})


def _given(
    options: Mapping[str, Any], files: Sequence[str], input_format: str
) -> dict[str, Any] | None:
    """Options that have been given; None if there are no sequences to give them for."""
    from shortlist.sources._formats import format_of

    given = {name: options[name] for name in DNA_OPTIONS if options[name]}
    name = format_of(files, input_format)[0]
    if name == FORMAT:
        return given
    if given:
        raise click.UsageError(
            f"--{next(iter(given))} is no option of files in the format {name}; formats "
            f"with it: {FORMAT}"
        )
    return None


def _as_settings(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Turn options, of which the length of words is known, into settings of a source."""
    from shortlist.sources._kmers import ALPHABETS

    alphabet = "iupac" if chosen.get("iupac") else "dna"
    kmer, fragment, label = chosen["kmer"], chosen["fragment"], chosen.get("label")
    longest = ALPHABETS[alphabet].longest
    if kmer > longest:
        raise click.UsageError(
            f"--kmer {kmer}: words of {alphabet} have {longest} letters at most"
        )
    if fragment != NONE and fragment < kmer:
        raise click.UsageError(
            f"--fragment {fragment}: a fragment has no word of {kmer} letters; "
            f"--fragment {FRAGMENT} or --kmer {fragment} would do"
        )
    if fragment == NONE and "coverage" in chosen:
        raise click.UsageError(
            "--coverage is about fragments, and here records are rows; give --fragment "
            f"{FRAGMENT} as well, or leave it out"
        )
    settings = {
        "k": kmer,
        "canonical": bool(chosen.get("canonical")),
        "alphabet": alphabet,
        "fragment": None if fragment == NONE else fragment,
        "label": None if label == NONE else label or "file",
    }
    coverage = {"coverage": chosen["coverage"]} if "coverage" in chosen else {}
    return settings | coverage


def as_params(source: Any) -> dict[str, Any]:
    """What a model should know about the words that it was made of, if they are DNA."""
    if not hasattr(source, "canonical"):
        return {}
    iupac = source.alphabet == "iupac"
    words = {"kmer": source.k, "canonical": source.canonical, "iupac": iupac}
    return {"kmers": words}
