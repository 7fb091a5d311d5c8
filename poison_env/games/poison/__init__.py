"""Poison by Reiner Knizia: cards, cauldrons, majorities."""

from poison_env.games.poison.game import Poison, PoisonState

__all__ = ["Poison", "PoisonState"]
