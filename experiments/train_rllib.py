"""Multi-agent PPO in self-play on Ray RLlib: one masked policy plays all seats, on one machine or on a Ray cluster.

    python -m experiments.train_rllib --num-env-runners 2
    export RAY_AUTH_MODE=token                   # on all machines of a cluster
    ray start --head --port 6379                 # on the first of them; then, on each of the others:
    ray start --address FIRST:6379
    python -m experiments.train_rllib --address FIRST:6379 --num-env-runners 16

Every machine needs this repository with the extra `rllib` (`make rllib` makes .venv-integrations), and the token that
Ray guards a cluster with: the first machine makes it, ~/.ray/auth_token, and it is copied to the others.

A worker may die, or a whole machine but the cluster's first and that of this program: RLlib goes on with the others and
starts the lost workers anew where there is room. A killed run goes on from its last checkpoint with `--resume`.

A checkpoint holds the policy as safetensors and JSON, which `agents.load` reads like that of any other run, and next to
it RLlib's own, which only this program's `--resume` reads. RLlib's is made of pickles, and loading a pickle runs code:
resume runs of your own, not those that others gave you.
"""

import json
import math
import os
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # before ray is imported: it reports home otherwise

import ray
import torch
import tyro
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from safetensors.torch import save_file
from tqdm import tqdm

from agents import features
from agents.neural import PolicyAgent, ValueNetwork, describe, newest_checkpoint
from experiments.judging import conclude, postfix, quick_look
from experiments.options import Task, parse_options, run_program
from experiments.rllib_parts import POLICY, MaskedPolicy, SelfPlayEnv, only_policy
from experiments.runs import KEPT_CHECKPOINTS, Run
from poison_env.core.errors import OptionError
from poison_env.core.protocol import Game

OBJECT_STORE = 200_000_000  # bytes; what is sent is small


@dataclass(frozen=True, kw_only=True)
class Config(Task):
    """What a run is; saved as config.json."""

    seed: int = 0  # of deals and first weights; PPO on many workers is not repeatable bit for bit
    iterations: int = 100
    batch: int = 8192  # decisions an iteration, of whole matches
    minibatch: int = 1024  # decisions
    epochs: int = 6
    hidden: tuple[int, ...] = (256, 256)
    learning_rate: float = 1e-3
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    checkpoint_every: int = 10  # iterations
    opponents: tuple[str, ...] = ("random", "greedy")  # the tables of the evaluations

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be trained with.

        Raises:
            OptionError: the message names the field.
        """
        super().__post_init__()
        self.at_least(1, "iterations", "batch", "minibatch", "epochs", "checkpoint_every")
        self.above_zero("learning_rate")
        self.layers("hidden")
        if self.minibatch > self.batch:
            raise OptionError(f"minibatch: expected at most the batch, {self.batch}, got {self.minibatch}")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a run takes place; may change when it goes on."""

    address: str = ""  # of a running Ray cluster, "auto" for the one of this machine; one is started unless given
    num_env_runners: int = 2  # worker processes that play; 0 to play in this one
    envs_per_runner: int = 16  # matches played side by side in each
    device: str = "cpu"  # of the learner: cpu or cuda
    threads: int = 1  # of torch where it learns; more rarely pays for small networks, and costs much on a busy machine


def ppo(config: Config, place: Place, begin: int) -> PPOConfig:
    """Return RLlib's configuration of a run that begins, or goes on, after iteration `begin`."""
    options = {**parse_options(config.options), "reward": config.reward}
    policy = RLModuleSpec(module_class=MaskedPolicy, model_config={"hidden": list(config.hidden)})
    return (
        PPOConfig()
        .environment(SelfPlayEnv, env_config={"game": config.game, "options": options, "begin": begin})
        .env_runners(
            num_env_runners=place.num_env_runners,
            num_envs_per_env_runner=place.envs_per_runner,
            batch_mode="complete_episodes",  # so that every decision is followed by all it leads to
        )
        .learners(num_learners=0, num_gpus_per_learner=0 if place.device == "cpu" else 1)
        .multi_agent(policies={POLICY}, policy_mapping_fn=only_policy)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: policy}))
        .training(
            train_batch_size_per_learner=config.batch,
            minibatch_size=config.minibatch,
            num_epochs=config.epochs,
            lr=config.learning_rate,
            gamma=1.0,
            lambda_=config.gae_lambda,
            clip_param=config.clip,
            entropy_coeff=config.entropy,
            use_kl_loss=False,
            vf_clip_param=math.inf,  # returns are points, not near 1
            grad_clip=10.0,
        )
        .fault_tolerance(
            restart_failed_env_runners=True,
            restart_failed_sub_environments=False,  # an illegal action is a fault to be seen
            num_consecutive_env_runner_failures_tolerance=1000,
            env_runner_health_probe_timeout_s=2,  # each iteration waits so long for one that is being started
            env_runner_restore_timeout_s=60,
        )
        .debugging(seed=config.seed, log_level="ERROR")
    )


