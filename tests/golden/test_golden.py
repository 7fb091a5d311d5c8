"""Golden playthroughs: the same version, seed and actions give what they always gave."""

import json
import re
from pathlib import Path

import pytest

from poison_env.core.errors import PoisonEnvError
from tests.golden.records import CASES, COMMAND, HERE, replay

RECORDS = sorted(HERE.glob("*.txt"))
WHAT_NOW = (
    "the same seed and actions give another state, mask, observation or reward than when this version was fixed. "
    "If that is meant, the version must rise (poison-v0 to poison-v1, say so in CHANGELOG.md); "
    f"then write the records anew with `{COMMAND}`."
)


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_recorded_match_gives_what_it_always_gave(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    try:
        now = replay(text)
    except PoisonEnvError as error:
        pytest.fail(f"{path.name}: {error}\n{WHAT_NOW}")
    assert text == now, f"{path.name}: {WHAT_NOW}"


def test_there_is_a_record_of_every_case() -> None:
    assert {path.stem for path in RECORDS} == set(CASES)


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_is_a_whole_match_of_its_case(path: Path) -> None:
    lines = dict(line.split(" ", 1) for line in path.read_text(encoding="utf-8").splitlines())
    options, seed = CASES[path.stem]
    assert options.items() <= json.loads(lines["options"]).items()
    assert (int(lines["seed"]), lines["over"]) == (seed, "yes")


def is_noticed(text: str) -> bool:
    """Tell whether a record is refused, or not what the rules give."""
    try:
        return replay(text) != text
    except PoisonEnvError:
        return True


@pytest.mark.parametrize(
    ("pattern", "other"),
    [
        (r"points \d+", "points 99"),
        (r"places \d", "places 9"),
        (r"returns \S+", "returns -99"),
        (r"digest \w", "digest x"),
        (r"seed \d+", "seed 12345"),
        (r"(moves \S+) \S+", r"\1 R1>1*"),
        (r" \S+\nover yes", "\nover yes"),
        ("hands4", "all"),
        ('"perfect"', '"none"'),
    ],
)
def test_a_change_is_noticed(pattern: str, other: str) -> None:
    text = (HERE / "small_2_aside.txt").read_text(encoding="utf-8")
    changed, count = re.subn(pattern, other, text, count=1)
    assert count == 1
    assert not is_noticed(text)
    assert is_noticed(changed)
