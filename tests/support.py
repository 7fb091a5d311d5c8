"""What the tests of Poison share: option sets, random play in batches, moves and positions in text."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.core.protocol import State
from poison_env.games.poison import Poison, PoisonState

TINY = "R1x2 R3 R5 B2x2 B4 B6"  # two colours of four cards
ALL_KINDS = " ".join(f"{letter}{value}" for letter in "RBPG" for value in range(1, 14))
LARGEST = "R1x300 R2x200 B13x100 G1x100"  # 700 cards

# One option set for every option that changes what is dealt, legal, seen or paid.
OPTION_SETS: dict[str, dict[str, Any]] = {
    "default": {},
    "one round": {"num_rounds": 1},
    "two seats": {"num_seats": 2, "num_rounds": 2},
    "two seats, all dealt": {"num_seats": 2, "deal": "all", "num_rounds": 1},
    "three seats": {"num_seats": 3, "num_rounds": 2},
    "three seats, equal": {"num_seats": 3, "deal": "equal", "num_rounds": 2},
    "three seats, all dealt": {"num_seats": 3, "deal": "all", "num_rounds": 1},
    "five seats, equal": {"num_seats": 5, "deal": "equal", "num_rounds": 2, "first_dealer": 3},
    "six seats": {"num_seats": 6, "num_rounds": 2},
    "eight seats": {"num_seats": 8, "num_rounds": 2, "deal": "equal"},
    "fixed colours": {"colour_rule": "fixed", "num_rounds": 2},
    "no recall": {"recall": "none", "num_rounds": 2},
    "no recall, cards aside": {"recall": "none", "num_seats": 3, "num_rounds": 2},
    "box58": {"deck": "box58", "num_rounds": 2},
    "box58, seven seats, no recall": {"deck": "box58", "num_seats": 7, "recall": "none", "num_rounds": 1},
    "relative": {"reward": "relative", "num_seats": 3, "num_rounds": 2},
    "win, handicaps": {"reward": "win", "handicaps": (3, 0, 7, 0), "num_rounds": 2},
    "tiny": {"deck": TINY, "num_seats": 2},
    "tiny, aside, no recall": {"deck": TINY, "num_seats": 2, "deal": "hands4", "recall": "none"},
    "one colour": {"deck": "R1x3 R4x3 R9x4 G3x4", "num_seats": 3},
    "only red, fixed": {"deck": "R2x5 R6x5 R13x2", "colour_rule": "fixed", "num_seats": 3},
    "52 kinds": {"deck": ALL_KINDS, "num_seats": 5, "num_rounds": 1},
    "17 kinds": {"deck": "R1x3 R2x3 R3 R4 R5 B1x4 B2 B6x3 B7 B8 P1 P9x2 P10 G1 G2x3 G3 G12", "num_rounds": 2},
}

# Seats: Suzana, Ana, Ricardo, Renato; X, Y, Z the cauldrons; * an overflow. A whole round that ends in the scoring
# table of the published rules. Seat i plays moves i, i + 4, ..., so this is also the order of cards to deal.
RECORD_TEXT = (
    "R2X R4X R7X R7X* R5X B1Y B2Y B5Y R5X* R1X R1X R1X R2X R2X R4X* G4Y B7Y* R5X G4X R7X* G4X G4X* P4X P4X B2Y P7X* "
    "G4Y B5Y* P5X B2Y P5X* P1X P1X B7Y* P1X P2X B1Y B7Y* P2X P7X* P5X P7X* P2X B1Y G4Y B4Y* G4X B4Y B5Y G4X*"
)
RECORD = RECORD_TEXT.split()


def keys(*seeds: int) -> chance.KeyArray:
    return np.array(seeds, dtype=np.uint64)


def many_keys(count: int, seed: int = 0) -> chance.KeyArray:
    return chance.fold(seed, np.arange(count))


def action(game: Poison, label: str) -> int:
    """Return the action written as `R7>2`, an overflow's `*` allowed."""
    card, _, cauldron = label.rstrip("*").partition(">")
    (kind,) = game.deck.parse(card)
    return 3 * kind + int(cauldron) - 1


