"""Options of games on the command line: `num_seats=4 deck=box58 first_dealer=0`."""

import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any

from poison_env import make
from poison_env.core.errors import OptionError
from poison_env.core.protocol import Game
from poison_env.registry import GAMES


def parse_options(words: Sequence[str]) -> dict[str, Any]:
    """Return `name=value` words as keyword arguments; a value is JSON where it can be, else text.

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
            options[name] = json.loads(text)
        except ValueError:
            options[name] = text
    return options


def make_game(game_id: str, options: Mapping[str, Any]) -> Game[Any]:
    """Return the rules of a game with options that were typed by somebody.

    Raises:
        UnknownNameError: no such game or version.
        OptionError: an option that the game does not have, or a value that cannot be played.
    """
    if game_id in GAMES:
        known = inspect.signature(GAMES[game_id]).parameters
        for name in options:
            if name not in known:
                raise OptionError(f"options: {game_id} has no option {name!r}; it has {', '.join(known)}")
    return make(game_id, **options)
