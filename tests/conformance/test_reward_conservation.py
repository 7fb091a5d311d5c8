"""What an adapter pays a seat over a match is exactly what the core pays it, for every adapter and number of seats.

Every seat, the learner's included, plays the same function of what it sees, so `play` on the core gives the same match
from its seed alone: the k-th episode of an environment with seed s is the match of fold(s, k).
"""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from agents import FunctionAgent
from poison_env import make, play
from poison_env.adapters.aec import MatchEnv
from poison_env.adapters.sb3 import SoloVecEnv
from poison_env.adapters.solo import SoloEnv
from poison_env.adapters.vector import SoloVectorEnv
from poison_env.core import chance
from poison_env.core.choice import uniform_legal

SEATS = (2, 3, 4, 5, 6)
REWARDS = ("points", "relative", "win")
SEED = 11
# How many matches of each number of seats: a few with every run of the tests, a thousand when asked for.
matches = pytest.mark.parametrize("matches", [30, pytest.param(1000, marks=pytest.mark.slow)])
seats = pytest.mark.parametrize("num_seats", SEATS)


def scatter(observation, mask):
    """Choose a legal action that depends on all that is seen, (N,)."""
    weights = 2 * np.arange(observation.shape[1], dtype=np.uint64) + np.uint64(1)
    return uniform_legal(mask.astype(bool), chance.mix((observation.astype(np.uint64) * weights).sum(axis=1)))


EVERYBODY = FunctionAgent(scatter)


def game_of(num_seats, reward="points"):
    return make("poison-v0", num_seats=num_seats, num_rounds=2 if num_seats == 3 else 1, reward=reward)


