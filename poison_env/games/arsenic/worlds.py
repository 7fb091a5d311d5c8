"""Worlds of Arsenic that a seat cannot tell apart: what it does not know of slots and cups is drawn anew, uniformly.

A flavour has six or seven scones. Where they are (in which bite or slot) is public, so a world is an arrangement of
each flavour's scones, one of 180 or 1260. Those that contradict what the seat knows of the flavour are crossed out, and
then each flavour's arrangement is drawn by itself until the cups agree with who died of which bite: the first
arrangements that do are a uniform draw from all that do. Late in a match one attempt in a thousand may agree, so most
are refused by a sum of six words, in which every cup has a byte.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.protocol import BoolArray, IntArray
from poison_env.games.arsenic.dealing import RETURNED, ArsenicState
from poison_env.games.arsenic.ending import ArsenicEnding
from poison_env.games.arsenic.scones import (
    DOSES,
    FLAVOUR_OF_SLOT,
    FLAVOURS,
    IN_FLAVOUR,
    KINDS,
    MAY_KILL,
    MOONS,
    SCONES,
    SLOTS,
    SPECIAL,
    arrangements,
)

_TRY, _KEPT, _FUTURE = 0, 1, 2  # streams of the worlds' chance
_ANY = (1 << KINDS) - 1  # sets of kinds as bits
_KILLERS = (MAY_KILL.reshape(FLAVOURS, KINDS) << np.arange(KINDS)).sum(axis=1)  # (6,) what a last bite can have been
_CELLS = 1 << 18  # entries of the table of arrangements at a time
_TRIES = 1 << 13  # attempts at a time, over all rows
_WORDS = FLAVOURS // 2  # random words of an attempt
_FULL = np.uint64(0x8080808080808080)  # the uppermost bit of each byte


class _Tables:
    """The arrangements of one flavour's scones."""

    def __init__(self, *, specials: bool) -> None:
        self.kinds = arrangements(specials)  # (R, n)
        number, self.n = self.kinds.shape
        # [j, kinds allowed as bits]: the arrangements whose j-th scone is one of them
        allowed = np.arange(1 << KINDS)[:, None] >> self.kinds.T[:, None, :] & 1
        self.allowed: BoolArray = allowed.astype(bool)  # (n, 32, R)
        # [b]: scones of each kind from the b-th on, (n + 1, R, 5)
        one_hot = self.kinds[:, :, None] == np.arange(KINDS)
        self.from_on = np.stack([one_hot[:, b:].sum(axis=1) for b in range(self.n + 1)]).astype(np.int8)
        self.number = number


TABLES = {specials: _Tables(specials=specials) for specials in (False, True)}


