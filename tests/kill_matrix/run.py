"""Plant a fault into a copy of the project and run the suites on it, each in a process of its own."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from tests.kill_matrix.fault import Fault
from tests.kill_matrix.faults import FAULTS
from tests.kill_matrix.suites import SUITES, subjects_of

HERE = Path(__file__).parents[2]
COPIED = ("poison_env", "tests/kill_matrix", "tests/reference")
LIMIT = 900  # seconds for the suites of a fault: on an idle machine those that pass take a fiftieth of it
UNHOOKED, HOOKED = "ours, no hooks", "ours, hooks"


class Verdict(NamedTuple):
    """What a suite said of a fault."""

    killed: bool
    why: str  # by what, or empty


Row = dict[str, Verdict | None]  # by suite; None where it cannot check what the fault is in


def can_check(suite: str, fault: Fault) -> bool:
    """Return whether a suite takes any of the environments that a fault is in."""
    return bool(set(SUITES[suite][1]) & set(subjects_of(fault.file)))


def plant(fault: Fault, place: Path) -> None:
    """Copy the project and put the fault in it."""
    for name in COPIED:
        shutil.copytree(HERE / name, place / name)  # with the compiled modules: they are still right, save one
    path = place / fault.file
    text = path.read_text(encoding="utf-8")
    assert text.count(fault.old) == 1, fault.name
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")


def judge(suites: Sequence[str], subjects: Sequence[str], place: Path) -> dict[str, Verdict]:
    """Run suites one after the other in a copy of the project."""
    verdicts: dict[str, Verdict] = {}
    while waiting := [suite for suite in suites if suite not in verdicts]:
        lines, error = _work([",".join(subjects), *waiting], place)
        verdicts |= {
            suite: Verdict(why is not None, why or "")
            for suite, why in zip(waiting, map(json.loads, lines), strict=False)
        }
        if error:
            raise RuntimeError(f"the worker failed on {', '.join(subjects)}\n{error}")
        if len(lines) < len(waiting):
            verdicts[waiting[len(lines)]] = Verdict(True, f"not done after {LIMIT} s")
    return verdicts


def _work(arguments: Sequence[str], place: Path) -> tuple[list[str], str]:
    """Return the lines that a worker writes until it is done, or its time is over, and its error."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    command = [sys.executable, "-W", "ignore", "-m", "tests.kill_matrix.worker", *arguments]
    with subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            output, error = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0].splitlines(), ""
        return output.splitlines(), error if process.returncode else ""


def judge_fault(fault: Fault, suites: Sequence[str] = tuple(SUITES)) -> Row:
    """Plant a fault and run the suites that can check what it is in.

    Our checks that need no hook find the same with hooks: what they kill is not run again.
    """
    able = [suite for suite in suites if can_check(suite, fault)]
    with tempfile.TemporaryDirectory(prefix="kill_matrix_") as folder:
        place, subjects = Path(folder).resolve(), subjects_of(fault.file)
        plant(fault, place)
        first = [suite for suite in able if suite != HOOKED]
        row = judge(first, subjects, place) if first else {}
        if HOOKED in able:
            unhooked = row.get(UNHOOKED)
            row[HOOKED] = unhooked if unhooked and unhooked.killed else judge([HOOKED], subjects, place)[HOOKED]
    return {suite: row.get(suite) for suite in suites}


def judge_all(jobs: int, names: Sequence[str] = tuple(FAULTS), *, journal: Path | None = None) -> dict[str, Row]:
    """Judge faults, some at a time, with progress.

    Args:
        jobs: how many at a time.
        names: which faults.
        journal: where verdicts are kept as they come, and taken from if nothing that they depend on has changed.
    """
    keys = {name: _key(FAULTS[name]) for name in names}
    known = _read(journal) if journal else {}
    rows = {name: known[key] for name, key in keys.items() if key in known}
    with ThreadPoolExecutor(jobs) as pool, tqdm(total=len(names), initial=len(rows), unit="fault") as progress:
        waiting = {pool.submit(judge_fault, FAULTS[name]): name for name in names if name not in rows}
        try:
            for done in as_completed(waiting):
                name = waiting[done]
                rows[name] = done.result()
                if journal:
                    journal.parent.mkdir(parents=True, exist_ok=True)
                    with journal.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([keys[name], rows[name]]) + "\n")
                progress.update()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return {name: rows[name] for name in names}


def _key(fault: Fault) -> str:
    """Return a hash of a fault and of all that its verdicts depend on."""
    parts = [json.dumps(fault), *sorted(map(repr, _sources().items()))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@lru_cache(maxsize=1)
def _sources() -> dict[str, str]:
    files = [path for name in COPIED for path in (HERE / name).rglob("*.py")]
    own = HERE / "tests" / "kill_matrix"  # of its files, those that a worker runs
    kept = [path for path in files if path.parent != own or path.stem in ("foreign", "hooks", "suites", "worker")]
    return {str(path.relative_to(HERE)): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}


def _read(journal: Path) -> dict[str, Row]:
    lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
    return {
        key: {suite: Verdict(*verdict) if verdict else None for suite, verdict in row.items()}
        for key, row in map(json.loads, lines)
    }
