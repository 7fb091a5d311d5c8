"""The benchmark: what it counts, what it reports, what it refuses. Nothing here depends on how fast anything is."""

import io
import json
import re

import numpy as np
import pytest
from rich.console import Console

from experiments import benchmark, plots
from experiments.benchmark import AEC, Config, Speed, measure, play_aec, play_batch, random_words, split, tables
from poison_env import make
from poison_env.adapters.aec import MatchEnv
from poison_env.core import chance
from poison_env.core.errors import OptionError, UnknownNameError

SEEDS = chance.fold(3, np.arange(5))
FAST = {"batches": (1, 3), "repeats": 5, "seconds": 1e-9, "options": ("num_seats=3", "num_rounds=1")}
PARTS = ["deal", "mask", "observe", "words", "choice", "step"]


class Counted:
    """A game that counts its calls."""

    def __init__(self, game):
        self._game, self.calls = game, {}

    def __getattr__(self, name):
        value = getattr(self._game, name)
        if not callable(value):
            return value
        self.calls[name] = self.calls.get(name, 0) + 1
        return value


def text_of(found):
    console = Console(width=80, file=io.StringIO())
    for table in found:
        console.print(table)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("options", "moves"), [({"num_rounds": 1}, 50), ({"num_seats": 3}, 152), ({"num_seats": 2}, 104)]
)
def test_every_move_of_whole_matches_is_counted(options, moves):
    assert play_batch(make("poison-v0", **options), SEEDS, observe=True) == 5 * moves


@pytest.mark.parametrize(("observe", "expected"), [(False, 0), (True, 50)])
def test_each_move_of_the_batch_is_one_mask_one_step_and_perhaps_one_observation(observe, expected):
    game = Counted(make("poison-v0", num_rounds=1))
    play_batch(game, SEEDS, observe=observe)
    assert (game.calls["action_mask"], game.calls["step"], game.calls.get("observe", 0)) == (50, 50, expected)
    assert game.calls["deal"] == 1


def test_matches_and_moves_have_random_words_of_their_own():
    words = random_words(SEEDS)
    assert len(np.unique([next(words) for _ in range(200)])) == 200 * 5


def test_the_aec_environment_is_asked_for_every_move(monkeypatch):
    env = MatchEnv(make("poison-v0", num_seats=3, num_rounds=2))
    asked = []
    monkeypatch.setattr(env, "last", lambda: asked.append(1) or MatchEnv.last(env))
    assert play_aec(env, 5) == 76
    assert len(asked) == 76 + 3  # once more for each seat at the end
    assert env.agents == []


def test_parts_of_the_time_are_told_apart():
    found = split(make("poison-v0", num_rounds=1), SEEDS, 2)
    assert list(found) == PARTS
    assert min(found.values()) > 0


def test_tasks_are_timed_in_turn_and_every_repeat_is_kept():
    order = []
    tasks = [(name, 1, lambda name=name: order.append(name) or 7) for name in ("one", "two")]
    speeds = measure(tasks, Config(seconds=1e-9, repeats=5), progress=False)
    assert order == ["one"] * 2 + ["two"] * 2 + ["one", "two"] * 5  # twice each before anything counts
    assert [(speed.name, len(speed.cpu), len(speed.wall)) for speed in speeds] == [("one", 5, 5), ("two", 5, 5)]


def test_a_repeat_goes_on_for_the_time_asked_for():
    calls = []
    measure([("one", 1, lambda: calls.append(1) or sum(range(1000)))], Config(seconds=0.01, repeats=5), progress=False)
    assert len(calls) > 2 + 5


def test_best_and_median_are_those_of_the_repeats():
    written = Speed("mask", 8, (5.0, 1.0, 3.0), (2.0, 4.0, 9.0)).json()
    assert written["cpu"] == {"best": 5.0, "median": 3.0, "all": [5.0, 1.0, 3.0]}
    assert (written["wall"]["best"], written["wall"]["median"]) == (9.0, 4.0)


