"""Counting overflows while matches are played: how many, how many of them deliberate, and what came of those.

A deliberate overflow is one chosen although a legal move without one existed. It pays if its mover ends the round
immune in a class of cards that it took.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core.protocol import BoolArray, Game, HasOverflow, IntArray

Counts = npt.NDArray[np.int64]


class OverflowCounts:
    """Watches a play of B matches and counts for each seat, (B, P): a `Recorder` for games with `HasOverflow`.

    Attributes:
        decisions: moves made.
        chances: moves made when both kinds were legal: one that overflows and one that does not.
        overflows: overflows, forced ones too.
        deliberate: overflows chosen at a chance.
    """

    def __init__(self, game: Game[Any], matches: int) -> None:
        """Begin to count.

        Raises:
            TypeError: the game has no overflows.
        """
        if not isinstance(game, HasOverflow):
            raise TypeError(f"{game.id} has no overflows to count")
        self._ability: HasOverflow = game
        self.decisions, self.chances, self.overflows, self.deliberate = (
            np.zeros((matches, game.num_seats), np.int64) for _ in range(4)
        )
        self.rounds = np.zeros(matches, np.int64)  # (B,) rounds ended
        self._taken: IntArray = np.zeros((matches, game.num_seats, 0), np.int64)  # (B, P, C) in the running round
        self._seizures: list[
            tuple[IntArray, IntArray, IntArray, BoolArray]
        ] = []  # rows, round, seat, (n, C) classes taken
        self._endings: list[tuple[IntArray, IntArray, BoolArray]] = []  # rows, round, (n, P, C) who is immune in what

    def before_step(self, game: Game[Any], state: Any, actions: npt.NDArray[np.int64]) -> None:
        """See the batch and the actions about to be played."""
        legal, overflowing = game.action_mask(state), self._ability.overflows(state)
        live = np.flatnonzero(~state.done)
        seats = state.to_move[live]
        overflow = overflowing[live, actions[live]]
        safe_move = (legal & ~overflowing)[live].any(axis=1)
        deliberate = overflow & safe_move
        self.decisions[live, seats] += 1
        self.chances[live, seats] += safe_move & overflowing[live].any(axis=1)
        self.overflows[live, seats] += overflow
        self.deliberate[live, seats] += deliberate

        cards = np.asarray(self._ability.cards_taken(state, actions), dtype=np.int64)  # (B, C)
        if not self._taken.size:
            self._taken = np.zeros((*self._taken.shape[:2], cards.shape[1]), np.int64)
        self._taken[live, seats] += cards[live]
        rows = live[deliberate]
        self._seizures.append((rows, self.rounds[rows], seats[deliberate], cards[rows] > 0))

        ending = np.flatnonzero(self._ability.round_ends(state) & ~state.done)
        if len(ending):
            immune = self._ability.majority(self._taken[ending])
            self._endings.append((ending, self.rounds[ending], immune))
            self._taken[ending] = 0
            self.rounds[ending] += 1

    def immune(self) -> Counts:
        """Count deliberate overflows whose mover ended the round immune in a class taken by it, (B, P)."""
        counts = np.zeros_like(self.deliberate)
        if not self._endings:
            return counts
        immunity = np.zeros((len(counts), int(self.rounds.max()), *self._taken.shape[1:]), bool)
        for rows, rounds, immune in self._endings:
            immunity[rows, rounds] = immune
        rows, rounds, seats, classes = (np.concatenate(column) for column in zip(*self._seizures, strict=True))
        over = rounds < self.rounds[rows]
        rows, rounds, seats, classes = rows[over], rounds[over], seats[over], classes[over]
        paid = (immunity[rows, rounds, seats] & classes).any(axis=1)
        np.add.at(counts, (rows, seats), paid)
        return counts
