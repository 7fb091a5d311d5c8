"""The ids under which other libraries know the environments."""

import pettingzoo

from poison_env.registry import GAMES

NAMESPACE = "poison_env"


def register_with_pettingzoo() -> None:
    """Let `pettingzoo.make("aec", "poison_env/poison-v0", num_seats=5)` know every game; again does nothing."""
    for game_id in GAMES:
        if f"{NAMESPACE}/{game_id}" not in pettingzoo.aec_registry:
            module = f"poison_env.{game_id.replace('-', '_')}"
            pettingzoo.register("aec", f"{NAMESPACE}/{game_id}", f"{module}:env")
