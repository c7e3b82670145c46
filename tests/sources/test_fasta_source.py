import bz2
import gzip
import io
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsing.fasta import check_like_reference, fasta_text, fastq_text, rows_of
from reference import kmers as reference
from shortlist._protocols import DataError, RowSource, ShortlistError
from shortlist.sources.fasta import FastaSource


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("fasta") / "rows.fa"


@given(
    fasta_text() | fastq_text(), st.booleans(), st.integers(1, 4), st.integers(1, 60)
)
@settings(max_examples=250)
@example(">a\nAC\nGT\n>b\n\n>c\nACG", False, 2, 3)
@example("@a\nACG\n+\nIII\n@b\nAC\n+\nI\n@c\nA\n+\n@", False, 1, 5)
@example("@a\n\n+\n", False, 1, 100)
@example("@a\n\n+", False, 1, 1)
def test_well_and_ill_formed_text_is_read_as_by_the_reference(
    path, text, whole, k, block_bytes
):
    check_like_reference(path, text if whole else text.rstrip(), k, block_bytes)


@given(st.text("A>@+\n \rN", max_size=40), st.integers(1, 20))
@settings(max_examples=200)
@example("ACGT\n", 3)
def test_arbitrary_text_is_read_as_by_the_reference(path, text, block_bytes):
    check_like_reference(path, text, 1, block_bytes)


@given(
    st.lists(st.text("ACGTNacgt", max_size=60), min_size=1, max_size=5),
    st.integers(1, 4),
    st.integers(4, 30),
    st.sampled_from([(0.0, 1.0), (0.2, 0.7), (0.9, 1.0)]),
    st.integers(0, 3),
)
def test_fragments_are_rows_of_the_letters_they_are_located_at(
    path, sequences, k, length, region, seed
):
    path.write_text("".join(f">r{i}\n{s}\n" for i, s in enumerate(sequences)))
    options = {"k": k, "fragment": length, "region": region, "seed": seed}
    try:
        source = FastaSource(path, label="record", block_bytes=50, **options)
    except DataError:  # there are no fragments
        sizes = [int(region[1] * len(s)) - int(region[0] * len(s)) for s in sequences]
        assert max(sizes) < k
        return
    rows, labels, _ = rows_of(source)
    assert len(rows) == source.size
    for number, (row, label) in enumerate(zip(rows, labels, strict=True)):
        place = source.locate(number).removeprefix(f"{path}: record ")
        name, _, first, _, last = place.replace(",", "").split()
        assert source.label_names[int(label)] == name
        sequence = sequences[int(name[1:])]
        assert int(first) > int(region[0] * len(sequence))
        assert int(last) <= int(region[1] * len(sequence))
        part = sequence[int(first) - 1 : int(last)].upper()
        assert row == reference.count(part, k)
    options["block_bytes"] = 1 << 18
    assert rows_of(FastaSource(path, label="record", **options))[:2] == (rows, labels)


def write_genomes(folder, n=3000):
    rng = np.random.default_rng(0)
    for i, letters in enumerate(("ACGT", "AACGT", "ACGGT")):
        text = "".join(rng.choice(list(letters), n))
        (folder / f"species{i}.v{i}.fna").write_text(f">c{i} whole\n{text}\n")
    return sorted(folder.glob("*.fna"))


def test_coverage_is_kept_and_classes_come_mixed(tmp_path):
    paths = write_genomes(tmp_path)
    source = FastaSource(paths, k=4, fragment=50, coverage=5.0)
    assert source.label_names == ["species0.v0", "species1.v1", "species2.v2"]
    assert source.size == 5 * 9000 / 50
    _, labels, _ = rows_of(source)
    for start in range(0, 900, 100):
        assert min(np.bincount(np.array(labels[start : start + 100], int))) >= 15


