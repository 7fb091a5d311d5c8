"""Arsenic: tea, scones, and who dares to eat one more."""

from poison_env.games.arsenic.dealing import ArsenicState
from poison_env.games.arsenic.game import Arsenic

__all__ = ["Arsenic", "ArsenicState"]
