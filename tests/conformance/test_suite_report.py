"""What the conformance suite says: reports as text, JSON and JUnit; its command line; its plug-in for pytest."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from poison_env import poison_v0
from poison_env.adapters.aec import MatchEnv
from poison_env.adapters.vector import SoloVectorEnv
from poison_env.core.errors import PoisonEnvError
from poison_env.games.poison import Poison
from poison_env.testing import check_aec, check_game, check_vector, command
from poison_env.testing.compare import difference, snapshot
from tests.conformance.relay import Relay


class Leaky(poison_v0.MatchEnv):
    """Gives back its own mask array, and lets the last seat's rewards be lost."""

    def observe(self, agent):
        return super().observe(agent) | {
            "action_mask": self._mask if agent == self.agent_selection else self._no_action
        }


def leaky(**options):
    return Leaky(poison_v0.env(num_rounds=1, **options).game)


def test_a_finding_says_what_where_and_how_to_see_it_again():
    report = check_aec(leaky, seats=[3], episodes=1, name="leaky")
    assert not report.ok
    assert {finding.check for finding in report.findings} == {"aliasing"}
    finding = report.findings[0]
    assert "share memory" in finding.what
    assert finding.where.startswith("leaky(num_seats=3), move")
    assert finding.reproduce.splitlines()[:2] == ["env = leaky(num_seats=3)", "env.reset(seed=0)"]
    exec_env = {"leaky": leaky}
    exec(finding.reproduce, exec_env)
    env = exec_env["env"]
    assert np.shares_memory(env.observe(env.agent_selection)["action_mask"], env.last()[0]["action_mask"])


def test_a_report_is_text_json_and_junit():
    report = check_aec(leaky, seats=[3], episodes=1, name="leaky")
    assert str(report).startswith("leaky: 3 findings in 11 checks")
    whole = json.loads(report.to_json())
    assert whole["ok"] is False
    assert [finding["check"] for finding in whole["findings"]] == ["aliasing"] * 3
    assert whole["skipped"] == report.skipped
    suite = ElementTree.fromstring(report.to_junit())
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("14", "1", "3")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["aliasing"]


@pytest.mark.parametrize("check", [check_aec, check_vector, check_game])
def test_a_check_that_does_not_exist_cannot_be_left_out(check):
    with pytest.raises(ValueError, match="skip"):
        check(poison_v0.env(num_rounds=1).game, skip=["everything"])


def test_an_environment_that_cannot_be_made_is_an_error_of_the_caller():
    with pytest.raises(PoisonEnvError, match="num_seats"):
        check_aec(poison_v0.env, seats=[99])


def test_a_check_that_crashes_is_a_finding():
    class Broken(Leaky):
        def last(self, observe=True):
            raise KeyError("player_7")

    report = check_aec(lambda: Broken(poison_v0.env(num_rounds=1).game), name="broken")
    assert any("raised KeyError: 'player_7'" in finding.what for finding in report.findings)


def test_a_game_in_which_agents_act_out_of_turn_passes():
    assert check_aec(lambda: MatchEnv(Relay()), episodes=1).findings == ()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["poison_env.poison_v0:env", "--option", "num_rounds=1", "--seats", "2"], 0),
        (["poison_env.games.poison:Poison", "--seats", "5", "--option", "num_rounds=1"], 0),
        (["poison_env.adapters.vector:SoloVectorEnv", "--option", "num_rounds=1", "--episodes", "1"], 0),
        (["tests.conformance.test_suite_report:leaky"], 1),
        (["poison_env.poison_v0:nothing"], 2),
        (["no_such_module:env"], 2),
        (["poison_env.poison_v0"], 2),
        (["poison_env.poison_v0:env", "--option", "colour"], 2),
        (["poison_env.poison_v0:env", "--option", "colour=red"], 2),
        (["poison_env.poison_v0:env", "--skip", "everything"], 2),
        (["builtins:dict"], 2),
    ],
    ids=str,
)
def test_the_exit_code_says_whether_something_was_found(arguments, code, tmp_path, capsys):
    files = ["--json", str(tmp_path / "r.json"), "--junit", str(tmp_path / "r.xml")]
    assert command.main([*arguments, *files]) == code
    told = capsys.readouterr()
    if code == 2:
        assert told.err.startswith("poison_env.testing: ")
        assert list(tmp_path.iterdir()) == []
    else:
        assert json.loads((tmp_path / "r.json").read_text())["ok"] is (code == 0)
        ElementTree.parse(tmp_path / "r.xml")


