"""Maskable PPO: what the library sees, the policies of the past that it plays against, and runs that can be killed."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks

import agents
from agents.neural import PolicyAgent, newest_checkpoint
from experiments import evaluation
from experiments.sb3_parts import FeaturesVecEnv, actor, policy_kwargs
from experiments.train_sb3 import Config, Learner, main, members
from poison_env import make, play
from poison_env.adapters.sb3 import SoloVecEnv
from poison_env.core import chance
from poison_env.core.errors import CheckpointError, OptionError, UnknownNameError
from poison_env.core.protocol import decisions

TINY = Config(
    iterations=6, num_envs=8, num_steps=16, batch_size=64, epochs=2, hidden=(8,), snapshot_every=3, pool=2,
    checkpoint_every=2, evaluate_every=3, evaluation_deals=2, seed=3,
)  # fmt: skip
ROOT = Path(__file__).resolve().parents[2]
ROUND = make("poison-v0", num_rounds=1)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of TINY from start to end, to be read only."""
    return main(TINY, path=tmp_path_factory.mktemp("runs") / "run")


def weights(run):
    found = newest_checkpoint(run)
    return {
        f"{name}.{key}": tensor
        for name in ("network", "learner", "optimizer")
        for key, tensor in load_file(found / f"{name}.safetensors").items()
    }


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def logged(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in line.items() if "second" not in name} for line in lines]


def untrained():
    env = FeaturesVecEnv(4, ROUND, opponents=["random"])
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=32, policy_kwargs=policy_kwargs((8, 4)), seed=1)
    return env, model


def question(count=30, moves=7):
    state = ROUND.deal(chance.fold(1, np.arange(count)))
    for move in range(moves):
        asked = decisions(ROUND, state, np.arange(count), seed=move)
        ROUND.step(state, agents.load("random").act(asked))
    return decisions(ROUND, state, np.arange(count), seed=99)


def test_the_features_environment_is_the_vec_env_with_actions_of_its_own_numbering():
    opponents = ["greedy", "random"]
    env, plain = FeaturesVecEnv(4, ROUND, opponents=opponents), SoloVecEnv(4, ROUND, opponents=opponents, scaled=False)
    ended = differed = 0
    for each in (env, plain):
        each.seed(3)
    inputs, seen = env.reset(), plain.reset()
    for step in range(60):
        encoded = env.encoder.encode(seen["observation"], plain.action_masks())
        assert np.array_equal(encoded.inputs, inputs)
        assert np.array_equal(get_action_masks(env), encoded.mask)
        outputs = np.array([np.flatnonzero(row)[step % row.sum()] for row in encoded.mask])
        actions = encoded.action_of[np.arange(4), outputs]
        differed += int((actions != outputs).sum())
        inputs, rewards, over, infos = env.step(outputs)
        seen, paid, ends, expected = plain.step(actions)
        assert np.array_equal(rewards, paid)
        assert np.array_equal(over, ends)
        for slot in np.flatnonzero(over):
            ended += 1
            last = expected[slot]["terminal_observation"]
            nothing_legal = np.zeros((1, ROUND.num_actions), bool)
            assert np.array_equal(
                infos[slot]["terminal_observation"],
                env.encoder.encode(last["observation"][None], nothing_legal).inputs[0],
            )
            assert infos[slot]["placement"] == expected[slot]["placement"]
    assert min(ended, differed) > 10


def test_masks_are_handed_out_as_copies_and_nothing_else_is_asked_of_slots():
    env, _ = untrained()
    env.reset()
    with pytest.raises(AttributeError, match="action_masks"):
        env.env_method("render")
    masks = env.action_masks()
    masks[:] = False
    assert env.action_masks().any(axis=1).all()


def test_the_agent_of_a_policy_plays_what_the_library_predicts():
    env, model = untrained()
    agent, asked = PolicyAgent(ROUND, actor(model.policy, (8, 4)), env.encoder), question()
    encoded = env.encoder.encode(asked.observation, asked.action_mask)
    outputs, _ = model.predict(encoded.inputs, action_masks=encoded.mask, deterministic=True)
    assert np.array_equal(encoded.actions(outputs), agent.act(asked))
    distribution = model.policy.get_distribution(torch.from_numpy(encoded.inputs), encoded.mask).distribution.probs
    expected = np.zeros_like(agent.probabilities(asked))
    np.put_along_axis(expected, encoded.action_of, distribution.detach().numpy(), axis=1)
    np.testing.assert_allclose(expected, agent.probabilities(asked), atol=1e-6)


