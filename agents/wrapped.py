"""Policies of other kinds as agents: plain functions and Stable-Baselines3 models. Neither can forget the mask."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.choice import best_legal
from poison_env.core.errors import CheckpointError
from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray, Decisions, FloatArray, IntArray


class FunctionAgent:
    """A plain function as an agent.

    Args:
        function: observations (N, F) int16 and masks (N, A) bool -> legal actions (N,).
    """

    def __init__(self, function: Callable[[Observation, BoolArray], npt.ArrayLike], *, name: str = "function") -> None:
        self.function = function
        self.name = name

    def __repr__(self) -> str:
        return f"FunctionAgent({self.name!r})"

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) actions; `play` refuses an illegal one with the row and the seat."""
        return np.asarray(self.function(decisions.observation, decisions.action_mask))


class SB3Agent:
    """A Stable-Baselines3 model as an agent: MaskablePPO, PPO, A2C (action logits) or DQN (action values).

    The model's observation space must be the game's layout: int16 counts, or float32 scaled to [0, 1], alone or as the
    entry `observation` of a dict with `action_mask`.
    """

    def __init__(self, model: Any, *, deterministic: bool = True, name: str = "sb3") -> None:
        self.model = model
        self.deterministic = deterministic
        self.name = name

    def __repr__(self) -> str:
        return f"SB3Agent({self.name!r})"

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions.

        Raises:
            CheckpointError: the model's spaces are not this game's.
        """
        import torch  # the extra `sb3`: this package can be used without it

        policy, mask = self.model.policy, decisions.action_mask
        if int(getattr(self.model.action_space, "n", -1)) != decisions.game.num_actions:
            raise CheckpointError(
                f"{self.name}: expected {decisions.game.num_actions} actions, got {self.model.action_space}"
            )
        observation, _ = policy.obs_to_tensor(self._observation(decisions))
        with torch.inference_mode():
            if hasattr(policy, "q_net"):
                scores = policy.q_net(observation)
            else:
                scores = policy.get_distribution(observation).distribution.logits
        logits = scores.double().cpu().numpy()
        if not self.deterministic:
            logits = logits + gumbel(decisions)
        return best_legal(logits, mask)

    def _observation(self, decisions: Decisions) -> Any:
        space: Any = self.model.observation_space
        inner = space["observation"] if hasattr(space, "spaces") else space
        if inner.shape != (decisions.game.layout.size,):
            raise CheckpointError(
                f"{self.name}: expected observations of shape ({decisions.game.layout.size},), got {inner.shape}"
            )
        floating = np.issubdtype(inner.dtype, np.floating)
        seen = decisions.game.layout.scale(decisions.observation) if floating else decisions.observation
        if inner is space:
            return seen
        return {"observation": seen, "action_mask": decisions.action_mask.astype(space["action_mask"].dtype)}


def gumbel(decisions: Decisions) -> FloatArray:
    """Return Gumbel noise, (N, A), drawn from the keys: the largest of logits plus it is a draw from them."""
    words = chance.bits(decisions.keys, 0, decisions.action_mask.shape[1])
    return -np.log(-np.log(np.clip(chance.uniform(words), 1e-12, 1 - 1e-12)))
