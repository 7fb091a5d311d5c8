"""Poison, batched: the rules of the published edition and of the 58-card box, with their options.

Sources: the published rules (Portuguese edition) and those of the box of 50 potions and 8 poisons (French and Dutch).
docs/rules.md has them in full with every decision on what they leave open.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core.errors import IllegalActionError, PositionError
from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray, FloatArray, IntArray, check_actions
from poison_env.games.poison import drawing, single, tables, text
from poison_env.games.poison.dealing import PoisonState
from poison_env.games.poison.deck import CLASSES, LIMIT
from poison_env.games.poison.outcomes import PoisonOutcomes
from poison_env.games.poison.tables import CAULDRONS

POISON_CLASS, POISON_POINTS = 3, 2
_EVERY = slice(None)


class Poison(PoisonOutcomes):
    """The rules of Poison for one set of options.

    Args:
        num_seats: 2 to 8; the sources are for 3 to 6.
        deck: "published", "box58", cards such as "R1x3 R2 G4x8", or a table `{(colour, value): count}`.
        deal: "hands4" (four hands at least; those without a player are set aside unseen), "equal" (as many cards as can
            be dealt equally) or "all". None is the deck's own: hands4 for the published deck, all for others.
        colour_rule: "exclusive" (a colour in one cauldron at a time) or "fixed" (cauldrons are red, blue, purple from
            the start).
        num_rounds: 1 to 20. None is the deck's own: one for each player, but 4 with two or three players of the
            published deck.
        first_dealer: a seat; None draws it from the seed.
        recall: "perfect", or "none": of taken cards only the size of each pile is known.
        handicaps: points that seats start with.
        reward: "points" (minus the points of a round when it is scored), "relative" (the same less the mean of the
            others) or "win" (1/k to each of k winners at the end).

    Raises:
        OptionError: an option, or a combination, that cannot be played.
    """

    id = "poison-v0"
    points_sign = -1

    # --- 2. play: a poison anywhere, a potion on its colour, else on a cauldron without colour

    def action_mask(self, state: PoisonState) -> BoolArray:
        """Return legal actions, (B, A); action = 3 * kind + cauldron. All False where done."""
        size = len(state)
        if size == 1 and not state.done[0]:
            return single.action_mask(self._tables, state)
        movers = np.arange(size) * self.num_seats + state.to_move
        held = state.hands.reshape(-1, self.num_kinds).take(movers, axis=0) > 0
        if self.num_kinds % 8:  # filled up to whole bytes: packing without an axis is seventy times as fast
            held = np.concatenate([held, np.zeros((size, -self.num_kinds % 8), bool)], axis=1)
        words = tables.HELD_WORDS.take(np.packbits(held.reshape(-1), bitorder="little"), axis=0)
        allowed = self._tables.allowed_words.take(self._colour_code(state.cauldrons), axis=0)
        allowed &= words.reshape(allowed.shape)
        mask = allowed.view(np.bool_)
        mask = mask if mask.shape[1] == self.num_actions else np.ascontiguousarray(mask[:, : self.num_actions])
        if np.count_nonzero(state.done):
            mask[state.done] = False
        return mask

    def _colour_code(self, cauldrons: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        first, second, third = self._tables.codes
        code: npt.NDArray[np.int64] = first.take(cauldrons[:, 0])
        code += second.take(cauldrons[:, 1])
        code += third.take(cauldrons[:, 2])
        return code

    def step(self, state: PoisonState, actions: IntArray) -> FloatArray:
        """Play one card in each live row, in place; return rewards (B, P).

        Raises:
            IllegalActionError: an action of a live row is illegal; nothing has changed.
            ActionTypeError: `actions` is not an integer array of shape (B,); nothing has changed.
        """
        size, seats, kinds = len(state), self.num_seats, self.num_kinds
        rewards = np.zeros((size, seats))
        live: slice | IntArray = _EVERY
        if np.count_nonzero(state.done):
            chosen = check_actions(actions, state, self.num_actions)
            live = rows = np.flatnonzero(~state.done)
            chosen = chosen[rows]
        else:
            chosen = check_actions(actions, state, self.num_actions)
            rows = np.arange(size)
            if size == 1 and single.play(self._tables, state, chosen.item()):
                return rewards if state.cards_left[0] else self._score_round(state, rows)
        mover = state.to_move[live]
        kind, cauldron = self.kind_of.take(chosen), self.cauldron_of.take(chosen)
        movers = rows * seats + mover

        # One card of the hand goes on a cauldron where its colour is allowed.
        hands = state.hands.reshape(-1)
        hand_at = movers * kinds + kind
        held = hands.take(hand_at)
        allowed = self._tables.allowed.reshape(-1).take(
            self._colour_code(state.cauldrons[live]) * self.num_actions + chosen
        )
        legal = allowed & (held > 0)
        if np.count_nonzero(legal) < len(rows):
            self._refuse(state, rows, int(np.argmin(legal)), held, chosen)
        hands[hand_at] = held - 1
        unplayed, kind_at = state.unplayed.reshape(-1), rows * kinds + kind
        unplayed[kind_at] = unplayed.take(kind_at) - 1

        # Above 13 the mover takes what was in it; the card just played stays alone.
        contents = state.cauldrons.reshape(-1)
        place = rows * CAULDRONS + cauldron
        change = kind * self._num_contents + contents.take(place)
        contents[place] = self._tables.after.take(change)
        taken = state.taken.view(np.int64).reshape(-1)
        taken[movers] = taken.take(movers) + self._tables.piles.take(change)

        # Clockwise; nobody passes.
        event = (mover * self.num_actions + chosen).astype(np.int16)  # a cast by itself is twice as fast
        state.events.reshape(-1)[rows * self.max_moves + state.moves[live]] = event
        state.moves[live] += 1
        state.cards_left[live] -= 1
        state.to_move[live] = self._next_seat.take(mover)

        ended = rows[state.cards_left[live] == 0]
        if len(ended):
            rewards[ended] = self._score_round(state, ended)
        return rewards

    def _refuse(self, state: PoisonState, rows: IntArray, index: int, held: IntArray, chosen: IntArray) -> None:
        row, action = int(rows[index]), int(chosen[index])
        seat, card = int(state.to_move[row]), self.deck.label(action // CAULDRONS)
        if held[index] <= 0:
            raise IllegalActionError(f"row {row}: seat {seat} does not hold {card}")
        colours = text.colour_words(self.cauldron_colours(state[row])[0])
        raise IllegalActionError(
            f"row {row}: seat {seat} may not play {card} on cauldron {action % CAULDRONS + 1}; colours are {colours}"
        )

    # --- 3. score when all hands are empty

    def majority(self, taken: IntArray) -> BoolArray:
        """Return who is immune in which class, (..., P, 4), from cards taken (..., P, 4).

        Immune is who took strictly more than any other; nobody is in poison.
        """
        most = taken == taken.max(axis=-2, keepdims=True)
        immune: BoolArray = most & (most.sum(axis=-2, keepdims=True) == 1)
        immune[..., POISON_CLASS] = False
        return immune

    def score(self, taken: IntArray) -> npt.NDArray[np.int64]:
        """Return the points of a round, (..., P), from cards taken (..., P, 4).

        A potion is 1, a poison 2; who is immune to a colour discards it.
        """
        counted = np.where(self.majority(taken), 0, taken).astype(np.int64)
        counted[..., POISON_CLASS] *= POISON_POINTS
        result: npt.NDArray[np.int64] = counted.sum(axis=-1)
        return result

    def _score_round(self, state: PoisonState, rows: IntArray) -> FloatArray:
        points = self.score(state.taken[rows])
        state.totals[rows] += points
        state.round[rows] += 1
        over = state.round[rows] == self.num_rounds
        state.done[rows[over]] = True
        # 4. The dealer passes to the left.
        self._deal_round(state, rows[~over])
        if self.reward == "points":
            return (self.points_sign * points).astype(np.float64)
        if self.reward == "relative":
            others = (points.sum(axis=1, keepdims=True) - points) / (self.num_seats - 1)
            relative: FloatArray = others - points
            return relative
        totals = state.totals[rows]
        winners = totals == totals.min(axis=1, keepdims=True)
        shares: FloatArray = np.where(winners & over[:, None], 1.0 / winners.sum(axis=1, keepdims=True), 0.0)
        return shares

    def points(self, state: PoisonState) -> npt.NDArray[np.int64]:
        """Return the points of the rounds scored so far, handicaps included, (B, P)."""
        return state.totals.copy()

    def placements(self, state: PoisonState) -> npt.NDArray[np.int64]:
        """Return how many seats have strictly fewer points, (B, P): 0 = best; equal totals share."""
        better: npt.NDArray[np.int64] = (state.totals[:, None, :] < state.totals[:, :, None]).sum(axis=2)
        return better

    @cached_property
    def return_bounds(self) -> tuple[float, float]:
        """What a seat can earn in a match: never less than the first, never more than the second."""
        if self.reward == "win":
            return 0.0, 1.0
        *potions, poisons = np.bincount(self.deck.classes, weights=self.deck.counts, minlength=len(CLASSES)).tolist()
        poison = POISON_POINTS * poisons
        # A seat is immune to a colour unless another took as many cards of it, and so pays for half of them at most.
        worst = poison + sum(n // 2 for n in potions)
        if self.reward == "points":
            return -self.num_rounds * worst, 0.0
        others = self.num_seats - 1
        if others == 1:  # a tie costs both the same: only the smaller part of a colour makes a difference
            worst = best = poison + sum(max(n - 1, 0) // 2 for n in potions)
        else:
            best = (poison + sum(potions)) / others
        return -self.num_rounds * worst, self.num_rounds * best

    @property
    def return_sum(self) -> float | None:
        """0 for relative rewards, 1 for the win; points vary."""
        return {"relative": 0.0, "win": 1.0}.get(self.reward)

    @property
    def pays_at_end(self) -> bool:
        """Whether the last move of a match pays everything."""
        return self.num_rounds == 1 or self.reward == "win"

    # --- what is seen

    def cauldron_colours(self, state: PoisonState) -> npt.NDArray[np.int16]:
        """Return the colours of the cauldrons, (B, 3): 0 none, 1 red, 2 blue, 3 purple."""
        if self.colour_rule == "fixed":
            return np.tile(np.arange(1, CAULDRONS + 1, dtype=np.int16), (len(state), 1))
        return self._tables.colours.take(state.cauldrons)

    def content_number(self, cards: IntArray) -> int:
        """Return the number of a cauldron content given as cards by kind, (K,).

        Raises:
            PositionError: no cauldron can hold it.
        """
        found = np.flatnonzero((self._tables.contents == cards).all(axis=1))
        if not len(found):
            raise PositionError(
                f"no cauldron can hold {text.cards(self, cards)}: one colour, poison, and {LIMIT} at most"
            )
        return int(found[0])

    def observe(self, state: PoisonState, seats: IntArray) -> Observation:
        """Return what `seats[b]` knows in row b, (B, F) int16; sections as in `layout`."""
        size, number, kinds = len(state), self.num_seats, self.num_kinds
        if size == 1 and self.recall == "perfect":
            seat: int = seats.item()
            hand_sizes = self._sizes[state.cards_left.item() * number + (seat - state.to_move.item()) % number]
            colours = self.cauldron_colours(state)[0]
            return single.observe(self._tables, state, seat, self._rotation[seat], hand_sizes, colours)
        seats = np.asarray(seats).astype(np.int64, casting="same_kind", copy=False)  # unsigned less signed is a float
        seat_rows = np.arange(size) * number
        clockwise = self._rotation.take(seats, axis=0) + seat_rows[:, None]
        own = state.hands.reshape(-1, kinds).take(seat_rows + seats, axis=0)
        contents = self._tables.contents.take(state.cauldrons, axis=0)
        sections: dict[str, npt.NDArray[Any]] = {
            "own_hand": own,
            "cauldrons": contents,
            "cauldron_totals": self._tables.totals.take(state.cauldrons),
            "cauldron_colours": self.cauldron_colours(state),
            "hand_sizes": self._sizes.take(state.cards_left * number + (seats - state.to_move) % number, axis=0),
            "match_points": state.totals.reshape(-1).take(clockwise),
            "round": state.round,
            "unseen": self._unseen(state, own),
        }
        if self.recall == "perfect":
            sections["taken"] = state.taken.view(np.int64).reshape(-1).take(clockwise).view(np.int16)
        else:
            sections["pile_sizes"] = state.taken.sum(axis=2).reshape(-1).take(clockwise)
        return self.layout.encode(sections)

    def observe_all(self, state: PoisonState) -> Observation:
        """Return everything, (B, F_full) int16, seats in table order; sections as in `full_layout`."""
        return self.full_layout.encode(
            {
                "hands": state.hands,
                "set_aside": state.unplayed - state.hands.sum(axis=1),
                "cauldrons": self._tables.contents.take(state.cauldrons, axis=0),
                "cauldron_totals": self._tables.totals.take(state.cauldrons),
                "cauldron_colours": self.cauldron_colours(state),
                "taken": state.taken,
                "match_points": state.totals,
                "round": state.round,
                "to_move": np.where(state.done, 0, state.to_move),
            }
        )

    def history(self, state: PoisonState) -> npt.NDArray[np.int16]:
        """Return public events, (B, T): seat * A + action, -1 beyond; nothing but -1 with `recall="none"`."""
        return state.events.copy() if self.recall == "perfect" else np.full_like(state.events, -1)

    # --- deliberate overflow

    def overflows(self, state: PoisonState) -> BoolArray:
        """Return the legal actions that overflow a cauldron, (B, A)."""
        totals = self._tables.totals.take(state.cauldrons)[:, self.cauldron_of]
        heavy: BoolArray = totals > LIMIT - self.deck.values[self.kind_of]  # (B, A)
        return self.action_mask(state) & heavy

    def cards_taken(self, state: PoisonState, actions: IntArray) -> npt.NDArray[np.int16]:
        """Return the cards that the mover of row b takes by `actions[b]`, (B, 4) by class: none without an overflow."""
        chosen = check_actions(actions, state, self.num_actions)
        chosen = np.where(state.done, 0, chosen)
        content = state.cauldrons[np.arange(len(state)), chosen % CAULDRONS]
        piles = self._tables.piles.take(chosen // CAULDRONS * self._num_contents + content)
        return np.where(state.done, 0, piles)[:, None].view(np.int16)

    def round_ends(self, state: PoisonState) -> BoolArray:
        """Return whether the next move is the last of its round, (B,)."""
        last: BoolArray = state.cards_left == 1
        return last & ~state.done

    # --- text

    def action_label(self, action: int) -> str:
        """Return an action as people write it: card, `>`, cauldron 1 to 3."""
        return f"{self.deck.label(action // CAULDRONS)}>{action % CAULDRONS + 1}"

    def text(self, state: PoisonState, row: int = 0, seat: int | None = None) -> str:
        """Return a position as a table; with `seat`, only what that seat may see."""
        return text.table(self, state, row, seat)

    def drawing(
        self,
        state: PoisonState,
        row: int = 0,
        seat: int | None = None,
        *,
        action: int | None = None,
        values: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> str:
        """Return a position as SVG; see `draw.svg`."""
        return drawing.PoisonPicture(self, state[row], seat, action, values, names).draw()

    def position(
        self,
        *,
        hands: Sequence[str],
        cauldrons: Sequence[str] = ("", "", ""),
        taken: Sequence[str] = (),
        to_move: int = 0,
        round_number: int = 0,
        match_points: Sequence[int] | None = None,
        seed: int = 0,
    ) -> PoisonState:
        """Set up one match in the middle of a round from text such as `R7 G4x2`; cards named nowhere are set aside.

        Args:
            hands: the cards of each seat. Seats in turn from `to_move` hold equally many, or the first ones one more.
            cauldrons: what is in each.
            taken: what each seat has taken in this round.
            match_points: totals so far; the handicaps unless given.

        Raises:
            PositionError: the rules cannot reach it.
        """
        return text.position(self, hands, cauldrons, taken, to_move, round_number, match_points, seed)
