"""The chance of Potio outcome by outcome: batches of the pile, zones that are filled up. The rest is test_outcomes."""

from typing import Any

import numpy as np
import pytest

from poison_env.core.errors import PositionError
from poison_env.games.potio import Potio, PotioState, moves
from tests.potio_support import POTIO_SETS, cards_everywhere
from tests.support import keys, many_keys, random_actions

FROZEN = ["B5* B5* B5* B5* B6* B6* B6*", "Y1*"]


def exploded(pile: str) -> tuple[Potio, PotioState]:
    """Return a match whose zone of eight has just gone under the pile, and whose mover has drawn two cards."""
    game = Potio(num_seats=2, deck="B5x4 B6x4 Y1 Y2 P1 P3")
    state = game.position(zones=FROZEN, centre="B6", pile=pile)
    for action in (moves.TAKE, moves.COMMIT):
        game.step(state, np.array([action]))
    return game, state


def test_who_draws_after_an_explosion_draws_from_the_old_pile_first() -> None:
    game, state = exploded("P1 P3 Y2")
    assert game.next_outcomes(state, ()) == {3: 2 / 3, 4: 1 / 3}  # two of Y2 P1 P3, lower ones first
    assert game.next_outcomes(state, (3,)) == {4: 0.5, 5: 0.5}
    assert game.next_outcomes(state, (3, 5)) == {4: 1.0}  # revealed


def test_two_cards_from_two_batches_come_in_the_order_of_the_batches() -> None:
    game = Potio(num_seats=2, deck="B5x4 B6x4 Y1 P3")
    state = game.position(zones=FROZEN, centre="B6", pile="P3")
    for action in (moves.TAKE, moves.COMMIT):
        game.step(state, np.array([action]))
    assert game.next_outcomes(state, ()) == {3: 1.0}
    assert game.next_outcomes(state, (3,)) == {0: 0.5, 1: 0.5}
    assert game.next_outcomes(state, (3, 0)) == {0: 3 / 7, 1: 4 / 7}
    game.draw(state, np.array([[3, 0, 1]]))
    assert game.deck.words(state.zones[0, 0].tolist()) == "B5 P3"
    assert state.centre[0].tolist() == [1, -1, -1, -1]
    assert game.layout.decode(game.observe(state, np.array([0])), "pile")[0].sum(axis=1).tolist() == [6, 0]


def test_several_empty_zones_draw_clockwise_from_the_seat_that_exploded() -> None:
    game = Potio(num_seats=3, deck="B5x4 B6x4 Y1")
    state = game.position(zones=[FROZEN[0], "", ""], centre="B6 Y1")
    for action in (moves.TAKE, moves.COMMIT):
        game.step(state, np.array([action]))
    game.draw(state, np.array([[0, 0, 0, 1, 1, 1, 0]]))
    assert [game.deck.words(zone.tolist()) for zone in state.zones[0]] == ["B5 B5", "B5 B6", "B6 B6"]
    assert state.centre[0].tolist() == [2, 0, -1, -1]


@pytest.mark.parametrize("outcomes", [[4, 3, 5], [3, 3, 4], [0, 3, 4], [3, 4], [3, 4, 5, 5]])
def test_what_the_batch_has_not_is_refused(outcomes: list[int]) -> None:
    game, state = exploded("P1 P3 Y2")
    before = state.copy()
    with pytest.raises(PositionError, match=r"chance cannot draw|expected whole numbers"):
        game.draw(state, np.array([outcomes]))
    assert state.equals(before)
    with pytest.raises(PositionError, match="chance cannot draw"):
        game.next_outcomes(state, [*outcomes, 0])


def test_a_position_set_up_does_not_tell_its_outcomes() -> None:
    game, state = exploded("P1 P3 Y2")
    with pytest.raises(PositionError, match="row 0: the match does not tell what has been drawn"):
        game.outcomes(state)


@pytest.mark.parametrize("name", POTIO_SETS)
def test_no_card_is_lost_by_another_draw(name: str) -> None:
    game = Potio(**POTIO_SETS[name])
    state = game.deal(many_keys(30))
    for _ in range(60):
        rows = np.flatnonzero(game.drawn_now(state))
        other = state[rows]
        drawn: Any = [one_draw(game, other[row]) for row in range(len(rows))]
        if len(rows):
            width = max(map(len, drawn))
            game.draw(other, np.array([row + [-1] * (width - len(row)) for row in drawn]))
            state[rows] = other
            np.testing.assert_array_equal(cards_everywhere(game, other), np.tile(game.deck.counts, (len(rows), 1)))
        game.step(state, random_actions(game, state))


def one_draw(game: Potio, state: PotioState) -> list[int]:
    """Return the last outcome at every fork."""
    drawn: list[int] = []
    while following := game.next_outcomes(state, drawn):
        drawn.append([*following][-1])
    return drawn


def test_what_is_left_of_a_batch_keeps_all_its_orders() -> None:
    game = Potio(num_seats=2, deck="B1x5 B2x4 Y1")
    state = game.deal(many_keys(6_000))
    game.draw(state, np.tile([3, 0, 0, 0, 0, 0, 1, 1, 1], (6_000, 1)))  # B2 Y1 are left below
    order = game.full_layout.decode(game.observe_all(state), "pile_order")[:, :2]
    shares = np.unique(order, axis=0, return_counts=True)[1] / 6_000
    np.testing.assert_allclose(shares, [0.5, 0.5], atol=0.03)


def test_labels_are_cards_and_seats() -> None:
    game = Potio(num_seats=2, deck="B1x5 G2x4")
    assert [game.outcome_label(outcome) for outcome in range(4)] == ["B1", "G2", "seat 0 begins", "seat 1 begins"]
    assert game.outcomes(game.deal(keys(1))).shape == (1, game.max_outcomes)
