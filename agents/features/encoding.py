"""What a network is given, and numbers for any game."""

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray, Game


class Encoded(NamedTuple):
    """N decisions as a network sees them. Outputs are numbered like actions, but may stand for others."""

    inputs: npt.NDArray[np.float32]  # (N, D)
    mask: BoolArray  # (N, A) outputs that may be chosen; at least one in each row
    action_of: npt.NDArray[np.int64]  # (N, A) the action each output stands for
    output_of: npt.NDArray[
        np.int64
    ]  # (N, A) the output that judges each action; actions that lead to the same position share one

    def actions(self, outputs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the actions (N,) that outputs (N,) stand for."""
        return self.action_of[np.arange(len(outputs)), outputs]


class Features(Protocol):
    """Turns observations into inputs; one for each game and its options."""

    name: str
    size: int  # D

    def encode(self, observation: Observation, action_mask: BoolArray) -> Encoded:
        """Encode observations (N, F) with their masks (N, A)."""


class CountFeatures:
    """For any game: the observation scaled by its bounds, and the mask."""

    name = "counts"

    def __init__(self, game: Game[Any]) -> None:
        self._layout = game.layout
        self._actions = np.arange(game.num_actions)
        self.size = game.layout.size + game.num_actions

    def encode(self, observation: Observation, action_mask: BoolArray) -> Encoded:
        """Encode observations (N, F) with their masks (N, A)."""
        inputs = np.concatenate([self._layout.scale(observation), action_mask], axis=1, dtype=np.float32)
        same = np.broadcast_to(self._actions, action_mask.shape)
        return Encoded(inputs, action_mask, same, same)
