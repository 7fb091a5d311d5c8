"""The VecEnv of Stable-Baselines3: what its algorithms and helpers ask of it."""

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

import agents
from poison_env import make, play
from poison_env.adapters.sb3 import SoloVecEnv
from poison_env.core.errors import ActionTypeError, IllegalActionError, LifeCycleError
from poison_env.registry import GAMES


def test_a_maskable_algorithm_learns_saves_and_plays_without_an_illegal_action(tmp_path):
    env = SoloVecEnv(8, opponents=["greedy", "random"], num_rounds=1, flat=True)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, seed=0, device="cpu")
    model.learn(512)  # an illegal action would raise
    mean, _ = evaluate_policy(model, VecMonitor(env), n_eval_episodes=8)
    assert -60 < mean < 0
    model.save(tmp_path / "model")
    assert MaskablePPO.load(tmp_path / "model", device="cpu").num_timesteps == 512


@pytest.mark.parametrize("game_id", GAMES)
def test_a_model_trained_on_the_vec_env_is_an_agent(game_id):
    game = make(game_id)
    model = MaskablePPO("MultiInputPolicy", SoloVecEnv(4, game), n_steps=16, batch_size=64, seed=0, device="cpu")
    model.learn(64)
    assert (play(game, [agents.SB3Agent(model)] * 4, range(3)).moves > 0).all()  # an illegal action would raise


def test_masks_are_found_where_the_library_looks_for_them():
    env = SoloVecEnv(3)
    env.seed(1)
    env.reset()
    assert is_masking_supported(env)
    assert env.has_attr("action_masks")
    assert np.array_equal(get_action_masks(env), env.action_masks())
    assert np.array_equal(env.env_method("action_masks", indices=[2, 0]), env.action_masks()[[2, 0]])
    assert env.env_is_wrapped(VecMonitor) == [False] * 3


def test_the_monitor_logs_what_the_seat_was_paid():
    env = VecMonitor(SoloVecEnv(4, num_rounds=1))
    env.seed(2)
    env.reset()
    total, seen = np.zeros(4), 0
    while seen < 12:
        _, reward, over, infos = env.step(_first(env))
        total += reward
        for slot in np.flatnonzero(over):
            assert infos[slot]["episode"]["r"] == pytest.approx(total[slot])
            total[slot], seen = 0, seen + 1


def _first(env):
    return np.stack(env.env_method("action_masks")).argmax(axis=1)


def test_seeds_give_the_same_episodes_again():
    env = SoloVecEnv(3)
    env.seed(5)
    first = env.reset()
    env.step(_first(env))
    env.seed(5)
    again = env.reset()
    assert all(np.array_equal(first[name], again[name]) for name in first)
    later = env.reset()
    assert not np.array_equal(first["observation"], later["observation"])


def test_impossible_input_is_refused():
    env = SoloVecEnv(2)
    with pytest.raises(LifeCycleError):
        env.step(np.zeros(2, np.int64))
    env.seed(1)
    env.reset()
    illegal = _first(env)
    illegal[1] = np.argmin(env.action_masks()[1])
    with pytest.raises(IllegalActionError, match="slot 1"):
        env.step(illegal)
    with pytest.raises(ActionTypeError):
        env.step(np.zeros(2))
    env.step(_first(env))


def test_what_slots_share_cannot_be_set_for_some():
    env = SoloVecEnv(2)
    with pytest.raises(AttributeError, match="invite"):
        env.set_attr("opponents", "greedy")
    with pytest.raises(AttributeError, match="action_masks"):
        env.env_method("render")
