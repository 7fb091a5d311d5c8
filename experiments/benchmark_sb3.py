"""Measure MaskablePPO's environment steps per second: many matches side by side against the tutorials' way.

    python -m experiments.benchmark_sb3
    python -m experiments.benchmark_sb3 --num-envs 256 --out results/sb3.json

The tutorials' way, as PettingZoo documents it for Stable-Baselines3: the AEC environment disguised as a single-agent
one, in which one learner moves for every seat in turn; one environment, the library's own n_steps and batch size; and
once more with our batch size, which tells how much of the difference is learning in small batches. Ours: `SoloVecEnv`,
the learner in one seat of every match and random players in the others. Game, observation, network and all other
settings of PPO are the same. A step is a decision of the learner; the other seats' moves come on top of ours and are
not counted. The repeats alternate, so that a busy spell of the machine hits all.

The tutorials' way also loses reward: a step returns what the seat that moved was paid by its own move, so what it is
paid by the moves of others never arrives. How much arrives is counted here with random play, in absolute amounts.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import torch
import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.vec_env import VecExtractDictObs
from torch import nn
from tqdm import tqdm

from experiments.options import Rules
from experiments.runs import manifest
from poison_env.adapters.aec import MatchEnv
from poison_env.adapters.sb3 import SoloVecEnv
from poison_env.core.choice import uniform_legal
from poison_env.core.errors import PoisonEnvError
from poison_env.core.files import write_whole
from poison_env.core.protocol import BoolArray, Game

FORMAT = "poison_env.benchmark_sb3/1"
OURS, TUTORIAL, LARGE = "SoloVecEnv", "tutorial's wrapper", "the same, our batch"
TARGET = 10  # times as fast
TUTORIAL_STEPS, TUTORIAL_BATCH = 2048, 64  # the library's own


@dataclass(frozen=True, kw_only=True)
class Config(Rules):
    """What is measured."""

    num_envs: int = 256  # matches side by side, ours
    num_steps: int = 64  # decisions of each in an iteration, ours
    batch_size: int = 4096  # ours
    epochs: int = 4
    hidden: tuple[int, ...] = (64, 64)  # the library's own
    repeats: int = 7  # of an iteration of learning, of each way
    reward_matches: int = 200  # by which the lost reward is counted
    threads: int = 1  # of torch
    seed: int = 0
    out: Path | None = None  # a JSON file; nothing is written unless given

    def __post_init__(self) -> None:
        """Refuse what cannot be measured.

        Raises:
            ValueError: the message says what is wrong.
        """
        super().__post_init__()
        for name, least in (("repeats", 3), ("num_envs", 1), ("num_steps", 1), ("batch_size", 2), ("epochs", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: expected at least {least}, got {getattr(self, name)}")
        if self.reward_matches < 1 or self.threads < 1 or self.seed < 0:
            raise ValueError("expected reward_matches and threads of at least 1 and a seed of at least 0")


class TutorialEnv(gymnasium.Env[Any, Any]):
    """An AEC environment disguised as a single-agent one, behaving like the wrapper in PettingZoo's tutorial."""

    def __init__(self, env: MatchEnv) -> None:
        seen = env.observation_space(env.possible_agents[0])
        assert isinstance(seen, gymnasium.spaces.Dict)
        self.env = env
        self.observation_space = seen["observation"]
        self.action_space = env.action_space(env.possible_agents[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin a match; return what the seat to move sees, and an empty info."""
        self.env.reset(seed=seed, options=options)
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        """Move for the seat to move; the observation is the next one's, the rest is of the seat that has moved."""
        env, mover = self.env, self.env.agent_selection
        env.step(int(action))
        paid = env._cumulative_rewards[mover]
        return self._observe(), paid, env.terminations[mover], env.truncations[mover], env.infos[mover]

    def action_mask(self) -> BoolArray:
        """Return the legal actions of the seat to move, (A,)."""
        return self.env.observe(self.env.agent_selection)["action_mask"].astype(bool)

    def _observe(self) -> npt.NDArray[Any]:
        return self.env.observe(self.env.agent_selection)["observation"]


def reward_share(game: Game[Any], *, matches: int, seed: int) -> tuple[float, float]:
    """Return how much reward the tutorial's wrapper hands over, and how much is paid, in absolute amounts.

    Over whole matches with random legal moves.
    """
    env = TutorialEnv(MatchEnv(game))
    generator = np.random.default_rng(seed)
    handed = paid = 0.0
    for match in range(matches):
        env.reset(seed=seed if match == 0 else None)
        over = False
        while not over:
            words = generator.integers(2**64, size=1, dtype=np.uint64)
            _, reward, terminated, truncated, _ = env.step(uniform_legal(env.action_mask()[None], words)[0])
            handed += abs(reward)
            paid += sum(map(abs, env.env.rewards.values()))
            over = terminated or truncated
    return handed, paid


def learner(config: Config, env: Any, *, num_steps: int, batch_size: int) -> MaskablePPO:
    """Return the algorithm with the settings that both ways share."""
    sizes = {"pi": list(config.hidden), "vf": list(config.hidden)}
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=num_steps,
        batch_size=batch_size,
        n_epochs=config.epochs,
        policy_kwargs={"net_arch": sizes, "activation_fn": nn.ReLU},
        seed=config.seed,
        device="cpu",
    )


def tasks(config: Config, game: Game[Any]) -> dict[str, Callable[[], int]]:
    """Return for each way a function that makes one iteration of learning and returns how many steps that was."""
    vector = VecExtractDictObs(SoloVecEnv(config.num_envs, game, opponents="random", scaled=False), "observation")
    ours = learner(config, vector, num_steps=config.num_steps, batch_size=config.batch_size)

    def tutorial(num_steps: int, batch_size: int) -> MaskablePPO:
        env = TutorialEnv(MatchEnv(game))
        return learner(
            config, ActionMasker(env, lambda _: env.action_mask()), num_steps=num_steps, batch_size=batch_size
        )

    def iteration(model: MaskablePPO) -> Callable[[], int]:
        def learn() -> int:
            before = model.num_timesteps
            model.learn(model.n_steps * model.n_envs, reset_num_timesteps=False)
            return model.num_timesteps - before

        return learn

    return {
        OURS: iteration(ours),
        TUTORIAL: iteration(tutorial(TUTORIAL_STEPS, TUTORIAL_BATCH)),
        LARGE: iteration(tutorial(config.batch_size, config.batch_size)),
    }


def run(config: Config, *, progress: bool = False) -> dict[str, Any]:
    """Measure as `config` says, and write what it asks for; return what is in the file.

    Raises:
        PoisonEnvError: an unknown game or option, before anything is measured.
    """
    torch.set_num_threads(config.threads)
    game = config.make()
    ways = tasks(config, game)
    for task in ways.values():
        task()  # warm
    load = os.getloadavg()[0]
    speeds: dict[str, dict[str, list[float]]] = {name: {"wall": [], "cpu": []} for name in ways}
    for _ in tqdm(range(config.repeats), desc="benchmark_sb3", unit="repeat", disable=not progress):
        for name, task in ways.items():
            begun, begun_cpu = time.perf_counter(), time.process_time()
            steps = task()
            speeds[name]["cpu"].append(steps / (time.process_time() - begun_cpu))
            speeds[name]["wall"].append(steps / (time.perf_counter() - begun))
    ratios = {
        name: {
            kind: spread([ours / other for ours, other in zip(speeds[OURS][kind], speeds[name][kind], strict=True)])
            for kind in ("wall", "cpu")
        }
        for name in (TUTORIAL, LARGE)
    }
    handed, paid = reward_share(game, matches=config.reward_matches, seed=config.seed)
    report = {
        "format": FORMAT,
        "config": {**asdict(config), "out": config.out and str(config.out)},
        "options": dict(game.options),
        "steps_per_second": {
            name: {kind: spread(values) for kind, values in kinds.items()} for name, kinds in speeds.items()
        },
        "ratio": ratios,  # of SoloVecEnv to each of the others, repeat by repeat
        "reward": {"handed": handed, "paid": paid, "share": handed / paid},
        "load": {"before": load, "after": os.getloadavg()[0]},  # of the last minute
        "manifest": manifest(),
    }
    if config.out:
        config.out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(config.out, json.dumps(report, indent=2, allow_nan=False) + "\n")
    return report


def spread(values: list[float]) -> dict[str, Any]:
    """Return least, median and greatest of repeats, and all of them."""
    return {"min": min(values), "median": median(values), "max": max(values), "all": values}


def main(config: Config) -> dict[str, Any]:
    """Measure as `config` says, with a progress bar, and print the table."""
    report = run(config, progress=True)
    console = Console(highlight=False)
    about, load = report["manifest"], report["load"]
    console.print(f"{' '.join((config.game, *config.options))} · seed {config.seed} · {config.repeats} repeats")
    console.print(f"{about['processor']}, load {load['before']:.1f} to {load['after']:.1f}")
    table = Table(title="Steps per second of MaskablePPO.learn", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("")
    for heading in ("wall: min", "median", "max", "CPU: median"):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = [(name, kinds, ",.0f") for name, kinds in report["steps_per_second"].items()]
    rows += [(f"{OURS} / {name}", kinds, ".1f") for name, kinds in report["ratio"].items()]
    for name, kinds, form in rows:
        wall = kinds["wall"]
        found = (wall["min"], wall["median"], wall["max"], kinds["cpu"]["median"])
        table.add_row(name, *(format(number, form) for number in found))
    console.print(table)
    verdict = "reached" if report["ratio"][TUTORIAL]["wall"]["median"] >= TARGET else "missed"
    console.print(f"Target: {TARGET} times as fast as the tutorial's wrapper, median of wall time: {verdict}.")
    share = report["reward"]["share"]
    console.print(f"Of the reward paid, the tutorial's wrapper hands the learner {share:.1%}; SoloVecEnv all of it.")
    if config.out:
        console.print(f"Written to {config.out}")
    return report


if __name__ == "__main__":
    try:
        main(tyro.cli(Config, description=__doc__))
    except (PoisonEnvError, ValueError) as error:
        sys.exit(f"benchmark_sb3: {error}")
