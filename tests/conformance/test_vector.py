"""The vector environments: slot by slot the single-agent environment, bit for bit, in every autoreset mode."""

import warnings
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from poison_env.adapters.sb3 import SoloVecEnv
from poison_env.adapters.solo import SoloEnv
from poison_env.adapters.vector import SoloVectorEnv
from poison_env.core.errors import ActionTypeError, IllegalActionError, LifeCycleError, OptionError
from poison_env.testing import check_vector
from tests.games import FEW
from tests.potio_support import SMALL, TINY

ID = "poison_env/Poison-v0"
SLOTS = 5


def assert_same(first, second, where=""):
    if isinstance(first, dict):
        assert first.keys() == second.keys(), where
        for name in first:
            assert_same(first[name], second[name], f"{where}.{name}")
    elif first is None:
        assert second is None, where
    elif first.dtype == object:
        for slot, (one, other) in enumerate(zip(first, second, strict=True)):
            assert_same(one, other, f"{where}[{slot}]")
    else:
        assert first.dtype == second.dtype, where
        assert np.array_equal(first, second), where


def compare(mode, options, steps, episodes):
    """Drive both environments alike; return how many episodes ended."""
    reference = SyncVectorEnv([partial(SoloEnv, **options) for _ in range(SLOTS)], autoreset_mode=mode)
    env = SoloVectorEnv(num_envs=SLOTS, autoreset_mode=mode, **options)
    assert env.observation_space == reference.observation_space
    assert env.single_observation_space == reference.single_observation_space
    assert env.action_space == reference.action_space
    assert env.metadata["autoreset_mode"] is mode
    (expected, infos), actual = reference.reset(seed=3), env.reset(seed=3)
    assert_same((expected), actual[0])
    assert_same(infos, actual[1])
    generator, mask, ended = np.random.default_rng(1), infos["action_mask"], 0
    for step in range(steps):
        actions = np.array([generator.choice(np.flatnonzero(row)) if row.any() else 0 for row in mask])
        if options.get("on_illegal") == "truncate" and step % 7 == 3:
            actions[step % SLOTS] = 47
        expected, actual = reference.step(actions), env.step(actions)
        for name, one, other in zip(
            ("obs", "reward", "terminated", "truncated", "info"), expected, actual, strict=True
        ):
            assert_same(one, other, name)
        mask, over = expected[4]["action_mask"], expected[2] | expected[3]
        ended += int(over.sum())
        if mode is AutoresetMode.DISABLED and over.any():
            expected, infos = reference.reset(options={"reset_mask": over.copy()})
            given = {"reset_mask": over}
            again, again_infos = env.reset(options=given)
            assert given == {"reset_mask": over}
            assert_same(expected, again)
            assert_same(infos, again_infos)
            mask = np.where(over[:, None], infos["action_mask"], mask)
        if ended >= episodes:
            break
    return ended


OPTIONS = [
    {"opponents": ["greedy", "random"], "num_seats": 3, "deck": "R1x3 R4x2 B2x3 B5x2 G4x2", "num_rounds": 2},
    {"opponents": "cautious", "num_rounds": 1, "flat": True},
    {"opponents": "random", "num_rounds": 1, "scaled": True, "on_illegal": "truncate"},
    {"game": "arsenic-v0", "opponents": ["random", "cautious"], "num_seats": 6},
    {"game": "arsenic-v0", "draw": "flavour", "specials": True, "last_survivor_ends": False},
    {"game": "arsenic-v0", "num_seats": 1},
    {"game": "potio-v0", "opponents": ["random", "greedy"], "num_seats": 3, "deck": SMALL, "max_turns": 20},
]
NAMES = ["dict", "flat", "truncate", "Arsenic", "Arsenic by flavour", "Arsenic alone", "Potio"]


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("options", OPTIONS, ids=NAMES)
def test_a_slot_is_the_single_agent_environment_bit_for_bit(mode, options):
    wanted = 10 if "game" in options else 60  # of the longer matches some must do
    assert compare(mode, options, steps=150, episodes=wanted) >= wanted // 2


