"""Dealing Poison: fresh matches, rounds from given orders of cards, and worlds that a seat cannot tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import PositionError
from poison_env.core.protocol import IntArray, State
from poison_env.games.poison.deck import CLASSES
from poison_env.games.poison.options import PoisonOptions
from poison_env.games.poison.tables import CAULDRONS

_DEAL, _DEALER, _FUTURE = 0, 1 << 20, 1 << 21  # streams of chance; the deal of round r is _DEAL + r
_KIND_BITS = np.uint64(0xFF)  # the low bits of a card's random key carry its kind
_NOWHERE = np.uint64(2**64 - 1)  # sorts behind every card
_CHUNK = 512  # rows dealt at a time: their keys stay in the processor's cache


@dataclass(eq=False)
class PoisonState(State):
    """Matches of Poison. Cards are counts by kind; the order of cards in a cauldron is not kept."""

    hands: npt.NDArray[np.int16]  # (B, P, K)
    cauldrons: npt.NDArray[np.int64]  # (B, 3) number of the content, see tables
    taken: npt.NDArray[np.int16]  # (B, P, 4) cards taken in this round by class: red, blue, purple, poison
    unplayed: npt.NDArray[np.int16]  # (B, K) in hands or set aside
    cards_left: npt.NDArray[np.int64]  # (B,) in hands
    round: npt.NDArray[np.int64]  # (B,) from 0
    dealer: npt.NDArray[np.int64]  # (B,) dealer of the first round
    totals: npt.NDArray[np.int64]  # (B, P) points of the rounds scored so far, handicaps included
    events: npt.NDArray[np.int16]  # (B, T) seat * A + action, -1 beyond
    seeds: npt.NDArray[np.uint64]  # (B,) where the match's chance comes from; never shown to anyone


def neighbours(rows: IntArray) -> IntArray | slice:
    """Return rising rows as a slice where they follow each other: NumPy then copies blocks, several times as fast."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


