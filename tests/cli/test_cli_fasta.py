"""DNA on the command line: words of genomes, honestly held out, and of reads."""

import io
import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from shortlist import Shortlist

SIGNS = {"left": "ACGTTGCA", "right": "GGATCCTT", "none": ""}
FEW = ("-k", 1, "--kmer", 8, "--memory", "1MB")


def genome(sign, n=12_000, seed=0):
    """Random letters, with a word every forty or so."""
    rng = np.random.default_rng(seed)
    letters = "".join(np.array(list("ACGT"))[rng.integers(0, 4, n)])
    pieces = [letters[i : i + 40] for i in range(0, n, 40)]
    return sign.join(pieces)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two genomes, each with a word of its own, and reads of them."""
    folder = tmp_path_factory.mktemp("dna")
    for seed, (name, sign) in enumerate(SIGNS.items()):
        text = genome(sign, seed=seed)
        if name != "none":
            (folder / f"{name}.fna").write_text(f">{name}1 x\n{text}\n")
        reads = [text[i : i + 100] for i in range(0, len(text) - 100, 50)]
        lines = [f"@{name}{i}\n{r}\n+\n{'I' * 100}\n" for i, r in enumerate(reads)]
        (folder / f"{name}.fq").write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def model(folder):
    """Words of eight letters that tell the two genomes apart."""
    from click.testing import CliRunner

    from shortlist.cli import cli

    path = folder / "m.shortlist"
    words = ["select", folder / "*.fna", "-k", 2, "--kmer", 8, "--coverage", 4]
    result = CliRunner().invoke(cli, list(map(str, [*words, "-o", path])))
    assert result.exit_code == 0, result.output
    return path, result


def test_genomes_are_classes_and_the_last_part_is_held_out(folder, model):
    path, result = model
    shortlist = Shortlist.load(path)
    assert set(shortlist.names) == {SIGNS["left"], SIGNS["right"]}
    assert shortlist.classes == ("left", "right")
    assert shortlist.params["kmers"] == {"kmer": 8, "canonical": False, "iupac": False}
    assert "held out: the last 20 % of every sequence, accuracy 1.000" in result.stderr
    holdout = shortlist.params["holdout"]
    letters = sum(len(genome(SIGNS[name])) for name in ("left", "right"))
    assert holdout["n_rows"] == pytest.approx(0.2 * 4 * letters / 200, rel=0.01)
    assert shortlist.n_examples == pytest.approx(0.8 * 4 * letters / 200, rel=0.01)


def test_genomes_without_a_difference_are_not_told_apart(run, tmp_path):
    """Fragments overlap, so those held out at random would be known in part."""
    for seed, name in enumerate("ab"):
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{genome('', seed=seed)}\n")
    words = ("-k", 1000, "--coverage", 8, "--format", "json", "--recipe", "newton")
    told = json.loads(run("select", tmp_path / "*.fa", *words).stdout)
    assert told["params"]["holdout"]["value"] < 0.65
    assert told["trace"]["accuracy"][-1] > 0.65  # of rows that overlap earlier ones


def test_inspect_says_what_was_held_out(run, model):
    text = run("inspect", model[0]).stdout
    assert "; the last 20 % of every sequence" in text
    assert re.search(r"^kmers +.*\bkmer \d", text, re.MULTILINE)


def test_no_option_is_needed(run, folder):
    result = run("select", folder / "*.fna", "-k", 3, "--format", "json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert {len(entry["name"]) for entry in told["entries"]} == {12}
    assert told["params"]["kmers"]["kmer"] == 12


def test_a_model_reads_words_as_it_has_learned_them(run, folder, model, tmp_path):
    reads = folder / "left.fq"
    bare = run("predict", model[0], reads)
    assert bare.exit_code == 0, bare.stderr
    assert "not scored" in bare.stderr
    said = np.array(bare.stdout.split())
    assert len(said) == reads.read_text().count("@left")
    assert (said == "left").mean() > 0.9
    scored = run("predict", model[0], reads, folder / "right.fq", "--label", "file")
    assert "scored: accuracy 1.000" in scored.stderr
    one = run("predict", model[0], reads, "--label", "file")
    assert "scored: accuracy 1.000" in one.stderr
    drawn = run("predict", model[0], folder / "left.fna", "--fragment", 300)
    assert set(drawn.stdout.split()) == {"left"}
    out = tmp_path / "small.csv"
    assert run("transform", model[0], reads, "-o", out).exit_code == 0
    small = pd.read_csv(out)
    assert len(small) == len(said)
    assert small["label"].isna().all()
    assert (small[SIGNS["left"]] > 0).mean() > 0.9


def test_reads_are_rows_and_may_come_file_by_file(run, folder):
    result = run("select", folder / "left.fq", folder / "none.fq", *FEW)
    assert result.exit_code == 0, result.stderr
    assert SIGNS["left"] in result.stdout
    assert "held out: accuracy 1.000" in result.stderr
    n = sum((folder / name).read_text().count("+\n") for name in ("left.fq", "none.fq"))
    dry = run("select", folder / "left.fq", folder / "none.fq", *FEW, "--dry-run")
    assert f"{n:,} rows" in dry.stdout


def test_reads_are_known_by_their_first_letter_too(run, folder, tmp_path):
    for name in ("left", "none"):
        (tmp_path / f"{name}.txt").write_bytes((folder / f"{name}.fq").read_bytes())
    words = ("select", tmp_path / "*.txt", "--input-format", "fasta", *FEW)
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert "held out: accuracy" in result.stderr


def test_reads_of_a_pipe_are_known_by_their_first_letter(spawn, folder, model):
    text = (folder / "left.fq").read_text()[:20_000]
    text = text[: text.rindex("@left")]
    (folder / "map.tsv").write_text("stdin\tleft\n")
    words = ("select", "-", "--input-format", "fasta", "--classes", "left,right")
    map_words = ("--label", folder / "map.tsv")
    process = spawn(*words, *map_words, *FEW, "--dry-run", stdin=-1)
    _, said = process.communicate(text)
    # fragments could be read again: that it cannot be shows that reads are rows
    assert "stdin could not give it back" in said


@pytest.mark.parametrize("kind", ["fna", "fq"])
def test_a_pipe_longer_than_any_buffer_is_read_from_its_first_letter(
    spawn, folder, tmp_path, kind
):
    texts = [(folder / f"{name}.{kind}").read_text() for name in ("left", "right")]
    both = "".join(texts * 6)
    assert len(both) > 1 << 17
    labels = tmp_path / "map.tsv"
    words = re.findall(r"^[>@](\S+)", both, re.M)
    labels.write_text("".join(f"{w}\t{w[:4]}\n" for w in dict.fromkeys(words)))
    asked = ("select", "-", "--input-format", "fasta", "--label", labels, *FEW)
    process = spawn(*asked, "--recipe", "newton", "--classes", "left,righ", stdin=-1)
    shown, said = process.communicate(both)
    assert process.returncode == 0, said
    assert "classes: left (-), righ (+)" in shown


def test_records_can_be_labels_and_a_map_too(run, folder, tmp_path):
    both = tmp_path / "both.fa"
    text = "".join((folder / f"{name}.fna").read_text() for name in ("left", "right"))
    both.write_text(text)
    by_record = run("select", both, *FEW, "--label", "record", "--coverage", 2)
    assert "classes: left1 (-), right1 (+)" in by_record.stdout
    (tmp_path / "map.tsv").write_text("left1\t0\nright1\t1\n")
    by_map = run("select", both, *FEW, "--label", tmp_path / "map.tsv", "--coverage", 2)
    assert "classes: 0 (-), 1 (+)" in by_map.stdout
    names = [r.stdout.split("\n")[3].split()[1] for r in (by_record, by_map)]
    assert names[0] == names[1]


def test_both_strands_and_all_letters_can_be_asked_for(run, folder, tmp_path):
    words = ("select", folder / "*.fna", *FEW, "--canonical", "--iupac")
    path = tmp_path / "m"
    result = run(*words, "-o", path)
    assert result.exit_code == 0, result.stderr
    shortlist = Shortlist.load(path)
    assert shortlist.params["kmers"] == {"kmer": 8, "canonical": True, "iupac": True}
    assert shortlist.n_features == 16**8
    again = tmp_path / "again"
    run(*shlex.split(shortlist.params["command"])[1:], "-o", again)
    assert path.read_bytes() == again.read_bytes()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ("--kmer", 16, "--iupac"),
            "--kmer 16: words of iupac have 15 letters at most",
        ),
        (("--fragment", 5), "--fragment 5: a fragment has no word of 12 letters"),
        (("--fragment", "x"), "expected a number of letters or none, got 'x'"),
        (("--fragment", "none", "--coverage", 2), "--coverage is about fragments"),
        (
            ("--fragment", "none", "--label", "record"),
            "label: expected 'file', a map",
        ),
        (("--target", "y"), "--target is no option of files in the format fasta"),
    ],
)
def test_what_makes_no_sense_is_refused(run, folder, words, complaint):
    result = run("select", folder / "*.fna", "-k", 2, *words)
    assert result.exit_code == 2
    assert complaint in " ".join(result.stderr.split())


def test_options_of_dna_are_refused_for_other_files_and_other_words(
    run, data, folder, model
):
    for words in (("--kmer", 8), ("--canonical",), ("--label", "file")):
        result = run("select", data, "-k", 2, *words)
        assert result.exit_code == 2
        complaint = f"{words[0]} is no option of files in the format libsvm; formats"
        assert complaint in result.stderr
    other = run("predict", model[0], folder / "left.fq", "--kmer", 9)
    assert other.exit_code == 2
    assert "--kmer: the model knows words with kmer = 8" in other.stderr


def test_a_genome_as_one_row_gets_a_clear_word(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr("shortlist.sources._reads.MAX_LETTERS", 1000)
    path = tmp_path / "long.fa"
    path.write_text(f">a\n{'ACGT' * 1000}\n")
    result = run("predict", model[0], path)
    assert result.exit_code == 1
    assert f"{path}:1: expected a record of up to 1000 letters" in result.stderr
    assert "draw fragments of it (--fragment 200)" in result.stderr


def test_a_dry_run_looks_at_fragments(run, folder):
    words = ("select", folder / "*.fna", *FEW, "--dry-run")
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    lines = dict(line.split(None, 1) for line in result.stdout.splitlines())
    letters = sum(len(genome(SIGNS[name])) for name in ("left", "right"))
    n_test = int(lines["holdout"].split()[1].replace(",", ""))
    assert n_test == pytest.approx(0.2 * letters / 200, abs=2)
    assert "classes left, right" in lines["loss"]
    assert "rows, compiled kernels" in lines["time"]
    told = json.loads(run(*words, "--format", "json").stdout)
    assert told["rows"] == pytest.approx(0.8 * letters / 200, abs=2)
    assert told["held_out"] == n_test


def test_sequences_too_short_to_divide_are_learned_whole(run, tmp_path):
    for name in ("a", "b"):
        records = [f">{name}{i}\n{genome('', 60, seed=i)}\n" for i in range(60)]
        (tmp_path / f"{name}.fa").write_text("".join(records))
    words = ("select", tmp_path / "*.fa", "-k", 1, "--holdout", 0.1)
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert "held out: nothing; 0 rows would be too few" in result.stderr


def test_checkpoints_work_on_genomes_and_not_on_pipes(run, folder, tmp_path):
    path, model = tmp_path / "state", tmp_path / "m"
    words = ("select", folder / "*.fna", *FEW, "--checkpoint", path)
    assert run(*words, "--every", "0s", "-o", model).exit_code == 0
    assert not path.exists()
    text = f">a\n{genome('', 600)}\n"
    words = ("select", "-", "--input-format", "fasta", *FEW, "--checkpoint", path)
    pipe = run(*words, stdin=text)
    assert pipe.exit_code == 2
    assert "stdin cannot be read again" in pipe.stderr
    assert not path.exists()


def test_a_run_on_genomes_is_taken_up_again(run, folder, tmp_path, monkeypatch):
    from shortlist.engines import Keeper

    path, whole, resumed = (tmp_path / name for name in ("state", "whole", "resumed"))
    words = ("select", folder / "*.fna", *FEW, "--coverage", 30)
    assert run(*words, "-o", whole).exit_code == 0
    save = Keeper.save

    def save_once(self, snapshot):
        save(self, snapshot)
        raise KeyboardInterrupt

    monkeypatch.setattr(Keeper, "save", save_once)
    stopped = run(*words, "--checkpoint", path, "--every", "0s")
    assert stopped.exit_code == 130
    monkeypatch.undo()
    monkeypatch.setenv("SHORTLIST_QUIET", "1")
    assert run(*words, "--resume", path, "-o", resumed).exit_code == 0
    one, other = Shortlist.load(whole), Shortlist.load(resumed)
    assert one.names == other.names
    assert one.weights.tolist() == other.weights.tolist()
    assert one.params["holdout"] == other.params["holdout"]


def test_genomes_can_be_grouped_by_a_label_map(run, folder, tmp_path):
    (tmp_path / "extra.fna").write_text(f">e\n{genome(SIGNS['left'], seed=9)}\n")
    label_map = tmp_path / "groups.tsv"
    label_map.write_text("left\tL\nextra\tL\nright\tR\n")
    files = (folder / "*.fna", tmp_path / "extra.fna")
    result = run("select", *files, *FEW, "--label-map", label_map, "--coverage", 2)
    assert result.exit_code == 0, result.stderr
    assert "classes: L (-), R (+)" in result.stdout
    assert "the last 20 % of every sequence" in result.stderr


@pytest.fixture(scope="module")
def alike(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alike")
    for seed, name in enumerate("ab"):
        (folder / f"{name}.fa").write_text(f">{name}\n{genome('', seed=seed)}\n")
    return folder / "*.fa"


def test_what_says_nothing_is_worth_nothing_in_any_fold(run, alike, tmp_path):
    words = ["-k", "10,50", "--methods", "random", "--cv", 3, "--format", "csv"]
    done = run("compare", alike, *words)
    assert done.exit_code == 0, done.stderr
    assert pd.read_csv(io.StringIO(done.stdout))["accuracy"].mean() < 0.6
    words = ["--kmer", 3, "--coverage", 8, "--method", "mrmr", "--format", "json"]
    told = json.loads(run("select", alike, "-k", "auto", *words).stdout)
    assert max(told["trace"]["budget_score"]) < 0.7


def test_genomes_have_a_trial_and_the_command_gives_the_same_again(
    run, alike, tmp_path
):
    first, second = tmp_path / "first", tmp_path / "second"
    done = run("select", alike, "-k", 3, "--kmer", 4, "--coverage", 4, "-o", first)
    assert "in a trial with" in done.stderr
    score = float(done.stderr.partition("accuracy ")[2].partition(" ")[0])
    assert score < 0.65
    command = Shortlist.load(first).params["direct_command"]
    again = run(*shlex.split(command)[1:], "-o", second)
    assert "in a trial" not in again.stderr
    one, other = Shortlist.load(first), Shortlist.load(second)
    assert one.names == other.names
    np.testing.assert_array_equal(one.weights, other.weights)


def test_halves_of_genomes_are_of_stretches(run, alike, monkeypatch):
    from shortlist.resampling import _second_look

    seen, real = [], _second_look.SecondLook.__init__

    def spying(self, *words, **options):
        seen.append(options["groups"])
        real(self, *words, **options)

    monkeypatch.setattr(_second_look.SecondLook, "__init__", spying)
    words = ["--kmer", 4, "--method", "foba", "--stability", 2]
    done = run("select", alike, "-k", 3, *words)
    assert done.exit_code == 0, done.stderr
    assert 30 < len(np.unique(seen[-1])) <= 40


@pytest.mark.parametrize(
    ("text", "words"), [("", ()), (">r\n", ()), (">r\nACGTACGT\n", ("--kmer", 12))]
)
def test_a_file_without_rows_is_no_class(run, tmp_path, text, words):
    rng = np.random.default_rng(0)
    for name in "ab":
        letters = "".join(rng.choice(list("ACGT"), 3000))
        (tmp_path / f"{name}.fa").write_text(f">r\n{letters}\n")
    (tmp_path / "none.fa").write_text(text)
    files = [tmp_path / f"{name}.fa" for name in ("a", "b", "none")]
    for method in ("foba", "mission"):
        result = run("select", *files, "-k", 2, "--method", method, *words)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "expected rows of class none to learn from, got none" in result.stderr
