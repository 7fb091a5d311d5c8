"""Choosing among legal actions for whole batches."""

import numpy as np
import pytest

from poison_env.core import chance
from poison_env.core.choice import best_legal, uniform_legal
from tests.support import chi_square_z, many_keys


@pytest.mark.parametrize("width", [*range(1, 201), 255, 256, 257, 1000])
def test_a_chosen_action_is_legal_at_every_width(width: int) -> None:
    mask = chance.below(chance.bits(many_keys(300, seed=width), 1, width), 100) < 15
    mask[np.arange(300), np.arange(300) % width] = True
    chosen = uniform_legal(mask, many_keys(300))
    assert chosen.shape == (300,)
    assert mask[np.arange(300), chosen].all()


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 33, 48, 64, 156, 200])
def test_every_legal_action_is_equally_likely(width: int) -> None:
    mask = chance.below(chance.bits(many_keys(1, seed=width), 1, width), 2)[0] == 1
    mask[-1] = True
    chosen = uniform_legal(np.tile(mask, (40_000, 1)), many_keys(40_000))
    counts = np.bincount(chosen, minlength=width)
    assert not counts[~mask].any()
    if mask.sum() > 1:
        assert abs(chi_square_z(counts[mask], np.full(mask.sum(), 1 / mask.sum()))) < 4


@pytest.mark.parametrize("width", [1, 8, 48, 200, 300])
def test_a_single_legal_action_is_chosen(width: int) -> None:
    for action in range(width):
        mask = np.zeros((2, width), bool)
        mask[:, action] = True
        assert uniform_legal(mask, many_keys(2)).tolist() == [action] * 2


@pytest.mark.parametrize("width", [8, 200, 254, 255, 256, 257, 600])
def test_every_action_is_reached_when_all_are_legal(width: int) -> None:
    words = (np.arange(width, dtype=np.uint64) << np.uint64(32)) // np.uint64(width) << np.uint64(32)
    middle = words + np.uint64(2**31 // width << 32)
    assert uniform_legal(np.ones((width, width), bool), middle).tolist() == list(range(width))


def test_the_lowest_and_highest_word_choose_the_first_and_last_action() -> None:
    mask = np.zeros((2, 48), bool)
    mask[:, [3, 17, 40]] = True
    assert uniform_legal(mask, np.array([0, 2**64 - 1], np.uint64)).tolist() == [3, 40]


@pytest.mark.parametrize("width", [1, 8, 9, 48])
def test_without_a_legal_action_the_choice_is_0(width: int) -> None:
    mask = np.zeros((3, width), bool)
    mask[1, -1] = True
    assert uniform_legal(mask, many_keys(3)).tolist() == [0, width - 1, 0]


def test_a_choice_is_a_function_of_its_row() -> None:
    mask = chance.below(chance.bits(many_keys(100), 1, 48), 3) == 0
    words = many_keys(100, seed=1)
    whole = uniform_legal(mask, words)
    for row in range(100):
        assert uniform_legal(mask[[row]], words[[row]]) == whole[[row]]


def test_masks_of_any_memory_order_are_read_alike() -> None:
    mask = chance.below(chance.bits(many_keys(50), 1, 40), 3) == 0
    expected = uniform_legal(mask, many_keys(50))
    np.testing.assert_array_equal(expected, uniform_legal(np.asfortranarray(mask), many_keys(50)))
    np.testing.assert_array_equal(expected, uniform_legal(np.repeat(mask, 2, axis=1)[:, ::2], many_keys(50)))


def test_choosing_leaves_its_arguments_alone() -> None:
    mask, words = np.ones((5, 12), bool), many_keys(5)
    uniform_legal(mask, words)
    assert mask.all()
    np.testing.assert_array_equal(many_keys(5), words)


def test_an_empty_batch_has_no_choices() -> None:
    assert uniform_legal(np.zeros((0, 48), bool), many_keys(0)).shape == (0,)
    assert best_legal(np.zeros((0, 48)), np.zeros((0, 48), bool)).shape == (0,)


def test_the_best_is_the_highest_legal_value() -> None:
    values = np.array([[5.0, 9.0, 7.0], [5.0, 9.0, 7.0], [-5.0, -9.0, -7.0]])
    mask = np.array([[True, True, True], [True, False, True], [False, True, True]])
    assert best_legal(values, mask).tolist() == [1, 2, 2]


def test_of_equal_values_the_lowest_action_is_best() -> None:
    values = np.array([[1, 3, 3, 3], [3, 1, 3, 3]])
    mask = np.array([[True, False, True, True], [False, True, True, True]])
    assert best_legal(values, mask).tolist() == [2, 2]


def test_the_best_of_integers_and_floats_is_the_same() -> None:
    mask = chance.below(chance.bits(many_keys(200), 1, 48), 3) == 0
    values = chance.below(chance.bits(many_keys(200), 2, 48), 20) - 10
    np.testing.assert_array_equal(best_legal(values, mask), best_legal(values.astype(float), mask))
    for row in np.flatnonzero(mask.any(axis=1)):
        legal = np.flatnonzero(mask[row])
        assert best_legal(values, mask)[row] == min(legal, key=lambda a, row=row: (-values[row, a], a))


def test_values_of_illegal_actions_may_be_anything() -> None:
    values = np.array([[np.nan, 1.0, np.inf]])
    assert best_legal(values, np.array([[False, True, False]])).tolist() == [1]


def test_any_finite_value_beats_an_illegal_action() -> None:
    mask = np.array([[False, True]])
    assert best_legal(np.array([[0.0, -1e300]]), mask).tolist() == [1]
    assert best_legal(np.array([[0, np.iinfo(np.int64).min + 1]]), mask).tolist() == [1]
