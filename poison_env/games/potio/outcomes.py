"""The chance of Potio, outcome by outcome: who begins, and every card that is drawn from the pile.

A zone that draws several cards at once is sorted, so they come in the order of their kinds: every draw has one path.
The cards of the centre come as they arrive. The order of the pile is decided when its cards are drawn.
"""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import PositionError
from poison_env.core.outcomes import check_outcomes, next_in_hand, refuse
from poison_env.core.protocol import BoolArray, FloatArray, IntArray
from poison_env.games.potio.dealing import PotioDealer, PotioState
from poison_env.games.potio.deck import EMPTY
from poison_env.games.potio.moves import TAKING

_SWAP = 1 << 24  # stream of chance: which of equal cards comes to the top


class PotioOutcomes(PotioDealer):
    """Draws the chance of one set of options again; outcome k is a card of kind k, K + s that seat s begins."""

    @property
    def num_outcomes(self) -> int:
        """Kinds and seats."""
        return self.num_kinds + self.num_seats

    @property
    def max_outcomes(self) -> int:
        """D: who begins, and the cards drawn."""
        return 1 + self.max_cards_drawn

    @property
    def max_draws(self) -> int:
        """The deal, one at the end of each turn, and one wherever a move empties a zone."""
        return 1 + self.max_turns + self.max_refills

    def drawn_now(self, state: PotioState) -> BoolArray:
        """Return whether cards have been drawn since the last move, (B,)."""
        drawn: BoolArray = state.fresh.sum(axis=1) > 0
        return drawn

    def next_outcomes(self, state: PotioState, drawn: Sequence[int]) -> dict[int, float]:
        """Return what may follow the outcomes `drawn` of the present draw, and how likely; nothing if that is all.

        A card comes from the uppermost batch of the pile, each of its cards as likely as another.

        Raises:
            PositionError: chance cannot draw these.
        """
        cards = list(drawn)
        if state.moves[0] == 0:
            begins = {self.num_kinds + seat: 1 / self.num_seats for seat in range(self.num_seats)}
            if not cards:
                return begins
            if cards.pop(0) not in begins:
                raise PositionError(f"chance cannot draw {list(drawn)}")
        left: dict[int, list[int]] = {}
        for batch, size in self._runs(state, left):
            hand, cards = cards[:size], cards[size:]
            counts = left[batch]
            if len(hand) < size:
                following = next_in_hand(counts, hand, size) if all(0 <= kind < self.num_kinds for kind in hand) else {}
                if not following:
                    raise PositionError(f"chance cannot draw {list(drawn)}")
                return following
            for kind in hand:
                if not 0 <= kind < self.num_kinds or not counts[kind] or hand != sorted(hand):
                    raise PositionError(f"chance cannot draw {list(drawn)}")
                counts[kind] -= 1
        if cards:
            raise PositionError(f"chance cannot draw {list(drawn)}")
        return {}

    def _runs(self, state: PotioState, left: dict[int, list[int]]) -> list[tuple[int, int]]:
        """Return the draw of one match as runs of cards without order: batch and number of cards.

        Args:
            left: filled with the cards by kind that each batch had before the draw.
        """
        sizes = np.take_along_axis(state.fresh, self._places(state), 1)[0].tolist()
        *hands, revealed = sizes
        number = sum(sizes)
        places = (state.top[0] - number + np.arange(number)) % self.deck.size
        kinds, batches = state.pile[0, places].tolist(), state.batch[0, places].tolist()
        for kind, batch in zip(kinds, batches, strict=True):
            left.setdefault(batch, state.batches[0, batch % self.num_batches].tolist())[kind] += 1
        runs: list[tuple[int, int]] = []
        for size in (*hands, *[1] * revealed):
            run, batches = batches[:size], batches[size:]
            runs += [(batch, len(list(same))) for batch, same in groupby(run)]
        return runs

    def _places(self, state: PotioState, first: IntArray | None = None) -> npt.NDArray[np.int64]:
        """Return who draws, in that order, (B, P + 1): seats from the mover of the turn on, and P for the centre."""
        turn_ended = (state.phase == TAKING) & (state.moves > 0)
        begins = (state.to_move - turn_ended) % self.num_seats if first is None else first
        centre = np.full((len(state), 1), self.num_seats)
        return np.concatenate([self.rotation[begins], centre], axis=1)

    def draw(self, state: PotioState, outcomes: IntArray) -> FloatArray:
        """Let chance have drawn `outcomes` instead, in place: a row a match, filled up with -1.

        What is left of the pile keeps its order but for the cards that were swapped. No draw changes what a move has
        paid: return zeros, (B, P).

        Raises:
            PositionError: chance cannot draw a row, or a match is past its draw; nothing has changed.
        """
        size, kinds, seats = len(state), self.num_kinds, self.num_seats
        opening, number = (state.moves == 0).astype(np.int64), state.fresh.sum(axis=1, dtype=np.int64)
        drawn = check_outcomes(outcomes, int((opening + number).max(initial=0)), self.drawn_now(state))
        one, width = np.arange(size)[:, None], int(number.max(initial=1))
        card = np.arange(width)
        there = card < number[:, None]
        filled = np.concatenate([drawn, np.full((size, 1), -1)], axis=1)
        kind = np.where(there, np.take_along_axis(filled, np.minimum(opening[:, None] + card, drawn.shape[1]), 1), 0)
        first = np.where(opening, filled[:, 0] - kinds, state.first)
        wrong = (first < 0) | (first >= seats) | ((kind < 0) | (kind >= kinds)).any(axis=1)
        wrong |= ((drawn != -1) & (np.arange(drawn.shape[1]) >= (opening + number)[:, None])).any(axis=1)
        first = np.where(wrong, 0, first)
        kind = np.where(wrong[:, None], 0, kind)

        # Who draws which card: zones of several cards are sorted, batch by batch.
        before = self._places(state)
        after = np.where(opening[:, None], self._places(state, first), before)
        ends = np.cumsum(np.take_along_axis(state.fresh, before, 1), axis=1, dtype=np.int64)  # (B, P + 1)
        turn = np.minimum((card[:, None] >= ends[:, None, :]).sum(axis=2), seats)  # (B, C)
        owner = np.take_along_axis(after, turn, 1)
        places = (state.top[:, None] - number[:, None] + card) % self.deck.size
        batch = np.take_along_axis(state.batch, places, 1)
        together = (owner[:, 1:] == owner[:, :-1]) & (owner[:, 1:] < seats) & (batch[:, 1:] == batch[:, :-1])
        wrong |= ((kind[:, 1:] < kind[:, :-1]) & together & there[:, 1:]).any(axis=1)

        record = np.where(there, self.num_drawn(state)[:, None] - number[:, None] + card, 0)
        old = np.take_along_axis(state.drawn, record, 1).astype(np.int64)
        pile, possible = self._bring_up(state, kind, old, places, there)
        wrong |= ~possible
        refuse(drawn, wrong)

        state.pile[:] = pile
        at, batch, old, new = np.nonzero(there)[0], batch[there] % self.num_batches, old[there], kind[there]
        np.add.at(state.batches, (at, batch, old), 1)
        np.add.at(state.batches, (at, batch, new), -1)
        state.drawn[at, record[there]] = new
        begins = np.flatnonzero(opening)
        state.first[begins] = state.to_move[begins] = first[begins]
        state.zones[begins] = EMPTY
        drawing = np.take_along_axis(state.fresh, before, 1)
        np.put_along_axis(state.fresh, after, drawing, 1)
        slot = (card - (ends - drawing)[one, turn])[there]  # among the cards of its owner
        owner = owner[there]
        zone, centre = owner < seats, owner == seats
        state.zones[at[zone], owner[zone], slot[zone]] = 2 * new[zone]
        state.zones.sort(axis=2)
        state.centre[at[centre], (state.centre_size - drawing[:, -1])[at[centre]] + slot[centre]] = new[centre]
        # What may be brewed stays as it is: who has drawn has two cards, and a brew takes three.
        return np.zeros((size, seats))

    def _bring_up(
        self, state: PotioState, kind: IntArray, old: IntArray, places: IntArray, there: BoolArray
    ) -> tuple[npt.NDArray[np.int8], BoolArray]:
        """Return the pile with `kind` where `old` was drawn from (B, C), and whether it has these cards, (B,).

        Each card is swapped with any of its kind in the same batch, all equally likely, so that no order of what is
        left becomes likelier than another.
        """
        rows, pile, possible = np.arange(len(state)), state.pile.copy(), np.ones(len(state), bool)
        pile[np.nonzero(there)[0], places[there]] = old[there]
        depth = (np.arange(self.deck.size) - places[:, :1]) % self.deck.size
        inside = depth < there.sum(axis=1)[:, None] + state.pile_size[:, None]
        for index, here in enumerate(places.T):
            wanted = kind[:, index]
            fits = (pile == wanted[:, None]) & (state.batch == state.batch[rows, here][:, None])
            fits &= inside & (depth >= index)
            count = fits.sum(axis=1)
            possible &= ~there[:, index] | (count > 0)
            nth = chance.below(chance.fold(state.seeds, _SWAP + index, state.moves), count)
            other = (np.cumsum(fits, axis=1) > nth[:, None]).argmax(axis=1)
            other = np.where(there[:, index] & (pile[rows, here] != wanted), other, here)
            pile[rows, here], pile[rows, other] = pile[rows, other], pile[rows, here]
        return pile, possible

    def outcomes(self, state: PotioState) -> npt.NDArray[np.int64]:
        """Return who began and all cards drawn so far, (B, D), -1 beyond.

        Raises:
            PositionError: the match was set up in its middle.
        """
        untold = ((state.drawn < 0) & (np.arange(self.max_cards_drawn) < self.num_drawn(state)[:, None])).any(axis=1)
        if untold.any():
            raise PositionError(f"row {int(np.argmax(untold))}: the match does not tell what has been drawn")
        begins = self.num_kinds + state.first[:, None]
        return np.concatenate([begins, state.drawn], axis=1, dtype=np.int64)

    def redraw(self, state: PotioState, seats: IntArray, seeds: KeyArray) -> npt.NDArray[np.int64]:
        """Return the outcomes themselves, (B, D): everybody has seen every card that was drawn.

        Raises:
            PositionError: as `outcomes`.
        """
        return self.outcomes(state)

    def outcome_label(self, outcome: int) -> str:
        """Return a card as text, or who begins."""
        if outcome < self.num_kinds:
            return self.deck.label(outcome)
        return f"seat {outcome - self.num_kinds} begins"
