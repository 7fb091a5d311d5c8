"""The end of a match of Arsenic: who is best, sudden death among equals, and what it pays."""

import numpy as np
import numpy.typing as npt

from poison_env.core.protocol import BoolArray, FloatArray, IntArray
from poison_env.games.arsenic.dealing import ArsenicDealer, ArsenicState
from poison_env.games.arsenic.scones import COUNTS, DOSES, FLAVOUR_OF_SLOT, KINDS, SPECIAL, SUGARS

_AS_OUTCOME = np.array([-1, SPECIAL, *range(SPECIAL)])  # [dose + 2], nothing for a dose of -2
_DOSE_STEP = 1024  # above any dose: more scones always come first


class ArsenicEnding(ArsenicDealer):
    """Ends the matches of one set of options."""

    points_sign = 1

    def points(self, state: ArsenicState) -> npt.NDArray[np.int64]:
        """Return the scones of those alive, (B, P).

        While the match goes on they are as many as everybody sees, at its end what they count.
        """
        seen = state.cups.sum(axis=2, dtype=np.int64)
        if self.specials and state.done.any():
            seen = np.where(state.done[:, None], state.cup_scones.astype(np.int64) @ COUNTS, seen)
        return np.where(state.alive, seen, 0)

    def placements(self, state: ArsenicState) -> npt.NDArray[np.int64]:
        """Return how many seats are strictly better, (B, P): 0 = best.

        At the end by scones, dose and sudden death, the dead last; before it by what everybody sees.
        """
        return np.where(state.done[:, None], state.places, _places(np.where(state.alive, self.points(state), -1)))

    def _is_over(self, state: ArsenicState, rows: IntArray) -> BoolArray:
        """Return whether one seat of several is left alive, nobody is active, or the box is empty, (n,)."""
        alive = state.alive[rows]
        over: BoolArray = ~(alive & ~state.stopped[rows]).any(axis=1) | (state.eaten[rows] == self.scones)
        if self.last_survivor_ends and self.num_seats > 1:
            over |= np.count_nonzero(alive, axis=1) == 1
        return over

    def _finish(self, state: ArsenicState, rows: IntArray, doses: IntArray | None = None) -> FloatArray:
        """End matches, in place; return what they pay, (n, P).

        Args:
            doses: (n, L) what tied seats draw in sudden death, one after another; None draws it from the seed.
        """
        state.done[rows] = True
        ended = state[rows]
        points = self.points(ended)
        sums = np.maximum(ended.doses, 0).astype(np.int64)
        value = np.where(ended.alive, points * _DOSE_STEP + sums, -1)
        best = ended.alive & (value == value.max(axis=1, keepdims=True))
        if self.tiebreak == "sudden_death":
            tied = np.flatnonzero(np.count_nonzero(best, axis=1) > 1)
            if len(tied):
                lying = self._last_doses(ended[tied]) if doses is None else doses[tied]
                best[tied], drawn = self._sudden_death(ended[tied], best[tied], lying)
                self._tell(state, rows[tied], lying, drawn)
        places = _places(value * 2 + best)
        state.places[rows] = places
        if self.reward == "win":
            shares: FloatArray = best / np.maximum(best.sum(axis=1, keepdims=True), 1)
            return shares
        if self.reward == "points":
            return points.astype(np.float64)
        others = (points.sum(axis=1, keepdims=True) - points) / (self.num_seats - 1)
        relative: FloatArray = points - others
        return relative

    def _last_doses(self, ended: ArsenicState) -> npt.NDArray[np.int64]:
        """Return the doses of the scones that lie there in drawing order, (n, 42), anything behind them."""
        order = self.last_draws(ended)
        lying = np.take_along_axis(ended.box, order, axis=1)
        order = np.take_along_axis(order, np.argsort(lying == 0, axis=1, kind="stable"), axis=1)
        scones = np.take_along_axis(ended.box, order, axis=1)
        doses: npt.NDArray[np.int64] = DOSES[FLAVOUR_OF_SLOT[order] * KINDS + np.maximum(scones - 1, 0)].astype(
            np.int64
        )
        return doses

    def _turns_drawn(self, state: ArsenicState) -> npt.NDArray[np.int64]:
        """Return how many scones were drawn in turns that are over, (B,): each was eaten, or cost a sugar or spoon."""
        left: npt.NDArray[np.int64] = state.sugars.sum(axis=1, dtype=np.int64) + state.spoons.sum(axis=1)
        return state.eaten + self.num_seats * (SUGARS + self.has_spoons) - left

    def _tell(self, state: ArsenicState, rows: IntArray, doses: IntArray, drawn: IntArray) -> None:
        """Write down what was drawn in sudden death; the one dose below 0 is the special scone's."""
        begin = self._turns_drawn(state)[rows]
        place = np.arange(self.most_drawn) - begin[:, None]
        told = np.where(place < drawn[:, None], np.take_along_axis(doses, place.clip(0, doses.shape[1] - 1), 1), -2)
        state.shown[rows] = np.where(place < 0, state.shown[rows], _AS_OUTCOME.take(told + 2))
        state.draws[rows] = begin + drawn

    def _sudden_death(
        self, ended: ArsenicState, tied: BoolArray, doses: IntArray
    ) -> tuple[BoolArray, npt.NDArray[np.int64]]:
        """Let tied seats draw a scone each, lap by lap, until one is left; return who wins, (n, P), and draws, (n,).

        Who reaches the lethal dose is out; if nobody survives a lap, those who began it share, and if the box is
        empty, those who are left.
        """
        size, seats = tied.shape
        everyone = np.arange(size)
        left, sums = tied.copy(), ended.doses.astype(np.int64)
        there, drawn = np.minimum(np.count_nonzero(ended.box, axis=1), doses.shape[1]), np.zeros(size, np.int64)
        shared = np.zeros(size, bool)
        while True:
            playing = (left.sum(axis=1) > 1) & (drawn < there) & ~shared
            if not playing.any():
                return left, drawn
            began = left.copy()
            for ahead in range(seats):
                seat = (ended.first + ahead) % seats
                draws = playing & began[everyone, seat] & (drawn < there)
                dose = doses[everyone, np.minimum(drawn, doses.shape[1] - 1)]
                sums[everyone, seat] += np.where(draws, dose, 0)
                drawn += draws
                left[everyone, seat] &= ~(draws & (sums[everyone, seat] >= self.lethal))
            shared |= playing & ~left.any(axis=1)
            left[shared] = began[shared]  # they draw no more


def _places(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return how many seats have a strictly higher value, (n, P)."""
    better: npt.NDArray[np.int64] = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    return better
