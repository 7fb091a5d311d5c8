"""A learner's seat among other agents: matches advanced from one decision of the learner to its next.

What the single-agent and the vector environments share. A transition runs from one decision of the learner to its next
one, or to the end, and is paid all that the learner's seat earned in between.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env import scripted
from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import OptionError
from poison_env.core.layout import Observation
from poison_env.core.protocol import Agent, BoolArray, FloatArray, Game, HasMemory, IntArray, decisions
from poison_env.play import legal_choice

Opponents = str | Agent | Sequence[str | Agent]
_SEAT, _PLAYERS, _LUCK = 1, 2, 3  # streams of an episode's key


class Table:
    """B matches, row by row at a learner's decision or over.

    Args:
        game: the rules.
        opponents: a scripted agent's name, an agent, or a pool of these from which every other seat draws for each
            match.
        size: B.
        seat: the learner's; drawn for each match unless given.

    Row b's k-th episode is a function of its seed and k alone, whatever B is.

    Raises:
        OptionError: an empty pool, or no such seat.
        UnknownNameError: no scripted agent of that name.
    """

    def __init__(self, game: Game[Any], opponents: Opponents, size: int, *, seat: int | None = None) -> None:
        if seat is not None and not 0 <= seat < game.num_seats:
            raise OptionError(f"seat: expected None or 0 to {game.num_seats - 1}, got {seat}")
        self.game = game
        self.seat = seat
        self.seeds = np.zeros(size, np.uint64)  # (B,)
        self.episodes = np.zeros(size, np.int64)  # (B,) begun since the seed was given
        self.seats = np.zeros(size, np.int64)  # (B,) the learner's
        self._state = game.deal(self.seeds)
        self._agents: list[Agent] = []  # the pool, behind it those of former pools that still sit somewhere
        self._pool_size = 0
        self._players = np.zeros((size, game.num_seats), np.int64)  # (B, P) indices into the agents
        self._luck = np.zeros(size, np.uint64)  # (B,) where the opponents' randomness comes from
        self._owed = np.zeros(size)  # (B,) earned by the learner and not paid yet
        self._asked = np.zeros((size, game.num_seats), bool)  # (B, P) has decided in this match

        self.invite(opponents)

    def __len__(self) -> int:
        return len(self.seeds)

    def invite(self, opponents: Opponents) -> None:
        """Let matches that begin from now on draw from these opponents; matches under way are played to their end.

        Raises:
            OptionError: an empty pool.
            UnknownNameError: no scripted agent of that name.
        """
        named = [opponents] if isinstance(opponents, str) or not isinstance(opponents, Sequence) else list(opponents)
        if not named:
            raise OptionError("opponents: expected at least one agent")
        pool = [scripted.load(agent) if isinstance(agent, str) else agent for agent in named]
        if self._agents:  # those who sit somewhere stand behind the pool
            seated = np.unique(self._players)
            self._players = len(pool) + np.searchsorted(seated, self._players)
            self._agents = [*pool, *(self._agents[index] for index in seated)]
        else:
            self._agents = pool
        self._pool_size = len(pool)

    def seed(self, rows: IntArray, seeds: KeyArray) -> None:
        """Give rows a seed each; their next episode is the first of it."""
        self.seeds[rows] = seeds
        self.episodes[rows] = 0

    def begin(self, rows: IntArray) -> None:
        """Begin the next episode in those rows, and play it to the learner's first decision.

        A match that ends before the learner is asked for anything is no episode; the next one is begun instead.
        """
        while len(rows):
            keys = chance.fold(self.seeds[rows], self.episodes[rows])
            self.episodes[rows] += 1
            self._state[rows] = self.game.deal(keys)
            seats = chance.below(chance.fold(keys, _SEAT), self.game.num_seats)
            self.seats[rows] = seats if self.seat is None else self.seat
            self._players[rows] = chance.below(chance.bits(keys, _PLAYERS, self.game.num_seats), self._pool_size)
            self._luck[rows] = chance.fold(keys, _LUCK)
            self._owed[rows] = 0
            self._asked[rows] = False
            for agent in self._agents:
                if isinstance(agent, HasMemory):
                    agent.reset(rows)
            self._advance(rows)
            rows = rows[self._state.done[rows]]

    def act(self, rows: IntArray, actions: IntArray) -> tuple[FloatArray, BoolArray, BoolArray]:
        """Play the learner's legal actions (n,) in those rows, and the others' up to its next decision.

        Returns:
            rewards (n,), whether the match is over by the rules (n,), whether by a limit (n,).
        """
        self._step(rows, actions)
        self._advance(rows)
        paid = self._owed[rows]
        self._owed[rows] = 0
        truncated = self._state.truncated[rows]
        return paid, self._state.done[rows] & ~truncated, truncated

    def observe(self, rows: IntArray) -> tuple[Observation, BoolArray]:
        """Return what the learner sees in those rows, (n, F), and its legal actions, (n, A), none after the end."""
        part = self._state[rows]
        return self.game.observe(part, self.seats[rows]), self.game.action_mask(part)

    def placements(self, rows: IntArray) -> npt.NDArray[np.int64]:
        """Return the learner's place in those rows, (n,), 0 = best; equal = shared."""
        every = self.game.placements(self._state[rows])
        return every[np.arange(len(rows)), self.seats[rows]].astype(np.int64)

    def text(self, row: int) -> str:
        """Return a row as the learner sees it, for people; the game must have `HasPicture`."""
        text: str = self.game.text(self._state, row, int(self.seats[row]))  # type: ignore[attr-defined]  # callers ask
        return text

    def _advance(self, rows: IntArray) -> None:
        """Let the others move until the learner is to move, or the match is over."""
        while True:
            mover = self._state.to_move
            rows = rows[~self._state.done[rows] & (mover[rows] != self.seats[rows])]
            if not len(rows):
                return
            players = self._players[rows, mover[rows]]
            actions = np.empty(len(rows), np.int64)
            for index in np.unique(players):
                asked = np.flatnonzero(players == index)
                first = ~self._asked[rows[asked], mover[rows[asked]]]
                question = decisions(self.game, self._state, rows[asked], matches=self._luck, first=first)
                agent = self._agents[index]
                actions[asked] = legal_choice(agent.act(question), question, agent)
            self._asked[rows, mover[rows]] = True
            self._step(rows, actions)

    def _step(self, rows: IntArray, actions: IntArray) -> None:
        part = self._state[rows]
        rewards = self.game.step(part, actions)
        self._state[rows] = part
        self._owed[rows] += rewards[np.arange(len(rows)), self.seats[rows]]
