"""The chance of Arsenic outcome by outcome: certain scones, deaths, sudden death, histories; see test_outcomes too."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from poison_env.core.errors import PositionError
from poison_env.games.arsenic import Arsenic
from tests.arsenic_support import SORTED, WITH_SPECIALS, action, eat, many_keys, push
from tests.support import chi_square_z


def test_a_scone_is_any_of_its_flavour_that_nobody_has_seen_in_its_slot() -> None:
    game = Arsenic(num_seats=2, spoons=False)
    state = game.deal_from(SORTED)
    push(game, state, "draw:0.3 return pass")  # a dose of one, seen by seat 0
    eat(game, state, "0.6")  # three, by seat 1
    push(game, state, "draw:0.1")
    assert game.next_outcomes(state, ()) == {0: 2 / 4, 1: 1 / 4, 2: 1 / 4}
    push(game, state, "return pass draw:0.3")  # seat 1 looks where seat 0 has looked
    assert game.next_outcomes(state, ()) == {1: 1.0}
    push(game, state, "return shuffle draw:0.3")
    assert game.next_outcomes(state, ()) == {0: 2 / 5, 1: 2 / 5, 2: 1 / 5}


def test_by_flavour_a_scone_is_any_in_the_box() -> None:
    game = Arsenic(num_seats=2, spoons=False, draw="flavour")
    state = game.deal_from(SORTED)
    push(game, state, "draw:0 return draw:0")
    assert game.next_outcomes(state, ()) == {0: 2 / 6, 1: 2 / 6, 2: 1 / 6, 3: 1 / 6}
    game.draw(state, np.array([[3]]))
    push(game, state, "eat draw:0")
    assert game.next_outcomes(state, ()) == {0: 2 / 5, 1: 2 / 5, 2: 1 / 5}


def test_another_draw_leaves_what_was_seen_and_takes_what_was_not() -> None:
    game = Arsenic(num_seats=2)
    state = game.deal_from(SORTED)
    push(game, state, "draw:0.5 return pass draw:0.1")
    with pytest.raises(PositionError, match="row 0: chance cannot draw \\[2\\]"):
        game.draw(state, np.array([[2]]))
    game.draw(state, np.array([[3]]))
    assert state.box[0, :6].tolist() == [4, 1, 2, 2, 3, 1]
    assert game.outcomes(state)[0, :4].tolist() == [5, 2, 3, -1]


def test_what_is_left_of_a_flavour_keeps_all_its_orders() -> None:
    game = Arsenic(num_seats=2)
    state = game.deal(many_keys(6_000))
    game.step(state, np.zeros(6_000, int))
    game.draw(state, np.full((6_000, 1), 1))
    shares = np.bincount(state.box[:, 1], minlength=5)[1:]
    assert abs(chi_square_z(shares, np.array([2, 1, 1, 1]) / 5)) < 4


def test_a_death_is_seen_though_nothing_is_drawn() -> None:
    game = Arsenic(num_seats=6, spoons=False)
    state = game.deal_from(SORTED)
    for slot in ("0.6", "0.1", "0.2", "1.1", "1.2", "2.1"):
        eat(game, state, slot)
        assert not game.drawn_now(state)[0]
    eat(game, state, "1.6")
    assert not state.alive[0, 0]
    assert game.drawn_now(state)[0]
    assert game.next_outcomes(state, ()) == {}
    assert game.draw(state, np.zeros((1, 0), int)).tolist() == [[0.0] * 6]
    with pytest.raises(PositionError, match="chance cannot draw"):
        game.next_outcomes(state, (0,))
    push(game, state, "draw:1.3")
    push(game, state, "return pass")
    assert not game.drawn_now(state)[0]


# --- sudden death


SECOND_WINS = [3, 0, 3, 0, 3, 0, 2, 0, 2, 0, 2, 0]  # the first seat has 15 at its sixth scone; the lap is finished


def tie(**options: Any) -> tuple[Arsenic, Any, Any]:
    game = Arsenic(num_seats=2, honour_turns=0, **options)
    state = game.deal_from(WITH_SPECIALS if options.get("specials") else SORTED)
    return game, state, push(game, state, "stop stop")


def test_sudden_death_is_drawn_dose_by_dose_and_decides_who_wins() -> None:
    game, state, paid = tie()
    assert game.next_outcomes(state, ()) == {0: 12 / 36, 1: 12 / 36, 2: 6 / 36, 3: 6 / 36}
    for number, dose in enumerate(SECOND_WINS):
        assert dose in game.next_outcomes(state, SECOND_WINS[:number])
    assert game.next_outcomes(state, SECOND_WINS) == {}
    for outcomes, winner in ((SECOND_WINS, 1), ([0, 3, 0, 3, 0, 3, 0, 2, 0, 2, 0, 2], 0)):
        paid = paid + game.draw(state, np.array([outcomes]))
        assert paid.tolist() == [[1.0 - winner, float(winner)]]
        assert game.placements(state).tolist() == [[winner, 1 - winner]]
        assert game.outcomes(state)[0, 1:14].tolist() == [*outcomes, -1]


def test_sudden_death_with_the_drop() -> None:
    game, state, _ = tie(specials=True)
    assert game.next_outcomes(state, ()) == {0: 16 / 42, 1: 13 / 42, 2: 6 / 42, 3: 6 / 42, 4: 1 / 42}
    assert game.next_outcomes(state, (4,)) == {0: 16 / 41, 1: 13 / 41, 2: 6 / 41, 3: 6 / 41}


@pytest.mark.parametrize("outcomes", [SECOND_WINS[:-1], [*SECOND_WINS, 0], [3] * 10, [4, *SECOND_WINS[1:]], [5] * 12])
def test_what_sudden_death_cannot_be_is_refused(outcomes: list[int]) -> None:
    game, state, _ = tie()
    before = state.copy()
    with pytest.raises(PositionError, match="row 0: chance cannot draw"):
        game.draw(state, np.array([outcomes]))
    assert state.equals(before)
    if len(outcomes) != 11:
        with pytest.raises(PositionError, match="chance cannot draw"):
            game.next_outcomes(state, [*outcomes, 0])


@pytest.mark.parametrize("reward", ["points", "relative"])
def test_sudden_death_changes_no_other_pay(reward: str) -> None:
    game, state, _ = tie(reward=reward)
    assert game.draw(state, np.array([SECOND_WINS])).tolist() == [[0.0, 0.0]]


def test_a_shared_tie_is_not_drawn() -> None:
    game, state, _ = tie(tiebreak="shared")
    assert not game.drawn_now(state)[0]


# --- histories


def test_a_world_does_not_tell_what_others_saw() -> None:
    game = Arsenic(num_seats=2)
    state = game.deal_from(SORTED)
    push(game, state, "draw:0.1 return pass")
    with pytest.raises(PositionError, match="row 0: the match does not tell what has been drawn"):
        game.outcomes(game.resample(state, np.ones(1, int), many_keys(1)))


DEADLY = np.tile([3, 0, 0, 1, 1, 2, -1], 6)
STOPS = "stop stop stop stop"
HISTORIES: dict[str, tuple[dict[str, Any], Any, str, int]] = {  # options, the true box, moves, who remembers
    "a place seen again": ({}, SORTED, "draw:0.1 return shuffle draw:0.1 return shuffle draw:0.1", 0),
    "eaten from under one's eyes": (
        {"spoons": False},
        SORTED,
        "draw:0.1 return shuffle draw:0.1 eat draw:0.2 return shuffle draw:0.3 eat draw:0.4 return pass",
        0,
    ),
    "by flavour": (
        {"draw": "flavour"},
        SORTED,
        "draw:0 return draw:0 eat pass draw:0 eat spoon draw:0 eat pass draw:0",
        0,
    ),
    "the window": (
        {"specials": True},
        WITH_SPECIALS,
        "draw:5.1 return shuffle draw:5.2 return pass draw:5.2 eat spoon shuffle draw:5.2",
        1,
    ),
    "the living": (
        {"num_seats": 6, "spoons": False, "honour_turns": 0},
        SORTED,
        f"draw:0.1 eat draw:1.1 eat {STOPS} draw:1.2 eat draw:0.2 eat",
        2,
    ),
    "the dead": (
        {"num_seats": 6, "spoons": False, "honour_turns": 0},
        DEADLY,
        f"draw:0.1 eat draw:0.2 eat {STOPS} draw:1.1 eat draw:1.2 eat",
        2,
    ),
}


@pytest.mark.parametrize(("options", "box", "moves", "seat"), HISTORIES.values(), ids=HISTORIES)
def test_histories_are_as_likely_as_chance_makes_them(options: dict[str, Any], box: Any, moves: str, seat: int) -> None:
    """Play many matches with the same moves, and keep those in which the seat has seen the same."""
    game, size, draws = Arsenic(**{"num_seats": 2, **options}), 20_000, 1_000
    true = game.deal_from(box)
    deals = game.deal(many_keys(size)).box
    many = game.deal_from(np.where(deals == 0, -1, deals - 1), seeds=many_keys(size, 1))
    for move in moves.split():
        chosen = action(game, move)
        many = many[game.action_mask(many)[:, chosen]]
        for state in (true, many):
            game.step(state, np.full(len(state), chosen))
        same = game.observe(many, np.full(len(many), seat)) == game.observe(true, np.array([seat]))
        many = many[same.all(axis=1)]
    expected = Counter(map(tuple, game.outcomes(many).tolist()))
    worlds = true[np.zeros(draws, int)]
    found = Counter(map(tuple, game.redraw(worlds, np.full(draws, seat), many_keys(draws, 2)).tolist()))
    assert len(many) > 200
    assert len(expected) > 2
    groups = [{history} for history in expected if expected[history] + found[history] > 20]
    groups += [{h for h in expected.keys() | found.keys() if h[draw] == kind} for draw in range(9) for kind in range(5)]
    for group in groups:  # of all that was drawn, and of each draw alone
        one, other = (sum(counts[history] for history in group) for counts in (expected, found))
        whole = (one + other) / (len(many) + draws)
        spread = (whole * (1 - whole) * (1 / len(many) + 1 / draws)) ** 0.5
        assert abs(one / len(many) - other / draws) <= 4.5 * spread


def test_a_match_that_is_over_stays_as_it_is() -> None:
    game, state, _ = tie()
    assert game.redraw(state, np.ones(1, int), many_keys(1)).tolist() == game.outcomes(state).tolist()
