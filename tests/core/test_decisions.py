"""Decisions: what an agent is asked, which worlds it may imagine, and that nothing else reaches it."""

from typing import Any

import numpy as np
import pytest

from poison_env import make
from poison_env.core import chance
from poison_env.core.errors import IllegalActionError, NoWorldsError
from poison_env.core.protocol import (
    Decisions,
    HasMemory,
    HasOverflow,
    HasPicture,
    HasProbabilities,
    HasValues,
    decisions,
)
from poison_env.games.poison import Poison, PoisonState
from poison_env.scripted import Random
from tests.games import every_case, on_the_way
from tests.support import arrays, at_random_depths, many_keys, shares_memory

GAME = Poison(num_seats=3, num_rounds=2)


def live_batch(game: Poison = GAME) -> PoisonState:
    state = at_random_depths(game, many_keys(60))
    return state[~state.done]


def test_a_question_shows_each_mover_what_it_sees() -> None:
    state = live_batch()
    rows = np.array([3, 1, 8])
    question = decisions(GAME, state, rows)
    assert len(question) == 3
    assert question.game is GAME
    np.testing.assert_array_equal(state.to_move[rows], question.seats)
    np.testing.assert_array_equal(rows, question.rows)
    np.testing.assert_array_equal(GAME.observe(state, state.to_move)[rows], question.observation)
    np.testing.assert_array_equal(GAME.action_mask(state)[rows], question.action_mask)
    np.testing.assert_array_equal(GAME.history(state)[rows], question.history)


def test_a_question_about_all_rows_is_the_same() -> None:
    state = live_batch()
    whole = decisions(GAME, state, np.arange(len(state)), 5)
    part = decisions(GAME, state, np.arange(7), 5)
    for name in ("observation", "action_mask", "seats", "keys", "first"):
        np.testing.assert_array_equal(getattr(whole, name)[:7], getattr(part, name))


def test_a_question_shares_no_memory_with_the_matches() -> None:
    state = live_batch()
    question = decisions(GAME, state, np.arange(len(state)))
    handed_out = [question.observation, question.action_mask, question.seats, question.keys, question.history]
    assert not shares_memory(handed_out, [*arrays(state).values()])


def test_keys_are_a_hash_of_play_match_move_and_seat() -> None:
    state = live_batch()
    rows = np.arange(len(state))
    expected = chance.fold(9, rows, state.moves, state.to_move)
    np.testing.assert_array_equal(expected, decisions(GAME, state, rows, 9).keys)


def test_keys_do_not_depend_on_the_seed_of_the_match() -> None:
    state = live_batch()
    other = state.copy()
    other.seeds[:] = many_keys(len(state), seed=77)
    rows = np.arange(len(state))
    np.testing.assert_array_equal(decisions(GAME, state, rows).keys, decisions(GAME, other, rows).keys)


def test_keys_go_with_the_number_of_the_match() -> None:
    state = live_batch()
    rows, numbers = np.arange(len(state)), 1_000 + np.arange(len(state))
    keys = decisions(GAME, state, rows, 9, matches=numbers).keys
    moved = decisions(GAME, state[rows[::-1]], rows, 9, matches=numbers[::-1]).keys
    np.testing.assert_array_equal(keys[::-1], moved)


def test_different_plays_matches_moves_and_seats_have_different_keys() -> None:
    state = live_batch()[np.zeros(4, int)]
    state.moves[1] += 1
    state.to_move[2] = (state.to_move[2] + 1) % 3
    found = [*decisions(GAME, state, np.arange(4), 1).keys, *decisions(GAME, state, np.arange(4), 2).keys]
    assert len(set(found)) == 8


def test_first_is_false_unless_told() -> None:
    state = live_batch()
    assert not decisions(GAME, state, np.arange(5)).first.any()
    told = np.array([True, False, True])
    np.testing.assert_array_equal(told, decisions(GAME, state, np.arange(3), first=told).first)


# --- worlds -----------------------------------------------------------------------------------------------------------


