"""Copies of the AEC environment, arrays that it hands out, and what they must not tell."""

import copy
import itertools
import pickle

import numpy as np
import pytest

from poison_env import poison_v0
from poison_env.core import chance
from tests.conformance.aec_support import SEAT_COUNTS, advance, choose, everything, match, plain

every_seat_count = pytest.mark.parametrize("num_seats", SEAT_COUNTS)
COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}
every_copy = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES.keys())


@every_copy
@pytest.mark.parametrize("steps", [0, 1, 26, 50, 52, 54], ids=lambda n: f"after {n} steps")  # 50 moves, 4 last steps
def test_a_copy_has_the_same_future_and_leaves_the_original_alone(copied, steps):
    env = poison_v0.env(num_rounds=1)
    env.reset(seed=1)
    advance(env, steps)
    before = everything(env)
    twin = copied(env)
    assert everything(twin) == before
    future = [match(twin)]
    for _ in range(2):
        twin.reset()
        future.append(match(twin, salt=5))
    assert everything(env) == before
    expected = [match(env)]
    for _ in range(2):
        env.reset()
        expected.append(match(env, salt=5))
    assert future == expected
    assert [len(episode) for episode in expected] == [54 - steps, 54, 54]


@every_copy
def test_a_copy_samples_the_same_actions(copied):
    env = poison_v0.env()
    env.reset(seed=2)
    env.action_space("player_0").seed(3)
    twin = copied(env)
    drawn = [[one.action_space("player_0").sample() for _ in range(20)] for one in (env, twin)]
    assert drawn[0] == drawn[1]


@every_copy
def test_a_copy_before_reset_is_not_started_either(copied):
    env = copied(poison_v0.env(num_seats=3))
    assert env.agents == []
    env.reset(seed=4)
    fresh = poison_v0.env(num_seats=3)
    fresh.reset(seed=4)
    assert match(env) == match(fresh)


# --- no aliasing ---


def arrays(value):
    """Return all arrays in a nest of dicts and sequences."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [found for entry in value for found in arrays(entry)] if isinstance(value, list | tuple) else []


@every_seat_count
@pytest.mark.parametrize("scaled", [False, True])
def test_no_two_arrays_that_were_handed_out_share_memory(num_seats, scaled):
    env = poison_v0.env(num_seats=num_seats, num_rounds=1, scaled=scaled)
    env.reset(seed=5)
    inside = [*vars(env._state).values(), env._mask, env._no_action, *env._seats.values()]
    handed_out = []
    for steps in (1, 1, num_seats, env.game.max_moves - num_seats - 4, 1, 1, 1, 1):  # the start and the end of a match
        finished = any(env.terminations.values())
        handed_out.append(env.last()[-1] if finished else env.infos)  # infos stay the same until the next move
        handed_out.append([env.last()[0], env.last()[0], env.state(), env.state()])
        handed_out.append([env.observe(agent) for agent in env.agents])
        advance(env, steps)
    assert finished
    found = arrays(handed_out)
    assert len(found) > 90
    for one, other in itertools.combinations(found, 2):
        assert not np.shares_memory(one, other)
    for one in found:
        assert not any(np.shares_memory(one, held) for held in inside)


def test_what_a_user_writes_into_an_array_goes_nowhere():
    env, untouched = poison_v0.env(num_rounds=1), poison_v0.env(num_rounds=1)
    env.reset(seed=6)
    untouched.reset(seed=6)
    while env.agents:
        action = choose(untouched)
        for array in arrays([env.last(), env.state(), [env.observe(agent) for agent in env.agents]]):
            array[:] = 1
        assert plain(env.last()[:4]) == plain(untouched.last()[:4])
        env.step(action)
        untouched.step(action)
    assert env._state.equals(untouched._state)


# --- hidden information ---


@pytest.mark.parametrize("recall", ["perfect", "none"])
@every_seat_count
def test_nothing_an_agent_gets_depends_on_what_it_cannot_know(num_seats, recall):
    env = poison_v0.env(num_seats=num_seats, num_rounds=2, recall=recall)
    env.reset(seed=7)
    game, redealt, looks = env.game, 0, 0
    while env.agents:
        for seat, agent in enumerate(env.agents):
            for world in range(3):
                other = copy.deepcopy(env)
                other._state = game.resample(env._state, np.array([seat]), chance.fold(8, world))
                if not any(env.terminations.values()):
                    other._ask(other._state)  # masks and infos as they follow from the other cards
                assert plain(other.observe(agent)) == plain(env.observe(agent))
                assert plain(other.infos[agent]) == plain(env.infos[agent])
                assert game.text(other._state, seat=seat) == game.text(env._state, seat=seat)
                looks += 1
                redealt += other.state().tolist() != env.state().tolist()
        advance(env, 7)
    assert redealt > 0.75 * looks
