"""Run suites in a copy of the project: `python -m tests.kill_matrix.worker aec,game SUITE ...`.

For each suite one line as JSON as soon as it is done: null, or by what the suite kills.
"""

import contextlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

MOST = 300  # characters of a message


def main() -> None:
    """Run each suite on the subjects that it takes until it finds something."""
    import poison_env
    from tests.kill_matrix import foreign, suites

    for module in (poison_env, foreign):  # not the project that is installed
        assert Path.cwd() in Path(str(module.__file__)).resolve().parents, module.__file__
    for suite in sys.argv[2:]:
        run, able = suites.SUITES[suite]
        found = (try_suite(run, subject) for subject in sys.argv[1].split(",") if subject in able)
        print(json.dumps(next((why for why in found if why is not None), None)), flush=True)


def try_suite(run: Callable[[str], None], subject: str) -> str | None:
    """Return by what the suite kills, or None."""
    from tests.kill_matrix.suites import Killed

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
