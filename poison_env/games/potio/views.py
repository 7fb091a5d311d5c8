"""The sections of an observation of Potio."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from poison_env.core.layout import Observation
from poison_env.core.protocol import IntArray
from poison_env.games.potio.brews import EFFECTS, NODES
from poison_env.games.potio.deck import EMPTY, SLOTS
from poison_env.games.potio.moves import AIMING

if TYPE_CHECKING:  # the game imports this module
    from poison_env.games.potio.dealing import PotioState
    from poison_env.games.potio.game import Potio

# (512, 8): slots that are picked at a node of the tree of brews
PICKED = np.zeros((NODES, SLOTS), np.int16)
for _node in range(1, NODES):
    for _slot, _digit in enumerate(bin(_node)[3:]):
        PICKED[_node, _slot] = int(_digit)
CODES = EMPTY + 1
_BLOCK = 1024  # rows at a time: what is put together stays in the cache


def observe(game: "Potio", state: "PotioState", seats: IntArray) -> Observation:
    """Return what `seats[b]` knows in row b, (B, F) int16."""
    seen = np.empty((len(state), game.layout.size), np.int16)
    for start in range(0, len(state), _BLOCK):
        rows = slice(start, start + _BLOCK)
        part = type(state)(**{name: array[rows] for name, array in state._arrays().items()})  # views, no copies
        seen[rows] = game.layout.encode(sections(game, part, seats[rows]))
    return seen


def sections(game: "Potio", state: "PotioState", seats: IntArray) -> dict[str, npt.NDArray[Any]]:
    """Return every section as `seats[b]` sees row b."""
    size, number, kinds = len(state), game.num_seats, game.num_kinds
    rows = np.arange(size)
    clockwise = game.rotation.take(seats, axis=0) + (rows * number)[:, None]
    zones = state.zones.reshape(-1, SLOTS).take(clockwise, axis=0)
    coded = zones + (np.arange(size * number) * CODES).reshape(size, number, 1)
    counted = np.bincount(coded.reshape(-1), minlength=size * number * CODES).astype(np.int16)
    counted = counted.reshape(size, number, CODES)
    to_move = (np.arange(number) == ((state.to_move - seats) % number)[:, None]) & ~state.done[:, None]
    return {
        "zones": np.where(zones == EMPTY, 0, zones + 1),
        "free": counted[:, :, 0 : 2 * kinds : 2],
        "frozen": counted[:, :, 1 : 2 * kinds : 2],
        "victory": state.victory.reshape(-1, kinds).take(clockwise, axis=0),
        "points": state.scores.reshape(-1).take(clockwise),
        "to_move": to_move,
        "centre": state.centre + 1,
        "phase": (state.phase[:, None] == np.arange(AIMING + 1)) & ~state.done[:, None],
        "picked": PICKED.take(state.node, axis=0),
        "effects": state.effects[:, None] >> np.arange(len(EFFECTS)) & 1,
        "pile": _pile(game, state),
        "turns": state.turns,
        "stalled": state.stalled,
        "scored": state.scored,
    }


def _pile(game: "Potio", state: "PotioState") -> npt.NDArray[np.int16]:
    """Return the cards of the pile by batch and kind, (B, M, K), the top batch first."""
    rows = np.arange(len(state))
    place = (state.batch[rows, state.top][:, None] + np.arange(game.num_batches)) % game.num_batches
    place += rows[:, None] * game.num_batches
    return state.batches.reshape(-1, game.num_kinds).take(place, axis=0)