def test_probabilities_are_of_legal_actions_and_draws_follow_them():
    env, model = untrained()
    agent = PolicyAgent(ROUND, actor(model.policy, (8, 4)), env.encoder, deterministic=False)
    asked = question(1)
    likely = agent.probabilities(asked)
    assert likely.sum() == pytest.approx(1)
    assert not likely[~asked.action_mask].any()
    many = decisions(ROUND, question(1)._state[[0] * 4000], np.arange(4000), seed=5)
    drawn = np.bincount(agent.act(many), minlength=ROUND.num_actions) / 4000
    np.testing.assert_allclose(drawn, likely[0], atol=0.03)
    assert np.count_nonzero(drawn) > 3


def test_a_run_is_an_agent_that_plays_legally(finished):
    agent = agents.load(finished)
    assert isinstance(agent, PolicyAgent)
    assert play(ROUND, [agent] * 4, range(20)).moves.tolist() == [50] * 20
    with pytest.raises(CheckpointError, match="num_seats 4, not 3"):
        play(make("poison-v0", num_seats=3), [agent] * 3, range(2))


def test_a_run_directory_holds_what_happened(finished):
    assert [line["iteration"] for line in logged(finished)] == [1, 2, 3, 4, 5, 6]
    assert [line["decisions"] for line in logged(finished)] == [128 * done for done in range(1, 7)]
    assert ["against_greedy" in line for line in logged(finished)] == [False, False, True, False, False, True]
    (start,) = json.loads((finished / "manifest.json").read_text())
    assert {"stable_baselines3", "sb3_contrib"} <= start["versions"].keys()
    assert list((finished / "tensorboard").iterdir())
    suffixes = {entry.suffix for entry in finished.rglob("*") if entry.is_file() and "tfevents" not in entry.name}
    assert suffixes == {".json", ".jsonl", ".safetensors"}  # no pickle


def test_learning_changes_policy_and_value(finished):
    first, last = agents.load(finished / "snapshots" / "000000"), agents.load(finished)
    assert not same(first.network.state_dict(), last.network.state_dict())
    assert all(np.isfinite(list(line.values())).all() for line in logged(finished))


def test_the_policy_of_the_past_joins_the_pool(finished):
    assert sorted(entry.name for entry in (finished / "snapshots").iterdir()) == ["000000", "000003"]
    learner = Learner(TINY, finished, resume=True)
    learner.invite(5)
    greedy, first, second = learner.env.table._table._agents[:3]
    assert repr(greedy) == repr(agents.load("greedy"))
    for agent, number in ((first, 0), (second, 3)):
        expected = load_file(finished / "snapshots" / f"{number:06d}" / "network.safetensors")
        assert same(expected, agent.network.state_dict())
        assert agent.deterministic is False


@pytest.mark.parametrize(
    ("iteration", "pool", "expected"),
    [
        (0, 4, [0]), (2, 4, [0]), (3, 4, [0, 3]), (11, 4, [0, 3, 6, 9]), (12, 4, [0, 6, 9, 12]),
        (30, 4, [6, 18, 27, 30]), (30, 1, [30]), (30, 2, [15, 30]), (30, 5, [6, 18, 24, 27, 30]),
    ],
)  # fmt: skip
def test_the_newest_snapshots_and_some_older_ones_are_in_the_pool(iteration, pool, expected):
    assert members(replace(TINY, pool=pool), iteration) == expected


def test_two_runs_with_one_seed_are_identical_and_another_seed_is_not(finished, tmp_path):
    again, other = (main(replace(TINY, seed=seed), path=tmp_path / str(seed)) for seed in (3, 4))
    assert same(weights(finished), weights(again))
    assert logged(finished) == logged(again)
    assert not same(weights(finished), weights(other))


def test_a_run_that_is_out_of_time_stops_at_a_checkpoint_and_goes_on_the_same(finished, tmp_path):
    run = main(TINY, path=tmp_path / "run", minutes=0)
    assert len(logged(run)) == 2
    main(TINY, path=run, resume=True)
    assert same(weights(finished), weights(run))
    assert logged(finished) == logged(run)
    main(TINY, path=run, resume=True)  # there is nothing left to do
    assert same(weights(finished), weights(run))


