"""check_aec: does a PettingZoo environment keep its contract, and the rules?"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from poison_env.testing import aec_conduct, aec_trials
from poison_env.testing.aec_case import AECCase, Env, Referee
from poison_env.testing.report import Report, check_numbers, run_checks, with_arguments

CHECKS = {
    "interface": aec_conduct.interface,
    "types": aec_conduct.types,
    "masks": aec_conduct.masks,
    "legality": aec_trials.legality,
    "rewards": aec_conduct.rewards,
    "life cycle": aec_conduct.life_cycle,
    "seeding": aec_trials.seeding,
    "aliasing": aec_trials.aliasing,
    "purity": aec_trials.purity,
    "deepcopy": aec_trials.deepcopy,
    "pickle": aec_trials.pickling,
    "hidden information": aec_trials.hidden_information,
    "referee": aec_conduct.referee,
    "conservation": aec_conduct.conservation,
}
HOOKS = {"hidden information": "redeal", "referee": "referee", "conservation": "conserved"}


def check_aec(
    make_env: Callable[..., Env],
    *,
    redeal: Callable[[Env, Any, int], Env | None] | None = None,
    referee: Callable[[Env], Referee] | None = None,
    conserved: Callable[[Env], Any] | None = None,
    seats: Sequence[int] = (),
    seed: int = 0,
    episodes: int = 3,
    max_steps: int = 20_000,
    skip: Collection[str] = (),
    name: str | None = None,
) -> Report:
    """Check a PettingZoo environment, any one, by playing it; report what is wrong and how to see it again.

    Every check makes its own environments. The mask may stand in the observation or in the info.

    Args:
        make_env: returns a fresh environment; called as `make_env(num_seats=n)` for each n of `seats`.
        redeal: `redeal(env, agent, seed)` draws anew, in place, all that the agent cannot know (or returns another
            environment); for "hidden information".
        referee: `referee(env)` is asked after each reset for an independent account of the rules; for "referee". By an
            attribute `truncated` it may say that a match is over by a limit.
        conserved: `conserved(env)` returns what must be the same at all times in all episodes; for "conservation".
        seats: the seat counts to check; none to call `make_env()`.
        seed: of the first episode; others follow.
        episodes: how many seeds most checks look at.
        max_steps: an episode that is longer is a finding.
        skip: names of checks to leave out, see `CHECKS`.
        name: how reports call the environment; made of `make_env` unless given.

    Raises:
        ValueError: `skip` names no check, a number is too small, or a hook cannot be called.
    """
    unknown = set(skip) - set(CHECKS)
    if unknown:
        raise ValueError(f"skip: expected names of checks ({', '.join(CHECKS)}), got {', '.join(sorted(unknown))}")
    hooks = {"redeal": redeal, "referee": referee, "conserved": conserved}
    check_numbers(seed, hooks, episodes=episodes, max_steps=max_steps)
    for given in [{"num_seats": number} for number in seats] or [{}]:
        make_env(**given)  # what cannot be made is an error of the caller
    called = name or getattr(make_env, "__qualname__", None) or repr(make_env)

    def case(num_seats: int | None) -> AECCase:
        given = "" if num_seats is None else f"num_seats={num_seats}"
        return AECCase(
            with_arguments(called, given),
            make_env if num_seats is None else lambda: make_env(num_seats=num_seats),
            num_seats=num_seats,
            redeal=redeal,
            referee=referee,
            conserved=conserved,
            seed=seed,
            episodes=episodes,
            max_steps=max_steps,
        )

    skipped = {check: f"no hook {hook}" for check, hook in HOOKS.items() if hooks[hook] is None}
    skipped |= dict.fromkeys(skip, "left out")
    return run_checks(called, [case(number) for number in seats] or [case(None)], CHECKS, skipped)
