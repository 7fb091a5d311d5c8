"""How training programs judge what they have learned, on the way and at the end."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import agents
from experiments import evaluate, evaluation, plots
from experiments.options import Task
from poison_env import play
from poison_env.core.protocol import Agent, Game


def quick_look(config: Task, game: Game[Any], agent: Agent) -> dict[str, float]:
    """Return how the agent does at each table of `config.opponents` on a few deals.

    `against_NAME` is its points less the others' mean, `wins_NAME` its share of matches won; nothing without tables.
    """
    if not config.opponents:
        return {}
    tables = {name: agents.load(name) for name in config.opponents}
    found = evaluation.evaluate(game, {"policy": agent}, tables, deals=config.evaluation_deals, seed=config.seed)
    measures = {"against": "diff", "wins": "wins"}
    return {
        f"{prefix}_{match_up.table}": float(match_up.per_deal(measure).mean())
        for prefix, measure in measures.items()
        for match_up in found
    }


def postfix(metrics: Mapping[str, float]) -> dict[str, str]:
    """Return what a progress bar shows of an iteration's metrics."""
    shown = {name: value for name, value in metrics.items() if name == "loss" or name.startswith(("against", "wins"))}
    return {name: f"{value:.3g}" for name, value in shown.items()}


def draw(config: Task, path: Path) -> None:
    """Draw the learning curve of a run as learning.png and .svg in its directory."""
    metrics = [json.loads(line) for line in (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    game = config.make()
    title = f"{path.name}: {' '.join((config.game, *config.options))}, seed {config.seed}"
    curve = plots.learning_curve(metrics, points_sign=game.points_sign, num_seats=game.num_seats, title=title)
    plots.save(curve, path / "learning")


def conclude(config: Task, path: Path, *, deals: int) -> None:
    """Draw a run's learning curve, judge its policy on so many deals (0 for none), and print what was found."""
    draw(config, path)
    print(f"The policy is in {path}: agents.load({str(path)!r}). Its learning curve: {path / 'learning.png'}")
    if deals and not config.opponents:
        game = config.make(reward="points")
        paid = play(game, [agents.load(path)], evaluation.deal_seeds(evaluate.Config.seed, 0, deals)).points[:, 0]
        print(f"Alone it made {paid.mean():.2f} points on average in {deals:,} deals.")
    elif deals:
        report = evaluate.Config(
            candidates=(str(path),),
            tables=config.opponents,
            game=config.game,
            options=config.options,
            deals=deals,
            out=path / "evaluation",
        )
        evaluate.main(report)
