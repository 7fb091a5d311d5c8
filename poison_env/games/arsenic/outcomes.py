"""The chance of Arsenic, outcome by outcome: who begins, what each drawn scone is, and the doses of sudden death.

The box is filled as it is looked into. What a scone is that somebody has seen in its slot since the last shuffle is
certain; any other is each of those of its flavour that are neither eaten nor so seen, all as likely.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import PositionError
from poison_env.core.outcomes import check_outcomes, refuse
from poison_env.core.protocol import BoolArray, FloatArray, IntArray
from poison_env.games.arsenic.dealing import RETURNED, SPOONED, ArsenicState
from poison_env.games.arsenic.histories import ArsenicHistories
from poison_env.games.arsenic.options import EAT, INSPECT, PASS, RETURN, SPOON, TURN
from poison_env.games.arsenic.scones import DOSES, FLAVOUR_OF_SLOT, IN_FLAVOUR, KINDS, SLOTS, SPECIAL

_SWAP = 1 << 24  # stream of chance: which of equal scones comes to the slot
_PUT_BACK = RETURNED | SPOONED


class ArsenicOutcomes(ArsenicHistories):
    """Draws the chance of one set of options again.

    Outcome k is a scone of kind k, in sudden death a dose of k, there the special kind is a dose of -1; 5 + s is that
    seat s begins.
    """

    @property
    def num_outcomes(self) -> int:
        """Kinds and seats."""
        return KINDS + self.num_seats

    @property
    def max_outcomes(self) -> int:
        """D: who begins, and what is drawn."""
        return 1 + self.most_drawn

    @property
    def max_draws(self) -> int:
        """Who begins, what is drawn in each turn, sudden death, and the deaths."""
        return 2 + self.most_drawn + self.num_seats

    def drawn_now(self, state: ArsenicState) -> BoolArray:
        """Return whether the match begins, somebody has drawn, or died of the last move, or sudden death came, (B,)."""
        begins_or_draws = (state.moves == 0) | (state.phase == INSPECT) & ~state.done
        drawn: BoolArray = begins_or_draws | self._has_died(state) | (self._last_drawn(state) > 0)
        return drawn

    def _has_died(self, state: ArsenicState) -> BoolArray:
        """Return whether somebody died of the last move, (B,): seats see it, though no move tells.

        A bite goes down by EAT, or by the last PASS of those who were asked; a PASS after RETURN or SPOON ends a turn.
        """
        rows = np.arange(len(state))
        words = self.words_of[
            state.events[rows[:, None], np.maximum(state.moves[:, None] - (1, 2), 0)] % self.num_actions
        ]
        bitten = (words[:, 0] == EAT) | (words[:, 0] == PASS) & (words[:, 1] != RETURN) & (words[:, 1] != SPOON)
        eater = state.eaters[rows, np.maximum(state.eaten - 1, 0)]
        died: BoolArray = (
            bitten & (state.moves > 0) & (state.eaten > 0) & (state.phase == TURN) & ~state.alive[rows, eater]
        )
        return died

    def _last_drawn(self, state: ArsenicState) -> npt.NDArray[np.int64]:
        """Return how many scones have been drawn in sudden death, (B,)."""
        return np.where(state.done, state.draws - self._turns_drawn(state), 0)

    def next_outcomes(self, state: ArsenicState, drawn: Sequence[int]) -> dict[int, float]:
        """Return what may follow the outcomes `drawn` of the present draw, and how likely; nothing if that is all.

        Raises:
            PositionError: chance cannot draw these.
        """
        given = list(drawn)
        if state.done[0]:
            following = self._next_last(state, given)
        elif state.moves[0] == 0:
            following = {KINDS + seat: 1 / self.num_seats for seat in range(self.num_seats)}
        elif state.phase[0] == INSPECT:
            scones = state.box[0, self._may_lie(state)[0]].astype(np.int64) - 1
            counts = np.bincount(scones, minlength=KINDS)
            following = {kind: int(counts[kind]) / len(scones) for kind in np.flatnonzero(counts).tolist()}
        else:
            following = {}
        if given and not state.done[0]:
            if len(given) > 1 or given[0] not in following:
                raise PositionError(f"chance cannot draw {given}")
            return {}
        return following

    def _may_lie(self, state: ArsenicState) -> BoolArray:
        """Return the slots, (B, 42), whose scones may lie in the drawn one's: itself alone, if it has been seen."""
        slot = np.arange(SLOTS)
        own = slot == state.drawn[:, None]
        seen_before = (state.knows & _PUT_BACK > 0) & own
        unseen = (state.box > 0) & (state.knows == 0) & (state.drawn[:, None] // IN_FLAVOUR == FLAVOUR_OF_SLOT)
        lie: BoolArray = own | unseen & ~seen_before.any(axis=1, keepdims=True)
        return lie

    def _next_last(self, state: ArsenicState, given: list[int]) -> dict[int, float]:
        """Return the next doses of sudden death, as `next_outcomes`."""
        counts = self._doses_there(state)[0]
        if not self._last_drawn(state)[0] and not given:
            return {}
        left = counts - np.bincount(np.array(given, np.int64).clip(0, KINDS - 1), minlength=KINDS)
        # One dose more than given, whatever it is: is it drawn?
        drawn = self._replayed(state, np.array([[*given, 0]], np.int64))[1][0]
        if min([0, *given]) < 0 or max([0, *given]) >= KINDS or left.min() < 0 or drawn < len(given):
            raise PositionError(f"chance cannot draw {given}")
        if drawn == len(given):
            return {}
        return {dose: int(left[dose]) / int(left.sum()) for dose in np.flatnonzero(left).tolist()}

    def _doses_there(self, state: ArsenicState) -> npt.NDArray[np.int64]:
        """Return how many scones in the box have each dose, as outcomes, (B, 5)."""
        dose = DOSES[FLAVOUR_OF_SLOT * KINDS + np.maximum(state.box - 1, 0)]
        outcome = np.where(dose < 0, SPECIAL, dose)
        counts: npt.NDArray[np.int64] = ((outcome[..., None] == np.arange(KINDS)) & (state.box > 0)[..., None]).sum(
            axis=1
        )
        return counts

    def _replayed(self, state: ArsenicState, outcomes: IntArray) -> tuple[ArsenicState, IntArray, FloatArray]:
        """End matches again with these outcomes of sudden death: return them, the draws, (B,), and pay, (B, P)."""
        ended = state.copy()
        doses = np.where(outcomes == SPECIAL, -1, outcomes.clip(0, SPECIAL - 1))
        paid = self._finish(ended, np.arange(len(ended)), doses)
        return ended, self._last_drawn(ended), paid

    def draw(self, state: ArsenicState, outcomes: IntArray) -> FloatArray:
        """Let chance have drawn `outcomes` instead, in place: a row a match, filled up with -1.

        Returns:
            (B, P) by how much that changes what the last move has paid: sudden death decides who wins.

        Raises:
            PositionError: chance cannot draw a row, or a match is past its draw; nothing has changed.
        """
        size, last = len(state), self._last_drawn(state)
        inspects = (state.phase == INSPECT) & ~state.done
        number = np.where(state.done, last > 0, (state.moves == 0) | inspects).astype(np.int64)  # or more in the end
        drawn = check_outcomes(outcomes, int(number.max(initial=0)), self.drawn_now(state))
        drawn = np.concatenate([drawn, np.full((size, 1), -1)], axis=1)
        wrong = (drawn < -1).any(axis=1) | (np.diff((drawn >= 0).astype(np.int64), axis=1) > 0).any(axis=1)
        wrong |= np.where(last > 0, False, (drawn >= 0).sum(axis=1) != number)
        one = drawn[:, 0]

        begins = np.flatnonzero((state.moves == 0) & ~wrong)
        wrong[begins] |= (one[begins] < KINDS) | (one[begins] >= KINDS + self.num_seats)
        looks = np.flatnonzero(inspects & ~wrong)
        fits = (state.box[looks] == one[looks, None] + 1) & self._may_lie(state[looks])
        wrong[looks] |= ~fits.any(axis=1)
        ends = np.flatnonzero((last > 0) & ~wrong)
        counted = (drawn[ends, :, None] == np.arange(KINDS)).sum(axis=1)
        wrong[ends] |= (drawn[ends] >= KINDS).any(axis=1) | (counted > self._doses_there(state[ends])).any(axis=1)
        ended, count, paid = self._replayed(state[ends], drawn[ends])
        wrong[ends] |= count != (drawn[ends] >= 0).sum(axis=1)
        refuse(drawn[:, :-1], wrong)

        state.first[begins] = state.turn[begins] = state.to_move[begins] = one[begins] - KINDS
        self._swap(state, looks, fits, one[looks])
        changed = np.zeros((size, self.num_seats))
        changed[ends] = paid - self._replayed(state[ends], self._last_outcomes(state)[ends])[2]
        state[ends] = ended
        return changed

    def _swap(self, state: ArsenicState, rows: IntArray, fits: BoolArray, kinds: IntArray) -> None:
        """Put a scone of that kind into the drawn slot, any of the slots that fit, (n, 42), as likely as another."""
        slot = state.drawn[rows]
        nth = chance.below(chance.fold(state.seeds[rows], _SWAP, state.moves[rows]), fits.sum(axis=1))
        other = (np.cumsum(fits, axis=1) > nth[:, None]).argmax(axis=1)
        other = np.where(state.box[rows, slot] == kinds + 1, slot, other)
        state.box[rows, other] = state.box[rows, slot]
        state.box[rows, slot] = kinds + 1
        state.shown[rows, state.draws[rows] - 1] = kinds

    def _last_outcomes(self, state: ArsenicState) -> npt.NDArray[np.int64]:
        """Return the outcomes of sudden death, (B, 42), -1 beyond."""
        number = np.arange(SLOTS)
        at = np.minimum(self._turns_drawn(state)[:, None] + number, self.most_drawn - 1)
        shown = np.take_along_axis(state.shown, at, 1).astype(np.int64)
        return np.where(number < self._last_drawn(state)[:, None], shown, -1)

    def outcomes(self, state: ArsenicState) -> npt.NDArray[np.int64]:
        """Return who began and what was drawn so far, (B, D), -1 beyond.

        Raises:
            PositionError: the match is a world of another, which tells what is where but not what others saw.
        """
        untold = ((state.shown < 0) & (np.arange(self.most_drawn) < state.draws[:, None])).any(axis=1)
        if untold.any():
            raise PositionError(f"row {int(np.argmax(untold))}: the match does not tell what has been drawn")
        return np.concatenate([KINDS + state.first[:, None], state.shown], axis=1, dtype=np.int64)

    def redraw(self, state: ArsenicState, seats: IntArray, seeds: KeyArray) -> npt.NDArray[np.int64]:
        """Return outcomes of matches that `seats[b]`, who remembers every look, cannot tell from these, (B, D).

        They are as likely as chance makes them given all that the seat has seen; nothing is concluded from how others
        chose to play. A match that is over stays as it is.

        Raises:
            PositionError: as `outcomes`, or no such match was found within reason.
        """
        found = self.outcomes(state)
        keys = chance.as_keys(seeds)
        # Row by row: the turns of each match are a story of its own, and trees hold one match at a time.
        for row in np.flatnonzero(~state.done).tolist():
            found[row, 1 : 1 + state.draws[row]] = self._another_history(
                state[row], int(seats[row]), keys[row : row + 1]
            )
        return found

    def outcome_label(self, outcome: int) -> str:
        """Return a dose, `special`, or who begins, as text."""
        if outcome < KINDS:
            return "special" if outcome == SPECIAL else f"dose {outcome}"
        return f"seat {outcome - KINDS} begins"
