"""Chance: known answers, independent streams, unbiased numbers."""

from typing import Any

import numpy as np
import pytest

from poison_env.core import chance
from tests.support import chi_square_z, keys, many_keys

WORD = 2**64 - 1


def splitmix64(state: int, count: int) -> list[int]:
    """Return the outputs of the published SplitMix64 generator, in Python's integers."""
    found = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & WORD
        word = state
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
        found.append(word ^ (word >> 31))
    return found


def test_the_finaliser_gives_the_known_answers_of_splitmix64() -> None:
    assert splitmix64(1234567, 3) == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert chance.fold(1234567).tolist() == [6457827717110365317]
    assert chance.fold(0).tolist() == [0xE220A8397B1DCDAF]


@pytest.mark.parametrize("seed", [0, 1, 2**63, WORD])
def test_words_are_splitmix64_from_the_hash_of_seed_and_stream(seed: int) -> None:
    for stream in (0, 7, 2**40):
        (start,) = chance.fold(seed, stream).tolist()
        assert chance.bits(keys(seed), stream, 20).tolist() == [splitmix64(start, 20)]


def test_known_answers_never_change() -> None:
    assert chance.fold(1, 2).tolist() == [16845828042478990954]
    assert chance.fold(WORD, 0, WORD).tolist() == [13055626515727440088]
    assert chance.bits(keys(0, 1), 3, 2).tolist() == [
        [15133285853576826379, 16255846657580849659],
        [16382292486620914839, 12021298399642966262],
    ]
    assert chance.below(chance.bits(keys(5), 0, 8), 10).tolist() == [[2, 7, 3, 4, 0, 7, 8, 1]]
    assert chance.uniform(chance.bits(keys(5), 0, 2)).tolist() == [[0.27331304265718215, 0.7889359026101187]]


def test_a_key_gives_the_same_words_in_any_row() -> None:
    batch = chance.bits(many_keys(1000), 4, 5)
    np.testing.assert_array_equal(chance.bits(many_keys(1000)[[617]], 4, 5)[0], batch[617])


def test_fewer_words_are_the_first_of_more() -> None:
    np.testing.assert_array_equal(chance.bits(keys(9), 1, 3), chance.bits(keys(9), 1, 50)[:, :3])


def test_streams_differ() -> None:
    words = np.concatenate([chance.bits(keys(9), stream, 100)[0] for stream in range(100)])
    assert len(np.unique(words)) == 10_000


def test_seeds_differ() -> None:
    assert len(np.unique(chance.bits(np.arange(10_000, dtype=np.uint64), 0, 3))) == 30_000


def test_a_stream_for_each_key() -> None:
    words = chance.bits(keys(9, 9, 8), np.array([1, 2, 1]), 4)
    np.testing.assert_array_equal(words[0], chance.bits(keys(9), 1, 4)[0])
    np.testing.assert_array_equal(words[1], chance.bits(keys(9), 2, 4)[0])
    np.testing.assert_array_equal(words[2], chance.bits(keys(8), 1, 4)[0])


def test_every_bit_is_as_often_set_as_not() -> None:
    words = chance.bits(many_keys(2_000), 0, 50).reshape(-1)
    shares = [float((words >> np.uint64(bit) & np.uint64(1)).mean()) for bit in range(64)]
    assert min(shares) > 0.5 - 4 * 0.5 / 100_000**0.5
    assert max(shares) < 0.5 + 4 * 0.5 / 100_000**0.5


def test_a_flipped_seed_bit_flips_half_the_bits() -> None:
    seeds = np.arange(1_000, dtype=np.uint64)
    for bit in (0, 1, 31, 63):
        changed = chance.bits(seeds, 0, 1) ^ chance.bits(seeds ^ np.uint64(1 << bit), 0, 1)
        assert np.bitwise_count(changed).mean() == pytest.approx(32, abs=4 * 4 / 1_000**0.5)


# --- numbers from words -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 10, 100])
def test_numbers_below_a_limit_are_equally_likely(limit: int) -> None:
    drawn = chance.below(chance.bits(many_keys(1_000), 0, 100), limit).reshape(-1)
    assert (drawn.min(), drawn.max()) == (0, limit - 1)
    if limit > 1:
        assert abs(chi_square_z(np.bincount(drawn), np.full(limit, 1 / limit))) < 4


