"""Measure moves per second of the batch core and of the AEC environment; print, draw and save them.

    python -m experiments.benchmark
    python -m experiments.benchmark --batches 8192 --profile --out results/speed

A move is one by one seat, uniformly random among the legal ones; dealing, the choice and its random numbers are in the
time. `mask`: the rules with the action mask. `mask, observation`: also what the mover sees. Processor time is counted
because machines are shared; on a busy one it still moves by a factor of two, so the best of the repeats is given
beside the median, and the load.
"""

import itertools
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from experiments import plots
from experiments.options import Rules
from poison_env.adapters.aec import MatchEnv
from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.core.errors import PoisonEnvError
from poison_env.core.files import write_whole
from poison_env.core.protocol import Game

FORMAT = "poison_env.benchmark/1"
MODES = {"mask": False, "mask, observation": True}
AEC = "AEC with last()"
# Moves per second of processor time: of a batch, and of the AEC environment.
TARGET_BATCH = 8192
TARGETS = {
    "poison-v0": {"mask": 10e6, "mask, observation": 4e6, AEC: 15e3},
    "arsenic-v0": {"mask, observation": 500e3, AEC: 5e3},
    "potio-v0": {"mask, observation": 150e3, AEC: 5e3},
}
_CHOICE_STREAM = 1 << 40  # of the seeds' chance; no game draws from it
_WORDS = 1 << 14  # random words drawn at a time, few enough to stay in the cache


@dataclass(frozen=True, kw_only=True)
class Config(Rules):
    """What is measured."""

    batches: tuple[int, ...] = (1, 64, 1024, 8192, 65536)  # matches side by side
    repeats: int = 15  # at least 5; short and many, so that on a busy machine some are lucky
    seconds: float = 0.1  # a repeat goes on for so long at least
    seed: int = 0
    profile: bool = False  # also tell where the time goes
    aec: bool = True  # also measure the AEC environment
    out: Path | None = None  # directory for benchmark.json and the plot; nothing is written unless given

    def __post_init__(self) -> None:
        """Refuse what cannot be measured.

        Raises:
            ValueError: the message says what is wrong.
        """
        super().__post_init__()
        if self.repeats < 5:
            raise ValueError(f"repeats: expected at least 5, got {self.repeats}")
        if not self.batches or min(self.batches) < 1 or len(set(self.batches)) < len(self.batches):
            raise ValueError(f"batches: expected different numbers of at least 1, got {self.batches}")
        if self.seconds <= 0 or self.seed < 0:
            raise ValueError(f"expected seconds above 0 and a seed of at least 0, got {self.seconds} and {self.seed}")


@dataclass(frozen=True)
class Speed:
    """Moves per second in every repeat, of processor time and of wall time."""

    name: str
    batch: int
    cpu: tuple[float, ...]
    wall: tuple[float, ...]

    def json(self) -> dict[str, Any]:
        """Return it as JSON values, with the best and the median."""
        figures = {"cpu": self.cpu, "wall": self.wall}
        found = {kind: {"best": max(all_), "median": median(all_), "all": list(all_)} for kind, all_ in figures.items()}
        return {"name": self.name, "batch": self.batch, **found}


