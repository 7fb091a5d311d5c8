"""The options of Arsenic, and what follows from them."""

from functools import cached_property
from typing import Any

import numpy as np

from poison_env.core.errors import OptionError
from poison_env.core.options import Options, one_of, whole, yes_or_no
from poison_env.core.protocol import BoolArray
from poison_env.games.arsenic import layouts
from poison_env.games.arsenic.scones import COUNTS, FLAVOURS, LETHAL, SLOTS, SPECIAL, SUGARS, in_flavour

MAX_SEATS, MAX_HONOUR_TURNS = 6, 9
DRAW, STOP, SHUFFLE, EAT, RETURN, SPOON, PASS = range(7)  # what an action does
WORDS = ("DRAW", "STOP", "SHUFFLE", "EAT", "RETURN", "SPOON", "PASS")
TURN, INSPECT, REACT, AFTER, OVER = range(5)  # phases of a turn; OVER stands for a match that is over

# [code]: which words are legal; code = ((phase * 2 + may stop) * 2 + may shuffle) * 2 + may return
LEGAL: BoolArray = np.zeros((5, 2, 2, 2, len(WORDS)), bool)
LEGAL[TURN, :, :, :, DRAW] = True
LEGAL[TURN, 1, :, :, STOP] = True
LEGAL[TURN, :, 1, :, SHUFFLE] = True
LEGAL[INSPECT, :, :, :, EAT] = True
LEGAL[INSPECT, :, :, 1, RETURN] = True
LEGAL[REACT, :, :, :, [SPOON, PASS]] = True
LEGAL[AFTER, :, :, :, [SHUFFLE, PASS]] = True
LEGAL = LEGAL.reshape(-1, len(WORDS))


class ArsenicOptions(Options):
    """What follows from the options: actions, lengths, layouts.

    Raises:
        OptionError: an option, or a combination, that cannot be played.
    """

    def __init__(
        self,
        *,
        num_seats: int = 4,
        honour_turns: int | None = None,
        spoons: bool = True,
        last_survivor_ends: bool = True,
        draw: str = "slots",
        tiebreak: str = "sudden_death",
        specials: bool = False,
        reward: str | None = None,
    ) -> None:
        self.num_seats = whole("num_seats", num_seats, 1, MAX_SEATS)
        turns = (1 if num_seats == MAX_SEATS else 2) if honour_turns is None else honour_turns
        self.honour_turns = whole("honour_turns", turns, 0, MAX_HONOUR_TURNS)
        self.has_spoons = yes_or_no("spoons", spoons)
        self.last_survivor_ends = yes_or_no("last_survivor_ends", last_survivor_ends)
        self.rule_draw = one_of("draw", draw, ("slots", "flavour"))
        self.tiebreak = one_of("tiebreak", tiebreak, ("sudden_death", "shared"))
        self.specials = yes_or_no("specials", specials)
        default = "points" if num_seats == 1 else "win"
        self.reward = one_of("reward", default if reward is None else reward, ("win", "points", "relative"))
        if num_seats == 1 and self.reward == "relative":
            raise OptionError("reward: 'relative' compares with other seats, and there is one seat alone")

        self.lethal = LETHAL[num_seats]
        self.by_slot = self.rule_draw == "slots"
        draws = SLOTS if self.by_slot else FLAVOURS
        words = [STOP, SHUFFLE, EAT, RETURN, SPOON, PASS] if self.by_slot else [STOP, EAT, RETURN, SPOON, PASS]
        self.words_of = np.array([DRAW] * draws + words)  # (A,) what an action does
        self.action_of = {word: draws + number for number, word in enumerate(words)}
        self.num_draws, self.num_actions = draws, len(self.words_of)
        self.scones = FLAVOURS * len(in_flavour(self.specials))
        self.max_moves = self._most_moves()
        # [code, action]: what is legal if every slot is occupied, see `LEGAL`
        self._legal = LEGAL[:, self.words_of]
        # [set of seats as bits, seat]: the next of them clockwise, oneself last; oneself too if the set is empty
        self._next_of = np.array([[self._next(seats, seat) for seat in range(num_seats)] for seats in range(64)])
        self._seat_bits = 1 << np.arange(num_seats)
        # [seat]: the seats from there on, clockwise
        self._rotation = (np.arange(num_seats)[:, None] + np.arange(num_seats)) % num_seats
        self.layout = layouts.seat_layout(num_seats, self.lethal, by_slot=self.by_slot, specials=self.specials)
        self.full_layout = layouts.full_layout(num_seats, by_slot=self.by_slot, specials=self.specials)

    def _next(self, seats: int, seat: int) -> int:
        clockwise = [(seat + ahead) % self.num_seats for ahead in range(1, self.num_seats + 1)]
        return next((other for other in clockwise if seats >> other & 1), seat)

    def _most_moves(self) -> int:
        """Bound a match: each draw uses up a scone, a sugar or a spoon, and each is asked about so often."""
        seats, mixes = self.num_seats, int(self.by_slot)  # a shuffle may come before a draw or a stop
        spoons = seats if self.has_spoons and seats > 1 else 0
        reactions = seats - 1 if spoons else 0
        eaten = self.scones * (mixes + 2 + reactions)
        returned = SUGARS * seats * (mixes + 2 + mixes)
        spooned = spoons * (mixes + 2 + reactions + mixes)
        return eaten + returned + spooned + seats * (mixes + 1)

    @cached_property
    def options(self) -> dict[str, Any]:
        """Constructor arguments as JSON values with the defaults resolved; `Arsenic(**options)` is the same game."""
        return {
            "num_seats": self.num_seats,
            "honour_turns": self.honour_turns,
            "spoons": self.has_spoons,
            "last_survivor_ends": self.last_survivor_ends,
            "draw": self.rule_draw,
            "tiebreak": self.tiebreak,
            "specials": self.specials,
            "reward": self.reward,
        }

    @cached_property
    def rules_options(self) -> dict[str, Any]:
        """The options that change what is seen or legal: what a trained policy depends on."""
        return {name: value for name, value in self.options.items() if name not in ("tiebreak", "reward")}

    @cached_property
    def return_bounds(self) -> tuple[float, float]:
        """What a seat can earn in a match: never less than the first, never more than the second."""
        if self.reward == "win":
            return 0.0, 1.0
        sorts = [flavour * (SPECIAL + 1) + kind for flavour in range(FLAVOURS) for kind in in_flavour(self.specials)]
        most = float(COUNTS[sorts].sum())
        if self.reward == "points":
            return 0.0, most
        return -most / (self.num_seats - 1), most

    @property
    def return_sum(self) -> float | None:
        """0 for relative rewards; 1 for the win where somebody must survive; else it varies."""
        if self.reward == "win":
            return 1.0 if self.last_survivor_ends and self.num_seats > 1 else None
        return 0.0 if self.reward == "relative" else None

    @property
    def pays_at_end(self) -> bool:
        """Whether the last move of a match pays everything: always."""
        return True
