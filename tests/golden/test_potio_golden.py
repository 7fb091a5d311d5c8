"""Golden playthroughs of Potio: the same version, seed and actions give what they always gave."""

import contextlib
import re

import pytest

from poison_env.core.errors import PoisonEnvError
from tests.golden.potio_records import CASES, HERE, replay

RECORDS = sorted(HERE.glob("*.txt"))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_recorded_match_of_potio_gives_what_it_always_gave(path):
    text = path.read_text(encoding="utf-8")
    assert text == replay(text), "a new version is due; then `python -m tests.golden.potio_records`"


def test_there_is_a_whole_match_of_every_case_of_potio():
    assert {path.stem for path in RECORDS} == set(CASES)
    assert all("over yes" in path.read_text(encoding="utf-8") for path in RECORDS)


@pytest.mark.parametrize("pattern", [r"points \d+", r"places \d", r"returns \d", r"digest \w", r"seed \d+"])
def test_a_change_in_a_record_of_potio_is_noticed(pattern):
    text = (HERE / "small_2_other_rules.txt").read_text(encoding="utf-8")
    changed = re.sub(pattern, pattern.split(" ")[0] + " 7777", text, count=1)
    assert changed != text
    with contextlib.suppress(PoisonEnvError):  # or the moves are not legal any more
        assert replay(changed) != changed
