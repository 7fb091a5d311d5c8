"""Positions of Potio as text: tables for people, and positions set up from cards."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from poison_env.core import chance
from poison_env.core.errors import PositionError
from poison_env.games.potio import moves
from poison_env.games.potio.brews import EFFECTS
from poison_env.games.potio.deck import EMPTY, SLOTS
from poison_env.games.potio.moves import CENTRE

if TYPE_CHECKING:  # the game imports this module
    from poison_env.core.protocol import IntArray
    from poison_env.games.potio.dealing import PotioState
    from poison_env.games.potio.game import Potio

PHASES = ("take a card of the centre", "pick cards to brew", "choose an effect", "aim the effect")
_REST = 1 << 23  # stream of chance of the pile below the named cards


def action_label(action: int) -> str:
    """Return an action as people write it; seats are counted clockwise from the mover, slots and cards from 1."""
    if action < moves.PICK:
        return f"take {action - moves.TAKE + 1}"
    if action < moves.COMMIT:
        return f"pick {action - moves.PICK + 1}"
    if action < moves.NONE:
        return "commit" if action == moves.COMMIT else EFFECTS[action - moves.EFFECT]
    if action == moves.NONE:
        return "none"
    ahead, slot = divmod(action - moves.TARGET, SLOTS)
    return f"aim +{ahead}.{slot + 1}"


def phase_words(game: "Potio", state: "PotioState", row: int) -> str:
    """Return what the mover has to do, and with which cards."""
    zone = game.deck.words(state.zones[row, state.to_move[row]].tolist())
    return f"it has to {PHASES[int(state.phase[row])]}, its zone is {zone}"


def _kinds(game: "Potio", kinds: "IntArray") -> str:
    return " ".join(game.deck.label(int(kind)) for kind in kinds if kind >= 0) or "-"


def table(game: "Potio", state: "PotioState", row: int, seat: int | None) -> str:
    """Return a position as lines of text; with `seat`, without the order of the pile."""
    one = state[row]
    seen = game.observe_all(one)[0]
    if one.done[0]:
        head = f"{'cut off' if one.truncated[0] else 'over'} after {int(one.turns[0])} turns"
    else:
        head = f"turn {int(one.turns[0]) + 1}, seat {int(one.to_move[0])} has to {PHASES[int(one.phase[0])]}"
    lines = [f"{game.id}   {head}", f"  centre {_kinds(game, one.centre[0])}"]
    if seat is None:
        lines.append(f"  pile {_kinds(game, game.full_layout.decode(seen, 'pile_order') - 1)}")
    else:
        batches = game.full_layout.decode(seen, "pile")
        words = (_kinds(game, np.repeat(np.arange(game.num_kinds), batch)) for batch in batches if batch.any())
        lines.append(f"  pile, any order within a batch: {' / '.join(words) or '-'}")
    picked = np.flatnonzero(game.full_layout.decode(seen, "picked"))
    if len(picked):
        lines.append(f"  picked {_kinds(game, one.zones[0, one.to_move[0], picked] >> 1)}")
    for player in range(game.num_seats):
        mark = ">" if not one.done[0] and int(one.to_move[0]) == player else " "
        zone = game.deck.words(one.zones[0, player].tolist())
        won = int(one.victory[0, player].sum())
        lines.append(
            f"{mark} player_{player} {int(one.scores[0, player]):>4} points | won {won:>2} cards | zone {zone}"
        )
    return "\n".join(lines)


def position(
    game: "Potio", zones: Sequence[str], centre: str, pile: str, victory: Sequence[str], to_move: int, seed: int
) -> "PotioState":
    """Set up one match; see `Potio.position`."""
    seats, deck = game.num_seats, game.deck
    won = [deck.parse(cards) for cards in (list(victory) or [""] * seats)]
    held, middle, top = [deck.parse(zone) for zone in zones], deck.parse(centre), deck.parse(pile)
    if (len(held), len(won)) != (seats, seats) or not 0 <= to_move < seats:
        raise PositionError(f"expected {seats} zones and victory piles, and one of {seats} seats to move")
    if not 1 <= len(middle) <= CENTRE:
        raise PositionError(f"centre: expected 1 to {CENTRE} cards, got {len(middle)}")
    if max(map(len, held)) >= SLOTS:
        raise PositionError(f"zones: expected less than {SLOTS} cards in each, a card is to be taken")
    elsewhere = [*middle, *top, *chain.from_iterable(won)]
    if any(code % 2 for code in elsewhere):
        raise PositionError("only cards in zones are frozen")
    named = np.array([*chain.from_iterable(held), *elsewhere], np.int64) // 2
    left = deck.counts - np.bincount(named, minlength=game.num_kinds)
    if (left < 0).any():
        raise PositionError(f"more {deck.label(int(np.argmin(left)))} than the deck has")
    rest = np.repeat(np.arange(game.num_kinds), left)
    if (len(top) or len(rest)) and min(map(len, held)) == 0:
        raise PositionError("an empty zone draws cards as long as the pile has some")

    state = game.deal(np.array([seed], dtype=np.uint64))
    order = np.argsort(chance.bits(state.seeds, _REST, max(len(rest), 1))[0][: len(rest)])
    below = [*(code // 2 for code in top), *rest[order].tolist()]
    state.to_move[0] = to_move
    state.zones[0] = EMPTY
    state.victory[0] = 0
    for seat in range(seats):
        state.zones[0, seat, : len(held[seat])] = sorted(held[seat])
        state.victory[0, seat] = np.bincount(np.array(won[seat], np.int64) // 2, minlength=game.num_kinds)
    state.scores[0] = state.victory[0].sum(axis=1)
    state.centre[0] = -1
    state.centre[0, : len(middle)] = [code // 2 for code in middle]
    state.centre_size[0] = len(middle)
    state.pile[0, : len(below)] = below
    state.top[0] = 0
    state.pile_size[0] = len(below)
    state.drawn[0], state.fresh[0] = -1, 0  # nobody knows how this came to be
    state.batches[0, 0] = np.bincount(np.array(below, np.int64), minlength=game.num_kinds)
    return state
