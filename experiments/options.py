"""What is played, on the command line: a game and its options, `num_seats=4 deck=box58 first_dealer=0`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from poison_env import make, scripted
from poison_env.core.errors import OptionError, PoisonEnvError, UnknownNameError
from poison_env.core.protocol import Game

# Options where none are asked for. In Poison a round's points do not depend on other rounds, so one is enough.
USUAL_OPTIONS = {"poison-v0": ("num_seats=4", "num_rounds=1")}

_PYTHON = {"True": True, "False": False, "None": None}


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A game and its options: the part of a program's configuration that says what is played."""

    game: str = "poison-v0"
    options: tuple[str, ...] = ()  # of the game, name=value; its own defaults, but one round of Poison, unless given

    def __post_init__(self) -> None:
        """Fill in what was not given."""
        if not self.options:
            object.__setattr__(self, "options", USUAL_OPTIONS.get(self.game, ()))

    def make(self, **more: Any) -> Game[Any]:
        """Return these rules, with `more` options.

        Raises:
            UnknownNameError: no such game or version.
            OptionError: an option that the game does not have, or a value that cannot be played.
        """
        return make(self.game, **{**parse_options(self.options), **more})


@dataclass(frozen=True, kw_only=True)
class Task(Rules):
    """What a training program learns, and how it is judged on the way."""

    reward: str = ""  # what is learned: the game's own if it is the win or for one seat, else points less the others'
    seed: int = 0
    evaluate_every: int = 10  # iterations; 0 for never
    evaluation_deals: int = 200
    opponents: tuple[str, ...] = ()  # the tables of the evaluations; the scripted agents but `random` unless given

    def __post_init__(self) -> None:
        """Fill in what was not given, and refuse what cannot be learned.

        Raises:
            PoisonEnvError: the message says what is wrong.
        """
        super().__post_init__()
        game = self.make()
        if not self.reward:
            paid = game.options["reward"]
            object.__setattr__(self, "reward", paid if paid == "win" or game.num_seats == 1 else "relative")
        there = scripted.names(self.game)
        if game.num_seats == 1:  # alone there is nobody to be compared with
            object.__setattr__(self, "opponents", ())
        elif not self.opponents:
            object.__setattr__(self, "opponents", tuple(name for name in there if name != "random"))
        for name in self.opponents:
            if name not in there and not Path(name).exists():
                raise UnknownNameError(f"opponents: {self.game} has no agent {name!r}; it has {', '.join(there)}")
        self.at_least(0, "seed", "evaluate_every")
        self.at_least(1, "evaluation_deals")

    def at_least(self, least: float, *names: str) -> None:
        """Refuse smaller numbers in those fields.

        Raises:
            OptionError: the message names the field.
        """
        for name in names:
            if not getattr(self, name) >= least:
                raise OptionError(f"{name}: expected at least {least}, got {getattr(self, name)}")

    def above_zero(self, *names: str) -> None:
        """Refuse 0 and less in those fields, and what is not a number.

        Raises:
            OptionError: the message names the field.
        """
        for name in names:
            if not getattr(self, name) > 0:
                raise OptionError(f"{name}: expected above 0, got {getattr(self, name)}")

    def layers(self, name: str) -> None:
        """Refuse a network without layers in that field, or with an empty one.

        Raises:
            OptionError: the message names the field.
        """
        sizes = getattr(self, name)
        if min(sizes, default=0) < 1:
            raise OptionError(f"{name}: expected at least one layer, each of at least one unit, got {sizes}")


def run_program(name: str, command: Callable[..., object]) -> None:
    """Run a function with the arguments of the command line; what they got wrong is said in a line."""
    try:
        tyro.cli(command)
    except (PoisonEnvError, FileExistsError) as error:
        raise SystemExit(f"{name}: {error}") from error


def parse_options(words: Sequence[str]) -> dict[str, Any]:
    """Return `name=value` words as keyword arguments; a value is JSON or True, False, None where it can be, else text.

    Raises:
        OptionError: a word has no `=`, or a name stands twice.
    """
    options: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise OptionError(f"options: expected name=value, got {word!r}")
        if name in options:
            raise OptionError(f"options: {name} is given twice")
        try:
            options[name] = _PYTHON[text] if text in _PYTHON else json.loads(text)
        except ValueError:
            options[name] = text
    return options
