"""What an adapter pays a seat over a match is exactly what the core pays it, in every game with any number of seats.

Every seat, the learner's included, plays the same function of what it sees, so `play` on the core gives the same match
from its seed alone: the k-th episode of an environment with seed s is the match of fold(s, k). It ends as the core's
does, by the rules or by a limit, with what the seat sees at its end.
"""

from typing import NamedTuple

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
from tests.potio_support import SMALL

REWARDS = ("points", "relative", "win")
SEED = 11
# A game, its options and the ways in which it pays. In Arsenic a seat acts several times running or out of turn and may
# be out early; Potio pays at any move and may be cut off. With four seats its relative rewards are thirds, whose sum
# depends on how they are put together.
CASES = {
    **{
        f"poison-v0, {seats}": ({"num_seats": seats, "num_rounds": 2 if seats == 3 else 1}, REWARDS)
        for seats in (2, 3, 4, 5, 6)
    },
    "arsenic-v0, 1": ({"num_seats": 1, "specials": True}, ("points", "win")),
    "arsenic-v0, 2": ({"num_seats": 2, "last_survivor_ends": False, "specials": True}, REWARDS),
    "arsenic-v0, 3": ({"num_seats": 3, "draw": "flavour"}, REWARDS),
    "arsenic-v0, 4": ({"num_seats": 4, "specials": True, "honour_turns": 0}, REWARDS),
    "arsenic-v0, 5": ({"num_seats": 5, "draw": "flavour", "last_survivor_ends": False}, REWARDS),
    "arsenic-v0, 6": ({"num_seats": 6, "last_survivor_ends": False}, REWARDS),
    "potio-v0, 2": ({"num_seats": 2, "deck": SMALL, "max_turns": 30}, REWARDS),
    "potio-v0, 3": ({"num_seats": 3, "deck": SMALL, "max_turns": 24, "stall_turns": 9}, REWARDS),
    "potio-v0, 4": ({"num_seats": 4, "deck": SMALL, "max_turns": 24, "extra_cards_last": 3}, ("points", "win")),
    "potio-v0, 5": ({"num_seats": 5, "deck": SMALL, "max_turns": 24, "steal_frozen": True}, REWARDS),
}
QUICK = ("arsenic-v0, 1", "arsenic-v0, 2", "arsenic-v0, 6", "potio-v0, 2", "potio-v0, 5")  # of the other two games
every_case = pytest.mark.parametrize("case", CASES)
# How many matches of each: a few with every run of the tests, hundreds when asked for.
every_run = pytest.mark.parametrize(
    ("case", "matches"),
    [(case, 30) for case in CASES if case.startswith("poison")]
    + [
        pytest.param(case, 10, marks=() if case in QUICK else pytest.mark.slow)
        for case in CASES
        if "poison" not in case
    ]
    + [pytest.param(case, 1000 if "poison" in case else 200, marks=pytest.mark.slow) for case in CASES],
)


def scatter(observation, mask):
    """Choose a legal action that depends on all that is seen, (N,)."""
    weights = 2 * np.arange(observation.shape[1], dtype=np.uint64) + np.uint64(1)
    return uniform_legal(mask.astype(bool), chance.mix((observation.astype(np.uint64) * weights).sum(axis=1)))


EVERYBODY = FunctionAgent(scatter)