class ArsenicWorlds(ArsenicEnding):
    """Draws worlds for one set of options."""

    def resample(self, state: ArsenicState, seats: IntArray, seeds: KeyArray) -> ArsenicState:
        """Return matches in which all that `seats[b]` does not know is drawn anew.

        Scones in slots and cups: uniformly among all arrangements that agree with what the seat knows and with what
        happened (the living were below the lethal dose at all times, the dead until their last bite, and nobody
        returned the window). What other seats remember of before a shuffle is drawn from the box as it then lies.
        Chance to come is drawn anew too. A match that is over stays as it is.
        """
        world, keys = state.copy(), chance.as_keys(seeds)
        tables = TABLES[self.specials]
        chunk = max(1, _CELLS // (FLAVOURS * tables.number))
        live = np.flatnonzero(~state.done)
        for start in range(0, len(live), chunk):
            rows = live[start : start + chunk]
            self._rearrange(world, rows, np.asarray(seats)[rows], keys[rows], tables)
        self._redraw_memories(world, live, np.asarray(seats)[live], keys[live])
        world.shown[live] = -1  # what others saw on the way is not drawn anew
        world.seeds[:] = chance.fold(keys, _FUTURE)
        return world

    def _rearrange(self, world: ArsenicState, rows: IntArray, seats: IntArray, keys: KeyArray, tables: _Tables) -> None:
        size, n = len(rows), tables.n
        one = np.arange(size)[:, None]
        eaters, box = world.eaters[rows], world.box[rows]
        # Places: bites 0 to 41, then slots 42 to 83; those of a flavour's scones together, bites first.
        sorts: npt.NDArray[Any] = np.concatenate(
            [world.bites[rows], np.where(box > 0, FLAVOUR_OF_SLOT * KINDS + box - 1, -1)], axis=1
        )
        flavours = np.where(sorts >= 0, sorts // KINDS, FLAVOURS)
        places = np.argsort(flavours, axis=1, kind="stable")[:, : FLAVOURS * n]  # (s, 6n)

        fatal = self._fatal_bites(world, rows)
        known = np.concatenate([world.bite_known[rows], world.knows[rows]], axis=1)
        may_be: npt.NDArray[Any] = np.full(sorts.shape, _ANY)
        may_be[:, :SLOTS] = np.where(fatal, _KILLERS[np.minimum(flavours[:, :SLOTS], FLAVOURS - 1)], _ANY)
        returned = (known & RETURNED > 0) & (flavours == FLAVOURS - 1)
        may_be[returned] &= ~(1 << SPECIAL)  # nobody can have returned the window
        seen = known >> seats[:, None].astype(np.uint8) & 1
        may_be = np.where(seen, 1 << np.maximum(sorts, 0) % KINDS, may_be)
        may_be = may_be[one, places].reshape(size, FLAVOURS, n)

        fits = tables.allowed[0].take(may_be[:, :, 0], axis=0)  # (s, 6, R)
        for j in range(1, n):
            fits &= tables.allowed[j].take(may_be[:, :, j], axis=0)
        kept = world.kept[rows, seats].reshape(size, FLAVOURS, KINDS)
        at, flavour = np.nonzero(kept.any(axis=2))
        if len(at):
            eaten = (flavours[:, :SLOTS, None] == np.arange(FLAVOURS)).sum(axis=1)[at, flavour]
            fits[at, flavour] &= (tables.from_on[eaten] >= kept[at, flavour][:, None]).all(axis=2)

        entry = np.zeros((size, 2 * SLOTS), np.int64)  # [place]: its number among the scones
        entry[one, places] = np.arange(FLAVOURS * n)
        width = max(1, int(world.eaten[rows].max(initial=0)))
        others = np.where(eaters == seats[:, None], -1, eaters)[:, :width]  # one's own cup is known
        found = self._first_that_agree(keys, fits, entry[:, :width], others, fatal[:, :width], tables)

        drawn = (np.repeat(np.arange(FLAVOURS), n) * KINDS + found.reshape(size, -1)).astype(np.int8)  # sorts
        fresh = np.full(sorts.shape, -1, np.int8)
        fresh[one, places] = drawn
        world.bites[rows] = fresh[:, :SLOTS]
        world.box[rows] = np.where(box > 0, fresh[:, SLOTS:] % KINDS + 1, 0)
        cup = (one * self.num_seats + eaters) * SCONES + fresh[:, :SLOTS]
        cups = np.bincount(cup[eaters >= 0], minlength=size * self.num_seats * SCONES).astype(np.int8)
        world.cup_scones[rows] = cups.reshape(size, self.num_seats, SCONES)
        world.doses[rows] = world.cup_scones[rows] @ DOSES

    def _fatal_bites(self, state: ArsenicState, rows: IntArray) -> BoolArray:
        """Return which bites somebody died of, (n, 42): the last ones of the dead."""
        fatal = np.zeros((len(rows), SLOTS), bool)
        for seat in range(self.num_seats):
            dead = np.flatnonzero(~state.alive[rows, seat])
            last = SLOTS - 1 - (state.eaters[rows[dead], ::-1] == seat).argmax(axis=1)
            fatal[dead, last] = True
        return fatal

    def _first_that_agree(
        self,
        keys: KeyArray,
        fits: BoolArray,
        entry: IntArray,
        eaters: IntArray,
        fatal: BoolArray,
        tables: _Tables,
    ) -> npt.NDArray[np.int8]:
        """Draw arrangements that fit, (s, 6, n) kinds, until the cups agree; the t-th attempt of a row is its own."""
        size, entries = len(keys), FLAVOURS * tables.n
        found = np.zeros((size, FLAVOURS, tables.n), np.int8)
        count = fits.sum(axis=2)  # (s, 6)
        choices = np.flatnonzero(fits)
        start = (np.cumsum(count.reshape(-1)) - count.reshape(-1)).reshape(size, FLAVOURS)
        before, total, died = self._packed_doses(entry, eaters, fatal, tables)
        dose = DOSES.reshape(FLAVOURS, KINDS)
        moon = MOONS.reshape(FLAVOURS, KINDS)
        flavour = np.arange(FLAVOURS)[:, None]
        keys = chance.fold(keys, _TRY)
        pending, tried, tries = np.arange(size), 0, 1
        while len(pending):
            numbers = chance.mix(np.arange(tried * _WORDS, (tried + tries) * _WORDS).astype(np.uint64))
            words = chance.mix(keys[pending, None] + numbers.reshape(tries, _WORDS).T[:, None])  # (3, p, tries)
            picked = np.empty((FLAVOURS, len(pending), tries), np.int64)
            lives, dies = np.zeros((2, len(pending), tries), np.uint64)
            for each in range(FLAVOURS):  # a word serves two flavours, `below` takes its upper half
                word = words[each] if each < _WORDS else words[each - _WORDS] << np.uint64(32)
                place = start[pending, each, None] + chance.below(word, count[pending, each, None])
                choices.take(place, out=picked[each])
                lives += before.take(picked[each])
                dies += total.take(picked[each])
            wanted = died[pending, None]
            at, attempt = np.nonzero((lives & _FULL == 0) & (dies & wanted == wanted))

            rows = pending[at]
            kinds = tables.kinds[picked[:, at, attempt].T % tables.number]  # (l, 6, n)
            sums = np.take_along_axis(dose[flavour, kinds].reshape(-1, entries), entry[rows], axis=1)
            moons = None
            if self.specials:
                moons = np.take_along_axis(moon[flavour, kinds].reshape(-1, entries), entry[rows], axis=1)
            agrees = np.flatnonzero(self._agrees(sums, moons, eaters[rows], fatal[rows]))
            done, first = np.unique(rows[agrees], return_index=True)
            found[done] = kinds[agrees[first]]
            pending, tried = np.setdiff1d(pending, done, assume_unique=True), tried + tries
            tries = max(1, min(16 * tries, _TRIES // max(1, len(pending))))
        return found

    def _packed_doses(
        self, entry: IntArray, eaters: IntArray, fatal: BoolArray, tables: _Tables
    ) -> tuple[KeyArray, KeyArray, KeyArray]:
        """Return what each arrangement adds to all cups at once, a byte for each seat.

        Returns:
            (s * 6 * R,) doses before a fatal bite, and with it; the first flavour's have 128 - lethal more, so that the
            sum of six has a byte's uppermost bit where the dose is lethal. (s,) those bits of the seats that died.
        """
        size, number = len(entry), self.num_seats
        row, bite = np.nonzero(eaters >= 0)
        unit = np.zeros((2, size, FLAVOURS * tables.n))  # exact: six bytes are less than 2**53
        worth = 256.0 ** eaters[row, bite]
        unit[0, row, entry[row, bite]] = worth * ~fatal[row, bite]
        unit[1, row, entry[row, bite]] = worth
        flavour = np.arange(FLAVOURS)[:, None, None]
        doses = DOSES.reshape(FLAVOURS, KINDS)[flavour, tables.kinds].astype(float)  # (6, R, n)
        moons = MOONS.reshape(FLAVOURS, KINDS)[flavour, tables.kinds] * (self.lethal // 2 + 1.0)  # two are lethal
        packed = [
            (worth @ unit[which].reshape(size, FLAVOURS, tables.n, 1))[..., 0].astype(np.int64).view(np.uint64)
            for which, worth in enumerate((doses, doses + moons))
        ]
        margin = sum((128 - self.lethal) << 8 * seat for seat in range(number))
        for one in packed:
            one[:, 0] += np.uint64(margin)
        died = np.zeros(size, np.uint64)
        dead, last = np.nonzero(fatal & (eaters >= 0))
        np.bitwise_or.at(died, dead, np.uint64(128) << (8 * eaters[dead, last]).astype(np.uint64))
        return packed[0].reshape(-1), packed[1].reshape(-1), died

    def _agrees(
        self, doses: IntArray, moons: BoolArray | None, eaters: IntArray, fatal: BoolArray
    ) -> npt.NDArray[np.bool_]:
        """Return whether each bite killed exactly where it was fatal, (t,): bites in order, (t, b)."""
        agrees = np.ones(len(doses), bool)
        for seat in range(self.num_seats):
            mine = eaters == seat
            kills = np.cumsum(doses * mine, axis=1) >= self.lethal
            if moons is not None:
                kills |= np.cumsum(moons & mine, axis=1) == 2
            agrees &= ((kills == fatal) | ~mine).all(axis=1)
        return agrees

    def _redraw_memories(self, world: ArsenicState, rows: IntArray, seats: IntArray, keys: KeyArray) -> None:
        """Let the other seats remember random scones of each flavour in the box, as many as they looked at."""
        looks = world.looks[rows]
        if not looks.any():
            return
        size, number = len(rows), self.num_seats
        box = world.box[rows].reshape(size, 1, FLAVOURS, IN_FLAVOUR)
        words = chance.bits(keys, _KEPT, number * SLOTS).reshape(size, number, FLAVOURS, IN_FLAVOUR)
        words = np.where(box > 0, words | np.uint64(1), np.uint64(0))  # empty slots come last
        rank = np.argsort(np.argsort(~words, axis=3), axis=3)
        chosen = np.where(rank < looks[..., None], box, 0)
        kept = np.stack([(chosen == kind + 1).sum(axis=3) for kind in range(KINDS)], axis=3).astype(np.int8)
        kept = kept.reshape(size, number, SCONES)
        own = np.arange(size), seats
        kept[own] = world.kept[rows, seats]
        world.kept[rows] = kept
