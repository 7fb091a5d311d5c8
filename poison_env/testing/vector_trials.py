"""What a vector environment does when it is tried: steps after the end, illegal actions, writing into its returns."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from poison_env.testing.compare import arrays_in, difference, overwrite, snapshot
from poison_env.testing.report import literal
from poison_env.testing.vector_case import SLOTS, Drive, VectorCase, slot_of
from poison_env.testing.vector_conduct import first_difference, same_episodes

Found = Iterator[tuple[str, str]]


def resets(case: VectorCase) -> Found:
    """NEXT_STEP ignores the action of a slot that is over; DISABLED refuses to step it and resets those of the mask."""
    if AutoresetMode.NEXT_STEP in case.modes:
        yield from _ignored_action(case)
    if AutoresetMode.DISABLED not in case.modes:
        return
    (refusing, _), (whole, _) = _first_end(case), _first_end(case)
    over = refusing.over
    try:
        refusing.env.step(refusing.actions())  # legal in the slots that go on: nothing else is to be refused
    except Exception:
        refusing.log.add("# one more step was refused")
    else:
        yield "DISABLED: a slot that is over is stepped without an error", f"slot {int(np.argmax(over))}"
        return
    anew, _ = whole.env.reset()  # every slot's next episode: what the mask must begin in its own slots
    drive, kept = _first_end(case)
    for each in (refusing, drive):
        options = {"reset_mask": over.copy()}
        each.case.log = each.log
        each.log.add(f"env.reset(options={literal(options)})")
        fresh, _ = each.env.reset(options=options)
        for slot in range(SLOTS):
            same = difference(slot_of(kept, slot), slot_of(fresh, slot)) is None
            if not over[slot] and not same and each is drive:
                yield "reset_mask: a slot that the mask does not name has changed", f"slot {slot}"
            if over[slot] and same and difference(slot_of(kept, slot), slot_of(anew, slot)) is not None:
                yield "reset_mask: a slot that the mask names has not begun again", f"slot {slot}"


def _first_end(case: VectorCase) -> tuple[Drive, Any]:
    """Return an environment of the mode DISABLED in which a slot has just ended, and a copy of what it showed."""
    drive = Drive(case, AutoresetMode.DISABLED).reset(case.seed)
    for _ in range(case.max_steps):
        actions = drive.actions()
        drive.log.step(actions.tolist())
        drive.observation, _, terminated, truncated, drive.infos = drive.env.step(actions)
        drive.over = terminated | truncated
        if drive.over.any():
            return drive, snapshot(drive.observation)
        for slot in range(SLOTS):
            drive.episodes[slot][-1].steps.append((0, None, 0.0, False, False, {}))
    raise AssertionError(f"no slot has ended an episode after {case.max_steps} steps")


def _ignored_action(case: VectorCase) -> Found:
    first, second = (Drive(case, AutoresetMode.NEXT_STEP).reset(case.seed) for _ in range(2))
    size, start = int(first.env.single_action_space.n), int(first.env.single_action_space.start)
    for _ in range(case.max_steps):
        actions = first.actions()
        others = np.where(first.over, (actions - start + 1) % size + start, actions)
        ended = first.over.any()
        first.step(actions)
        second.step(others)
        if ended:
            yield from _same_now(first, second, "the action of a slot that is over is not ignored under NEXT_STEP")
            return


def _same_now(first: Drive, second: Drive, what: str) -> Found:
    for slot in range(SLOTS):
        one, two = slot_of(first.observation, slot), slot_of(second.observation, slot)
        if (why := difference(one, two)) is not None:
            yield f"{what}: {why}", f"slot {slot}"


def legality(case: VectorCase) -> Found:
    """Each action that the mask allows is accepted; another one is refused, nothing changed, or ends its slot alone."""
    mode = AutoresetMode.DISABLED if AutoresetMode.DISABLED in case.modes else case.modes[0]
    expected = Drive(case, mode).reset(case.seed)
    if expected.masks() is None:
        return
    expected.play(2)
    for at in (0, 1, 5, 12):
        for bad in range(3):
            drive = Drive(case, mode).reset(case.seed)
            for _ in range(at):
                drive.step()
            actions, found = drive.actions(), drive.masks()
            assert found is not None
            slot, size, start = (at + bad) % SLOTS, found.shape[1], int(drive.env.single_action_space.start)
            illegal = np.flatnonzero(found[slot] == 0)
            wrong = (int(illegal[at % len(illegal)]) if len(illegal) else -1, -1, size)[bad]
            yield from _try(drive, expected, np.where(np.arange(SLOTS) == slot, wrong + start, actions), slot)


def _try(drive: Drive, expected: Drive, actions: npt.NDArray[np.int64], slot: int) -> Found:
    where, wrong = f"step {len(drive.episodes[slot][-1].steps)}, slot {slot}", int(actions[slot])
    try:
        returned = drive.step(actions)
    except Exception:
        drive.log.add(f"# the last step, action {wrong} in slot {slot}, was refused")
        drive.play(1)
        yield from same_episodes(expected, drive, f"after action {wrong} was refused, this environment and a fresh one")
        return
    if not (returned[2] | returned[3])[slot]:
        yield f"accepts action {wrong}, which the mask forbids", where
        return
    for other in range(SLOTS):
        one, two = expected.episodes[other], drive.episodes[other]
        if other != slot and (why := first_difference(one, two)) is not None:
            yield f"an illegal action in slot {slot} changes slot {other}: {why}", where


def aliasing(case: VectorCase) -> Found:
    """Returned arrays are new, do not change later, and writing into them changes nothing."""
    for mode in case.modes:
        kept: list[tuple[int, str, npt.NDArray[Any], npt.NDArray[Any]]] = []
        drive = Drive(case, mode).reset(case.seed)
        expected = Drive(case, mode).reset(case.seed)
        for at in range(60):
            now = [*arrays_in(drive.observation, "observation"), *arrays_in(drive.infos, "infos")]
            for place, (name, array) in enumerate(now):
                for other_name, other in now[place + 1 :]:
                    if np.shares_memory(array, other):
                        yield f"{name} and {other_name} share memory", f"{mode.name}, step {at}"
            for index, name, array, copied in kept[-3 * len(now) :]:
                if difference(copied, array) is not None:
                    yield f"{name} has changed after it was returned", f"{mode.name}, steps {index} and {at}"
                for other_name, other in now:
                    if np.shares_memory(array, other):
                        what = f"{name} and {other_name} of a later step share memory"
                        yield what, f"{mode.name}, steps {index} and {at}"
            kept += [(at, name, array, array.copy()) for name, array in now if array.dtype != object]
            actions = drive.actions()
            drive.step(actions)
            expected.step(actions)
        yield from _written(case, mode)


def _written(case: VectorCase, mode: AutoresetMode) -> Found:
    expected, drive = Drive(case, mode).reset(case.seed), Drive(case, mode).reset(case.seed)
    for at in range(60):
        actions = expected.actions()
        found = [*arrays_in(drive.observation), *arrays_in(drive.infos)]
        for _, array in found:
            overwrite(array)
        expected.step(actions)
        drive.step(actions)
        for slot in range(SLOTS):
            one, two = (slot_of(each.observation, slot) for each in (expected, drive))
            if (why := difference(one, two)) is not None:
                yield f"writing into returned arrays has changed the environment: {why}", f"{mode.name}, step {at}"
                return
