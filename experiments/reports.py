"""What an evaluation is shown and kept as: tables for a terminal, JSON, plots."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from experiments import evaluation, plots
from experiments.evaluation import Summary
from experiments.intervals import CONFIDENCE, Estimate, deals_needed
from poison_env.core.files import write_whole
from poison_env.core.protocol import Game

FORMAT = "poison_env.evaluation/1"
FEW_SEATS = 4
DIFFERENCES = (0.5, 0.25, 0.1)  # points a round for which the deals needed are told
_POINTS = {"diff": "less the others'", "points": "own", "others": "others", "wins": "wins", "placement": "place"}
_OVERFLOWS = {"overflows": "overflows", "deliberate": "deliberate", "of_chances": "of chances", "immune": "then immune"}
_SHARES = ("of_chances", "immune")


@dataclass(frozen=True)
class Report:
    """The result of an evaluation."""

    game: Game[Any]
    summaries: Sequence[Summary]
    about: Mapping[str, Any]  # JSON values: config, agents, versions

    @property
    def title(self) -> str:
        """What was played."""
        rounds = evaluation.rounds_of(self.game)
        length = f", {rounds} round{'s'[: rounds > 1]}" if self.unit == "round" else ""
        played = f"{self.game.id} · {self.game.num_seats} seats{length}"
        return f"{played} · {self.summaries[0].deals:,} deals, seats rotated"

    @property
    def candidates(self) -> str:
        """Who was evaluated."""
        return ", ".join(dict.fromkeys(summary.candidate for summary in self.summaries))

    @property
    def unit(self) -> str:
        """What points are counted by: `round`, or `match` in games without rounds."""
        return "round" if "num_rounds" in self.game.options else "match"

    def json(self) -> dict[str, Any]:
        """Return the whole result as JSON values: what was measured, how, by which versions, and every number."""
        return {
            "format": FORMAT,
            "game": self.game.id,
            "options": dict(self.game.options),
            "points_sign": self.game.points_sign,
            "unit": self.unit,
            "confidence": CONFIDENCE,
            "measures": {
                **evaluation.MEANS,
                **evaluation.OVERFLOW_MEANS,
                **{name: text for name, (_, _, text) in evaluation.OVERFLOW_RATIOS.items()},
            },
            "match_ups": [
                {
                    "candidate": summary.candidate,
                    "table": summary.table,
                    "deals": summary.deals,
                    "total": _json(summary.total),
                    "seats": [_json(seat) for seat in summary.seats],
                    "deals_needed": {str(size): _needed(summary, size) for size in DIFFERENCES},
                }
                for summary in self.summaries
            ],
            **self.about,
        }

    def write(self, directory: Path) -> None:
        """Write evaluation.json, diff.png and .svg, and with several tables cross_table.png and .svg."""
        text = json.dumps(self.json(), indent=2, allow_nan=False, ensure_ascii=False)
        plots.save(self.forest(), directory / "diff")
        if len({summary.table for summary in self.summaries}) > 1:
            plots.save(self.cross_table(), directory / "cross_table")
        write_whole(directory / "evaluation.json", text + "\n")

    def forest(self) -> Figure:
        """Draw every match-up's difference with its interval."""
        return plots.forest(self.summaries, points_sign=self.game.points_sign, title=self.title, unit=self.unit)

    def cross_table(self) -> Figure:
        """Draw every candidate at every table as a heat map."""
        return plots.cross_table(self.summaries, points_sign=self.game.points_sign, title=self.title, unit=self.unit)

    def tables(self) -> list[Table]:
        """Return tables for a terminal: points, overflows where the game has them, points by the candidate's seat."""
        totals = [summary.total for summary in self.summaries]
        title = f"Points per {self.unit} and wins (95 % intervals), place (0 best)"
        tables = [self._table(title, _POINTS, totals)]
        if _OVERFLOWS.keys() <= totals[0].keys():
            title = f"Overflows per {self.unit}: all, deliberate, what came of them"
            tables.append(self._table(title, _OVERFLOWS, totals))
        seats = {f"seat {seat}": f"seat {seat}" for seat in range(self.game.num_seats)}
        by_seat = [
            {name: seat["diff"] for name, seat in zip(seats, summary.seats, strict=True)} for summary in self.summaries
        ]
        tables.append(self._table(f"Points per {self.unit} less the others', by the candidate's seat", seats, by_seat))
        return tables

    def _table(self, title: str, headings: Mapping[str, str], rows: Sequence[Mapping[str, Estimate]]) -> Table:
        table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        several = len({summary.candidate for summary in self.summaries}) > 1  # one alone is in the title
        for heading in ("candidate", "among")[not several :]:
            table.add_column(heading, overflow="fold")
        for heading in headings.values():
            table.add_column(heading, justify="right", no_wrap=True)
        candidates = plots.short_names([summary.candidate for summary in self.summaries])
        others = plots.short_names([summary.table for summary in self.summaries])
        wide = len(headings) <= FEW_SEATS  # more seats leave no room for intervals in eighty columns
        for candidate, among, row in zip(candidates, others, rows, strict=True):
            names = (candidate, among)[not several :]
            table.add_row(*map(Text, (*names, *(_cell(name, row[name], wide) for name in headings))))
        return table

    def power(self) -> str:
        """Say how many deals would show a small difference in the match-up that varies most."""
        noisiest = max(self.summaries, key=lambda summary: summary.total["diff"].deal_sd)
        needed = ", ".join(f"{size} with {_needed(noisiest, size):,}" for size in DIFFERENCES)
        return f"True differences that show (5 % level, 80 % power): {needed} deals."


def _needed(summary: Summary, difference: float) -> int:
    return deals_needed(difference, summary.total["diff"].deal_sd)


def _cell(name: str, estimate: Estimate, wide: bool) -> str:
    if math.isnan(estimate.value):
        return "–"
    if name == "wins":
        return f"{100 * estimate.value:.1f} ±{50 * (estimate.high - estimate.low):.1f} %"
    if name in _SHARES:
        return f"{100 * estimate.value:.1f} %"
    if name == "diff":
        return f"{estimate.value:+.2f} [{estimate.low:+.2f}, {estimate.high:+.2f}]"
    if name.startswith("seat"):
        return f"{estimate.value:+.2f} ±{(estimate.high - estimate.low) / 2:.2f}" if wide else f"{estimate.value:+.2f}"
    return f"{estimate.value:.2f}"


def _json(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: estimate.json() for name, estimate in estimates.items()}
