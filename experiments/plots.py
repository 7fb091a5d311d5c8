"""Pictures of results, as PNG and SVG; colours that people with colour blindness can tell apart."""

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure

from experiments.evaluation import Summary
from experiments.intervals import Estimate
from poison_env.core.files import write_whole

BLUE, SKY, ORANGE, GREY = "#0072B2", "#56B4E9", "#D55E00", "#666666"  # of the palette of Okabe and Ito
_STYLE: Any = {"svg.hashsalt": "poison_env", "svg.fonttype": "none", "font.size": 10}
LONGEST_NAME = 28
_INCH_A_CHARACTER = 0.078  # of the usual letter at that size


def save(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as `path`.png and `path`.svg, each whole or not at all; return both."""
    written = []
    for suffix, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
        content = io.BytesIO()
        with matplotlib.rc_context(_STYLE):
            figure.savefig(content, format=suffix, dpi=150, metadata=metadata)
        target = path.with_name(f"{path.name}.{suffix}")
        write_whole(target, content.getvalue())
        written.append(target)
    return written


def forest(summaries: Sequence[Summary], *, points_sign: int, title: str, unit: str = "round") -> Figure:
    """Draw every match-up's difference to the others with its interval, one line each, grouped by candidate."""
    candidates = list(dict.fromkeys(summary.candidate for summary in summaries))
    lines: list[Summary | str] = []  # from the top: a candidate's name, then its match-ups
    for name in candidates:
        lines += [name, *(summary for summary in summaries if summary.candidate == name)]
    names = [line.table if isinstance(line, Summary) else line for line in lines]
    short = dict(zip(names, short_names(names), strict=True))
    labels = [f"at a table of {short[line.table]}" if isinstance(line, Summary) else short[line] for line in lines]
    left = 0.4 + _INCH_A_CHARACTER * max(map(len, labels))
    better = "more is better →" if points_sign > 0 else "← less is better"
    size = (left + 6.4, 1.5 + 0.3 * len(lines))
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size)
        axes = figure.add_axes((left / size[0], 0.8 / size[1], 4.3 / size[0], 1 - 1.3 / size[1]))
        for height, line in enumerate(lines):
            if isinstance(line, str):
                continue
            estimate = line.total["diff"]
            ends = sorted((points_sign * estimate.low, points_sign * estimate.high))
            colour, marker = (BLUE, "o") if ends[0] > 0 else (ORANGE, "D") if ends[1] < 0 else (GREY, "s")
            axes.plot([estimate.low, estimate.high], [height, height], color=colour, linewidth=2, solid_capstyle="butt")
            axes.plot(estimate.value, height, marker=marker, color=colour, markersize=6)
            interval = f"{_signed(estimate.value)}  [{_signed(estimate.low)}, {_signed(estimate.high)}]"
            text = interval if _differs(estimate) else "0 on every deal"
            axes.text(1.03, height, text, transform=axes.get_yaxis_transform(), va="center", fontsize=9)
        axes.axvline(0, color="black", linewidth=0.8, zorder=0)
        axes.set_yticks(range(len(lines)), labels)
        for label, line in zip(axes.get_yticklabels(), lines, strict=True):
            label.set_fontweight("bold" if isinstance(line, str) else "normal")
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.margins(x=0.08)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="0.9")
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.set_xlabel(f"points per {unit} less the others' mean, 95 % interval\n{better}")
        figure.text(0.1 / size[0], 1 - 0.3 / size[1], title, fontsize=11, va="center")
    return figure