class Stopwatch:
    """Writes down where the wall time of a loop goes: the laps by name, in order."""

    def __init__(self) -> None:
        self.laps: dict[str, list[float]] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Book the time since the last lap under `name`."""
        now = time.perf_counter()
        self.laps.setdefault(name, []).append(now - self._last)
        self._last = time.perf_counter()


def random_words(seeds: chance.KeyArray) -> Iterator[chance.KeyArray]:
    """Yield one random word for each match, (B,), for ever."""
    start = chance.fold(seeds, _CHOICE_STREAM)
    moves = min(64, max(1, _WORDS // len(seeds)))
    for first in itertools.count(0, moves):
        numbers = chance.mix(np.arange(first, first + moves, dtype=np.uint64))
        yield from chance.mix(numbers[:, None] + start)


def play_batch(game: Game[Any], seeds: chance.KeyArray, *, observe: bool, watch: Stopwatch | None = None) -> int:
    """Deal a match for each seed and play all to their ends with random legal moves; return how many moves that was."""
    lap: Callable[[str], None] = watch.lap if watch else lambda name: None
    state = game.deal(seeds)
    lap("deal")
    words = random_words(seeds)
    while not state.done.all():
        mask = game.action_mask(state)
        lap("mask")
        if observe:
            game.observe(state, state.to_move)
            lap("observe")
        word = next(words)
        lap("words")
        actions = uniform_legal(mask, word)
        lap("choice")
        game.step(state, actions)
        lap("step")
    return int(state.moves.sum())


def play_aec(env: MatchEnv, seed: int) -> int:
    """Play one match of the AEC environment with random legal moves, asking `last()` before each; count the moves."""
    env.reset(seed=seed)
    words = iter(chance.bits(chance.as_keys(seed), _CHOICE_STREAM, env.game.max_moves)[0].tolist())
    moves = 0
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        assert observation is not None
        legal = observation["action_mask"].nonzero()[0]
        env.step(legal[next(words) * len(legal) >> 64])
        moves += 1
    return moves


def split(game: Game[Any], seeds: chance.KeyArray, repeats: int) -> dict[str, float]:
    """Return nanoseconds a move by part of the loop: every lap the best of its repeats, then added up."""
    watches = [Stopwatch() for _ in range(repeats)]
    moves = 0
    for watch in watches:  # they make the same moves
        moves = play_batch(game, seeds, observe=True, watch=watch)
    return {
        name: 1e9 * float(np.min([watch.laps[name] for watch in watches], axis=0).sum()) / moves
        for name in watches[0].laps
    }


def measure(tasks: Sequence[tuple[str, int, Callable[[], int]]], config: Config, *, progress: bool) -> list[Speed]:
    """Time tasks (name, batch, a function that makes moves and counts them), in turn, so that a busy spell hits all."""
    loops = []
    for _, _, task in tasks:
        task()  # warm
        begun = time.perf_counter()
        task()
        loops.append(max(1, math.ceil(config.seconds / (time.perf_counter() - begun))))
    cpu: list[list[float]] = [[] for _ in tasks]
    wall: list[list[float]] = [[] for _ in tasks]
    for repeat in tqdm(range(config.repeats * len(tasks)), desc="benchmark", unit="repeat", disable=not progress):
        index = repeat % len(tasks)
        begun, begun_cpu = time.perf_counter(), time.process_time()
        moves = sum(tasks[index][2]() for _ in range(loops[index]))
        cpu[index].append(moves / (time.process_time() - begun_cpu))
        wall[index].append(moves / (time.perf_counter() - begun))
    return [Speed(name, batch, tuple(cpu[index]), tuple(wall[index])) for index, (name, batch, _) in enumerate(tasks)]


def run(config: Config, *, progress: bool = False) -> dict[str, Any]:
    """Measure as `config` says, and write what it asks for; return what is in benchmark.json.

    Raises:
        PoisonEnvError: an unknown game or option, before anything is measured.
    """
    from experiments.runs import manifest  # loads torch, which would be in the way above

    game = config.make()
    if config.out:
        config.out.mkdir(parents=True, exist_ok=True)
    seeds = {batch: chance.fold(config.seed, np.arange(batch)) for batch in config.batches}
    load = os.getloadavg()[0]
    tasks: list[tuple[str, int, Callable[[], int]]] = [
        (name, batch, _batch_task(game, seeds[batch], observe))
        for batch in config.batches
        for name, observe in MODES.items()
    ]
    if config.aec:
        tasks.append((AEC, 1, _aec_task(game, config.seed)))
    speeds = measure(tasks, config, progress=progress)
    report = {
        "format": FORMAT,
        "config": {**asdict(config), "out": config.out and str(config.out)},
        "options": dict(game.options),
        "speeds": [speed.json() for speed in speeds],
        "nanoseconds": {str(batch): split(game, seeds[batch], config.repeats) for batch in config.batches},
        "load": {"before": load, "after": os.getloadavg()[0]},  # of the last minute
        "processors": os.cpu_count(),
        "manifest": manifest(),
    }
    if config.out:
        plots.save(plots.speeds(report), config.out / "benchmark")
        write_whole(config.out / "benchmark.json", json.dumps(report, indent=2, allow_nan=False) + "\n")
    return report


def _batch_task(game: Game[Any], seeds: chance.KeyArray, observe: bool) -> Callable[[], int]:
    return lambda: play_batch(game, seeds, observe=observe)


def _aec_task(game: Game[Any], seed: int) -> Callable[[], int]:
    env = MatchEnv(game)
    return lambda: play_aec(env, seed)


def tables(report: Mapping[str, Any]) -> list[Table]:
    """Return tables for a terminal: speeds, and with `profile` where the time goes."""
    speeds = _table(
        "Moves per second: best and median of CPU time, median of wall time",
        ["batch", "best", "median", "wall", "choice", "target"],
    )
    for speed in report["speeds"]:
        cpu, wall = speed["cpu"], speed["wall"]
        shown = map(_thousands, (cpu["best"], cpu["median"], wall["median"]))
        target = _target(report["config"]["game"], speed)
        verdict = "reached" if target and cpu["best"] >= target else "missed"
        speeds.add_row(
            *(speed["name"], f"{speed['batch']:,}", *shown, _choice_share(report, speed)),
            f"{_thousands(target)} {verdict}" if target else "",
        )
    if not report["config"]["profile"]:
        return [speeds]
    parts_of = report["nanoseconds"]
    names = list(next(iter(parts_of.values())))
    where = _table("Nanoseconds a move (wall, best of the repeats)", ["batch", *names, "sum"])
    for batch, parts in parts_of.items():
        where.add_row("", f"{int(batch):,}", *(f"{number:,.0f}" for number in (*parts.values(), sum(parts.values()))))
    return [speeds, where]


def _table(title: str, headings: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _choice_share(report: Mapping[str, Any], speed: Mapping[str, Any]) -> str:
    """Return the share of choosing moves, and of the random words for it, in the time of a loop."""
    if speed["name"] not in MODES:
        return ""
    parts = report["nanoseconds"][str(speed["batch"])]
    whole = sum(parts.values()) - (0 if MODES[speed["name"]] else parts["observe"])
    return f"{(parts['choice'] + parts['words']) / whole:.0%}"


def _thousands(number: float) -> str:
    return f"{number / 1e6:.2f} M" if number >= 1e6 else f"{number / 1e3:.1f} k"


def _target(game: str, speed: Mapping[str, Any]) -> float | None:
    counts = speed["name"] == AEC or speed["batch"] == TARGET_BATCH
    return TARGETS.get(game, {}).get(speed["name"]) if counts else None


def main(config: Config) -> dict[str, Any]:
    """Measure as `config` says, with a progress bar, and print the tables."""
    report = run(config, progress=True)
    console = Console(highlight=False)
    about, load = report["manifest"], report["load"]
    console.print(f"{' '.join((config.game, *config.options))} · seed {config.seed} · {config.repeats} repeats")
    console.print(
        f"{about['processor']}, {report['processors']} processors, load {load['before']:.1f} to {load['after']:.1f} · "
        f"Python {about['python']}, numpy {about['versions']['numpy']}"
    )
    for table in tables(report):
        console.print(table)
    console.print("choice: its share of the time, random words included. Targets are for the best, CPU.")
    if config.out:
        console.print(f"Written to {config.out}: {', '.join(sorted(file.name for file in config.out.iterdir()))}")
    return report


if __name__ == "__main__":
    try:
        main(tyro.cli(Config, description=__doc__))
    except (PoisonEnvError, ValueError) as error:
        sys.exit(f"benchmark: {error}")
