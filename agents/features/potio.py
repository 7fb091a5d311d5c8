"""Inputs for Potio."""

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.features.encoding import Encoded
from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray
from poison_env.games.potio import Potio, moves
from poison_env.games.potio.brews import BURN, FREEZE, STEAL, THAW
from poison_env.games.potio.deck import CLASSES, EMPTY, SLOTS
from poison_env.games.potio.moves import CENTRE

_BITS = 1 << np.arange(SLOTS - 1, -1, -1)  # of the slots in a subset
_POINTS = 10  # what points are divided by


class PotioFeatures:
    """For Potio: cards by kind and slot by slot, and how many points the best brew has that each move leads to.

    That is the best brew with each card of the centre, one's own and the next player's; with each slot picked next; and
    of an effect's target the best one that oneself gains, and that the card's owner loses.
    """

    name = "potio-1"

    def __init__(self, game: Potio) -> None:
        self._game = game
        seats, kinds, slots = game.num_seats, game.num_kinds, SLOTS * game.num_seats
        cards = (SLOTS + CENTRE) * (2 + len(CLASSES))
        by_kind = (seats + 4) * kinds
        self.size = cards + by_kind + 4 * seats + 2 * slots + 3 * CENTRE + 2 * SLOTS + 1 + 4 + 4 + 5 + game.num_actions
        values, classes = game.deck.values, game.deck.classes
        # [card of a zone]: value, frozen, class; the last one is no card
        self._cards = np.zeros((EMPTY + 1, 2 + len(CLASSES)), np.float32)
        self._cards[: 2 * kinds, 0] = np.repeat(values, 2) / 6
        self._cards[1 : 2 * kinds : 2, 1] = 1
        self._cards[np.arange(2 * kinds), 2 + np.repeat(classes, 2)] = 1

    def encode(self, observation: Observation, action_mask: BoolArray) -> Encoded:
        """Encode observations (N, F) with their masks (N, A)."""
        game, size = self._game, len(observation)

        def section(name: str) -> npt.NDArray[Any]:
            return game.layout.decode(observation, name)

        seen = section("zones")
        zones = np.where(seen == 0, EMPTY, seen - 1).astype(np.int8)  # (N, P, 8)
        best = self._best(zones.reshape(-1, SLOTS)).reshape(size, -1)  # (N, P)
        kinds = section("centre").astype(np.int64) - 1
        centre = np.where(kinds < 0, EMPTY, 2 * kinds)
        takes, leaves = np.zeros((2, size, CENTRE), np.int64)
        rows = np.flatnonzero(action_mask[:, moves.TAKE])
        takes[rows] = self._with_each(zones[rows, 0], centre[rows])
        leaves[rows] = self._with_each(zones[rows, 1], centre[rows])
        picks, commits = self._picks(zones[:, 0], section("picked"), action_mask)
        gains, losses = self._targets(zones, best, section("effects"), action_mask)
        points, pile = section("points"), section("pile")
        frozen = section("frozen")
        by_kind = (
            section("free"),
            frozen[:, :1],
            (kinds[:, :, None] == np.arange(game.num_kinds)).sum(axis=1)[:, None],
            pile[:, :1],
            pile.sum(axis=1)[:, None],
        )
        planes = (
            self._cards[zones[:, 0]].reshape(size, -1),
            self._cards[centre].reshape(size, -1),
            np.concatenate(by_kind, axis=1).reshape(size, -1) / 3,
            frozen.sum(axis=2) / 4,
            (seen > 0).sum(axis=2) / SLOTS,
            (points - points[:, :1]) / 20,
            best / _POINTS,
            gains / _POINTS,
            losses / _POINTS,
            takes / _POINTS,
            np.maximum(takes - best[:, :1], 0) / _POINTS,
            leaves / _POINTS,
            section("picked"),
            picks / _POINTS,
            commits[:, None] / _POINTS,
            section("effects"),
            section("phase"),
            points[:, :1] / 40,
            pile.sum(axis=(1, 2))[:, None] / game.deck.size,
            section("turns") / game.max_turns,
            section("stalled") / game.stall_turns,
            section("scored"),
            action_mask,
        )
        inputs = np.concatenate(planes, axis=1, dtype=np.float32)
        same = np.broadcast_to(np.arange(game.num_actions), action_mask.shape)
        return Encoded(inputs, action_mask, same, same)

    def _best(self, zones: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """Return the points of the best brew in sorted zones (n, 8), 0 without one, (n,)."""
        row, _, number = self._game.brews.find(zones)
        best = np.zeros(len(zones), np.int64)
        np.maximum.at(best, row, self._game.brews.points[number])
        return best

    def _with_each(self, zones: npt.NDArray[np.int8], cards: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the points of the best brew in zones (n, 8) with each of the cards (n, m) in addition, (n, m)."""
        larger = np.repeat(zones, cards.shape[1], axis=0)
        larger[:, -1] = cards.reshape(-1)
        larger.sort(axis=1)
        return self._best(larger).reshape(cards.shape)

    def _picks(
        self, zones: npt.NDArray[np.int8], picked: npt.NDArray[Any], action_mask: BoolArray
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the points of the best brew that picking each slot leads to, (N, 8), and of committing, (N,)."""
        picks, commits = np.zeros(zones.shape, np.int64), np.zeros(len(zones), np.int64)
        rows = np.flatnonzero(action_mask[:, moves.PICK : moves.EFFECT].any(axis=1))
        row, subset, number = self._game.brews.find(zones[rows])
        begun = (picked[rows].astype(np.int64) @ _BITS)[row]
        decided = ~((begun & -begun) - 1)  # bits of the slots up to the last picked one; none if nothing is
        follows = (subset ^ begun) & decided == 0
        row, points = rows[row[follows]], self._game.brews.points[number[follows]]
        left = (subset & ~begun)[follows]
        more = left > 0
        slot = SLOTS - np.frexp(left[more])[1]  # the highest bit left is the lowest slot
        np.maximum.at(picks, (row[more], slot), points[more])
        commits[row[~more]] = points[~more]
        return picks, commits

    def _targets(
        self, zones: npt.NDArray[np.int8], best: npt.NDArray[np.int64], effects: npt.NDArray[Any], mask: BoolArray
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return by how much each target of the effect that is aimed betters one's own best brew, worsens its owner's.

        Both (N, 8 P).
        """
        gains, losses = np.zeros((2, len(zones), SLOTS * self._game.num_seats), np.int64)
        row, target = np.nonzero(mask[:, moves.TARGET :])
        effect = effects[row].argmax(axis=1)
        owner, slot = np.divmod(target, SLOTS)
        card, own = zones[row, owner, slot], zones[row, 0]
        without = zones[row, owner]
        without[np.arange(len(row)), slot] = np.where((effect == FREEZE) | (effect == THAW), card ^ 1, EMPTY)
        without.sort(axis=1)
        change = self._best(without) - best[row, owner]
        losses[row, target] = np.where(effect == THAW, 0, -change)
        steals = np.flatnonzero(effect == STEAL)
        gains[row[steals], target[steals]] = self._with_each(own[steals], card[steals, None])[:, 0]
        thaws = np.flatnonzero(effect == THAW)
        gains[row[thaws], target[thaws]] = change[thaws] + best[row[thaws], 0]
        burns = np.flatnonzero((effect == BURN) & (owner == 0))
        gains[row[burns], target[burns]] = change[burns] + best[row[burns], 0]
        return gains, losses
