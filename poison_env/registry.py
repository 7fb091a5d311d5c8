"""The games by name: `make("poison-v0", num_seats=4)`."""

import inspect
from collections.abc import Callable
from typing import Any

from poison_env.core.errors import OptionError, UnknownNameError
from poison_env.core.protocol import Game
from poison_env.games.arsenic import Arsenic
from poison_env.games.poison import Poison
from poison_env.games.potio import Potio

GAMES: dict[str, Callable[..., Game[Any]]] = {game.id: game for game in (Poison, Arsenic, Potio)}


def make(game_id: str, **options: Any) -> Game[Any]:
    """Return the rules of a game with the given options.

    Raises:
        UnknownNameError: no such game or version; the message names those there are.
        OptionError: an option that the game does not have, or a value or combination that cannot be played.
    """
    if game_id in GAMES:
        known = inspect.signature(GAMES[game_id]).parameters
        for name in options:
            if name not in known:
                raise OptionError(f"options: {game_id} has no option {name!r}; it has {', '.join(known)}")
        return GAMES[game_id](**options)
    name = game_id.rpartition("-v")[0] or game_id
    versions = [known for known in GAMES if known.rpartition("-v")[0] == name]
    there = f"there is {', '.join(versions)}" if versions else f"the games are {', '.join(GAMES)}"
    raise UnknownNameError(f"no game {game_id!r}; {there}")
