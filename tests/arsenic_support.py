"""What the tests of Arsenic share: option sets, boxes and moves in text, random play, the referee beside the engine."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.games.arsenic import Arsenic, ArsenicState
from tests.reference.arsenic_referee import SPECIALS, Move, Referee, Scone

# One option set for every option that changes what is dealt, legal, seen or paid.
OPTION_SETS: dict[str, dict[str, Any]] = {
    "default": {},
    "alone": {"num_seats": 1},
    "alone, win": {"num_seats": 1, "reward": "win", "specials": True},
    "alone, by flavour": {"num_seats": 1, "draw": "flavour"},
    "two seats": {"num_seats": 2},
    "two seats, shared tie": {"num_seats": 2, "tiebreak": "shared", "honour_turns": 0},
    "three seats, points": {"num_seats": 3, "reward": "points"},
    "three seats, all may die": {"num_seats": 3, "last_survivor_ends": False},
    "four seats, relative": {"reward": "relative", "specials": True},
    "five seats, no spoons": {"num_seats": 5, "spoons": False},
    "six seats": {"num_seats": 6},
    "six seats, specials": {"num_seats": 6, "specials": True, "honour_turns": 3},
    "two seats, specials": {"num_seats": 2, "specials": True, "last_survivor_ends": False},
    "by flavour": {"draw": "flavour"},
    "by flavour, two seats, specials": {"draw": "flavour", "num_seats": 2, "specials": True},
    "by flavour, six seats": {"draw": "flavour", "num_seats": 6, "reward": "points", "last_survivor_ends": False},
    "by flavour, three seats, no spoons": {"draw": "flavour", "num_seats": 3, "spoons": False, "tiebreak": "shared"},
}
SORTED = np.tile([0, 0, 1, 1, 2, 3, -1], 6)  # a box in which the dose is known by the slot
WITH_SPECIALS = np.tile([0, 0, 1, 1, 2, 3, 4], 6)


def many_keys(count: int, seed: int = 0) -> chance.KeyArray:
    return chance.fold(seed, np.arange(count))


def action(game: Arsenic, label: str) -> int:
    """Return the action written as `draw:2.5` or `eat`."""
    return next(number for number in range(game.num_actions) if game.action_label(number) == label)


def labels(game: Arsenic, state: ArsenicState, row: int = 0) -> set[str]:
    """Return the legal moves of a row as text."""
    return {game.action_label(int(number)) for number in np.flatnonzero(game.action_mask(state)[row])}


def words(game: Arsenic, state: ArsenicState) -> set[str]:
    """Return the legal moves of the first row as words: `draw` for all draws."""
    return {label.partition(":")[0] for label in labels(game, state)}


def push(game: Arsenic, state: ArsenicState, moves: str) -> npt.NDArray[np.float64]:
    """Play moves with spaces between in one match, in place, and in a batch; return the last one's rewards, (P,)."""
    paid, batch = np.zeros((1, game.num_seats)), state[[0, 0, 0]]
    for move in moves.split():
        paid = game.step(state, np.array([action(game, move)]))
        np.testing.assert_array_equal(paid, game.step(batch, np.full(3, action(game, move)))[[1]])
        assert batch[1].equals(state)
    result: npt.NDArray[np.float64] = paid[0]
    return result


def eat(game: Arsenic, state: ArsenicState, slot: str) -> npt.NDArray[np.float64]:
    """Let the seat whose turn it is draw and eat a scone; all others pass."""
    paid = push(game, state, f"draw:{slot} eat")
    while not state.done[0] and state.phase[0] == 2:
        paid = push(game, state, "pass")
    return paid


def random_actions(game: Arsenic, state: ArsenicState, salt: int = 0) -> npt.NDArray[np.int64]:
    """Choose legal actions, (B,): a function of each match's seed, its move number and `salt` alone."""
    return uniform_legal(game.action_mask(state), chance.fold(state.seeds, state.moves, salt, 7))


def random_play(game: Arsenic, state: ArsenicState, salt: int = 0) -> Iterator[npt.NDArray[np.int64]]:
    """Play random moves in place to the end, handing out the actions before each step."""
    while not state.done.all():
        chosen = random_actions(game, state, salt)
        yield chosen
        game.step(state, chosen)


def at_random_depths(game: Arsenic, seeds: chance.KeyArray, most: int, salt: int = 0) -> ArsenicState:
    """Return matches stopped each after a random number of random moves, at most `most`."""
    state = game.deal(seeds)
    depth = chance.below(chance.fold(seeds, 99, salt), most + 1)
    stopped = state.copy()
    for move in range(1, most + 1):
        game.step(state, random_actions(game, state, salt))
        rows = np.flatnonzero(depth == move)
        if len(rows):
            stopped[rows] = state[rows]
    return stopped


# --- the referee beside the engine


def scone(sort: int) -> Scone:
    flavour, kind = divmod(sort, 5)
    return flavour, SPECIALS[flavour] if kind == 4 else str(kind)


def number_of(scone: Scone) -> int:
    flavour, name = scone
    return 5 * flavour + (int(name) if name.isdigit() else 4)


def box_of(state: ArsenicState, row: int) -> dict[int, Scone]:
    return {
        slot: scone(5 * (slot // 7) + int(kind) - 1) for slot, kind in enumerate(state.box[row].tolist()) if kind > 0
    }


def referee_for(game: Arsenic, state: ArsenicState, row: int = 0) -> Referee:
    """Return a referee of the match in a row, freshly dealt."""
    return Referee(box_of(state, row), first=int(state.first[row]), **game.options)


def move_of(game: Arsenic, number: int) -> Move:
    """Return an action as the referee names it."""
    draws = 42 if game.rule_draw == "slots" else 6
    if number < draws:
        return "draw", number
    names = ["stop", "shuffle", "eat", "return", "spoon", "pass"]
    if game.rule_draw == "flavour":
        names.remove("shuffle")
    return names[number - draws], None
