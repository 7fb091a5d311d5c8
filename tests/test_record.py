"""Records of matches: what was played is what is read back."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poison_env import make, play, record, scripted
from poison_env.core.errors import LifeCycleError, PositionError, RecordError
from poison_env.core.protocol import Game
from poison_env.games.poison import Poison
from poison_env.record import RecordedMatch, Recorder
from tests.games import a_few_cases, every_case
from tests.support import RECORD, TINY, many_keys, random_actions

NAMES = ("random", "cautious", "greedy")
NAMES_OF = {"poison-v0": NAMES, "arsenic-v0": NAMES, "potio-v0": ("random", "patient", "greedy")}
LARGEST_SEED = 2**64 - 1


def recorded(game: Game[Any], seeds: Sequence[int], rows: Sequence[int] | None = None) -> list[RecordedMatch]:
    """Play random, cautious and greedy, or whom the game has, in turn and record it."""
    names, seating = NAMES_OF[game.id], np.arange(game.num_seats) % len(NAMES)
    recorder = Recorder(rows)
    play(game, [scripted.load(name) for name in names], seeds, seating=seating, seed=5, recorder=recorder)
    return recorder.records(seeds, names, seating=seating, seed=5)


def random_moves(game: Poison, seed: int, orders: list[list[int]]) -> list[int]:
    """Play a match at random whose first rounds are dealt from given orders of cards; return its actions."""
    state = game.deal_from([orders[0]], seeds=[seed])
    actions: list[int] = []
    while not state.done[0]:
        (chosen,) = random_actions(game, state).tolist()
        game.step(state, np.array([chosen]))
        actions.append(chosen)
        rounds, into = divmod(len(actions), game.cards_dealt)
        if not into and rounds < len(orders):
            game.redeal(state, [orders[rounds]])
    return actions


# --- round trips --------------------------------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("reward", ["points", "relative", "win"])
def test_a_match_is_read_back_as_it_was_written(
    tmp_path: Path, game_id: str, options: dict[str, Any], reward: str
) -> None:
    if options.get("num_seats") == 1:
        reward = reward.replace("relative", "points")  # with nobody else
    game = make(game_id, **options | {"reward": reward})
    seeds = [LARGEST_SEED, 0]
    for written in recorded(game, seeds):
        record.write(tmp_path / "match.jsonl", written)
        assert record.read(tmp_path / "match.jsonl") == written


def test_a_record_says_what_play_says() -> None:
    game = make("poison-v0", num_seats=3, reward="relative", num_rounds=2)
    seeds, seating = [3, 2**63, LARGEST_SEED], [[0, 1, 2], [1, 2, 0], [2, 2, 0]]
    recorder = Recorder()
    agents = [scripted.load(name) for name in NAMES]
    outcome = play(game, agents, seeds, seating=seating, seed=9, matches=np.array([7, 4, 2**40]), recorder=recorder)
    records = recorder.records(seeds, NAMES, seating=seating, seed=9, matches=np.array([7, 4, 2**40]))
    assert [r.seed for r in records] == seeds
    assert [(r.play_seed, r.match) for r in records] == [(9, 7), (9, 4), (9, 2**40)]
    assert [r.agents for r in records] == [tuple(NAMES[i] for i in row) for row in seating]
    assert [r.returns for r in records] == list(map(tuple, outcome.returns.tolist()))
    assert [r.points for r in records] == list(map(tuple, outcome.points.tolist()))
    assert [r.placements for r in records] == list(map(tuple, outcome.placements.tolist()))
    assert [len(r.actions) for r in records] == outcome.moves.tolist()
    assert [r.game for r in records] == [game] * 3


def test_a_record_names_all_that_its_play_depended_on() -> None:
    game = make("poison-v0", num_rounds=1)
    of_many = recorded(game, list(range(20)))[13]
    recorder = Recorder()
    agents = [scripted.load(name) for name in of_many.agents]
    assert of_many.match is not None
    again: dict[str, Any] = {"seed": of_many.play_seed, "matches": np.array([of_many.match])}
    play(of_many.game, agents, [of_many.seed], recorder=recorder, **again)
    assert recorder.records([of_many.seed], of_many.agents, **again) == [of_many]


def test_chosen_rows_are_recorded_in_the_order_asked_for() -> None:
    game, seeds = make("poison-v0", deck=TINY), list(range(10))
    every = recorded(game, seeds)
    assert recorded(game, seeds, rows=[7, 2]) == [every[7], every[2]]


def test_a_file_is_text_that_people_can_read(tmp_path: Path) -> None:
    (written,) = recorded(make("poison-v0", num_rounds=1), [LARGEST_SEED])
    written = replace(written, agents=("Ana", "João", "Zoë", "李"))
    record.write(tmp_path / "match.jsonl", written)
    lines = (tmp_path / "match.jsonl").read_text(encoding="utf-8").splitlines()
    header, footer = json.loads(lines[0]), json.loads(lines[-1])
    assert len(lines) == 52
    assert '"agents": ["Ana", "João", "Zoë", "李"]' in lines[0]
    assert header["seed"] == str(LARGEST_SEED)
    assert header["options"] == written.game.options
    assert [json.loads(line)["action"] for line in lines[1:-1]] == record.notation(written)
    assert [json.loads(line)["move"] for line in lines[1:-1]] == list(range(1, 51))
    assert footer["points"] == list(written.points)
    assert record.read(tmp_path / "match.jsonl") == written


def test_notation_marks_overflows() -> None:
    (match,) = recorded(make("poison-v0", num_rounds=1), [1])
    states, game = record.replay(match), match.game
    assert isinstance(game, Poison)
    overflows = game.overflows(states)[np.arange(50), list(match.actions)]
    assert 0 < overflows.sum() < 50
    expected = [game.action_label(a) + "*" * bool(o) for a, o in zip(match.actions, overflows, strict=True)]
    assert record.notation(match) == expected


# --- replay -------------------------------------------------------------------------------------------------------


@a_few_cases
def test_replay_gives_every_position(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    (match,) = recorded(game, [11])
    states = record.replay(match)
    state = game.deal(np.array([11], np.uint64))
    assert len(states) == len(match.actions) + 1
    for number, action in enumerate(match.actions):
        assert states[number].equals(state)
        game.step(state, np.array([action]))
    assert states[-1:].equals(state)
    assert states.done.tolist() == [False] * len(match.actions) + [True]
    assert tuple(game.placements(states)[-1].tolist()) == match.placements


# --- matches of real tables ---------------------------------------------------------------------------------------


def test_the_round_of_the_published_rules_is_recorded_from_its_moves(tmp_path: Path) -> None:
    game = Poison(num_rounds=1, first_dealer=3)
    moves = [f"{move[:2]}>{'XYZ'.index(move[2]) + 1}{move[3:]}" for move in RECORD]
    order = game.deck.parse(" ".join(move[:2] for move in RECORD))
    match = record.from_moves(game, moves, agents=("Suzana", "Ana", "Ricardo", "Renato"), cards=[order])
    assert match.points == (7, 15, 2, 17)
    assert match.placements == (1, 2, 0, 3)
    assert match.returns == (-7.0, -15.0, -2.0, -17.0)
    assert record.notation(match) == moves
    record.write(tmp_path / "table.jsonl", match)
    assert record.read(tmp_path / "table.jsonl") == match


@pytest.mark.parametrize("given", [1, 2, 3])
@pytest.mark.parametrize(
    "options", [{}, {"num_seats": 3}, {"num_seats": 2, "deck": TINY}, {"num_seats": 5, "deal": "equal"}]
)
def test_given_orders_of_cards_are_kept(tmp_path: Path, options: dict[str, Any], given: int) -> None:
    game = Poison(**options, num_rounds=3)
    orders = game.card_order(many_keys(given, 8)).tolist()
    actions = random_moves(game, LARGEST_SEED, orders)
    match = record.from_moves(game, actions, seed=LARGEST_SEED, cards=orders)
    record.write(tmp_path / "table.jsonl", match)
    assert record.read(tmp_path / "table.jsonl") == match
    dealt = record.replay(match).hands[:: game.cards_dealt]
    for number, order in enumerate(orders):
        expected = game.deal_from([order], seeds=[LARGEST_SEED]).hands[0]
        turned = np.roll(expected, number, axis=0)  # the dealer of round r sits r seats further on
        assert dealt[number].tolist() == turned.tolist()


def test_from_moves_names_the_move_that_cannot_be() -> None:
    game = make("poison-v0", num_rounds=1)
    (match,) = recorded(game, [4])
    moves: list[int | str] = list(record.notation(match))
    starred = next(place for place, move in enumerate(moves) if str(move).endswith("*"))
    with pytest.raises(RecordError, match=rf"^move {starred + 1}: action: expected .*\*, got"):
        record.from_moves(game, [*moves[:starred], str(moves[starred]).rstrip("*"), *moves[starred + 1 :]], seed=4)
    with pytest.raises(RecordError, match=r"^move 3: X9>1 is no action of poison-v0"):
        record.from_moves(game, [*moves[:2], "X9>1"], seed=4)
    with pytest.raises(RecordError, match=r"^move 1: 48 is no action"):
        record.from_moves(game, [48], seed=4)
    with pytest.raises(RecordError, match=r"^move 1: -1 is no action"):
        record.from_moves(game, [-1], seed=4)
    second = record.replay(match)[1]
    absent = int(np.argmin(second.hands[0, second.to_move[0]]))
    with pytest.raises(RecordError, match=r"^move 2: seat \d does not hold"):
        record.from_moves(game, [moves[0], 3 * absent], seed=4)
    with pytest.raises(RecordError, match=r"not over after 49 moves"):
        record.from_moves(game, moves[:-1], seed=4)
    with pytest.raises(RecordError, match=r"^move 51: the match is over"):
        record.from_moves(game, [*moves, moves[-1]], seed=4)


def test_orders_must_be_the_deck_and_have_their_rounds() -> None:
    game = Poison(num_rounds=1)
    orders = game.card_order(many_keys(2)).tolist()
    with pytest.raises(PositionError, match="not exactly the deck"):
        record.from_moves(game, [], cards=[[0] * 50])
    with pytest.raises(RecordError, match="more rounds than the match had, 1 left"):
        record.from_moves(game, random_moves(game, 0, orders[:1]), cards=orders)


# --- what cannot be recorded or written ---------------------------------------------------------------------------


def test_the_recorder_refuses_what_was_not_played() -> None:
    game, recorder = make("poison-v0", deck=TINY), Recorder()
    with pytest.raises(LifeCycleError, match="nothing was recorded"):
        recorder.records([1, 2], NAMES)
    agents = [scripted.load("random")] * 4
    play(game, agents, [1, 2], recorder=recorder)
    with pytest.raises(ValueError, match="dealt from others"):
        recorder.records([1, 3], ["random"] * 4)
    with pytest.raises(ValueError, match="expected 2, one for each match"):
        recorder.records([1], ["random"] * 4)
    with pytest.raises(ValueError, match="expected 4 names"):
        recorder.records([1, 2], ["random"] * 5)
    with pytest.raises(ValueError, match="indices of 1 names"):
        recorder.records([1, 2], ["random"], seating=[0, 1, 0, 0])
    state = game.deal(np.array([1], np.uint64))
    recorder.before_step(game, state, np.flatnonzero(game.action_mask(state)[0])[:1])
    with pytest.raises(LifeCycleError, match="row 0: its match was not recorded to the end"):
        recorder.records([1], ["random"] * 4)


def test_a_new_play_begins_a_new_recording() -> None:
    game, recorder = make("poison-v0", deck=TINY), Recorder()
    for seeds in ([1, 2], [3, 4, 5]):
        play(game, [scripted.load("random")] * 4, seeds, recorder=recorder)
    assert [match.seed for match in recorder.records([3, 4, 5], ["random"] * 4)] == [3, 4, 5]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"points": (999, 999)}, "points: expected"),
        ({"placements": (1, 1)}, "placements: expected"),
        ({"returns": (0.5, 0.5)}, "returns: expected"),
        ({"agents": ("one",)}, "2 names"),
        ({"agents": ("one", "two\n")}, "printable"),
        ({"agents": ("one", "\ud800")}, "printable"),
        ({"agents": ("one", "x" * 201)}, "at most 200"),
        ({"seed": 2**64}, r"below 2\*\*64"),
        ({"play_seed": -1}, r"below 2\*\*64"),
        ({"match": -1}, "from 0 on"),
        ({"game_id": "poison-v9"}, "no game 'poison-v9'"),
        ({"options": {}}, "options: expected"),
        ({"options": {"bones": 3}}, "bones"),
        ({"actions": ()}, "not over after 0 moves"),
        ({"actions": (99,)}, "99 is no action"),
        ({"cards": ((0,),)}, "cards"),
    ],
)
def test_what_was_not_played_so_is_not_written(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    (match,) = recorded(make("poison-v0", deck=TINY, num_seats=2), [6])
    path = tmp_path / "match.jsonl"
    record.write(path, match)
    before = path.read_bytes()
    with pytest.raises((RecordError, PositionError), match=reason):
        record.write(path, replace(match, **change))
    assert path.read_bytes() == before


class Undealt:
    """Poison without the ability to be dealt from given orders."""

    def __init__(self, game: Poison) -> None:
        self._game = game

    def __getattr__(self, name: str) -> Any:
        if name in ("deal_from", "redeal"):
            raise AttributeError(name)
        return getattr(self._game, name)


def test_a_game_that_cannot_be_dealt_from_orders_has_records_without_them() -> None:
    game = Poison(deck=TINY, num_seats=2, num_rounds=1)
    orders = game.card_order(many_keys(1)).tolist()
    (match,) = recorded(game, [6])
    assert record.from_moves(Undealt(game), match.actions, seed=6).points == match.points
    with pytest.raises(RecordError, match="poison-v0 cannot be dealt from given orders"):
        record.from_moves(Undealt(game), random_moves(game, 0, orders), cards=orders)
