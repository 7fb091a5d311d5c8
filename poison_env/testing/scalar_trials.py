"""What a single environment, which the slots of a vector are compared with, does when it is tried by itself."""

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from poison_env.testing.compare import arrays_in, difference, overwrite, snapshot

Found = Iterator[tuple[str, str]]
STEPS = 60


def scalar_alone(make_env: Callable[[], gymnasium.Env[Any, Any]], seed: int) -> Found:
    """Re-seeded it is as fresh; writing into what it returned changes nothing; illegal actions do not go through."""
    expected, env = _play(make_env(), seed, STEPS), make_env()
    for steps in (3, STEPS):
        _play(env, seed + 7, steps)
        if (why := difference(expected, _play(env, seed, STEPS))) is not None:
            yield f"the scalar environment, re-seeded after {steps} steps, differs from a fresh one: {why}", "scalar"
            break
    if (why := difference(expected, _play(make_env(), seed, STEPS, write=True))) is not None:
        yield f"writing into what the scalar environment returned has changed it: {why}", "scalar"
    if (why := difference(expected, _play(make_env(), seed, STEPS, look=True))) is not None:
        yield f"rendering the scalar environment has changed it: {why}", "scalar"
    for flag in (flag for step in expected if len(step) == 5 for flag in step[2:4]):
        if type(flag) is not bool:
            yield f"terminated and truncated of the scalar environment: expected bool, got {type(flag)}", "scalar"
    yield from _illegal(make_env(), seed, expected[0])


def _illegal(env: gymnasium.Env[Any, Any], seed: int, first: Any) -> Found:
    observation, info = env.reset(seed=seed)
    mask = next((part["action_mask"] for part in (observation, info) if _has_mask(part)), None)
    forbidden = [] if mask is None else np.flatnonzero(np.asarray(mask) == 0).tolist()
    if not forbidden or not isinstance(env.action_space, spaces.Discrete):
        return
    action = forbidden[0] + int(env.action_space.start)
    try:
        _, _, terminated, truncated, _ = env.step(action)
    except Exception:
        return
    if not (terminated or truncated):
        yield f"the scalar environment accepts action {action}, which the mask forbids", "scalar"
    elif (why := difference(first, snapshot(env.reset(seed=seed)))) is not None:
        yield f"after an illegal action ended an episode, the scalar environment begins otherwise: {why}", "scalar"


def _play(env: gymnasium.Env[Any, Any], seed: int, steps: int, *, write: bool = False, look: bool = False) -> list[Any]:
    """Return what a seeded environment gives for some legal actions, over the ends of episodes."""
    assert isinstance(env.action_space, spaces.Discrete), f"expected a Discrete action space, got {env.action_space}"
    returned: Any = env.reset(seed=seed)
    rng, log = np.random.default_rng(seed), [snapshot(returned)]
    for _ in range(steps):
        found = next((part["action_mask"] for part in (returned[0], returned[-1]) if _has_mask(part)), None)
        legal = np.arange(int(env.action_space.n)) if found is None else np.flatnonzero(found)
        action = int(rng.choice(legal)) + int(env.action_space.start)
        for _, array in arrays_in(list(returned)) if write else ():
            overwrite(array)
        if look and env.render_mode in ("ansi", "rgb_array"):
            env.render()
        returned = env.step(action)
        log.append(snapshot(returned))
        if returned[2] or returned[3]:
            returned = env.reset()
            log.append(snapshot(returned))
    return log


def _has_mask(part: Any) -> bool:
    return isinstance(part, dict) and "action_mask" in part
