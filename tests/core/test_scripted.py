"""The scripted agents: by name, exactly as their rules say, and as strong as they should be."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from poison_env import play
from poison_env.core.errors import UnknownNameError
from poison_env.core.protocol import Decisions, decisions
from poison_env.games.poison import Poison
from poison_env.scripted import PoisonCautious, Random, Scripted, load, names
from tests.support import ALL_KINDS, LARGEST, OPTION_SETS, at_random_depths, chi_square_z, many_keys

DECKS = {
    "largest": {"deck": LARGEST, "num_rounds": 1},
    "all kinds": {"deck": ALL_KINDS, "num_seats": 2, "num_rounds": 1},
}
EVERYWHERE = OPTION_SETS | DECKS


def questions(name: str, count: int = 150) -> tuple[Poison, Decisions]:
    """Return decisions at random depths of a game."""
    game = Poison(**EVERYWHERE[name])
    state = at_random_depths(game, many_keys(20 if name == "largest" else count))
    return game, decisions(game, state, np.flatnonzero(~state.done), 7)


def one_by_one(game: Poison, question: Decisions, choose: Callable[..., Any]) -> list[int]:
    """Ask a scalar policy: the legal moves as (action, value, total, overflows, cards), and the cards taken."""
    chosen = []
    for row in range(len(question)):
        sections = {
            s.name: game.layout.decode(question.observation[row], s.name).tolist() for s in game.layout.sections
        }
        moves = []
        for action in np.flatnonzero(question.action_mask[row]).tolist():
            value = game.kinds[action // 3][1]
            cards = [
                kind for kind, n in zip(game.kinds, sections["cauldrons"][action % 3], strict=True) for _ in range(n)
            ]
            total = sum(card[1] for card in cards)
            moves.append((action, value, total, total + value > 13, cards))
        chosen.append(choose(moves, sections.get("taken")))
    return chosen


# --- random -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["default", "52 kinds", "tiny"])
def test_random_chooses_among_the_legal_actions(name: str) -> None:
    _, question = questions(name)
    chosen = Random().act(question)
    assert question.action_mask[np.arange(len(question)), chosen].all()


def test_random_is_uniform() -> None:
    game = Poison(num_seats=2)
    state = game.position(hands=["R1 P2 G4", "P7x3"], cauldrons=("R7", "G4", "B1"))[np.zeros(20_000, int)]
    question = decisions(game, state, np.arange(20_000))
    counts = np.bincount(Random().act(question), minlength=48)
    legal = question.action_mask[0]
    assert abs(chi_square_z(counts[legal], np.full(5, 0.2))) < 4


def test_random_draws_from_the_keys_alone() -> None:
    _, question = questions("default")
    _, again = questions("default")
    np.testing.assert_array_equal(Random().act(question), Random().act(again))
    again.keys = again.keys ^ np.uint64(1 << 63)
    assert (Random().act(question) != Random().act(again)).any()


def test_probabilities_of_random_are_equal_over_the_legal_actions() -> None:
    _, question = questions("default")
    found = Random().probabilities(question)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found > 0, question.action_mask)
    assert all(len(set(row[row > 0])) == 1 for row in found)


# --- cautious ---------------------------------------------------------------------------------------------------------


def choose_cautiously(moves: list[Any], _: Any) -> int:
    """Follow the rule of `cautious` word by word."""
    safe = [move for move in moves if not move[3]]
    if safe:
        highest = max(value for _, value, *_ in safe)
        safe = [move for move in safe if move[1] == highest]
        fullest = max(total for _, _, total, *_ in safe)
        return min(action for action, _, total, *_ in safe if total == fullest)

    def points(cards: list[tuple[str, int]]) -> int:
        return sum(2 if colour == "poison" else 1 for colour, _ in cards)

    fewest = min(points(cards) for *_, cards in moves)
    cheap = [move for move in moves if points(move[4]) == fewest]
    lowest = min(value for _, value, *_ in cheap)
    return min(action for action, value, *_ in cheap if value == lowest)


@pytest.mark.parametrize("name", EVERYWHERE)
def test_cautious_follows_its_rule(name: str) -> None:
    game, question = questions(name, 400)
    expected = one_by_one(game, question, choose_cautiously)
    assert load("cautious").act(question).tolist() == expected


def test_cautious_meets_decisions_in_which_everything_overflows() -> None:
    met = 0
    for name in ("default", "three seats", "52 kinds"):
        game, question = questions(name, 400)
        met += sum(one_by_one(game, question, lambda moves, _: all(move[3] for move in moves)))
    assert met > 40


# --- greedy -----------------------------------------------------------------------------------------------------------


def count_points(piles: list[list[int]]) -> int:
    """Return the points of the first seat if the round ended with those cards taken: red, blue, purple, poison."""
    own, others = piles[0], piles[1:]
    return 2 * own[3] + sum(own[c] for c in range(3) if any(other[c] >= own[c] for other in others))


def choose_greedily(moves: list[Any], taken: list[list[int]] | None) -> int:
    """Follow the rule of `greedy` word by word."""
    if taken is None:
        return choose_cautiously(moves, None)
    costs = {}
    for action, _, _, overflows, cards in moves:
        after = [list(pile) for pile in taken]
        if overflows:
            for colour, _ in cards:
                after[0][("red", "blue", "purple", "poison").index(colour)] += 1
        costs[action] = count_points(after) - count_points(taken)
    cheapest = min(costs.values())
    best = [move for move in moves if costs[move[0]] == cheapest]
    if any(not move[3] for move in best):
        return choose_cautiously([move for move in best if not move[3]], None)
    lowest = min(value for _, value, *_ in best)
    return min(action for action, value, *_ in best if value == lowest)


@pytest.mark.parametrize("name", EVERYWHERE)
def test_greedy_follows_its_rule(name: str) -> None:
    game, question = questions(name, 400)
    assert load("greedy").act(question).tolist() == one_by_one(game, question, choose_greedily)


def test_greedy_overflows_on_purpose() -> None:
    game, question = questions("default", 400)
    chosen = load("greedy").act(question)
    cautious = load("cautious").act(question)
    rows = np.arange(len(question))
    totals = game.layout.decode(question.observation, "cauldron_totals")
    over = totals[:, game.cauldron_of] + game.deck.values[game.kind_of] > 13
    free = (question.action_mask & ~over).any(axis=1)
    assert (over[rows, chosen] & free).sum() > 20
    assert not (over[rows, cautious] & free).any()


# --- strength ---------------------------------------------------------------------------------------------------------

ROUNDS = 6_000


def per_round(agents: list[str], seating: npt.ArrayLike | None = None, rounds: int = ROUNDS) -> npt.NDArray[Any]:
    """Return the points of each seat in each of many rounds, (rounds, 4)."""
    game = Poison(num_rounds=1)
    return play(game, [load(name) for name in agents], many_keys(rounds, seed=12), seating=seating).points


def interval(values: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of independent values."""
    error = 1.96 * values.std(ddof=1) / len(values) ** 0.5
    return float(values.mean() - error), float(values.mean() + error)


