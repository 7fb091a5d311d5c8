"""Relay, a game for tests of generic code: turns out of order, a seat that is never asked again, an early limit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core.errors import IllegalActionError
from poison_env.core.layout import ObservationLayout, Section
from poison_env.core.protocol import BoolArray, FloatArray, IntArray, State, check_actions

ORDER = np.array([2, 0, 0, 1, 2, 2, 0, 2])  # seat 0 twice running, seat 1 once and never again, seat 2 out of turn


@dataclass(eq=False)
class RelayState(State):
    """Matches of Relay."""

    carried: npt.NDArray[np.int64]  # (B, 3) what each seat has taken so far


class Relay:
    """Three seats take 0 to 3 in a fixed order of turns; never the same as the turn's number modulo 4.

    Each move pays its number to the mover and minus as much to the next seat, whoever moves next. The match is over
    after eight moves, or cut off after `limit`.
    """

    id = "relay-v3"
    num_seats, num_actions, max_moves, points_sign = 3, 4, len(ORDER), 1
    layout = ObservationLayout((Section(name="own", shape=(1,), high=24, text="own"),))
    full_layout = ObservationLayout((Section(name="all", shape=(3,), high=24, along_seats=True, text="of each seat"),))

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit

    @property
    def options(self) -> dict[str, Any]:
        return {"limit": self.limit}

    rules_options = options

    def deal(self, seeds: npt.NDArray[np.uint64]) -> RelayState:
        size = len(seeds)
        return RelayState(
            to_move=np.full(size, ORDER[0]),
            done=np.zeros(size, bool),
            truncated=np.zeros(size, bool),
            moves=np.zeros(size, np.int64),
            carried=np.zeros((size, 3), np.int64),
        )

    def action_mask(self, state: RelayState) -> BoolArray:
        return (np.arange(4) != state.moves[:, None] % 4) & ~state.done[:, None]

    def step(self, state: RelayState, actions: IntArray) -> FloatArray:
        chosen = check_actions(actions, state, 4)
        legal = self.action_mask(state)[np.arange(len(state)), chosen] | state.done
        if not legal.all():
            row = int(np.argmin(legal))
            raise IllegalActionError(f"row {row}: seat {state.to_move[row]} may not take {chosen[row]}")
        rows = np.flatnonzero(~state.done)
        mover, amount = state.to_move[rows], chosen[rows]
        rewards = np.zeros((len(state), 3))
        rewards[rows, mover] = amount
        rewards[rows, (mover + 1) % 3] = -amount
        state.carried[rows, mover] += amount
        state.moves[rows] += 1
        over = state.moves[rows] == self.max_moves
        state.truncated[rows] = (state.moves[rows] == self.limit) & ~over
        state.done[rows] = over | state.truncated[rows]
        state.to_move[rows] = ORDER[state.moves[rows] % len(ORDER)]
        return rewards

    def observe(self, state: RelayState, seats: IntArray) -> npt.NDArray[np.int16]:
        return self.layout.encode({"own": state.carried[np.arange(len(state)), seats]})

    def observe_all(self, state: RelayState) -> npt.NDArray[np.int16]:
        return self.full_layout.encode({"all": state.carried})
