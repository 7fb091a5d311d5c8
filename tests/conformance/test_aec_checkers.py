"""The AEC environment before the checkers that PettingZoo ships, and how it is made."""

import json
import os
import subprocess
import sys
import warnings
from functools import partial

import pettingzoo
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state_space as check_state_space  # pytest would collect the other name
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper

from poison_env import poison_v0
from poison_env.adapters.aec import MatchEnv
from poison_env.core.errors import OptionError, UnknownNameError
from tests.conformance.aec_support import CONSTRUCTORS, SEAT_COUNTS, advance

every_constructor = pytest.mark.parametrize("make", CONSTRUCTORS.values(), ids=CONSTRUCTORS.keys())
every_seat_count = pytest.mark.parametrize("num_seats", SEAT_COUNTS)

# api_test gives both to every environment whose observation is a dict, save those on a list of names.
KNOWN_WARNINGS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}


@every_constructor
@every_seat_count
def test_api_test_passes_with_its_two_known_warnings(make, num_seats):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(num_seats=num_seats), num_cycles=200)
    assert {str(warning.message) for warning in caught} == KNOWN_WARNINGS


@pytest.mark.parametrize("options", [{"scaled": True}, {"recall": "none"}, {"reward": "relative"}, {"deck": "box58"}])
def test_api_test_passes_with_other_options(options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(poison_v0.env(num_rounds=1, **options), num_cycles=100)
    assert {str(warning.message) for warning in caught} == KNOWN_WARNINGS


@every_constructor
@every_seat_count
def test_seed_test_passes(make, num_seats):
    seed_test(partial(make, num_seats=num_seats), num_cycles=250)


@every_constructor
@every_seat_count
def test_render_test_passes_in_every_mode(make, num_seats):
    assert make(num_seats=num_seats).metadata["render_modes"] == ["human", "ansi"]
    render_test(partial(make, num_seats=num_seats))


@every_constructor
@every_seat_count
def test_parallel_api_test_passes_through_the_turn_based_conversion(make, num_seats):
    parallel_api_test(turn_based_aec_to_parallel(make(num_seats=num_seats)), num_cycles=250)


@every_constructor
@every_seat_count
@pytest.mark.parametrize("scaled", [False, True])
def test_check_state_space_passes(make, num_seats, scaled):
    env = make(num_seats=num_seats, scaled=scaled)
    check_state_space(env)
    env.reset(seed=num_seats)
    for _ in range(env.game.max_moves + num_seats + 1):
        assert env.state_space.contains(env.state())
        advance(env, 1)
    assert not env.agents


def test_the_environment_keeps_working_inside_wrappers():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(OrderEnforcingWrapper(AssertOutOfBoundsWrapper(poison_v0.env(num_rounds=1))), num_cycles=100)
    assert {str(warning.message) for warning in caught} == KNOWN_WARNINGS


@every_seat_count
def test_spaces_are_the_layouts_and_the_same_objects_at_each_call(num_seats):
    env = poison_v0.env(num_seats=num_seats)
    for agent in env.possible_agents:
        space = env.observation_space(agent)
        assert space is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert space["observation"] == env.game.layout.box()
        assert space["action_mask"] == spaces.Box(0, 1, (env.game.num_actions,), "int8")
        assert env.action_space(agent) == spaces.Discrete(env.game.num_actions)
    assert len({id(env.observation_space(agent)) for agent in env.possible_agents}) == num_seats
    assert len({id(env.action_space(agent)) for agent in env.possible_agents}) == num_seats


def test_spaces_of_an_unknown_agent_are_an_error():
    env = poison_v0.env()
    for ask in (env.observation_space, env.action_space):
        with pytest.raises(UnknownNameError, match=r"no agent 'player_4'; the agents are player_0, .*player_3"):
            ask("player_4")


def test_the_environment_has_name_and_agents_before_reset():
    env = poison_v0.env(num_seats=3)
    assert str(env) == "poison_v0"
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    assert env.agents == []
    assert env.metadata["is_parallelizable"] is False
    assert repr(env) == f"MatchEnv({env.game!r}, render_mode=None, scaled=False)"


def test_the_registered_environment_takes_the_options_of_the_game():
    env = pettingzoo.make("aec", "poison_env/poison-v0", num_seats=5, num_rounds=2, render_mode="ansi", scaled=True)
    assert isinstance(env, MatchEnv)
    assert (env.game.num_seats, env.game.num_rounds, env.render_mode, env.scaled) == (5, 2, "ansi", True)
    assert isinstance(pettingzoo.make("aec", "poison_env/poison"), MatchEnv)  # the newest version


@pytest.mark.parametrize("options", [{"num_seats": 9}, {"render_mode": "rgb_array"}, {"reward": "fame"}])
def test_impossible_options_are_an_error(options):
    with pytest.raises(OptionError):
        poison_v0.env(**options)


def test_an_unknown_option_is_an_error():
    with pytest.raises(OptionError, match="poison-v0 has no option 'seats'; it has num_seats"):
        poison_v0.env(seats=3)


def test_importing_the_package_registers_without_loading_what_it_does_not_need():
    code = (
        "import sys, poison_env, pettingzoo, json\n"
        "print(json.dumps([sorted({name.partition('.')[0] for name in sys.modules}), list(pettingzoo.aec_registry)]))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    loaded, registered = json.loads(done.stdout)
    assert not {"pygame", "torch", "numba", "agents"} & set(loaded)
    assert "poison_env/poison-v0" in registered


def test_registering_again_changes_and_says_nothing():
    from poison_env.adapters.registration import register_with_pettingzoo

    before = dict(pettingzoo.aec_registry)
    register_with_pettingzoo()
    assert before == pettingzoo.aec_registry
