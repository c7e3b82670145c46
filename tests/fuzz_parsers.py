"""Every text parser against its slow reference, on many lines: ``fuzz_parsers.py [lines]``.

Both must give the same rows to the bit, or complain about the same line. A crash or a
parser that does not come back ends the program. ``make fuzz`` runs it with new lines each
time; a test runs a few hundred, always the same.
"""

import faulthandler
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from parsing import csv, fasta, jsonl, libsvm, vw

LINES = 100_000
LONGEST_SECONDS = 300  # for one text, compilation included
MOST_TEXTS = 500  # in a round: hypothesis remembers what it has drawn


class Parser(NamedTuple):
    lines: st.SearchStrategy[bytes]  #: good and bad ones, with their ends
    check: Callable[[Path, bytes, int], None]  #: a text, read in blocks of some bytes
    texts: st.SearchStrategy[bytes] | None = (
        None  #: many lines each; None: a few of these
    )


PARSERS = {
    "libsvm": Parser(libsvm.lines().map(str.encode), libsvm.check_like_reference),
    "vw": Parser(vw.lines().map(str.encode), vw.check_like_reference),
    "jsonl": Parser(jsonl.lines(), jsonl.check_like_reference),
    "csv": Parser(
        csv.lines().map(str.encode), csv.check_text, csv.texts().map(str.encode)
    ),
    "fasta": Parser(fasta.records().map(str.encode), fasta.check_text),
}


def fuzz(parser, n_lines, before_each=lambda: None):
    """Check at least so many lines of a parser; return how many lines and texts."""
    checked = {"lines": 0, "texts": 0}
    few_lines = st.lists(parser.lines, min_size=5, max_size=15).map(b"".join)
    texts = few_lines if parser.texts is None else few_lines | parser.texts

    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.txt"

        @settings(
            max_examples=min(MOST_TEXTS, n_lines // 8),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),  # of many lines at a time
            phases=[Phase.generate, Phase.shrink],
        )
        @given(texts, st.sampled_from([1, 7, 40, 300, 1 << 20]))
        def check(text, block_bytes):
            before_each()
            parser.check(path, text, block_bytes)
            checked["lines"] += sum(map(bool, map(bytes.strip, text.split(b"\n"))))
            checked["texts"] += 1

        while checked["lines"] < n_lines:
            check()
    return checked["lines"], checked["texts"]


def watch():
    """End the program, saying where it is, unless this is called again in time."""
    faulthandler.dump_traceback_later(LONGEST_SECONDS, exit=True)


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else LINES
    for name, parser in PARSERS.items():
        n_lines, n_texts = fuzz(parser, wanted, watch)
        print(
            f"{name}: {n_lines:,} lines in {n_texts:,} texts read as by the reference",
            flush=True,
        )
