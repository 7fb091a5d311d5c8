"""Training: what is learned from, and runs that can be killed at any moment."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import agents
from agents import features
from agents.neural import NeuralAgent, ValueNetwork, newest_checkpoint
from experiments.judging import draw
from experiments.train_dmc import Config, learn, loss_of, main, returns_of, self_play
from poison_env import make, play
from poison_env.core import chance
from poison_env.core.errors import CheckpointError, OptionError
from poison_env.core.protocol import decisions

TINY = Config(
    iterations=6, matches=8, minibatch=64, hidden=(8,), checkpoint_every=2, evaluate_every=3, evaluation_deals=2, seed=3
)
ROOT = Path(__file__).resolve().parents[2]


def weights(run):
    found = newest_checkpoint(run)
    return {**load_file(found / "network.safetensors"), **load_file(found / "optimizer.safetensors")}


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def learner(game):
    torch.manual_seed(0)
    encoder = features.for_game(game)
    return NeuralAgent(game, ValueNetwork(encoder.size, game.num_actions, (8,)), encoder)


def test_the_loss_is_the_mean_squared_error_of_the_chosen_actions_alone():
    values = torch.tensor([[1.0, 50.0], [50.0, -2.0]])
    loss = loss_of(values, torch.tensor([0, 1]), torch.tensor([6.0, -2.0]))
    assert loss.item() == pytest.approx((1.0 + 0.0) / 2)  # an error of 5 points is the unit


@pytest.mark.parametrize(
    ("trace", "expected"), [(1.0, [5, 7, 2, 7]), (0.0, [3 + 20, 40, 2, 7]), (0.5, [3 + 10 + 1, 20 + 3.5, 2, 7])]
)
def test_returns_are_mixed_with_what_was_expected_at_the_seats_next_decision(trace, expected):
    """Seat 0 decides, then seat 1, then both again; they have earned 3 and 0 between, and 5 and 7 in all."""
    steps = [(0, 0, 0.0, 10.0), (0, 1, 0.0, 30.0), (0, 0, 3.0, 20.0), (0, 1, 0.0, 40.0)]
    found = returns_of([tuple(map(np.atleast_1d, step)) for step in steps], np.array([[5.0, 7.0]]), trace)
    assert np.concatenate(found).tolist() == expected


def test_self_play_is_a_function_of_its_seeds():
    game = make("poison-v0", num_rounds=1)
    first, second, third = (
        self_play(game, learner(game), chance.fold(1, np.arange(5)), epsilon=0.2, seed=seed)[0] for seed in (1, 1, 2)
    )
    assert np.array_equal(first.outputs, second.outputs)
    assert not np.array_equal(first.outputs, third.outputs)


def test_exploration_is_as_often_as_epsilon_says():
    game = make("poison-v0", num_rounds=1)
    agent, seeds = learner(game), chance.fold(2, np.arange(64))
    greedy = self_play(game, agent, seeds, epsilon=0.0, seed=1)[0]
    again = agent.forward(greedy.inputs)
    legal = greedy.inputs[:, -3 * game.num_actions : -2 * game.num_actions] > 0
    best = np.where(legal, again, -np.inf).argmax(axis=1)
    assert np.array_equal(greedy.outputs, best)
    random = self_play(game, agent, seeds, epsilon=1.0, seed=1)[0]
    legal = random.inputs[:, -3 * game.num_actions : -2 * game.num_actions] > 0
    hit = (np.where(legal, agent.forward(random.inputs), -np.inf).argmax(axis=1) == random.outputs).mean()
    assert hit == pytest.approx((1 / legal.sum(axis=1)).mean(), abs=0.03)


def test_learning_makes_the_loss_on_what_was_seen_smaller():
    game = make("poison-v0", num_rounds=1)
    agent = learner(game)
    experience, _ = self_play(game, agent, chance.fold(1, np.arange(32)), epsilon=1.0, seed=1)
    optimizer = torch.optim.Adam(agent.network.parameters(), lr=1e-2)
    losses = [learn(agent.network, optimizer, experience, minibatch=256, seed=i, device="cpu") for i in range(6)]
    assert losses[-1] < 0.9 * losses[0]


def test_two_runs_with_one_seed_are_identical_and_another_seed_is_not(tmp_path):
    runs = [main(replace(TINY, seed=seed), path=tmp_path / name) for name, seed in (("a", 3), ("b", 3), ("c", 4))]
    assert same(weights(runs[0]), weights(runs[1]))
    assert not same(weights(runs[0]), weights(runs[2]))


def test_a_run_that_is_killed_goes_on_and_ends_with_the_same_weights(tmp_path):
    straight = main(TINY, path=tmp_path / "straight")
    command = [
        sys.executable, "-m", "experiments.train_dmc", "--runs", str(tmp_path), "--name", "killed",
        "--resume", "--deals", "0",
        "--iterations", "6", "--matches", "8", "--minibatch", "64", "--hidden", "8", "--checkpoint-every", "2",
        "--evaluate-every", "3", "--evaluation-deals", "2", "--seed", "3",
    ]  # fmt: skip
    killed, log = tmp_path / "killed", tmp_path / "killed" / "metrics.jsonl"
    for lines in (1, 3, 5):  # kill it after so many iterations, the last two between checkpoints
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if log.exists() and len(log.read_text().splitlines()) >= lines:
                break
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        (killed / ".partial-000004").mkdir(exist_ok=True)  # as if it had been writing a checkpoint just then
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=True).returncode == 0
    assert same(weights(straight), weights(killed))
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["iteration"] for line in logged] == [1, 2, 3, 4, 5, 6]
    expected = [json.loads(line) for line in (straight / "metrics.jsonl").read_text().splitlines()]
    timeless = [{k: v for k, v in line.items() if "second" not in k} for line in (*logged, *expected)]
    assert timeless[:6] == timeless[6:]
    assert not list(killed.glob(".partial-*"))


def test_a_finished_run_is_left_as_it_is_by_another_resume(tmp_path):
    run = main(TINY, path=tmp_path / "run")
    before = weights(run)
    main(TINY, path=run, resume=True)
    assert same(before, weights(run))


def test_a_run_is_not_overwritten(tmp_path):
    main(TINY, path=tmp_path / "run")
    with pytest.raises(FileExistsError, match="--resume"):
        main(TINY, path=tmp_path / "run")


def test_a_run_is_not_resumed_with_another_configuration(tmp_path):
    main(TINY, path=tmp_path / "run")
    with pytest.raises(CheckpointError, match="seed 3 → 4"):
        main(replace(TINY, seed=4), path=tmp_path / "run", resume=True)


def test_a_run_directory_says_what_was_run(tmp_path):
    run = main(TINY, path=tmp_path / "run")
    assert json.loads((run / "config.json").read_text())["seed"] == 3
    (start,) = json.loads((run / "manifest.json").read_text())
    assert start["versions"]["torch"] == torch.__version__
    assert {"commit", "command", "python", "processor", "started", "threads"} <= start.keys()
    assert [json.loads(line)["iteration"] for line in (run / "metrics.jsonl").read_text().splitlines()] == list(
        range(1, 7)
    )
    assert list((run / "tensorboard").iterdir())
    assert sorted(entry.name for entry in run.glob("checkpoint-*")) == ["checkpoint-000004", "checkpoint-000006"]


@pytest.mark.parametrize(
    ("game_id", "options"),
    [
        ("poison-v0", {"num_rounds": 2, "num_seats": 3}),
        ("arsenic-v0", {"reward": "points", "last_survivor_ends": False}),
        ("arsenic-v0", {"num_seats": 6, "draw": "flavour"}),
        ("potio-v0", {"num_seats": 3, "max_turns": 20}),
    ],
)
def test_decisions_of_any_game_are_credited_with_what_their_seats_earned_from_there_on(game_id, options):
    game = make(game_id, **options)
    agent, seeds = learner(game), chance.fold(2, np.arange(3))
    for seed in seeds:
        experience, _ = self_play(game, agent, np.array([seed]), epsilon=0.0, seed=9)
        state, seats, paid, free = game.deal(np.array([seed])), [], [], []
        while not state.done[0]:
            seats.append(int(state.to_move[0]))
            free.append(game.action_mask(state).sum() > 1)  # a forced move teaches nothing
            paid.append(game.step(state, agent.act(decisions(game, state, np.arange(1), seed=9)))[0])
        to_come = np.cumsum(paid[::-1], axis=0)[::-1]
        assert experience.returns == pytest.approx(to_come[np.arange(len(seats)), seats][free], abs=1e-5)


def test_nothing_in_a_run_directory_is_a_pickle(tmp_path):
    run = main(TINY, path=tmp_path / "run")
    assert {entry.suffix for entry in run.rglob("*") if entry.is_file() and "tfevents" not in entry.name} == {
        ".json", ".jsonl", ".safetensors",
    }  # fmt: skip


def test_training_serves_other_seats_decks_and_recalls(tmp_path):
    options = ("num_seats=3", "deck=box58", "recall=none", "num_rounds=2")
    run = main(replace(TINY, iterations=2, options=options), path=tmp_path / "run")
    game = make("poison-v0", num_seats=3, deck="box58", recall="none")
    assert play(game, [agents.load(run)] * 3, range(2)).moves.tolist() == [174, 174]


def test_a_minute_of_learning_beats_random_players_by_far(tmp_path):
    config = Config(iterations=14, matches=256, minibatch=512, hidden=(64,), evaluate_every=0, checkpoint_every=14)
    agent = agents.load(main(config, path=tmp_path / "run"))
    game = make("poison-v0", num_rounds=1)
    record = play(game, [agent, agents.load("random")], chance.fold(9, np.arange(400)), seating=[0, 1, 1, 1])
    assert record.points[:, 0].mean() < record.points[:, 1:].mean() - 2


def test_the_learning_curve_is_drawn_from_what_was_logged(tmp_path):
    run = main(TINY, path=tmp_path / "run")
    draw(TINY, run)
    drawn = (run / "learning.svg").read_text(encoding="utf-8")
    assert all(
        word in drawn for word in ("at a table of cautious", "at a table of greedy", "million decisions", "seed 3")
    )
    assert (run / "learning.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    "field",
    [
        {"iterations": 0},
        {"matches": 0},
        {"epsilon": 1.5},
        {"trace": -0.1},
        {"learning_rate": 0.0},
        {"hidden": ()},
        {"hidden": (8, 0)},
    ],
    ids=str,
)
def test_numbers_that_cannot_be_trained_with_are_refused(field):
    with pytest.raises(OptionError, match=next(iter(field))):
        Config(**field)