SUITE = {
    "Poison": ("poison-v0", {"num_seats": 3, "deck": "R1x3 R4x2 B2x3 B5x2 G4x2", "num_rounds": 2}),
    "Arsenic": ("arsenic-v0", {"num_seats": 1}),
    "Potio": ("potio-v0", {"num_seats": 2, "deck": TINY, "max_turns": 12}),
}


@pytest.mark.parametrize(
    ("game_id", "options"),
    [pytest.param(*case, id=name) for name, case in SUITE.items()]
    + [pytest.param(*case, id=name, marks=pytest.mark.slow) for name, case in FEW.items()],
)
def test_the_public_suite_finds_nothing(game_id, options):
    one, many = partial(SoloEnv, game_id, **options), partial(SoloVectorEnv, game_id, **options)
    report = check_vector(many, scalar=one, episodes=1, name=f"{game_id} {options}")
    assert report.findings == (), str(report)


@pytest.mark.slow
@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_slot_is_the_single_agent_environment_over_two_thousand_episodes(mode):
    assert compare(mode, OPTIONS[0], steps=100_000, episodes=2000) >= 2000


@pytest.mark.parametrize("mode", [mode.value for mode in AutoresetMode])
def test_make_vec_finds_it_without_a_warning(mode):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make_vec(ID, num_envs=4, opponents="greedy", num_seats=5, autoreset_mode=mode)
    assert isinstance(env.unwrapped, SoloVectorEnv)
    assert env.unwrapped.game.num_seats == 5
    again = gymnasium.make_vec(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert (again.num_envs, again.metadata["autoreset_mode"].value) == (4, mode)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_the_statistics_wrapper_counts_right_returns(mode):
    env = RecordEpisodeStatistics(SoloVectorEnv(num_envs=3, num_rounds=1, autoreset_mode=mode))
    _, infos = env.reset(seed=1)
    total, seen = np.zeros(3), 0
    fresh = np.zeros(3, bool)
    while seen < 12:
        actions = infos["action_mask"].argmax(axis=1)
        _, reward, terminated, _, infos = env.step(actions)
        total = np.where(fresh, 0, total) + reward
        for slot in np.flatnonzero(terminated):
            where = (
                infos["final_info"]
                if mode is AutoresetMode.SAME_STEP and "episode" in infos.get("final_info", {})
                else infos
            )
            assert where["episode"]["r"][slot] == total[slot]
            seen += 1
        fresh = terminated.copy()


def test_changing_the_mode_of_one_environment_leaves_others_alone():
    first = SoloVectorEnv(num_envs=1, autoreset_mode=AutoresetMode.DISABLED)
    second = SoloVectorEnv(num_envs=1)
    assert first.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    assert second.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


def test_seeds_may_be_listed_and_nobody_elses_slot_is_touched():
    env = SoloVectorEnv(num_envs=3)
    observation, _ = env.reset(seed=[5, 6, 7])
    assert_same(observation, SoloVectorEnv(num_envs=3).reset(seed=5)[0])
    alone, _ = SoloEnv().reset(seed=6)
    assert np.array_equal(observation["observation"][1], alone["observation"])
    with pytest.raises(ValueError, match="expected one for each of 3"):
        env.reset(seed=[1, 2])


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        ([True, False], TypeError),
        (np.array([1, 0]), TypeError),
        (np.zeros(2, bool), ValueError),
        (np.ones(3, bool), ValueError),
    ],
)
def test_a_reset_mask_that_cannot_be_is_refused(mask, error):
    env = SoloVectorEnv(num_envs=2)
    env.reset(seed=1)
    with pytest.raises(error, match="reset_mask"):
        env.reset(options={"reset_mask": mask})


