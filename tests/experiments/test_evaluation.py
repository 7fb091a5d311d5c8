"""Evaluation: rotated deals, what is counted, intervals, and what is written."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats

import agents
from agents import features
from agents.neural import NeuralAgent, ValueNetwork, describe
from experiments import evaluate, evaluation, plots, train_dmc
from experiments.intervals import Estimate, deals_needed, mean_estimates, ratio_estimates
from experiments.overflow_counts import OverflowCounts
from experiments.reports import Report
from experiments.runs import Run
from poison_env import make, play, scripted
from poison_env.core import chance
from poison_env.core.errors import CheckpointError, OptionError, UnknownNameError
from tests.reference.poison_referee import Referee
from tests.support import action

ROUND = make("poison-v0", num_rounds=1)
AGENTS = {name: agents.load(name) for name in ("random", "cautious", "greedy")}
CAUTIOUS, GREEDY, RANDOM = ({name: AGENTS[name]} for name in ("cautious", "greedy", "random"))

OTHER_GAMES = {"arsenic-v0": {"num_seats": 3}, "potio-v0": {"num_seats": 3, "max_turns": 20}}
other_games = pytest.mark.parametrize(("game_id", "options"), OTHER_GAMES.items(), ids=OTHER_GAMES)


class WithoutOverflows:
    """Poison as a game that has no overflows to count and in which many points are good."""

    points_sign = 1

    def __init__(self, game):
        self._game = game

    def __getattr__(self, name):
        if name in ("overflows", "cards_taken", "majority", "round_ends"):
            raise AttributeError(name)
        return getattr(self._game, name)


def only(candidate, table, game=ROUND, **how):
    (match_up,) = evaluation.evaluate(game, candidate, table, **how)
    return match_up


def same_columns(one, other):
    return one.columns.keys() == other.columns.keys() and all(
        np.array_equal(one.columns[name], other.columns[name]) for name in one.columns
    )


# --- deals and seats -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cautious", "greedy", "random"])
@pytest.mark.parametrize("seats", [2, 3, 4, 6])
def test_an_agent_differs_from_its_own_copies_by_exactly_zero_on_every_deal(name, seats):
    game = make("poison-v0", num_seats=seats, num_rounds=2)
    check_copies(game, name)


@pytest.mark.parametrize("name", ["greedy", "random"])
@other_games
def test_an_agent_of_another_game_differs_from_its_own_copies_by_zero_too(game_id, options, name):
    check_copies(make(game_id, **options), name)


def check_copies(game, name):
    seats = game.num_seats
    match_up = only({"one": agents.load(name)}, {"copies": agents.load(name)}, game, deals=40, seed=3)
    assert np.abs(match_up.columns["diff"]).max() > 0  # with the candidate in one seat there are differences
    assert match_up.per_deal("diff").tolist() == [0.0] * 40
    assert match_up.per_deal("wins") == pytest.approx(np.full(40, 1 / seats))  # ties share a win


def test_numbers_are_those_of_matches_played_one_by_one():
    game = make("poison-v0", num_seats=3, num_rounds=2, handicaps=(5, 0, 9))
    match_up = only(GREEDY, RANDOM, game, deals=4, seed=11)
    for deal in range(4):
        for seat in range(3):
            seating = [1, 1, 1]
            seating[seat] = 0
            seeds = chance.fold(11, 0, deal)
            luck = int(chance.fold(11, 0)[0])
            players = [AGENTS["greedy"], AGENTS["random"]]
            match = play(game, players, seeds, seating=seating, seed=luck, matches=np.array([deal]))
            points = match.points[0] - np.array([5, 0, 9])  # what a seat starts with is nobody's merit
            others = (points.sum() - points[seat]) / 2
            first = match.placements[0] == 0
            expected = {
                "diff": (points[seat] - others) / 2,
                "points": points[seat] / 2,
                "others": others / 2,
                "wins": first[seat] / first.sum(),
                "placement": match.placements[0, seat],
            }
            found = {name: match_up.per_deal(name, seat)[deal] for name in expected}
            assert found == pytest.approx(expected, abs=1e-12)


def test_evaluations_with_one_seed_are_identical_and_others_are_not():
    one, two, other = (only(RANDOM, CAUTIOUS, deals=30, seed=seed) for seed in (5, 5, 6))
    assert same_columns(one, two)
    assert one.summary(seed=5) == two.summary(seed=5)
    assert not np.array_equal(one.per_deal("diff"), other.per_deal("diff"))


def test_a_network_differs_from_its_own_copies_by_zero_and_by_no_chunk(tmp_path):
    agent = untrained(tmp_path / "run", ROUND)
    whole, parts = (only({"one": agent}, {"two": agent}, deals=12, seed=5, chunk=chunk) for chunk in (4096, 8))
    assert whole.per_deal("diff").tolist() == [0.0] * 12
    assert same_columns(whole, parts)


@pytest.mark.parametrize("chunk", [1, 7])
@other_games
def test_numbers_of_matches_of_any_length_do_not_depend_on_the_chunk(game_id, options, chunk):
    game, random, greedy = make(game_id, **options), {"random": AGENTS["random"]}, {"greedy": agents.load("greedy")}
    whole = only(random, greedy, game, deals=9, seed=5)
    assert same_columns(only(random, greedy, game, deals=9, seed=5, chunk=chunk), whole)


@pytest.mark.parametrize("chunk", [1, 7, 40])
def test_numbers_do_not_depend_on_the_chunk(chunk):
    whole = only(RANDOM, GREEDY, deals=21, seed=5)
    assert same_columns(only(RANDOM, GREEDY, deals=21, seed=5, chunk=chunk), whole)


def test_numbers_do_not_depend_on_who_else_is_evaluated():
    found = evaluation.evaluate(ROUND, AGENTS, AGENTS, deals=10, seed=5)
    names = [(match_up.candidate, match_up.table) for match_up in found]
    assert names == [(candidate, table) for candidate in AGENTS for table in AGENTS]
    assert same_columns(found[names.index(("random", "greedy"))], only(RANDOM, GREEDY, deals=10, seed=5))


@pytest.mark.parametrize("training_seed", [0, 7])
def test_training_never_sees_a_deal_of_evaluation(training_seed):
    evaluated = evaluation.deal_seeds(7, 0, 20_000)
    trained = chance.fold(training_seed, train_dmc.DEALS, np.arange(100)[:, None], np.arange(1024))
    assert len(np.unique(evaluated)) == 20_000
    assert not np.isin(evaluated, trained).any()


# --- overflows -----------------------------------------------------------------------------------------------------


def referee_counts(game, seeds, actions, row):
    """Count one match's overflows by seat with the slow referee: chances, overflows, deliberate, immune."""
    state = game.deal(seeds[[row]])
    referee = Referee(num_seats=game.num_seats, num_rounds=game.num_rounds, first_dealer=int(state.dealer[0]))
    counts = {name: [0] * game.num_seats for name in ("chances", "overflows", "deliberate", "immune")}
    taken_deliberately = []
    for played in actions[:, row]:
        if referee.needs_deal:
            cards = game.card_order(seeds[[row]], referee.rounds_scored)[0]
            referee.deal_round([game.kinds[kind] for kind in cards])
        move, seat = (*game.kinds[played // 3], int(played % 3)), referee.to_move
        legal = {other: referee.would_overflow(other) for other in referee.legal_moves()}
        counts["chances"][seat] += len(set(legal.values())) == 2
        counts["overflows"][seat] += legal[move]
        if legal[move] and not all(legal.values()):
            counts["deliberate"][seat] += 1
            taken_deliberately.append((seat, {colour for colour, _ in referee.cauldrons[move[2]]} - {"poison"}))
        referee.play(move)
        if referee.needs_deal or referee.finished:
            for colour in ("red", "blue", "purple"):
                held = [sum(card[0] == colour for card in pile) for pile in referee.taken]
                winners = [seat for seat in range(game.num_seats) if held[seat] == max(held)]
                if len(winners) == 1:
                    counts["immune"][winners[0]] += sum((winners[0], {colour}) == entry for entry in taken_deliberately)
            taken_deliberately = []
    return counts


@pytest.mark.parametrize(("seats", "rounds"), [(3, 2), (4, 1), (5, 3)])
def test_overflows_are_those_the_slow_referee_counts(seats, rounds):
    game = make("poison-v0", num_seats=seats, num_rounds=rounds)
    seeds = chance.fold(1, np.arange(8))

    counts, actions = OverflowCounts(game, len(seeds)), []

    class Both:
        def before_step(self, rules, state, chosen):
            counts.before_step(rules, state, chosen)
            actions.append(chosen.copy())

    play(game, [AGENTS["random"], AGENTS["greedy"]], seeds, seating=np.arange(seats) % 2, recorder=Both())
    assert counts.deliberate.sum() > counts.immune().sum() > 0
    for row in range(len(seeds)):
        found = {name: getattr(counts, name)[row].tolist() for name in ("chances", "overflows", "deliberate")}
        assert {**found, "immune": counts.immune()[row].tolist()} == referee_counts(game, seeds, np.array(actions), row)


def test_a_pile_of_poison_alone_is_never_immune():
    game = make("poison-v0", num_seats=2, deck="R1x2 G9x3", deal="all", num_rounds=1)
    state = game.position(hands=["R1 G9", "R1 G9"], cauldrons=["G9", "", ""])
    counts = OverflowCounts(game, 1)
    for move in ("G9>1*", "R1>2", "R1>2", "G9>3"):  # the first one takes a poison though other moves were safe
        chosen = np.array([action(game, move)])
        counts.before_step(game, state, chosen)
        game.step(state, chosen)
    assert state.done.all()
    assert counts.deliberate.tolist() == [[1, 0]]
    assert counts.immune().tolist() == [[0, 0]]


def test_a_forced_overflow_is_not_deliberate():
    game = make("poison-v0", num_seats=2, deck="R13x4", deal="all", colour_rule="fixed", num_rounds=1)
    state = game.position(hands=["R13", "R13"], cauldrons=["R13", "", ""], taken=["R13", ""])
    counts = OverflowCounts(game, 1)
    counts.before_step(game, state, np.array([0]))
    assert (counts.overflows.tolist(), counts.deliberate.tolist(), counts.chances.tolist()) == (
        [[1, 0]],
        [[0, 0]],
        [[0, 0]],
    )


def test_games_without_overflows_are_evaluated_without_those_columns():
    game = WithoutOverflows(ROUND)
    match_up = only(RANDOM, {"first": agents.FunctionAgent(lambda seen, mask: mask.argmax(axis=1))}, game, deals=5)
    assert match_up.columns.keys() == evaluation.MEANS.keys()
    report = Report(game, [match_up.summary()], {})
    assert len(report.tables()) == 2
    with pytest.raises(TypeError, match="poison-v0 has no overflows"):
        OverflowCounts(game, 5)


def test_where_all_die_nobody_wins():
    game = make("arsenic-v0", num_seats=6, honour_turns=9, last_survivor_ends=False)
    won = only({"one": agents.load("random")}, {"copies": agents.load("random")}, game, deals=60).columns["wins"]
    assert {*won.sum(axis=1).round(9).tolist()} == {0.0, 1.0}


# --- estimates -----------------------------------------------------------------------------------------------------


def test_the_interval_of_a_mean_is_that_of_the_normal_distribution_for_many_deals():
    samples = np.random.default_rng(0).normal(3.0, 2.0, size=(1, 4000))
    (estimate,) = mean_estimates(samples, seed=1)
    half = stats.norm.ppf(0.975) * samples.std(ddof=1) / math.sqrt(4000)
    assert estimate.value == pytest.approx(samples.mean())
    assert (estimate.high - estimate.low) / 2 == pytest.approx(half, rel=0.05)
    assert estimate.deal_sd == pytest.approx(samples.std(ddof=1))


def test_a_ratio_is_one_of_sums_with_deals_resampled_as_pairs():
    numbers = np.random.default_rng(0).uniform(1, 9, size=(1, 200))
    (estimate,) = ratio_estimates(3 * numbers, numbers, seed=1)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((3, 3, 3))
    (uneven,) = ratio_estimates([[1, 0]], [[1, 9]], seed=1)
    assert uneven.value == pytest.approx(0.1)


def test_a_share_of_nothing_is_nan_and_null():
    (estimate,) = ratio_estimates(np.zeros((1, 5)), np.zeros((1, 5)), seed=1)
    assert math.isnan(estimate.value)
    assert estimate.json() == {"value": None, "low": None, "high": None, "deal_sd": None}


def test_one_deal_has_no_interval():
    with pytest.raises(ValueError, match="at least two deals"):
        mean_estimates([[1.0]], seed=0)


def test_a_summary_has_every_measure_over_all_deals_and_by_seat():
    match_up = only(GREEDY, CAUTIOUS, deals=50, seed=2)
    summary = match_up.summary(seed=2)
    measures = {*evaluation.MEANS, *evaluation.OVERFLOW_MEANS, *evaluation.OVERFLOW_RATIOS}
    assert set(summary.total) == measures
    assert [set(seat) for seat in summary.seats] == [measures] * 4
    for name in (*evaluation.MEANS, *evaluation.OVERFLOW_MEANS):
        by_seat = np.mean([seat[name].value for seat in summary.seats])
        assert summary.total[name].value == pytest.approx(by_seat, abs=1e-12)
        assert summary.total[name].low <= summary.total[name].value <= summary.total[name].high
    counts = {name: match_up.columns[name].sum() for name in ("deliberate", "chances", "immune")}
    assert summary.total["of_chances"].value == pytest.approx(counts["deliberate"] / counts["chances"])
    assert summary.total["immune"].value == pytest.approx(counts["immune"] / counts["deliberate"])


def test_cautious_is_as_strong_as_the_slow_referee_finds_it():
    points = only(CAUTIOUS, CAUTIOUS, deals=500, seed=1).summary().total["points"]
    assert (
        points.low < 7.73 < points.high
    )  # 2,500 rounds of a policy written apart, on the referee: standard error 0.03


def test_greedy_is_better_than_cautious():
    total = only(GREEDY, CAUTIOUS, deals=500, seed=1).summary().total
    assert total["diff"].high < 0
    assert total["points"].high < total["others"].low
    assert total["wins"].low > 0.25


@pytest.mark.parametrize(("difference", "deals"), [(1.0, 46), (0.5, 181), (0.25, 723), (-0.25, 723)])
def test_deals_needed(difference, deals):
    assert deals_needed(difference, 2.4) == pytest.approx(deals, abs=1)


@pytest.mark.parametrize(("difference", "spread"), [(0.0, 1.0), (0.5, -1.0)])
def test_deals_needed_refuses_what_has_no_answer(difference, spread):
    with pytest.raises(ValueError, match="a difference other than 0"):
        deals_needed(difference, spread)


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    deals, repeats = 200, 500
    samples = only(CAUTIOUS, GREEDY, deals=deals * repeats, seed=0).per_deal("diff")
    estimates = [mean_estimates(part, seed=k)[0] for k, part in enumerate(samples.reshape(repeats, 1, deals))]
    truth = samples.mean()  # of five hundred times as many deals
    coverage = np.mean([estimate.low <= truth <= estimate.high for estimate in estimates])
    assert 0.92 <= coverage <= 0.98


# --- the command ---------------------------------------------------------------------------------------------------


def run(**changes):
    return evaluate.run(
        evaluate.Config(**({"candidates": ("greedy", "random"), "deals": 6, "resamples": 50} | changes))
    )


def test_without_tables_the_candidates_play_a_round_robin():
    names = [(summary.candidate, summary.table) for summary in run().summaries]
    assert names == [("greedy", "greedy"), ("greedy", "random"), ("random", "greedy"), ("random", "random")]


def test_everything_is_written(tmp_path):
    out = tmp_path / "new" / "result"
    report = run(out=out, seed=9)
    assert sorted(file.name for file in out.iterdir()) == [
        *("cross_table.png", "cross_table.svg", "diff.png", "diff.svg", "evaluation.json")
    ]
    written = json.loads((out / "evaluation.json").read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(report.json()))
    assert written["config"]["seed"] == 9
    assert written["options"] == ROUND.options
    assert set(written["agents"]) == {"greedy", "random"}
    assert all(len(agent["sha256"]) == 64 for agent in written["agents"].values())
    assert {"commit", "versions", "python"} <= written["manifest"].keys()
    (first, *_) = report.summaries
    assert written["match_ups"][0]["seats"][2]["wins"]["high"] == first.seats[2]["wins"].high
    assert (out / "diff.png").read_bytes().startswith(b"\x89PNG")


def test_results_of_one_seed_are_written_alike(tmp_path):
    for name in ("one", "two"):
        run(out=tmp_path / name)
    for file in ("diff.svg", "cross_table.svg", "diff.png", "cross_table.png"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    first, second = (json.loads((tmp_path / name / "evaluation.json").read_text()) for name in ("one", "two"))
    assert first["match_ups"] == second["match_ups"]


def untrained(path, game):
    torch.manual_seed(0)
    encoder = features.for_game(game)
    network = ValueNetwork(encoder.size, game.num_actions, (8,))
    agent = NeuralAgent(game, network, encoder)
    Run(path, {}, resume=False).save(3, network, torch.optim.Adam(network.parameters()), describe(game, encoder, (8,)))
    return agent


def test_run_directories_are_agents(tmp_path):
    agent = untrained(tmp_path / "first", ROUND)
    spec = str(tmp_path / "first")
    report = run(candidates=(spec,), tables=("greedy",), seed=4)
    directly = only({"x": agent}, GREEDY, deals=6, seed=4)
    assert report.summaries[0].total["diff"] == directly.summary(seed=4, resamples=50).total["diff"]
    assert torch.get_num_threads() == 1
    about = report.about["agents"][spec]
    assert about["checkpoint"].endswith("checkpoint-000003")
    assert about["sha256"] != report.about["agents"]["greedy"]["sha256"]


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"candidates": ("grady",)}, UnknownNameError, "no agent 'grady'.*greedy"),
        ({"tables": ("grady",)}, UnknownNameError, "no agent 'grady'"),
        ({"game": "poison-v9"}, UnknownNameError, "there is poison-v0"),
        ({"options": ("num_seat=4",)}, OptionError, "no option 'num_seat'; it has num_seats"),
        ({"options": ("num_seats",)}, OptionError, "expected name=value"),
        ({"options": ("num_seats=99",)}, OptionError, "num_seats: expected"),
        ({"deals": 1}, ValueError, "deals: expected at least 2"),
        ({"chunk": 0}, ValueError, "chunk"),
        ({"seed": -1}, ValueError, "seed"),
        ({"threads": 0}, ValueError, "threads"),
        ({"candidates": ()}, ValueError, "candidates"),
        ({"tables": ("greedy", "greedy")}, ValueError, "named twice"),
    ],
)
def test_mistakes_are_found_before_anything_is_played(changes, error, says, monkeypatch):
    monkeypatch.setattr(evaluation, "play", lambda *args, **kwargs: pytest.fail("played"))
    with pytest.raises(error, match=says):
        run(**changes)


