"""Dealing Arsenic: fresh matches, shuffles of the box, and what they leave of anybody's knowledge."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import PositionError
from poison_env.core.protocol import IntArray, State
from poison_env.games.arsenic.options import ArsenicOptions
from poison_env.games.arsenic.scones import (
    FLAVOUR_OF_SLOT,
    FLAVOURS,
    IN_FLAVOUR,
    KINDS,
    SCONES,
    SLOTS,
    SUGARS,
    in_flavour,
)

_DEAL, _FIRST, _LAST, _BOX = 0, 1, 2, 1 << 20  # streams of chance; the box at move m is mixed by _BOX + m
_SORT_BITS = np.uint64(0xFF)  # the low bits of a scone's random key carry what it is
_NOWHERE = np.uint64(2**64 - 1)  # sorts behind every scone
RETURNED, SPOONED = 64, 128  # bits of `knows` above those of the seats


@dataclass(eq=False)
class ArsenicState(State):
    """Matches of Arsenic. A slot or bite is known to seat p where bit p of its entry is set."""

    phase: npt.NDArray[np.int64]  # (B,) TURN, INSPECT, REACT, AFTER
    turn: npt.NDArray[np.int64]  # (B,) whose turn it is; `to_move` is another in REACT
    first: npt.NDArray[np.int64]  # (B,) who began
    shuffled: npt.NDArray[np.bool_]  # (B,) in this turn, before the draw
    drawn: npt.NDArray[np.int64]  # (B,) slot of the scone in question, -1 without; it stays in `box` until swallowed
    box: npt.NDArray[np.int8]  # (B, 42) 0 nothing, else kind + 1
    left: npt.NDArray[np.int8]  # (B, 6) scones in the box by flavour
    knows: npt.NDArray[np.uint8]  # (B, 42) who knows what is in a slot; RETURNED, SPOONED: since the last shuffle
    kept: npt.NDArray[np.int8]  # (B, P, 30) what seats knew of the box before a shuffle, by sort
    looks: npt.NDArray[np.int8]  # (B, P, 6) how many scones `kept` can stand for, as everybody could count
    alive: npt.NDArray[np.bool_]  # (B, P)
    stopped: npt.NDArray[np.bool_]  # (B, P)
    sugars: npt.NDArray[np.int8]  # (B, P)
    spoons: npt.NDArray[np.bool_]  # (B, P)
    owed: npt.NDArray[np.int8]  # (B, P) honour turns
    cups: npt.NDArray[np.int8]  # (B, P, 6) scones eaten by flavour
    cup_scones: npt.NDArray[np.int8]  # (B, P, 30) the same by sort
    doses: npt.NDArray[np.int16]  # (B, P) sums, below 0 too
    eaten: npt.NDArray[np.int64]  # (B,) bites so far
    eaters: npt.NDArray[np.int8]  # (B, 42) seat of each bite in order, -1 beyond
    bites: npt.NDArray[np.int8]  # (B, 42) sort of each bite, -1 beyond
    bite_known: npt.NDArray[np.uint8]  # (B, 42) what was in `knows` of its slot
    places: npt.NDArray[np.int64]  # (B, P) final, once done
    shown: npt.NDArray[np.int8]  # (B, C) kinds of the scones drawn so far, -1 beyond, or where a world does not tell
    draws: npt.NDArray[np.int64]  # (B,) how many they are, those of sudden death among them
    events: npt.NDArray[np.int16]  # (B, T) seat * A + action, -1 beyond
    seeds: npt.NDArray[np.uint64]  # (B,) where the match's chance comes from; never shown to anyone


class ArsenicDealer(ArsenicOptions):
    """Deals and mixes the scones of one set of options."""

    @cached_property
    def most_drawn(self) -> int:
        """C: each draw uses up a scone, a sugar or a spoon, and sudden death the scones that nobody ate."""
        return self.scones + self.num_seats * (SUGARS + self.has_spoons)

    def deal(self, seeds: KeyArray) -> ArsenicState:
        """Return fresh matches, one for each seed (B,) in [0, 2**64)."""
        keys = chance.as_keys(seeds)
        kinds = np.array(in_flavour(self.specials))
        words = chance.bits(keys, _DEAL, FLAVOURS * len(kinds)).reshape(len(keys), FLAVOURS, len(kinds))
        words = words & ~_SORT_BITS | (kinds + 1).astype(np.uint64)
        words.sort(axis=2)
        box = np.zeros((len(keys), FLAVOURS, IN_FLAVOUR), np.int8)
        box[:, :, : len(kinds)] = words & _SORT_BITS
        return self._begin(box.reshape(-1, SLOTS), chance.below(chance.fold(keys, _FIRST), self.num_seats), keys)

    def deal_from(
        self, kinds: npt.ArrayLike, *, first: npt.ArrayLike = 0, seeds: KeyArray | Sequence[int] | None = None
    ) -> ArsenicState:
        """Return matches with given boxes.

        Args:
            kinds: (B, 42) the kind of the scone in each slot, -1 where there is none.
            first: (B,) or one seat, who begins.
            seeds: (B,) for the chance to come; zeros unless given.

        Raises:
            PositionError: a flavour has not exactly its scones, or there is no such seat.
        """
        box, seats = np.atleast_2d(np.asarray(kinds)), np.asarray(first)
        keys = np.zeros(len(box), np.uint64) if seeds is None else chance.as_keys(seeds)
        size = len(keys)
        if box.dtype.kind not in "iu" or box.shape != (size, SLOTS):
            raise PositionError(
                f"kinds: expected whole numbers of shape ({size}, {SLOTS}), got {box.dtype} {box.shape}"
            )
        if seats.dtype.kind not in "iu" or seats.shape not in ((), (size,)):
            raise PositionError(f"first: expected a seat, or one for each of {size} matches, got {first!r}")
        scones = sorted(in_flavour(self.specials))
        missing = [-1] * (IN_FLAVOUR - len(scones))
        wrong = (np.sort(box.reshape(-1, FLAVOURS, IN_FLAVOUR), axis=2) != [*missing, *scones]).any(axis=(1, 2))
        wrong |= (seats < 0) | (seats >= self.num_seats)
        if wrong.any():
            raise PositionError(f"row {int(np.argmax(wrong))}: not exactly {scones} in each flavour, or no such seat")
        # Moves write through flat views, which only arrays in rows have.
        rows = np.ascontiguousarray(box + 1, np.int8)
        return self._begin(rows, np.broadcast_to(seats, size).astype(np.int64), keys)

    def _begin(self, box: npt.NDArray[np.int8], first: npt.NDArray[np.int64], keys: KeyArray) -> ArsenicState:
        size, seats = len(keys), self.num_seats
        return ArsenicState(
            to_move=first.copy(),
            done=np.zeros(size, bool),
            truncated=np.zeros(size, bool),
            moves=np.zeros(size, np.int64),
            phase=np.zeros(size, np.int64),
            turn=first.copy(),
            first=first,
            shuffled=np.zeros(size, bool),
            drawn=np.full(size, -1, np.int64),
            box=box,
            left=np.full((size, FLAVOURS), len(in_flavour(self.specials)), np.int8),
            knows=np.zeros((size, SLOTS), np.uint8),
            kept=np.zeros((size, seats, SCONES), np.int8),
            looks=np.zeros((size, seats, FLAVOURS), np.int8),
            alive=np.ones((size, seats), bool),
            stopped=np.zeros((size, seats), bool),
            sugars=np.full((size, seats), SUGARS, np.int8),
            spoons=np.full((size, seats), self.has_spoons),
            owed=np.zeros((size, seats), np.int8),
            cups=np.zeros((size, seats, FLAVOURS), np.int8),
            cup_scones=np.zeros((size, seats, SCONES), np.int8),
            doses=np.zeros((size, seats), np.int16),
            eaten=np.zeros(size, np.int64),
            eaters=np.full((size, SLOTS), -1, np.int8),
            bites=np.full((size, SLOTS), -1, np.int8),
            bite_known=np.zeros((size, SLOTS), np.uint8),
            places=np.zeros((size, seats), np.int64),
            shown=np.full((size, self.most_drawn), -1, np.int8),
            draws=np.zeros(size, np.int64),
            events=np.full((size, self.max_moves), -1, np.int16),
            seeds=keys.copy(),
        )

    def _shuffle(self, state: ArsenicState, rows: IntArray) -> None:
        """Mix the scones of each flavour among its occupied slots."""
        self._forget_slots(state, rows)
        box = state.box[rows]
        words = chance.bits(state.seeds[rows], _BOX + state.moves[rows], SLOTS)
        words &= ~_SORT_BITS
        words |= box.astype(np.uint64)
        words[box == 0] = _NOWHERE
        words = words.reshape(-1, FLAVOURS, IN_FLAVOUR)
        words.sort(axis=2)
        words = words.reshape(-1, SLOTS)
        # Both sides go through rows, flavours and places in the same order, as many scones in each flavour.
        box[box > 0] = words[words != _NOWHERE] & _SORT_BITS
        state.box[rows] = box

    def _forget_slots(self, state: ArsenicState, rows: IntArray) -> None:
        """Turn what seats know of slots into what they know of flavours; the larger number of each sort holds."""
        size, seats = len(rows), self.num_seats
        knows, box = state.knows[rows], state.box[rows]
        at, slot = np.nonzero(knows & (RETURNED - 1))
        number, seat = np.nonzero(knows[at, slot][:, None] >> np.arange(seats, dtype=np.uint8) & 1)
        at, slot = at[number], slot[number]
        sort = FLAVOUR_OF_SLOT[slot] * KINDS + box[at, slot] - 1
        seat += at * seats
        seen: npt.NDArray[Any] = np.bincount(seat * SCONES + sort, minlength=size * seats * SCONES).astype(np.int8)
        state.kept[rows] = np.maximum(state.kept[rows], seen.reshape(size, seats, SCONES))
        looked = np.bincount(seat * FLAVOURS + sort // KINDS, minlength=size * seats * FLAVOURS).astype(np.int8)
        looks = state.looks[rows] + looked.reshape(size, seats, FLAVOURS)
        state.looks[rows] = np.minimum(looks, state.left[rows][:, None])
        state.knows[rows] = 0

    def _draw_from(self, state: ArsenicState, rows: IntArray, flavours: IntArray) -> IntArray:
        """Return a random occupied slot of a flavour, (n,): the box is mixed before each draw."""
        occupied = state.box.reshape(-1, FLAVOURS, IN_FLAVOUR)[rows, flavours] > 0
        upto = np.cumsum(occupied, axis=1)
        nth = chance.below(chance.fold(state.seeds[rows], _BOX + state.moves[rows]), upto[:, -1])
        slots: IntArray = flavours * IN_FLAVOUR + (upto > nth[:, None]).argmax(axis=1)
        return slots

    def last_draws(self, state: ArsenicState) -> npt.NDArray[np.int64]:
        """Return the order in which tied players draw what is left, (B, 42) slots; empty ones are passed over."""
        order: npt.NDArray[np.int64] = np.argsort(chance.bits(state.seeds, _LAST, SLOTS), axis=1)
        return order