def test_regions_share_no_letters_and_are_not_read_again(tmp_path):
    paths = write_genomes(tmp_path)
    train = FastaSource(paths, k=4, fragment=50, coverage=9.0, region=(0.0, 0.85))
    test = train.part((0.85, 1.0), coverage=20.0)
    assert test._held is train._held

    def letters(source):
        places = [source.locate(row).split() for row in range(source.size)]
        spans = [(name, int(a), int(b)) for _, _, name, _, a, _, b in places]
        return {(name, i) for name, a, b in spans for i in range(a, b + 1)}

    assert not letters(train) & letters(test)
    assert len(letters(train) | letters(test)) > 0.98 * 9000
    assert (train.region, test.region) == ((0.0, 0.85), (0.85, 1.0))


def test_seeds_draw_other_fragments_and_the_same_seed_the_same(tmp_path):
    paths = write_genomes(tmp_path)
    source = FastaSource(paths, k=4, fragment=50)
    assert rows_of(source) == rows_of(source)
    assert rows_of(source.part((0.0, 1.0), seed=0)) == rows_of(source)
    assert rows_of(source.part((0.0, 1.0), seed=1)) != rows_of(source)


@pytest.mark.parametrize("alphabet", ["dna", "iupac"])
def test_a_strand_and_its_reverse_complement_have_the_same_canonical_words(
    path, alphabet
):
    letters = reference.DNA if alphabet == "dna" else reference.IUPAC
    text = "".join(np.random.default_rng(1).choice(list(letters), 200))
    path.write_text(f">a\n{text}\n>b\n{reference.reverse_complement(text)}\n")
    options = {"k": 5, "alphabet": alphabet, "fragment": None}
    (a, b), _, _ = rows_of(FastaSource(path, canonical=True, **options))
    assert a == b
    (a, b), _, _ = rows_of(FastaSource(path, canonical=False, **options))
    assert a != b


def test_packed_files_pipes_and_patterns_are_read_alike(tmp_path, monkeypatch):
    text = b"@a\nACGTACGT\n+\nIIIIIIII\n@b\nGGGG\n+\nIIII\n" * 50
    (tmp_path / "x.fq").write_bytes(text)
    (tmp_path / "x.fq.gz").write_bytes(gzip.compress(text))
    (tmp_path / "x.fq.bz2").write_bytes(bz2.compress(text))
    options = {"k": 3, "fragment": None, "block_bytes": 300}
    plain = rows_of(FastaSource(tmp_path / "x.fq", **options))
    assert len(plain[0]) == 100
    for ending in (".gz", ".bz2"):
        source = FastaSource(tmp_path / f"x.fq{ending}", **options)
        assert rows_of(source) == plain
        assert source.label_names == ["x"]
    assert len(rows_of(FastaSource(f"{tmp_path}/x.*", **options))[0]) == 300
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    piped = FastaSource("-", **options)
    assert not piped.reiterable
    assert rows_of(piped)[0] == plain[0]
    assert piped.locate(3) == "stdin:13"
    with pytest.raises(DataError, match="only once"):
        piped.blocks()


def test_position_grows_to_the_size(tmp_path):
    paths = write_genomes(tmp_path)
    for options in ({"fragment": None}, {"fragment": 50}):
        source = FastaSource(paths, k=4, block_bytes=500, **options)
        positions = [block.position for block in source.blocks()]
        assert positions == sorted(positions)
        assert positions[-1] == source.size


