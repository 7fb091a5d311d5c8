"""The options of Poison, and what follows from them."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from poison_env.core.errors import OptionError
from poison_env.core.options import Options, one_of, whole
from poison_env.games.poison import layouts, tables
from poison_env.games.poison.deck import Kind, parse_deck
from poison_env.games.poison.tables import CAULDRONS

MIN_SEATS, MAX_SEATS, MAX_ROUNDS, MAX_HANDICAP = 2, 8, 20, 1000
PUBLISHED_HANDS = 4  # with fewer players the published edition still deals four hands


class PoisonOptions(Options):
    """What follows from the options: sizes of hands and rounds, tables, layouts.

    Raises:
        OptionError: an option, or a combination, that cannot be played.
    """

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
        self.num_seats = whole("num_seats", num_seats, MIN_SEATS, MAX_SEATS)
        self.deck = parse_deck(deck)
        published = self.deck.text == "published"
        default_rounds = max(num_seats, PUBLISHED_HANDS) if published else num_seats
        self.num_rounds = whole("num_rounds", default_rounds if num_rounds is None else num_rounds, 1, MAX_ROUNDS)
        self.first_dealer = None if first_dealer is None else whole("first_dealer", first_dealer, 0, num_seats - 1)
        self.rule_deal = one_of(
            "deal", ("hands4" if published else "all") if deal is None else deal, ("hands4", "equal", "all")
        )
        self.colour_rule = one_of("colour_rule", colour_rule, ("exclusive", "fixed"))
        self.recall = one_of("recall", recall, ("perfect", "none"))
        self.reward = one_of("reward", reward, ("points", "relative", "win"))
        try:
            given = (0,) * num_seats if handicaps is None else tuple(handicaps)
        except TypeError:
            raise OptionError(f"handicaps: expected one for each of {num_seats} seats, got {handicaps!r}") from None
        if len(given) != num_seats:
            raise OptionError(f"handicaps: expected one for each of {num_seats} seats, got {len(given)}")
        self.handicaps = tuple(whole("handicaps", points, 0, MAX_HANDICAP) for points in given)
        if self.deck.size < num_seats:
            raise OptionError(f"deck: {self.deck.size} cards are not enough for {num_seats} players")

        self._hands = max(num_seats, PUBLISHED_HANDS) if self.rule_deal == "hands4" else num_seats
        dealt = self.deck.size - (self.deck.size % num_seats if self.rule_deal == "equal" else 0)
        # Sizes of the hands, the first player's first.
        self.hand_sizes = tuple(len(range(hand, dealt, self._hands)) for hand in range(num_seats))
        self.cards_dealt = sum(self.hand_sizes)  # and so the moves of a round
        self.max_moves = self.cards_dealt * self.num_rounds
        self.kinds = self.deck.kinds
        self.num_kinds = len(self.kinds)
        self.num_actions = self.num_kinds * CAULDRONS
        self._tables = tables.build(self.deck.text, colour_rule)
        # (A,) action = 3 * kind + cauldron
        self.kind_of, self.cauldron_of = self._tables.kind_of, self._tables.cauldron_of
        self._num_contents = len(self._tables.contents)
        self._hand_of_card = np.arange(self.deck.size)[: dealt if self.rule_deal == "equal" else None] % self._hands
        # [seat]: the seats from there on, clockwise
        self._rotation = (np.arange(num_seats)[:, None] + np.arange(num_seats)) % num_seats
        self._next_seat = self._rotation[:, 1].copy()
        self._card_kinds = np.array(self.deck.cards)
        self._card_ordinals = np.concatenate([np.arange(n) for n in self.deck.counts])
        left, ahead = np.arange(self.cards_dealt + 1)[:, None], np.arange(num_seats)[None, :]
        sizes = (left + num_seats - 1 - ahead) // num_seats  # (cards, seats after the mover): hands hold this much
        # at cards * P + (seat - mover) mod P
        self._sizes = sizes[:, self._rotation].astype(np.int16).reshape(-1, num_seats)
        self.layout = layouts.seat_layout(self.deck, num_seats, max(self.hand_sizes), recall)
        self.full_layout = layouts.full_layout(self.deck, num_seats, max(self.hand_sizes))

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
