"""The options of Potio, and what follows from them."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from poison_env.core.errors import OptionError
from poison_env.core.options import Options, one_of, whole, yes_or_no
from poison_env.games.potio import brews, layouts, moves
from poison_env.games.potio.deck import SLOTS, Kind, parse_deck

MIN_SEATS, MAX_SEATS = 2, 5
FIRST_CARDS, FIRST_CENTRE = 2, 3  # open cards of each player, and in the centre
MAX_EXTRA = SLOTS - 1 - FIRST_CARDS  # a zone is not full before its owner's turn
MAX_TURNS = 5_000
STALL_LAPS, TURNS_A_CARD = 12, 6  # defaults of the two limits


class PotioOptions(Options):
    """What follows from the options: tables, layouts, limits.

    Raises:
        OptionError: an option, or a combination, that cannot be played.
    """

    def __init__(
        self,
        *,
        num_seats: int = 4,
        deck: str | Mapping[Kind, int] = "standard",
        extra_cards_last: int = 0,
        grey_first: bool = True,
        grey_only_sum: bool = True,
        steal_frozen: bool = False,
        burn_frozen: bool = True,
        stall_turns: int | None = None,
        max_turns: int | None = None,
        reward: str = "points",
    ) -> None:
        self.num_seats = whole("num_seats", num_seats, MIN_SEATS, MAX_SEATS)
        self.deck = parse_deck(deck)
        self.extra_cards_last = whole("extra_cards_last", extra_cards_last, 0, MAX_EXTRA)
        self.grey_first = yes_or_no("grey_first", grey_first)
        self.grey_only_sum = yes_or_no("grey_only_sum", grey_only_sum)
        self.steal_frozen = yes_or_no("steal_frozen", steal_frozen)
        self.burn_frozen = yes_or_no("burn_frozen", burn_frozen)
        stall = STALL_LAPS * num_seats if stall_turns is None else stall_turns
        self.stall_turns = whole("stall_turns", stall, 1, MAX_TURNS)
        turns = TURNS_A_CARD * self.deck.size if max_turns is None else max_turns
        self.max_turns = whole("max_turns", turns, 1, MAX_TURNS)
        self.reward = one_of("reward", reward, ("points", "relative", "win"))
        self.cards_dealt = FIRST_CARDS * num_seats + self.extra_cards_last + FIRST_CENTRE
        if self.deck.size < self.cards_dealt:
            raise OptionError(f"deck: {self.deck.size} cards are not enough, {self.cards_dealt} are dealt")

        self.kinds = self.deck.kinds
        self.num_kinds = len(self.kinds)
        self.num_batches = layouts.num_batches(self.deck.size)
        self.num_actions = moves.TARGET + SLOTS * num_seats
        # Two moves a turn; a brew of three cards at least adds one for each, one to commit and two for an effect.
        self.max_moves = 2 * self.max_turns + self.deck.size + 3 * (self.deck.size // 3)
        self.brews = brews.build(self.deck.text, self.grey_first, self.grey_only_sum)
        self._aims = moves.aims(steal_frozen=self.steal_frozen, burn_frozen=self.burn_frozen)
        # [seat]: the seats from there on, clockwise
        self.rotation = (np.arange(num_seats)[:, None] + np.arange(num_seats)) % num_seats
        self.layout = layouts.seat_layout(self)
        self.full_layout = layouts.full_layout(self)

    @cached_property
    def options(self) -> dict[str, Any]:
        """Constructor arguments as JSON values with the defaults resolved; `Potio(**options)` is the same game."""
        return {
            "num_seats": self.num_seats,
            "deck": self.deck.text,
            "extra_cards_last": self.extra_cards_last,
            "grey_first": self.grey_first,
            "grey_only_sum": self.grey_only_sum,
            "steal_frozen": self.steal_frozen,
            "burn_frozen": self.burn_frozen,
            "stall_turns": self.stall_turns,
            "max_turns": self.max_turns,
            "reward": self.reward,
        }

    @cached_property
    def rules_options(self) -> dict[str, Any]:
        """The options that change what is seen or legal: what a trained policy depends on."""
        return {name: value for name, value in self.options.items() if name != "reward"}
