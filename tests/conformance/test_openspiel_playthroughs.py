"""Playthroughs: a recorded match shows in OpenSpiel what it always showed."""

import pytest
from open_spiel.python.algorithms import generate_playthrough

import tests.conformance.openspiel_support  # noqa: F401  # it parses the flags that replaying reads
from tests.conformance.playthroughs.regenerate import CASES, COMMAND, HERE


@pytest.mark.parametrize("name", CASES)
def test_a_playthrough_shows_what_it_always_showed(name: str) -> None:
    expected, actual = generate_playthrough.replay(str(HERE / f"{name}.txt"))
    told = f"{name}: if the change is meant, write them anew with `{COMMAND}` and say so in CHANGELOG.md"
    assert expected.splitlines() == actual.splitlines(), told


def test_every_playthrough_is_a_case() -> None:
    assert {path.stem for path in HERE.glob("*.txt")} == {*CASES}


@pytest.mark.parametrize("name", CASES)
def test_a_playthrough_is_a_whole_match(name: str) -> None:
    text = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    assert text.startswith(f"game: {CASES[name][0]}\n")
    assert text.count("IsTerminal() = True") == 1