class PoisonDealer(PoisonOptions):
    """Deals the cards of one set of options."""

    # Rule 1. The cards are dealt one by one from the player left of the dealer on, who moves first.

    def deal(self, seeds: KeyArray) -> PoisonState:
        """Return fresh matches, one for each seed (B,) in [0, 2**64)."""
        keys = chance.as_keys(seeds)
        state = self._blank(keys)
        self._deal_round(state, np.arange(len(keys)))
        return state

    def deal_from(self, cards: npt.ArrayLike, *, seeds: KeyArray | Sequence[int] | None = None) -> PoisonState:
        """Return matches whose first round is dealt from given orders of cards.

        Args:
            cards: (B, deck size) kinds in the order in which they are dealt: the first goes to the player left of the
                dealer.
            seeds: (B,) for later rounds and the first dealer; zeros unless given.

        Raises:
            PositionError: a row is not exactly the deck.
        """
        orders = self._check_orders(cards, None)
        state = self._blank(np.zeros(len(orders), np.uint64) if seeds is None else chance.as_keys(seeds))
        self._place(state, np.arange(len(orders)), self._check_orders(orders, len(state)))
        return state

    def redeal(self, state: PoisonState, cards: npt.ArrayLike) -> None:
        """Deal the round that has just begun again, in place, from given orders of cards (B, deck size).

        Raises:
            PositionError: a row is not exactly the deck, or a match is over or has played a card of its round.
        """
        orders = self._check_orders(cards, len(state))
        late = state.done | (state.cards_left != self.cards_dealt)
        if late.any():
            raise PositionError(
                f"row {int(np.argmax(late))}: the match is over, or a card of the round has been played"
            )
        self._place(state, np.arange(len(state)), orders)

    def card_order(self, seeds: KeyArray, round_number: int | IntArray = 0) -> npt.NDArray[np.int64]:
        """Return the shuffled deck of a round, (B, deck size) kinds in dealing order: seed and round decide it."""
        keys = chance.bits(chance.as_keys(seeds), _DEAL + np.asarray(round_number), self.deck.size)
        keys &= ~_KIND_BITS
        keys |= self._card_kinds.astype(np.uint64)
        keys.sort(axis=1)
        keys &= _KIND_BITS
        return keys.view(np.int64)

    def _blank(self, keys: KeyArray) -> PoisonState:
        size, seats = len(keys), self.num_seats
        if self.first_dealer is None:
            dealer = chance.below(chance.fold(keys, _DEALER), seats)
        else:
            dealer = np.full(size, self.first_dealer, np.int64)
        return PoisonState(
            to_move=np.zeros(size, np.int64),
            done=np.zeros(size, bool),
            truncated=np.zeros(size, bool),
            moves=np.zeros(size, np.int64),
            hands=np.zeros((size, seats, self.num_kinds), np.int16),
            cauldrons=np.zeros((size, CAULDRONS), np.int64),
            taken=np.zeros((size, seats, len(CLASSES)), np.int16),
            unplayed=np.zeros((size, self.num_kinds), np.int16),
            cards_left=np.zeros(size, np.int64),
            round=np.zeros(size, np.int64),
            dealer=dealer,
            totals=np.tile(np.array(self.handicaps, np.int64), (size, 1)),
            events=np.full((size, self.max_moves), -1, np.int16),
            seeds=keys.copy(),
        )

    def _deal_round(self, state: PoisonState, rows: IntArray) -> None:
        for start in range(0, len(rows), _CHUNK):
            part = neighbours(rows[start : start + _CHUNK])
            self._place(state, part, self.card_order(state.seeds[part], state.round[part]))

    def _place(self, state: PoisonState, rows: IntArray | slice, orders: IntArray) -> None:
        size, kinds = len(orders), self.num_kinds
        dealt = (
            orders[:, : len(self._hand_of_card)]
            + self._hand_of_card * kinds
            + np.arange(size)[:, None] * (self._hands * kinds)
        )
        hands = np.bincount(dealt.ravel(), minlength=size * self._hands * kinds).astype(np.int16)
        self._begin_round(state, rows, hands.reshape(size, self._hands, kinds))

    def _begin_round(self, state: PoisonState, rows: IntArray | slice, hands: npt.NDArray[np.int16]) -> None:
        """Begin the round with hands (n, P and more, K), the first player's first."""
        size, number, kinds = hands.shape
        first = (state.dealer[rows] + state.round[rows] + 1) % self.num_seats
        seat_hands = np.arange(size)[:, None] * number + self._rotation[-first % self.num_seats]
        state.hands[rows] = hands.reshape(-1, kinds).take(seat_hands, axis=0)
        state.unplayed[rows] = self.deck.counts
        state.cauldrons[rows] = 0
        state.taken[rows] = 0
        state.cards_left[rows] = self.cards_dealt
        state.to_move[rows] = first

    def _check_orders(self, cards: npt.ArrayLike, size: int | None) -> npt.NDArray[np.int64]:
        orders = np.atleast_2d(np.asarray(cards))
        if orders.dtype.kind not in "iu" or orders.shape != (len(orders) if size is None else size, self.deck.size):
            raise PositionError(
                f"cards: expected whole numbers of shape ({'B' if size is None else size}, {self.deck.size}), "
                f"got {orders.dtype} {orders.shape}"
            )
        wrong = (np.sort(orders, axis=1) != self._card_kinds).any(axis=1)
        if wrong.any():
            raise PositionError(f"cards: row {int(np.argmax(wrong))} is not exactly the deck")
        return orders.astype(np.int64)

    def resample(self, state: PoisonState, seats: IntArray, seeds: KeyArray) -> PoisonState:
        """Return matches in which the cards that `seats[b]` has not seen are shuffled anew, uniformly.

        With perfect recall those are the others' hands and the cards set aside; with `recall="none"` every pile of
        taken cards as well. Rounds to come are drawn anew too.
        """
        return self._shuffle_unseen(state, seats, seeds, remembers=self.recall == "perfect")

    def _shuffle_unseen(self, state: PoisonState, seats: IntArray, seeds: KeyArray, *, remembers: bool) -> PoisonState:
        world = state.copy()
        size, number, kinds = len(state), self.num_seats, self.num_kinds
        rows, keys = np.arange(size), chance.as_keys(seeds)
        own = state.hands[rows, seats]
        pool = self._unseen(state, own, remembers=remembers)
        sizes = state.hands.sum(axis=2)
        sizes[rows, seats] = 0
        if not remembers:
            sizes = np.concatenate([sizes, state.taken.sum(axis=2)], axis=1)

        shuffled = chance.bits(keys, _DEAL, self.deck.size) & ~_KIND_BITS | self._card_kinds.astype(np.uint64)
        shuffled[self._card_ordinals >= pool.take(self._card_kinds, axis=1)] = _NOWHERE
        shuffled.sort(axis=1)
        shuffled = shuffled[:, : int(pool.sum(axis=1).max(initial=0))]
        ends = np.cumsum(sizes, axis=1)
        position = np.arange(shuffled.shape[1])
        owner = np.zeros(shuffled.shape, np.int64)
        for end in ends.T:
            owner += position >= end[:, None]
        places = sizes.shape[1] + 1  # the last one: set aside, or beyond the pool
        inside = position < pool.sum(axis=1)[:, None]
        index = (rows[:, None] * places + owner) * kinds + (shuffled & _KIND_BITS).astype(np.int64)
        drawn = (
            np.bincount(index[inside], minlength=size * places * kinds).astype(np.int16).reshape(size, places, kinds)
        )

        world.hands[:] = drawn[:, :number]
        world.hands[rows, seats] = own
        if not remembers:
            by_class = (self.deck.classes[:, None] == np.arange(len(CLASSES))).astype(np.int16)
            world.taken[:] = drawn[:, number:-1] @ by_class
            world.unplayed[:] = world.hands.sum(axis=1) + drawn[:, -1]
            world.events[:] = -1  # they would tell what was taken
        world.seeds[:] = chance.fold(keys, _FUTURE)
        return world

    def _unseen(
        self, state: PoisonState, own: npt.NDArray[np.int16], *, remembers: bool | None = None
    ) -> npt.NDArray[np.int16]:
        """Return the cards by kind that the owners of hands `own`, (B, K), have not seen or do not remember, (B, K)."""
        if self.recall == "perfect" if remembers is None else remembers:
            return state.unplayed - own
        boiling: npt.NDArray[np.int16] = self._tables.contents.take(state.cauldrons, axis=0).sum(axis=1, dtype=np.int16)
        return self.deck.counts - boiling - own
