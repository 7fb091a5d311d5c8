"""A native VecEnv for Stable-Baselines3 over any game: one learner's seat in each match, masks for maskable algorithms.

Needs the extra `sb3`.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from poison_env.adapters.solo import Presentation, resolve_game
from poison_env.adapters.table import Opponents, Table
from poison_env.core.chance import as_keys
from poison_env.core.errors import ActionTypeError, IllegalActionError, LifeCycleError, OptionError
from poison_env.core.protocol import BoolArray, Game


class SoloVecEnv(VecEnv):
    """Many matches side by side; slot i is, bit for bit, `SoloEnv` reset with slot i's seed.

    A step runs from one decision of the learner to its next one; its reward is all that the learner's seat earned in
    between. A slot whose episode ends begins the next one in the same step, with the last observation in
    `infos[i]["terminal_observation"]` and the learner's place (0 = best) in `infos[i]["placement"]`.

    Args:
        num_envs: B.
        game, opponents, seat, scaled, flat, options: as of `SoloEnv`; observations are scaled unless said otherwise.
    """

    def __init__(
        self,
        num_envs: int,
        game: Game[Any] | str = "poison-v0",
        *,
        opponents: Opponents = "random",
        seat: int | None = None,
        scaled: bool = True,
        flat: bool = False,
        **options: Any,
    ) -> None:
        if num_envs < 1:
            raise OptionError(f"num_envs: expected at least 1, got {num_envs}")
        self.game = resolve_game(game, options)
        self.render_mode: str | None = None
        self._present = Presentation(self.game, scaled=scaled, flat=flat)
        super().__init__(num_envs, self._present.space, spaces.Discrete(self.game.num_actions))
        self._table = Table(self.game, opponents, num_envs, seat=seat)
        self._everyone = np.arange(num_envs)
        self._mask: BoolArray = np.zeros((num_envs, self.game.num_actions), bool)
        self._actions: np.ndarray[Any, Any] | None = None
        self._seeded = False

    def reset(self) -> VecEnvObs:
        """Begin the next episode in every slot, or the first one of the seeds that `seed` has left."""
        if any(seed is not None for seed in self._seeds) or not self._seeded:
            fresh = np.random.SeedSequence().generate_state(self.num_envs, np.uint64)
            seeds = [int(fresh[i]) if seed is None else seed for i, seed in enumerate(self._seeds)]
            self._table.seed(self._everyone, as_keys(seeds))
            self._seeded = True
        self._reset_seeds()
        self._reset_options()
        self._table.begin(self._everyone)
        self.reset_infos = [{} for _ in self._everyone]
        return self._look()

    def step_async(self, actions: np.ndarray[Any, Any]) -> None:
        """Take the learner's actions, (B,); `step_wait` plays them."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Play the actions, and the others' moves up to the learner's next decisions.

        Returns:
            observations, rewards (B,) exactly as the game pays them, whether an episode ended (B,), one info a slot.

        Raises:
            LifeCycleError: before the first reset.
            ActionTypeError: not whole numbers of shape (B,).
            IllegalActionError: an action that is not legal now; nothing has changed.
        """
        if self._actions is None or not self._seeded:
            raise LifeCycleError("call reset() and step_async() first")
        actions, self._actions = self._actions, None
        self._check(actions)
        rewards, terminated, truncated = self._table.act(self._everyone, actions.astype(np.int64))
        ended = np.flatnonzero(terminated | truncated)
        infos: list[dict[str, Any]] = [{} for _ in self._everyone]
        if len(ended):
            last = self._present(*self._table.observe(ended))
            places = self._table.placements(ended)
            for index, slot in enumerate(ended):  # Stable-Baselines3 wants one dict a slot
                kept = {name: part[index] for name, part in last.items()} if isinstance(last, dict) else last[index]
                infos[slot] = {
                    "terminal_observation": kept,
                    "TimeLimit.truncated": bool(truncated[slot]),
                    "placement": int(places[index]),
                }
            self._table.begin(ended)
        return self._look(), rewards, terminated | truncated, infos

    def action_masks(self) -> BoolArray:
        """Return the learner's legal actions in every slot, (B, A), True = legal."""
        return self._mask.copy()

    def invite(self, opponents: Opponents) -> None:
        """Let matches that begin from now on draw from these opponents; matches under way are played to their end."""
        self._table.invite(opponents)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute, which all slots share, once for each slot asked for."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refuse: the slots are one batch and share their attributes.

        Raises:
            AttributeError: always; opponents are changed by `invite`.
        """
        raise AttributeError(f"slots share their attributes, {attr_name!r} cannot be set for some; see `invite`")

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        """Return `action_masks` of the slots asked for.

        Raises:
            AttributeError: another method; the slots are one batch.
        """
        if method_name != "action_masks":
            raise AttributeError(f"slots have the method action_masks, not {method_name!r}")
        return list(self.action_masks()[list(self._get_indices(indices))])

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Return False for each slot asked for."""
        return [False for _ in self._get_indices(indices)]

    def _check(self, actions: np.ndarray[Any, Any]) -> None:
        if actions.dtype.kind not in "iu" or actions.shape != (self.num_envs,):
            expected = f"expected whole numbers of shape ({self.num_envs},)"
            raise ActionTypeError(f"actions: {expected}, got {actions.dtype} of shape {actions.shape}")
        inside = (actions >= 0) & (actions < self.game.num_actions)
        legal = inside & self._mask[self._everyone, np.where(inside, actions, 0)]
        if not legal.all():
            slot = int(np.argmin(legal))
            raise IllegalActionError(f"slot {slot}: seat {self._table.seats[slot]}: {actions[slot]} is not legal now")

    def _look(self) -> VecEnvObs:
        seen, self._mask = self._table.observe(self._everyone)
        shown: VecEnvObs = self._present(seen, self._mask)
        return shown
