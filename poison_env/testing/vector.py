"""check_vector: does a Gymnasium vector environment keep its contract, in every autoreset mode?"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import gymnasium
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from poison_env.testing import vector_conduct, vector_trials
from poison_env.testing.report import Report, check_numbers, run_checks
from poison_env.testing.vector_case import VectorCase

CHECKS = {
    "interface": vector_conduct.interface,
    "masks": vector_conduct.masks,
    "seeding": vector_conduct.seeding,
    "autoreset": vector_conduct.autoreset,
    "resets": vector_trials.resets,
    "legality": vector_trials.legality,
    "aliasing": vector_trials.aliasing,
    "scalar": vector_conduct.scalar,
    "returns": vector_conduct.returns,
}


def check_vector(
    make_env: Callable[..., Any],
    *,
    scalar: Callable[[], gymnasium.Env[Any, Any]] | None = None,
    returns: Callable[[Any], npt.ArrayLike] | None = None,
    modes: Sequence[AutoresetMode] = tuple(AutoresetMode),
    seed: int = 0,
    episodes: int = 4,
    max_steps: int = 20_000,
    skip: Collection[str] = (),
    name: str | None = None,
) -> Report:
    """Check a Gymnasium vector environment with discrete actions, any one, by playing it in every autoreset mode.

    Args:
        make_env: called as `make_env(num_envs=n, autoreset_mode=mode)`.
        scalar: makes the single environment that each slot should be; for "scalar".
        returns: `returns(env)` gives what the learner has truly earned in the running, or just ended, episode of each
            slot, (num_envs,); for "returns", which needs the mode DISABLED.
        modes: the autoreset modes that the environment has.
        seed: of the first slot.
        episodes: how many a slot plays in the longer checks.
        max_steps: episodes that have not ended by then are a finding.
        skip: names of checks to leave out, see `CHECKS`.
        name: how reports call the environment; made of `make_env` unless given.

    Raises:
        ValueError: `skip` names no check, there are no modes, a number is too small, or a hook cannot be called.
    """
    unknown = set(skip) - set(CHECKS)
    if unknown or not modes:
        raise ValueError(f"expected some modes, and of skip names of {', '.join(CHECKS)}; got {modes}, {skip}")
    check_numbers(seed, {"scalar": scalar, "returns": returns}, episodes=episodes, max_steps=max_steps)
    make_env(num_envs=1, autoreset_mode=modes[0]).close()  # what cannot be made is an error of the caller
    called = name or getattr(make_env, "__qualname__", None) or repr(make_env)
    case = VectorCase(
        called,
        make_env,
        scalar=scalar,
        returns=returns,
        modes=modes,
        seed=seed,
        episodes=episodes,
        max_steps=max_steps,
    )
    skipped = {} if scalar is not None else {"scalar": "no hook scalar"}
    if returns is None:
        skipped["returns"] = "no hook returns"
    elif AutoresetMode.DISABLED not in modes:
        skipped["returns"] = "needs the mode DISABLED"
    return run_checks(called, [case], CHECKS, skipped | dict.fromkeys(skip, "left out"))
