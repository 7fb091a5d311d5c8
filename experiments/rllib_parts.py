"""What runs in RLlib's worker processes: the environment and the network of `train_rllib`, importable by name there."""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from agents import features
from agents.neural import ValueNetwork
from poison_env import make
from poison_env.adapters.rllib import ByAgent, LegalDiscrete, RLlibEnv
from poison_env.core import chance

POLICY = "policy"  # the one module that plays every seat
DEALS = 4  # what seeds are folded with; evaluation folds with 0, so its deals are others


class SelfPlayEnv(MultiAgentEnv):  # type: ignore[misc]  # ray is in another environment than mypy: its classes are Any
    """A match whose observations are what networks are given: `agents.features`, made from observation and mask.

    An observation is `{"inputs": (D,) float32, "action_mask": (A,) int8}`; actions number the network's outputs.

    Args:
        context: `game` and its `options`, and `begin`, a number that a run which goes on chooses anew, so that it meets
            new deals.
    """

    def __init__(self, context: EnvContext) -> None:
        super().__init__()
        game = make(context["game"], **context["options"])
        self._begin = (context["begin"], context.worker_index)
        self._env = RLlibEnv(game, scaled=False)
        self._encoder = features.for_game(game)
        self._action_of: ByAgent = {}  # (A,) by agent: what each output stands for
        self.possible_agents = self._env.possible_agents
        self.agents = self.possible_agents.copy()
        seen: dict[str, spaces.Space[Any]] = {
            "inputs": spaces.Box(-np.inf, np.inf, (self._encoder.size,), np.float32),
            "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
        }
        self.observation_spaces = {agent: spaces.Dict(seen) for agent in self.agents}
        self.action_spaces = {agent: LegalDiscrete(game.num_actions) for agent in self.agents}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ByAgent, ByAgent]:
        """Deal a new match. RLlib's seeds repeat from worker to worker, the deals drawn from them do not."""
        own = None if seed is None else int(chance.fold(seed, DEALS, *self._begin)[0])
        observations, infos = self._env.reset(seed=own)
        return self._encode(observations), infos

    def step(self, action_dict: ByAgent) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Play the action that the output of the agent to move stands for; see `RLlibEnv.step`."""
        actions = {agent: int(self._action_of[agent][output]) for agent, output in action_dict.items()}
        observations, rewards, terminateds, truncateds, infos = self._env.step(actions)
        return self._encode(observations), rewards, terminateds, truncateds, infos

    def _encode(self, observations: ByAgent) -> ByAgent:
        shown = {}
        for agent, seen in observations.items():
            encoded = self._encoder.encode(seen["observations"][None], seen["action_mask"][None].astype(bool))
            mask = encoded.mask[0].astype(np.int8)
            self._action_of[agent] = encoded.action_of[0]
            self.action_spaces[agent].legal = mask if mask.any() else None
            shown[agent] = {"inputs": encoded.inputs[0], "action_mask": mask}
        return shown


class MaskedPolicy(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]  # as above
    """A policy and a critic, two networks of the form that `agents.neural` loads; illegal actions have no chance.

    `model_config["hidden"]`: the sizes of the hidden layers of each.
    """

    def setup(self) -> None:
        """Build the networks."""
        inputs, outputs = self.observation_space["inputs"].shape[0], int(self.action_space.n)
        hidden = tuple(self.model_config["hidden"])
        self.policy = ValueNetwork(inputs, outputs, hidden)
        self.critic = ValueNetwork(inputs, 1, hidden)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, torch.Tensor]:
        seen = batch[Columns.OBS]
        logits = self.policy(seen["inputs"])
        lowest = torch.finfo(logits.dtype).min  # not -inf, of which entropy and divergence would make nan
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen["action_mask"] == 0, lowest)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return what the mover is expected to earn, (N,)."""
        values: torch.Tensor = self.critic(batch[Columns.OBS]["inputs"]).squeeze(-1)
        return values


def only_policy(agent: str, episode: Any, **kwargs: Any) -> str:
    """Return the name of the module that plays an agent."""
    return POLICY