def test_a_run_reports_every_batch_and_is_written(tmp_path):
    report = benchmark.run(Config(**FAST, out=tmp_path / "speed"))
    names = [(speed["name"], speed["batch"]) for speed in report["speeds"]]
    assert names == [(name, batch) for batch in (1, 3) for name in benchmark.MODES] + [(AEC, 1)]
    assert all(len(speed[kind]["all"]) == 5 for speed in report["speeds"] for kind in ("cpu", "wall"))
    assert min(min(speed["cpu"]["all"]) for speed in report["speeds"]) > 0
    assert sorted(file.name for file in (tmp_path / "speed").iterdir()) == [
        *("benchmark.json", "benchmark.png", "benchmark.svg")
    ]
    written = json.loads((tmp_path / "speed" / "benchmark.json").read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(report))
    assert {"before", "after"} == written["load"].keys()
    assert "numpy" in written["manifest"]["versions"]


def example(cpu=12e6, aec=10e3, **config):
    """Return a report in which both modes at 8,192 make `cpu` moves a second."""
    figures = {"best": cpu, "median": cpu / 2, "all": []}
    slow = {"best": aec, "median": aec, "all": []}
    return {
        "config": {"game": "poison-v0", "options": ("num_seats=4",), "repeats": 5, "profile": True, **config},
        "speeds": [{"name": name, "batch": 8192, "cpu": figures, "wall": figures} for name in benchmark.MODES]
        + [{"name": AEC, "batch": 1, "cpu": slow, "wall": slow}],
        "nanoseconds": {"8192": dict(zip(PARTS, (10.0, 20.0, 100.0, 5.0, 15.0, 50.0), strict=True))},
        "load": {"before": 1.0, "after": 12.0},
        "manifest": {"processor": "a processor with a long name", "versions": {"numpy": "2.4.6"}},
    }


@pytest.mark.parametrize(
    ("cpu", "aec", "verdicts"),
    [
        (12e6, 20e3, ["reached", "reached", "reached"]),
        (5e6, 9e3, ["missed", "reached", "missed"]),
        (1e6, 15e3, ["missed", "missed", "reached"]),
    ],
)
def test_targets_are_judged_by_the_best_repeat(cpu, aec, verdicts):
    assert re.findall("reached|missed", text_of(tables(example(cpu, aec)))) == verdicts


def test_the_choice_has_its_share_told():
    shown = text_of(tables(example()))
    assert re.findall(r"\d+%", shown) == ["20%", "10%"]  # 20 of 100 ns without the observation, 20 of 200 with it
    assert re.search(r"8,192 +10 +20 +100 +5 +15 +50 +200", shown)


def test_where_the_time_goes_is_shown_when_asked_for():
    assert len(tables(example(profile=False))) == 1


def test_tables_fit_eighty_columns():
    report = benchmark.run(Config(**FAST, profile=True))
    shown = text_of(tables(report))
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown


def test_nothing_is_cut_off_in_the_picture():
    figure = plots.speeds(example())
    width, height = figure.get_size_inches()
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert (box.x1 <= width, box.y1 <= height) == (True, True)


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"repeats": 4}, ValueError, "repeats: expected at least 5"),
        ({"batches": ()}, ValueError, "batches"),
        ({"batches": (8, 0)}, ValueError, "batches"),
        ({"batches": (8, 8)}, ValueError, "batches"),
        ({"seconds": 0.0}, ValueError, "seconds"),
        ({"seed": -1}, ValueError, "seed"),
        ({"game": "poison-v9"}, UnknownNameError, "poison-v0"),
        ({"options": ("seats=4",)}, OptionError, "no option 'seats'"),
    ],
)
def test_mistakes_are_found_before_anything_is_measured(changes, error, says, monkeypatch):
    monkeypatch.setattr(benchmark, "measure", lambda *args, **kwargs: pytest.fail("measured"))
    with pytest.raises(error, match=says):
        benchmark.run(Config(**(FAST | changes)))


def test_main_prints_what_was_measured(capsys):
    benchmark.main(Config(**FAST, aec=False))
    shown = capsys.readouterr().out
    assert "poison-v0 num_seats=3 num_rounds=1 · seed 0 · 5 repeats" in shown
    assert "load" in shown
    assert AEC not in shown
