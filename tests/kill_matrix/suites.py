"""The suites that are compared, each as a function that says by what it kills, or returns None.

The public ones get every chance: the arguments their documents recommend, several seat counts, legal actions where they
would sample illegal ones, and a warning beyond the known ones counts as a kill.
"""

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from tests.kill_matrix import hooks
from tests.kill_matrix.fault import AEC, FOREIGN, SOLO, TABLE, V0, VECTOR

# Given to clean environments.
KNOWN_WARNINGS = (
    "Observation is not a NumPy array",  # by api_test, to every Dict whose environment is not on a list of names
    "Observation space for each agent probably should be",  # likewise
)
ASK_HOOKS = ("seeding", "hidden information", "referee", "conservation", "scalar", "returns")
SUBJECTS = ("foreign", "aec", "solo", "vector", "game")  # what can be under check
SEATS = hooks.SEATS
AEC_MAKERS: dict[str, Callable[..., Any]] = {"foreign": hooks.make_foreign, "aec": hooks.make_poison_aec}


def subjects_of(file: str) -> tuple[str, ...]:
    """Return the environments that a fault in a file is in."""
    known = {
        FOREIGN: ("foreign",),
        AEC: ("aec",),
        V0: ("aec",),
        SOLO: ("solo",),
        TABLE: ("solo", "vector"),
        VECTOR: ("vector",),
    }
    return known.get(file, ("aec", "solo", "vector", "game"))


class Killed(Exception):
    """A suite has found something."""


class LegalDiscrete(spaces.Discrete):
    """An action space whose unmasked samples are legal now: for checkers that know no masks."""

    def __init__(self, size: int, mask: Callable[[], Any]) -> None:
        super().__init__(size)
        self._now = mask

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Return a legal action, or any when none is."""
        found = self._now() if mask is None else mask
        return super().sample(np.asarray(found, np.int8) if found is not None and np.any(found) else None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, spaces.Discrete) and self.n == other.n

    def __deepcopy__(self, memo: dict[int, Any]) -> spaces.Discrete:
        return spaces.Discrete(int(self.n))


@contextmanager
def no_new_warnings() -> Iterator[None]:
    """Let a warning beyond the known ones kill."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if not any(known in str(warning.message) for known in KNOWN_WARNINGS):
            raise Killed(f"warning: {warning.message}")


def pettingzoo(subject: str) -> None:
    """Run PettingZoo's tests for AEC environments and, through the conversion, for parallel ones."""
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test
    from pettingzoo.test.state_test import state_test
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel

    make = AEC_MAKERS[subject]

    def legally(num_seats: int) -> Any:
        env = make(num_seats=num_seats)
        for agent, space in env.action_spaces.items():
            now = lambda env=env, agent=agent: env.infos.get(agent, {}).get("action_mask")  # noqa: E731  # binds both
            env.action_spaces[agent] = LegalDiscrete(int(space.n), now)
        return env

    for seats in SEATS:
        with no_new_warnings():
            api_test(make(num_seats=seats))
            seed_test(lambda seats=seats: make(num_seats=seats))
            render_test(lambda seats=seats, **mode: make(num_seats=seats, **mode))
            parallel_api_test(turn_based_aec_to_parallel(make(num_seats=seats)))
            parallel_seed_test(lambda seats=seats: turn_based_aec_to_parallel(legally(seats)))
            state_test(legally(seats), turn_based_aec_to_parallel(legally(seats)), num_cycles=100)


def _solo(**options: Any) -> Any:
    made = gymnasium.make(
        "poison_env/Poison-v0", num_rounds=1, on_illegal="truncate", disable_env_checker=True, **options
    )
    return made.unwrapped


def _solo_legal(**options: Any) -> Any:
    """Return one whose steps take any number for a legal action: Gymnasium's checker keeps one over a reset."""
    env = _solo(**options)
    step = env.step

    def legal_step(action: Any) -> Any:
        legal = np.flatnonzero(env.action_masks())
        return step(legal[int(action) % len(legal)] if len(legal) and action not in legal else action)

    env.step = legal_step
    return env


def _for_checkers(check: Callable[[Any], None], *makers: Callable[..., Any]) -> None:
    for seats in SEATS:
        for options in ({}, {"scaled": True}, {"flat": True}):
            for make in makers:
                env = make(num_seats=seats, render_mode="ansi", **options)
                with no_new_warnings():
                    check(env)


def gymnasium_check(subject: str) -> None:
    """Run Gymnasium's checker on the environment of one learner; it refuses episodes that one move ends."""
    from gymnasium.utils.env_checker import check_env

    _for_checkers(check_env, _solo_legal)


def stable_baselines3(subject: str) -> None:
    """Run Stable-Baselines3's checker on the environment of one learner, with and without legal samples."""
    from stable_baselines3.common.env_checker import check_env

    _for_checkers(lambda env: check_env(env, warn=True, skip_render_check=False), _solo, _solo_legal)


def _ours(subject: str) -> tuple[Mapping[str, Any], dict[str, Any], list[Callable[..., Any]]]:
    """Return our checks of an environment, the hooks, and the checker, once for each seat count."""
    from poison_env.testing import aec, game, vector

    if subject in AEC_MAKERS:
        ways = [
            partial(aec.check_aec, partial(AEC_MAKERS[subject], render_mode="ansi"), seats=(seats,)) for seats in SEATS
        ]
        return aec.CHECKS, hooks.AEC_HOOKS[subject], ways
    if subject == "game":
        return game.CHECKS, hooks.GAME_HOOKS, [partial(game.check_game, hooks.make_game())]
    if subject == "solo":  # as the checkers see it: what is illegal ends the episode
        return vector.CHECKS, hooks.SOLO_HOOKS, [partial(vector.check_vector, hooks.make_truncating_vector)]
    return vector.CHECKS, hooks.VECTOR_HOOKS, [partial(vector.check_vector, hooks.make_vector)]


def ours(subject: str, *, with_hooks: bool, chosen: Collection[str] | None = None) -> None:
    """Run poison_env.testing check by check; the first that finds something is enough."""
    checks, known, ways = _ours(subject)
    for check in checks if chosen is None else chosen:
        for way in ways:
            report = way(skip=set(checks) - {check}, **(known if with_hooks else {}))
            if not report.ok:
                raise Killed(f"{check}: {report.findings[0].what}")


def ours_without_hooks(subject: str) -> None:
    """Run poison_env.testing with nothing told about the game."""
    ours(subject, with_hooks=False)


def ours_with_hooks(subject: str) -> None:
    """Run the checks of poison_env.testing that ask hooks; the others have run without."""
    ours(subject, with_hooks=True, chosen=[check for check in _ours(subject)[0] if check in ASK_HOOKS])


SUITES: dict[str, tuple[Callable[[str], None], tuple[str, ...]]] = {  # with what they can check
    "PettingZoo": (pettingzoo, ("foreign", "aec")),
    "Gymnasium": (gymnasium_check, ("solo",)),
    "SB3": (stable_baselines3, ("solo",)),
    "ours, no hooks": (ours_without_hooks, ("foreign", "aec", "vector", "game")),
    "ours, hooks": (ours_with_hooks, SUBJECTS),
}
