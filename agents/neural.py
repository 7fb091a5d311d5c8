"""Agents with a network: a state-action value for every legal action, and the checkpoints they are kept in."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from agents import features
from poison_env.core.choice import best_legal
from poison_env.core.errors import CheckpointError
from poison_env.core.protocol import Decisions, FloatArray, Game, IntArray
from poison_env.registry import make

FORMAT = "poison_env.checkpoint/1"
_STEP = re.compile(r"checkpoint-(\d{6,})")


class ValueNetwork(nn.Module):
    """A multi-layer perceptron: inputs (N, D) -> values (N, A), in `scale` points."""

    def __init__(self, inputs: int, outputs: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        sizes = (inputs, *hidden)
        layers: list[nn.Module] = []
        for size, following in pairwise(sizes):
            layers += [nn.Linear(size, following), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(sizes[-1], outputs))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return values (N, A) of inputs (N, D)."""
        values: torch.Tensor = self.layers(inputs)
        return values


class NeuralAgent:
    """Plays the legal action of highest value; what is illegal is never looked at.

    Belongs to one game id, its options that change what is seen or legal, and its observation layout.
    """

    def __init__(
        self, game: Game[Any], network: ValueNetwork, encoder: features.Features, *, name: str = "network"
    ) -> None:
        self.game = game
        self.network = network
        self.encoder = encoder
        self.name = name
        self._checked: Game[Any] = game

    def __repr__(self) -> str:
        return f"NeuralAgent({self.name!r})"

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions.

        Raises:
            CheckpointError: the question is about another game, layout or number of seats than the network was trained
            for.
        """
        encoded = self._encode(decisions)
        chosen = best_legal(self.forward(encoded.inputs), encoded.mask)
        return encoded.action_of[np.arange(len(chosen)), chosen]

    def values(self, decisions: Decisions) -> FloatArray:
        """Return the expected return of each action, (N, A); -inf where illegal.

        In the rewards that the network was trained on.

        Actions that lead to the same position, such as one card on either of two empty cauldrons, share their value.
        """
        encoded = self._encode(decisions)
        values = np.take_along_axis(self.forward(encoded.inputs), encoded.output_of, axis=1).astype(np.float64)
        return np.where(decisions.action_mask, values, -np.inf)

    def _encode(self, decisions: Decisions) -> features.Encoded:
        if decisions.game is not self._checked:
            check_game(self.game, decisions.game, self.name)
            self._checked = decisions.game
        return self.encoder.encode(decisions.observation, decisions.action_mask)

    @torch.inference_mode()
    def forward(self, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the network's values of encoded inputs, (N, D) -> (N, A)."""
        device = next(self.network.parameters()).device
        values: npt.NDArray[np.float32] = self.network(torch.from_numpy(inputs).to(device)).cpu().numpy()
        return values


def check_game(trained: Game[Any], asked: Game[Any], name: str) -> None:
    """Make sure that a policy of one game can play another.

    Raises:
        CheckpointError: it cannot; the message says what differs.
    """
    if trained.id != asked.id:
        raise CheckpointError(f"{name} was trained for {trained.id}, not for {asked.id}")
    differences = [
        f"{option} {value!r}, not {asked.rules_options.get(option)!r}"
        for option, value in trained.rules_options.items()
        if asked.rules_options.get(option) != value
    ]
    if differences:
        raise CheckpointError(f"{name} was trained for {trained.id} with {'; '.join(differences)}")
    if trained.layout != asked.layout:
        raise CheckpointError(f"{name} was trained for another observation layout of {trained.id}")


def describe(game: Game[Any], encoder: features.Features, hidden: tuple[int, ...]) -> dict[str, Any]:
    """Return what a checkpoint has to say about its game and network, as JSON values."""
    sections = [[section.name, list(section.shape)] for section in game.layout.sections]
    return {
        "format": FORMAT,
        "game": game.id,
        "options": dict(game.options),
        "layout": sections,
        "features": encoder.name,
        "hidden": list(hidden),
    }


def load(path: str | Path, *, device: str = "cpu") -> NeuralAgent:
    """Load the agent of a run directory (its newest checkpoint), or of one checkpoint directory.

    Raises:
        CheckpointError: there is none, or it is damaged, or this version cannot read it.
    """
    found = newest_checkpoint(Path(path)) or Path(path)
    try:
        about = json.loads((found / "state.json").read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise CheckpointError(f"{found}: expected a checkpoint of the form {FORMAT}, got {about['format']!r}")
        game = make(about["game"], **about["options"])
        encoder = features.by_name(about["features"], game)
        hidden = tuple(about["hidden"])
        network = ValueNetwork(encoder.size, game.num_actions, hidden)
        if describe(game, encoder, hidden)["layout"] != about["layout"]:
            raise CheckpointError(f"{found}: was written for another observation layout of {game.id}")
        network.load_state_dict(load_file(found / "network.safetensors", device=device))
    except FileNotFoundError as error:
        raise CheckpointError(f"{path}: no checkpoint, or not a whole one: {error}") from error
    except (ValueError, KeyError, TypeError, LookupError, RuntimeError, OSError, SafetensorError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{found}: damaged or unreadable checkpoint: {error}") from error
    return NeuralAgent(game, network.to(device).eval(), encoder, name=str(path))


def newest_checkpoint(run: Path) -> Path | None:
    """Return the checkpoint directory with the highest number in a run directory; None without one."""
    found = [(int(match[1]), entry) for entry in run.glob("checkpoint-*") if (match := _STEP.fullmatch(entry.name))]
    return max(found)[1] if found else None
