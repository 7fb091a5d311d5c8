"""OpenSpiel takes our games for its own: its checks, its parameters, and the same match as in the rules."""

import copy
import pickle
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.integration_tests import api_test

from experiments.best_response import Tree, build_tree
from poison_env.adapters import game_tree
from poison_env.core.errors import IllegalActionError, LifeCycleError, OptionError, PositionError
from poison_env.core.protocol import HasChance
from tests.conformance.openspiel_support import OPTIONS, TINY, at_depth, dealt, load, rules
from tests.conformance.relay import Relay

every_game = pytest.mark.parametrize("parameters", OPTIONS)


@every_game
def test_random_matches_pass_openspiels_checks(parameters: str) -> None:
    pyspiel.random_sim_test(load(parameters), num_sims=1, serialize=True, verbose=False)


@pytest.mark.slow
@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize(
    "deck", ["published,num_rounds=1", "box58,num_rounds=1", "R1x3 R5x2 B2x2 B6 G4x2,num_rounds=3"]
)
@pytest.mark.parametrize("options", ["", ",deal=hands4,reward=relative", ",colour_rule=fixed,recall=none,reward=win"])
def test_many_random_matches_pass_openspiels_checks(options: str, deck: str, players: int) -> None:
    game = load(f"players={players},deck={deck}{options}")
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)


@pytest.mark.parametrize(
    "parameters",
    [TINY, "num_seats=3,num_rounds=2", "recall=none,num_rounds=1", "python_potio(max_turns=6)", "python_arsenic"],
)
def test_openspiels_api_test_of_a_part_of_the_tree(parameters: str) -> None:
    cases = {"game": load(parameters), "game_name": parameters}
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(
        type("Partial", (api_test.EnforceAPIOnPartialTreeBase,), cases)
    )
    result = unittest.TestResult()
    suite.run(result)
    assert [text for _, text in (*result.failures, *result.errors)] == []
    assert result.testsRun == 5


@pytest.mark.parametrize(
    "name",
    [
        "num_seats=2,deck=R9x3 G9x2,num_rounds=1,reward=relative,deal=hands4",
        "python_potio(num_seats=2,deck=B1x7 Y1x2,max_turns=1,reward=relative)",
    ],
)
def test_openspiels_api_test_of_a_whole_tree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = load(name)
    tree = build_tree(rules(game))  # what there is to be found, by the batched rules
    chances, ends = chances_and_ends(tree)
    monkeypatch.setitem(api_test.TOTAL_NUM_STATES, name, (chances, tree.positions, ends))
    monkeypatch.setitem(api_test.PERFECT_RECALL_NUM_STATES, name, tree.information_sets)
    cases = {"game": game, "game_name": name}
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(type("Whole", (api_test.EnforceAPIOnFullTreeBase,), cases))
    result = unittest.TestResult()
    suite.run(result)
    assert [text for _, text in (*result.failures, *result.errors)] == []
    assert result.testsRun == 8


def chances_and_ends(tree: Tree) -> tuple[int, int]:
    """Count the ways in which a draw can have begun, and those in which a match can have ended."""
    game: Any = tree.game
    starts = [game.deal(np.zeros(1, np.uint64))]
    for layer in tree.layers:
        starts.append(layer.state[layer.position])
        game.step(starts[-1], layer.action)
    chances = ends = 0
    for state in starts:
        draws = game.drawn_now(state)
        ends += np.count_nonzero(state.done & ~draws)
        for row in np.flatnonzero(draws):
            match, waiting = state[row], [()]
            while waiting:
                drawn = waiting.pop()
                following = game.next_outcomes(match, drawn)
                chances += bool(following)
                ends += bool(match.done[0]) and not following
                waiting += [(*drawn, outcome) for outcome in following]
    return chances, ends


