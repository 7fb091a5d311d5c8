"""The pile of Potio: dealing, drawing, explosions, and worlds that a seat cannot tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import PositionError
from poison_env.core.protocol import IntArray, State
from poison_env.games.potio.brews import NODES, ROOT
from poison_env.games.potio.deck import EMPTY, SLOTS
from poison_env.games.potio.moves import CENTRE, TAKING
from poison_env.games.potio.options import FIRST_CARDS, FIRST_CENTRE, PotioOptions

_DEAL, _FIRST, _FUTURE, _EXPLOSION = 0, 1 << 20, 1 << 21, 1 << 22  # streams of chance; explosion n is _EXPLOSION + n
_KIND_BITS = np.uint64(0xFF)  # the low bits of a card's random key carry its kind
_RANK_SHIFT = np.uint64(56)  # the high bits say which batch of the pile it is in
_BEHIND = 255  # stands for the batch of used-up places, which are never read


@dataclass(eq=False)
class PotioState(State):
    """Matches of Potio. A card in a zone is twice its kind, one more when frozen; elsewhere it is its kind."""

    zones: npt.NDArray[np.int8]  # (B, P, 8) sorted, EMPTY beyond the last card
    centre: npt.NDArray[np.int8]  # (B, 4) in order of arrival, -1 beyond
    centre_size: npt.NDArray[np.int64]  # (B,)
    pile: npt.NDArray[np.int8]  # (B, D) a ring: the card n places below the top is at (top + n) mod D
    batch: npt.NDArray[np.int16]  # (B, D) the explosion that put the card there, 0 for the first pile
    top: npt.NDArray[np.int64]  # (B,)
    pile_size: npt.NDArray[np.int64]  # (B,)
    batches: npt.NDArray[np.int16]  # (B, M, K) cards in the pile by kind; those of explosion n are at n mod M
    victory: npt.NDArray[np.int16]  # (B, P, K) cards in victory piles
    scores: npt.NDArray[np.int64]  # (B, P) points of the victory piles
    phase: npt.NDArray[np.int64]  # (B,) see moves
    node: npt.NDArray[np.int64]  # (B,) what is picked, as a node of the tree of brews
    tree: npt.NDArray[np.uint8]  # (B, 64) which nodes lead to a brew of the mover, while it picks
    effects: npt.NDArray[np.int64]  # (B,) bit e: effect e may be chosen, or is aimed
    first: npt.NDArray[np.int64]  # (B,) the first player
    turns: npt.NDArray[np.int64]  # (B,) turns ended
    stalled: npt.NDArray[np.int64]  # (B,) turns ended since a card entered a victory pile
    scored: npt.NDArray[np.bool_]  # (B,) a card has entered a victory pile in this turn
    explosions: npt.NDArray[np.int64]  # (B,) so far
    drawn: npt.NDArray[np.int8]  # (B, C) kinds drawn from the pile so far, -1 beyond; nobody knows more of their order
    fresh: npt.NDArray[np.int8]  # (B, P + 1) cards drawn since the last move: by each seat, and to the centre
    events: npt.NDArray[np.int16]  # (B, T) seat * A + action, -1 beyond
    seeds: npt.NDArray[np.uint64]  # (B,) where the match's chance comes from; never shown to anyone


class PotioDealer(PotioOptions):
    """Moves cards out of the pile and back under it."""

    @cached_property
    def max_refills(self) -> int:
        """How many brews and effects of theirs may empty a zone: a brew takes three cards out of the game at least."""
        return 2 * (self.deck.size // 3)

    @cached_property
    def max_cards_drawn(self) -> int:
        """C: cards dealt, one revealed in each turn, two for each zone that is emptied by a move or explodes.

        An explosion takes eight cards out of a zone, and cards come into zones one a turn, or in these ways.
        """
        dealt, turns = self.cards_dealt + 1, self.max_turns
        explosions = (dealt + turns + FIRST_CARDS * self.max_refills) // (SLOTS - FIRST_CARDS)
        return dealt + turns + FIRST_CARDS * (self.max_refills + explosions)

    def deal(self, seeds: KeyArray) -> PotioState:
        """Return fresh matches, one for each seed (B,) in [0, 2**64)."""
        keys = chance.as_keys(seeds)
        return self._deal(keys, self.card_order(keys))

    def deal_from(self, cards: npt.ArrayLike, *, seeds: KeyArray | Sequence[int] | None = None) -> PotioState:
        """Return matches dealt from given orders of cards.

        Args:
            cards: (B, deck size) kinds from the top of the pile: two for each seat from the first player on, those that
                the last one gets in addition, three for the centre, then the first card to be revealed.
            seeds: (B,) for the first player and the explosions; zeros unless given.

        Raises:
            PositionError: a row is not exactly the deck.
        """
        orders = np.atleast_2d(np.asarray(cards))
        keys = np.zeros(len(orders), np.uint64) if seeds is None else chance.as_keys(seeds)
        if orders.dtype.kind not in "iu" or orders.shape != (len(keys), self.deck.size):
            expected = f"({len(keys)}, {self.deck.size})"
            raise PositionError(f"cards: expected whole numbers of shape {expected}, got {orders.dtype} {orders.shape}")
        wrong = (np.sort(orders, axis=1) != self.deck.cards).any(axis=1)
        if wrong.any():
            raise PositionError(f"cards: row {int(np.argmax(wrong))} is not exactly the deck")
        return self._deal(keys, orders)

    def card_order(self, seeds: KeyArray) -> npt.NDArray[np.int64]:
        """Return the shuffled deck, (B, deck size) kinds from the top."""
        keys = chance.bits(chance.as_keys(seeds), _DEAL, self.deck.size) & ~_KIND_BITS
        keys |= self.deck.cards.astype(np.uint64)
        keys.sort(axis=1)
        return (keys & _KIND_BITS).astype(np.int64)

    def explosion_order(self, seeds: KeyArray, number: IntArray, cards: IntArray) -> npt.NDArray[np.int64]:
        """Return the order from the top in which explosion `number[b]` of a match puts `cards` (B, 8) under the pile.

        It depends on which cards they are, not on their order.
        """
        words = chance.bits(chance.as_keys(seeds), _EXPLOSION + np.asarray(number), SLOTS) & ~_KIND_BITS
        words |= np.sort(cards, axis=1).astype(np.uint64)
        words.sort(axis=1)
        return (words & _KIND_BITS).astype(np.int64)

    def _deal(self, keys: KeyArray, orders: IntArray) -> PotioState:
        size, seats, cards = len(keys), self.num_seats, self.deck.size
        first = chance.below(chance.fold(keys, _FIRST), seats)
        zones = np.full((size, seats, SLOTS), EMPTY, np.int8)
        rows, used = np.arange(size), FIRST_CARDS * seats
        for place in range(seats):
            seat, start = (first + place) % seats, FIRST_CARDS * place
            zones[rows, seat, :FIRST_CARDS] = 2 * orders[:, start : start + FIRST_CARDS]
        extra = self.extra_cards_last
        last = (first + seats - 1) % seats
        zones[rows, last, FIRST_CARDS : FIRST_CARDS + extra] = 2 * orders[:, used : used + extra]
        zones.sort(axis=2)
        drawn = np.full((size, self.max_cards_drawn), -1, np.int8)
        drawn[:, : self.cards_dealt] = orders[:, : self.cards_dealt]
        fresh = np.zeros((size, seats + 1), np.int8)
        fresh[:, :seats], fresh[:, seats] = FIRST_CARDS, FIRST_CENTRE
        fresh[rows, last] += extra
        for place in range(seats):
            start = FIRST_CARDS * place
            drawn[:, start : start + FIRST_CARDS + extra * (place == seats - 1)].sort(axis=1)
        centre = np.full((size, CENTRE), -1, np.int8)
        centre[:, :FIRST_CENTRE] = orders[:, used + extra : used + extra + FIRST_CENTRE]
        state = PotioState(
            to_move=first.copy(),
            done=np.zeros(size, bool),
            truncated=np.zeros(size, bool),
            moves=np.zeros(size, np.int64),
            zones=zones,
            centre=centre,
            centre_size=np.full(size, FIRST_CENTRE, np.int64),
            pile=orders.astype(np.int8),
            batch=np.zeros((size, cards), np.int16),
            top=np.full(size, self.cards_dealt % cards, np.int64),
            pile_size=np.full(size, cards - self.cards_dealt, np.int64),
            batches=np.zeros((size, self.num_batches, self.num_kinds), np.int16),
            victory=np.zeros((size, seats, self.num_kinds), np.int16),
            scores=np.zeros((size, seats), np.int64),
            phase=np.full(size, TAKING, np.int64),
            node=np.full(size, ROOT, np.int64),
            tree=np.zeros((size, NODES // 8), np.uint8),
            effects=np.zeros(size, np.int64),
            first=first,
            turns=np.zeros(size, np.int64),
            stalled=np.zeros(size, np.int64),
            scored=np.zeros(size, bool),
            explosions=np.zeros(size, np.int64),
            drawn=drawn,
            fresh=fresh,
            events=np.full((size, self.max_moves), -1, np.int16),
            seeds=keys.copy(),
        )
        index = rows[:, None] * self.num_kinds + orders[:, self.cards_dealt :]
        piled = np.bincount(index.reshape(-1), minlength=size * self.num_kinds)
        state.batches[:, 0] = piled.reshape(size, self.num_kinds)  # a batch may be empty
        self._reveal(state, rows)
        return state

    def _reveal(self, state: PotioState, rows: IntArray) -> None:
        """Put the top card of the pile into the centre, where there is one."""
        rows = rows[state.pile_size[rows] > 0]
        state.centre[rows, state.centre_size[rows]] = self._draw(state, rows, self.num_seats)
        state.centre_size[rows] += 1

    def _draw(self, state: PotioState, rows: IntArray, places: int | IntArray) -> npt.NDArray[np.int8]:
        """Take the top card of the pile for seats, or with P for the centre."""
        top, left = state.top[rows], state.pile_size[rows]
        number = self.deck.size + SLOTS * state.explosions[rows] - left
        state.top[rows] = (top + 1) % self.deck.size
        state.pile_size[rows] -= 1
        card = state.pile[rows, top]
        state.batches[rows, state.batch[rows, top] % self.num_batches, card] -= 1
        state.drawn.reshape(-1)[rows * self.max_cards_drawn + number] = card
        state.fresh.reshape(-1)[rows * (self.num_seats + 1) + places] += 1
        return card

    def num_drawn(self, state: PotioState) -> npt.NDArray[np.int64]:
        """Return how many cards have been drawn from the pile so far, (B,)."""
        return self.deck.size + SLOTS * state.explosions - state.pile_size

    def _refill(self, state: PotioState, rows: IntArray) -> None:
        """Let owners of empty zones draw two cards, or what the pile has, clockwise from the mover."""
        bare = (state.zones[rows, :, 0] == EMPTY).any(axis=1) & (state.pile_size[rows] > 0)
        rows = rows[bare]
        for ahead in range(self.num_seats if len(rows) else 0):
            seats = (state.to_move[rows] + ahead) % self.num_seats
            empty = (state.zones[rows, seats, 0] == EMPTY) & (state.pile_size[rows] > 0)
            drawing, owners = rows[empty], seats[empty]
            for slot in range(FIRST_CARDS):
                more = state.pile_size[drawing] > 0
                drawing, owners = drawing[more], owners[more]
                state.zones[drawing, owners, slot] = 2 * self._draw(state, drawing, owners)
            zones = state.zones[drawing, owners]
            zones.sort(axis=1)
            state.zones[drawing, owners] = zones
            # Of cards from one batch nobody knows which came first.
            lower = (state.top[drawing, None] - (FIRST_CARDS, 1)) % self.deck.size
            batch = state.batch[drawing[:, None], lower]
            alike = drawing[batch[:, 0] == batch[:, 1]]
            places = self.num_drawn(state)[alike, None] - (FIRST_CARDS, 1)
            state.drawn[alike[:, None], places] = np.sort(state.drawn[alike[:, None], places], axis=1)

    def _explode(self, state: PotioState, rows: IntArray) -> None:
        """Shuffle the full zones of the movers of those rows and put them under the pile, not frozen any more."""
        movers = state.to_move[rows]
        cards = state.zones[rows, movers].astype(np.int64) >> 1
        order = self.explosion_order(state.seeds[rows], state.explosions[rows], cards)
        below = state.top[rows] + state.pile_size[rows]
        places = (below[:, None] + np.arange(SLOTS)) % self.deck.size
        state.explosions[rows] += 1
        state.pile[rows[:, None], places] = order
        number = state.explosions[rows][:, None]
        state.batch[rows[:, None], places] = number
        np.add.at(state.batches, (rows[:, None], number % self.num_batches, order), 1)
        state.pile_size[rows] += SLOTS
        state.zones[rows, movers] = EMPTY

    def _ranked_pile(self, state: PotioState) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
        """Return for each place below the top, (B, D): the card, its batch counted from the top, and whether it is."""
        places = (state.top[:, None] + np.arange(self.deck.size)) % self.deck.size
        cards, batch = np.take_along_axis(state.pile, places, 1), np.take_along_axis(state.batch, places, 1)
        inside = np.arange(self.deck.size) < state.pile_size[:, None]
        return cards.astype(np.int64), (batch - batch[:, :1]).astype(np.int64), inside

    def resample(self, state: PotioState, seats: IntArray, seeds: KeyArray) -> PotioState:
        """Return matches in which the order of the pile is drawn anew, uniformly and each batch by itself.

        All else is open, so `seats` do not matter; explosions to come are drawn anew too.
        """
        world, keys = state.copy(), chance.as_keys(seeds)
        cards, rank, inside = self._ranked_pile(state)
        # Batch by batch in the order of the kinds: who knows the seed could else tell from a world how the pile lies.
        known = np.where(inside, rank, _BEHIND) << 8 | cards
        known.sort(axis=1)
        words = chance.bits(keys, _DEAL, self.deck.size) >> (np.uint64(64) - _RANK_SHIFT) & ~_KIND_BITS
        words |= known.astype(np.uint64) & _KIND_BITS
        words |= (known >> 8).astype(np.uint64) << _RANK_SHIFT
        words.sort(axis=1)
        places = (state.top[:, None] + np.arange(self.deck.size)) % self.deck.size
        np.put_along_axis(world.pile, places, (words & _KIND_BITS).astype(np.int8), 1)
        world.seeds[:] = chance.fold(keys, _FUTURE)
        return world
