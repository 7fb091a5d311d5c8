"""What a network is given: numbers computed from an observation and its mask, so that equal positions look equal.

Action ids stay the game's own: `Encoded.action_of` leads from a network's output back to them.
"""

from collections.abc import Callable
from typing import Any

from agents.features.arsenic import ArsenicFeatures
from agents.features.encoding import CountFeatures, Encoded, Features
from agents.features.poison import PoisonFeatures
from agents.features.potio import PotioFeatures
from poison_env.core.protocol import Game

__all__ = [
    "ArsenicFeatures",
    "CountFeatures",
    "Encoded",
    "Features",
    "PoisonFeatures",
    "PotioFeatures",
    "by_name",
    "for_game",
]

FEATURES: dict[str, Callable[[Any], Features]] = {
    "poison-v0": PoisonFeatures,
    "arsenic-v0": ArsenicFeatures,
    "potio-v0": PotioFeatures,
}


def for_game(game: Game[Any]) -> Features:
    """Return the best features there are for a game."""
    return FEATURES.get(game.id, CountFeatures)(game)


def by_name(name: str, game: Game[Any]) -> Features:
    """Return the features called `name`, as a checkpoint records them.

    Raises:
        KeyError: there are none, or they are not for this game.
    """
    for features in (for_game(game), CountFeatures(game)):
        if features.name == name:
            return features
    raise KeyError(name)
