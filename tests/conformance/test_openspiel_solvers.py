"""OpenSpiel's solvers and searchers run on our games, and our exact best response agrees with its own."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability, ismcts, mcts

import agents
from experiments.best_response import Tree, best_responses, build_tree, policy_of
from poison_env import make, play, scripted
from poison_env.adapters.openspiel import PolicyAgent
from poison_env.core.errors import OptionError, PositionError
from poison_env.core.protocol import decisions
from tests.conformance.openspiel_support import TINY, load, rules
from tests.support import many_keys

THREE = "num_seats=3,deck=R9x2 R7 G4x2,deal=hands4,num_rounds=1,first_dealer=0"
POTIO = "python_potio(num_seats=2,deck=B1x7 Y1x2,max_turns=1,reward=relative)"
TWO_ROUNDS = "num_seats=2,deck=R9 R7 G9,deal=equal,num_rounds=2,reward=relative,first_dealer=1"


@cache
def tree(parameters: str) -> Tree:
    return build_tree(rules(load(parameters)))


class AgentPolicy(openspiel_policy.Policy):
    """An agent of ours as a policy of OpenSpiel: the agent is asked in the position itself."""

    def __init__(self, game: Any, name: str) -> None:
        super().__init__(game, list(range(game.num_players())))
        self.name = name
        self.answers: dict[str, int] = {}

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        legal = state.legal_actions()
        if self.name == "random":
            return dict.fromkeys(legal, 1 / len(legal))
        known = state.information_state_string()
        if known not in self.answers:
            question = decisions(rules(self.game), state.node.match, np.arange(1))
            self.answers[known] = int(scripted.load(self.name).act(question)[0])
        chosen = self.answers[known]
        return {action: float(action == chosen) for action in legal}


def compare(parameters: str, theirs: Any, ours: Any) -> float:
    """Check that both tell the same about a policy, and return its nash_conv."""
    found = best_responses(tree(parameters), policy_of(tree(parameters), ours))
    game = load(parameters)
    told = exploitability.nash_conv(game, theirs, return_only_nash_conv=False)
    np.testing.assert_allclose(found.gains, told.player_improvements, rtol=0, atol=1e-9)
    players = [theirs] * game.num_players()
    values = expected_game_score.policy_value(game.new_initial_state(), players)
    np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-9)
    return found.nash_conv


@pytest.mark.parametrize(
    ("parameters", "name"),
    [*product([TINY, THREE, TWO_ROUNDS], ["random", "cautious", "greedy"]), *product([POTIO], ["random", "greedy"])],
)
def test_our_best_responses_to_agents_are_openspiels(parameters: str, name: str) -> None:
    compare(parameters, AgentPolicy(load(parameters), name), agents.load(name))


def test_cfr_learns_and_our_best_responses_to_it_are_openspiels() -> None:
    game = load(TINY)
    solver = cfr.CFRPlusSolver(game)
    gaps = []
    for iterations in (1, 4, 15):
        for _ in range(iterations):
            solver.evaluate_and_update_policy()
        gaps.append(compare(TINY, solver.average_policy(), PolicyAgent(solver.average_policy(), game)) / 2)
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[-1] < 1e-3 * (game.max_utility() - game.min_utility())


@pytest.mark.slow
def test_plain_cfr_comes_as_near_as_one_likes() -> None:
    game = load(TINY)
    solver = cfr.CFRSolver(game)
    gaps = []
    for _ in range(3):
        for _ in range(100):
            solver.evaluate_and_update_policy()
        gaps.append(compare(TINY, solver.average_policy(), PolicyAgent(solver.average_policy(), game)) / 2)
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[-1] < 5e-4 * (game.max_utility() - game.min_utility())


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [THREE, TWO_ROUNDS, TINY.replace(",first_dealer=0", "")])
def test_our_best_responses_to_cfr_are_openspiels_on_other_games(parameters: str) -> None:
    game = load(parameters)
    solver = cfr.CFRSolver(game)
    for _ in range(3):
        solver.evaluate_and_update_policy()
        compare(parameters, solver.average_policy(), PolicyAgent(solver.average_policy(), game))


def test_openspiels_solver_in_cpp_runs_too() -> None:
    game = load(TINY)
    theirs, solver = cfr.CFRSolver(game), pyspiel.CFRSolver(game)
    for _ in range(2):
        theirs.evaluate_and_update_policy()
        solver.evaluate_and_update_policy()
    expected = exploitability.nash_conv(game, theirs.average_policy())
    assert pyspiel.nash_conv(game, solver.average_policy()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [
        *("num_seats=3,num_rounds=1", "num_rounds=1,recall=none"),
        *("python_arsenic(num_seats=2,draw=flavour)", "python_potio(num_seats=2,max_turns=6)"),
    ],
)
def test_search_plays_a_match(parameters: str) -> None:
    game = load(parameters)
    random = np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(
        game, mcts.RandomRolloutEvaluator(1, random), uct_c=5.0, max_simulations=4, random_state=random
    )
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, likely = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(random.choice(outcomes, p=likely))
        elif state.current_player() == 0:
            action = bot.step(state)
            assert action in state.legal_actions()
            state.apply_action(action)
        else:
            state.apply_action(random.choice(state.legal_actions()))
    assert any(state.returns())


# --- policies of OpenSpiel as agents


def test_a_policy_of_openspiel_plays_here() -> None:
    game = load(TINY)
    solver = cfr.CFRPlusSolver(game)
    for _ in range(4):
        solver.evaluate_and_update_policy()
    agent = PolicyAgent(solver.average_policy(), game)
    result = play(rules(game), [agent, scripted.load("random")], many_keys(200), seating=[0, 1])
    policy = policy_of(tree(TINY), agent)
    first, second = best_responses(tree(TINY), policy), result.returns.mean(axis=0)
    assert second[0] > first.values[0]  # random play gives away something


def test_a_policy_draws_its_actions_as_likely_as_it_says() -> None:
    game = load(TINY)
    agent = PolicyAgent(openspiel_policy.UniformRandomPolicy(game), game)
    core = rules(game)
    state = core.deal(many_keys(1))[np.zeros(1_000, int)]
    question = decisions(core, state, np.arange(1_000))
    likely = agent.probabilities(question)
    np.testing.assert_allclose(likely, question.action_mask / question.action_mask.sum(axis=1, keepdims=True))
    shares = np.bincount(agent.act(question), minlength=core.num_actions) / 1_000
    np.testing.assert_allclose(shares, likely[0], atol=0.06)


def test_a_policy_is_asked_about_what_the_seat_knows_alone() -> None:
    game = load(TINY)
    core = rules(game)
    asked: list[str] = []

    class Spy(openspiel_policy.UniformRandomPolicy):
        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            asked.append(str(state))
            return super().action_probabilities(state, player_id)

    state = core.deal(many_keys(1))
    for seed in range(30):
        PolicyAgent(Spy(game), game).probabilities(decisions(core, state, np.arange(1), seed))
    assert len(set(asked)) == 3  # of three kinds, two cards are hidden in the other hand: R7 R7, R7 G4, G4 G4


def test_a_policy_answers_for_its_own_game_alone() -> None:
    game = load(TINY)
    other = make("poison-v0", num_rounds=1)
    agent = PolicyAgent(openspiel_policy.UniformRandomPolicy(game), game)
    with pytest.raises(OptionError, match="the policy is for poison-v0 with"):
        agent.act(decisions(other, other.deal(many_keys(1)), np.arange(1)))


def test_a_policy_needs_what_others_saw() -> None:
    game = load("python_arsenic(num_seats=2)")
    core = rules(game)
    state = core.deal(many_keys(1))
    agent = PolicyAgent(openspiel_policy.UniformRandomPolicy(game), game)
    assert core.action_mask(state)[0, agent.act(decisions(core, state, np.arange(1)))[0]]
    core.step(state, np.array([0]))
    with pytest.raises(PositionError, match="the match does not tell"):
        agent.act(decisions(core, state, np.arange(1)))


def test_a_policy_needs_the_moves() -> None:
    game = load(f"{TINY},recall=none")
    core = rules(game)
    state = core.deal(many_keys(1))
    core.step(state, core.action_mask(state).argmax(axis=1))
    agent = PolicyAgent(openspiel_policy.UniformRandomPolicy(game), game)
    with pytest.raises(PositionError, match="the match does not tell"):
        agent.act(decisions(core, state, np.arange(1)))
