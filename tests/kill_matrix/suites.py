"""The suites that are compared, each as a function that says by what it kills, or returns None.

The public ones get every chance: the arguments their documents recommend, several seat counts, legal actions where they
would sample illegal ones, and a warning beyond the known ones counts as a kill.
"""

import warnings
from collections.abc import Callable, Iterator
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
    "is being initialised with render_mode='ansi'",  # by gymnasium.make: a game's modes are known to instances alone
)
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


def ours(subject: str, *, with_hooks: bool) -> None:
    """Run poison_env.testing."""
    for report in reports(subject, with_hooks=with_hooks):
        if not report.ok:
            checks = dict.fromkeys(finding.check for finding in report.findings)
            raise Killed(f"{', '.join(checks)}: {report.findings[0].what}")


def reports(subject: str, *, with_hooks: bool) -> Iterator[Any]:
    """Yield our suite's reports on an environment."""
    from poison_env import testing

    known: dict[str, Any] = {}
    if subject == "foreign":
        if with_hooks:
            known = {
                "redeal": hooks.redeal_foreign,
                "referee": hooks.ForeignReferee,
                "conserved": hooks.foreign_cards,
            }
        for seats in SEATS:  # one after the other: the first that finds something is enough
            yield testing.check_aec(partial(hooks.make_foreign, render_mode="ansi"), seats=(seats,), **known)
    elif subject == "aec":
        if with_hooks:
            known = {"redeal": hooks.redeal_poison, "referee": hooks.poison_referee, "conserved": hooks.poison_cards}
        for seats in SEATS:
            yield testing.check_aec(partial(hooks.make_poison_aec, render_mode="ansi"), seats=(seats,), **known)
    elif subject == "game":
        game = hooks.make_game()
        if with_hooks:
            known = {
                "referee": lambda state: hooks.SeatReferee(game, state),
                "conserved": lambda state: hooks.cards_of_matches(game, state),
            }
        yield testing.check_game(game, **known)
    elif subject == "vector" or with_hooks:  # the environment alone is compared with its slots
        if with_hooks:
            known = {"scalar": hooks.make_vector_scalar, "returns": hooks.learners_returns}
        yield testing.check_vector(hooks.make_vector, **known)


def ours_without_hooks(subject: str) -> None:
    """Run poison_env.testing with nothing told about the game."""
    ours(subject, with_hooks=False)


def ours_with_hooks(subject: str) -> None:
    """Run poison_env.testing with its hooks."""
    ours(subject, with_hooks=True)


SUITES: dict[str, tuple[Callable[[str], None], tuple[str, ...]]] = {  # with what they can check
    "PettingZoo": (pettingzoo, ("foreign", "aec")),
    "Gymnasium": (gymnasium_check, ("solo",)),
    "SB3": (stable_baselines3, ("solo",)),
    "ours, no hooks": (ours_without_hooks, ("foreign", "aec", "vector", "game")),
    "ours, hooks": (ours_with_hooks, SUBJECTS),
}
