"""Poison in a batch of one: the batch's tables, read one number at a time.

A move costs some eighty NumPy calls whatever the size of the batch. A single match, which is what most environments
hold, does with plain look-ups in a quarter of the time. Anything out of the ordinary (a match that is over, an illegal
action, the end of a round, other kinds of recall) is left to the batched code, and tests compare the two bit for bit.
"""

from typing import TYPE_CHECKING

import numpy as np

from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray, IntArray
from poison_env.games.poison.tables import CAULDRONS, Tables

if TYPE_CHECKING:  # the game imports this module
    from poison_env.games.poison.dealing import PoisonState


def action_mask(tables: Tables, state: "PoisonState") -> BoolArray:
    """Return the legal actions of one match that is not over, (1, A)."""
    hand = state.hands[0, state.to_move.item()]
    mask: BoolArray = np.logical_and(tables.allowed[_colour_code(tables, state)], hand.take(tables.kind_of))
    return mask[None]


def play(tables: Tables, state: "PoisonState", action: int) -> bool:
    """Play a card in one match that is not over, in place; do nothing and return False if that is illegal."""
    mover = state.to_move.item()
    kind, cauldron = divmod(action, CAULDRONS)
    held = state.hands.item(0, mover, kind)
    if not held or not tables.allowed.item(_colour_code(tables, state), action):
        return False
    state.hands[0, mover, kind] = held - 1
    state.unplayed[0, kind] -= 1

    change = kind * len(tables.contents) + state.cauldrons.item(0, cauldron)
    state.cauldrons[0, cauldron] = tables.after.item(change)
    pile = tables.piles.item(change)
    if pile:
        state.taken.view(np.int64)[0, mover] += pile

    move = state.moves.item()
    state.events[0, move] = mover * len(tables.kind_of) + action
    state.moves[0] = move + 1
    state.cards_left[0] -= 1
    state.to_move[0] = (mover + 1) % state.hands.shape[1]
    return True


def observe(
    tables: Tables, state: "PoisonState", seat: int, clockwise: IntArray, hand_sizes: IntArray, colours: IntArray
) -> Observation:
    """Return what a seat of one match knows with perfect recall, (1, F): sections in the order of the layout."""
    own, contents = state.hands[0, seat], state.cauldrons[0]
    sections = (
        own,
        tables.contents.take(contents, axis=0).ravel(),
        tables.totals.take(contents),
        colours,
        state.taken[0].take(clockwise, axis=0).ravel(),
        hand_sizes,
        state.totals[0].take(clockwise),
        state.round,
        state.unplayed[0] - own,
    )
    return np.concatenate(sections, dtype=np.int16, casting="unsafe")[None]


def _colour_code(tables: Tables, state: "PoisonState") -> int:
    contents, codes = state.cauldrons[0].tolist(), tables.codes
    return sum(codes.item(cauldron, content) for cauldron, content in enumerate(contents))
