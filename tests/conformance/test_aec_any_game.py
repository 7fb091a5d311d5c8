"""The AEC environment serves any game of the contract: other orders of turns, limits, no picture."""

import warnings

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test, seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from poison_env.adapters.aec import MatchEnv
from poison_env.core import chance
from poison_env.core.errors import OptionError
from tests.conformance.aec_support import choose
from tests.conformance.relay import ORDER, Relay
from tests.conformance.test_aec_checkers import KNOWN_WARNINGS

LIMITS = [None, 1, 3, 6]
every_limit = pytest.mark.parametrize("limit", LIMITS)


@every_limit
def test_the_checkers_pass(limit):
    def make():
        return MatchEnv(Relay(limit))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(), num_cycles=50)
    extra = {"Observation is a single number", "Observation numpy array is all zeros."}  # which is Relay's doing
    assert KNOWN_WARNINGS <= {str(warning.message) for warning in caught} <= KNOWN_WARNINGS | extra
    seed_test(make, num_cycles=50)
    parallel_api_test(turn_based_aec_to_parallel(make()), num_cycles=50)


@every_limit
def test_the_game_says_whose_turn_it_is(limit):
    env = MatchEnv(Relay(limit))
    env.reset(seed=1)
    asked = []
    for agent in env.agent_iter():
        _, _, terminated, truncated, _ = env.last()
        if not terminated and not truncated:
            asked.append(int(agent.removeprefix("player_")))
        env.step(choose(env))
    assert asked == ORDER[:limit].tolist()


@every_limit
def test_all_agents_end_together_by_the_rules_or_by_the_limit(limit):
    env = MatchEnv(Relay(limit))
    for episode in range(2):
        env.reset(seed=episode)
        ends = []
        for agent in env.agent_iter():
            _, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                ends.append((agent, terminated, truncated))
            env.step(choose(env))
        assert ends == [(agent, limit is None, limit is not None) for agent in env.possible_agents]
        assert env.agents == []


@every_limit
def test_rewards_earned_at_others_turns_are_delivered(limit):
    env = MatchEnv(Relay(limit))
    env.reset(seed=2)
    alone = env.game.deal(chance.fold(2, 0))
    owed, delivered = np.zeros(3), dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        delivered[agent] += env.last(observe=False)[1]
        action = choose(env)
        if action is not None:
            owed += env.game.step(alone, np.array([action]))[0]
        env.step(action)
    assert list(delivered.values()) == owed.tolist()
    assert any(delivered.values())


def test_the_name_comes_from_the_games_id():
    assert str(MatchEnv(Relay())) == "relay_v3"


@pytest.mark.parametrize("render_mode", ["ansi", "human"])
def test_a_game_without_a_picture_has_no_render_mode(render_mode):
    assert MatchEnv(Relay()).metadata["render_modes"] == []
    with pytest.raises(OptionError, match=rf"render_mode: expected None or one of \[\], got '{render_mode}'"):
        MatchEnv(Relay(), render_mode=render_mode)
