"""What programs play and learn where nothing, or something wrong, is said."""

import subprocess
import sys
from pathlib import Path

import pytest

from experiments.options import Rules, Task, parse_options
from poison_env.core.errors import OptionError, UnknownNameError

ROOT = Path(__file__).parents[2]


def test_a_round_of_poison_is_played_unless_something_else_is_asked_for():
    assert Rules().options == ("num_seats=4", "num_rounds=1")
    assert Rules(options=("num_seats=3",)).options == ("num_seats=3",)
    assert Rules(game="potio-v0").options == ()
    assert Rules(game="potio-v0").make(reward="win").options["reward"] == "win"


@pytest.mark.parametrize(
    ("game", "reward", "opponents"),
    [
        ("poison-v0", "relative", ("cautious", "greedy")),
        ("arsenic-v0", "win", ("cautious", "greedy")),
        ("potio-v0", "relative", ("greedy", "patient")),
    ],
)
def test_each_game_is_learned_for_what_it_pays_and_judged_against_its_scripted_agents(game, reward, opponents):
    task = Task(game=game)
    assert (task.reward, task.opponents) == (reward, opponents)
    given = Task(game=game, reward="points", opponents=("random",))
    assert (given.reward, given.opponents) == ("points", ("random",))


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"evaluate_every": -1}, {"evaluation_deals": 0}])
def test_numbers_that_make_no_sense_are_refused_by_name(wrong):
    with pytest.raises(OptionError, match=next(iter(wrong))):
        Task(**wrong)


def test_alone_there_is_nobody_to_be_compared_with():
    task = Task(game="arsenic-v0", options=("num_seats=1",), opponents=("greedy",))
    assert (task.reward, task.opponents) == ("points", ())


def test_tables_of_agents_that_the_game_lacks_are_refused_before_anything_begins():
    with pytest.raises(UnknownNameError, match="potio-v0 has no agent 'cautious'; it has random, greedy, patient"):
        Task(game="potio-v0", opponents=("cautious",))


def test_options_are_written_as_json_or_as_python_writes_them():
    words = ("a=true", "b=True", "c=None", "d=3", "e=R7x6", "f=false", "g=False")
    assert parse_options(words) == {"a": True, "b": True, "c": None, "d": 3, "e": "R7x6", "f": False, "g": False}


@pytest.mark.parametrize("program", ["train_dmc", "train_sb3"])
def test_programs_say_in_a_line_that_there_is_no_such_game(program):
    command = [sys.executable, "-m", f"experiments.{program}", "--game", "poison-v9"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"{program}: no game 'poison-v9'; there is poison-v0"
    assert "Traceback" not in done.stderr
