"""The ids under which other libraries know the environments."""

import gymnasium
import pettingzoo

from poison_env.registry import GAMES

NAMESPACE = "poison_env"


def register_with_pettingzoo() -> None:
    """Let `pettingzoo.make("aec", "poison_env/poison-v0", num_seats=5)` know every game; again does nothing."""
    for game_id in GAMES:
        if f"{NAMESPACE}/{game_id}" not in pettingzoo.aec_registry:
            module = f"poison_env.{game_id.replace('-', '_')}"
            pettingzoo.register("aec", f"{NAMESPACE}/{game_id}", f"{module}:env")


def register_with_gymnasium() -> None:
    """Let `gymnasium.make("poison_env/Poison-v0", opponents="greedy")` and `make_vec` know every game.

    Again does nothing. Gymnasium 1.0 and later load no plug-ins: `poison_env` must have been imported, or the id be
    written `poison_env:poison_env/Poison-v0`, which imports it.
    """
    for game_id in GAMES:
        gymnasium_id = f"{NAMESPACE}/{game_id[0].upper()}{game_id[1:]}"
        if gymnasium_id not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id,
                entry_point="poison_env.adapters.solo:SoloEnv",
                vector_entry_point="poison_env.adapters.vector:SoloVectorEnv",
                kwargs={"game": game_id},
            )
