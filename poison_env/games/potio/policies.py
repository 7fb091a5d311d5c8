"""Reference opponents for Potio. They act on whole batches, from what their seat sees alone."""

import numpy as np
import numpy.typing as npt

from poison_env.core.choice import best_legal
from poison_env.core.protocol import Decisions, IntArray
from poison_env.games.potio import moves
from poison_env.games.potio.brews import BURN, FREEZE, STEAL, SUBSETS, THAW
from poison_env.games.potio.deck import CLASSES, EMPTY, GREY, SLOTS
from poison_env.games.potio.game import Potio
from poison_env.games.potio.moves import CENTRE

_SET = SUBSETS  # a set's merit is its points times this, plus how low its slots are
_EFFECT_ORDER = {STEAL: 4, BURN: 3, FREEZE: 2, THAW: 1}  # none comes last


class PotioGreedy:
    """Brews the most valuable set it has, at once, and takes the card with which it has the best one.

    Without a brew in sight it takes the card that fits its zone best: 3 for each card of the same value, 1 for each of
    the same colour and for each grey. It steals rather than burns, burns rather than freezes, freezes rather than
    thaws; it steals, freezes and thaws the highest card, and burns the lowest one of its own.
    """

    least_points = 0  # a brew is worth so much or is put off

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions."""
        game = decisions.game
        assert isinstance(game, Potio)  # the table of scripted agents asks these policies about no other game
        merit = np.zeros(decisions.action_mask.shape, np.int64)
        mask = decisions.action_mask
        takes = np.flatnonzero(mask[:, moves.TAKE : moves.PICK].any(axis=1))
        if len(takes):
            merit[takes, moves.TAKE : moves.PICK] = _worth_of_taking(game, decisions.observation[takes])
        picks = np.flatnonzero(mask[:, moves.PICK : moves.EFFECT].any(axis=1))
        if len(picks):
            merit[picks, self._next_pick(game, decisions.observation[picks])] = 1
        for effect, order in _EFFECT_ORDER.items():
            merit[:, moves.EFFECT + effect] = order
        merit[:, moves.TARGET :] = _worth_of_targets(game, decisions.observation)
        return best_legal(merit, mask)

    def _next_pick(self, game: Potio, observation: npt.NDArray[np.int16]) -> npt.NDArray[np.int64]:
        """Return the action that leads to the best brew, the end of the turn where there is none, (n,)."""
        zones = _own_zones(game, observation)
        picked = game.layout.decode(observation, "picked").astype(np.int64) @ (1 << np.arange(SLOTS - 1, -1, -1))
        row, subset, number = game.brews.find(zones)
        undecided = (picked & -picked) - 1  # bits of the slots behind the last picked one
        undecided[picked == 0] = SUBSETS - 1
        points = game.brews.points[number]
        begun = ((subset ^ picked[row]) & ~undecided[row]) == 0
        good = begun & ((points >= self.least_points) | self._hurries(game, observation)[row] | (picked[row] > 0))
        best = np.full(len(zones), -1, np.int64)
        np.maximum.at(best, row[good], points[good] * _SET + subset[good])
        left = np.where(best < 0, 0, best % _SET) & ~picked
        next_slot = SLOTS - np.frexp(left)[1]  # the highest bit left is the lowest slot
        return np.where(left > 0, moves.PICK + next_slot, moves.COMMIT)

    def _hurries(self, game: Potio, observation: npt.NDArray[np.int16]) -> npt.NDArray[np.bool_]:
        return np.ones(len(observation), bool)


class PotioPatient(PotioGreedy):
    """Plays like `greedy`, but puts off brews of less than 10 points.

    Not with seven cards or more before it, which might explode, nor when each seat has two turns at most to come.
    """

    least_points = 10

    def _hurries(self, game: Potio, observation: npt.NDArray[np.int16]) -> npt.NDArray[np.bool_]:
        cards = (_own_zones(game, observation) != EMPTY).sum(axis=1)
        left = game.layout.decode(observation, "pile").sum(axis=(1, 2))
        left += (game.layout.decode(observation, "centre") > 0).sum(axis=1)
        late: npt.NDArray[np.bool_] = (cards >= SLOTS - 1) | (left <= 2 * game.num_seats)
        return late


def _own_zones(game: Potio, observation: npt.NDArray[np.int16]) -> npt.NDArray[np.int8]:
    seen = game.layout.decode(observation, "zones")[:, 0]
    return np.where(seen == 0, EMPTY, seen - 1).astype(np.int8)


def _worth_of_taking(game: Potio, observation: npt.NDArray[np.int16]) -> npt.NDArray[np.int64]:
    """Return the points of the best brew with each card of the centre, and then how well it fits, (n, 4)."""
    zones, centre = _own_zones(game, observation), game.layout.decode(observation, "centre").astype(np.int64) - 1
    size = len(zones)
    larger = np.repeat(zones, CENTRE, axis=0)
    larger[:, -1] = np.where(centre < 0, EMPTY, 2 * centre).reshape(-1)
    larger.sort(axis=1)
    row, _, number = game.brews.find(larger)
    best = np.zeros(size * CENTRE, np.int64)
    np.maximum.at(best, row, game.brews.points[number])
    free = game.layout.decode(observation, "free")[:, 0].astype(np.int64)
    same_value = game.deck.values[:, None] == game.deck.values
    grey = CLASSES.index(GREY)
    same_colour = (game.deck.classes[:, None] == game.deck.classes) | (game.deck.classes == grey)[:, None]
    fits = (free @ (3 * same_value + same_colour))[np.arange(size)[:, None], centre]
    worth: npt.NDArray[np.int64] = 100 * best.reshape(size, CENTRE) + fits
    return worth


def _worth_of_targets(game: Potio, observation: npt.NDArray[np.int16]) -> npt.NDArray[np.int64]:
    """Return how gladly each card is hit by the effect that is aimed, (n, 8 P): high cards; burned, low own ones."""
    zones = game.layout.decode(observation, "zones").astype(np.int64)
    values = np.where(zones > 0, game.deck.values[np.maximum(zones - 1, 0) // 2], 0)
    burns = game.layout.decode(observation, "effects")[:, BURN, None, None] > 0
    own = (np.arange(game.num_seats) == 0)[:, None]
    worth: npt.NDArray[np.int64] = np.where(burns, np.where(own, 100 - values, 0), values)
    return worth.reshape(len(zones), -1)
