"""Inputs for Poison."""

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.features.encoding import Encoded
from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray
from poison_env.games.poison import Poison
from poison_env.games.poison.tables import CAULDRONS
from poison_env.scripted import moves_seen, overflow_costs


class PoisonFeatures:
    """For Poison: counts of the round, and planes that judge each move: legal, overflows, what that costs now.

    Cauldrons stand in canonical order: the one with red potions first, then blue, then purple; those without a colour
    fill the places left, the fullest first. Of several empty cauldrons without a colour one is offered. Totals of the
    match and the round's number are left out: a round's points do not depend on them.
    """

    name = "poison-1"

    def __init__(self, game: Poison) -> None:
        self._game = game
        kinds, actions = game.num_kinds, game.num_actions
        taken = "taken" if game.recall == "perfect" else "pile_sizes"
        self._sections = ("own_hand", taken, "hand_sizes", "unseen")
        flat = sum(game.layout.section(name).size for name in self._sections)
        self.size = flat + CAULDRONS * (kinds + 2) + 3 * actions
        self._scales = {
            name: 1 / np.maximum(game.layout.high[game.layout.slices[name]], 1).astype(np.float32)
            for name in (*self._sections, "cauldrons")
        }
        self._point_values = np.where(game.deck.classes == 3, 2, 1)
        self._first = 3 * np.arange(kinds)  # the first action of each kind

    def encode(self, observation: Observation, action_mask: BoolArray) -> Encoded:
        """Encode observations (N, F) with their masks (N, A)."""
        game, layout = self._game, self._game.layout
        size, kinds = len(observation), game.num_kinds
        order = self._canonical(observation)  # (N, 3) the cauldron at each place
        action_of = (self._first[:, None] + order[:, None, :]).reshape(size, -1)
        contents = np.take_along_axis(layout.decode(observation, "cauldrons"), order[:, :, None], axis=1)
        colours = np.take_along_axis(layout.decode(observation, "cauldron_colours"), order, axis=1)
        totals = np.take_along_axis(layout.decode(observation, "cauldron_totals"), order, axis=1)

        mask = np.take_along_axis(action_mask, action_of, axis=1).reshape(size, kinds, CAULDRONS)
        place = np.argsort(order, axis=1)  # (N, 3) the place of each cauldron
        if game.colour_rule == "exclusive":
            blank = (totals == 0) & (colours == 0)
            spare = blank & (np.cumsum(blank, axis=1) > 1)
            mask = mask & ~spare[:, None, :]
            place = np.where(np.take_along_axis(spare, place, axis=1), np.argmax(blank, axis=1)[:, None], place)
        output_of = (self._first[:, None] + place[:, None, :]).reshape(size, -1)
        _, _, overflow = moves_seen(game, observation)
        overflows = np.take_along_axis(overflow, action_of, axis=1) & mask.reshape(size, -1)
        if game.recall == "perfect":
            cost = overflow_costs(game, observation)
        else:
            cost = layout.decode(observation, "cauldrons").astype(np.int64) @ self._point_values
        costs = np.take_along_axis(cost, order, axis=1).astype(np.float32) / 8

        inputs = np.empty((size, self.size), np.float32)
        start = 0
        for name in self._sections:
            block = observation[:, layout.slices[name]] * self._scales[name]
            inputs[:, start : start + block.shape[1]] = block
            start += block.shape[1]
        planes: tuple[npt.NDArray[Any], ...] = (
            contents.reshape(size, -1) * self._scales["cauldrons"],
            totals.astype(np.float32) / 13,
            colours > 0,
            mask.reshape(size, -1),
            overflows,
            (overflows.reshape(size, kinds, CAULDRONS) * costs[:, None, :]).reshape(size, -1),
        )
        for plane in planes:
            inputs[:, start : start + plane.shape[1]] = plane
            start += plane.shape[1]
        return Encoded(inputs, mask.reshape(size, -1), action_of, output_of)

    def _canonical(self, observation: Observation) -> npt.NDArray[np.int64]:
        """Return which cauldron stands at each place, (N, 3)."""
        layout = self._game.layout
        colours = layout.decode(observation, "cauldron_colours").astype(np.int64)
        if self._game.colour_rule == "fixed":
            return np.broadcast_to(np.arange(CAULDRONS), colours.shape)
        totals = layout.decode(observation, "cauldron_totals").astype(np.int64)
        # Places of the colours on the table are theirs; the others go to cauldrons without a colour, the fullest to the
        # first place.
        taken_place = (colours[:, :, None] == np.arange(1, CAULDRONS + 1)).any(axis=1)  # (N, 3)
        free = np.argsort(taken_place, axis=1, kind="stable")  # free places first, in order
        blank_key = np.where(
            colours > 0, -1, 64 * totals + np.arange(CAULDRONS)[::-1]
        )  # distinct among cauldrons without a colour
        rank = (blank_key[:, None, :] > blank_key[:, :, None]).sum(axis=2)  # (N, 3) how many of them are fuller
        place = np.where(colours > 0, colours - 1, np.take_along_axis(free, np.minimum(rank, CAULDRONS - 1), axis=1))
        return np.argsort(place, axis=1)
