"""Maskable PPO of sb3-contrib, in one seat of many matches side by side, against a pool of its own past.

Every `snapshot_every` iterations the policy as it is joins the pool that the other seats draw from: the newest
snapshots, some older ones, and the scripted agents that the configuration names.

Run `python -m experiments.train_sb3 --help` for the options. The run can be killed at any moment; with `--resume` it
goes on from its last checkpoint and ends with the same weights, bit for bit, as one that was never interrupted (on the
same machine and versions): at every checkpoint all matches and all randomness begin anew from the run's seed.

Needs the extra `sb3`.
"""

import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from agents import neural
from agents.neural import PolicyAgent
from experiments.judging import conclude, quick_look
from experiments.options import Task, run_program
from experiments.runs import Run
from experiments.sb3_parts import FeaturesVecEnv, actor, policy_kwargs
from experiments.training import iterate
from poison_env import scripted
from poison_env.core import chance
from poison_env.core.errors import OptionError, UnknownNameError
from poison_env.core.protocol import Agent

WEIGHTS, MATCHES, LEARNING = (
    1,
    2,
    3,
)  # what a run's seed is folded with; evaluation folds with 0, so its deals are others


@dataclass(frozen=True, kw_only=True)
class Config(Task):
    """What a run is; saved as config.json."""

    iterations: int = 120
    num_envs: int = 512  # matches side by side
    num_steps: int = 32  # decisions of each in an iteration
    batch_size: int = 4096  # decisions
    epochs: int = 4
    hidden: tuple[int, ...] = (256, 256)  # of the policy, and again of the value
    learning_rate: float = 1e-3  # falls linearly to a twentieth
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    entropy: float = 0.01
    value: float = 0.02  # weight of the value's loss, which is in squared points
    snapshot_every: int = 5  # iterations; the policy joins the pool
    pool: int = 4  # snapshots in it: the newer half are the newest, the others spread over the past
    scripted: tuple[str, ...] = ("greedy",)  # also in the pool
    checkpoint_every: int = 10  # iterations; all matches begin anew then
    threads: int = 1  # of torch; more rarely pays for small networks
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be trained with.

        Raises:
            OptionError: the message names the field.
            UnknownNameError: no scripted agent of that name.
        """
        super().__post_init__()
        self.at_least(1, "iterations", "num_envs", "num_steps", "epochs", "snapshot_every", "pool", "checkpoint_every")
        self.at_least(1, "threads")
        self.at_least(2, "batch_size")
        self.at_least(0, "entropy", "value")
        self.above_zero("learning_rate", "clip_range")
        self.layers("hidden")
        if (self.num_envs * self.num_steps) % self.batch_size:
            whole = f"num_envs * num_steps, {self.num_envs * self.num_steps}"
            raise OptionError(f"batch_size: expected a divisor of {whole}, got {self.batch_size}")
        if not 0 <= self.gae_lambda <= 1:
            raise OptionError(f"gae_lambda: expected 0 to 1, got {self.gae_lambda}")
        there = scripted.names(self.game)
        for name in self.scripted:
            if name not in there:
                raise UnknownNameError(f"scripted: {self.game} has no agent {name!r}; it has {', '.join(there)}")

    @property
    def decisions(self) -> int:
        """Decisions of an iteration."""
        return self.num_envs * self.num_steps


def members(config: Config, iteration: int) -> list[int]:
    """Return after which iterations the snapshots were taken that are in the pool after `iteration`; 0 is the start.

    The newer half are the newest; the others are spread evenly over those before.
    """
    taken = np.arange(0, iteration + 1, config.snapshot_every)
    newest = min((config.pool + 1) // 2, len(taken))
    before = taken[: len(taken) - newest]
    count = min(config.pool - newest, len(before))
    places = (2 * np.arange(count) + 1) * len(before) // (2 * max(count, 1))  # the middles of so many equal parts
    return [*before[places].tolist(), *taken[len(taken) - newest :].tolist()]


class Clock(BaseCallback):
    """Notes when an iteration stopped playing and began to learn."""

    def __init__(self) -> None:
        super().__init__()
        self.played = 0.0  # of time.perf_counter()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.played = time.perf_counter()


class Learner:
    """A run's model, the matches it plays in, and the pool of its past."""

    def __init__(self, config: Config, path: Path, *, resume: bool) -> None:
        self.config = config
        self.game = config.make(reward=config.reward)
        self.env = FeaturesVecEnv(config.num_envs, self.game, opponents=["random"])  # until the pool is invited
        self.about = neural.describe(self.game, self.env.encoder, config.hidden, output="logits")
        self.rate = config.learning_rate
        self.model = MaskablePPO(
            "MlpPolicy",
            self.env,
            learning_rate=lambda _: self.rate,
            n_steps=config.num_steps,
            batch_size=config.batch_size,
            n_epochs=config.epochs,
            gamma=1.0,  # a match is short, and its result is what counts
            gae_lambda=config.gae_lambda,
            clip_range=config.clip_range,
            ent_coef=config.entropy,
            vf_coef=config.value,
            policy_kwargs=policy_kwargs(config.hidden),
            seed=int(chance.fold(config.seed, WEIGHTS)[0] >> np.uint64(32)),
            device=config.device,
        )
        self.model.set_logger(Logger(folder=None, output_formats=[]))  # metrics are read from it
        self.run = Run(path, asdict(config), resume=resume)
        self.done = self.run.restore(self.model.policy, self.model.policy.optimizer)
        self.model.num_timesteps = self.done * config.decisions

    def agent(self) -> PolicyAgent:
        """Return the policy as it is now, playing its most likely actions."""
        return PolicyAgent(self.game, actor(self.model.policy, self.config.hidden), self.env.encoder)

    def once(self, iteration: int) -> dict[str, float]:
        """Play and learn an iteration, with what is due before it; return its metrics."""
        config, clock = self.config, Clock()
        if iteration % config.snapshot_every == 0:
            self.run.save_snapshot(iteration, self.agent().network, self.about)
            self.invite(iteration)
        if iteration % config.checkpoint_every == 0:
            self.begin_anew(iteration)
        self.rate = config.learning_rate * max(1 - iteration / config.iterations, 0.05)
        begun, cpu = time.perf_counter(), time.process_time()
        self.model.learn(
            config.decisions, callback=clock, log_interval=config.iterations + 1, reset_num_timesteps=False
        )
        ended, seen = time.perf_counter(), self.model.logger.name_to_value
        buffer = self.model.rollout_buffer
        return {
            "iteration": iteration + 1,
            "decisions": self.model.num_timesteps,
            "loss": float(seen["train/value_loss"]),  # of the value; the policy's says nothing about progress
            "return": float(buffer.rewards.sum() / max(buffer.episode_starts.sum(), 1)),  # of a match, about
            "entropy": -float(seen["train/entropy_loss"]),
            "kl": float(seen["train/approx_kl"]),
            "clipped": float(seen["train/clip_fraction"]),
            "explained_variance": float(seen["train/explained_variance"]),
            "play_seconds": clock.played - begun,
            "learn_seconds": ended - clock.played,
            "decisions_per_cpu_second": config.decisions / (time.process_time() - cpu),
        }

    def invite(self, iteration: int) -> None:
        """Let the other seats be drawn from the pool as it is after `iteration`."""
        pool: list[str | Agent] = list(self.config.scripted)
        for number in members(self.config, iteration):
            agent = neural.load(self.run.snapshot(number), device=self.config.device)
            assert isinstance(agent, PolicyAgent)  # as it was saved
            agent.deterministic = False
            pool.append(agent)
        self.env.invite(pool)

    def begin_anew(self, iteration: int) -> None:
        """Begin new matches with new randomness, a function of seed and iteration alone: from here a run can go on."""
        self.invite(iteration)
        key = chance.fold(self.config.seed, LEARNING, iteration)[0]
        self.model.set_random_seed(int(key >> np.uint64(32)))  # torch's and NumPy's, which the library draws from
        self.env.seed(int(chance.fold(self.config.seed, MATCHES, iteration)[0] >> np.uint64(1)))
        self.model.set_env(self.env, force_reset=True)

    def save(self, iteration: int) -> None:
        """Write a checkpoint."""
        policy = self.model.policy
        self.run.save(iteration, self.agent().network, policy.optimizer, self.about, learner=policy)


