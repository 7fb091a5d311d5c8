"""The chance of Poison, outcome by outcome: who deals first, and card by card what each hand holds.

Nobody can tell in which order a hand was dealt, so its cards come in the order of their kinds: every deal has one path,
where dealing round the table would have a path for each order. Cards that are set aside are no outcomes.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from poison_env.core.chance import KeyArray
from poison_env.core.errors import PositionError
from poison_env.core.outcomes import check_outcomes, next_in_hand, refuse
from poison_env.core.protocol import BoolArray, FloatArray, IntArray
from poison_env.games.poison.dealing import PoisonDealer, PoisonState


class PoisonOutcomes(PoisonDealer):
    """Draws the chance of one set of options again; outcome k is a card of kind k, K + s that seat s deals first."""

    @property
    def num_outcomes(self) -> int:
        """Kinds, and seats where chance chooses the first dealer."""
        return self.num_kinds + self._dealer_drawn * self.num_seats

    @property
    def max_outcomes(self) -> int:
        """D: the cards dealt in all rounds, and the first dealer."""
        return self._dealer_drawn + self.num_rounds * self.cards_dealt

    @property
    def max_draws(self) -> int:
        """Rounds."""
        return self.num_rounds

    @property
    def _dealer_drawn(self) -> int:
        return int(self.first_dealer is None)

    @cached_property
    def _hand_ends(self) -> tuple[int, ...]:
        return tuple(accumulate(self.hand_sizes))

    def drawn_now(self, state: PoisonState) -> BoolArray:
        """Return whether a round has just been dealt, (B,)."""
        fresh: BoolArray = (state.cards_left == self.cards_dealt) & ~state.done
        return fresh

    def next_outcomes(self, state: PoisonState, drawn: Sequence[int]) -> dict[int, float]:
        """Return what may follow the outcomes `drawn` of the present draw, and how likely; nothing if that is all.

        Hands are dealt one after another, the first player's first.

        Raises:
            PositionError: chance cannot draw these.
        """
        cards = list(drawn)
        if self._dealer_drawn and state.round[0] == 0:
            dealers = {self.num_kinds + seat: 1 / self.num_seats for seat in range(self.num_seats)}
            if not cards:
                return dealers
            if cards.pop(0) not in dealers:
                raise PositionError(f"chance cannot draw {list(drawn)}")
        if len(cards) == self.cards_dealt:
            return {}
        falls = any(a > b for place, (a, b) in enumerate(pairwise(cards), 1) if place not in self._hand_ends)
        if falls or len(cards) > self.cards_dealt or not all(0 <= card < self.num_kinds for card in cards):
            raise PositionError(f"chance cannot draw {list(drawn)}")
        hand = sum(end <= len(cards) for end in self._hand_ends)
        start = self._hand_ends[hand] - self.hand_sizes[hand]
        left = self.deck.counts - np.bincount(np.array(cards[:start], np.int64), minlength=self.num_kinds)
        following = next_in_hand(np.maximum(left, 0).tolist(), cards[start:], self.hand_sizes[hand])
        if not following or left.min() < 0:
            raise PositionError(f"chance cannot draw {list(drawn)}")
        return following

    def draw(self, state: PoisonState, outcomes: IntArray) -> FloatArray:
        """Deal the round that has just begun again, in place, as `outcomes` say: a row a match, filled up with -1.

        No deal changes what a move has paid: return zeros, (B, P).

        Raises:
            PositionError: chance cannot draw a row, or a match is past its draw; nothing has changed.
        """
        size, kinds = len(state), self.num_kinds
        first = self._dealer_drawn * (state.round == 0)
        width = self.cards_dealt + int(first.max(initial=0))
        drawn = check_outcomes(outcomes, width, self.drawn_now(state))
        cards = np.take_along_axis(drawn, first[:, None] + np.arange(self.cards_dealt), axis=1)
        dealer = np.where(first, drawn[:, 0] - kinds, state.dealer)
        hand = np.repeat(np.arange(self.num_seats), self.hand_sizes)
        wrong = ((cards < 0) | (cards >= kinds)).any(axis=1) | (dealer < 0) | (dealer >= self.num_seats)
        wrong |= ((np.diff(cards, axis=1) < 0) & (np.diff(hand) == 0)).any(axis=1)
        places = (np.arange(size)[:, None] * self.num_seats + hand) * kinds + np.where(wrong[:, None], 0, cards)
        hands = np.bincount(places.ravel(), minlength=size * self.num_seats * kinds).astype(np.int16)
        hands = hands.reshape(size, self.num_seats, kinds)
        wrong |= (hands.sum(axis=1) > self.deck.counts).any(axis=1) | (drawn[:, width:] != -1).any(axis=1)
        refuse(drawn, wrong)
        state.dealer[:] = dealer
        self._begin_round(state, slice(None), hands)
        return np.zeros((size, self.num_seats))

    def outcomes(self, state: PoisonState) -> npt.NDArray[np.int64]:
        """Return first dealer and hands of every round so far, (B, D), -1 beyond.

        Raises:
            PositionError: the match does not tell, as it was set up in its middle or has forgotten its moves.
        """
        size, seats, kinds, length = len(state), self.num_seats, self.num_kinds, self.cards_dealt
        found = np.full((size, self.max_outcomes), -1, np.int64)
        if self._dealer_drawn:
            found[:, 0] = kinds + state.dealer
        for number in range(self.num_rounds):
            rows = np.flatnonzero(number < state.round + ~state.done)
            events = state.events[rows, number * length : (number + 1) * length].astype(np.int64)
            at, _ = np.nonzero(events >= 0)
            mover, action = np.divmod(events[events >= 0], self.num_actions)
            places = (at * seats + mover) * kinds + self.kind_of[action]
            hands = np.bincount(places, minlength=len(rows) * seats * kinds).reshape(-1, seats, kinds)
            hands += np.where((state.round[rows] == number)[:, None, None], state.hands[rows], 0)
            first = (state.dealer[rows] + number + 1) % seats
            order = self._rotation[first]  # (n, P) the seats from the first player on
            untold = (hands.sum(axis=2)[np.arange(len(rows))[:, None], order] != self.hand_sizes).any(axis=1)
            if untold.any():
                row = rows[np.argmax(untold)]
                raise PositionError(f"row {row}: the match does not tell what was dealt in round {number + 1}")
            hands = hands[np.arange(len(rows))[:, None], order]
            cards = np.repeat(np.tile(np.arange(kinds), len(rows) * seats), hands.ravel())
            begin = self._dealer_drawn + number * length
            found[rows, begin : begin + length] = cards.reshape(len(rows), length)
        return found

    def redraw(self, state: PoisonState, seats: IntArray, seeds: KeyArray) -> npt.NDArray[np.int64]:
        """Return outcomes, (B, D), with the cards that `seats[b]` has not seen shuffled anew.

        Raises:
            PositionError: as `outcomes`.
        """
        return self.outcomes(self._shuffle_unseen(state, seats, seeds, remembers=True))

    def outcome_label(self, outcome: int) -> str:
        """Return a card as text, or who deals first."""
        if outcome < self.num_kinds:
            return self.deck.label(outcome)
        return f"seat {outcome - self.num_kinds} deals first"
