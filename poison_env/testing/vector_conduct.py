"""What a vector environment shows and pays while whole episodes are played, in every autoreset mode."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from poison_env.testing.compare import GlobalRandomness, difference, misfit
from poison_env.testing.scalar_trials import scalar_alone
from poison_env.testing.vector_case import SLOTS, Drive, VectorCase, masks_in

Found = Iterator[tuple[str, str]]


def interface(case: VectorCase) -> Found:
    """Spaces, metadata, what `reset` and `step` return: shapes, types, masks of infos."""
    for mode, drive in {mode: Drive(case, mode) for mode in case.modes}.items():  # all made before any is looked at
        env, name = drive.env, mode.name
        if env.num_envs != SLOTS:
            yield f"num_envs: expected {SLOTS}, got {env.num_envs}", name
        if env.metadata.get("autoreset_mode") is not mode:
            yield f"metadata['autoreset_mode']: expected {mode}, got {env.metadata.get('autoreset_mode')!r}", name
        for batched, single in (("observation_space", "single_observation_space"), ("action_space",) * 2):
            one = getattr(env, single if single != batched else "single_action_space")
            if getattr(env, batched) != batch_space(one, SLOTS):
                yield f"{batched}: expected batch_space of the single one, got {getattr(env, batched)}", name
        drive.reset(case.seed)
        for at in range(40):
            if (why := misfit(env.observation_space, drive.observation)) is not None:
                yield f"observation: {why}", f"{name}, step {at}"
            yield from ((what, f"{name}, step {at}") for what in _malformed(drive.infos))
            _, rewards, terminated, truncated, _ = drive.step()
            for what, given, kinds in (
                ("rewards", rewards, "f"),
                ("terminated", terminated, "b"),
                ("truncated", truncated, "b"),
            ):
                if not isinstance(given, np.ndarray) or given.shape != (SLOTS,) or given.dtype.kind not in kinds:
                    got = f"{given.dtype} {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__
                    yield f"{what}: expected an array ({SLOTS},) of kind {kinds!r}, got {got}", f"{name}, step {at}"
    metadata = [Drive(case, mode).env.metadata["autoreset_mode"] for mode in case.modes]
    if metadata != list(case.modes):
        yield "metadata is shared between environments of different autoreset modes", ""


def _malformed(infos: dict[str, Any]) -> Iterator[str]:
    for name in infos:
        if name.startswith("_"):
            continue
        has = infos.get(f"_{name}")
        if not isinstance(has, np.ndarray) or has.shape != (SLOTS,) or has.dtype != np.bool_:
            yield f"infos: expected a boolean array ({SLOTS},) at '_{name}' beside {name!r}"


def masks(case: VectorCase) -> Found:
    """Masks: observation and infos agree, some action for slots that go on and none for those that are over."""
    for mode in case.modes:
        drive = Drive(case, mode).reset(case.seed)
        for at in range(60):
            found = drive.masks()
            where = f"{mode.name}, step {at}"
            if found is None and at and drive.over.all():  # infos need not say that nobody may act
                drive.step()
                continue
            if found is None:
                if at:
                    yield "mask: there was one, and is none now", where
                return
            if not np.isin(found, (0, 1)).all():
                yield f"mask: expected 0 and 1, got {np.unique(found).tolist()}", where
            in_infos = masks_in(None, drive.infos)
            if in_infos is not None and drive.infos["_action_mask"].all() and not np.array_equal(found, in_infos):
                yield "mask: observation and infos disagree", where
            empty = ~np.any(found, axis=1)
            if (empty & ~drive.over).any():
                yield f"mask: allows no action in slot {int(np.argmax(empty & ~drive.over))}, which goes on", where
            if (~empty & drive.over).any():
                yield f"mask: allows actions in slot {int(np.argmax(~empty & drive.over))}, which is over", where
            drive.step()


def seeding(case: VectorCase) -> Found:
    """The same seeds give the same episodes, in any batch; one number gives slot i that number + i."""
    shared = GlobalRandomness()
    mode = case.modes[0]
    seeds = [case.seed + slot for slot in range(SLOTS)]
    try:
        shared.disturb(1)
        before = shared.fingerprint()
        expected = Drive(case, mode).reset(case.seed).play(2)
        if shared.fingerprint() != before:
            yield "draws from Python's or NumPy's global generator", ""
        shared.disturb(2)
        yield from same_episodes(
            expected, Drive(case, mode).reset(case.seed).play(2), "two instances with the same seed"
        )
    finally:
        shared.restore()
    yield from same_episodes(
        expected, Drive(case, mode).reset(seeds).play(2), "reset(seed=s) and reset(seed=[s, s + 1, ...])"
    )
    for steps in (3, 40):
        drive = Drive(case, mode).reset(case.seed + 7)
        for _ in range(steps):
            drive.step()
        drive.episodes, drive.over = [[] for _ in range(SLOTS)], np.zeros(SLOTS, bool)
        yield from same_episodes(
            expected, drive.reset(case.seed).play(2), f"an instance re-seeded after {steps} steps and a fresh one"
        )
    for slot in range(SLOTS):
        alone = Drive(case, mode, 1, number=slot).reset([seeds[slot]]).play(2).episodes[0]
        if (why := first_difference(expected.episodes[slot], alone)) is not None:
            yield f"a slot differs from the same seed in an environment of one slot: {why}", f"slot {slot}"
    starts = [slot[0].first for slot in expected.episodes]
    if any(difference(starts[0], start) for start in starts):  # chance matters
        same = [slot for slot, each in enumerate(expected.episodes) if not difference(each[0].first, each[1].first)]
        for slot in same:
            if _rich(case) or _repeats(case, slot):
                yield "the episode after the seeded one begins like it", f"slot {slot}"


def _rich(case: VectorCase) -> bool:
    """Tell whether 64 seeds give 64 beginnings: that two episodes begin alike is then no chance."""
    drive = Drive(case, case.modes[0], 64).reset(case.seed)
    starts = [each[0].first for each in drive.episodes]
    return all(difference(one, two) for at, one in enumerate(starts) for two in starts[:at])


def _repeats(case: VectorCase, slot: int) -> bool:
    episodes = Drive(case, case.modes[0]).reset(case.seed).play(10).episodes[slot]
    return all(difference(episodes[0].first, episode.first) is None for episode in episodes)


def same_episodes(expected: Drive, actual: Drive, what: str) -> Found:
    """Find the first slot in which two drives have played other episodes."""
    for slot in range(SLOTS):
        if (why := first_difference(expected.episodes[slot], actual.episodes[slot])) is not None:
            yield f"{what} differ: {why}", f"slot {slot}"
            return


def first_difference(expected: list[Any], actual: list[Any]) -> str | None:
    """Return the first difference between two lists of episodes, in what both have; None without one."""
    for at, (one, two) in enumerate(zip(expected, actual, strict=False)):
        if (why := one.differs(two)) is not None:
            return f"episode {at}: {why}"
    return None


def autoreset(case: VectorCase) -> Found:
    """Every mode plays the same episodes, terminal observations, infos and rewards included."""
    driven = {mode: Drive(case, mode).reset(case.seed).play(case.episodes) for mode in case.modes}
    for mode, drive in driven.items():
        yield from ((what, f"{mode.name}, {where}") for what, where in drive.wrong)
    reference = driven.get(AutoresetMode.DISABLED)  # the simplest one: nothing happens by itself
    for mode, drive in driven.items():
        if reference is not None and mode is not AutoresetMode.DISABLED:
            yield from same_episodes(reference, drive, f"the episodes under DISABLED and {mode.name}")


def scalar(case: VectorCase) -> Found:
    """Each slot is the scalar environment, in every mode, as Gymnasium's own vector of them; it is sound itself."""
    assert case.scalar is not None
    yield from scalar_alone(case.scalar, case.seed)
    for mode in case.modes:
        expected = case.reference(mode).reset(case.seed).play(case.episodes)
        actual = Drive(case, mode).reset(case.seed).play(case.episodes)
        yield from same_episodes(expected, actual, f"the scalar environment and its slot under {mode.name}")
        yield from _refuses_alike(case, mode)