@every_case
def test_worlds_look_the_same_to_the_seat(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    state = on_the_way(game, many_keys(24))
    state = state[~state.done]
    question = decisions(game, state, np.arange(0, len(state), 2))
    worlds = question.worlds(3)
    assert len(worlds) == 3 * len(question)
    seats = np.repeat(question.seats, 3)
    np.testing.assert_array_equal(np.repeat(question.observation, 3, axis=0), game.observe(worlds, seats))
    np.testing.assert_array_equal(np.repeat(question.action_mask, 3, axis=0), game.action_mask(worlds))


def test_worlds_are_the_same_whenever_asked() -> None:
    question = decisions(GAME, live_batch(), np.arange(10), 4)
    assert question.worlds(5).equals(question.worlds(5))


def test_fewer_worlds_are_the_first_of_more() -> None:
    question = decisions(GAME, live_batch(), np.arange(10), 4)
    many, few = question.worlds(5), question.worlds(2)
    assert few.equals(many[(np.arange(10)[:, None] * 5 + np.arange(2)).ravel()])


def test_worlds_of_some_decisions_are_those_of_all() -> None:
    question = decisions(GAME, live_batch(), np.arange(2, 12), 4)
    some = question.worlds(4, rows=np.array([7, 0]))
    assert some.equals(question.worlds(4)[np.r_[28:32, 0:4]])


def test_worlds_of_a_decision_are_the_same_in_any_batch() -> None:
    state = live_batch()
    numbers = np.arange(len(state))
    whole = decisions(GAME, state, np.arange(12), 4).worlds(3)
    alone = decisions(GAME, state[[9]], np.arange(1), 4, matches=numbers[[9]]).worlds(3)
    assert alone.equals(whole[27:30])


def test_worlds_differ_from_each_other_and_by_key() -> None:
    state = live_batch()
    worlds = decisions(GAME, state, np.arange(len(state)), 4).worlds(2)
    assert len(np.unique(worlds.seeds)) == len(worlds)
    other = decisions(GAME, state, np.arange(len(state)), 5).worlds(2)
    assert not np.isin(worlds.seeds, other.seeds).any()


def test_worlds_do_not_depend_on_what_the_seat_cannot_know() -> None:
    state = live_batch()
    rows = np.arange(len(state))
    hidden = GAME.resample(state, state.to_move, many_keys(len(state), seed=8))
    assert decisions(GAME, state, rows).worlds(3).equals(decisions(GAME, hidden, rows).worlds(3))


@every_case
def test_worlds_of_any_game_do_not_depend_on_what_the_seat_cannot_know(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    state = on_the_way(game, many_keys(24))
    state = state[~state.done]
    rows = np.arange(len(state))
    hidden = game.resample(state, state.to_move, many_keys(len(state), seed=8))
    assert decisions(game, state, rows).worlds(3).equals(decisions(game, hidden, rows).worlds(3))


def test_worlds_leave_the_matches_alone() -> None:
    state = live_batch()
    before = state.copy()
    worlds = decisions(GAME, state, np.arange(len(state))).worlds(2)
    GAME.step(worlds, np.argmax(GAME.action_mask(worlds), axis=1))
    assert state.equals(before)


# --- decisions without a match ----------------------------------------------------------------------------------------


def test_decisions_can_be_built_from_observations() -> None:
    asked = decisions(GAME, live_batch(), np.arange(4))
    built = Decisions.from_observation(GAME, asked.observation, asked.action_mask, asked.seats, seed=3)
    np.testing.assert_array_equal(asked.observation, built.observation)
    np.testing.assert_array_equal(asked.action_mask, built.action_mask)
    np.testing.assert_array_equal(asked.seats, built.seats)
    assert (len(built), built.rows.tolist()) == (4, [0, 1, 2, 3])
    assert len(np.unique(built.keys)) == 4


def test_one_observation_is_one_decision() -> None:
    asked = decisions(GAME, live_batch(), np.arange(1))
    mask = asked.action_mask[0].astype(np.int8).tolist()
    built = Decisions.from_observation(GAME, asked.observation[0].tolist(), mask, 2)
    assert (len(built), built.seats.tolist(), built.action_mask.dtype) == (1, [2], np.dtype(bool))
    assert Random().act(built).shape == (1,)


def test_keys_of_built_decisions_go_with_the_seed() -> None:
    asked = decisions(GAME, live_batch(), np.arange(2))
    one, same, other = (
        Decisions.from_observation(GAME, asked.observation, asked.action_mask, 0, seed=seed).keys for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.isin(one, other).any()


def test_built_decisions_have_no_worlds_and_no_history() -> None:
    asked = decisions(GAME, live_batch(), np.arange(2))
    built = Decisions.from_observation(GAME, asked.observation, asked.action_mask, 0)
    with pytest.raises(NoWorldsError, match="built from an observation alone"):
        built.worlds(1)
    with pytest.raises(NoWorldsError, match="built from an observation alone"):
        _ = built.history


@pytest.mark.parametrize(("features", "actions", "rows"), [(-1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_observations_of_another_shape_are_refused(features: int, actions: int, rows: int) -> None:
    observation = np.zeros((2, GAME.layout.size + features), np.int16)
    mask = np.ones((2 + rows, GAME.num_actions + actions), bool)
    with pytest.raises(ValueError, match="expected observation and mask of shapes"):
        Decisions.from_observation(GAME, observation, mask, 0)


def test_a_mask_that_allows_nothing_is_refused() -> None:
    mask = np.ones((3, GAME.num_actions), bool)
    mask[1] = False
    with pytest.raises(IllegalActionError, match="row 1: the mask allows no action"):
        Decisions.from_observation(GAME, np.zeros((3, GAME.layout.size)), mask, 0)


# --- abilities --------------------------------------------------------------------------------------------------------


def test_poison_has_overflows_and_a_picture() -> None:
    assert isinstance(GAME, HasOverflow)
    assert isinstance(GAME, HasPicture)


class Thinker:
    def act(self, question: Any) -> Any: ...
    def values(self, question: Any) -> Any: ...
    def reset(self, rows: Any) -> None: ...


def test_abilities_of_agents_are_found_by_what_they_can_do() -> None:
    assert isinstance(Thinker(), HasValues)
    assert isinstance(Thinker(), HasMemory)
    assert not isinstance(Thinker(), HasProbabilities)
    assert isinstance(Random(), HasProbabilities)
    assert not isinstance(Random(), HasMemory)
