"""Potio in a batch of one: what is legal, what is seen and the frequent moves, with few calls.

A call of NumPy costs about a microsecond whatever the size of the batch, and most environments hold one match. Brews,
effects, explosions, the end of a match and illegal actions are left to the batched code; tests compare the two bit for
bit.
"""

from typing import TYPE_CHECKING

import numpy as np

from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray
from poison_env.games.potio import moves
from poison_env.games.potio.brews import EFFECTS, ROOT
from poison_env.games.potio.deck import EMPTY, SLOTS
from poison_env.games.potio.moves import AIMING, CHOOSING, NEXT_NODES, PICKING, TAKING
from poison_env.games.potio.views import CODES, PICKED

if TYPE_CHECKING:  # the game imports this module
    from poison_env.games.potio.dealing import PotioState
    from poison_env.games.potio.options import PotioOptions

_ONE_OF_FEW = np.eye(8, dtype=np.int16)  # [n]: 1 at n
_EFFECT_BITS = np.array([[bits >> effect & 1 for effect in range(len(EFFECTS))] for bits in range(16)], np.int16)
_SHOWN = np.append(np.arange(1, CODES), 0).astype(np.int16)  # a card of a zone as it is seen; 0 for an empty slot
_CODES_OF_SEATS = CODES * np.arange(8)[:, None]
_NEXT_BYTE, _NEXT_BIT = NEXT_NODES >> 3, (NEXT_NODES & 7).astype(np.uint8)  # where the tree of brews has them


def action_mask(game: "PotioOptions", state: "PotioState") -> BoolArray | None:
    """Return the legal actions of one match that is not over, (1, A); None while an effect is chosen or aimed."""
    phase = state.phase.item()
    mask = np.zeros((1, game.num_actions), bool)
    if phase == TAKING:
        mask[0, moves.TAKE : moves.TAKE + state.centre_size.item()] = True
    elif phase == PICKING:
        node = state.node.item()
        mask[0, moves.PICK : moves.EFFECT] = state.tree[0].take(_NEXT_BYTE[node]) >> _NEXT_BIT[node] & 1
        if node == ROOT:
            mask[0, moves.COMMIT] = True
    else:
        return None
    return mask


def play(game: "PotioOptions", state: "PotioState", action: int) -> bool:
    """Make a simple decision in one match that is not over, in place; do nothing and return False at any other."""
    phase, mover, node = state.phase.item(), state.to_move.item(), state.node.item()
    pile = state.pile_size.item()
    if phase == TAKING and action < state.centre_size.item():
        _take(state, mover, action - moves.TAKE)
        _go_on(game, state, mover)
    elif phase == PICKING and moves.PICK <= action < moves.COMMIT:
        following = NEXT_NODES.item(node, action - moves.PICK)
        if not state.tree.item(0, following >> 3) >> (following & 7) & 1:
            return False
        state.node[0] = following
    elif phase == PICKING and action == moves.COMMIT and node == ROOT:
        if not _end_turn(game, state, mover):
            return False
    elif phase == CHOOSING and action == moves.NONE:
        _go_on(game, state, mover)
    else:
        return False
    state.fresh[0] = 0
    state.fresh[0, -1] = pile - state.pile_size.item()  # nothing is drawn here but the card revealed
    move = state.moves.item()
    state.events[0, move] = mover * game.num_actions + action
    state.moves[0] = move + 1
    return True


def _take(state: "PotioState", mover: int, place: int) -> None:
    """2. Take one card of the centre into one's zone."""
    centre, zone = state.centre[0], state.zones[0, mover]
    zone[-1] = 2 * centre.item(place)
    zone.sort()
    centre[place:-1] = centre[place + 1 :]  # the others close up
    centre[-1] = -1
    state.centre_size[0] -= 1


def _go_on(game: "PotioOptions", state: "PotioState", mover: int) -> None:
    state.phase[0] = PICKING
    state.node[0] = ROOT
    state.effects[0] = 0
    state.tree[0] = game.brews.tree_of_one(state.zones[0, mover])


def _end_turn(game: "PotioOptions", state: "PotioState", mover: int) -> bool:
    """5. End the turn of a zone that does not explode in a match that goes on, and 1. reveal a card for the next."""
    turns, stalled = state.turns.item() + 1, 0 if state.scored.item() else state.stalled.item() + 1
    left, size = state.pile_size.item(), state.centre_size.item()
    full = state.zones.item(0, mover, SLOTS - 1) != EMPTY
    if full or left + size == 0 or stalled >= game.stall_turns or turns >= game.max_turns:
        return False
    state.turns[0] = turns
    state.stalled[0] = stalled
    state.scored[0] = False
    state.to_move[0] = (mover + 1) % game.num_seats
    state.phase[0] = TAKING
    if left:
        top = state.top.item()
        card = state.pile.item(0, top)
        state.drawn[0, game.deck.size + SLOTS * state.explosions.item() - left] = card
        state.top[0] = (top + 1) % game.deck.size
        state.pile_size[0] = left - 1
        state.batches[0, state.batch.item(0, top) % game.num_batches, card] -= 1
        state.centre[0, size] = card
        state.centre_size[0] = size + 1
    return True


def observe(game: "PotioOptions", state: "PotioState", seat: int) -> Observation:
    """Return what a seat of one match that is not over knows, (1, F): sections in the order of the layout."""
    number, kinds = game.num_seats, game.num_kinds
    clockwise = game.rotation[seat]
    zones = state.zones[0].take(clockwise, axis=0)
    coded = zones + _CODES_OF_SEATS[:number]
    counted = np.bincount(coded.ravel(), minlength=number * CODES).reshape(number, CODES)
    oldest = state.batch.item(0, state.top.item()) % game.num_batches
    sections = (
        _SHOWN.take(zones).ravel(),
        counted[:, 0 : 2 * kinds : 2].ravel(),
        counted[:, 1 : 2 * kinds : 2].ravel(),
        state.victory[0].take(clockwise, axis=0).ravel(),
        state.scores[0].take(clockwise),
        _ONE_OF_FEW[(state.to_move.item() - seat) % number, :number],
        state.centre[0] + 1,
        _ONE_OF_FEW[state.phase.item(), : AIMING + 1],
        PICKED[state.node.item()],
        _EFFECT_BITS[state.effects.item()],
        state.batches[0, oldest:].ravel(),
        state.batches[0, :oldest].ravel(),
        state.turns,
        state.stalled,
        state.scored,
    )
    return np.concatenate(sections, dtype=np.int16, casting="unsafe")[None]