def test_cautious_in_its_own_table_takes_as_many_points_as_it_should() -> None:
    low, high = interval(per_round(["cautious"] * 4).mean(axis=1))
    assert low < 7.73 + 0.06
    assert high > 7.73 - 0.06


def test_greedy_in_its_own_table_takes_at_most_7_35_points() -> None:
    _, high = interval(per_round(["greedy"] * 4).mean(axis=1))
    assert high <= 7.35


def lead_of_the_first(agents: list[str], rounds: int) -> npt.NDArray[np.int64]:
    """Return for each deal what three seats of agent 1 take more than thrice agent 0's, summed over its four seats."""
    lead = np.zeros(rounds, np.int64)
    for seat in range(4):
        points = per_round(agents, seating=(np.arange(4) != seat).astype(int), rounds=rounds)
        lead += points.sum(axis=1) - 4 * points[:, seat]
    return lead


def test_greedy_takes_at_least_0_4_points_less_than_three_cautious() -> None:
    low, _ = interval(lead_of_the_first(["greedy", "cautious"], 3_000) / 12)
    assert low >= 0.4


def test_a_deterministic_agent_against_its_own_copies_differs_by_nothing() -> None:
    assert not lead_of_the_first(["greedy", "greedy"], 200).any()


@pytest.mark.parametrize(("seats", "least", "most"), [(3, 1.25, 1.4), (4, 1.0, 1.25), (5, 0.9, 1.0), (6, 0.8, 1.0)])
def test_cautious_takes_about_one_point_against_random_players(seats: int, least: float, most: float) -> None:
    game = Poison(num_seats=seats, num_rounds=1)
    seating = np.minimum(np.arange(seats), 1)
    points = play(game, [load("cautious"), load("random")], many_keys(8_000), seating=seating).points[:, 0]
    assert least - 0.1 < points.mean() < most + 0.1  # other rules for ties move it by as much


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", names("poison-v0"))
@pytest.mark.parametrize("name", OPTION_SETS)
def test_every_agent_plays_every_option(agent: str, name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    record = play(game, [load(agent)] * game.num_seats, many_keys(3))
    assert record.moves.tolist() == [game.max_moves] * 3


def test_the_names_of_the_agents_of_poison() -> None:
    assert names("poison-v0") == ["random", "cautious", "greedy"]


def test_agents_for_every_game_play_games_that_are_not_known() -> None:
    assert names("chess-v0") == ["random"]


def test_an_unknown_agent_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="no scripted agent 'bold'; there are random, cautious, greedy"):
        load("bold")


def test_an_agent_without_a_policy_for_the_game_is_refused() -> None:
    class OtherGame(Poison):
        id = "other-v0"

    game = OtherGame(num_rounds=1)
    with pytest.raises(UnknownNameError, match="other-v0 has no agent 'cautious'; it has random"):
        play(game, [load("cautious")] * 4, many_keys(1))


def test_a_loaded_agent_says_its_name() -> None:
    assert repr(load("greedy")) == "Scripted('greedy')"
    assert isinstance(load("greedy"), Scripted)


def test_a_loaded_agent_is_the_policy_of_the_game() -> None:
    _, question = questions("default")
    np.testing.assert_array_equal(PoisonCautious().act(question), load("cautious").act(question))


def test_agents_leave_the_question_alone() -> None:
    for agent in names("poison-v0"):
        _, question = questions("default")
        _, untouched = questions("default")
        load(agent).act(question)
        for name in ("observation", "action_mask", "keys", "seats", "rows"):
            np.testing.assert_array_equal(getattr(untouched, name), getattr(question, name))
