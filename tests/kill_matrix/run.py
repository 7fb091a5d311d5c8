"""Plant a fault into a copy of the project and run the suites on it, each in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from tests.kill_matrix.fault import Fault
from tests.kill_matrix.faults import FAULTS
from tests.kill_matrix.suites import SUITES, subjects_of

HERE = Path(__file__).parents[2]
COPIED = ("poison_env", "tests/kill_matrix", "tests/reference")
LIMIT = 240  # seconds for a suite; on the clean environments none takes a tenth of it on an idle machine


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


def judge(suite: str, subjects: Sequence[str], place: Path) -> Verdict:
    """Run a suite in a copy of the project."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    command = [sys.executable, "-W", "ignore", "-m", "tests.kill_matrix.worker", suite, *subjects]
    try:
        done = subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return Verdict(True, f"does not end within {LIMIT} s")
    if done.returncode:
        raise RuntimeError(f"{suite} on {', '.join(subjects)}: the worker failed\n{done.stderr}")
    why = json.loads(done.stdout.splitlines()[-1])
    return Verdict(why is not None, why or "")


def judge_fault(fault: Fault, suites: Sequence[str] = tuple(SUITES)) -> Row:
    """Plant a fault and run the suites that can check what it is in."""
    with tempfile.TemporaryDirectory(prefix="kill_matrix_") as folder:
        place = Path(folder).resolve()
        plant(fault, place)
        subjects = subjects_of(fault.file)
        return {suite: judge(suite, subjects, place) if can_check(suite, fault) else None for suite in suites}


def judge_all(jobs: int, names: Sequence[str] = tuple(FAULTS)) -> dict[str, Row]:
    """Judge faults, some at a time, with progress."""
    rows: dict[str, Row] = {}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(judge_fault, FAULTS[name]): name for name in names}
        with tqdm(total=len(names), unit="fault", smoothing=0) as progress:
            for done in as_completed(waiting):
                rows[waiting[done]] = done.result()
                progress.update()
    return {name: rows[name] for name in names}
