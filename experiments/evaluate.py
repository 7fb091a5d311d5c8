"""Evaluate agents and print, draw and save the result.

    python -m experiments.evaluate --candidates runs/first greedy --tables cautious greedy --out results/first
    python -m experiments.evaluate --candidates random cautious greedy runs/first --out results/round-robin

The first sits every candidate at tables of P - 1 copies of every other agent; without `--tables` the candidates play a
round robin. Agents are scripted names or run directories. How it is measured: `experiments/evaluation.py`.
"""

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import tyro
from rich.console import Console

import agents
from experiments import evaluation
from experiments.intervals import RESAMPLES
from experiments.options import Rules
from experiments.reports import Report
from poison_env import scripted
from poison_env.core.errors import PoisonEnvError
from poison_env.core.protocol import Agent


@dataclass(frozen=True, kw_only=True)
class Config(Rules):
    """What is evaluated."""

    candidates: tuple[str, ...]  # scripted names or run directories
    tables: tuple[str, ...] = ()  # whom they play, P - 1 copies of one at a time; each other unless given
    deals: int = 5000  # each is played P times
    seed: int = 7  # of deals, agents' luck and bootstrap
    out: Path | None = None  # directory for evaluation.json and the plots; nothing is written unless given
    chunk: int = evaluation.CHUNK  # matches played side by side: memory against speed, the numbers stay the same
    resamples: int = RESAMPLES  # of the bootstrap
    threads: int = 1  # of torch; more rarely pays for small networks, and costs much on a busy machine

    def __post_init__(self) -> None:
        """Refuse what cannot be evaluated.

        Raises:
            ValueError: the message says what is wrong.
        """
        super().__post_init__()
        for name, least in (("deals", 2), ("chunk", 1), ("resamples", 1), ("seed", 0), ("threads", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: expected at least {least}, got {getattr(self, name)}")
        if not self.candidates:
            raise ValueError("candidates: expected at least one agent")
        for name in ("candidates", "tables"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise ValueError(f"{name}: an agent is named twice in {', '.join(getattr(self, name))}")


def run(config: Config, *, progress: bool = False) -> Report:
    """Evaluate as `config` says, and write what it asks for.

    Raises:
        PoisonEnvError: an unknown game, option or agent, or an agent that cannot play this game; before anything is
            played.
    """
    game = config.make()
    loaded = {spec: _load(spec) for spec in dict.fromkeys((*config.candidates, *config.tables))}
    agent_of = {spec: agent for spec, (agent, _) in loaded.items()}
    if config.out:
        config.out.mkdir(parents=True, exist_ok=True)

    import torch  # takes a while, and mistakes are found without it

    from experiments.runs import manifest

    torch.set_num_threads(config.threads)
    match_ups = evaluation.evaluate(
        game,
        {spec: agent_of[spec] for spec in config.candidates},
        {spec: agent_of[spec] for spec in config.tables or config.candidates},
        deals=config.deals,
        seed=config.seed,
        chunk=config.chunk,
        progress=progress,
    )
    summaries = [match_up.summary(seed=config.seed, resamples=config.resamples) for match_up in match_ups]
    about = {
        "config": {**asdict(config), "out": config.out and str(config.out)},
        "deal_seeds": f"fold({config.seed}, {evaluation.EVALUATION}, k), k from 0 to {config.deals - 1}",
        "agents": {spec: identity for spec, (_, identity) in loaded.items()},
        "manifest": manifest(),
    }
    report = Report(game, summaries, about)
    if config.out:
        report.write(config.out)
    return report


def main(config: Config) -> Report:
    """Evaluate as `config` says, with a progress bar, and print the tables."""
    report = run(config, progress=True)
    console = Console(highlight=False)
    console.print(report.title, style="bold")
    console.print(f"candidates: {report.candidates}", markup=False)
    for table in report.tables():
        console.print(table)
    console.print(report.power())
    if config.out:
        console.print(f"Written to {config.out}: {', '.join(sorted(file.name for file in config.out.iterdir()))}")
    return report


def _load(spec: str) -> tuple[Agent, dict[str, str]]:
    """Return an agent and what identifies it: a hash of its checkpoint's files, or of the scripted agents' source."""
    path = Path(spec)
    if spec in scripted.POLICIES or not path.is_dir():
        return agents.load(spec), {"sha256": _sha256([Path(scripted.__file__)])}
    from agents.neural import newest_checkpoint

    found = newest_checkpoint(path) or path  # named once: a run that goes on may write another one meanwhile
    agent = agents.load(found)
    return agent, {"checkpoint": str(found), "sha256": _sha256([found / "state.json", found / "network.safetensors"])}


def _sha256(files: Sequence[Path]) -> str:
    content = hashlib.sha256()
    for file in files:
        content.update(file.read_bytes())
    return content.hexdigest()


if __name__ == "__main__":
    try:
        main(tyro.cli(Config, description=__doc__))
    except (PoisonEnvError, ValueError) as error:
        sys.exit(f"evaluate: {error}")