def main(config: Config, *, path: Path, resume: bool = False, minutes: float = math.inf) -> Path:
    """Train as `config` says, in the run directory `path`; return it.

    Args:
        minutes: stop at the first checkpoint after so long; the run can be resumed.

    Raises:
        FileExistsError: there is a run at `path` and `resume` is off.
        CheckpointError: the run at `path` has another configuration.
    """
    torch.set_num_threads(config.threads)
    learner = Learner(config, path, resume=resume)
    iterate(
        config,
        learner.run,
        learner.done,
        once=learner.once,
        look=lambda: quick_look(config, learner.game, learner.agent()),
        save=learner.save,
        minutes=minutes,
    )
    return path


def command(
    config: tyro.conf.OmitArgPrefixes[Config],
    *,
    name: str = "",
    runs: Path = Path("runs"),
    resume: bool = False,
    minutes: float = math.inf,
    deals: int = 5000,
) -> None:
    """Train a policy by sb3-contrib's MaskablePPO against a pool of its past, then judge it.

    Args:
        config: what to learn and how.
        name: of the run directory; made of game, seats and seed unless given.
        runs: where run directories stand.
        resume: go on with the run of that name, if there is one, from its last checkpoint.
        minutes: stop at the first checkpoint after so long; --resume goes on from there.
        deals: how many deals the final evaluation plays, each with the policy in every seat; 0 for none.
    """
    seats = config.make().num_seats
    path = runs / (name or f"{config.game}-{seats}p-sb3-{config.seed}")
    main(config, path=path, resume=resume, minutes=minutes)
    conclude(config, path, deals=deals)


if __name__ == "__main__":
    run_program("train_sb3", command)
