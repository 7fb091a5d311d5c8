"""Run all suites on all faults and write docs/kill_matrix.md: `python -m tests.kill_matrix.regenerate`.

Takes some twenty minutes on two cores. What is done is kept in `runs/kill_matrix.jsonl` until the end: stopped, it goes
on where it was, unless a file that is copied has changed since.
"""

import argparse
import os

from tests.kill_matrix import document, run
from tests.kill_matrix.faults import FAULTS


def main() -> None:
    """Judge every fault that is not judged yet, then write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="faults at a time")
    given = parser.parse_args()
    rows = run.judge_all(given.jobs, journal=run.HERE / "runs" / "kill_matrix.jsonl")
    document.write({name: rows[name] for name in FAULTS})
    print(document.rates_table(rows))
    print(document.DOCUMENT)


if __name__ == "__main__":
    main()
