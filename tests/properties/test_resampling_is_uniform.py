"""Resampling against full enumeration: every way to place the unseen cards is equally likely, on tiny decks."""

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from poison_env.games.poison import Poison, PoisonState
from tests.support import TINY, chi_square_z, many_keys

WORLDS = 40_000

POSITIONS: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {  # options, position, seat
    "another hand and cards aside": (
        {"num_seats": 2, "deal": "hands4"},
        {"hands": ["R3 B4", "R1 B2"]},
        0,
    ),
    "two other hands and cards aside": (
        {"num_seats": 3, "deal": "hands4"},
        {"hands": ["R1", "B2", "R5"], "cauldrons": ("B4", "", ""), "taken": ("R3", "", "B6")},
        2,
    ),
    "two other hands of unequal size": (
        {"num_seats": 3},
        {"hands": ["R1 R3", "B2 B2", "R5"], "cauldrons": ("B4", "", "")},
        1,
    ),
    "hands without recall": (
        {"num_seats": 2, "deal": "hands4", "recall": "none"},
        {"hands": ["R1", "B2"], "cauldrons": ("R3", "", ""), "taken": ("R5 B4", "B6")},
        0,
    ),
    "own and others' piles without recall": (
        {"num_seats": 3, "recall": "none"},
        {"hands": ["", "R1", ""], "to_move": 1, "cauldrons": ("B6", "", ""), "taken": ("R1 R5", "B2", "R3 B2 B4")},
        1,
    ),
    "piles without recall of a seat that holds nothing": (
        {"num_seats": 3, "recall": "none", "deal": "hands4"},
        {"hands": ["", "R1", "B2"], "to_move": 1, "cauldrons": ("B6", "R3", ""), "taken": ("R1 B2", "R5", "")},
        0,
    ),
}


def enumerate_worlds(game: Poison, state: PoisonState, seat: int) -> Counter[tuple[Any, ...]]:
    """Count, over all orders of the unseen cards, how often each world comes up."""
    unseen = game.layout.decode(game.observe(state, np.array([seat])), "unseen")[0]
    cards = np.repeat(np.arange(game.num_kinds), unseen).tolist()
    sizes = state.hands[0].sum(axis=1)
    sizes[seat] = 0
    if game.recall == "none":
        sizes = np.concatenate([sizes, state.taken[0].sum(axis=1)])
    ends = np.cumsum(sizes)
    found: Counter[tuple[Any, ...]] = Counter()
    for order in permutations(cards):
        parts = [sorted(part.tolist()) for part in np.split(np.array(order, int), ends)]
        hands = [count(game, part) for part in parts[: game.num_seats]]
        hands[seat] = state.hands[0, seat].tolist()
        taken = state.taken[0].tolist()
        if game.recall == "none":
            taken = [np.bincount(game.deck.classes[part], minlength=4).tolist() for part in parts[game.num_seats : -1]]
        found[freeze(hands), freeze(taken), tuple(count(game, parts[-1]))] += 1
    return found


def count(game: Poison, cards: list[int]) -> list[int]:
    return [cards.count(kind) for kind in range(game.num_kinds)]


def freeze(rows: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in rows)


@pytest.mark.parametrize("name", POSITIONS)
def test_worlds_are_uniform_over_all_that_a_seat_holds_possible(name: str) -> None:
    options, position, seat = POSITIONS[name]
    game = Poison(deck=TINY, **options)
    state = game.position(**position)
    expected = enumerate_worlds(game, state, seat)
    worlds = game.resample(state[np.zeros(WORLDS, int)], np.full(WORLDS, seat), many_keys(WORLDS, seed=3))
    full = game.observe_all(worlds)
    hands, taken, aside = (game.full_layout.decode(full, part).tolist() for part in ("hands", "taken", "set_aside"))
    drawn = Counter((freeze(h), freeze(t), tuple(a)) for h, t, a in zip(hands, taken, aside, strict=True))
    assert drawn.keys() <= expected.keys()
    assert len(expected) >= 4
    observed = np.array([drawn[world] for world in expected])
    weights = np.array([*expected.values()]) / expected.total()
    assert abs(chi_square_z(observed, weights)) < 4


def test_deals_are_uniform_over_all_hands() -> None:
    game = Poison(num_seats=2, deck="R1x2 R2 B3x2", num_rounds=1)
    orders = game.card_order(many_keys(WORLDS, seed=4))
    expected = Counter(permutations([0, 0, 1, 2, 2]))
    drawn = Counter(map(tuple, orders.tolist()))
    assert drawn.keys() == expected.keys()
    observed = np.array([drawn[order] for order in expected])
    assert abs(chi_square_z(observed, np.array([*expected.values()]) / expected.total())) < 4
