"""docs/kill_matrix.md and its picture, from the verdicts."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from tests.kill_matrix.fault import Fault
from tests.kill_matrix.faults import FAULTS, SURVIVORS
from tests.kill_matrix.run import HERE, HOOKED, UNHOOKED, Row
from tests.kill_matrix.suites import SUITES

DOCUMENT, PICTURE = HERE / "docs" / "kill_matrix.md", HERE / "docs" / "kill_matrix.svg"
PUBLIC = tuple(suite for suite in SUITES if suite not in (UNHOOKED, HOOKED))
ANY_PUBLIC = "any public one"
LONGEST = 90  # characters of a message in the matrix


def judged(rows: Mapping[str, Row], suite: str) -> dict[str, bool]:
    """Return by fault whether a suite kills it, where it can check what the fault is in."""
    if suite == ANY_PUBLIC:
        every = [judged(rows, one) for one in PUBLIC]
        return {name: any(one.get(name, False) for one in every) for name in rows if any(name in one for one in every)}
    return {name: verdict.killed for name, row in rows.items() if (verdict := row[suite]) is not None}


def rate(rows: Mapping[str, Row], suite: str, names: set[str] | None = None) -> str:
    """Return "killed of judged"; a dash where nothing was judged."""
    found = [killed for name, killed in judged(rows, suite).items() if names is None or name in names]
    return f"{sum(found)} of {len(found)}" if found else "–"


def rates_table(rows: Mapping[str, Row]) -> str:
    """Return the rates by suite: of the faults that it can check, and on the same faults what ours kills."""
    lines = ["| suite | kills | | ours with hooks, on the same faults |", "|---|---|---|---|"]
    for suite in (*PUBLIC, ANY_PUBLIC, UNHOOKED, HOOKED):
        found = judged(rows, suite)
        share = f"{sum(found.values()) / len(found):.0%}" if found else ""
        lines.append(f"| {suite} | {rate(rows, suite)} | {share} | {rate(rows, HOOKED, set(found))} |")
    return "\n".join(lines)


def kinds_table(rows: Mapping[str, Row]) -> str:
    """Return the rates by kind of fault."""
    columns = (*PUBLIC, UNHOOKED, HOOKED)
    lines = [f"| kind | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for kind in dict.fromkeys(FAULTS[name].kind for name in rows):
        names = {name for name in rows if FAULTS[name].kind == kind}
        lines.append(f"| {kind} | {' | '.join(rate(rows, suite, names) for suite in columns)} |")
    return "\n".join(lines)


def matrix(rows: Mapping[str, Row]) -> str:
    """Return the matrix: a row for each fault."""
    columns = (*PUBLIC, UNHOOKED, HOOKED)
    lines = [f"| fault | where | {' | '.join(columns)} | by |", "|---" * (len(columns) + 3) + "|"]
    for name, row in sorted(rows.items(), key=lambda item: (FAULTS[item[0]].kind, FAULTS[item[0]].what)):
        fault = FAULTS[name]
        verdicts = [row[suite] for suite in columns]
        cells = ["" if verdict is None else "killed" if verdict.killed else "**survives**" for verdict in verdicts]
        reasons = {suite: verdict.why for suite, verdict in row.items() if verdict is not None and verdict.killed}
        shown = reasons.get(UNHOOKED) or reasons.get(HOOKED) or next(iter(reasons.values()), "")
        lines.append(f"| {fault.what} | {place_of(fault)} | {' | '.join(cells)} | {_short(shown)} |")
    return "\n".join(lines)


def survivors(rows: Mapping[str, Row]) -> str:
    """Return what ours with hooks does not kill, and why."""
    names = [name for name, killed in judged(rows, HOOKED).items() if not killed]
    reasons = [f"- **{name}**: {SURVIVORS.get(name, 'no reason is known.')}" for name in names]
    return "\n".join(reasons) or "Nothing."


def write(rows: Mapping[str, Row]) -> None:
    """Write document and picture."""
    versions = {name: version(name) for name in ("pettingzoo", "gymnasium", "stable-baselines3", "numpy")}
    places = len({fault.file for fault in FAULTS.values()})
    text = f"""# Which suite kills which fault

A checker is worth what it finds. Here {len(rows)} faults, each one text put in place of another, are planted one by one
into {places} clean files: the PettingZoo environment, the environments of one learner and the rules of this package,
and a [foreign PettingZoo environment](../tests/kill_matrix/foreign.py) that shares nothing with them. Then the public
suites and `poison_env.testing` are run on each. The faults are of the kinds that programs of this field have had:
wrong seeds, masks, rewards, life cycles, leaks of hidden cards, copies that share, rules that are off by one.

The suites are: `api_test`, `seed_test`, `render_test`, `state_test`, `parallel_api_test` and `parallel_seed_test` of
PettingZoo; `check_env` of Gymnasium; `check_env` of Stable-Baselines3; `check_aec`, `check_vector` and `check_game` of
`poison_env.testing`, without hooks and with them (an independent referee, re-dealing of hidden cards, what is
conserved, the scalar environment, the learner's true returns). The public ones get every chance: several seat counts
and forms of observation, rendering on, legal actions where they would sample illegal ones, and each warning beyond
those that a clean environment gets counts as a kill. All suites pass on the clean environments. A suite is judged on
the faults in what it can check: no public suite takes a vector environment. A suite that is not done in a quarter of
an hour has killed.

Made by `python -m tests.kill_matrix.regenerate` with Python {platform.python_version()},
{", ".join(f"{name} {number}" for name, number in versions.items())}.

## Rates

{rates_table(rows)}

![kills by suite](kill_matrix.svg)

{kinds_table(rows)}

## What ours with hooks does not kill

{survivors(rows)}

## The matrix

An empty cell: the suite cannot check what the fault is in. "By" says what ours reports first, the check before the
colon, or else what a public suite does.

{matrix(rows)}
"""
    DOCUMENT.write_text(text, encoding="utf-8", newline="\n")
    draw(rows, PICTURE)


def draw(rows: Mapping[str, Row], path: Path) -> None:
    """Draw the rates as SVG."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "kill matrix", "svg.fonttype": "none", "font.size": 10}
    from matplotlib import pyplot as plt

    names = (*PUBLIC, UNHOOKED, HOOKED)[::-1]
    figure, axes = plt.subplots(figsize=(7, 2.4), layout="constrained")
    for place, suite in enumerate(names):
        found = judged(rows, suite)
        share = sum(found.values()) / max(len(found), 1)
        axes.barh(place, 1, color="#e8e8e8")
        axes.barh(place, share, color="#3b6ea5" if suite in (UNHOOKED, HOOKED) else "#9a9a9a")
        axes.text(1.02, place, f"{rate(rows, suite)}", va="center")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(0, 1.2)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_title("faults killed, of those in what a suite can check", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def place_of(fault: Fault) -> str:
    """Return a file as the matrix names it."""
    return fault.file.removeprefix("poison_env/").removeprefix("tests/kill_matrix/").removesuffix(".py")


def _short(message: str) -> str:
    line = " ".join(message.split()).replace("|", "/").replace("\x1b[33m", "").replace("\x1b[0m", "")
    escaped = line.replace("*", r"\*").replace("_", r"\_").replace("[", r"\[").replace("<", r"\<")
    return escaped if len(line) <= LONGEST else escaped[:LONGEST].rstrip("\\") + " …"
