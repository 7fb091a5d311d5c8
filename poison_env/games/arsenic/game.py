"""Arsenic, batched: the rules of the box with its variants and options.

Source: the French rules of Arsenic ("Tea, scones and arsenic"). docs/arsenic.md has them in full with every decision on
what they leave open.
"""

import numpy as np
import numpy.typing as npt

from poison_env.core.errors import IllegalActionError
from poison_env.core.protocol import BoolArray, FloatArray, IntArray, check_actions
from poison_env.games.arsenic import text
from poison_env.games.arsenic.dealing import RETURNED, SPOONED, ArsenicState
from poison_env.games.arsenic.options import (
    AFTER,
    DRAW,
    EAT,
    INSPECT,
    PASS,
    REACT,
    RETURN,
    SHUFFLE,
    SPOON,
    STOP,
    TURN,
    WORDS,
)
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

_OVER = 4  # as a phase in which nothing is legal
# [code]: which words are legal; code = phase + 5 * may_stop + 10 * may_shuffle + 20 * may_return, see `_code`
_LEGAL = np.zeros((5, 2, 2, 2, len(WORDS)), bool)
_LEGAL[TURN, :, :, :, DRAW] = True
_LEGAL[TURN, 1, :, :, STOP] = True
_LEGAL[TURN, :, 1, :, SHUFFLE] = True
_LEGAL[INSPECT, :, :, :, EAT] = True
_LEGAL[INSPECT, :, :, 1, RETURN] = True
_LEGAL[REACT, :, :, :, SPOON] = _LEGAL[REACT, :, :, :, PASS] = True
_LEGAL[AFTER, :, :, :, SHUFFLE] = _LEGAL[AFTER, :, :, :, PASS] = True


class Arsenic(ArsenicViews):
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
        movers = np.arange(size) * self.num_seats + state.turn
        code = np.where(state.done, _OVER, state.phase) * 2
        code += state.owed.reshape(-1).take(movers) == 0
        code *= 2
        code += ~state.shuffled
        code *= 2
        code += (state.sugars.reshape(-1).take(movers) > 0) & ~self._holds_window(state)
        legal = self._legal.take(code, axis=0)
        there = state.box > 0
        if not self.by_slot:
            there = there.reshape(size, FLAVOURS, IN_FLAVOUR).any(axis=2)
        legal[:, : self.num_draws] &= there
        return legal

    @property
    def _legal(self) -> BoolArray:
        """Return which actions are legal by code, (40, A), if every slot is occupied."""
        return _LEGAL.reshape(-1, len(WORDS))[:, self.words_of]

    def _holds_window(self, state: ArsenicState) -> BoolArray:
        if not self.specials:
            return np.zeros(len(state), bool)
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
        played = [np.flatnonzero(words == word) for word in range(len(WORDS))]

        # 1. The turn: stop, shuffle once, or draw.
        turn_over = []
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
        back = []
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
        passes = played[PASS]
        reacts = phase[passes] == REACT
        turn_over.append(live[passes[~reacts]])
        swallowed = self._ask_next(state, live[np.concatenate([played[EAT], passes[reacts]])])
        if len(swallowed):
            self._swallow(state, swallowed)
            turn_over.append(swallowed)

        state.moves[live] += 1
        self._next_turn(state, np.concatenate(turn_over))
        # 5. The end: only a bite or a stop can bring it.
        ends = np.concatenate([stop, swallowed])
        if len(ends):
            ends = ends[self._is_over(state, ends)]
            if len(ends):
                rewards[ends] = self._finish(state, ends)
        return rewards

    def _refuse(self, state: ArsenicState, row: int, action: int) -> None:
        seat, phase = int(state.to_move[row]), int(state.phase[row])
        legal = [self.action_label(a) for a in np.flatnonzero(self.action_mask(state[row])[0])]
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
        state.knows[rows, slot] |= (1 << state.turn[rows]).astype(np.uint8)
        state.phase[rows] = INSPECT

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
        turn = state.turn[rows]
        asked = (state.to_move[rows] - turn) % self.num_seats  # 0 at first, the eater itself
        ahead = np.arange(1, self.num_seats)
        opponents = self._rotation[turn, 1:]
        holders = (state.spoons[rows] & state.alive[rows])[np.arange(len(rows))[:, None], opponents]
        holders &= ahead > asked[:, None]
        found = holders.any(axis=1)
        reacts = rows[found]
        state.to_move[reacts] = opponents[found, holders[found].argmax(axis=1)]
        state.phase[reacts] = REACT
        return rows[~found]

    def _swallow(self, state: ArsenicState, rows: IntArray) -> None:
        """Put the scone into the eater's cup; at the lethal dose, or with two moons, the eater dies."""
        eater, slot, bite = state.turn[rows], state.drawn[rows], state.eaten[rows]
        flavour, kind = FLAVOUR_OF_SLOT[slot], state.box[rows, slot] - 1
        sort = flavour * KINDS + kind
        state.box[rows, slot] = 0
        state.eaters[rows, bite], state.bites[rows, bite] = eater, sort
        state.bite_known[rows, bite] = state.knows[rows, slot]
        state.knows[rows, slot] = 0
        state.eaten[rows] += 1
        state.drawn[rows] = -1
        state.cups[rows, eater, flavour] += 1
        state.cup_scones[rows, eater, sort] += 1
        state.doses[rows, eater] += DOSES[sort]

        # What was known of the flavour is dropped; the eater's own knowledge loses this one at most.
        kept, looks = state.kept.reshape(-1, self.num_seats, FLAVOURS, KINDS), state.looks
        own, own_looks = kept[rows, eater, flavour], looks[rows, eater, flavour]
        own[np.arange(len(rows)), kind] -= own[np.arange(len(rows)), kind] > 0
        left = np.count_nonzero(state.box.reshape(-1, FLAVOURS, IN_FLAVOUR)[rows, flavour], axis=1)
        kept[rows, :, flavour], looks[rows, :, flavour] = 0, 0
        kept[rows, eater, flavour] = own
        looks[rows, eater, flavour] = np.minimum(own_looks, left)

        dies = state.doses[rows, eater] >= self.lethal
        if self.specials:
            dies |= (state.cup_scones[rows, eater] @ MOONS.astype(np.int8)) == 2
        state.alive[rows, eater] = ~dies
        self._owe_one_less(state, rows)

    def _owe_one_less(self, state: ArsenicState, rows: IntArray) -> None:
        turn = state.turn[rows]
        state.owed[rows, turn] = np.maximum(state.owed[rows, turn] - 1, 0)

    def _next_turn(self, state: ArsenicState, rows: IntArray) -> None:
        """Pass the turn clockwise to the next seat that is alive and has not stopped, if there is one."""
        if not len(rows):
            return
        number = np.arange(len(rows))
        clockwise = np.roll(self._rotation, -1, axis=1)[state.turn[rows]]  # oneself last
        active = (state.alive[rows] & ~state.stopped[rows])[number[:, None], clockwise]
        seat = clockwise[number, active.argmax(axis=1)]
        state.turn[rows] = state.to_move[rows] = seat
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
