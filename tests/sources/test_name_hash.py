import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.name_hash import hash_name, hash_names

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def slow_hash(name, seed):
    text = name.encode("utf-8", "surrogatepass")
    hashed = mix((seed + GOLDEN * (len(text) + 1)) & MASK)
    whole = len(text) // 8 * 8
    for i in range(0, whole, 8):
        word = int.from_bytes(text[i : i + 8], "little")
        hashed = (mix(hashed ^ word) + GOLDEN) & MASK
    return mix(hashed ^ int.from_bytes(text[whole:], "little"))


@given(st.lists(st.text(max_size=30)), st.integers(0, MASK))
@settings(deadline=None)
def test_names_are_hashed_as_by_the_slow_version(names, seed):
    assert hash_names(names, seed).tolist() == [slow_hash(name, seed) for name in names]


def test_one_name_is_hashed_as_among_others():
    name = np.frombuffer(b"city=Bonn", np.uint8)
    assert hash_name(name, np.uint64(3)) == hash_names(["x", "city=Bonn"], 3)[1]


def test_hashes_stay_the_same_for_ever():
    # stored results name features by these numbers
    assert hash_names(["", "age", "city=Köln"]).tolist() == [
        7175312947680778460,
        12811821618656013293,
        11559946419067465332,
    ]


def test_lone_surrogates_have_a_hash():
    assert len(set(hash_names(["\ud800", "\ud801"]).tolist())) == 2


def test_similar_names_have_different_hashes():
    names = [f"x{i}" for i in range(50_000)] + ["a" * i for i in range(200)]
    names += ["a" + "\0" * i for i in range(1, 20)]
    assert len(set(hash_names(names).tolist())) == len(names)


def test_every_bit_of_a_name_changes_half_of_the_hash():
    rng = np.random.default_rng(0)
    for length in (1, 8, 13):
        name = rng.integers(0, 256, length).astype(np.uint8)
        before = int(hash_name(name, np.uint64(0)))
        changes = []
        for bit in range(8 * length):
            other = name.copy()
            other[bit // 8] ^= 1 << (bit % 8)
            changes.append(bin(before ^ int(hash_name(other, np.uint64(0)))).count("1"))
        assert min(changes) >= 12
        assert max(changes) <= 52
        assert abs(np.mean(changes) - 32) < 4
