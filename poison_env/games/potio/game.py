"""Potio, batched.

Source: the public help page of the game (in French), which has the rules of a turn but no list of cards, number of
players or set-up. docs/potio.md has the rules in full with every decision on what it leaves open.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core.errors import IllegalActionError
from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray, FloatArray, IntArray, check_actions
from poison_env.games.potio import drawing, moves, single, text, views
from poison_env.games.potio.brews import BURN, EFFECTS, FREEZE, ROOT, STEAL, SUBSETS, THAW
from poison_env.games.potio.dealing import PotioState
from poison_env.games.potio.deck import EMPTY, SLOTS
from poison_env.games.potio.layouts import most_points
from poison_env.games.potio.moves import AIMING, CENTRE, CHOOSING, PICKING, TAKING
from poison_env.games.potio.outcomes import PotioOutcomes


class Potio(PotioOutcomes):
    """The rules of Potio for one set of options.

    Args:
        num_seats: 2 to 5.
        deck: "standard" (blue, yellow and purple 1 to 6 three times each, six grey 1s and 2s), cards such as
            "B1x3 Y2 G1x6", or a table `{(colour, value): count}`.
        extra_cards_last: cards that the last seat in turn order gets in addition at the start, 0 to 5.
        grey_first: a grey card may be the first card of a brew.
        grey_only_sum: several greys alone may be a part of a brew.
        steal_frozen: frozen cards may be stolen; they stay frozen.
        burn_frozen: frozen cards may be burned.
        stall_turns: so many turns in which no card enters a victory pile end the game. None is 12 a player.
        max_turns: the match is truncated after so many turns. None is 6 a card.
        reward: "points" (as they are made), "relative" (the same less the mean of the others) or "win" (1/k to each of
            k winners at the end).

    Raises:
        OptionError: an option, or a combination, that cannot be played.
    """

    id = "potio-v0"
    points_sign = 1

    def action_mask(self, state: PotioState) -> BoolArray:
        """Return legal actions, (B, A), see `moves`; all False where done."""
        if len(state) == 1 and not state.done[0]:
            alone = single.action_mask(self, state)
            if alone is not None:
                return alone
        mask = np.zeros((len(state), self.num_actions), bool)
        live = ~state.done
        for phase, fill in ((TAKING, self._may_take), (PICKING, self._may_pick), (CHOOSING, self._may_choose)):
            rows = np.flatnonzero(live & (state.phase == phase))
            if len(rows):
                fill(state, rows, mask)
        rows = np.flatnonzero(live & (state.phase == AIMING))
        if len(rows):
            aimed = np.bitwise_count(state.effects[rows].astype(np.uint64) - np.uint64(1))  # the number of the one bit
            mask[rows, moves.TARGET :] = self._targets(state, rows, aimed.astype(np.int64)).reshape(len(rows), -1)
        return mask

    def _may_take(self, state: PotioState, rows: IntArray, mask: BoolArray) -> None:
        mask[rows, moves.TAKE : moves.PICK] = np.arange(CENTRE) < state.centre_size[rows][:, None]

    def _may_pick(self, state: PotioState, rows: IntArray, mask: BoolArray) -> None:
        following = moves.NEXT_NODES.take(state.node[rows], axis=0)
        leads = state.tree[rows[:, None], following >> 3] >> (following & 7) & 1
        mask[rows, moves.PICK : moves.EFFECT] = leads
        mask[rows[state.node[rows] == ROOT], moves.COMMIT] = True  # nothing picked: the end of the turn

    def _may_choose(self, state: PotioState, rows: IntArray, mask: BoolArray) -> None:
        mask[rows, moves.EFFECT : moves.NONE] = self._choices(state, rows)
        mask[rows, moves.NONE] = True

    def _choices(self, state: PotioState, rows: IntArray) -> BoolArray:
        """Return which effects are allowed and have a target, (n, 4)."""
        allowed = (state.effects[rows][:, None] >> np.arange(len(EFFECTS)) & 1).astype(bool)
        for effect in range(len(EFFECTS)):
            some = np.flatnonzero(allowed[:, effect])
            targets = self._targets(state, rows[some], np.full(len(some), effect))
            allowed[some, effect] = targets.any(axis=(1, 2))
        return allowed

    def _targets(self, state: PotioState, rows: IntArray, effects: IntArray) -> BoolArray:
        """Return the cards that an effect may hit, (n, P, 8), seats from the mover on: of equal cards the first."""
        zones = state.zones[rows[:, None], self.rotation[state.to_move[rows]]]
        others = (np.arange(self.num_seats) > 0).astype(np.int64)[None, :, None]
        hit: BoolArray = self._aims[effects[:, None, None], others, zones]
        hit[:, :, 1:] &= zones[:, :, 1:] != zones[:, :, :-1]
        return hit

    def step(self, state: PotioState, actions: IntArray) -> FloatArray:
        """Make one decision in each live row, in place; return rewards (B, P).

        Raises:
            IllegalActionError: an action of a live row is illegal; nothing has changed.
            ActionTypeError: `actions` is not an integer array of shape (B,); nothing has changed.
        """
        chosen = check_actions(actions, state, self.num_actions)
        if len(state) == 1 and not state.done[0] and single.play(self, state, chosen.item()):
            return np.zeros((1, self.num_seats))
        rows = np.flatnonzero(~state.done)
        made = chosen[rows]
        legal = self.action_mask(state)[rows, made]
        if np.count_nonzero(legal) < len(rows):
            index = int(np.argmin(legal))
            row, action = int(rows[index]), int(made[index])
            reason = f"may not {self.action_label(action)} now: {text.phase_words(self, state, row)}"
            raise IllegalActionError(f"row {row}: seat {state.to_move[row]} {reason}")
        before = state.scores.copy()
        state.events[rows, state.moves[rows]] = state.to_move[rows] * self.num_actions + made
        state.moves[rows] += 1
        state.fresh *= state.done[:, None]

        nothing = state.node[rows] == ROOT
        take, commit = made < moves.PICK, made == moves.COMMIT
        choose = (made >= moves.EFFECT) & (made < moves.NONE)
        refuse, aim = made == moves.NONE, made >= moves.TARGET
        end, brew = commit & nothing, commit & ~nothing
        pick = (made >= moves.PICK) & (made < moves.COMMIT)

        if take.any():
            self._take(state, rows[take], made[take] - moves.TAKE)
        if pick.any():
            state.node[rows[pick]] = moves.NEXT_NODES[state.node[rows[pick]], made[pick] - moves.PICK]
        if brew.any():
            self._brew(state, rows[brew])
        if choose.any():
            state.effects[rows[choose]] = 1 << (made[choose] - moves.EFFECT)
            state.phase[rows[choose]] = AIMING
        if refuse.any():
            self._go_on(state, rows[refuse])
        if aim.any():
            self._apply_effect(state, rows[aim], made[aim] - moves.TARGET)
        begins = rows[(take | brew | refuse | aim) & (state.phase[rows] == PICKING)]
        if len(begins):
            state.tree[begins] = self.brews.tree(state.zones[begins, state.to_move[begins]])
        if end.any():
            self._end_turn(state, rows[end])
        return self._rewards(state, rows, before)

    # --- 2. take one card of the centre into one's zone

    def _take(self, state: PotioState, rows: IntArray, place: IntArray) -> None:
        centre, movers = state.centre[rows], state.to_move[rows]
        card = centre[np.arange(len(rows)), place]
        following = np.arange(CENTRE) + (np.arange(CENTRE) >= place[:, None])  # the others close up
        filled = np.concatenate([centre, np.full((len(rows), 1), -1, np.int8)], axis=1)
        state.centre[rows] = np.take_along_axis(filled, following, 1)
        state.centre_size[rows] -= 1
        self._add(state, rows, movers, 2 * card)
        self._go_on(state, rows)

    def _add(self, state: PotioState, rows: IntArray, seats: IntArray, cards: npt.NDArray[np.int8]) -> None:
        zones = state.zones[rows, seats]
        zones[:, -1] = cards  # the last slot is empty: a zone is full at the end of its owner's turn alone
        zones.sort(axis=1)
        state.zones[rows, seats] = zones

    def _go_on(self, state: PotioState, rows: IntArray) -> None:
        state.phase[rows] = PICKING
        state.node[rows] = ROOT
        state.effects[rows] = 0

    # --- 3. brew

    def _brew(self, state: PotioState, rows: IntArray) -> None:
        movers, node = state.to_move[rows], state.node[rows]
        subset = moves.NEXT_NODES[node, SLOTS] - SUBSETS
        zones = state.zones[rows, movers]
        used = (subset[:, None] >> np.arange(SLOTS - 1, -1, -1) & 1).astype(bool)
        at, slot = np.nonzero(used)
        kinds = zones[at, slot] >> 1
        counts = np.zeros((len(rows), self.num_kinds), np.int16)
        np.add.at(counts, (at, kinds), 1)
        number = self.brews.number(counts)
        state.victory[rows, movers] += counts
        state.scores[rows, movers] += self.brews.points[number]
        state.scored[rows] = True
        zones[used] = EMPTY
        zones.sort(axis=1)
        state.zones[rows, movers] = zones
        self._go_on(state, rows)
        self._refill(state, rows)
        # 4. An effect, by the colours without grey, where there is something to hit.
        state.effects[rows] = self.brews.effects[number]
        some = self._choices(state, rows).any(axis=1)
        state.effects[rows[~some]] = 0
        state.phase[rows[some]] = CHOOSING

    # --- 4. effects

    def _apply_effect(self, state: PotioState, rows: IntArray, target: IntArray) -> None:
        movers, effect = state.to_move[rows], state.effects[rows]
        owners, slot = (movers + target // SLOTS) % self.num_seats, target % SLOTS
        cards = state.zones[rows, owners, slot]
        turned = (effect == 1 << FREEZE) | (effect == 1 << THAW)
        burned = effect == 1 << BURN
        stolen = effect == 1 << STEAL
        state.zones[rows, owners, slot] = np.where(turned, cards ^ 1, EMPTY)
        zones = state.zones[rows, owners]
        zones.sort(axis=1)
        state.zones[rows, owners] = zones
        state.victory[rows[burned], owners[burned], cards[burned] >> 1] += 1
        state.scores[rows[burned], owners[burned]] += 1
        state.scored[rows[burned]] = True
        self._add(state, rows[stolen], movers[stolen], cards[stolen])
        self._refill(state, rows)
        self._go_on(state, rows)

    # --- 5. end of a turn

    def _end_turn(self, state: PotioState, rows: IntArray) -> None:
        full = rows[state.zones[rows, state.to_move[rows], -1] != EMPTY]
        if len(full):
            self._explode(state, full)
            self._refill(state, full)
        state.turns[rows] += 1
        state.stalled[rows] = np.where(state.scored[rows], 0, state.stalled[rows] + 1)
        state.scored[rows] = False
        over = (state.pile_size[rows] == 0) & (state.centre_size[rows] == 0)
        over |= state.stalled[rows] >= self.stall_turns
        late = ~over & (state.turns[rows] >= self.max_turns)
        state.done[rows] = over | late
        state.truncated[rows] = late
        # 1. The next player reveals a card.
        state.to_move[rows] = (state.to_move[rows] + 1) % self.num_seats
        state.phase[rows] = TAKING
        self._reveal(state, rows[~(over | late)])

    # --- 6. points

    def points(self, state: PotioState) -> npt.NDArray[np.int64]:
        """Return the points of the victory piles, (B, P)."""
        return state.scores.copy()

    def placements(self, state: PotioState) -> npt.NDArray[np.int64]:
        """Return how many seats are strictly better, (B, P): more points, or as many and fewer frozen cards."""
        frozen = ((state.zones & 1 == 1) & (state.zones != EMPTY)).sum(axis=2)
        merit = state.scores * (SLOTS + 1) - frozen
        better: npt.NDArray[np.int64] = (merit[:, None, :] > merit[:, :, None]).sum(axis=2)
        return better

    def _rewards(self, state: PotioState, rows: IntArray, before: IntArray) -> FloatArray:
        if self.reward == "win":
            rewards = np.zeros((len(state), self.num_seats))
            ended = rows[state.done[rows]]
            best = self.placements(state[ended]) == 0
            rewards[ended] = best / best.sum(axis=1, keepdims=True)
            return rewards
        made = state.scores - before
        if self.reward == "points":
            return made.astype(np.float64)
        relative: FloatArray = made - (made.sum(axis=1, keepdims=True) - made) / (self.num_seats - 1)
        return relative

    @property
    def return_bounds(self) -> tuple[float, float]:
        """What a seat can earn in a match: never less than the first, never more than the second."""
        if self.reward == "win":
            return 0.0, 1.0
        most = float(most_points(self.deck.size))
        return (0.0 if self.reward == "points" else -most / (self.num_seats - 1)), most

    @property
    def return_sum(self) -> float | None:
        """0 for relative rewards, 1 for the win; points vary."""
        return {"relative": 0.0, "win": 1.0}.get(self.reward)

    @property
    def pays_at_end(self) -> bool:
        """Whether the last move of a match pays everything."""
        return self.reward == "win"

    # --- what is seen

    def observe(self, state: PotioState, seats: IntArray) -> Observation:
        """Return what `seats[b]` knows in row b, (B, F) int16; sections as in `layout`."""
        if len(state) == 1 and not state.done[0]:
            return single.observe(self, state, int(seats[0]))
        return views.observe(self, state, np.asarray(seats))

    def observe_all(self, state: PotioState) -> Observation:
        """Return everything, (B, F_full) int16, seats in table order; sections as in `full_layout`."""
        cards, _, inside = self._ranked_pile(state)
        sections: dict[str, npt.NDArray[Any]] = views.sections(self, state, np.zeros(len(state), np.int64))
        sections["pile_order"] = np.where(inside, cards + 1, 0)
        return self.full_layout.encode(sections)

    def history(self, state: PotioState) -> npt.NDArray[np.int16]:
        """Return the decisions made, (B, T): seat * A + action, -1 beyond the last one."""
        return state.events.copy()

    def action_label(self, action: int) -> str:
        """Return an action as people write it: `take 1`, `pick 3`, `commit`, `steal`, `none`, `aim +1.4`."""
        return text.action_label(action)

    def text(self, state: PotioState, row: int = 0, seat: int | None = None) -> str:
        """Return a position as a table; with `seat`, without the order of the pile, as any seat sees it."""
        return text.table(self, state, row, seat)

    def drawing(
        self,
        state: PotioState,
        row: int = 0,
        seat: int | None = None,
        *,
        action: int | None = None,
        values: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> str:
        """Return a position as SVG; see `draw.svg`."""
        return drawing.PotioPicture(self, state[row], seat, action, values, names).draw()

    def position(
        self,
        *,
        zones: Sequence[str],
        centre: str,
        pile: str = "",
        victory: Sequence[str] = (),
        to_move: int = 0,
        seed: int = 0,
    ) -> PotioState:
        """Set up one match whose mover has to take a card, from text such as `B3 G1x2 P4*` (`*` is frozen).

        Args:
            zones: the cards before each seat.
            centre: one to four cards in order of arrival, the one just revealed included.
            pile: the cards on top, the uppermost first; cards named nowhere lie below in an order drawn from the seed.
            victory: cards that each seat has won, 1 point each.

        Raises:
            PositionError: the rules cannot reach it.
        """
        return text.position(self, zones, centre, pile, victory, to_move, seed)
