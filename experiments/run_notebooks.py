"""Run notebooks from first cell to last and fail on any error: `python -m experiments.run_notebooks [FILE ...]`.

A notebook is run in a temporary copy of its folder, so that nothing it writes lands beside it. One that is stored with
outputs or execution counts is refused: they would go stale unseen, and every run would show up as a change.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


class NotebookError(Exception):
    """A notebook is not fit to be stored, or did not run to its end."""


def check_stored_clean(path: Path) -> None:
    """Refuse a notebook that is stored with results.

    Raises:
        NotebookError: a cell has outputs or an execution count; the message names the first such cell.
    """
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells, start=1):
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            raise NotebookError(f"{path.name}: cell {number} is stored with its results; clear all outputs and save")


def run_notebook(path: Path, timeout: float) -> None:
    """Run a notebook in a temporary copy of its folder.

    Args:
        timeout: seconds that one cell may take.

    Raises:
        NotebookError: a cell failed or took too long; the message holds the cell and its traceback.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(path.parent, Path(folder) / path.parent.name)) / path.name
        client = NotebookClient(
            nbformat.read(copy, as_version=4),
            timeout=timeout,
            kernel_name="python3",
            startup_timeout=120,
            resources={"metadata": {"path": str(copy.parent)}},
        )
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise NotebookError(f"{path.name}: {error}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the notebooks named on the command line, or all there are, and return how many failed."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.run_notebooks", description="Run notebooks from first cell to last."
    )
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="FILE", help="default: all in notebooks/")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds a cell may take (default: %(default)g)")
    options = parser.parse_args(arguments)
    paths = options.notebooks or sorted(NOTEBOOKS.glob("*.ipynb"))
    if not paths:
        parser.error(f"no notebooks in {NOTEBOOKS}")
    failed = 0
    for path in paths:
        start = time.perf_counter()
        try:
            check_stored_clean(path)
            run_notebook(path, options.timeout)
        except NotebookError as error:
            print(f"failed: {error}", file=sys.stderr)
            failed += 1
        else:
            print(f"ran {path.name} in {time.perf_counter() - start:.1f} s")
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
