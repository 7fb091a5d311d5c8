"""Driving Gymnasium's vector environments for the checks, in every autoreset mode alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from poison_env.core import chance
from poison_env.testing.compare import difference, snapshot
from poison_env.testing.report import HasWhere, Log, literal, with_arguments

Vector = VectorEnv[Any, Any, Any]
SLOTS = 4


def slot_of(value: Any, slot: int) -> Any:
    """Return one slot's part of batched observations (dicts and tuples of arrays)."""
    if isinstance(value, dict):
        return {name: slot_of(part, slot) for name, part in value.items()}
    if isinstance(value, tuple | list):  # a list: the copy of a tuple
        return tuple(slot_of(part, slot) for part in value)
    return np.asarray(value[slot]).copy() if isinstance(value, np.ndarray) else value[slot]


def infos_of(infos: dict[str, Any], slot: int) -> dict[str, Any]:
    """Return one slot's infos, those whose `_name` says that the slot has one."""
    found = {}
    for name, value in infos.items():
        has = infos.get(f"_{name}")
        if not name.startswith("_") and has is not None and has[slot]:
            found[name] = infos_of(value, slot) if isinstance(value, dict) else slot_of(value, slot)
    return found


def as_in_batch(space: spaces.Space[Any], value: Any) -> Any:
    """Return a single observation with its numbers as a batch holds them: arrays of the space's type."""
    if isinstance(space, spaces.Dict) and isinstance(value, dict) and set(value) == set(space.spaces):
        return {name: as_in_batch(space[name], part) for name, part in value.items()}
    if isinstance(space, spaces.Tuple) and isinstance(value, tuple | list) and len(value) == len(space):
        return tuple(as_in_batch(part, value[at]) for at, part in enumerate(space.spaces))
    if isinstance(space, spaces.Discrete) and isinstance(value, int | np.integer):
        return np.asarray(value, space.dtype)
    return value


def masks_in(observation: Any, infos: dict[str, Any]) -> npt.NDArray[Any] | None:
    """Return the slots' action masks from the observation, or else from the infos; None without any."""
    for place in (observation, infos):
        if isinstance(place, dict) and "action_mask" in place:
            return np.asarray(place["action_mask"])
    return None


