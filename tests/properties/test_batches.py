"""A match is the same alone and in any batch; rows of a batch are copies; matches that are over stay."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poison_env import make
from poison_env.core import chance
from poison_env.core.protocol import HasChance, HasOverflow
from poison_env.games.poison import Poison, PoisonState
from tests.games import a_few_cases, every_game, on_the_way
from tests.properties.strategies import games, properties, seeds_64
from tests.support import OPTION_SETS, advance, arrays, at_random_depths, keys, many_keys, random_actions, shares_memory

every_option_set = pytest.mark.parametrize("name", OPTION_SETS)


# --- one match, wherever it is played ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["three seats", "no recall", "box58", "win, handicaps", "tiny"])
def test_a_match_is_the_same_alone_and_in_any_row_of_10000(name: str) -> None:
    game = Poison(**OPTION_SETS[name] | {"num_rounds": 2})
    batch = game.deal(many_keys(10_000))
    paid = advance(game, batch)
    for row in (0, 1, 1023, 1024, 4095, 9_999):
        alone = game.deal(many_keys(10_000)[[row]])
        paid_alone = advance(game, alone)
        assert alone.equals(batch[row])
        np.testing.assert_array_equal(paid[[row]], paid_alone)


@every_game
def test_what_a_seat_sees_and_may_do_is_the_same_in_a_large_batch(game_id: str) -> None:
    game = make(game_id)
    state, seats = game.deal(many_keys(5_000)), chance.below(many_keys(5_000, 1), game.num_seats)
    for _ in range(9):
        game.step(state, random_actions(game, state))
    seen, mask = game.observe(state, seats), game.action_mask(state)
    for rows in (slice(0, 3), slice(2_040, 2_060), slice(4_090, 4_100), slice(4_997, 5_000)):
        np.testing.assert_array_equal(game.observe(state[rows], seats[rows]), seen[rows])
        np.testing.assert_array_equal(game.action_mask(state[rows]), mask[rows])


@pytest.mark.parametrize("dtype", [np.int8, np.uint64])
@every_game
def test_seats_may_be_whole_numbers_of_any_type(game_id: str, dtype: type) -> None:
    game = make(game_id)
    state, seats = game.deal(many_keys(4)), np.array([3, 0, 2, 1])
    np.testing.assert_array_equal(game.observe(state, seats.astype(dtype)), game.observe(state, seats))
    assert game.resample(state, seats.astype(dtype), many_keys(4)).equals(game.resample(state, seats, many_keys(4)))


@properties
@given(game=games(), seed=seeds_64, order=st.permutations(range(7)))
def test_the_order_of_a_batch_does_not_matter(game: Poison, seed: int, order: list[int]) -> None:
    seeds = chance.fold(seed, np.arange(7))
    state, permuted = game.deal(seeds), game.deal(seeds[order])
    advance(game, state, 30)
    advance(game, permuted, 30)
    assert permuted.equals(state[order])


def test_different_seeds_are_different_matches() -> None:
    game = Poison(num_rounds=1)
    hands = game.deal(many_keys(500)).hands.reshape(500, -1)
    assert len(np.unique(hands, axis=0)) == 500


@a_few_cases
def test_rows_at_different_depths_do_not_disturb_each_other(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    state = on_the_way(game, many_keys(40))
    alone = [state[row] for row in range(40)]
    for _ in range(10):
        chosen = random_actions(game, state)
        game.step(state, chosen)
        for row, one in enumerate(alone):
            game.step(one, chosen[[row]])
    for row, one in enumerate(alone):
        assert one.equals(state[row])


@a_few_cases
def test_a_batch_may_be_empty(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    state = game.deal(np.zeros(0, np.uint64))
    none = np.zeros(0, np.int64)
    assert game.action_mask(state).shape == (0, game.num_actions)
    if isinstance(game, HasOverflow):
        assert game.overflows(state).shape == (0, game.num_actions)
    assert game.step(state, none).shape == (0, game.num_seats)
    assert game.observe(state, none).shape == (0, game.layout.size)
    assert game.observe_all(state).shape == (0, game.full_layout.size)
    assert len(game.resample(state, none, np.zeros(0, np.uint64))) == 0
    assert isinstance(game, HasChance)
    assert game.draw(state, game.outcomes(state)).shape == (0, game.num_seats)
    assert game.placements(state).shape == game.points(state).shape == (0, game.num_seats)


# --- batches ----------------------------------------------------------------------------------------------------------

ROWS = [
    ([4, 0, 4], [4, 0, 4]),
    (np.array([5, 5]), [5, 5]),
    (2, [2]),
    (-1, [5]),
    (np.int64(3), [3]),
    (slice(1, 4), [1, 2, 3]),
    (slice(None, None, 2), [0, 2, 4]),
    (np.array([True, False, False, True, False, True]), [0, 3, 5]),
    (np.zeros(0, np.int64), []),
    ([], []),
]


@pytest.mark.parametrize(("rows", "meant"), ROWS)
def test_rows_of_a_batch_are_a_copy(rows: Any, meant: list[int]) -> None:
    game = Poison(num_rounds=1)
    state = at_random_depths(game, many_keys(6))
    part = state[rows]
    assert isinstance(part, PoisonState)
    for name, array in arrays(state).items():
        np.testing.assert_array_equal(array[np.array(meant, int)], arrays(part)[name])
        assert arrays(part)[name].dtype == array.dtype
    assert not shares_memory([*arrays(state).values()], [*arrays(part).values()])


def test_repeated_rows_are_separate_matches() -> None:
    game = Poison(num_rounds=1)
    state = game.deal(keys(3))
    twice = state[[0, 0]]
    legal = np.flatnonzero(game.action_mask(twice)[0])
    game.step(twice, legal[[0, -1]])
    assert (twice.hands[0] != twice.hands[1]).any()
    assert state.equals(game.deal(keys(3)))


@pytest.mark.parametrize(("rows", "meant"), [pair for pair in ROWS if len(set(pair[1])) == len(pair[1])])
def test_rows_of_a_batch_can_be_overwritten(rows: Any, meant: list[int]) -> None:
    game = Poison(num_rounds=1)
    state = at_random_depths(game, many_keys(6))
    others = at_random_depths(game, many_keys(len(meant), seed=3))
    expected = [state[row] for row in range(6)]
    for index, row in enumerate(meant):
        expected[row] = others[index]
    state[rows] = others
    for row in range(6):
        assert state[row].equals(expected[row])
    assert not shares_memory([*arrays(state).values()], [*arrays(others).values()])


def test_an_overwritten_row_goes_on_as_the_other_match() -> None:
    game = Poison(num_rounds=1)
    state = game.deal(many_keys(4))
    advance(game, state, 20)
    fresh = game.deal(keys(8, 9))
    state[[1, 3]] = fresh
    advance(game, state, 30)
    assert state.done.tolist() == [True, False, True, False]
    advance(game, state)
    advance(game, fresh)
    assert state[[1, 3]].equals(fresh)


def test_a_copy_shares_no_memory() -> None:
    game = Poison(num_rounds=1)
    state = at_random_depths(game, many_keys(6))
    for again in (state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert again.equals(state)
        assert not shares_memory([*arrays(state).values()], [*arrays(again).values()])
        advance(game, again)
        assert again.done.all()


def test_equal_batches_are_equal_in_every_array() -> None:
    game = Poison(num_rounds=1)
    state = game.deal(many_keys(3))
    for name, array in arrays(state).items():
        other = state.copy()
        arrays(other)[name].reshape(-1)[0] += np.ones((), array.dtype)
        assert not other.equals(state), name
    assert not state.equals(state[[0, 1]])
    assert not state.equals(None)


def test_a_batch_knows_its_length() -> None:
    assert len(Poison().deal(many_keys(7))) == 7


# --- matches that are over --------------------------------------------------------------------------------------------


@every_option_set
def test_matches_that_are_over_ignore_actions_and_stay(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    over = game.deal(many_keys(3))
    advance(game, over)
    state = game.deal(many_keys(5))
    state[[0, 2, 4]] = over
    live = state[[1, 3]]
    for chosen in (0, -1, 10**9, game.num_actions):
        actions = np.full(5, chosen)
        actions[[1, 3]] = random_actions(game, live)
        paid = game.step(state, actions)
        game.step(live, actions[[1, 3]])
        assert not paid[[0, 2, 4]].any()
        assert state[[0, 2, 4]].equals(over)
        assert state[[1, 3]].equals(live)


def test_matches_that_are_over_offer_nothing() -> None:
    game = Poison(num_rounds=1)
    over = game.deal(many_keys(3))
    advance(game, over)
    assert not game.action_mask(over).any()
    assert not game.overflows(over).any()
    assert not game.cards_taken(over, np.array([0, -1, 99])).any()
