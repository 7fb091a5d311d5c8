"""Potio: three times the same value makes a potion."""

from poison_env.games.potio.dealing import PotioState
from poison_env.games.potio.game import Potio

__all__ = ["Potio", "PotioState"]
