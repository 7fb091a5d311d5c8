"""Our conformance suite kills the faults it should and finds nothing where there is none, and the document is true."""

import re

import pytest

from tests.kill_matrix import document, run
from tests.kill_matrix.fault import FOREIGN, Fault
from tests.kill_matrix.faults import FAULTS, SURVIVORS
from tests.kill_matrix.suites import SUBJECTS, SUITES, Killed, ours_with_hooks, ours_without_hooks

QUICK = [  # one for each adapter and the rules
    "foreign: a tie is a majority",
    "aec: truncations are NumPy's",
    "vector: the last reward is lost",
    "table: what is earned on others' moves is dropped",
    "single: the mask forbids legal moves",
]


@pytest.mark.parametrize("name", FAULTS)
def test_a_faults_text_stands_once(name):
    fault = FAULTS[name]
    text = (run.HERE / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    assert fault.old != fault.new
    compile(text.replace(fault.old, fault.new), fault.file, "exec")


def test_there_are_faults_enough_and_each_is_another():
    assert len(FAULTS) >= 55
    assert len({(fault.file, fault.old, fault.new) for fault in FAULTS.values()}) == len(FAULTS)
    assert set(SURVIVORS) <= set(FAULTS)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_ours_finds_nothing_in_clean_environments(subject):
    if subject != "solo":  # which has no checks of its own
        ours_without_hooks(subject)
    ours_with_hooks(subject)


@pytest.mark.parametrize("name", QUICK)
def test_a_fault_is_killed(name):
    row = run.judge_fault(FAULTS[name], [run.UNHOOKED, run.HOOKED])
    assert row[run.HOOKED].killed


def test_a_fault_that_is_none_survives_and_a_suite_that_hangs_has_killed(monkeypatch):
    harmless = Fault("none", "harmless", FOREIGN, "CAULDRONS, LIMIT = 4, 2, 13", "CAULDRONS, LIMIT = 4, 2, 12 + 1")
    assert not run.judge_fault(harmless, ["PettingZoo"])["PettingZoo"].killed
    monkeypatch.setattr(run, "LIMIT", 0.01)
    assert run.judge_fault(FAULTS[QUICK[0]], ["PettingZoo"])["PettingZoo"].killed


def test_the_document_lists_every_fault():
    text = document.DOCUMENT.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ", text[text.index("## The matrix") :], re.MULTILINE)[
        1:
    ]  # without the head
    assert sorted(rows) == sorted((fault.what, document.place_of(fault)) for fault in FAULTS.values())


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_passes_on_clean_environments(suite):
    check, subjects = SUITES[suite]
    for subject in subjects:
        try:
            check(subject)
        except Killed as found:
            pytest.fail(f"{suite} on {subject}: {found}")


@pytest.mark.slow
def test_the_rates_are_as_documented_and_ours_kills_what_it_should():
    rows = run.judge_all(2)
    text = document.DOCUMENT.read_text(encoding="utf-8")
    assert document.rates_table(rows) in text
    assert document.kinds_table(rows) in text
    alive = {name for name, killed in document.judged(rows, run.HOOKED).items() if not killed}
    assert alive == set(SURVIVORS)
    assert len(alive) <= 0.05 * len(rows)