def _refuses_alike(case: VectorCase, mode: AutoresetMode) -> Found:
    """An action that the mask forbids raises in both, or in neither."""
    told = {}
    for name, drive in (("scalar environment", case.reference(mode)), ("vector", Drive(case, mode))):
        drive.reset(case.seed)
        found = masks_in(drive.observation, drive.infos)
        if found is None or found.all():
            return
        slot, action = (int(index[0]) for index in np.nonzero(found == 0))
        try:
            drive.step(np.where(np.arange(SLOTS) == slot, action, drive.actions()))
            told[name] = "accepts it"
        except Exception as error:
            told[name] = f"raises {type(error).__name__}"
    if len({said == "accepts it" for said in told.values()}) == 2:
        what = ", ".join(f"the {name} {said}" for name, said in told.items())
        yield f"an action that the mask forbids: {what}", f"{mode.name}, slot {slot}, action {action}"


def returns(case: VectorCase) -> Found:
    """The rewards of each episode sum to what the hook says the learner has earned."""
    drive = Drive(case, AutoresetMode.DISABLED).reset(case.seed)
    drive.watch = case.returns
    told = [0] * SLOTS
    for _ in range(case.max_steps):
        drive.step()
        for slot, episodes in enumerate(drive.episodes):
            ended = [episode for episode in episodes if episode.over]
            if len(ended) > told[slot]:
                told[slot] = len(ended)
                true = float(drive.true_returns[slot])
                if not np.isclose(ended[-1].earned, true, rtol=1e-6, atol=1e-6):
                    yield (
                        f"an episode's rewards sum to {ended[-1].earned}, the learner has earned {true}",
                        f"slot {slot}",
                    )
        if min(told) >= 3 * case.episodes:
            return
