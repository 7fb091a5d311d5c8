"""Agents with a network that says a value, or a logit, of every action; and the checkpoints they are kept in."""

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
from agents.wrapped import gumbel
from poison_env.core.choice import best_legal
from poison_env.core.errors import CheckpointError
from poison_env.core.protocol import Decisions, FloatArray, Game, IntArray
from poison_env.registry import make

FORMAT = "poison_env.checkpoint/1"
_STEP = re.compile(r"checkpoint-(\d{6,})")


class ValueNetwork(nn.Module):
    """A multi-layer perceptron: inputs (N, D) -> a number for each action (N, A), its value or its logit."""

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


class NetworkAgent:
    """What agents with a network share; what is illegal is never chosen, whatever the network says.

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
        return f"{type(self).__name__}({self.name!r})"

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions: those of the highest number.

        Raises:
            CheckpointError: the question is about another game, layout or number of seats than the network was trained
            for.
        """
        encoded = self._encode(decisions)
        return encoded.actions(best_legal(self.forward(encoded.inputs), encoded.mask))

    def _encode(self, decisions: Decisions) -> features.Encoded:
        if decisions.game is not self._checked:
            check_game(self.game, decisions.game, self.name)
            self._checked = decisions.game
        return self.encoder.encode(decisions.observation, decisions.action_mask)

    @torch.inference_mode()
    def forward(self, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return what the network says of encoded inputs, (N, D) -> (N, A)."""
        device = next(self.network.parameters()).device
        values: npt.NDArray[np.float32] = self.network(torch.from_numpy(inputs).to(device)).cpu().numpy()
        return values


class NeuralAgent(NetworkAgent):
    """Plays the legal action of highest value."""

    def values(self, decisions: Decisions) -> FloatArray:
        """Return the expected return of each action, (N, A); -inf where illegal.

        In the rewards that the network was trained on.

        Actions that lead to the same position, such as one card on either of two empty cauldrons, share their value.
        """
        encoded = self._encode(decisions)
        values = np.take_along_axis(self.forward(encoded.inputs), encoded.output_of, axis=1).astype(np.float64)
        return np.where(decisions.action_mask, values, -np.inf)


class PolicyAgent(NetworkAgent):
    """Plays as a network's logits say: their most likely legal action, or one drawn from their distribution."""

    def __init__(
        self,
        game: Game[Any],
        network: ValueNetwork,
        encoder: features.Features,
        *,
        deterministic: bool = True,
        name: str = "network",
    ) -> None:
        super().__init__(game, network, encoder, name=name)
        self.deterministic = deterministic

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions.

        Raises:
            CheckpointError: as of `NetworkAgent.act`.
        """
        if self.deterministic:
            return super().act(decisions)
        encoded = self._encode(decisions)
        return encoded.actions(best_legal(self.forward(encoded.inputs) + gumbel(decisions), encoded.mask))

    def probabilities(self, decisions: Decisions) -> FloatArray:
        """Return (N, A): how likely each action is if one is drawn; 0 where illegal.

        Of actions that lead to the same position one has the probability of all.
        """
        encoded = self._encode(decisions)
        logits = np.where(encoded.mask, self.forward(encoded.inputs), -np.inf).astype(np.float64)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        likely: FloatArray = np.zeros_like(weights)
        np.put_along_axis(likely, encoded.action_of, weights / weights.sum(axis=1, keepdims=True), axis=1)
        return likely


AGENTS: dict[str, type[NeuralAgent] | type[PolicyAgent]] = {"values": NeuralAgent, "logits": PolicyAgent}


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


def describe(
    game: Game[Any], encoder: features.Features, hidden: tuple[int, ...], *, output: str = "values"
) -> dict[str, Any]:
    """Return what a checkpoint has to say about its game and network, as JSON values.

    Args:
        output: what the network's numbers are, a key of `AGENTS`.
    """
    sections = [[section.name, list(section.shape)] for section in game.layout.sections]
    return {
        "format": FORMAT,
        "game": game.id,
        "options": dict(game.options),
        "layout": sections,
        "features": encoder.name,
        "hidden": list(hidden),
        "output": output,
    }


def load(path: str | Path, *, device: str = "cpu") -> NeuralAgent | PolicyAgent:
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
        hidden, agent = tuple(about["hidden"]), AGENTS[about.get("output", "values")]
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
    return agent(game, network.to(device).eval(), encoder, name=str(path))


def newest_checkpoint(run: Path) -> Path | None:
    """Return the checkpoint directory with the highest number in a run directory; None without one."""
    found = [(int(match[1]), entry) for entry in run.glob("checkpoint-*") if (match := _STEP.fullmatch(entry.name))]
    return max(found)[1] if found else None
