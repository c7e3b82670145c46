from importlib import import_module

import pytest

from fuzz_parsers import PARSERS, Parser, fuzz


@pytest.mark.parametrize("name", PARSERS)
def test_lines_of_all_kinds_are_read_as_by_the_reference(name):
    n_lines, n_texts = fuzz(PARSERS[name], 300)
    assert 300 <= n_lines < 10_000
    assert n_texts > 20


def test_a_parser_that_errs_is_found_out():
    def check(path, text, block_bytes):
        assert b"9" not in text

    with pytest.raises(AssertionError):
        fuzz(Parser(PARSERS["libsvm"].lines, check), 300)


@pytest.mark.parametrize("name", ["libsvm", "vw", "jsonl"])
def test_lines_are_good_and_bad_ones(name):
    reference = import_module(f"reference.{name}")
    counts = {"rows": 0, "skipped": 0}

    def check(path, text, block_bytes):
        result = reference.parse(text, on_error="skip")
        counts["rows"] += len(result.rows)
        counts["skipped"] += result.skipped

    n_lines, _ = fuzz(Parser(PARSERS[name].lines, check), 100)
    assert counts["rows"] > 0.1 * n_lines
    assert counts["skipped"] > 0.1 * n_lines
