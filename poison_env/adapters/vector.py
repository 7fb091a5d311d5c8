"""Gymnasium's vector environment over any game: many matches side by side, one learner's seat in each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from poison_env.adapters.solo import ON_ILLEGAL, Presentation, resolve_game
from poison_env.adapters.table import Opponents, Table
from poison_env.core.chance import as_keys
from poison_env.core.errors import ActionTypeError, IllegalActionError, LifeCycleError, OptionError
from poison_env.core.protocol import BoolArray, FloatArray, Game, IntArray

Step = tuple[Any, FloatArray, BoolArray, BoolArray, dict[str, Any]]


class SoloVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` copies of `SoloEnv` in one batch: slot i is, bit for bit, the environment reset with slot i's seed.

    Args:
        game, opponents, seat, scaled, flat, on_illegal, options: as of `SoloEnv`.
        num_envs: B.
        autoreset_mode: any of Gymnasium's three, or its value as text. NEXT_STEP: the step after the end ignores that
            slot's action and returns the next episode's first observation. SAME_STEP: the last observation and info are
            in `infos["final_obs"]` and `infos["final_info"]`. DISABLED: `reset(options={"reset_mask": mask})`.

    Raises:
        OptionError: an option that cannot be.
    """

    def __init__(
        self,
        game: Game[Any] | str = "poison-v0",
        *,
        num_envs: int = 1,
        opponents: Opponents = "random",
        seat: int | None = None,
        scaled: bool = False,
        flat: bool = False,
        on_illegal: str = "raise",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        if num_envs < 1:
            raise OptionError(f"num_envs: expected at least 1, got {num_envs}")
        if on_illegal not in ON_ILLEGAL:
            raise OptionError(f"on_illegal: expected one of {', '.join(ON_ILLEGAL)}; got {on_illegal!r}")
        self.game = resolve_game(game, options)
        self.num_envs = num_envs
        self.on_illegal = on_illegal
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.render_mode = None
        self._present = Presentation(self.game, scaled=scaled, flat=flat)
        self.single_observation_space = self._present.space
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._table = Table(self.game, opponents, num_envs, seat=seat)
        self._everyone = np.arange(num_envs)
        self._over: BoolArray = np.ones(num_envs, bool)  # (B,) the episode has ended, or has not begun
        self._begun = self._seeded = False
        self._mask: BoolArray = np.zeros((num_envs, self.game.num_actions), bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the next episode in every slot, or in those of `options["reset_mask"]`, (B,) bool.

        Args:
            seed: one number (slot i gets seed + i), or one for each slot, None to leave a slot's as it is.
            options: `reset_mask` or nothing.

        Raises:
            ValueError: seeds or mask of another length.
            TypeError: a mask that is no boolean array.
        """
        rows = self._reset_rows(options)
        if seed is None or isinstance(seed, int | np.integer):
            super().reset(seed=None if seed is None else int(seed))
            listed = [None if seed is None else int(seed) + slot for slot in range(self.num_envs)]
        else:
            listed = list(seed)
        if len(listed) != self.num_envs:
            raise ValueError(f"seed: expected one for each of {self.num_envs} slots, got {len(listed)}")
        if not self._seeded:
            self._table.seed(self._everyone, self.np_random.integers(2**63, size=self.num_envs).astype(np.uint64))
            self._seeded = True
        given = np.array([row for row in rows if listed[row] is not None], np.int64)
        self._table.seed(given, as_keys([listed[row] for row in given]))
        self._table.begin(rows)
        self._over[rows] = False
        self._begun = True
        return self._look(rows)

    def step(self, actions: npt.ArrayLike) -> Step:
        """Play one action of the learner in each slot, and the others' moves up to its next decision.

        Raises:
            LifeCycleError: before the first reset, or (DISABLED) while a slot's episode is over.
            ActionTypeError: not whole numbers of shape (B,).
            IllegalActionError: an action that is not legal now, unless `on_illegal` is "truncate". Nothing has changed.
        """
        if not self._begun:
            raise LifeCycleError("call reset() first: no episode has begun")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over.any():
            raise LifeCycleError(f"slot {int(np.argmax(self._over))}: the episode is over; reset it by reset_mask")
        resets, live = self._over.copy(), ~self._over
        given = np.asarray(actions)
        if given.dtype.kind not in "iu" or given.shape != (self.num_envs,):
            expected = f"expected whole numbers of shape ({self.num_envs},)"
            raise ActionTypeError(f"actions: {expected}, got {given.dtype} of shape {given.shape}")
        chosen = given.astype(np.int64)
        inside = (chosen >= 0) & (chosen < self.game.num_actions)
        legal = inside & self._mask[self._everyone, np.where(inside, chosen, 0)]
        illegal = live & ~legal
        if illegal.any() and self.on_illegal == "raise":
            slot = int(np.argmax(illegal))
            label = self.game.action_label(int(chosen[slot])) if inside[slot] else "no action"
            raise IllegalActionError(
                f"slot {slot}: seat {self._table.seats[slot]}: {given[slot]} ({label}) is not legal now"
            )

        rewards, terminated, truncated = np.zeros(self.num_envs), np.zeros_like(live), illegal.copy()
        acting = np.flatnonzero(live & legal)
        rewards[acting], terminated[acting], truncated[acting] = self._table.act(acting, chosen[acting])
        self._table.begin(np.flatnonzero(resets))  # NEXT_STEP
        self._over = terminated | truncated
        observation, infos = self._look(self._everyone)
        ended, misplayed = np.flatnonzero(self._over), np.flatnonzero(illegal)
        placed = np.flatnonzero(self._over & ~illegal)
        if len(placed):
            infos |= _only({"placement": self._table.placements(self._everyone)}, placed, self.num_envs)
        if len(misplayed):
            infos |= _only({"illegal_action": illegal}, misplayed, self.num_envs)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and len(ended):
            observation, infos = self._begin_again(ended, observation, infos)
        return observation, rewards, terminated, truncated, infos

    def action_masks(self) -> BoolArray:
        """Return the learner's legal actions in every slot, (B, A), True = legal; none where an episode is over."""
        return self._mask.copy()

    def _look(self, rows: IntArray) -> tuple[Any, dict[str, Any]]:
        seen, mask = self._table.observe(self._everyone)
        self._mask = mask & ~self._over[:, None]
        infos = {"action_mask": self._mask.astype(np.int8), "seat": self._table.seats.copy()}
        return self._present(seen, self._mask), _only(infos, rows, self.num_envs)

    def _begin_again(self, ended: IntArray, last: Any, last_infos: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        final_obs = np.full(self.num_envs, None, object)
        for slot in ended:  # Gymnasium wants one object a slot
            final_obs[slot] = (
                {name: part[slot].copy() for name, part in last.items()}
                if isinstance(last, dict)
                else last[slot].copy()
            )
        final_info: dict[str, Any] = {}
        for name, values in last_infos.items():
            if not name.startswith("_"):
                rows = np.flatnonzero(last_infos[f"_{name}"] & self._over)
                final_info |= _only({name: values}, rows, self.num_envs)
        final = _only({"final_obs": final_obs, "final_info": final_info}, ended, self.num_envs)
        self._table.begin(ended)
        self._over = np.zeros_like(self._over)
        observation, infos = self._look(self._everyone)
        return observation, infos | final

    def _reset_rows(self, options: dict[str, Any] | None) -> npt.NDArray[np.int64]:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return self._everyone
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"reset_mask: expected a boolean array, got {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"reset_mask: expected shape ({self.num_envs},) with at least one True, got {mask}")
        return np.flatnonzero(mask)


def _mode(given: AutoresetMode | str) -> AutoresetMode:
    for mode in AutoresetMode:
        if given in (mode, mode.value, mode.name):
            return mode
    raise OptionError(
        f"autoreset_mode: expected one of {', '.join(mode.name for mode in AutoresetMode)}; got {given!r}"
    )


def _only(infos: dict[str, Any], rows: IntArray, size: int) -> dict[str, Any]:
    """Return infos of some slots in Gymnasium's form: each with `_name`, the mask of those slots; 0 elsewhere."""
    has = np.zeros(size, bool)
    has[rows] = True
    found: dict[str, Any] = {}
    for name, values in infos.items():
        if isinstance(values, np.ndarray) and values.dtype != object and not has.all():
            values = np.where(has.reshape(-1, *[1] * (values.ndim - 1)), values, np.zeros((), values.dtype))
        found[name], found[f"_{name}"] = values, has.copy()
    return found
