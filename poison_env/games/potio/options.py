"""The options of Potio, and what follows from them."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np

from poison_env.core.errors import OptionError
from poison_env.games.potio import brews, layouts, moves
from poison_env.games.potio.deck import SLOTS, Kind, parse_deck

MIN_SEATS, MAX_SEATS = 2, 5
FIRST_CARDS, FIRST_CENTRE = 2, 3  # open cards of each player, and in the centre
MAX_EXTRA = SLOTS - 1 - FIRST_CARDS  # a zone is not full before its owner's turn
MAX_TURNS = 5_000
STALL_LAPS, TURNS_A_CARD = 12, 6  # defaults of the two limits


class PotioOptions:
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
        self.num_seats = _whole("num_seats", num_seats, MIN_SEATS, MAX_SEATS)
        self.deck = parse_deck(deck)
        self.extra_cards_last = _whole("extra_cards_last", extra_cards_last, 0, MAX_EXTRA)
        self.grey_first = _yes_or_no("grey_first", grey_first)
        self.grey_only_sum = _yes_or_no("grey_only_sum", grey_only_sum)
        self.steal_frozen = _yes_or_no("steal_frozen", steal_frozen)
        self.burn_frozen = _yes_or_no("burn_frozen", burn_frozen)
        stall = STALL_LAPS * num_seats if stall_turns is None else stall_turns
        self.stall_turns = _whole("stall_turns", stall, 1, MAX_TURNS)
        turns = TURNS_A_CARD * self.deck.size if max_turns is None else max_turns
        self.max_turns = _whole("max_turns", turns, 1, MAX_TURNS)
        self.reward = _one_of("reward", reward, ("points", "relative", "win"))
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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.options == other.options

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # immutable


def _whole(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise OptionError(f"{name}: expected a whole number from {low} to {high}, got {value!r}")
    return int(value)


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise OptionError(f"{name}: expected one of {', '.join(allowed)}; got {value!r}")
    return value


def _yes_or_no(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise OptionError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def _rebuild(kind: Any, options: dict[str, Any]) -> Any:
    return kind(**options)