@dataclass
class Episode:
    """One episode of one slot: what reset gave, then the steps."""

    first: Any
    first_info: dict[str, Any]
    steps: list[tuple[Any, Any, float, bool, bool, dict[str, Any]]] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Whether its last step ended it."""
        return bool(self.steps) and (self.steps[-1][3] or self.steps[-1][4])

    @property
    def earned(self) -> float:
        """The sum of its rewards."""
        return float(sum(step[2] for step in self.steps))

    def differs(self, other: "Episode") -> str | None:
        """Return the first difference from another episode; None where there is none in what both have."""
        found = difference(self.first, other.first, "first observation")
        found = found or difference(self.first_info, other.first_info, "first info")
        if found:
            return found
        names = ("action", "observation", "reward", "terminated", "truncated", "info")
        for at, (mine, its) in enumerate(zip(self.steps, other.steps, strict=False)):
            for name, one, two in zip(names, mine, its, strict=True):
                found = difference(one, two)
                if found:
                    return f"{name} of step {at}: {found}"
        if self.over and other.over and len(self.steps) != len(other.steps):
            return f"{len(self.steps)} and {len(other.steps)} steps"
        return None


class Drive:
    """A vector environment being driven: slot by slot with actions that depend on episode and step, not on the mode."""

    def __init__(
        self, case: "VectorCase", mode: AutoresetMode, num_envs: int = SLOTS, *, number: int = 0, env: Any = None
    ) -> None:
        self.case = case
        self.mode = mode
        self.number = number  # of the first slot: its actions depend on it
        how = f"num_envs={num_envs}, autoreset_mode={mode}"
        case.log = self.log = Log(with_arguments(case.name if ":" in case.name else "make_env", how))
        self.env: Any = case.make_env(num_envs=num_envs, autoreset_mode=mode) if env is None else env
        self.num_envs = num_envs
        self.episodes: list[list[Episode]] = [[] for _ in range(num_envs)]
        self.wrong: list[tuple[str, str]] = []  # what the autoreset of a step did against its mode
        self.observation: Any = None
        self.infos: dict[str, Any] = {}
        self._masks: npt.NDArray[Any] | None = None  # of the slots that the last reset has left alone
        self.over = np.zeros(num_envs, bool)
        self.watch: Callable[[Any], npt.ArrayLike] | None = None  # asked whenever a slot is over
        self.true_returns = np.zeros(num_envs)

    def reset(self, seed: int | Sequence[int | None] | None = None, *, mask: Any = None) -> "Drive":
        """Begin episodes in all slots, or those of a mask."""
        options = None if mask is None else {"reset_mask": mask}
        self.case.log = self.log
        self.log.add(f"env.reset(seed={seed}, options={literal(options)})")
        before = self.masks()
        self.observation, self.infos = self.env.reset(seed=seed, options=options)
        self._masks = None
        if mask is not None and before is not None and masks_in(self.observation, {}) is None:
            now, fresh = masks_in(None, self.infos), self.infos.get("_action_mask", mask)
            self._masks = before if now is None else np.where(fresh[:, None], now, before)
        rows = np.arange(self.num_envs) if mask is None else np.flatnonzero(mask)
        self._begin(rows)
        self.over[rows] = False
        return self

    def masks(self) -> npt.NDArray[Any] | None:
        """Return the masks of all slots; a reset of some tells the infos of those alone. None without any."""
        return masks_in(self.observation, self.infos) if self._masks is None else self._masks

    def _begin(self, rows: npt.NDArray[np.int64]) -> None:
        for slot in rows.tolist():
            infos = {name: value for name, value in self.infos.items() if not name.lstrip("_").startswith("final_")}
            first = snapshot(slot_of(self.observation, slot)), snapshot(infos_of(infos, slot))
            self.episodes[slot].append(Episode(*first))

    def actions(self) -> npt.NDArray[np.int64]:
        """Return each slot's next action, a function of slot, episode, step and mask alone; 0 where it is over."""
        space = self.env.single_action_space
        assert isinstance(space, spaces.Discrete), f"expected a Discrete action space, got {space}"
        masks = self.masks()
        chosen = np.zeros(self.num_envs, np.int64)
        for slot, episodes in enumerate(self.episodes):
            legal = np.arange(int(space.n)) if masks is None else np.flatnonzero(masks[slot])
            if self.over[slot] or not len(legal):
                continue
            key = chance.fold(self.number + slot, len(episodes), len(episodes[-1].steps))
            chosen[slot] = legal[int(chance.below(key, len(legal))[0])]
        return chosen + int(space.start)

    def step(self, actions: npt.NDArray[np.int64] | None = None) -> Any:
        """Make one step of all slots, resets of the mode DISABLED included; return what `step` returned."""
        chosen = self.actions() if actions is None else actions
        self.case.log = self.log
        self.log.step(chosen.tolist())
        before = self.over.copy()
        returned = self.env.step(chosen)
        self._masks = None
        self.observation, rewards, terminated, truncated, self.infos = returned
        over = np.asarray(terminated) | np.asarray(truncated)
        if before.any():  # NEXT_STEP: this step began those slots' next episodes
            self._check_fresh(before, rewards, over)
            self._begin(np.flatnonzero(before))
        for slot in np.flatnonzero(~before).tolist():
            last, info = self.observation, self.infos
            if over[slot] and self.mode is AutoresetMode.SAME_STEP:
                last, info = self._final(slot)
                seen, shown = snapshot(last), snapshot(info)
            else:
                seen, shown = snapshot(slot_of(last, slot)), snapshot(infos_of(info, slot))
            flags = bool(terminated[slot]), bool(truncated[slot])
            step = (int(chosen[slot]), seen, float(rewards[slot]), *flags, shown)
            self.episodes[slot][-1].steps.append(step)
        self.over = over & ~before
        if self.over.any() and self.watch is not None:
            self.true_returns = np.asarray(self.watch(self.env), float)
        if self.over.any():
            if self.mode is AutoresetMode.SAME_STEP:
                self._begin(np.flatnonzero(self.over))
                self.over[:] = False
            elif self.mode is AutoresetMode.DISABLED:
                self.reset(mask=self.over.copy())
        return returned

    def _check_fresh(self, fresh: npt.NDArray[np.bool_], rewards: Any, over: npt.NDArray[np.bool_]) -> None:
        slot = int(np.argmax(fresh))
        if np.any(np.asarray(rewards)[fresh]):
            self.wrong.append(("the step that begins a slot's next episode pays a reward", f"slot {slot}"))
        if over[fresh].any():
            self.wrong.append(("the step that begins a slot's next episode ends it", f"slot {slot}"))

    def _final(self, slot: int) -> tuple[Any, dict[str, Any]]:
        infos = self.infos
        for name in ("final_obs", "final_info"):
            has = infos.get(f"_{name}")
            if name not in infos or has is None or not has[slot]:
                raise AssertionError(f"slot {slot} has ended, and infos[{name!r}] with its mask does not say so")
        last = as_in_batch(self.env.single_observation_space, infos["final_obs"][slot])
        return last, infos_of(infos["final_info"], slot)

    def play(self, episodes: int) -> "Drive":
        """Step until every slot has ended that many episodes since it was made."""
        for _ in range(self.case.max_steps):
            if all(len([one for one in each if one.over]) >= episodes for each in self.episodes):
                return self
            self.step()
        raise AssertionError(f"not every slot has ended {episodes} episodes after {self.case.max_steps} steps")


class VectorCase(HasWhere):
    """How to make the environment, and what is known about it."""

    def __init__(
        self,
        name: str,
        make_env: Callable[..., Any],
        *,
        scalar: Callable[[], gymnasium.Env[Any, Any]] | None,
        returns: Callable[[Any], npt.ArrayLike] | None,
        modes: Sequence[AutoresetMode],
        seed: int,
        episodes: int,
        max_steps: int,
    ) -> None:
        super().__init__(name)
        self.make_env = make_env
        self.scalar = scalar
        self.returns = returns
        self.modes = modes
        self.seed = seed
        self.episodes = episodes
        self.max_steps = max_steps

    def reference(self, mode: AutoresetMode) -> Drive:
        """Return Gymnasium's own vector of scalar environments in that mode, to be driven alike."""
        assert self.scalar is not None
        env = SyncVectorEnv([self.scalar] * SLOTS, autoreset_mode=mode)
        return Drive(self, mode, env=env)
