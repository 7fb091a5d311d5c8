"""Run one suite in a copy of the project: `python -m tests.kill_matrix.worker SUITE`, subjects after it.

The last line of its output is the verdict as JSON: null, or by what the suite kills.
"""

import contextlib
import io
import json
import sys
from pathlib import Path

MOST = 300  # characters of a message


def main() -> None:
    """Run the suite on each subject until it finds something."""
    import poison_env
    from tests.kill_matrix import foreign, suites

    for module in (poison_env, foreign):  # not the project that is installed
        assert Path.cwd() in Path(str(module.__file__)).resolve().parents, module.__file__
    run, able = suites.SUITES[sys.argv[1]]
    verdict = None
    for subject in sys.argv[2:]:
        if subject in able and verdict is None:
            verdict = try_suite(run, subject)
    print(json.dumps(verdict))


def try_suite(run: object, subject: str) -> str | None:
    """Return by what the suite kills, or None."""
    from tests.kill_matrix.suites import Killed

    assert callable(run)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run(subject)
    except Killed as found:
        return str(found)[:MOST]
    except Exception as error:  # whatever a suite raises is a finding
        return f"{type(error).__name__}: {error}"[:MOST]
    return None


if __name__ == "__main__":
    main()