@pytest.mark.parametrize("fragment", [None, 4])
def test_labels_come_from_a_map_by_record_file_or_stem(tmp_path, fragment):
    (tmp_path / "one.fa").write_text(">r1\nACGT\n>r2\nACGT\n")
    (tmp_path / "two.fa.gz").write_bytes(gzip.compress(b">r1\nACGT\n>r3\nACGT\n"))
    (tmp_path / "map.tsv").write_text("r2\tbad\r\none\tgood\n\ntwo.fa.gz\tugly\n")
    paths = [tmp_path / "one.fa", tmp_path / "two.fa.gz"]
    options = {"k": 2, "fragment": fragment}
    if fragment:
        options["coverage"] = 20.0
    mapped = FastaSource(paths, label=tmp_path / "map.tsv", **options)
    assert mapped.label_names == ["bad", "good", "ugly"]
    wanted = {"good": "r1", "bad": "r2", "ugly": ("r1", "r3")}
    _, labels, _ = rows_of(mapped)
    if fragment is None:
        assert labels == [1.0, 0.0, 2.0, 2.0]
    for row, label in enumerate(labels if fragment else ()):
        place = mapped.locate(row).split(", ")[0]
        assert place.endswith(wanted[mapped.label_names[int(label)]])
    numbers = FastaSource(paths, label={"one": 37.5, "two": np.int64(80)}, **options)
    assert numbers.label_names is None
    assert set(rows_of(numbers)[1]) == {37.5, 80.0}
    assert np.isnan(rows_of(FastaSource(paths, label=None, **options))[1]).all()


@pytest.mark.parametrize("fragment", [None, 4])
def test_records_without_a_label_raise_or_are_left_out(path, fragment):
    path.write_text(">r1\nACGT\n>r2\nACGG\n>r3\nACGG\n")
    options = {"k": 2, "fragment": fragment, "label": {"r1": "x", "r3": "y"}}
    complaint = f"{path}:3: expected a label for record 'r2' or file 'rows' in the map"
    with pytest.raises(DataError, match=complaint):
        list(FastaSource(path, **options).blocks())
    source = FastaSource(path, on_error="skip", **options)
    assert set(rows_of(source)[1]) <= {0.0, 1.0}
    assert source.skipped == 1
    if fragment is None:
        assert rows_of(FastaSource(path, **options))[0] == [{"AC": 1, "CG": 1, "GT": 1}]


def test_bad_records_are_left_out_of_what_fragments_are_drawn_from(path):
    path.write_text(">a\nAAAA\nAAAA\n>b\nCCCC\nCC!C\nCCCC\n>c\nGGGG\nGGGG")
    source = FastaSource(
        path, k=4, fragment=4, coverage=20, on_error="skip", block_bytes=3
    )
    rows, _, _ = rows_of(source)
    assert {next(iter(row)) for row in rows} == {"AAAA", "GGGG"}
    assert (source.skipped, source.size) == (1, 20 * 16 / 4)
    with pytest.raises(
        DataError, match=f"{path}:6: expected letters of DNA .* got '!'"
    ):
        FastaSource(path)


@pytest.mark.parametrize("block_bytes", [1000, 1 << 22])
@pytest.mark.parametrize("kind", ["fasta", "fastq"])
def test_records_without_end_are_for_fragments(path, kind, block_bytes):
    long = "A" * 1_000_001
    first, second = ">a\nACG\n", f">b\n{long}\n"
    if kind == "fastq":
        first, second = "@a\nACG\n+\nIII\n", f"@b\n{long}\n+\n{long}\n"
    path.write_text(first + second)
    options = {"k": 2, "block_bytes": block_bytes}
    rows, _, error = rows_of(FastaSource(path, fragment=None, **options))
    assert rows == [{"AC": 1, "CG": 1}]
    line = first.count("\n") + 1
    assert error.startswith(
        f"{path}:{line}: expected a record of up to 1000000 letters"
    )
    assert "fragment=" in error
    assert FastaSource(path, fragment=200, **options).size == 5001
    with pytest.raises(DataError, match=r"at most 1000000 letters .*memory="):
        FastaSource(path, fragment=200, memory=1_000_000, **options)


def test_a_packed_file_that_does_not_say_so_is_explained(path):
    path.write_bytes(gzip.compress(b">a\nACGT\n"))
    with pytest.raises(DataError, match=r":1: expected '>' .* have to end in .gz"):
        FastaSource(path)


