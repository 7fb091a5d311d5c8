"""Poison, batched: the rules of the published edition and of the 58-card box, with their options.

Sources: the published rules (Portuguese edition) and those of the box of 50 potions and 8 poisons (French and Dutch).
docs/rules.md has them in full with every decision on what they leave open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import IllegalActionError, OptionError, PositionError
from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray, FloatArray, IntArray, State, check_actions
from poison_env.games.poison import drawing, layouts, single, tables, text
from poison_env.games.poison.deck import CLASSES, LIMIT, Kind, parse_deck
from poison_env.games.poison.tables import CAULDRONS

MIN_SEATS, MAX_SEATS, MAX_ROUNDS, MAX_HANDICAP = 2, 8, 20, 1000
PUBLISHED_HANDS = 4  # with fewer players the published edition still deals four hands
POISON_CLASS, POISON_POINTS = 3, 2
_DEAL, _DEALER, _FUTURE = 0, 1 << 20, 1 << 21  # streams of chance; the deal of round r is _DEAL + r
_KIND_BITS = np.uint64(0xFF)  # the low bits of a card's random key carry its kind
_NOWHERE = np.uint64(2**64 - 1)  # sorts behind every card
_EVERY = slice(None)
_CHUNK = 1024  # rows dealt at a time: their keys stay in the processor's cache


@dataclass(eq=False)
class PoisonState(State):
    """Matches of Poison. Cards are counts by kind; the order of cards in a cauldron is not kept."""

    hands: npt.NDArray[np.int16]  # (B, P, K)
    cauldrons: npt.NDArray[np.int64]  # (B, 3) number of the content, see tables
    taken: npt.NDArray[np.int16]  # (B, P, 4) cards taken in this round by class: red, blue, purple, poison
    unplayed: npt.NDArray[np.int16]  # (B, K) in hands or set aside
    cards_left: npt.NDArray[np.int64]  # (B,) in hands
    round: npt.NDArray[np.int64]  # (B,) from 0
    dealer: npt.NDArray[np.int64]  # (B,) dealer of the first round
    totals: npt.NDArray[np.int64]  # (B, P) points of the rounds scored so far, handicaps included
    events: npt.NDArray[np.int16]  # (B, T) seat * A + action, -1 beyond
    seeds: npt.NDArray[np.uint64]  # (B,) where the match's chance comes from; never shown to anyone


class Poison:
    """The rules of Poison for one set of options.

    Args:
        num_seats: 2 to 8; the sources are for 3 to 6.
        deck: "published", "box58", cards such as "R1x3 R2 G4x8", or a table `{(colour, value): count}`.
        deal: "hands4" (four hands at least; those without a player are set aside unseen), "equal" (as many cards as can
            be dealt equally) or
            "all". None is the deck's own: hands4 for the published deck, all for others.
        colour_rule: "exclusive" (a colour in one cauldron at a time) or "fixed" (cauldrons are red, blue, purple from
            the start). num_rounds: 1 to 20. None is the deck's own: one for each player, but 4 with two or three
            players of the published deck. first_dealer: a seat; None draws it from the seed. recall: "perfect", or
            "none": of taken cards only the size of each pile is known. handicaps: points that seats start with. reward:
            "points" (minus the points of a round when it is scored), "relative" (the same less the mean of the others)
            or "win" (1/k to each
            of k winners at the end).

    Raises:
        OptionError: an option, or a combination, that cannot be played.
    """

    id = "poison-v0"
    points_sign = -1

    def __init__(
        self,
        *,
        num_seats: int = 4,
        deck: str | Mapping[Kind, int] = "published",
        deal: str | None = None,
        colour_rule: str = "exclusive",
        num_rounds: int | None = None,
        first_dealer: int | None = None,
        recall: str = "perfect",
        handicaps: Sequence[int] | None = None,
        reward: str = "points",
    ) -> None:
        self.num_seats = _whole("num_seats", num_seats, MIN_SEATS, MAX_SEATS)
        self.deck = parse_deck(deck)
        published = self.deck.text == "published"
        default_rounds = max(num_seats, PUBLISHED_HANDS) if published else num_seats
        self.num_rounds = _whole("num_rounds", default_rounds if num_rounds is None else num_rounds, 1, MAX_ROUNDS)
        self.first_dealer = None if first_dealer is None else _whole("first_dealer", first_dealer, 0, num_seats - 1)
        self.rule_deal = _one_of(
            "deal", ("hands4" if published else "all") if deal is None else deal, ("hands4", "equal", "all")
        )
        self.colour_rule = _one_of("colour_rule", colour_rule, ("exclusive", "fixed"))
        self.recall = _one_of("recall", recall, ("perfect", "none"))
        self.reward = _one_of("reward", reward, ("points", "relative", "win"))
        try:
            given = (0,) * num_seats if handicaps is None else tuple(handicaps)
        except TypeError:
            raise OptionError(f"handicaps: expected one for each of {num_seats} seats, got {handicaps!r}") from None
        if len(given) != num_seats:
            raise OptionError(f"handicaps: expected one for each of {num_seats} seats, got {len(given)}")
        self.handicaps = tuple(_whole("handicaps", points, 0, MAX_HANDICAP) for points in given)
        if self.deck.size < num_seats:
            raise OptionError(f"deck: {self.deck.size} cards are not enough for {num_seats} players")

        self._hands = max(num_seats, PUBLISHED_HANDS) if self.rule_deal == "hands4" else num_seats
        dealt = self.deck.size - (self.deck.size % num_seats if self.rule_deal == "equal" else 0)
        self.hand_sizes = tuple(
            len(range(hand, dealt, self._hands)) for hand in range(num_seats)
        )  # first player's first
        self.cards_dealt = sum(self.hand_sizes)  # and so the moves of a round
        self.max_moves = self.cards_dealt * self.num_rounds
        self.kinds = self.deck.kinds
        self.num_kinds = len(self.kinds)
        self.num_actions = self.num_kinds * CAULDRONS
        self._tables = tables.build(self.deck.text, colour_rule)
        self.kind_of, self.cauldron_of = (
            self._tables.kind_of,
            self._tables.cauldron_of,
        )  # (A,) action = 3 * kind + cauldron
        self._num_contents = len(self._tables.contents)
        self._hand_of_card = np.arange(self.deck.size)[: dealt if self.rule_deal == "equal" else None] % self._hands
        self._rotation = (
            np.arange(num_seats)[:, None] + np.arange(num_seats)
        ) % num_seats  # [seat]: seats from there on, clockwise
        self._next_seat = self._rotation[:, 1].copy()
        self._card_kinds = np.array(self.deck.cards)
        self._card_ordinals = np.concatenate([np.arange(n) for n in self.deck.counts])
        left, ahead = np.arange(self.cards_dealt + 1)[:, None], np.arange(num_seats)[None, :]
        sizes = (left + num_seats - 1 - ahead) // num_seats  # (cards, seats after the mover): hands hold this much
        self._sizes = (
            sizes[:, self._rotation].astype(np.int16).reshape(-1, num_seats)
        )  # at cards * P + (seat - mover) mod P
        self.layout = layouts.seat_layout(self.deck, num_seats, max(self.hand_sizes), recall)
        self.full_layout = layouts.full_layout(self.deck, num_seats, max(self.hand_sizes))

    # --- what the game is

    @cached_property
    def options(self) -> dict[str, Any]:
        """Constructor arguments as JSON values with the defaults resolved; `Poison(**options)` is the same game."""
        return {
            "num_seats": self.num_seats,
            "deck": self.deck.text,
            "deal": self.rule_deal,
            "colour_rule": self.colour_rule,
            "num_rounds": self.num_rounds,
            "first_dealer": self.first_dealer,
            "recall": self.recall,
            "handicaps": list(self.handicaps),
            "reward": self.reward,
        }

    @cached_property
    def rules_options(self) -> dict[str, Any]:
        """The options that change what is seen or legal: what a trained policy depends on."""
        return {name: self.options[name] for name in ("num_seats", "deck", "deal", "colour_rule", "recall")}

    def __repr__(self) -> str:
        return f"Poison({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poison) and self.options == other.options

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.options,)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Poison":
        return self  # immutable

    # --- 1. deal: one by one from the player left of the dealer, who moves first
    # ---------------------------------------------------------------

    def deal(self, seeds: KeyArray) -> PoisonState:
        """Return fresh matches, one for each seed (B,) in [0, 2**64)."""
        keys = chance.as_keys(seeds)
        state = self._blank(keys)
        self._deal_round(state, np.arange(len(keys)))
        return state

    def deal_from(self, cards: npt.ArrayLike, *, seeds: KeyArray | Sequence[int] | None = None) -> PoisonState:
        """Return matches whose first round is dealt from given orders of cards.

        Args:
            cards: (B, deck size) kinds in the order in which they are dealt: the first goes to the player left of the
                dealer. seeds: (B,) for later rounds and the first dealer; zeros unless given.

        Raises:
            PositionError: a row is not exactly the deck.
        """
        orders = self._check_orders(cards, None)
        state = self._blank(np.zeros(len(orders), np.uint64) if seeds is None else chance.as_keys(seeds))
        self._place(state, np.arange(len(orders)), self._check_orders(orders, len(state)))
        return state

    def redeal(self, state: PoisonState, cards: npt.ArrayLike) -> None:
        """Deal the round that has just begun again, in place, from given orders of cards (B, deck size).

        Raises:
            PositionError: a row is not exactly the deck, or a match is over or has played a card of its round.
        """
        orders = self._check_orders(cards, len(state))
        late = state.done | (state.cards_left != self.cards_dealt)
        if late.any():
            raise PositionError(
                f"row {int(np.argmax(late))}: the match is over, or a card of the round has been played"
            )
        self._place(state, np.arange(len(state)), orders)

    def card_order(self, seeds: KeyArray, round_number: int | IntArray = 0) -> npt.NDArray[np.int64]:
        """Return the shuffled deck of a round, (B, deck size) kinds in dealing order: seed and round decide it."""
        keys = chance.bits(chance.as_keys(seeds), _DEAL + np.asarray(round_number), self.deck.size)
        keys &= ~_KIND_BITS
        keys |= self._card_kinds.astype(np.uint64)
        keys.sort(axis=1)
        return (keys & _KIND_BITS).astype(np.int64)

    def _blank(self, keys: KeyArray) -> PoisonState:
        size, seats = len(keys), self.num_seats
        if self.first_dealer is None:
            dealer = chance.below(chance.fold(keys, _DEALER), seats)
        else:
            dealer = np.full(size, self.first_dealer, np.int64)
        return PoisonState(
            to_move=np.zeros(size, np.int64),
            done=np.zeros(size, bool),
            truncated=np.zeros(size, bool),
            moves=np.zeros(size, np.int64),
            hands=np.zeros((size, seats, self.num_kinds), np.int16),
            cauldrons=np.zeros((size, CAULDRONS), np.int64),
            taken=np.zeros((size, seats, len(CLASSES)), np.int16),
            unplayed=np.zeros((size, self.num_kinds), np.int16),
            cards_left=np.zeros(size, np.int64),
            round=np.zeros(size, np.int64),
            dealer=dealer,
            totals=np.tile(np.array(self.handicaps, np.int64), (size, 1)),
            events=np.full((size, self.max_moves), -1, np.int16),
            seeds=keys.copy(),
        )

    def _deal_round(self, state: PoisonState, rows: IntArray) -> None:
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            self._place(state, part, self.card_order(state.seeds[part], state.round[part]))

    def _place(self, state: PoisonState, rows: IntArray, orders: IntArray) -> None:
        size, kinds = len(rows), self.num_kinds
        dealt = (
            orders[:, : len(self._hand_of_card)]
            + self._hand_of_card * kinds
            + np.arange(size)[:, None] * (self._hands * kinds)
        )
        hands = np.bincount(dealt.ravel(), minlength=size * self._hands * kinds).astype(np.int16).reshape(-1, kinds)
        first = (state.dealer[rows] + state.round[rows] + 1) % self.num_seats
        seat_hands = np.arange(size)[:, None] * self._hands + self._rotation[-first % self.num_seats]
        state.hands[rows] = hands.take(seat_hands, axis=0)
        state.unplayed[rows] = self.deck.counts
        state.cauldrons[rows] = 0
        state.taken[rows] = 0
        state.cards_left[rows] = self.cards_dealt
        state.to_move[rows] = first

    def _check_orders(self, cards: npt.ArrayLike, size: int | None) -> npt.NDArray[np.int64]:
        orders = np.atleast_2d(np.asarray(cards))
        if orders.dtype.kind not in "iu" or orders.shape != (len(orders) if size is None else size, self.deck.size):
            raise PositionError(
                f"cards: expected whole numbers of shape ({'B' if size is None else size}, {self.deck.size}), "
                f"got {orders.dtype} {orders.shape}"
            )
        wrong = (np.sort(orders, axis=1) != self._card_kinds).any(axis=1)
        if wrong.any():
            raise PositionError(f"cards: row {int(np.argmax(wrong))} is not exactly the deck")
        return orders.astype(np.int64)

    # --- 2. play: a poison anywhere, a potion on its colour, else on a cauldron without colour
    # ---------------------------------------------------

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
    # -----------------------------------------------------------------------------------------------------

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
            return self.points_sign * points.astype(np.float64)
        if self.reward == "relative":
            others = (points.sum(axis=1, keepdims=True) - points) / (self.num_seats - 1)
            relative: FloatArray = self.points_sign * (points - others)
            return relative
        winners = state.totals[rows] == state.totals[rows].min(axis=1, keepdims=True)
        shares: FloatArray = np.where(winners & over[:, None], 1.0 / winners.sum(axis=1, keepdims=True), 0.0)
        return shares

    def points(self, state: PoisonState) -> npt.NDArray[np.int64]:
        """Return the points of the rounds scored so far, handicaps included, (B, P)."""
        return state.totals.copy()

    def placements(self, state: PoisonState) -> npt.NDArray[np.int64]:
        """Return how many seats have strictly fewer points, (B, P): 0 = best; equal totals share."""
        better: npt.NDArray[np.int64] = (state.totals[:, None, :] < state.totals[:, :, None]).sum(axis=2)
        return better

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
        rows = np.arange(size)
        seat_rows = rows * number
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
        }
        if self.recall == "perfect":
            sections["taken"] = state.taken.view(np.int64).reshape(-1).take(clockwise).view(np.int16)
            sections["unseen"] = state.unplayed - own
        else:
            sections["pile_sizes"] = state.taken.sum(axis=2).reshape(-1).take(clockwise)
            sections["unseen"] = self.deck.counts - contents.sum(axis=1, dtype=np.int16) - own
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

    def resample(self, state: PoisonState, seats: IntArray, seeds: KeyArray) -> PoisonState:
        """Return matches in which the cards that `seats[b]` has not seen are shuffled anew, uniformly.

        With perfect recall those are the others' hands and the cards set aside; with `recall="none"` every pile of
        taken cards as well. Rounds to come are drawn anew too.
        """
        world = state.copy()
        size, number, kinds = len(state), self.num_seats, self.num_kinds
        rows, keys = np.arange(size), chance.as_keys(seeds)
        own = state.hands[rows, seats]
        unseen = self.layout.slices["unseen"]
        pool = self.observe(state, seats)[:, unseen]
        sizes = state.hands.sum(axis=2)
        sizes[rows, seats] = 0
        if self.recall == "none":
            sizes = np.concatenate([sizes, state.taken.sum(axis=2)], axis=1)

        shuffled = chance.bits(keys, _DEAL, self.deck.size) & ~_KIND_BITS | self._card_kinds.astype(np.uint64)
        shuffled[self._card_ordinals >= pool.take(self._card_kinds, axis=1)] = _NOWHERE
        shuffled.sort(axis=1)
        shuffled = shuffled[:, : int(pool.sum(axis=1).max(initial=0))]
        ends = np.cumsum(sizes, axis=1)
        position = np.arange(shuffled.shape[1])
        owner = np.zeros(shuffled.shape, np.int64)
        for end in ends.T:
            owner += position >= end[:, None]
        places = sizes.shape[1] + 1  # the last one: set aside, or beyond the pool
        inside = position < pool.sum(axis=1)[:, None]
        index = (rows[:, None] * places + owner) * kinds + (shuffled & _KIND_BITS).astype(np.int64)
        drawn = (
            np.bincount(index[inside], minlength=size * places * kinds).astype(np.int16).reshape(size, places, kinds)
        )

        world.hands[:] = drawn[:, :number]
        world.hands[rows, seats] = own
        if self.recall == "none":
            by_class = (self.deck.classes[:, None] == np.arange(len(CLASSES))).astype(np.int16)
            world.taken[:] = drawn[:, number:-1] @ by_class
            world.unplayed[:] = world.hands.sum(axis=1) + drawn[:, -1]
            world.events[:] = -1  # they would tell what was taken
        world.seeds[:] = chance.fold(keys, _FUTURE)
        return world

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
        return drawing.picture(self, state, row, seat, action, values, names)

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


def _whole(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise OptionError(f"{name}: expected a whole number from {low} to {high}, got {value!r}")
    return int(value)


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise OptionError(f"{name}: expected one of {', '.join(allowed)}; got {value!r}")
    return value


def _rebuild(options: dict[str, Any]) -> Poison:
    return Poison(**options)