# --- parameters


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("", {"num_seats": 4, "deck": "published", "deal": "hands4", "num_rounds": 4, "first_dealer": None}),
        ("players=5", {"num_seats": 5}),
        ("num_seats=3,players=3", {"num_seats": 3}),
        ("deck=R1x3 B2x2 G4,num_seats=2", {"deck": "R1x3 B2x2 G4", "deal": "all"}),
        ("handicaps=3 0 0 7", {"handicaps": [3, 0, 0, 7]}),
        ("first_dealer=0,num_rounds=2", {"first_dealer": 0, "num_rounds": 2}),
        ("first_dealer=-1,deal=", {"first_dealer": None, "deal": "hands4"}),
        ("colour_rule=fixed,recall=none,reward=win", {"colour_rule": "fixed", "recall": "none", "reward": "win"}),
    ],
)
def test_parameters_are_our_options(parameters: str, expected: dict[str, Any]) -> None:
    assert expected.items() <= rules(load(parameters)).options.items()


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ("players=9", OptionError, "num_seats: expected a whole number from 2 to 8, got 9"),
        ("players=3,num_seats=4", OptionError, "players=3 and num_seats=4 are two names of one option"),
        ("deck=X9", OptionError, "got 'X9'"),
        ("handicaps=a b c d", OptionError, "handicaps: expected numbers with spaces between, got 'a b c d'"),
        ("first_dealer=4", OptionError, "first_dealer: expected a whole number from 0 to 3, got 4"),
        ("colours=2", pyspiel.SpielError, "Unknown parameter 'colours'"),
        ("players=x", pyspiel.SpielError, "Wrong type for parameter players"),
    ],
)
def test_wrong_parameters_are_told(parameters: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        load(parameters)


@every_game
def test_a_game_is_loaded_again_from_its_text(parameters: str) -> None:
    game = load(parameters)
    assert rules(pyspiel.load_game(str(game))) == rules(game)
    assert str(pyspiel.load_game(str(game))) == str(game)
    assert str(pickle.loads(pickle.dumps(game))) == str(game)


def test_programs_of_openspiel_may_set_the_players() -> None:
    assert pyspiel.load_game("python_poison", {"players": 6}).num_players() == 6


def test_the_game_is_among_the_registered_ones() -> None:
    (found,) = (kind for kind in pyspiel.registered_games() if kind.short_name == "python_poison")
    assert (found.min_num_players, found.max_num_players) == (2, 8)
    assert found.long_name == "poison-v0"


@pytest.mark.parametrize(
    ("parameters", "low", "high", "total", "utility", "rewards"),
    [
        (TINY, -7, 7, 0, "ZERO_SUM", "TERMINAL"),
        ("num_rounds=2,reward=win", 0, 1, 1, "CONSTANT_SUM", "TERMINAL"),
        ("num_rounds=2", -2 * (3 * 7 + 16), 0, None, "GENERAL_SUM", "REWARDS"),
    ],
)
def test_utilities_are_told(
    parameters: str, low: float, high: float, total: float | None, utility: str, rewards: str
) -> None:
    game = load(parameters)
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (low, high, total)
    assert (game.get_type().utility.name, game.get_type().reward_model.name) == (utility, rewards)


def test_a_game_without_the_abilities_cannot_be_played() -> None:
    assert not isinstance(Relay(), HasChance)
    with pytest.raises(OptionError, match="relay-v3 cannot be played in OpenSpiel"):
        game_tree.Rules(Relay())  # type: ignore[arg-type]  # Relay is as much of a game as other tests need


# --- the same match


@every_game
def test_a_match_is_the_rules_own_bit_for_bit(parameters: str) -> None:
    game = load(parameters)
    core = rules(game)
    theirs = at_depth(game, seed=1)
    ours, replay, paid, now = (
        core.deal(np.array([7], np.uint64)),
        game.new_initial_state(),
        0,
        np.zeros(game.num_players()),
    )
    drawn: list[int] = []
    for step in theirs.full_history():
        replay.apply_action(step.action)
        if step.player == pyspiel.PlayerId.CHANCE:
            drawn.append(step.action)
        else:
            assert step.player == ours.to_move[0]
            now = core.step(ours, np.array([step.action]))[0]
        if replay.is_chance_node():
            continue
        if core.drawn_now(ours)[0]:
            now = now + core.draw(ours, np.array([drawn], np.int64))[0]
            drawn = []
        paid = paid + now
        assert (now.tolist(), paid.tolist()) == (replay.rewards(), replay.returns())
        assert ours.done[0] == replay.is_terminal()
        if not ours.done[0]:
            assert replay.current_player() == ours.to_move[0]
            np.testing.assert_array_equal(core.action_mask(ours)[0], replay.legal_actions_mask())
        for seat in range(core.num_seats):
            seen = core.observe(ours, np.array([seat]))[0]
            np.testing.assert_array_equal(seen, replay.observation_tensor(seat)[-core.layout.size :])
    assert replay.is_terminal()
    assert replay.returns() == theirs.returns()


@pytest.mark.parametrize("parameters", [TINY, "num_rounds=1", "num_seats=3,num_rounds=1"])
def test_a_deal_from_a_seed_is_a_path_of_chance(parameters: str) -> None:
    game = load(parameters)
    theirs, ours = dealt(game, seed=11)
    assert not theirs.is_chance_node()
    assert str(theirs) == rules(game).text(ours)


def test_rewards_of_a_round_are_told_at_the_first_decision_of_the_next() -> None:
    game = load("num_seats=3,num_rounds=2")
    state = at_depth(game, seed=3, moves=rules(game).cards_dealt)
    assert not state.is_chance_node()
    assert state.rewards() == state.returns()
    assert any(state.rewards())
    state.apply_action(state.legal_actions()[0])
    assert state.rewards() == [0, 0, 0]


def test_actions_and_outcomes_have_names() -> None:
    game = load(TINY)
    state = game.new_initial_state()
    assert [state.action_to_string(outcome) for outcome in state.legal_actions()] == ["R7", "R9", "G4"]
    state = at_depth(game, seed=1, moves=0)
    for action in state.legal_actions():
        assert state.action_to_string(action) == rules(game).action_label(action)


# --- copies


@pytest.mark.parametrize("moves", [0, 3, 25, None])
def test_a_copy_goes_its_own_way(moves: int | None) -> None:
    game = load("num_rounds=1")
    state = at_depth(game, seed=2, moves=moves)
    told, knows = str(state), state.information_state_string(1)
    copies = [state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))]
    copies.append(pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[1])
    for other in copies:
        assert (str(other), other.history(), other.returns()) == (told, state.history(), state.returns())
        assert other.information_state_string(1) == knows
        if not other.is_terminal():
            other.apply_action(other.legal_actions()[-1])
        assert (str(state), state.information_state_string(1)) == (told, knows)


