"""Products of features: the right ones, by name, and found among very many."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist._protocols import DataError, ShortlistError
from shortlist._scoring import evaluate
from shortlist.kernels.pairs import pair_id
from shortlist.sketch import Mission
from shortlist.sources import ArraySource, LibsvmSource, VwSource
from shortlist.sources.labelled import LabelledSource
from shortlist.sources.pairs import MOST_FEATURES, PairSource

ROWS = st.lists(
    st.lists(st.sampled_from([0.0, 0.0, 1.0, -2.0, 3.5]), min_size=4, max_size=4),
    min_size=1,
    max_size=6,
)


@given(ROWS, st.integers(1, 3))
def test_all_pairs_of_a_row_follow_its_features(rows, block_rows):
    source = PairSource(ArraySource(np.array(rows), block_rows=block_rows))
    got = []
    for block in source.blocks():
        names = source.names(block.ids)
        for i in range(block.n_rows):
            part = slice(block.indptr[i], block.indptr[i + 1])
            pairs = zip(names[part], block.values[part].tolist(), strict=True)
            got.append(dict(pairs))
            assert len(got[-1]) == part.stop - part.start
    for row, found in zip(rows, got, strict=True):
        present = [(f"x{j}", v) for j, v in enumerate(row) if v]
        wanted = dict(present)
        for (a, v), (b, w) in combinations(present, 2):
            wanted[f"{a}*{b}"] = v * w
        assert found == wanted


def test_ids_of_pairs_do_not_depend_on_their_order():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2**64, (2, 1000), np.uint64)
    ids = {int(pair_id(x, y)) for x, y in zip(a, b, strict=True)}
    assert ids == {int(pair_id(y, x)) for x, y in zip(a, b, strict=True)}
    assert len(ids) == 1000


def test_pairs_may_be_asked_for_by_name():
    source = PairSource(ArraySource(np.eye(3)))
    ids = source.ids(["x2*x0", "x1"])
    assert source.names(ids) == ["x0*x2", "x1"]
    assert source.ids(["x0*x2"]) == ids[:1]
    with pytest.raises(DataError, match="x9"):
        source.ids(["x9"])


def test_a_row_of_too_many_features_is_refused_by_its_place(tmp_path):
    path = tmp_path / "long.svm"
    cells = " ".join(f"{j}:1" for j in range(MOST_FEATURES + 1))
    path.write_text(f"1 1:1\n-1 {cells}\n")
    with pytest.raises(DataError, match=r"long\.svm:2: expected at most 4,096"):
        list(PairSource(LibsvmSource(path)).blocks())


def planted_pairs(path, n=12_000, n_ids=20_000, seed=0):
    """Rows of 25 of 20,000 features; three pairs decide, no feature does."""
    rng = np.random.default_rng(seed)
    planted = [(17, 4021), (300, 19_000), (777, 12_345)]
    with path.open("w") as out:
        for _ in range(n):
            ids = set(rng.integers(0, n_ids, 21).tolist())
            z = 0.0
            for a, b in planted:
                u, v = rng.choice([-1, 1], 2)
                ids -= {a, b}
                ids |= {(a, int(u)), (b, int(v))}
                z += 2.0 * u * v
            y = 1 if rng.random() < 1 / (1 + np.exp(-z)) else -1
            cells = [(i, 1) if isinstance(i, int) else i for i in ids]
            out.write(f"{y} " + " ".join(f"{i}:{v}" for i, v in cells) + "\n")
    return {f"{a}*{b}" for a, b in planted}


def test_planted_pairs_are_found_among_two_hundred_million(tmp_path):
    path = tmp_path / "rows.svm"
    planted = planted_pairs(path)
    selector = Mission(3, interactions=2, memory="8MB").fit_source(path)
    assert set(selector.shortlist_.names) == planted
    assert selector.score(path) > 0.9
    alone = Mission(3).fit_source(path)
    assert alone.score(path) < 0.6


def test_arrays_have_pairs_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = X[:, 3] * X[:, 7] + 0.1 * rng.normal(size=400)
    selector = Mission(1, interactions=2).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["x3*x7"]
    np.testing.assert_allclose(selector.transform(X)[:, 0], X[:, 3] * X[:, 7])
    assert selector.score(X, y) > 0.95
    with pytest.raises(AttributeError, match="no bound"):
        _ = selector.coef_
    with pytest.raises(ShortlistError, match="goes with fit"):
        Mission(1, interactions=2).partial_fit(X, y)


def test_other_orders_are_refused():
    with pytest.raises(ShortlistError, match="None, 2 or pairs"):
        Mission(1, interactions=3).fit(np.eye(4), [0, 1, 0, 1])


VW = "1 |user u1 u2 |ad a1:2 |page p\n-1 |user u1 |ad a1 a2 | free\n"


def pairs_in(source):
    """Names of the pairs of each row, with their values."""
    found = []
    for block in source.blocks():
        names = source.names(block.ids)
        for i in range(block.n_rows):
            at = slice(block.indptr[i], block.indptr[i + 1])
            row = zip(names[at], block.values[at].tolist(), strict=True)
            found.append({frozenset(n.split("*")): v for n, v in row if "*" in n})
    return found


@pytest.mark.parametrize("wrap", [lambda s: s, lambda s: LabelledSource(s, LABELS)])
def test_pairs_of_namespaces_are_made_of_their_features_only(tmp_path, wrap):
    path = tmp_path / "two.vw"
    path.write_text(VW)
    source = PairSource(wrap(VwSource(path)), ["user*ad"])
    assert pairs_in(source) == [
        {frozenset({"user^u1", "ad^a1"}): 2.0, frozenset({"user^u2", "ad^a1"}): 2.0},
        {frozenset({"user^u1", "ad^a1"}): 1.0, frozenset({"user^u1", "ad^a2"}): 1.0},
    ]
    source = PairSource(wrap(VwSource(path)), ["*ad", "user*user"])
    assert pairs_in(source) == [
        {frozenset({"user^u1", "user^u2"}): 1.0},
        {frozenset({"free", "ad^a1"}): 1.0, frozenset({"free", "ad^a2"}): 1.0},
    ]
    ids = source.ids(["user^u1*user^u2", "ad^a1", "free"])
    assert set(source.names(ids)[0].split("*")) == {"user^u1", "user^u2"}
    assert source.names(ids)[1:] == ["ad^a1", "free"]
    blocks = np.concatenate([block.ids for block in source.blocks()])
    assert np.isin(ids, blocks).all()


LABELS = {1: "yes", -1: "no"}


def test_planted_pairs_of_namespaces_are_found_and_predicted_from(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "many.vw"
    users, ads, pages = (rng.integers(0, n, 20_000) for n in (8, 8, 3_000))
    # neither alone tells anything, nor do other pairs
    labels = np.where((users + ads) % 2 == 0, 1, -1)
    labels = np.where((users < 4) & (ads < 4), labels, rng.choice([-1, 1], 20_000))
    with path.open("w") as file:
        for row in zip(labels, users, ads, pages, strict=True):
            file.write("{} |user u{} |ad a{} |page p{}\n".format(*row))
    model = Mission(16, interactions=["user*ad"]).fit_source(path)
    expected = {
        frozenset({f"user^u{i}", f"ad^a{j}"}) for i in range(4) for j in range(4)
    }
    assert {frozenset(n.split("*")) for n in model.shortlist_.names} == expected
    assert list(model.shortlist_.params["interactions"]) == ["user*ad"]
    assert (
        evaluate(model.shortlist_, PairSource(VwSource(path), ["user*ad"])).value > 0.6
    )


def test_namespaces_are_of_vw_text_only(tmp_path):
    with pytest.raises(ShortlistError, match="Vowpal Wabbit"):
        PairSource(ArraySource(np.eye(3)), ["a*b"])
    for bad in ("a", ["a*b*c"], [], 3, [2], ""):
        with pytest.raises(ShortlistError, match="interactions should be"):
            Mission(2, interactions=bad).fit(np.eye(4), [0, 1, 0, 1])
    path = tmp_path / "two.vw"
    path.write_text(VW)
    with pytest.raises(ShortlistError, match="at most 63"):
        VwSource(path, spaces=[f"s{i}" for i in range(64)])


def test_namespaces_that_no_row_has_are_told(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_text("1 |user a b |ad x\n-1 |user c |ad y\n" * 50)
    asked = ["user*ad", "user*page", "site*ad"]
    selector = Mission(2, interactions=asked).fit_source(path)
    (note,) = [n for n in selector.shortlist_.notes if n.startswith("interactions")]
    assert note == "interactions: no row has a feature in namespace 'page', 'site'"
    met = Mission(2, interactions=["user*ad"]).fit_source(path).shortlist_
    assert not any("interactions" in note for note in met.notes)
