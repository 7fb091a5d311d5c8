"""Potio for PettingZoo: `from poison_env import potio_v0; env = potio_v0.env(num_seats=3)`.

`env` and `raw_env` are the same thing: the environment checks order, type, range and legality of its input itself, so
there is nothing for PettingZoo's wrappers to add.
"""

from typing import Any

from poison_env.adapters.aec import MatchEnv
from poison_env.registry import make


def raw_env(*, render_mode: str | None = None, scaled: bool = False, **options: Any) -> MatchEnv:
    """Return Potio as an AEC environment.

    Args:
        render_mode: None, "ansi" or "human", see `MatchEnv`.
        scaled: observations as float32 in [0, 1] instead of int16 counts.
        **options: those of `poison_env.games.potio.Potio`, such as `num_seats=3`.

    Raises:
        OptionError: an option, or a combination, that cannot be played.
        TypeError: no such option.
    """
    return MatchEnv(make("potio-v0", **options), render_mode=render_mode, scaled=scaled)


env = raw_env
