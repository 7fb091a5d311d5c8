"""What the tests of the AEC environment share."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pettingzoo
from gymnasium import spaces

from poison_env import poison_v0
from poison_env.adapters.aec import MatchEnv
from poison_env.core.protocol import State

SEAT_COUNTS = (2, 3, 4, 5, 6)
CONSTRUCTORS: dict[str, Callable[..., MatchEnv]] = {
    "env": poison_v0.env,
    "raw_env": poison_v0.raw_env,
    "registered": partial(pettingzoo.make, "aec", "poison_env/poison-v0"),
}


def legal(env: MatchEnv) -> npt.NDArray[np.int64]:
    """Return the legal actions of the agent to move; none when it has finished."""
    return np.flatnonzero(env.infos[env.agent_selection]["action_mask"])


def choose(env: MatchEnv, salt: int = 0) -> int | None:
    """Choose a legal action, the same one for the same position and `salt`; None for an agent that has finished."""
    actions = legal(env)
    return (
        int(actions[(7919 * (len(actions) + salt) + int(env.state().sum())) % len(actions)]) if len(actions) else None
    )


def advance(env: MatchEnv, steps: int, salt: int = 0) -> None:
    """Take so many steps, or fewer if the episode ends before."""
    for _ in range(steps):
        if env.agents:
            env.step(choose(env, salt))


def advance_to_end_of_match(env: MatchEnv, salt: int = 0) -> None:
    """Play until the agents have finished, before any of them takes its last step."""
    while not any(env.terminations.values()):
        env.step(choose(env, salt))


def transcript(env: MatchEnv, salt: int = 0) -> Iterator[Any]:
    """Play to the end of the episode, handing out everything there is to see before each step, in plain values."""
    while env.agents:
        seen, paid, terminated, truncated, info = env.last()
        action = choose(env, salt)
        yield plain((env.agent_selection, seen, paid, terminated, truncated, info, env.state(), env.rewards, action))
        env.step(action)


def match(env: MatchEnv, salt: int = 0) -> list[Any]:
    """Return the transcript from here to the end of the episode."""
    return list(transcript(env, salt))


def plain(value: Any) -> Any:
    """Return a value with arrays as lists and their type, and objects by what they hold, so that == compares it."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, dict | spaces.Dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, State):
        return plain(vars(value))
    if isinstance(value, spaces.Space):
        return [repr(value), value._np_random and value.np_random.bit_generator.state]
    return value


def everything(env: MatchEnv) -> dict[str, Any]:
    """Return all that the environment holds, the hidden state and the generators of its spaces included."""
    return plain(vars(env))