def test_a_run_that_is_killed_goes_on_and_ends_with_the_same_weights(finished, tmp_path):
    command = [
        sys.executable, "-m", "experiments.train_sb3", "--runs", str(tmp_path), "--name", "killed",
        "--resume", "--deals", "0", "--iterations", "6", "--num-envs", "8", "--num-steps", "16", "--batch-size", "64",
        "--epochs", "2", "--hidden", "8", "--snapshot-every", "3", "--pool", "2", "--checkpoint-every", "2",
        "--evaluate-every", "3", "--evaluation-deals", "2", "--seed", "3",
    ]  # fmt: skip
    killed, log = tmp_path / "killed", tmp_path / "killed" / "metrics.jsonl"
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if log.exists() and len(log.read_text().splitlines()) >= 3:  # between two checkpoints
            break
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (killed / ".partial-000009").mkdir()  # as if it had been writing a snapshot just then
    with log.open("a") as file:
        file.write('{"iteration": 4, "deci')
    assert newest_checkpoint(killed).name < "checkpoint-000006"
    main(TINY, path=killed, resume=True)
    assert same(weights(finished), weights(killed))
    assert logged(finished) == logged(killed)
    assert not list(killed.glob(".partial-*"))


def test_a_run_is_not_resumed_with_another_configuration(finished):
    with pytest.raises(CheckpointError, match=r"entropy 0\.01 → 0\.5"):
        main(replace(TINY, entropy=0.5), path=finished, resume=True)
    with pytest.raises(FileExistsError, match="--resume"):
        main(TINY, path=finished)


def test_training_serves_other_seats_decks_and_recalls(tmp_path):
    options = ("num_seats=3", "deck=box58", "recall=none", "num_rounds=2")
    run = main(replace(TINY, iterations=1, options=options, evaluate_every=0), path=tmp_path / "run")
    game = make("poison-v0", num_seats=3, deck="box58", recall="none")
    assert play(game, [agents.load(run)] * 3, range(2)).moves.tolist() == [174, 174]


@pytest.mark.parametrize(
    "field",
    [
        {"iterations": 0}, {"num_envs": 0}, {"pool": 0}, {"snapshot_every": 0}, {"learning_rate": 0.0},
        {"clip_range": -1.0}, {"entropy": -0.1}, {"gae_lambda": 1.5}, {"hidden": ()}, {"hidden": (8, 0)},
        {"batch_size": 60}, {"batch_size": 1}, {"entropy": float("nan")},
    ],
    ids=str,
)  # fmt: skip
def test_numbers_that_cannot_be_trained_with_are_refused(field):
    with pytest.raises(OptionError, match=next(iter(field))):
        replace(TINY, **field)


def test_an_opponent_that_there_is_not_is_refused():
    with pytest.raises(UnknownNameError, match="grady"):
        Config(scripted=("grady",))


class CountingVecEnv(SoloVecEnv):
    """Counts actions that the rules forbid, asking the rules themselves, before the environment checks them."""

    taken = forbidden = 0

    def step_async(self, actions):
        legal = self.game.action_mask(self._table._state)
        self.taken += len(actions)
        self.forbidden += int((~legal[np.arange(len(actions)), actions]).sum())
        super().step_async(actions)


@pytest.mark.slow
def test_a_million_steps_without_an_illegal_action():
    env = CountingVecEnv(256, ROUND, opponents=["greedy", "random"], flat=True)
    env.seed(8)
    kwargs = {"net_arch": [64]}
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=4096, n_epochs=1, policy_kwargs=kwargs, seed=8)
    model.learn(1_000_000)
    assert env.taken >= 1_000_000
    assert env.forbidden == 0


@pytest.mark.slow
def test_some_minutes_of_learning_beat_greedy_players(tmp_path):
    run = main(Config(iterations=40, evaluate_every=0), path=tmp_path / "run")
    tables = {"greedy": agents.load("greedy")}
    (found,) = evaluation.evaluate(ROUND, {"run": agents.load(run)}, tables, deals=1000, seed=7)
    assert found.per_deal("diff").mean() < -0.3
