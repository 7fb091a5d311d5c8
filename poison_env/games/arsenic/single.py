"""Arsenic in a batch of one: what is legal and what is seen, with few calls.

A call of NumPy costs about a microsecond whatever the size of the batch, and most environments hold one match. These
two are the batch's own with plain look-ups in the place of gathers; tests compare them bit for bit.
"""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray, IntArray
from poison_env.games.arsenic.dealing import RETURNED, ArsenicState
from poison_env.games.arsenic.scones import IN_FLAVOUR, SCONES, SPECIAL, WINDOW_SLOT

if TYPE_CHECKING:  # the game imports this module
    from poison_env.games.arsenic.options import ArsenicOptions

_PHASES = np.eye(4, dtype=np.int16)
_PUT_BACK = np.uint8(RETURNED.bit_length() - 1)


def action_mask(game: "ArsenicOptions", state: ArsenicState) -> BoolArray:
    """Return the legal actions of one match that is not over, (1, A)."""
    turn, drawn = state.turn.item(), state.drawn.item()
    window = drawn >= WINDOW_SLOT and state.box.item(drawn) == SPECIAL + 1
    code = state.phase.item() * 8 + 4 * (state.owed.item(turn) == 0) + 2 * (not state.shuffled.item())
    legal: BoolArray = game._legal[code + (state.sugars.item(turn) > 0 and not window)].copy()
    legal[: game.num_draws] &= (state.box if game.by_slot else state.left)[0] > 0
    return legal[None]


def observe(game: "ArsenicOptions", state: ArsenicState, seat: int) -> Observation:
    """Return what a seat of one match that is not over knows, (1, F): sections in the order of the layout."""
    number = game.num_seats
    clockwise = game._rotation[seat]
    who = np.zeros((2, number), np.int16)
    who[0, (state.turn.item() - seat) % number] = 1
    who[1, (state.to_move.item() - seat) % number] = 1

    box, drawn = state.box[0], state.drawn.item()
    known = box * (state.knows[0] >> seat & 1).view(np.int8)
    cups = np.zeros((number, SCONES), np.int16)
    cups[0] = state.cup_scones[0, seat]
    for bite in _told(state, seat):
        cups[(state.eaters.item(bite) - seat) % number, state.bites.item(bite)] += 1
    players = [each[0].take(clockwise) for each in (state.alive, state.stopped, state.sugars, state.spoons, state.owed)]
    flavours = state.cups[0].take(clockwise, axis=0).ravel()
    scone = known.item(drawn) if drawn >= 0 else 0
    if game.by_slot:
        place = drawn + 1
        there: IntArray | BoolArray = box > 0
        slots: list[npt.NDArray[np.integer]] = [known, state.knows[0] >> _PUT_BACK]
    else:
        place = drawn // IN_FLAVOUR + 1
        there, slots = state.left[0], []
    sections = (
        _PHASES[state.phase.item()],
        who.ravel(),
        state.shuffled,
        *players,
        flavours,
        there,
        (place, scone),
        *slots,
        state.kept[0, seat],
        cups.ravel(),
        (max(state.doses.item(seat), 0),),
    )
    return np.concatenate(sections, dtype=np.int16, casting="unsafe")[None]


def _told(state: ArsenicState, seat: int) -> list[int]:
    """Return others' bites that a seat knows."""
    told = (state.bite_known[0] >> seat & 1).nonzero()[0].tolist()
    return [bite for bite in told if state.eaters.item(bite) != seat]