def test_an_agent_of_another_game_is_found_before_anything_is_played(tmp_path, monkeypatch):
    untrained(tmp_path / "three", make("poison-v0", num_seats=3))
    monkeypatch.setattr(evaluation, "play", lambda *args, **kwargs: pytest.fail("played"))
    with pytest.raises(CheckpointError, match="num_seats 3"):
        run(candidates=("random", str(tmp_path / "three")))


def test_the_command_says_what_is_wrong_in_one_line():
    command = [sys.executable, "-m", "experiments.evaluate", "--candidates", "grady"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"evaluate: no agent 'grady': neither a directory nor one of {', '.join(scripted.POLICIES)}"
    ]


def test_a_candidate_alone_is_named_above_the_tables(capsys):
    evaluate.main(evaluate.Config(candidates=("cautious",), tables=("greedy",), deals=5, resamples=50))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "candidates: cautious"
    assert [line.split()[0] for line in lines if "among" in line] == ["among"] * 3


def test_main_prints_tables_of_at_most_eighty_columns(capsys):
    evaluate.main(evaluate.Config(candidates=("cautious", "random"), deals=5, resamples=50))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("…" in line for line in lines) == 0
    (row, *_) = [line.split() for line in lines if line.split()[:2] == ["cautious", "cautious"]]
    assert row[2:5] == ["+0.00", "[+0.00,", "+0.00]"]