def test_an_illegal_action_is_refused_and_changes_nothing_in_any_slot():
    env = SoloVectorEnv(num_envs=3)
    _, infos = env.reset(seed=1)
    actions = infos["action_mask"].argmax(axis=1)
    before = env._table._state.copy()
    actions[1] = infos["action_mask"][1].argmin()
    with pytest.raises(IllegalActionError, match="slot 1: seat"):
        env.step(actions)
    with pytest.raises(ActionTypeError):
        env.step(actions.astype(float))
    with pytest.raises(ActionTypeError):
        env.step(actions[:2])
    assert env._table._state.equals(before)


def test_a_step_before_reset_or_after_the_end_is_refused():
    env = SoloVectorEnv(num_envs=2, autoreset_mode="Disabled", num_rounds=1)
    with pytest.raises(LifeCycleError, match="reset"):
        env.step([0, 0])
    _, infos = env.reset(seed=1)
    over = np.zeros(2, bool)
    while not over.any():
        _, _, over, _, infos = env.step(infos["action_mask"].argmax(axis=1))
    with pytest.raises(LifeCycleError, match="reset_mask"):
        env.step([0, 0])


@pytest.mark.parametrize("options", [{"num_envs": 0}, {"autoreset_mode": "sometimes"}, {"on_illegal": "no"}], ids=str)
def test_options_that_cannot_be_are_refused(options):
    with pytest.raises(OptionError):
        SoloVectorEnv(**options)


@pytest.mark.parametrize("options", [OPTIONS[0], *OPTIONS[3:]], ids=[NAMES[0], *NAMES[3:]])
def test_the_vec_env_of_stable_baselines3_is_the_same_match_slot_by_slot(options):
    options = {"scaled": True, **options}
    reference = SoloVectorEnv(num_envs=4, autoreset_mode=AutoresetMode.SAME_STEP, **options)
    env = SoloVecEnv(4, **options)
    env.seed(3)
    assert_same(reference.reset(seed=3)[0], env.reset())
    ended = 0
    for step in range(60):
        masks = np.stack(env.env_method("action_masks"))
        assert np.array_equal(masks, reference.action_masks())
        actions = np.array([np.flatnonzero(row)[step % row.sum()] for row in masks])
        seen, reward, terminated, truncated, infos = reference.step(actions)
        again, paid, over, each = env.step(actions)
        assert_same(seen, again)
        assert np.array_equal(reward, paid)
        assert np.array_equal(terminated | truncated, over)
        for slot in np.flatnonzero(over):
            assert_same(infos["final_obs"][slot], each[slot]["terminal_observation"])
            assert infos["final_info"]["placement"][slot] == each[slot]["placement"]
            assert each[slot]["TimeLimit.truncated"] is bool(truncated[slot])
            ended += 1
    assert ended >= 4


def test_new_opponents_join_matches_that_begin_and_leave_the_others_alone():
    asked = []

    class Named:
        def __init__(self, name):
            self.name = name

        def act(self, decisions):
            asked.append(self.name)
            return decisions.action_mask.argmax(axis=1)

    env = SoloVecEnv(2, opponents=[Named("old"), Named("elder")], num_rounds=1)
    env.seed(1)
    env.reset()
    env.invite(Named("new"))
    over = np.zeros(2, bool)
    while not over.any():
        asked.clear()
        _, _, over, _ = env.step(env.action_masks().argmax(axis=1))
        assert over.any() or "new" not in asked
    for _ in range(30):
        asked.clear()
        env.step(env.action_masks().argmax(axis=1))
    assert set(asked) == {"new"}


def test_opponents_may_be_changed_before_the_first_match():
    env = SoloVecEnv(2, opponents="random", num_rounds=1)
    for pool in (["greedy", "random"], "cautious"):
        env.invite(pool)
    expected = SoloVecEnv(2, opponents="cautious", num_rounds=1)
    for each in (env, expected):
        each.seed(4)
    assert_same(expected.reset(), env.reset())
    for _ in range(30):
        actions = env.action_masks().argmax(axis=1)
        assert_same(expected.step(actions)[0], env.step(actions)[0])