def labels(game: Poison, state: PoisonState, row: int = 0) -> set[str]:
    """Return the legal moves of a row as text, alone and in a batch."""
    alone, batch = game.action_mask(state[row])[0], game.action_mask(state[[row, row]])[1]
    np.testing.assert_array_equal(alone, batch)
    return {game.action_label(a) for a in np.flatnonzero(alone)}


def push(game: Poison, state: PoisonState, *moves: str) -> npt.NDArray[np.float64]:
    """Play moves written as `R7>2` in one match, in place, and in a batch; return the last one's rewards, (1, P)."""
    paid, batch = np.zeros((1, game.num_seats)), state[[0, 0, 0]]
    for move in moves:
        paid = game.step(state, np.array([action(game, move)]))
        np.testing.assert_array_equal(paid, game.step(batch, np.full(3, action(game, move)))[[1]])
        assert batch[1].equals(state)
    return paid


def seen(game: Poison, state: PoisonState, name: str, row: int = 0) -> Any:
    """Return a section of what there is to see, as nested lists: seats in table order."""
    return game.full_layout.decode(game.observe_all(state), name)[row].tolist()


def contents(game: Poison, state: PoisonState, row: int = 0) -> list[str]:
    """Return what is in the three cauldrons as text such as `G4 G4`; `-` when empty."""
    return [
        " ".join(game.deck.label(kind) for kind, count in enumerate(cards) for _ in range(count)) or "-"
        for cards in seen(game, state, "cauldrons", row)
    ]


def random_actions(game: Poison, state: PoisonState, salt: int = 0) -> npt.NDArray[np.int64]:
    """Choose legal actions, (B,): a function of each match's seed, its move number and `salt` alone."""
    return uniform_legal(game.action_mask(state), chance.fold(state.seeds, state.moves, salt))


def advance(game: Poison, state: PoisonState, count: int | None = None, salt: int = 0) -> npt.NDArray[np.float64]:
    """Play random moves in place, to the end unless told how many; return the sums of rewards, (B, P)."""
    paid = np.zeros((len(state), game.num_seats))
    for _ in range(game.max_moves if count is None else count):
        if state.done.all():
            break
        paid += game.step(state, random_actions(game, state, salt))
    return paid


def random_play(game: Poison, state: PoisonState, salt: int = 0) -> Iterator[npt.NDArray[np.int64]]:
    """Play random moves in place to the end, handing out the actions before each step."""
    while not state.done.all():
        chosen = random_actions(game, state, salt)
        yield chosen
        game.step(state, chosen)


def at_random_depths(game: Poison, seeds: chance.KeyArray, salt: int = 0) -> PoisonState:
    """Return matches stopped each after a random number of random moves, the whole length included."""
    state = game.deal(seeds)
    depth = chance.below(chance.fold(seeds, 99, salt), game.max_moves + 1)
    stopped = state.copy()
    for move in range(1, game.max_moves + 1):
        game.step(state, random_actions(game, state, salt))
        rows = np.flatnonzero(depth == move)
        if len(rows):
            stopped[rows] = state[rows]
    return stopped


def every_seat(game: Poison, state: PoisonState) -> tuple[PoisonState, npt.NDArray[np.int64]]:
    """Return the rows once for each seat, and the seats."""
    return state[np.repeat(np.arange(len(state)), game.num_seats)], np.tile(np.arange(game.num_seats), len(state))


def arrays(state: State) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a state by name: the very arrays, not copies."""
    return {field.name: getattr(state, field.name) for field in fields(state)}


def shares_memory(one: Sequence[npt.NDArray[Any]], other: Sequence[npt.NDArray[Any]]) -> bool:
    return any(np.shares_memory(a, b) for a in one for b in other)


def chi_square_z(observed: npt.NDArray[Any], weights: npt.NDArray[Any]) -> float:
    """Return Pearson's statistic of counts under those probabilities as a normal score, as Wilson and Hilferty."""
    expected = weights * observed.sum()
    assert expected.min() > 5, "too few draws for a chi-square test"
    statistic, freedom = ((observed - expected) ** 2 / expected).sum(), len(observed) - 1
    spread = 2 / (9 * freedom)
    return float(((statistic / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5)