def test_names_are_checked(path):
    path.write_text(">a\nACGTACGT\n")
    source = FastaSource(path, k=4, fragment=8, canonical=True)
    assert source.n_features == 256
    assert source.names(source.ids(["ttta", "AAAU", "TAAA"])) == [
        "TAAA",
        "AAAT",
        "TAAA",
    ]
    for name in ("ACG", "ACGTA", "ACGN", "", "AC T"):
        with pytest.raises(DataError, match="expected 4 letters of ACGT"):
            source.ids(["ACGT", name])
    with pytest.raises(DataError, match="expected ids of 4-mers, below 256, got 256"):
        source.names(np.array([3, 256], np.uint64))


def test_it_is_a_row_source(path):
    path.write_text(">a\nACGTACGT\n")
    source = FastaSource(str(path), k=4, fragment=4)
    assert isinstance(source, RowSource)
    assert (source.name, source.unit, source.reiterable) == (str(path), "rows", True)
    source = FastaSource(str(path), fragment=None)
    assert isinstance(source, RowSource)
    assert (source.unit, source.n_features) == ("bytes", 4**12)


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0},
        {"k": 32},
        {"k": 16, "alphabet": "iupac"},
        {"alphabet": "protein"},
        {"fragment": 3},
        {"coverage": 0},
        {"coverage": float("inf")},
        {"region": (0.5, 0.5)},
        {"region": (-0.1, 0.5)},
        {"fragment": None, "region": (0.0, 0.5)},
        {"fragment": None, "coverage": 2.0},
        {"fragment": None, "label": "record"},
        {"label": "no/such/map"},
        {"label": {}},
        {"label": {"a": float("nan")}},
        {"on_error": "ignore"},
        {"block_bytes": 0},
    ],
)
def test_options_are_checked_at_once(path, options):
    path.write_text(">a\n" + "ACGT" * 10)
    with pytest.raises(ShortlistError, match=r"expected .* got"):
        FastaSource(path, **({"k": 4} | options))


@pytest.mark.parametrize("line", ["a", "a\t", "\tb", "a\tb\tc", "x\tother"])
def test_bad_lines_of_a_map_are_named(path, tmp_path, line):
    path.write_text(">a\nACGT\n")
    (tmp_path / "map").write_text(f"x\ty\n{line}\n")
    with pytest.raises(DataError, match=r"map: line 2: expected .* got"):
        FastaSource(path, label=tmp_path / "map", k=2)


def test_a_file_without_records_has_none(path):
    path.write_bytes(b" \n\n")
    assert list(FastaSource(path, fragment=None).blocks()) == []
    with pytest.raises(DataError, match="expected records with 12 letters"):
        FastaSource(path)


def test_part_wants_fragments(path):
    path.write_text(">a\nACGT\n")
    with pytest.raises(ShortlistError, match="expected a source of fragments"):
        FastaSource(path, fragment=None).part((0.0, 0.5))


@pytest.mark.parametrize("fragment", [None, 50])
def test_passes_at_the_same_time_do_not_disturb_each_other(tmp_path, fragment):
    source = FastaSource(
        write_genomes(tmp_path), k=2, fragment=fragment, block_bytes=200
    )
    alone = [block.values.tolist() for block in source.blocks()]
    with ThreadPoolExecutor(4) as pool:
        passes = list(pool.map(lambda _: list(source.blocks()), range(8)))
    for together in passes:
        assert [block.values.tolist() for block in together] == alone


def test_names_that_records_share_are_labels_of_rows(path):
    path.write_text(">ant 1\nACGTA\n>bee\nCCCC\n>ant 2\nGGGGT\n")
    source = FastaSource(path, k=3, fragment=None, label="record", block_bytes=4)
    assert source.label_names == source.known_labels == ["ant", "bee"]
    y = np.concatenate([block.y for block in source.blocks()])
    assert y.tolist() == [0, 1, 0]
    path.write_text(">ant\nACGTA\n>bee\nCCCC\n")
    with pytest.raises(ShortlistError, match="got 2 names in 2 records"):
        FastaSource(path, k=3, fragment=None, label="record")