def schemes(matches):
    """Return how many matches are played with each reward scheme: most with the first, some with the others."""
    return [("points", matches - 2 * (matches // 5)), *((reward, matches // 5) for reward in REWARDS[1:])]


def core(game, seeds):
    """Return what the core pays each seat over the matches of those seeds, (B, P)."""
    return play(game, [EVERYBODY] * game.num_seats, seeds).returns


def slots_of(matches):
    """Return how many matches are played side by side: fewer than the matches of any scheme, so that slots go on."""
    return max(2, matches // 15)


def learner(observation):
    return scatter(observation["observation"], observation["action_mask"])


def episodes_of(seed, slot, count):
    return chance.fold(seed + slot, np.arange(count))


def test_the_matches_of_these_tests_differ_and_pay():
    for num_seats in SEATS:
        for reward in REWARDS:
            paid = core(game_of(num_seats, reward), chance.fold(1, np.arange(40)))
            assert len(np.unique(paid, axis=0)) > (1 if reward == "win" else 10)
            assert (paid != 0).any(axis=0).all()


@matches
@seats
def test_the_aec_environment_pays_every_agent_what_the_core_pays(num_seats, matches):
    for reward, count in schemes(matches):
        game = game_of(num_seats, reward)
        env, paid = MatchEnv(game), np.zeros((count, num_seats))
        for match in range(count):
            env.reset(seed=SEED if match == 0 else None)
            for agent in env.agent_iter():
                observation, earned, terminated, truncated, _ = env.last()
                paid[match, env.possible_agents.index(agent)] += earned
                over = terminated or truncated
                env.step(None if over else int(learner({k: v[None] for k, v in observation.items()})[0]))
        assert np.array_equal(core(game, chance.fold(SEED, np.arange(count))), paid)


@matches
@seats
def test_the_single_agent_environment_pays_the_learners_seat_what_the_core_pays(num_seats, matches):
    sat = set()
    for reward, count in schemes(matches):
        game = game_of(num_seats, reward)
        env = SoloEnv(game, opponents=EVERYBODY)
        paid, seat = np.zeros(count), np.zeros(count, np.int64)
        for match in range(count):
            observation, info = env.reset(seed=SEED if match == 0 else None)
            seat[match], over = info["seat"], False
            while not over:
                action = learner({name: part[None] for name, part in observation.items()})[0]
                observation, earned, terminated, truncated, _ = env.step(action)
                paid[match] += earned
                over = terminated or truncated
        expected = core(game, chance.fold(SEED, np.arange(count)))
        assert np.array_equal(expected[np.arange(count), seat], paid)
        sat |= set(seat.tolist())
    assert sat == set(range(num_seats))


@pytest.mark.parametrize("mode", AutoresetMode)
@matches
@seats
def test_the_vector_environment_pays_every_slot_what_the_core_pays(num_seats, matches, mode):
    for reward, count in schemes(matches):
        game, slots = game_of(num_seats, reward), slots_of(count)
        env = SoloVectorEnv(game, num_envs=slots, opponents=EVERYBODY, autoreset_mode=mode)
        wanted = -(-count // slots)
        observation, infos = env.reset(seed=SEED)
        seat, running = infos["seat"], np.zeros(slots)
        returns = [[] for _ in range(slots)]  # of every slot's episodes: the learner's seat and what it was paid
        resetting = np.zeros(slots, bool)
        while min(map(len, returns)) < wanted:
            actions = np.where(resetting, 0, learner(observation))
            observation, earned, terminated, truncated, infos = env.step(actions)
            assert not earned[resetting].any()
            running += earned
            over = terminated | truncated
            for slot in np.flatnonzero(over):
                returns[slot].append((seat[slot], running[slot]))
                running[slot] = 0
            resetting = over if mode is AutoresetMode.NEXT_STEP else np.zeros(slots, bool)
            if mode is AutoresetMode.DISABLED and over.any():
                observation, infos = env.reset(options={"reset_mask": over})
            seat = np.where(infos["_seat"] & ~resetting, infos["seat"], seat)
        for slot, found in enumerate(returns):
            expected = core(game, episodes_of(SEED, slot, len(found)))
            assert [row[own] for row, (own, _) in zip(expected, found, strict=True)] == [paid for _, paid in found]


@matches
@seats
def test_the_vec_env_of_stable_baselines3_pays_every_slot_what_the_core_pays(num_seats, matches):
    for reward, count in schemes(matches):
        game, slots = game_of(num_seats, reward), slots_of(count)
        env = SoloVecEnv(slots, game, opponents=EVERYBODY, scaled=False)
        wanted = -(-count // slots)
        env.seed(SEED)
        observation = env.reset()
        seat = env.get_attr("_table")[0].seats.copy()
        running, returns = [[] for _ in range(slots)], [[] for _ in range(slots)]
        while min(map(len, returns)) < wanted:
            observation, earned, over, _ = env.step(learner(observation))
            for slot in range(slots):
                running[slot].append(earned[slot])
            for slot in np.flatnonzero(over):
                returns[slot].append((seat[slot], running[slot]))
                running[slot] = []
            seat = np.where(over, env.get_attr("_table")[0].seats, seat)
        for slot, found in enumerate(returns):
            expected = transitions(game, episodes_of(SEED, slot, len(found)), [own for own, _ in found])
            assert expected == [match for _, match in found]
            total = core(game, episodes_of(SEED, slot, len(found)))
            assert [sum(map(float, match)) for _, match in found] == [
                row[own] for row, (own, _) in zip(total, found, strict=True)
            ]


def transitions(game, seeds, seats):
    """Return for each match what the core pays a seat from each of its decisions to the next, or to the end."""
    state, owed = game.deal(seeds), np.zeros(len(seeds))
    paid = [[] for _ in seeds]
    begun = np.zeros(len(seeds), bool)
    everyone = np.arange(len(seeds))
    while not state.done.all():
        own = state.to_move == seats
        for match in np.flatnonzero(own & ~state.done & begun):
            paid[match].append(owed[match])
        owed[own & ~state.done & begun] = 0
        begun |= own
        actions = scatter(game.observe(state, state.to_move), game.action_mask(state))
        owed += game.step(state, actions)[everyone, seats]
    for match in everyone:
        paid[match].append(owed[match])
    return paid