def test_numbers_below_a_limit_for_each_word() -> None:
    words = chance.bits(keys(1), 0, 4)[0]
    limits = np.array([1, 10, 1000, 2**31 - 1])
    expected = [chance.below(words[[i]], int(limit))[0] for i, limit in enumerate(limits)]
    assert chance.below(words, limits).tolist() == expected


def test_numbers_below_a_limit_reach_both_ends() -> None:
    ends = np.array([0, WORD], np.uint64)
    for limit in (1, 2, 1000, 2**31 - 1):
        assert chance.below(ends, limit).tolist() == [0, limit - 1]


def test_uniform_numbers_are_in_the_unit_interval() -> None:
    assert chance.uniform(np.array([0, WORD], np.uint64)).tolist() == [0.0, 1 - 2.0**-53]
    drawn = chance.uniform(chance.bits(many_keys(1_000), 0, 100)).reshape(-1)
    counts = np.bincount((drawn * 50).astype(int), minlength=50)
    assert abs(chi_square_z(counts, np.full(50, 0.02))) < 4


# --- fold -------------------------------------------------------------------------------------------------------------


def test_fold_broadcasts() -> None:
    assert chance.fold(1, np.arange(5)).shape == (5,)
    assert chance.fold(np.arange(5), 1).shape == (5,)
    assert chance.fold(1).shape == (1,)
    assert chance.fold(np.arange(3)[:, None], np.arange(4)).shape == (3, 4)
    np.testing.assert_array_equal(chance.fold(1, np.arange(5))[3], chance.fold(1, 3)[0])


def test_fold_of_different_numbers_differs() -> None:
    pairs = chance.fold(np.arange(300)[:, None], np.arange(300))
    assert len(np.unique(pairs)) == 90_000


def test_fold_depends_on_the_order_and_number_of_counters() -> None:
    found = {int(chance.fold(*numbers)[0]) for numbers in [(1,), (1, 0), (1, 0, 0), (0, 1), (1, 1), (2, 0), (0, 1, 0)]}
    assert len(found) == 7


def test_fold_leaves_its_arguments_alone() -> None:
    seeds, counters = many_keys(5), np.arange(5)
    kept = seeds.copy()
    result = chance.fold(seeds, counters)
    chance.bits(seeds, counters, 3)
    np.testing.assert_array_equal(kept, seeds)
    np.testing.assert_array_equal(np.arange(5), counters)
    assert not np.shares_memory(result, seeds)


# --- seeds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        (3, [3]),
        (np.int32(3), [3]),
        ([1, 2], [1, 2]),
        ((WORD, 0), [WORD, 0]),
        (np.array([5, 6], np.uint8), [5, 6]),
        (np.array(7), [7]),
        ([], []),
        (range(3), [0, 1, 2]),
        ([np.uint64(WORD)], [WORD]),
    ],
)
def test_seeds_become_keys(seeds: Any, expected: list[int]) -> None:
    found = chance.as_keys(seeds)
    assert found.dtype == np.uint64
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("seeds", "shown"),
    [
        (-1, "-1"),
        (2**64, "18446744073709551616"),
        (1.0, "1.0"),
        (True, "True"),
        ("1", "'1'"),
        ([1, -2], "-2"),
        ([1, 2.5], "2.5"),
        ([1, None], "None"),
        (np.array([1.0, 2.0]), "float64"),
        (np.array([True]), "bool"),
        (np.array([3, -4]), "-4"),
        (np.array([2**64], object), "object"),
    ],
)
def test_seeds_that_are_no_64_bit_numbers_are_refused(seeds: Any, shown: str) -> None:
    with pytest.raises(ValueError, match="seeds: expected integers") as refused:
        chance.as_keys(seeds)
    assert shown in str(refused.value)


def test_keys_are_a_copy_of_the_seeds() -> None:
    seeds = many_keys(4)
    assert not np.shares_memory(chance.as_keys(seeds), seeds)