def cross_table(summaries: Sequence[Summary], *, points_sign: int, title: str, unit: str = "round") -> Figure:
    """Draw every agent (rows) at tables of every other (columns) as a heat map: difference and half its interval.

    Colours grow with the logarithm beyond one point, so that a weak agent does not make all others look alike.
    """
    rows = list(dict.fromkeys(summary.candidate for summary in summaries))
    columns = list(dict.fromkeys(summary.table for summary in summaries))
    values = np.full((len(rows), len(columns)), np.nan)
    for summary in summaries:
        values[rows.index(summary.candidate), columns.index(summary.table)] = summary.total["diff"].value
    limit = max(float(np.nanmax(np.abs(values))), 2.0)
    longest = _INCH_A_CHARACTER * max(map(len, short_names(columns)))
    width, height = 1.2 * len(columns), 0.62 * len(rows)
    left = 0.4 + _INCH_A_CHARACTER * max(map(len, short_names(rows)))
    top = 1.15 + 0.6 * longest
    size = (max(left + width + 0.7 * longest, 6.6), top + height + 0.25)
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size)
        axes = figure.add_axes((left / size[0], 0.25 / size[1], width / size[0], height / size[1]))
        colours = "PuOr" if points_sign > 0 else "PuOr_r"  # purple is better
        norm = SymLogNorm(1.0, vmin=-limit, vmax=limit)
        axes.imshow(values, cmap=colours, norm=norm, aspect="auto")
        for summary in summaries:
            estimate = summary.total["diff"]
            axes.text(
                columns.index(summary.table),
                rows.index(summary.candidate),
                f"{_signed(estimate.value)}\n±{(estimate.high - estimate.low) / 2:.2f}" if _differs(estimate) else "0",
                ha="center",
                va="center",
                color="white" if abs(float(norm(estimate.value)) - 0.5) > 0.3 else "black",
            )
        axes.set_xticks(range(len(columns)), short_names(columns), rotation=35, ha="left", rotation_mode="anchor")
        axes.xaxis.tick_top()
        axes.set_yticks(range(len(rows)), short_names(rows))
        axes.tick_params(length=0)
        axes.set_xticks(np.arange(len(columns) - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(len(rows) - 1) + 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=2)
        axes.tick_params(which="minor", length=0)
        axes.spines[:].set_visible(False)
        word = "more" if points_sign > 0 else "fewer"
        for line, text in enumerate(
            (
                title,
                f"the row's agent among copies of the column's: points per {unit} less theirs ± half the 95 % interval",
                f"purple: better, {word} points than the others · orange: worse",
            )
        ):
            height_of_line = 1 - (0.25 + 0.24 * line) / size[1]
            figure.text(0.1 / size[0], height_of_line, text, fontsize=8.5 if line else 11, va="center")
    return figure


def learning_curve(metrics: Sequence[Mapping[str, float]], *, points_sign: int, num_seats: int, title: str) -> Figure:
    """Draw a run's strength against each table, and its loss, over the decisions it has learned from.

    Args:
        metrics: a line for each iteration, as metrics.jsonl has them; `against_NAME` and `wins_NAME` stand in some.
        points_sign: +1 if many points are good, -1 if few are.
        num_seats: P; an equal share of the wins is 1 / P.
        title: the heading.
    """
    tables = list(dict.fromkeys(name[8:] for line in metrics for name in line if name.startswith("against_")))
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(7.5, 6.5), layout="constrained")
        points, wins, loss = figure.subplots(3, 1, sharex=True, height_ratios=(2, 2, 1))
        for axes, prefix, equal in ((points, "against", 0), (wins, "wins", 100 / num_seats)):
            for name, colour, marker in zip(tables, (BLUE, ORANGE, SKY, GREY), "oDsv", strict=False):
                key = f"{prefix}_{name}"
                measured = [(line["decisions"] / 1e6, line[key]) for line in metrics if key in line]
                millions, values = zip(*measured, strict=True) if measured else ((), ())
                shown = [100 * value for value in values] if axes is wins else values
                axes.plot(millions, shown, color=colour, marker=marker, label=f"at a table of {name}")
            axes.axhline(equal, color="black", linewidth=0.8, zorder=0)
        points.set_ylabel(f"points less the others'\n({'more' if points_sign > 0 else 'fewer'} is better)")
        wins.set_ylabel("matches won, %\n(line: an equal share)")
        if tables:
            points.legend(frameon=False)
        loss.plot([line["decisions"] / 1e6 for line in metrics], [line["loss"] for line in metrics], color=GREY)
        loss.set_ylabel("loss")
        loss.set_xlabel("million decisions")
        for axes in (points, wins, loss):
            axes.grid(color="0.9")
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
        figure.suptitle(title, fontsize=11)
    return figure


def speeds(report: Mapping[str, Any]) -> Figure:
    """Draw a benchmark's moves per second of processor time as bars: the best of the repeats, a tick at the median."""
    found = report["speeds"]
    names = list(dict.fromkeys(speed["name"] for speed in found))
    colours = dict(zip(names, (BLUE, SKY, ORANGE), strict=False))
    labels = [f"{speed['name']}, batch {speed['batch']:,}" for speed in found]
    left = 0.4 + _INCH_A_CHARACTER * max(map(len, labels))
    size = (left + 5.6, 1.6 + 0.3 * len(found))
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size)
        axes = figure.add_axes((left / size[0], 0.6 / size[1], 4.3 / size[0], 1 - 1.4 / size[1]))
        for height, speed in enumerate(found):
            best, middle = speed["cpu"]["best"], speed["cpu"]["median"]
            axes.barh(height, best, height=0.7, color=colours[speed["name"]])
            axes.plot([middle, middle], [height - 0.35, height + 0.35], color="black", linewidth=1.5)
            text = f"{best / 1e6:.1f} million" if best >= 1e6 else f"{best / 1e3:.1f} thousand"
            axes.text(1.02, height, text, transform=axes.get_yaxis_transform(), va="center", fontsize=9)
        axes.set_xscale("log")
        slowest = min(speed["cpu"]["median"] for speed in found)
        axes.set_xlim(10.0 ** math.floor(math.log10(slowest)))
        axes.set_yticks(range(len(found)), labels)
        axes.set_ylim(len(found) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="0.9")
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.set_xlabel("moves per second of processor time")
        about, config = report["manifest"], report["config"]
        heading = " ".join((config["game"], *config["options"]))
        load = f"load {report['load']['before']:.1f} to {report['load']['after']:.1f}"
        machine = f"{about['processor']}, numpy {about['versions']['numpy']}, {load}"
        figure.text(0.1 / size[0], 1 - 0.25 / size[1], heading, fontsize=11, va="center")
        text = f"{machine} · bar: best of {config['repeats']} repeats, tick: median"
        figure.text(0.1 / size[0], 1 - 0.5 / size[1], text, fontsize=8.5, va="center")
    return figure


def _signed(number: float) -> str:
    return f"{number:+.2f}".replace("-", "−")


def _differs(estimate: Estimate) -> bool:
    return bool(estimate.value or estimate.low or estimate.high)


def short_names(names: Sequence[str]) -> list[str]:
    """Return names by their ends where they are long, if they can be told apart so."""
    short = []
    for name in names:
        end = name[1 - LONGEST_NAME :]
        short.append(name if len(name) <= LONGEST_NAME else "…" + end[max(end.find("/"), 0) :])
    return short if len(set(short)) == len(set(names)) else list(names)
