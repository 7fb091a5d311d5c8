"""A game under check, and the random play that the checks look at."""

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.core.protocol import Game
from poison_env.testing.report import HasWhere, Log

ROWS = 24


class SeatReferee(Protocol):
    """An independent account of the rules for one match, by seat numbers."""

    def to_move(self) -> int | None:
        """Return the seat to move; None when the match is over."""

    def legal(self) -> Collection[int]:
        """Return its legal actions."""

    def step(self, action: int) -> Sequence[float]:
        """Play an action; return what it pays each seat."""


class GameCase(HasWhere):
    """A game under check."""

    def __init__(
        self,
        name: str,
        game: Game[Any],
        *,
        referee: Callable[[Any], SeatReferee] | None,
        conserved: Callable[[Any], npt.ArrayLike] | None,
        seed: int,
    ) -> None:
        super().__init__(name, "game")
        self.game = game
        self.referee = referee
        self.conserved = conserved
        self.seed = seed
        self.seeds = chance.fold(seed, np.arange(ROWS))
        self.rewards = np.zeros((ROWS, game.num_seats))  # of the last move

    def walk(self) -> Iterator[tuple[Any, npt.NDArray[np.int64]]]:
        """Play a batch with random legal actions; yield live state and actions before each move, and at the end."""
        for move, (state, actions, paid) in enumerate(random_play(self.game, self.seeds)):
            self.rewards = paid
            self.log = Log(self.name, "game")
            self.log.add("from poison_env.testing.game_case import replay")
            self.log.add(f"state, actions = replay(game, moves={move}, seed={self.seed})")
            yield state, actions


def random_play(
    game: Game[Any], seeds: chance.KeyArray
) -> Iterator[tuple[Any, npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
    """Play matches to the end with random legal actions, the same ones each time.

    Yields:
        the live state before each move, and once at the end; the actions that come, (B,); what the last move paid.
    """
    state, actions, paid = game.deal(seeds), np.zeros(len(seeds), np.int64), np.zeros((len(seeds), game.num_seats))
    for move in range(game.max_moves + 1):
        live = np.flatnonzero(~state.done)
        if len(live):
            actions[live] = uniform_legal(game.action_mask(state)[live], chance.fold(move, live))
        yield state, actions, paid
        if not len(live):
            return
        paid = game.step(state, actions)


def replay(game: Game[Any], *, moves: int, seed: int = 0) -> tuple[Any, npt.NDArray[np.int64]]:
    """Return what `check_game` looked at after so many moves: the state (B matches) and the actions that came next."""
    play = random_play(game, chance.fold(seed, np.arange(ROWS)))
    state, actions, _ = next(itertools.islice(play, moves, None))
    return state, actions
