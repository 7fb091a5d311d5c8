"""What a single environment, which the slots of a vector are compared with, does when it is tried by itself."""

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from poison_env.testing.compare import arrays_in, difference, snapshot

Found = Iterator[tuple[str, str]]
STEPS = 60


def scalar_alone(make_env: Callable[[], gymnasium.Env[Any, Any]], seed: int) -> Found:
    """Re-seeded after some steps it is as fresh; writing into what it returned changes nothing."""
    expected, env = _play(make_env(), seed, STEPS), make_env()
    for steps in (3, STEPS):
        _play(env, seed + 7, steps)
        if (why := difference(expected, _play(env, seed, STEPS))) is not None:
            yield f"the scalar environment, re-seeded after {steps} steps, differs from a fresh one: {why}", "scalar"
            break
    if (why := difference(expected, _play(make_env(), seed, STEPS, write=True))) is not None:
        yield f"writing into what the scalar environment returned has changed it: {why}", "scalar"


def _play(env: gymnasium.Env[Any, Any], seed: int, steps: int, *, write: bool = False) -> list[Any]:
    """Return what a seeded environment gives for some legal actions, over the ends of episodes."""
    assert isinstance(env.action_space, spaces.Discrete), f"expected a Discrete action space, got {env.action_space}"
    returned: Any = env.reset(seed=seed)
    rng, log = np.random.default_rng(seed), [snapshot(returned)]
    for _ in range(steps):
        found = next((part["action_mask"] for part in (returned[0], returned[-1]) if _has_mask(part)), None)
        legal = np.arange(int(env.action_space.n)) if found is None else np.flatnonzero(found)
        action = int(rng.choice(legal)) + int(env.action_space.start)
        for _, array in arrays_in(list(returned)) if write else ():
            if array.flags.writeable and array.dtype != object:
                array[...] = ~array if array.dtype == np.bool_ else 1 - array
        returned = env.step(action)
        log.append(snapshot(returned))
        if returned[2] or returned[3]:
            returned = env.reset()
            log.append(snapshot(returned))
    return log


def _has_mask(part: Any) -> bool:
    return isinstance(part, dict) and "action_mask" in part