class Learner:
    """A run's RLlib algorithm, from its newest checkpoint on, and its policy as an agent."""

    def __init__(self, config: Config, place: Place, game: Game[Any], run: Path) -> None:
        self.hidden = config.hidden
        self.game = game
        self.encoder = features.for_game(game)
        self.run = run
        self.done = self.decisions = 0  # iterations, and decisions learned from
        found = newest_checkpoint(run)
        if found is not None:
            about = json.loads((found / "state.json").read_text(encoding="utf-8"))
            self.done, self.decisions = about["iteration"], about["decisions"]
        self.algorithm: Algorithm = ppo(config, place, self.done).build_algo()
        if found is not None:
            self.algorithm.restore_from_path(str((found / "rllib").absolute()))

    def train(self) -> dict[str, Any]:
        """Play and learn one iteration; return its metrics.

        Where all workers have died, waits for those that are started anew.
        """
        begun = time.perf_counter()
        played, learned = 0, None
        while not played or learned is None:
            result = self.algorithm.train()
            played = int(result["env_runners"].get("num_env_steps_sampled", 0))
            learned = result.get("learners", {}).get(POLICY)
        self.done += 1
        self.decisions += played
        group = self.algorithm.env_runner_group
        return {
            "iteration": self.done,
            "decisions": self.decisions,
            "played": played,
            "loss": float(learned["total_loss"]),
            "policy_loss": float(learned["policy_loss"]),
            "value_loss": float(learned["vf_loss"]),
            "entropy": float(learned["entropy"]),
            "explained_variance": float(learned["vf_explained_var"]),
            "runners": group.num_healthy_remote_workers(),
            "restarts": group.num_remote_worker_restarts(),
            "seconds": time.perf_counter() - begun,
        }

    def policy(self) -> PolicyAgent:
        """Return the policy as it is now, as an agent that cannot forget the mask."""
        network = ValueNetwork(self.encoder.size, self.game.num_actions, self.hidden)
        weights = self.algorithm.learner_group.get_weights()[POLICY]
        network.load_state_dict({name: torch.as_tensor(weights[f"policy.{name}"]) for name in network.state_dict()})
        return PolicyAgent(self.game, network.eval(), self.encoder)

    def save(self) -> None:
        """Write a checkpoint, whole or not at all, and forget the oldest ones."""
        partial = self.run / f".partial-{self.done:06d}"
        partial.mkdir()
        save_file(self.policy().network.state_dict(), partial / "network.safetensors")
        about = describe(self.game, self.encoder, self.hidden, output="logits")
        about |= {"iteration": self.done, "decisions": self.decisions}
        (partial / "state.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        self.algorithm.save_to_path(str((partial / "rllib").absolute()))
        partial.rename(self.run / f"checkpoint-{self.done:06d}")
        for old in sorted(self.run.glob("checkpoint-*"))[:-KEPT_CHECKPOINTS]:
            shutil.rmtree(old)


def main(config: Config, place: Place, *, path: Path, resume: bool = False) -> Path:
    """Train as `config` says, in the run directory `path`; return it.

    Uses the Ray cluster that this process is connected to, or else the one of `place`.

    Raises:
        FileExistsError: there is a run at `path` and `resume` is off.
        CheckpointError: the run at `path` has another configuration.
    """
    torch.set_num_threads(place.threads)
    game = config.make(reward=config.reward)
    connected = ray.is_initialized()
    if not connected:
        connect(place)
    try:
        run = Run(path, asdict(config), resume=resume)
        learner = Learner(config, place, game, path)
        run.cut_log(learner.done)
        with tqdm(total=config.iterations, initial=learner.done, desc=path.name, unit="iteration") as bar:
            while learner.done < config.iterations:
                metrics = learner.train()
                last = learner.done == config.iterations
                if config.evaluate_every and (learner.done % config.evaluate_every == 0 or last):
                    metrics |= quick_look(config, game, learner.policy())
                run.log(metrics)
                if last or learner.done % config.checkpoint_every == 0:
                    learner.save()
                bar.update()
                bar.set_postfix(postfix(metrics) | {"runners": metrics["runners"]})
        learner.algorithm.stop()
    finally:
        if not connected:
            ray.shutdown()
    return path


def connect(place: Place) -> None:
    """Connect this process to the Ray cluster at `place.address`, or start Ray on this machine."""
    if place.address:
        ray.init(address=place.address, log_to_driver=False)
    else:
        ray.init(
            address="local",  # not one that happens to run here
            num_cpus=place.num_env_runners + 1,  # a core may serve two of them; fewer would wait for ever
            include_dashboard=False,
            object_store_memory=OBJECT_STORE,
            log_to_driver=False,
        )


def command(
    config: tyro.conf.OmitArgPrefixes[Config],
    place: tyro.conf.OmitArgPrefixes[Place],
    *,
    name: str = "",
    runs: Path = Path("runs"),
    resume: bool = False,
    deals: int = 5000,
) -> None:
    """Train a policy by PPO in self-play on Ray RLlib, then judge it against the scripted agents.

    Args:
        config: what to learn and how.
        place: on which machines.
        name: of the run directory; made of game, seats and seed unless given.
        runs: where run directories stand.
        resume: go on with the run of that name, if there is one, from its last checkpoint.
        deals: how many deals the final evaluation plays, each with the policy in every seat; 0 for none.
    """
    seats = config.make().num_seats
    path = runs / (name or f"{config.game}-{seats}p-rllib-{config.seed}")
    main(config, place, path=path, resume=resume)
    conclude(config, path, deals=deals)


if __name__ == "__main__":
    run_program("train_rllib", command)
