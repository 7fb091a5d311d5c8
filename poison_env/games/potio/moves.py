"""The numbers of the actions, and the tables that say which are legal.

A turn is a sequence of decisions: take a card of the centre; pick slots of one's zone in increasing order and commit
them as a brew, or end the turn with nothing picked; after a brew with an effect choose which, or none; then its target.
"""

import numpy as np
import numpy.typing as npt

from poison_env.games.potio.brews import BURN, EFFECTS, FREEZE, NODES, ROOT, STEAL, SUBSETS, THAW
from poison_env.games.potio.deck import EMPTY, SLOTS

CENTRE = 4  # cards at most: three, and the one revealed
TAKE = 0  # + place in the centre
PICK = TAKE + CENTRE  # + slot
COMMIT = PICK + SLOTS  # brew what is picked; with nothing picked, end the turn
EFFECT = COMMIT + 1  # + effect
NONE = EFFECT + len(EFFECTS)  # no effect
TARGET = NONE + 1  # + 8 * seats after the mover + slot

TAKING, PICKING, CHOOSING, AIMING = range(4)  # phases


def _next_nodes() -> npt.NDArray[np.int64]:
    """Return (512, 9): the node to which picking each slot leads, 0 where it is too late, and the one of committing."""
    following = np.zeros((NODES, SLOTS + 1), np.int64)
    for node in range(ROOT, SUBSETS):
        decided = node.bit_length() - 1
        for slot in range(decided, SLOTS):
            following[node, slot] = node << (slot - decided + 1) | 1
        following[node, SLOTS] = node << (SLOTS - decided)
    following[SUBSETS:, SLOTS] = np.arange(SUBSETS, NODES)  # all slots are decided
    return following


NEXT_NODES = _next_nodes()


def aims(*, steal_frozen: bool, burn_frozen: bool) -> npt.NDArray[np.bool_]:
    """Return (4, 2, EMPTY + 1): may the effect hit that card of oneself, of another."""
    table = np.zeros((len(EFFECTS), 2, EMPTY + 1), bool)
    free, frozen = slice(0, EMPTY, 2), slice(1, EMPTY, 2)
    table[FREEZE, 1, free] = True
    table[BURN, :, free] = True
    table[BURN, :, frozen] = burn_frozen
    table[THAW, 0, frozen] = True
    table[STEAL, 1, free] = True
    table[STEAL, 1, frozen] = steal_frozen
    table.flags.writeable = False
    return table
