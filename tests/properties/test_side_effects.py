"""Nothing else is touched: no global state, no argument, no memory shared between what is handed out."""

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from poison_env import make
from poison_env.games.poison import Poison
from tests.games import every_case, every_game, on_the_way
from tests.support import OPTION_SETS, advance, arrays, at_random_depths, many_keys, random_actions, shares_memory

every_option_set = pytest.mark.parametrize("name", OPTION_SETS)


def arrays_of(game: Any) -> list[npt.NDArray[Any]]:
    """Return the tables that a game holds."""
    return [value for value in vars(game).values() if isinstance(value, np.ndarray)]


def test_global_random_state_is_left_alone() -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - it is the global state that is watched
    before = random.getstate(), [str(part) for part in np.random.get_state()]  # noqa: NPY002  # the global state is what is watched
    game = Poison(num_rounds=2)
    state = game.deal(many_keys(5))
    advance(game, state, 70)
    game.resample(state, state.to_move, many_keys(5))
    assert (random.getstate(), [str(part) for part in np.random.get_state()]) == before  # noqa: NPY002  # the global state is what is watched


@every_game
def test_global_random_state_has_no_say(game_id: str) -> None:
    game = make(game_id)
    found = []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002  # the global state is what is watched
        state = game.deal(many_keys(5))
        advance(game, state)
        found.append(state)
    assert found[0].equals(found[1])


@every_case
def test_nothing_handed_out_shares_memory(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    seeds = many_keys(20)
    state = game.deal(seeds)
    advance(game, state, 5)
    seats = state.to_move.copy()
    actions = random_actions(game, state)
    given_arrays = [seeds, seats, actions, *arrays(state).values(), *arrays_of(game)]

    def of_poison(state: Any, actions: npt.NDArray[np.int64]) -> list[npt.NDArray[Any]]:
        return [
            game.overflows(state),
            game.cards_taken(state, actions),
            game.round_ends(state),
            game.cauldron_colours(state),
            game.majority(state.taken),
            game.score(state.taken),
        ]

    def hand_out() -> list[npt.NDArray[Any]]:
        return [
            game.action_mask(state),
            game.observe(state, seats),
            game.observe_all(state),
            game.points(state),
            game.placements(state),
            game.history(state),
            game.step(state.copy(), actions),
            *arrays(game.resample(state, seats, seeds)).values(),
            *(of_poison(state, actions) if isinstance(game, Poison) else ()),
        ]

    first, second = hand_out(), hand_out()
    assert not shares_memory(first, given_arrays)
    assert not shares_memory(first, second)
    assert all(array.flags.writeable for array in first)


def test_arguments_are_not_changed() -> None:
    game = Poison(num_rounds=1)
    seeds, orders = many_keys(6), Poison(num_rounds=1).card_order(many_keys(6))
    kept = seeds.copy(), orders.copy()
    state = game.deal_from(orders, seeds=seeds)
    seats, actions = state.to_move.copy(), random_actions(game, state)
    kept_seats, kept_actions = seats.copy(), actions.copy()
    game.observe(state, seats)
    game.resample(state, seats, seeds)
    game.cards_taken(state, actions)
    game.step(state, actions)
    game.redeal(game.deal(seeds), orders)
    for array, copied in ((seeds, kept[0]), (orders, kept[1]), (seats, kept_seats), (actions, kept_actions)):
        np.testing.assert_array_equal(copied, array)


@every_option_set
def test_asking_changes_nothing(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(10))
    before = state.copy()
    game.action_mask(state)
    game.observe(state, np.zeros(10, int))
    game.observe_all(state)
    game.points(state)[:] = 99
    game.history(state)[:] = 99
    game.placements(state)
    game.overflows(state)
    game.round_ends(state)
    game.majority(state.taken)
    game.text(state, row=2, seat=1)
    assert state.equals(before)


@every_case
def test_the_seed_of_a_match_is_in_no_observation(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    one = on_the_way(game, many_keys(8))
    other = one.copy()
    other.seeds[:] += np.uint64(1)
    np.testing.assert_array_equal(game.observe(one, one.to_move), game.observe(other, other.to_move))
    np.testing.assert_array_equal(game.observe_all(one), game.observe_all(other))
    np.testing.assert_array_equal(game.history(one), game.history(other))
