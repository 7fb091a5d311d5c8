"""check_game: do batched rules keep the contract of `poison_env.core.protocol.Game`?"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy.typing as npt

from poison_env.core.protocol import Game
from poison_env.testing import game_checks
from poison_env.testing.game_case import GameCase, SeatReferee
from poison_env.testing.game_checks import Found
from poison_env.testing.report import Report, check_numbers, run_checks

CHECKS: Mapping[str, Callable[[GameCase], Found]] = {
    "declarations": game_checks.declarations,
    "batches": game_checks.batches,
    "legality": game_checks.legality,
    "observations": game_checks.observations,
    "hidden information": game_checks.hidden_information,
    "rewards": game_checks.rewards,
    "overflow": game_checks.overflow,
    "referee": game_checks.referee,
    "conservation": game_checks.conservation,
}


def check_game(
    game: Game[Any],
    *,
    referee: Callable[[Any], SeatReferee] | None = None,
    conserved: Callable[[Any], npt.ArrayLike] | None = None,
    seed: int = 0,
    skip: Collection[str] = (),
    name: str | None = None,
) -> Report:
    """Check batched rules against the contract of `poison_env.core.protocol.Game`.

    Args:
        game: the rules with their options.
        referee: `referee(state)` is given one freshly dealt match, a batch of one, and returns an independent account
            of the rules; for "referee".
        conserved: `conserved(state)` returns what must be the same in every row at all times, first axis B; for
            "conservation".
        seed: of the matches.
        skip: names of checks to leave out, see `CHECKS`.
        name: how reports call the game; its text form unless given.

    Raises:
        ValueError: `skip` names no check, the seed is below 0, or a hook cannot be called.
    """
    unknown = set(skip) - set(CHECKS)
    if unknown:
        raise ValueError(f"skip: expected names of checks ({', '.join(CHECKS)}), got {', '.join(sorted(unknown))}")
    check_numbers(seed, {"referee": referee, "conserved": conserved})
    called = name or repr(game)
    case = GameCase(called, game, referee=referee, conserved=conserved, seed=seed)
    hooks = {"referee": referee, "conservation": conserved}
    skipped = {check: "no hook" for check, hook in hooks.items() if hook is None} | dict.fromkeys(skip, "left out")
    return run_checks(called, [case], CHECKS, skipped)
