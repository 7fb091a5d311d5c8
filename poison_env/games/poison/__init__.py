"""Poison by Reiner Knizia: cards, cauldrons, majorities."""

from poison_env.games.poison.dealing import PoisonState
from poison_env.games.poison.game import Poison

__all__ = ["Poison", "PoisonState"]
