"""play(): who is asked what, who sits where, and that a match is the same in any batch."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from poison_env import make, play
from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.core.errors import IllegalActionError
from poison_env.core.protocol import Decisions
from poison_env.games.poison import Poison, PoisonState
from poison_env.scripted import load
from tests.games import a_few_cases
from tests.support import advance, keys, many_keys

GAME = Poison(num_seats=3, num_rounds=2)
RANDOM = load("random")


class Watcher:
    """Plays at random and keeps every question."""

    def __init__(self, name: str = "watcher") -> None:
        self.name = name
        self.questions: list[Decisions] = []

    def __repr__(self) -> str:
        return self.name

    def act(self, question: Decisions) -> npt.NDArray[np.int64]:
        self.questions.append(question)
        return uniform_legal(question.action_mask, question.keys)


class Remembering(Watcher):
    """A watcher with a memory."""

    def __init__(self) -> None:
        super().__init__("remembering")
        self.resets: list[list[int]] = []

    def reset(self, rows: npt.NDArray[np.int64]) -> None:
        self.resets.append(rows.tolist())


class Stubborn:
    """Answers the same thing to every question."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __repr__(self) -> str:
        return "Stubborn"

    def act(self, question: Decisions) -> Any:
        return self.answer(question) if callable(self.answer) else self.answer


def test_a_play_ends_with_every_match_over() -> None:
    record = play(GAME, [RANDOM] * 3, many_keys(10))
    assert record.moves.tolist() == [76] * 10
    assert record.returns.shape == record.points.shape == record.placements.shape == (10, 3)
    np.testing.assert_array_equal(-record.points, record.returns)


def test_points_and_places_are_the_games() -> None:
    game = Poison(num_seats=3, num_rounds=1, handicaps=(0, 9, 2))
    record = play(game, [RANDOM] * 3, many_keys(10))
    np.testing.assert_array_equal(record.points + record.returns, np.tile([0, 9, 2], (10, 1)))
    better = (record.points[:, None, :] < record.points[:, :, None]).sum(axis=2)
    np.testing.assert_array_equal(better, record.placements)


def test_a_play_without_matches_is_empty() -> None:
    record = play(GAME, [RANDOM] * 3, [])
    assert record.returns.shape == (0, 3)


def test_seeds_may_be_a_list() -> None:
    np.testing.assert_array_equal(play(GAME, [RANDOM] * 3, [4, 5]).points, play(GAME, [RANDOM] * 3, keys(4, 5)).points)


def test_every_seat_is_asked_for_its_own_moves() -> None:
    watchers = [Watcher() for _ in range(3)]
    play(GAME, watchers, many_keys(5))
    for seat, watcher in enumerate(watchers):
        assert all((question.seats == seat).all() for question in watcher.questions)
    asked = sum(len(question) for watcher in watchers for question in watcher.questions)
    assert asked == 5 * 76


def test_agents_are_asked_with_what_their_seat_sees() -> None:
    watcher = Watcher()
    play(GAME, [watcher, RANDOM, RANDOM], many_keys(5))
    for question in watcher.questions:
        own = GAME.layout.decode(question.observation, "own_hand")
        held = question.action_mask.reshape(len(question), -1, 3).any(axis=2)
        np.testing.assert_array_equal(own > 0, held)


def test_one_agent_in_several_seats_is_asked_for_all_of_them_at_once() -> None:
    watcher = Watcher()
    play(GAME, [watcher], many_keys(5), seating=[0, 0, 0])
    assert [len(question) for question in watcher.questions] == [5] * 76


def test_seating_places_agents_by_match_and_seat() -> None:
    watchers = [Watcher(), Watcher()]
    seating = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    play(GAME, watchers, many_keys(3), seating=seating)
    for index, watcher in enumerate(watchers):
        for question in watcher.questions:
            assert (seating[question.rows, question.seats] == index).all()