def schemes(case, matches):
    """Return the game with each reward scheme and how many matches it gets: most with the first one."""
    options, rewards = CASES[case]
    some = max(2, matches // 5)
    counts = [matches - some * (len(rewards) - 1), *(some for _ in rewards[1:])]
    games = [make(case.partition(",")[0], reward=reward, **options) for reward in rewards]
    return list(zip(games, counts, strict=True))


class Core(NamedTuple):
    """What the core pays each seat over some matches, (B, P), and how they end."""

    paid: np.ndarray
    ends: object

    def episode(self, game, match, seat):
        """Return what a seat is paid in a match, whether a limit ends it, and what is seen then."""
        seen = game.observe(self.ends[[match]], np.array([seat]))[0].tolist()
        return self.paid[match, seat], bool(self.ends.truncated[match]), seen


class Watch:
    def before_step(self, game, state, actions):
        self.state = state  # the live batch, which is advanced in place: at last, the ends


def core(game, seeds):
    watch = Watch()
    return Core(play(game, [EVERYBODY] * game.num_seats, seeds, recorder=watch).returns, watch.state)


def slots_of(matches):
    """Return how many matches are played side by side: fewer than the matches of any scheme, so that slots go on."""
    return max(1, matches // 5) if matches < 10 else max(2, matches // 15)


def learner(observation):
    return scatter(observation["observation"], observation["action_mask"])


def episodes_of(seed, slot, count):
    return chance.fold(seed + slot, np.arange(count))


@every_case
def test_the_matches_of_these_tests_differ_and_pay(case):
    for game, _ in schemes(case, 30):
        played = core(game, chance.fold(1, np.arange(40)))
        assert len(np.unique(played.paid, axis=0)) > (1 if game.reward == "win" else 10)
        assert (played.paid != 0).any(axis=0).all()
        if game.id == "potio-v0":
            assert 0 < played.ends.truncated.sum() < 40
        if game.id == "arsenic-v0" and game.num_seats > 1:
            assert not played.ends.alive.all()


@every_run
def test_the_aec_environment_pays_every_agent_what_the_core_pays(case, matches):
    for game, count in schemes(case, matches):
        expected = core(game, chance.fold(SEED, np.arange(count)))
        env = MatchEnv(game)
        for match in range(count):
            env.reset(seed=SEED if match == 0 else None)
            paid, ends = np.zeros(game.num_seats), []
            for agent in env.agent_iter():
                observation, earned, terminated, truncated, _ = env.last()
                seat = env.possible_agents.index(agent)
                paid[seat] += earned
                over = terminated or truncated
                if over:
                    ends.append((paid[seat], truncated and not terminated, observation["observation"].tolist()))
                env.step(None if over else int(learner({k: v[None] for k, v in observation.items()})[0]))
            assert ends == [expected.episode(game, match, seat) for seat in range(game.num_seats)]


@every_run
def test_the_single_agent_environment_pays_the_learners_seat_what_the_core_pays(case, matches):
    sat = set()
    for game, count in schemes(case, matches):
        expected = core(game, chance.fold(SEED, np.arange(count)))
        env = SoloEnv(game, opponents=EVERYBODY)
        for match in range(count):
            observation, info = env.reset(seed=SEED if match == 0 else None)
            paid, over = 0.0, False
            while not over:
                action = learner({name: part[None] for name, part in observation.items()})[0]
                observation, earned, terminated, truncated, _ = env.step(action)
                paid += earned
                over = terminated or truncated
            end = paid, truncated and not terminated, observation["observation"].tolist()
            assert end == expected.episode(game, match, info["seat"])
            sat.add(info["seat"])
    assert len(sat) > game.num_seats // 2


@pytest.mark.parametrize("mode", AutoresetMode)
@every_run
def test_the_vector_environment_pays_every_slot_what_the_core_pays(case, matches, mode):
    for game, count in schemes(case, matches):
        slots = slots_of(count)
        env = SoloVectorEnv(game, num_envs=slots, opponents=EVERYBODY, autoreset_mode=mode)
        wanted = -(-count // slots)
        observation, infos = env.reset(seed=SEED)
        seat, running = infos["seat"], np.zeros(slots)
        episodes = [[] for _ in range(slots)]  # of every slot: the learner's seat, and what became of it
        resetting = np.zeros(slots, bool)
        while min(map(len, episodes)) < wanted:
            actions = np.where(resetting, 0, learner(observation))
            observation, earned, terminated, truncated, infos = env.step(actions)
            assert not earned[resetting].any()
            running += earned
            over = terminated | truncated
            for slot in np.flatnonzero(over):
                last = infos["final_obs"][slot] if mode is AutoresetMode.SAME_STEP else _row(observation, slot)
                end = running[slot], bool(truncated[slot] & ~terminated[slot]), last["observation"].tolist()
                episodes[slot].append((seat[slot], end))
                running[slot] = 0
            resetting = over if mode is AutoresetMode.NEXT_STEP else np.zeros(slots, bool)
            if mode is AutoresetMode.DISABLED and over.any():
                observation, infos = env.reset(options={"reset_mask": over})
            seat = np.where(infos["_seat"] & ~resetting, infos["seat"], seat)
        for slot, found in enumerate(episodes):
            expected = core(game, episodes_of(SEED, slot, len(found)))
            for match, (own, end) in enumerate(found):
                assert end == expected.episode(game, match, own)


def _row(observation, slot):
    return {name: part[slot] for name, part in observation.items()}


@every_run
def test_the_vec_env_of_stable_baselines3_pays_every_slot_what_the_core_pays(case, matches):
    for game, count in schemes(case, matches):
        slots = slots_of(count)
        env = SoloVecEnv(slots, game, opponents=EVERYBODY, scaled=False)
        wanted = -(-count // slots)
        env.seed(SEED)
        observation = env.reset()
        seat = env.get_attr("_table")[0].seats.copy()
        running, episodes = [[] for _ in range(slots)], [[] for _ in range(slots)]
        while min(map(len, episodes)) < wanted:
            observation, earned, over, infos = env.step(learner(observation))
            for slot in range(slots):
                running[slot].append(earned[slot])
            for slot in np.flatnonzero(over):
                last = infos[slot]["terminal_observation"]["observation"].tolist()
                end = sum(map(float, running[slot])), infos[slot]["TimeLimit.truncated"], last
                episodes[slot].append((seat[slot], running[slot], end))
                running[slot] = []
            seat = np.where(over, env.get_attr("_table")[0].seats, seat)
        for slot, found in enumerate(episodes):
            seeds = episodes_of(SEED, slot, len(found))
            assert transitions(game, seeds, [own for own, _, _ in found]) == [paid for _, paid, _ in found]
            expected = core(game, seeds)
            for match, (own, _, end) in enumerate(found):
                assert end == expected.episode(game, match, own)


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