def test_the_module_is_the_command_line():
    run = [sys.executable, "-m", "poison_env.testing", "poison_env.poison_v0:nothing"]
    ended = subprocess.run(run, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "has no attribute 'nothing'" in ended.stderr


HOOKS = """
hooks = {"conserved": lambda env: len(env.possible_agents)}
"""

TEST = """
from poison_env import poison_v0
from poison_env.testing import check_aec
from leaks import leaky

def test_sound(conformance):
    assert conformance(check_aec(lambda: poison_v0.env(num_rounds=1), episodes=1)).ok

def test_leaky(conformance):
    conformance(check_aec(leaky, episodes=1))
"""

LEAKS = """
from poison_env import poison_v0

class Leaky(poison_v0.MatchEnv):
    def observe(self, agent):
        mask = self._mask if agent == self.agent_selection else self._no_action
        return super().observe(agent) | {"action_mask": mask}

def leaky(**options):
    return Leaky(poison_v0.env(num_rounds=1, **options).game)
"""


def run_pytest(folder, *arguments):
    (folder / "leaks.py").write_text(LEAKS)
    (folder / "hooks.py").write_text(HOOKS)
    command = [sys.executable, "-m", "pytest", "-p", "poison_env.testing.plugin", "-rA", "-o", "addopts=", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_the_plug_in_makes_a_test_of_each_check(tmp_path):
    told = run_pytest(
        tmp_path, "--conformance", "leaks:leaky", "--conformance-seats", "3", "--conformance-hooks", "hooks:hooks"
    )
    assert "1 failed, 11 passed, 2 skipped" in told
    assert "FAILED conformance::leaks:leaky::aliasing" in told
    assert "PASSED conformance::leaks:leaky::conservation" in told


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["leaks:nobody"], "has no attribute 'nobody'"),
        (["poison_env.nope:env"], "No module named 'poison_env.nope'"),
        (["poison_env.potio_v0:env", "--conformance-seats", "6"], "num_seats: expected a whole number from 2 to 5"),
        (["leaks:leaky", "--conformance-seats", "2 3"], "invalid literal for int"),
    ],
)
def test_the_plug_in_says_in_a_line_what_it_cannot_check(tmp_path, arguments, reason):
    told = run_pytest(tmp_path, "--conformance", *arguments)
    assert f"ERROR: --conformance {arguments[0]}: " in told
    assert reason in told
    assert "INTERNALERROR" not in told


def test_the_fixture_fails_with_the_findings(tmp_path):
    (tmp_path / "test_mine.py").write_text(TEST)
    told = run_pytest(tmp_path)
    assert "PASSED test_mine.py::test_sound" in told
    assert "FAILED test_mine.py::test_leaky" in told
    assert "share memory" in told


@pytest.mark.parametrize(
    ("one", "two", "found"),
    [
        ({"a": np.arange(3)}, {"a": np.arange(3)}, None),
        ({"a": np.arange(3)}, {"b": np.arange(3)}, "keys: ['a'] and ['b']"),
        (np.array([1, 2]), np.array([1, 3]), "array: at [1] 2 and 3"),
        (np.array([1, 2]), np.array([1.0, 2.0]), "array: int64 (2,) and float64 (2,)"),
        (np.array([np.nan]), np.array([np.nan]), None),
        ([1, {"x": 2}], [1, {"x": 3}], "[1]['x']: 2 and 3"),
        ((1, 2), [1], "length: 2 and 1 entries"),
        (np.array(4), np.array(5), "array: at [0] 4 and 5"),
        (float("nan"), float("nan"), None),
        (True, False, "value: True and False"),
        (object(), object(), None),
        (None, np.zeros(1), "value: NoneType and ndarray"),
    ],
)
def test_differences_are_named(one, two, found):
    assert difference(one, two) == found


def test_a_snapshot_keeps_what_is_changed_later():
    given = {"a": np.zeros(2), "b": [np.ones(1)]}
    kept = snapshot(given)
    given["a"][0] = given["b"][0][0] = 7
    assert difference(kept, {"a": np.zeros(2), "b": [np.ones(1)]}) is None


@pytest.mark.parametrize(
    ("arguments", "variable"),
    [
        (["tests.conformance.test_suite_report:leaky", "--seats", "3", "--option", "recall=none"], "env"),
        (["tests.conformance.test_suite_report:leaky"], "env"),
        (["tests.conformance.test_suite_report:wrong_game", "--seats", "3"], "game"),
        (["tests.conformance.test_suite_report:wrong_vector", "--option", "num_rounds=1", "--skip", "aliasing"], "env"),
    ],
    ids=str,
)
def test_what_the_command_line_reports_can_be_pasted(arguments, variable, tmp_path):
    assert command.main([*arguments, "--json", str(tmp_path / "r.json")]) == 1
    for finding in json.loads((tmp_path / "r.json").read_text())["findings"]:
        names: dict = {}
        exec(finding["reproduce"].replace("env.step", "env.unwrapped.step"), names)
        assert variable in names


class WrongGame(Poison):
    """Calls every action by the same name."""

    def action_label(self, action):
        return "card"


def wrong_game(**options):
    return WrongGame(num_rounds=1, **options)


def wrong_vector(*, num_envs=1, autoreset_mode=AutoresetMode.NEXT_STEP, **options):
    env = SoloVectorEnv(num_envs=num_envs, autoreset_mode=autoreset_mode, **options)
    env.metadata = {}
    return env
