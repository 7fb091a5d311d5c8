"""Arsenic, batched: the rules of the box with its variants and options.

Source: the French rules of Arsenic ("Tea, scones and arsenic"). docs/arsenic.md has them in full with every decision on
what they leave open.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core.errors import IllegalActionError
from poison_env.core.protocol import BoolArray, FloatArray, IntArray, check_actions
from poison_env.games.arsenic import drawing, single, text
from poison_env.games.arsenic.dealing import RETURNED, SPOONED, ArsenicState
from poison_env.games.arsenic.options import (
    AFTER,
    DRAW,
    EAT,
    INSPECT,
    OVER,
    PASS,
    REACT,
    RETURN,
    SHUFFLE,
    SPOON,
    STOP,
    TURN,
    WORDS,
)
from poison_env.games.arsenic.outcomes import ArsenicOutcomes
from poison_env.games.arsenic.scones import (
    DOSES,
    FLAVOUR_OF_SLOT,
    FLAVOURS,
    IN_FLAVOUR,
    KINDS,
    MOONS,
    SCONES,
    SLOTS,
    SPECIAL,
    WINDOW_SLOT,
)
from poison_env.games.arsenic.views import ArsenicViews

_HERE, _NOWHERE = np.zeros(1, np.int64), np.zeros(0, np.int64)


class Arsenic(ArsenicOutcomes, ArsenicViews):
    """The rules of Arsenic for one set of options.

    Args:
        num_seats: 1 to 6.
        honour_turns: what each active seat owes after another has stopped, 0 to 9. None is 2, at six seats 1.
        spoons: every seat has a spoon.
        last_survivor_ends: the match ends when one seat of several is left alive; else it goes on, and all may die.
        draw: "slots" (which one matters to a good memory) or "flavour" (the box is mixed before each draw).
        tiebreak: "sudden_death" or "shared".
        specials: one special scone more in each flavour.
        reward: "win" (1/k to each of k winners), "points" (scones) or "relative" (the same less the mean of the
            others'), all of it at the end. None is win, alone points.

    Raises:
        OptionError: an option, or a combination, that cannot be played.
    """

    id = "arsenic-v0"

    def action_mask(self, state: ArsenicState) -> BoolArray:
        """Return legal actions, (B, A): draws by slot or flavour, then the words. All False where done."""
        size = len(state)
        if size == 1 and not state.done[0]:
            return single.action_mask(self, state)
        movers = np.arange(size) * self.num_seats + state.turn
        code = np.where(state.done, OVER, state.phase) * 2
        code += state.owed.reshape(-1).take(movers) == 0
        code *= 2
        code += ~state.shuffled
        code *= 2
        may_return: npt.NDArray[Any] = state.sugars.reshape(-1).take(movers) > 0
        if self.specials:
            may_return = may_return & ~self._holds_window(state)
        code += may_return
        legal: BoolArray = self._legal.take(code, axis=0)
        there = state.box > 0 if self.by_slot else state.left > 0
        legal[:, : self.num_draws] &= there
        return legal

    def _holds_window(self, state: ArsenicState) -> BoolArray:
        scone = state.box[np.arange(len(state)), np.maximum(state.drawn, 0)]
        window: BoolArray = (scone == SPECIAL + 1) & (state.drawn >= WINDOW_SLOT)
        return window

    def step(self, state: ArsenicState, actions: IntArray) -> FloatArray:
        """Play one action in each live row, in place; return rewards (B, P).

        Raises:
            IllegalActionError: an action of a live row is illegal; nothing has changed.
            ActionTypeError: `actions` is not an integer array of shape (B,); nothing has changed.
        """
        chosen = check_actions(actions, state, self.num_actions)
        rewards = np.zeros((len(state), self.num_seats))
        live = np.flatnonzero(~state.done)
        chosen = chosen[live]
        legal = self.action_mask(state)[live, chosen]
        if not legal.all():
            self._refuse(state, int(live[np.argmin(legal)]), int(chosen[np.argmin(legal)]))

        phase, words = state.phase[live], self.words_of[chosen]
        state.events[live, state.moves[live]] = state.to_move[live] * self.num_actions + chosen
        if len(live) == 1:  # most environments hold one match, in which calls count for more than bytes
            played = [_NOWHERE] * len(WORDS)
            played[words.item()] = _HERE
        else:
            played = [np.flatnonzero(words == word) for word in range(len(WORDS))]

        # 1. The turn: stop, shuffle once, or draw.
        turn_over: list[IntArray] = []
        if len(stop := live[played[STOP]]):
            self._stop(state, stop)
            turn_over.append(stop)
        if len(played[SHUFFLE]):
            shuffles = live[played[SHUFFLE]]
            self._shuffle(state, shuffles)
            before = phase[played[SHUFFLE]] == TURN
            state.shuffled[shuffles[before]] = True
            turn_over.append(shuffles[~before])
        if len(played[DRAW]):
            self._draw(state, live[played[DRAW]], chosen[played[DRAW]])

        # 2. Inspect: eat, or return for a sugar.   3. React: a spoon sends the scone back.
        back: list[IntArray] = []
        if len(returns := live[played[RETURN]]):
            state.sugars[returns, state.turn[returns]] -= 1
            state.knows[returns, state.drawn[returns]] |= RETURNED
            back.append(returns)
        if len(spooned := live[played[SPOON]]):
            state.spoons[spooned, state.to_move[spooned]] = False
            state.knows[spooned, state.drawn[spooned]] |= SPOONED
            back.append(spooned)
        for rows in back:
            self._put_back(state, rows)
            if not self.by_slot:
                turn_over.append(rows)
        eats = played[EAT]
        if len(passes := played[PASS]):
            reacts = phase[passes] == REACT
            turn_over.append(live[passes[~reacts]])
            eats = np.concatenate([eats, passes[reacts]])
        if len(swallowed := self._ask_next(state, live[eats])):
            self._swallow(state, swallowed)
            turn_over.append(swallowed)

        state.moves[live] += 1
        for rows in turn_over:
            self._next_turn(state, rows)
        # 5. The end: only a bite or a stop can bring it.
        for rows in (stop, swallowed):
            if len(rows):
                ends = rows[self._is_over(state, rows)]
                if len(ends):
                    rewards[ends] = self._finish(state, ends)
        return rewards

    def _refuse(self, state: ArsenicState, row: int, action: int) -> None:
        seat, phase = int(state.to_move[row]), int(state.phase[row])
        legal = [self.action_label(a) for a in np.flatnonzero(self.action_mask(state[row])[0]).tolist()]
        there = f"{legal[0]} to {legal[-1]}" if phase == TURN and len(legal) > 8 else ", ".join(legal)
        if phase == INSPECT and self.words_of[action] == RETURN:
            reason = (
                "has no sugar to return the scone" if not self._holds_window(state)[row] else "sticks to the window"
            )
        elif phase == TURN and self.words_of[action] == STOP:
            reason = f"owes {int(state.owed[row, seat])} honour turns and may not stop"
        elif phase == TURN and self.words_of[action] == DRAW:
            reason = f"draws where no scone is: {self.action_label(action)}"
        else:
            reason = f"may not {self.action_label(action)} now; legal is {there}"
        raise IllegalActionError(f"row {row}: seat {seat} {reason}")

    # --- what the words do

    def _stop(self, state: ArsenicState, rows: IntArray) -> None:
        """Freeze a cup; every other active player owes honour turns."""
        state.stopped[rows, state.turn[rows]] = True
        active = state.alive[rows] & ~state.stopped[rows]
        state.owed[rows] = np.where(active, np.int8(self.honour_turns), state.owed[rows])

    def _draw(self, state: ArsenicState, rows: IntArray, chosen: IntArray) -> None:
        """Look at a scone; nobody else does."""
        slot = chosen if self.by_slot else self._draw_from(state, rows, chosen)
        state.drawn[rows] = slot
        state.phase[rows] = INSPECT
        at, number = rows * SLOTS + slot, state.draws[rows]
        state.knows.reshape(-1)[at] |= (1 << state.turn[rows]).astype(np.uint8)
        state.shown.reshape(-1)[rows * self.most_drawn + number] = state.box.reshape(-1)[at] - 1
        state.draws[rows] = number + 1

    def _put_back(self, state: ArsenicState, rows: IntArray) -> None:
        """Leave the scone in its slot: the turn is over, but for a shuffle."""
        state.drawn[rows] = -1
        self._owe_one_less(state, rows)
        if self.by_slot:
            state.phase[rows] = AFTER
            state.to_move[rows] = state.turn[rows]
        else:
            self._forget_slots(state, rows)

    def _ask_next(self, state: ArsenicState, rows: IntArray) -> IntArray:
        """Ask the next living opponent of the eater who has a spoon; return the rows in which nobody is left."""
        if not len(rows) or not self.has_spoons or self.num_seats == 1:
            return rows
        turn, last = state.turn[rows], state.to_move[rows]  # the eater itself is the last one asked at first
        holders = self._bits(state.spoons[rows] & state.alive[rows])
        asked = self._next_of[holders, last]
        found = (asked - turn) % self.num_seats > (last - turn) % self.num_seats  # not once round the table
        reacts = rows[found]
        state.to_move[reacts] = asked[found]
        state.phase[reacts] = REACT
        swallows: IntArray = rows[~found]
        return swallows

    def _bits(self, seats: BoolArray) -> npt.NDArray[np.int64]:
        """Return sets of seats (n, P) as bits, (n,)."""
        bits: npt.NDArray[np.int64] = seats @ self._seat_bits
        return bits

    def _swallow(self, state: ArsenicState, rows: IntArray) -> None:
        """Put the scone into the eater's cup; at the lethal dose, or with two moons, the eater dies."""
        eater, slot, bite = state.turn[rows], state.drawn[rows], state.eaten[rows]
        at, bite_at = rows * SLOTS + slot, rows * SLOTS + bite
        flavour, kind = FLAVOUR_OF_SLOT[slot], state.box.reshape(-1)[at] - 1
        sort = flavour * KINDS + kind
        state.box.reshape(-1)[at] = 0
        state.left.reshape(-1)[rows * FLAVOURS + flavour] -= 1
        state.eaters.reshape(-1)[bite_at], state.bites.reshape(-1)[bite_at] = eater, sort
        state.bite_known.reshape(-1)[bite_at] = state.knows.reshape(-1)[at]
        state.knows.reshape(-1)[at] = 0
        state.eaten[rows] = bite + 1
        state.drawn[rows] = -1
        seat_at = rows * self.num_seats + eater
        state.cups.reshape(-1)[seat_at * FLAVOURS + flavour] += 1
        state.cup_scones.reshape(-1)[seat_at * SCONES + sort] += 1
        state.doses.reshape(-1)[seat_at] += DOSES[sort]

        # What others knew of the flavour is dropped; the eater's own knowledge loses this one at most.
        remembered = np.flatnonzero(state.looks[rows, :, flavour].any(axis=1))
        if len(remembered):
            self._forget_flavour(state, rows[remembered], eater[remembered], flavour[remembered], kind[remembered])

        dies = state.doses[rows, eater] >= self.lethal
        if self.specials:
            dies |= (state.cup_scones[rows, eater] @ MOONS.astype(np.int8)) == 2
        state.alive[rows, eater] = ~dies
        self._owe_one_less(state, rows)

    def _forget_flavour(
        self, state: ArsenicState, rows: IntArray, eater: IntArray, flavour: IntArray, kind: IntArray
    ) -> None:
        kept, looks = state.kept.reshape(-1, self.num_seats, FLAVOURS, KINDS), state.looks
        own, own_looks = kept[rows, eater, flavour], looks[rows, eater, flavour]
        own[np.arange(len(rows)), kind] -= own[np.arange(len(rows)), kind] > 0
        left = state.left[rows, flavour]
        kept[rows, :, flavour], looks[rows, :, flavour] = 0, 0
        kept[rows, eater, flavour] = own
        looks[rows, eater, flavour] = np.minimum(own_looks, left)

    def _owe_one_less(self, state: ArsenicState, rows: IntArray) -> None:
        turn = state.turn[rows]
        state.owed[rows, turn] = np.maximum(state.owed[rows, turn] - 1, 0)

    def _next_turn(self, state: ArsenicState, rows: IntArray) -> None:
        """Pass the turn clockwise to the next seat that is alive and has not stopped, if there is one."""
        if len(rows):
            active = self._bits(state.alive[rows] & ~state.stopped[rows])
            seat = self._next_of[active, state.turn[rows]]
            state.turn[rows] = seat
            state.to_move[rows] = seat
            state.phase[rows] = TURN
            state.shuffled[rows] = False

    # --- text

    def history(self, state: ArsenicState) -> npt.NDArray[np.int16]:
        """Return public events, (B, T): seat * A + action, -1 beyond."""
        return state.events.copy()

    def action_label(self, action: int) -> str:
        """Return an action as people write it: `draw 2.5` (slot 5 of flavour 2), `draw 2`, or the word."""
        if action >= self.num_draws:
            return WORDS[self.words_of[action]].lower()
        return f"draw:{action // IN_FLAVOUR}.{action % IN_FLAVOUR + 1}" if self.by_slot else f"draw:{action}"

    def text(self, state: ArsenicState, row: int = 0, seat: int | None = None) -> str:
        """Return a position as a table; with `seat`, only what that seat may see."""
        return text.table(self, state, row, seat)

    def drawing(
        self,
        state: ArsenicState,
        row: int = 0,
        seat: int | None = None,
        *,
        action: int | None = None,
        values: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> str:
        """Return a position as SVG; see `draw.svg`."""
        return drawing.ArsenicPicture(self, state[row], seat, action, values, names).draw()