def test_what_is_not_legal_is_refused() -> None:
    game = load(TINY)
    state = at_depth(game, seed=1, moves=0)
    illegal = next(action for action in range(game.num_distinct_actions()) if action not in state.legal_actions())
    told = str(state)
    with pytest.raises(IllegalActionError, match="seat 1"):
        state.node.child(illegal)
    with pytest.raises(PositionError, match="chance cannot draw"):
        game.new_initial_state().node.child(2).child(0)
    assert str(state) == told


def test_resampling_waits_for_chance() -> None:
    with pytest.raises(LifeCycleError, match="chance has not drawn all yet"):
        load(TINY).new_initial_state().resample_from_infostate(0, lambda: 0.5)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_tree, "REMEMBERED", 1_000)
    root = game_tree.Rules(rules(load("num_rounds=1"))).root  # a tree of its own
    for seed in range(5):
        node, random = root, np.random.default_rng(seed)
        while node.player != pyspiel.PlayerId.TERMINAL:
            node = node.child(int(random.choice([*node.outcomes] if node.player < 0 else node.legal)))
    assert root.rules.remembered < 1_000 + 200


def test_a_process_that_has_played_ends_well() -> None:
    program = (
        "import pyspiel, poison_env.adapters.openspiel\n"
        "pyspiel.random_sim_test(pyspiel.load_game('python_poison(num_rounds=1)'), num_sims=1, serialize=True, "
        "verbose=False)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
