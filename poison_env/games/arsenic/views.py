"""What seats of Arsenic see of a match, and everything there is."""

from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core.layout import Observation
from poison_env.core.protocol import IntArray
from poison_env.games.arsenic import single
from poison_env.games.arsenic.dealing import RETURNED, ArsenicState
from poison_env.games.arsenic.scones import FLAVOURS, IN_FLAVOUR, SCONES, SLOTS
from poison_env.games.arsenic.worlds import ArsenicWorlds

_PUT_BACK_SHIFT = np.uint8(RETURNED.bit_length() - 1)
_BLOCK = 2048  # rows at a time: what is put together stays in the cache, and memory is not asked for anew
_PHASES = np.vstack([np.eye(4, dtype=np.int16), np.zeros((1, 4), np.int16)])  # the last row: over


class ArsenicViews(ArsenicWorlds):
    """Shows the matches of one set of options."""

    def observe(self, state: ArsenicState, seats: IntArray) -> Observation:
        """Return what `seats[b]` knows in row b, (B, F) int16; sections as in `layout`."""
        if len(state) == 1 and not state.done[0]:
            return single.observe(self, state, int(seats[0]))
        seen = np.empty((len(state), self.layout.size), np.int16)
        own = np.asarray(seats).astype(np.int64, casting="same_kind", copy=False)  # unsigned less signed is a float
        for start in range(0, len(state), _BLOCK):
            rows = slice(start, start + _BLOCK)
            part = ArsenicState(**{name: array[rows] for name, array in state._arrays().items()})  # views, no copies
            seen[rows] = self._observe(part, own[rows])
        return seen

    def _observe(self, state: ArsenicState, seats: IntArray) -> Observation:
        rows, number = np.arange(len(state)), self.num_seats
        own = rows * number + seats
        clockwise = self._rotation.take(seats, axis=0) + rows[:, None] * number
        bit = np.asarray(seats).astype(np.uint8)[:, None]
        drawn = rows * SLOTS + state.drawn
        sees = (state.drawn >= 0) & (state.knows.reshape(-1).take(drawn) >> bit[:, 0] & 1)
        sections: dict[str, npt.NDArray[Any]] = {
            **self._public(state, clockwise, np.arange(number) == (state.turn - seats)[:, None] % number),
            "to_move": (np.arange(number) == (state.to_move - seats)[:, None] % number) & ~state.done[:, None],
            "drawn_scone": state.box.reshape(-1).take(drawn) * sees,
            "kept": state.kept.reshape(-1, SCONES).take(own, axis=0),
            "known_cups": self._known_cups(state, seats, own),
            "own_dose": np.maximum(state.doses.reshape(-1).take(own), 0),
        }
        if self.by_slot:
            sections["box"] = state.box > 0
            sections["drawn"] = state.drawn + 1
            sections["known_slots"] = state.box * (state.knows >> bit & 1).view(np.int8)
            sections["put_back"] = state.knows >> _PUT_BACK_SHIFT
        else:
            sections["box"] = state.left
            sections["drawn"] = state.drawn // IN_FLAVOUR + 1
        return self.layout.encode(sections)

    def _known_cups(self, state: ArsenicState, seats: IntArray, own: IntArray) -> npt.NDArray[np.int16]:
        """Return the scones in cups that each seat knows, (B, P, 30), seats from one's own on."""
        number = self.num_seats
        cups = np.zeros((len(state), number, SCONES), np.int16)
        cups[:, 0] = state.cup_scones.reshape(-1, SCONES).take(own, axis=0)
        if self.by_slot:  # else nobody knows what another eats
            seat = np.asarray(seats).astype(np.int8)[:, None]
            told = (state.bite_known >> seat.view(np.uint8) & 1).view(bool) & (state.eaters != seat)
            at, bite = np.divmod(np.flatnonzero(told), SLOTS)
            ahead = (state.eaters[at, bite] - seats[at]) % number
            np.add.at(cups.reshape(-1), (at * number + ahead) * SCONES + state.bites[at, bite], np.int16(1))
        return cups

    def observe_all(self, state: ArsenicState) -> Observation:
        """Return everything, (B, F_full) int16, seats in table order; sections as in `full_layout`."""
        seats = np.arange(self.num_seats)
        in_order = np.arange(len(state))[:, None] * self.num_seats + seats
        return self.full_layout.encode(
            {
                **self._public(state, in_order, seats == state.turn[:, None]),
                "to_move": (seats == state.to_move[:, None]) & ~state.done[:, None],
                "scones": state.box,
                "drawn": state.drawn + 1,
                "known_slots": state.knows[:, None] >> seats[:, None].astype(np.uint8) & 1,
                "kept": state.kept,
                "cup_scones": state.cup_scones,
            }
        )

    def _public(self, state: ArsenicState, seats: IntArray, turn: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """Return what everybody sees of turn and players; `seats` (B, P) are places in arrays (B * P, ...)."""
        return {
            "phase": _PHASES.take(np.where(state.done, len(_PHASES) - 1, state.phase), axis=0),
            "turn": turn & ~state.done[:, None],
            "shuffled": state.shuffled,
            "alive": state.alive.reshape(-1).take(seats),
            "stopped": state.stopped.reshape(-1).take(seats),
            "sugars": state.sugars.reshape(-1).take(seats),
            "spoons": state.spoons.reshape(-1).take(seats),
            "owed": state.owed.reshape(-1).take(seats),
            "cups": state.cups.reshape(-1, FLAVOURS).take(seats, axis=0),
        }
