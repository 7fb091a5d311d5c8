"""PPO in self-play on RLlib: masks, deals, checkpoints, going on after an interruption."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.env_context import EnvContext
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.rllib.utils.pre_checks.env import check_multiagent_environments
from ray.tune.registry import register_env

import agents
from agents.neural import PolicyAgent
from experiments import train_rllib
from experiments.rllib_parts import POLICY, MaskedPolicy, SelfPlayEnv, only_policy
from experiments.train_rllib import Config, Learner, Place, connect, main
from poison_env import make, play, scripted
from poison_env.adapters.rllib import RLlibEnv
from poison_env.core.errors import OptionError

HERE = Place(num_env_runners=0, envs_per_runner=8)  # no worker processes, which take long to start
SMALL = Config(
    iterations=3, batch=512, minibatch=128, epochs=2, hidden=(32,), checkpoint_every=1, evaluate_every=0
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def connected() -> Iterator[None]:
    connect(HERE)
    yield
    ray.shutdown()


def self_play_env(seats: int = 4, **context: Any) -> SelfPlayEnv:
    options = {"num_seats": seats, "num_rounds": 1, "reward": "relative"}
    return SelfPlayEnv(EnvContext({"game": "poison-v0", "options": options, "begin": 0, **context}, worker_index=1))


def first_inputs(env: SelfPlayEnv, seed: int) -> bytes:
    (seen,) = env.reset(seed=seed)[0].values()
    return bytes(seen["inputs"].tobytes())


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_rllib_finds_nothing_wrong_with_the_training_environment(seats: int) -> None:
    for _ in range(20):
        check_multiagent_environments(self_play_env(seats))


def test_observations_lie_in_their_space_and_masked_outputs_stand_for_legal_actions() -> None:
    env = self_play_env()
    observations, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    done = False
    while not done:  # RLlibEnv raises at an illegal action
        for agent, seen in observations.items():
            assert env.observation_spaces[agent].contains(seen)
        chosen = {agent: rng.choice(np.flatnonzero(seen["action_mask"])) for agent, seen in observations.items()}
        observations, _, terminateds, _, _ = env.step(chosen)
        done = terminateds["__all__"]


def test_workers_and_runs_that_go_on_play_other_deals_for_the_same_seed() -> None:
    options = {"num_seats": 4, "num_rounds": 1, "reward": "relative"}
    envs = [
        SelfPlayEnv(EnvContext({"game": "poison-v0", "options": options, "begin": begin}, worker_index=worker))
        for begin, worker in ((0, 1), (0, 2), (5, 1))
    ]
    assert len({first_inputs(env, seed) for env in envs for seed in (3, 4)}) == 6
    assert first_inputs(self_play_env(), 3) == first_inputs(envs[0], 3)


def module_of(env: SelfPlayEnv) -> MaskedPolicy:
    spec = RLModuleSpec(
        module_class=MaskedPolicy,
        observation_space=env.observation_spaces["player_0"],
        action_space=env.action_spaces["player_0"],
        model_config={"hidden": [32]},
    )
    return spec.build()


def test_an_illegal_action_has_no_chance_and_entropy_is_finite() -> None:
    env = self_play_env()
    module = module_of(env)
    (seen,) = env.reset(seed=0)[0].values()
    batch = {Columns.OBS: {name: torch.as_tensor(value)[None] for name, value in seen.items()}}
    logits = module.forward_train(batch)[Columns.ACTION_DIST_INPUTS]
    distribution = module.get_train_action_dist_cls().from_logits(logits)
    likely = torch.softmax(logits, dim=1)[0].detach().numpy()
    assert np.array_equal(likely > 0, seen["action_mask"] == 1)
    assert torch.isfinite(distribution.entropy()).all()
    assert torch.isfinite(distribution.kl(distribution)).all()


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], dict[str, Any]]:
    """A run that was interrupted after two iterations, and went on; what was logged, and the checkpoint in between."""
    run = tmp_path_factory.mktemp("runs") / "run"
    train = Learner.train

    def train_twice(self: Learner) -> dict[str, Any]:
        if self.done == 2:
            raise KeyboardInterrupt
        return train(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Learner, "train", train_twice)
        with pytest.raises(KeyboardInterrupt):
            main(SMALL, HERE, path=run)
    between = agents.load(run)
    assert isinstance(between, PolicyAgent)
    went_on_from = []

    def note(self: Learner) -> dict[str, Any]:
        went_on_from.append(self.policy().network.state_dict())
        return train(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Learner, "train", note)
        main(SMALL, HERE, path=run, resume=True)
    (weights,) = went_on_from  # one iteration was left
    same = {name: torch.equal(tensor, between.network.state_dict()[name]) for name, tensor in weights.items()}
    return run, (run / "metrics.jsonl").read_text().splitlines(), same


def test_a_run_that_was_interrupted_goes_on_from_its_checkpoint(interrupted: tuple[Any, list[str], Any]) -> None:
    _, lines, same = interrupted
    metrics = [json.loads(line) for line in lines]
    assert [line["iteration"] for line in metrics] == [1, 2, 3]
    assert metrics[2]["decisions"] == sum(line["played"] for line in metrics)
    assert same
    assert all(same.values())


def test_the_policy_of_a_run_plays_legal_actions_and_only_those(interrupted: tuple[Path, Any, Any]) -> None:
    agent = agents.load(interrupted[0])
    assert isinstance(agent, PolicyAgent)
    agent.deterministic = False
    record = play(make("poison-v0", num_seats=4), [agent, scripted.load("random")], range(50), seating=[0, 1, 0, 1])
    assert len(record.points) == 50  # `play` raises at an illegal action


def test_a_run_keeps_its_two_newest_checkpoints_and_leaves_no_partial_one(interrupted: tuple[Path, Any, Any]) -> None:
    names = sorted(
        entry.name for entry in interrupted[0].iterdir() if "checkpoint" in entry.name or "partial" in entry.name
    )
    assert names == ["checkpoint-000002", "checkpoint-000003"]


def test_a_run_is_not_begun_over_another(interrupted: tuple[Path, Any, Any]) -> None:
    with pytest.raises(FileExistsError):
        main(SMALL, HERE, path=interrupted[0])


@pytest.mark.parametrize(
    ("field", "value"),
    [("iterations", 0), ("minibatch", 513), ("learning_rate", 0.0), ("hidden", ()), ("hidden", (0,)), ("seed", -1)],
)
def test_numbers_that_cannot_be_trained_with_are_refused(field: str, value: Any) -> None:
    with pytest.raises(OptionError, match=field):
        replace(SMALL, **{field: value})


def test_rllibs_own_masking_module_trains_on_our_environment() -> None:
    game = make("poison-v0", num_seats=3, num_rounds=1, reward="relative")
    register_env("poison", lambda context: RLlibEnv(game))
    algorithm = (
        PPOConfig()
        .environment("poison")
        .env_runners(num_env_runners=0, num_envs_per_env_runner=4, batch_mode="complete_episodes")
        .multi_agent(policies={POLICY}, policy_mapping_fn=only_policy)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(train_batch_size_per_learner=256, minibatch_size=128, num_epochs=1)
        .build_algo()
    )
    learned = algorithm.train()["learners"][POLICY]
    algorithm.stop()
    assert np.isfinite(learned["total_loss"])


def test_the_object_store_is_small() -> None:
    assert ray.cluster_resources()["object_store_memory"] <= train_rllib.OBJECT_STORE
