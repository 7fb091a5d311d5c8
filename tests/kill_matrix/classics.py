"""What check_aec finds in PettingZoo's classic games: `python -m tests.kill_matrix.classics` writes docs/classics.md.

Needs `pip install "pettingzoo[classic]"`; games whose modules are not there are left out and named.
"""

import importlib
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from poison_env.testing import Finding, check_aec

DOCUMENT = Path(__file__).parents[2] / "docs" / "classics.md"
LONG = ("legality", "life cycle", "deepcopy", "pickle")  # replay whole games often: left out where games are long
LIMIT = 300  # characters of an output


class Classic(NamedTuple):
    """A game and how it is checked."""

    module: str
    options: str = ""  # of its `env`, as text
    episodes: int = 3
    skip: tuple[str, ...] = ()


GAMES = (
    Classic("tictactoe_v3"),
    Classic("connect_four_v3"),
    Classic("rps_v2"),
    Classic("leduc_holdem_v4"),
    Classic("texas_holdem_v4"),
    Classic("texas_holdem_no_limit_v6"),
    Classic("hanabi_v5"),
    Classic("go_v5", "board_size=5", 1),
    Classic("chess_v6", "", 1, LONG),
)
MASKS = """print(env.agent_selection, "is asked; finished:", env.terminations)
print({agent: env.observe(agent)["action_mask"].sum() for agent in env.agents}, "actions allowed")"""
WRITING = """env = make()
env.reset(seed=0)
mask = env.last()[0]["action_mask"]
action = int(mask.argmax())  # legal
mask[:] = 1 - mask  # a learner writes into what it was given
env.step(action)
print(env.terminations, env.rewards)"""
SHARING = """env = make()
env.reset(seed=0)
first, second = env.last()[0], env.observe(env.agent_selection)
print({name: np.shares_memory(first[name], second[name]) for name in first})"""
SEQUENCE = """shown = []
for _ in range(3):
    env = make()
    env.reset(seed=0)  # from here on everything is a function of the seed
    env.reset()
    shown.append(env.observe(env.agent_selection)["observation"])
print([np.array_equal(shown[0], other) for other in shown])"""
COPY = """env = make()
env.reset(seed=0)
twin = {copy}
try:
    print(twin.last())
except AttributeError as error:
    print("AttributeError:", error)"""


def program(game: Classic, finding: Finding) -> str:
    """Return a short program that shows a finding."""
    shown = {
        "deepcopy": COPY.format(copy="copy.deepcopy(env)"),
        "pickle": COPY.format(copy="pickle.loads(pickle.dumps(env))"),
        "masks": f"{finding.reproduce}\n{MASKS}",
        "seeding": SEQUENCE,
        "aliasing": WRITING if "writing into" in finding.what else SHARING,
    }.get(finding.check, finding.reproduce)
    used = [name for name in ("copy", "pickle") if f"{name}." in shown]
    head = [f"import {name}" for name in used] + ([""] if used else [])
    head += ["import numpy as np"] if "np." in shown else []
    head += [f"from pettingzoo.classic import {game.module}", ""]
    text = shown.replace("make()", f"{game.module}.env({game.options})")
    return "\n".join([*head, text])


def run(code: str) -> str:
    """Return what a program prints, or the last line of its error."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False, env=_environment()
    )
    text = done.stdout if not done.returncode else done.stdout + done.stderr.strip().splitlines()[-1]
    return text.strip()[:LIMIT]


def section(game: Classic) -> str:
    """Check a game; return its section of the document."""
    title = f"## {game.module}\n\n"
    try:
        module: Any = importlib.import_module(f"pettingzoo.classic.{game.module}")
    except ImportError as error:
        return f"{title}Not checked: {error}.\n"
    options = eval(f"dict({game.options})")
    report = check_aec(
        lambda: module.env(**options), name="make", episodes=game.episodes, max_steps=3000, skip=game.skip
    )
    lines = [f"{len(report.findings)} findings in {len(report.checks)} checks ({', '.join(report.checks)})."]
    told: set[str] = set()
    for finding in report.findings:
        code = program(game, finding)
        alike = re.sub(r"\b\w+_\d\b", "", f"{finding.check} {finding.what}")  # the same of another agent
        kind = SHARING if finding.check == "aliasing" and "share memory" in finding.what else alike
        if kind not in told:
            told.add(kind)
            what = finding.what.replace("make", f"{game.module}.env")
            lines += ["", f"**{finding.check}**: {what}", "", "```py", code, "```", "", "```text", run(code), "```"]
    return title + "\n".join(lines) + "\n"


def main() -> None:
    """Check all games and write the document."""
    os.environ |= _environment()
    sections = [section(game) for game in tqdm(GAMES, unit="game")]
    text = f"""# PettingZoo's classic games before check_aec

What `poison_env.testing.check_aec` finds, without hooks, in the classic games of PettingZoo {version("pettingzoo")}.
Each finding has a short program that shows it, and what the program prints (`pip install "pettingzoo[classic]"`). Made
by `python -m tests.kill_matrix.classics`.

Three of the findings have one cause each in many games. PettingZoo's `TerminateIllegalWrapper` judges a move by the
mask in the very observation that it handed out, so a learner that writes into it changes what is legal. The games
rebuild themselves when they are copied or pickled (`EzPickle` keeps the arguments of the constructor alone), so a copy
has no match. And masks of agents that are not to move, or have finished, are not empty: PettingZoo's documents leave
that open, our contract does not.

{chr(10).join(sections)}"""
    DOCUMENT.write_text(text, encoding="utf-8", newline="\n")
    print(DOCUMENT)


def _environment() -> dict[str, str]:
    return {**os.environ, "SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}


if __name__ == "__main__":
    main()
