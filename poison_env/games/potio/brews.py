"""What can be brewed: every legal set of cards, listed once, and found among the 256 subsets of a zone.

A brew is a first card of value v and two more parts, each either one card of value v or cards of one colour and any
greys that add up to v. The parts add up to 3v, so the set alone tells its value, its points and its colours.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from poison_env.games.potio.deck import CLASSES, COLOURS, EMPTY, GREY, MAX_VALUE, SLOTS, Deck, parse_deck

FREEZE, BURN, THAW, STEAL = range(4)  # effects
EFFECTS = ("freeze", "burn", "thaw", "steal")
SUBSETS = 1 << SLOTS  # a subset of a zone is a number whose highest bit is slot 0

# Picking slots in increasing order is a walk down a binary tree: node 1 is the start, node 2n leaves the next slot
# alone, node 2n + 1 takes it, and node 256 + S is the subset S.
ROOT, NODES = 1, 2 * SUBSETS
_BITS = np.uint64(3)  # for each kind in a key
_FROZEN = np.uint64(1 << 60)  # above all kinds: no brew has it
_SPREAD, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(48)  # a multiplicative hash to 16 bits
_TAKEN = np.arange(SUBSETS, dtype=np.uint64)[:, None] >> np.arange(SLOTS - 1, -1, -1, dtype=np.uint64) & np.uint64(1)


@dataclass(frozen=True)
class Brews:
    """Every legal brew of a deck, M of them, and what follows from it."""

    counts: npt.NDArray[np.int8]  # (M, K) cards by kind
    keys: npt.NDArray[np.uint64]  # (M,) the same in one word, rising
    points: npt.NDArray[np.int64]  # (M,) the value, and 1 for each other card
    effects: npt.NDArray[np.int64]  # (M,) bit e: effect e may be chosen
    maybe: npt.NDArray[np.bool_]  # (65536,) some brew has this hash
    weights: npt.NDArray[np.uint64]  # (EMPTY + 1,) what a slot of a zone adds to the key of its set
    known: frozenset[int]  # the keys

    def find(
        self, zones: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return all brews in sorted zones (N, 8): row, subset and number of the brew, in no order.

        Of subsets with the same cards only that with the lowest slots is given. Frozen cards are in none.
        """
        weights = self.weights.take(zones)
        sizes = (zones != EMPTY).sum(axis=1)
        found: list[tuple[npt.NDArray[np.int64], ...]] = []
        for size in range(3, SLOTS + 1):
            rows = np.flatnonzero(sizes == size)
            if not len(rows):
                continue
            keys = np.zeros((1 << size, len(rows)), np.uint64)
            weight = np.ascontiguousarray(weights[rows, :size].T)
            for slot in reversed(range(size)):
                bit = 1 << (size - 1 - slot)
                np.add(keys[:bit], weight[slot], out=keys[bit : 2 * bit])
            subset, at = np.nonzero(self.maybe.take((keys * _SPREAD) >> _SHIFT))
            key = keys[subset, at]
            number = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
            real = np.flatnonzero(self.keys[number] == key)
            found.append((rows[at[real]], subset[real] << (SLOTS - size), number[real]))
        if not found or not len(self.keys):
            none = np.zeros(0, np.int64)
            return none, none, none
        row, subset, number = (np.concatenate(part) for part in zip(*found, strict=True))
        twins = np.packbits(zones[:, 1:] == zones[:, :-1], axis=1)[:, 0].astype(np.int64)
        higher_only = twins[row] & (subset << 1) & ~subset  # bit 7 - i: slot i + 1, which is like slot i, without it
        lowest = np.flatnonzero(higher_only == 0)
        return row[lowest], subset[lowest], number[lowest]

    def number(self, counts: npt.NDArray[np.int16]) -> npt.NDArray[np.int64]:
        """Return the numbers of brews given as cards by kind, (N, K)."""
        shifts = _BITS * np.arange(counts.shape[1], dtype=np.uint64)
        found: npt.NDArray[np.int64] = np.searchsorted(
            self.keys, (counts.astype(np.uint64) << shifts).sum(axis=1, dtype=np.uint64)
        )
        return found

    def tree(self, zones: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
        """Return for sorted zones (N, 8) which nodes lead to a brew, (N, 64): node k is bit k % 8 of byte k // 8."""
        row, subset, _ = self.find(zones)
        leads = np.zeros((len(zones), NODES), bool)
        node = subset + SUBSETS
        for _ in range(SLOTS + 1):
            leads[row, node] = True
            node = node >> 1
        return np.packbits(leads.reshape(-1), bitorder="little").reshape(len(zones), NODES // 8)

    def tree_of_one(self, zone: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
        """Return the same for one sorted zone (8,), (64,), with fewer calls."""
        keys = _TAKEN @ self.weights.take(zone)
        twins = np.packbits(zone[1:] == zone[:-1]).item()
        leads = 0
        for subset in self.maybe.take((keys * _SPREAD) >> _SHIFT).nonzero()[0].tolist():
            if keys.item(subset) in self.known and not twins & (subset << 1) & ~subset:
                node = subset + SUBSETS
                while node and not leads >> node & 1:
                    leads |= 1 << node
                    node >>= 1
        return np.frombuffer(leads.to_bytes(NODES // 8, "little"), np.uint8)


@lru_cache(maxsize=16)
def build(deck_text: str, grey_first: bool, grey_only_sum: bool) -> Brews:
    """List every legal brew of a deck."""
    deck = parse_deck(deck_text)
    shifts = _BITS * np.arange(len(deck.kinds), dtype=np.uint64)
    by_key: dict[int, tuple[npt.NDArray[np.int8], int]] = {}
    for value in range(1, MAX_VALUE + 1):
        parts = np.array(list(_parts(deck, value, grey_only_sum)), np.int8).reshape(-1, len(deck.kinds))
        firsts = np.flatnonzero(deck.values == value)
        for first in firsts[grey_first | (deck.classes[firsts] != CLASSES.index(GREY))]:
            both = (parts[:, None] + parts).reshape(-1, len(deck.kinds))
            both[:, first] += 1
            both = both[(both <= deck.counts).all(axis=1) & (both.sum(axis=1) <= SLOTS)]
            keys = (both.astype(np.uint64) << shifts).sum(axis=1, dtype=np.uint64)
            by_key |= {int(key): (row, value) for key, row in zip(keys, both, strict=True)}
    keys = np.array(sorted(by_key), np.uint64)
    counts = np.array([by_key[int(key)][0] for key in keys], np.int8).reshape(-1, len(deck.kinds))
    values = np.array([by_key[int(key)][1] for key in keys], np.int64)
    maybe = np.zeros(1 << 16, bool)
    maybe[(keys * _SPREAD) >> _SHIFT] = True
    weights = np.zeros(EMPTY + 1, np.uint64)
    weights[0 : 2 * len(shifts) : 2] = np.uint64(1) << shifts
    weights[1 : 2 * len(shifts) : 2] = weights[EMPTY] = _FROZEN
    has = np.stack([counts[:, deck.classes == c].any(axis=1) for c in range(len(COLOURS))], axis=1)
    brews = Brews(
        counts=counts,
        keys=keys,
        points=values + counts.sum(axis=1) - 1,
        effects=_EFFECTS_OF_COLOURS[has @ np.array([1, 2, 4])],
        maybe=maybe,
        weights=weights,
        known=frozenset(keys.tolist()),
    )
    for array in (counts, keys, brews.points, brews.effects, maybe, weights):
        array.flags.writeable = False
    return brews


# By the colours of a set, blue 1, yellow 2, purple 4: one colour or all three have effects, greys do not count.
_EFFECTS_OF_COLOURS = np.array([0, 1 << FREEZE, 1 << BURN | 1 << THAW, 0, 1 << STEAL, 0, 0, 15])


def _parts(deck: Deck, value: int, grey_only_sum: bool) -> Iterator[tuple[int, ...]]:
    """Yield what may stand for a value beside the first card, as cards by kind: one card, or a sum of one colour."""
    greys = deck.classes == CLASSES.index(GREY)
    for colour in range(len(CLASSES)):
        own = deck.classes == colour
        usable = np.where(own | greys, deck.counts, 0).tolist()
        for cards in _sums(deck.values.tolist(), usable, value):
            coloured = any(count for count, mine in zip(cards, own, strict=True) if mine)
            if CLASSES[colour] != GREY:
                if coloured:
                    yield cards
            elif grey_only_sum or sum(cards) == 1:
                yield cards


def _sums(values: list[int], usable: list[int], total: int) -> Iterator[tuple[int, ...]]:
    """Yield every choice of cards, (K,) counts, whose values add up to `total`."""
    if not values:
        if total == 0:
            yield ()
        return
    for count in range(min(usable[0], total // values[0]) + 1):
        for rest in _sums(values[1:], usable[1:], total - count * values[0]):
            yield (count, *rest)
