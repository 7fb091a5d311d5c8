"""Illegal input is refused with row, seat and reason, and nothing has changed."""

from typing import Any

import numpy as np
import pytest

from poison_env import make
from poison_env.core.errors import ActionTypeError, IllegalActionError
from poison_env.games.poison import Poison
from tests.games import every_game
from tests.support import OPTION_SETS, advance, at_random_depths, many_keys, random_actions

every_option_set = pytest.mark.parametrize("name", OPTION_SETS)
NUM_ACTIONS = 999  # stands for the game's own number


@every_option_set
def test_an_illegal_action_changes_nothing(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(12))
    state = state[~state.done]
    before = state.copy()
    for row in range(len(state)):
        illegal = np.flatnonzero(~game.action_mask(state)[row])
        for wrong in illegal[:: max(1, len(illegal) // 4)]:
            actions = random_actions(game, state)
            actions[row] = wrong
            with pytest.raises(IllegalActionError, match=f"row {row}: seat {state.to_move[row]} ") as refused:
                game.step(state, actions)
            assert game.deck.label(wrong // 3) in str(refused.value)
            assert state.equals(before)


@pytest.mark.parametrize("wrong", [-1, NUM_ACTIONS, 10**12, -(2**63)])
@every_game
def test_an_action_out_of_range_changes_nothing(game_id: str, wrong: int) -> None:
    game = make(game_id)
    wrong = game.num_actions if wrong == NUM_ACTIONS else wrong
    state = game.deal(many_keys(5))
    before = state.copy()
    actions = random_actions(game, state)
    actions[3] = wrong
    reason = rf"row 3: seat {state.to_move[3]}.* action {wrong} .*0\.\.{game.num_actions - 1}"
    with pytest.raises(IllegalActionError, match=reason):
        game.step(state, actions)
    assert state.equals(before)


@every_game
def test_a_huge_unsigned_action_is_out_of_range(game_id: str) -> None:
    game = make(game_id)
    state = game.deal(many_keys(2))
    with pytest.raises(IllegalActionError, match="row 0"):
        game.step(state, np.full(2, 2**64 - 1, np.uint64))


def test_the_first_illegal_row_is_named_by_its_number_in_the_batch() -> None:
    game = Poison(num_rounds=1)
    state = game.deal(many_keys(6))
    over = game.deal(many_keys(2))
    advance(game, over)
    state[[0, 3]] = over
    actions = random_actions(game, state)
    actions[[4, 5]] = [np.flatnonzero(~mask)[0] for mask in game.action_mask(state)[[4, 5]]]
    with pytest.raises(IllegalActionError, match=f"row 4: seat {state.to_move[4]}"):
        game.step(state, actions)


@pytest.mark.parametrize(
    "actions",
    [
        np.zeros(3),
        np.zeros(3, bool),
        np.array(["0", "0", "0"]),
        np.array([None, None, None]),
        np.zeros(2, int),
        np.zeros(4, int),
        np.zeros((3, 1), int),
        np.zeros((), int),
        0,
        [0, 0],
        [0.0, 0.0, 0.0],
        None,
    ],
)
@every_game
def test_actions_of_a_wrong_type_or_shape_change_nothing(game_id: str, actions: Any) -> None:
    game = make(game_id)
    state = game.deal(many_keys(3))
    before = state.copy()
    with pytest.raises(ActionTypeError, match=r"expected integers of shape \(3,\)"):
        game.step(state, actions)
    assert state.equals(before)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
@every_game
def test_actions_may_be_integers_of_any_width(game_id: str, dtype: Any) -> None:
    game = make(game_id)
    state, expected = game.deal(many_keys(5)), game.deal(many_keys(5))
    chosen = random_actions(game, state)
    game.step(state, chosen.astype(dtype))
    game.step(expected, chosen)
    assert state.equals(expected)
