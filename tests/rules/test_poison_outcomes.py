"""The chance of Poison outcome by outcome, and what a match can pay; what holds in every game is in test_outcomes."""

from typing import Any

import numpy as np
import pytest

from experiments.best_response import build_tree
from poison_env.core.errors import PositionError
from poison_env.games.poison import Poison
from tests.support import (
    OPTION_SETS,
    TINY,
    advance,
    at_random_depths,
    chi_square_z,
    keys,
    many_keys,
)

every_option_set = pytest.mark.parametrize("name", OPTION_SETS)


def test_the_first_dealer_is_drawn_first_and_only_once() -> None:
    game = Poison(num_seats=3, deck=TINY, num_rounds=2)
    state = game.deal(keys(1))
    dealers = {game.num_kinds + seat: 1 / 3 for seat in range(3)}
    assert game.next_outcomes(state, ()) == dealers
    advance(game, state, game.cards_dealt)
    assert game.next_outcomes(state, ()).keys() <= set(range(game.num_kinds))


def test_a_given_dealer_is_not_drawn() -> None:
    game = Poison(num_seats=3, deck=TINY, num_rounds=2, first_dealer=1)
    assert game.num_outcomes == game.num_kinds
    assert max(game.next_outcomes(game.deal(keys(1)), ())) < game.num_kinds


@every_option_set
def test_chance_has_drawn_when_a_round_begins(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(60))
    begun = (state.moves % game.cards_dealt == 0) & ~state.done
    np.testing.assert_array_equal(begun, game.drawn_now(state))
    np.testing.assert_array_equal([True] * 5, game.drawn_now(game.deal(many_keys(5))))


def test_labels_are_cards_and_dealers() -> None:
    game = Poison(num_seats=2, deck="R1x2 G4x2")
    assert [game.outcome_label(outcome) for outcome in range(4)] == [
        "R1",
        "G4",
        "seat 0 deals first",
        "seat 1 deals first",
    ]


@pytest.mark.parametrize("recall", ["perfect", "none"])
def test_redrawn_outcomes_are_as_likely_as_the_hands_make_them(recall: str) -> None:
    game = Poison(num_seats=2, deck=TINY, deal="hands4", recall=recall, num_rounds=1, first_dealer=0)
    state = game.deal(keys(4))
    advance(game, state, 1)
    mover, draws = state.to_move, 20_000
    unseen = game.deck.counts - np.bincount(state.events[0, :1] % game.num_actions // 3, minlength=game.num_kinds)
    unseen = unseen - state.hands[0, mover[0]]
    played = int(state.events[0, 0]) % game.num_actions // 3
    outcomes = game.redraw(state[np.zeros(draws, int)], np.repeat(mover, draws), many_keys(draws, seed=6))
    other = outcomes[:, : game.hand_sizes[0]]  # seat 1 has begun; it held the card played and one that is unseen
    held = other.sum(axis=1) - played
    weights = unseen / unseen.sum()
    drawn = np.bincount(held, minlength=game.num_kinds)
    assert drawn[unseen == 0].sum() == 0
    assert abs(chi_square_z(drawn[unseen > 0], weights[unseen > 0])) < 4


def test_redrawing_with_recall_is_resampling() -> None:
    game = Poison(num_seats=3, num_rounds=2)
    state = at_random_depths(game, many_keys(40))
    seeds = many_keys(40, seed=8)
    expected = game.outcomes(game.resample(state, state.to_move, seeds))
    np.testing.assert_array_equal(expected, game.redraw(state, state.to_move, seeds))


@pytest.mark.parametrize(
    "outcomes",
    [
        [[0, 1]],  # too few
        [[0, 1, 2, 3, 0]],  # too many
        [[0, 1, 1, 0]],  # not in the order of kinds
        [[0, 0, 0, 1]],  # more than the deck has
        [[0, 1, 2, 9]],
        [[-1, 1, 2, 3]],
        [[0.0, 1.0, 2.0, 3.0]],
        [[0, 1, 2, 3], [0, 1, 2, 3]],
        [0, 1, 2, 3],
    ],
)
def test_what_chance_cannot_draw_is_refused_and_changes_nothing(outcomes: list[Any]) -> None:
    game = Poison(num_seats=2, deck="R1x2 R2 R3 R4", deal="equal", first_dealer=0)
    state = game.deal(keys(1))
    before = state.copy()
    with pytest.raises(PositionError, match=r"outcomes: expected|chance cannot draw"):
        game.draw(state, np.array(outcomes))
    assert state.equals(before)


@pytest.mark.parametrize("drawn", [(9,), (-1,), (0, 0, 0), (0, 1, 2, 3, 3), (1, 0)])
def test_nothing_follows_what_chance_cannot_draw(drawn: tuple[int, ...]) -> None:
    game = Poison(num_seats=2, deck="R1x2 R2 R3 R4", deal="equal", first_dealer=0)
    with pytest.raises(PositionError, match="chance cannot draw"):
        game.next_outcomes(game.deal(keys(1)), drawn)


def test_a_position_set_up_does_not_tell_its_outcomes() -> None:
    game = Poison(num_seats=2, deck=TINY, num_rounds=1)
    state = game.position(hands=["R1", "R3"], cauldrons=["R5", "", ""])
    with pytest.raises(PositionError, match="row 0: the match does not tell what was dealt in round 1"):
        game.outcomes(state)


# --- what a match can pay


@pytest.mark.parametrize(
    ("deck", "reward", "bounds"),
    [
        ("R9x4 G9x2", "points", (-6, 0)),  # a tie for two reds each, and both poisons
        ("R9x4 G9x2", "relative", (-5, 5)),
        ("R9x3 B9x3 G4", "relative", (-4, 4)),
        ("R9x4 G9x2", "win", (0, 1)),
    ],
)
def test_bounds_with_two_seats(deck: str, reward: str, bounds: tuple[float, float]) -> None:
    assert Poison(num_seats=2, deck=deck, reward=reward, num_rounds=1).return_bounds == bounds


@pytest.mark.parametrize("num_seats", [2, 3])
@pytest.mark.parametrize("reward", ["points", "relative", "win"])
def test_bounds_hold_in_every_line_of_play(num_seats: int, reward: str) -> None:
    game = Poison(num_seats=num_seats, deck="R9x3 G9x3", reward=reward, num_rounds=1)
    paid = np.concatenate([layer.paid for layer in build_tree(game).layers])
    assert paid.min() >= game.return_bounds[0]
    assert paid.max() <= game.return_bounds[1]


@pytest.mark.parametrize(
    ("num_rounds", "reward", "expected"), [(1, "points", True), (2, "points", False), (2, "win", True)]
)
def test_the_last_move_pays_everything_or_does_not(num_rounds: int, reward: str, expected: bool) -> None:
    game = Poison(num_rounds=num_rounds, reward=reward)
    assert game.pays_at_end is expected
    state = game.deal(many_keys(3))
    assert (advance(game, state, game.max_moves - 1) == 0).all() == expected
