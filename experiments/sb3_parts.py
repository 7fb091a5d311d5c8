"""Between Stable-Baselines3 and the agents: inputs for its policies, and its policies as agents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.vec_env import VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn
from torch import nn

from agents import features
from agents.neural import ValueNetwork
from poison_env.adapters.sb3 import SoloVecEnv
from poison_env.core.protocol import Agent, BoolArray, Game


class FeaturesVecEnv(VecEnvWrapper):
    """A `SoloVecEnv` as a network sees it: observations, masks and actions are those of `agents.features`.

    Actions given to it are the network's outputs; the environment below gets the actions that they stand for.

    Args:
        num_envs: matches side by side, B.
        game: the rules.
        opponents: a pool, as of `SoloVecEnv`.
    """

    def __init__(self, num_envs: int, game: Game[Any], *, opponents: Sequence[str | Agent]) -> None:
        self.encoder = features.for_game(game)
        self.table = SoloVecEnv(num_envs, game, opponents=list(opponents), scaled=False)
        space = spaces.Box(-np.inf, np.inf, (self.encoder.size,), np.float32)
        super().__init__(self.table, space, self.table.action_space)
        self._encoded: features.Encoded | None = None

    def reset(self) -> npt.NDArray[np.float32]:
        """Begin the next episode in every slot; return inputs (B, D)."""
        return self._encode(self.table.reset())

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Take outputs (B,); `step_wait` plays the actions they stand for."""
        assert self._encoded is not None, "call reset() first"
        self.table.step_async(self._encoded.actions(actions))

    def step_wait(self) -> VecEnvStepReturn:
        """Play the actions up to the learner's next decisions; return as `SoloVecEnv` does, with inputs (B, D)."""
        seen, rewards, over, infos = self.table.step_wait()
        ended = np.flatnonzero(over)
        if len(ended):
            last = [infos[slot]["terminal_observation"] for slot in ended]
            observation, mask = (np.stack([each[name] for each in last]) for name in ("observation", "action_mask"))
            inputs = self.encoder.encode(observation, mask.astype(bool)).inputs
            for slot, shown in zip(ended, inputs, strict=True):
                infos[slot]["terminal_observation"] = shown
        return self._encode(seen), rewards, over, infos

    def action_masks(self) -> BoolArray:
        """Return which outputs may be chosen, (B, A), True = legal."""
        assert self._encoded is not None, "call reset() first"
        return self._encoded.mask.copy()

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        """Return `action_masks` of the slots asked for, which is how sb3-contrib asks for them.

        Raises:
            AttributeError: another method.
        """
        if method_name != "action_masks":
            raise AttributeError(f"slots have the method action_masks, not {method_name!r}")
        return list(self.action_masks()[list(self._get_indices(indices))])

    def invite(self, opponents: Sequence[str | Agent]) -> None:
        """Let matches that begin from now on draw from these opponents."""
        self.table.invite(list(opponents))

    def _encode(self, seen: Any) -> npt.NDArray[np.float32]:
        self._encoded = self.encoder.encode(seen["observation"], self.table.action_masks())
        return self._encoded.inputs


def policy_kwargs(hidden: tuple[int, ...]) -> dict[str, Any]:
    """Return what makes a policy of Stable-Baselines3 whose actor `actor` can take out: two networks of that size."""
    return {"net_arch": {"pi": list(hidden), "vf": list(hidden)}, "activation_fn": nn.ReLU}


def actor(policy: MaskableActorCriticPolicy, hidden: tuple[int, ...]) -> ValueNetwork:
    """Return a copy of a policy's actor, logits of every action, as a network that agents can play."""
    layers = nn.Sequential(*policy.mlp_extractor.policy_net, policy.action_net)
    first, last = layers[0], layers[-1]
    assert isinstance(first, nn.Linear)  # as policy_kwargs made them
    assert isinstance(last, nn.Linear)
    network = ValueNetwork(first.in_features, last.out_features, hidden)
    network.layers.load_state_dict(layers.state_dict())
    return network.to(policy.device).eval()