# --- pictures ------------------------------------------------------------------------------------------------------


def test_long_names_are_shortened_only_if_they_stay_apart():
    long = "runs/" + "x" * 30
    assert plots.short_names(["greedy", f"results/somewhere/{'y' * 20}"]) == ["greedy", "…/" + "y" * 20]
    assert plots.short_names([f"a{long}", f"b{long}"]) == [f"a{long}", f"b{long}"]


def colours_of(figure):
    return [line.get_color() for line in figure.axes[0].lines if line.get_marker() in ("o", "D", "s")]


@pytest.mark.parametrize(
    ("sign", "expected"), [(-1, [plots.BLUE, plots.ORANGE, plots.GREY]), (1, [plots.ORANGE, plots.BLUE, plots.GREY])]
)
def test_the_colour_says_what_is_better_in_this_game(sign, expected):
    lows_and_highs = [(-2, -1), (1, 2), (-1, 1)]
    summaries = [
        evaluation.Summary("me", str(k), 9, {"diff": Estimate((low + high) / 2, low, high)}, ())
        for k, (low, high) in enumerate(lows_and_highs)
    ]
    assert colours_of(plots.forest(summaries, points_sign=sign, title="")) == expected


def test_nothing_is_cut_off_in_pictures():
    names = ["cautious", "runs/some-directory/a-rather-long-name"]
    summaries = [
        evaluation.Summary(one, other, 9, {"diff": Estimate(-10.5, -11.25, -10.25)}, ())
        for one in names
        for other in names
    ]
    for draw in (plots.forest, plots.cross_table):
        figure = draw(summaries, points_sign=-1, title="poison-v0 · 4 seats, 20 rounds · 5,000 deals, seats rotated")
        width, height = figure.get_size_inches()
        box = figure.get_tightbbox()  # around all there is, in inches
        assert min(box.x0, box.y0) >= 0
        assert (box.x1 <= width, box.y1 <= height) == (True, True)