def test_seating_moves_returns_with_the_seat() -> None:
    game = Poison(num_rounds=1)
    agents = [load("cautious"), RANDOM]
    record = play(game, agents, many_keys(400), seating=[1, 1, 0, 1])
    assert record.points.mean(axis=0).argmin() == 2


@pytest.mark.parametrize("seating", [[0, 1], [0, 1, 3], [0, 1, -1], [0.0, 1.0, 2.0], [[0, 1, 2]] * 4])
def test_seating_that_names_no_agent_or_has_another_shape_is_refused(seating: Any) -> None:
    with pytest.raises(ValueError, match=r"seating|broadcast|could not"):
        play(GAME, [RANDOM] * 3, many_keys(5), seating=seating)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_without_seating_there_is_an_agent_for_each_seat(count: int) -> None:
    with pytest.raises(ValueError, match=f"expected 3 agents, one for each seat, got {count}"):
        play(GAME, [RANDOM] * count, many_keys(5))


# --- the same match in any batch --------------------------------------------------------------------------------------


@a_few_cases
def test_a_match_with_its_number_is_played_the_same_in_any_batch(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    agents = [RANDOM, load("greedy")]
    seating = np.arange(200)[:, None] % 2 ^ np.arange(game.num_seats) % 2
    seeds, numbers = many_keys(200), 500 + np.arange(200)
    whole = play(game, agents, seeds, seating=seating, seed=3, matches=numbers)
    for rows in ([17], [199, 0, 64], list(range(100, 0, -1))):
        part = play(game, agents, seeds[rows], seating=seating[rows], seed=3, matches=numbers[rows])
        np.testing.assert_array_equal(whole.returns[rows], part.returns)
        np.testing.assert_array_equal(whole.points[rows], part.points)


def test_matches_are_numbered_by_row_unless_told() -> None:
    told = play(GAME, [RANDOM] * 3, many_keys(5), matches=np.arange(5))
    np.testing.assert_array_equal(told.points, play(GAME, [RANDOM] * 3, many_keys(5)).points)


def test_the_seed_of_a_play_changes_the_agents_and_not_the_deals() -> None:
    watchers = Watcher(), Watcher()
    for seed, watcher in enumerate(watchers):
        play(GAME, [watcher], many_keys(5), seating=[0, 0, 0], seed=seed)
    first, other = (watcher.questions[0] for watcher in watchers)
    np.testing.assert_array_equal(first.observation, other.observation)
    assert (first.keys != other.keys).all()


def test_the_randomness_of_agents_does_not_come_from_the_seed_of_the_match() -> None:
    game = Poison(num_seats=3, first_dealer=0, num_rounds=1)
    watchers = Watcher(), Watcher()
    for seed, watcher in enumerate(watchers):
        play(game, [watcher], keys(seed), seating=[0, 0, 0])
    one, other = ([int(question.keys[0]) for question in watcher.questions] for watcher in watchers)
    assert one == other


# --- memory -----------------------------------------------------------------------------------------------------------


def test_agents_with_a_memory_are_reset_once_for_all_rows() -> None:
    agent = Remembering()
    play(GAME, [agent, RANDOM, RANDOM], many_keys(4))
    assert agent.resets == [[0, 1, 2, 3]]


def test_first_marks_the_first_decision_of_each_seat_in_each_match() -> None:
    watchers = [Watcher() for _ in range(3)]
    play(GAME, watchers, many_keys(4))
    for watcher in watchers:
        first = np.concatenate([question.first for question in watcher.questions])
        rows = np.concatenate([question.rows for question in watcher.questions])
        assert sorted(rows[first].tolist()) == [0, 1, 2, 3]
        assert all(first[np.flatnonzero(rows == row)[0]] for row in range(4))


def test_first_marks_each_seat_of_an_agent_that_holds_several() -> None:
    watcher = Watcher()
    play(GAME, [watcher], many_keys(4), seating=[0, 0, 0])
    assert [int(question.first.sum()) for question in watcher.questions] == [4] * 3 + [0] * 73


# --- recorders --------------------------------------------------------------------------------------------------------


class Recorder:
    def __init__(self) -> None:
        self.states: list[PoisonState] = []
        self.actions: list[npt.NDArray[np.int64]] = []

    def before_step(self, game: Any, state: PoisonState, actions: npt.NDArray[np.int64]) -> None:
        assert game is GAME
        self.states.append(state.copy())
        self.actions.append(actions.copy())


def test_a_recorder_sees_every_batch_and_its_actions() -> None:
    recorder = Recorder()
    record = play(GAME, [RANDOM] * 3, many_keys(4), recorder=recorder)
    assert len(recorder.states) == 76
    state = GAME.deal(many_keys(4))
    for before, actions in zip(recorder.states, recorder.actions, strict=True):
        assert before.equals(state)
        GAME.step(state, actions)
    np.testing.assert_array_equal(state.totals, record.points)


def test_a_recorder_changes_nothing() -> None:
    record = play(GAME, [RANDOM] * 3, many_keys(4), recorder=Recorder())
    np.testing.assert_array_equal(record.points, play(GAME, [RANDOM] * 3, many_keys(4)).points)


# --- agents that do wrong ---------------------------------------------------------------------------------------------


def first_illegal(question: Decisions) -> npt.NDArray[np.int64]:
    chosen = uniform_legal(question.action_mask, question.keys)
    chosen[-1] = np.flatnonzero(~question.action_mask[-1])[0]
    return chosen


def test_an_agent_that_chooses_an_illegal_action_is_named_with_row_and_seat() -> None:
    game = Poison(num_seats=3, first_dealer=0, num_rounds=1)
    with pytest.raises(IllegalActionError, match=r"Stubborn: row 4: seat 1 chose the illegal action \d+"):
        play(game, [RANDOM, Stubborn(first_illegal), RANDOM], many_keys(5))


@pytest.mark.parametrize("wrong", [-1, 48, 10**9])
def test_an_action_out_of_range_is_refused(wrong: int) -> None:
    with pytest.raises(IllegalActionError, match=f"Stubborn: row 0: seat 1 chose the illegal action {wrong}"):
        play(Poison(num_seats=3, first_dealer=0), [RANDOM, Stubborn(np.full(5, wrong)), RANDOM], many_keys(5))


@pytest.mark.parametrize(
    "answer", [np.zeros(4, int), np.zeros((5, 1), int), np.zeros(5), np.zeros(5, bool), 0, None, "pass"]
)
def test_an_answer_of_the_wrong_type_or_shape_is_refused(answer: Any) -> None:
    with pytest.raises(IllegalActionError, match=r"Stubborn: expected integer actions of shape \(5,\)"):
        play(Poison(num_seats=3, first_dealer=0), [RANDOM, Stubborn(answer), RANDOM], many_keys(5))


def test_agents_may_answer_in_lists_and_narrow_integers() -> None:
    expected = play(GAME, [RANDOM] * 3, many_keys(5)).points
    for convert in (np.ndarray.tolist, lambda chosen: chosen.astype(np.int16)):
        agent = Stubborn(lambda question, convert=convert: convert(RANDOM.act(question)))
        np.testing.assert_array_equal(expected, play(GAME, [agent] * 3, many_keys(5)).points)


class Replaying:
    """Draws as `advance` does, from the seeds of the matches, which only a test may know."""

    def act(self, question: Decisions) -> npt.NDArray[np.int64]:
        moves = (question.history >= 0).sum(axis=1)
        return uniform_legal(question.action_mask, chance.fold(many_keys(6)[question.rows], moves, 0))


def test_play_is_the_engine_with_the_agents_actions() -> None:
    record = play(GAME, [Replaying()] * 3, many_keys(6))
    state = GAME.deal(many_keys(6))
    paid = advance(GAME, state)
    np.testing.assert_array_equal(paid, record.returns)
    np.testing.assert_array_equal(state.totals, record.points)
