"""Recorder: watches a play and makes records of its matches."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import LifeCycleError
from poison_env.core.protocol import Game, State
from poison_env.record.match import RecordedMatch


class Recorder:
    """Watches a play: `play(..., recorder=recorder)`, then `recorder.records(...)`. A new play begins a new recording.

    Args:
        rows: which matches of the batch to record; all of them unless given.
    """

    def __init__(self, rows: Sequence[int] | None = None) -> None:
        self._rows = None if rows is None else np.asarray(rows, dtype=np.int64)
        self._game: Game[Any] | None = None
        self._size = 0
        self._start: State
        self._actions: list[npt.NDArray[np.int64]] = []

    def before_step(self, game: Game[Any], state: Any, actions: npt.NDArray[np.int64]) -> None:
        """Note the actions (B,) about to be played."""
        rows = slice(None) if self._rows is None else self._rows
        if self._game is None or not state.moves.any():
            self._game, self._size, self._start, self._actions = game, len(state), state[rows], []
        self._actions.append(actions[rows].copy())

    def records(
        self,
        seeds: KeyArray | Sequence[int],
        agents: Sequence[str],
        *,
        seating: npt.ArrayLike | None = None,
        seed: int = 0,
        matches: npt.NDArray[np.integer[Any]] | None = None,
    ) -> list[RecordedMatch]:
        """Return a record for each recorded row.

        Args:
            seeds, seating, seed, matches: as given to `play`, for the whole batch.
            agents: the names of the agents given to `play`.

        Raises:
            LifeCycleError: nothing was recorded, or not to the end.
            ValueError: the seeds are not those that were played, or the names do not fit the seats.
        """
        if self._game is None:
            raise LifeCycleError("nothing was recorded yet")
        game, keys = self._game, chance.as_keys(seeds)
        if len(keys) != self._size:
            raise ValueError(f"seeds: expected {self._size}, one for each match of the play, got {len(keys)}")
        if seating is None and len(agents) != game.num_seats:
            raise ValueError(f"agents: expected {game.num_seats} names, one for each seat, got {len(agents)}")
        rows = np.arange(self._size) if self._rows is None else self._rows
        seats = np.arange(game.num_seats) if seating is None else np.asarray(seating)
        table = np.broadcast_to(seats, (self._size, game.num_seats))
        if not 0 <= int(table.min()) <= int(table.max()) < len(agents):
            raise ValueError(f"seating: expected indices of {len(agents)} names")
        state = game.deal(keys[rows])
        if not self._start.equals(state):
            raise ValueError("seeds: the recorded matches were dealt from others")
        returns = np.zeros((len(rows), game.num_seats))
        for actions in self._actions:
            returns += game.step(state, actions)
        if not state.done.all():
            raise LifeCycleError(f"row {rows[int(np.argmin(state.done))]}: its match was not recorded to the end")
        numbers = np.arange(self._size) if matches is None else matches
        played = np.stack(self._actions, axis=1)
        points, placements = game.points(state), game.placements(state)
        return [
            RecordedMatch(
                game_id=game.id,
                options=dict(game.options),
                seed=int(keys[row]),
                agents=tuple(agents[index] for index in table[row]),
                actions=tuple(played[place, : state.moves[place]].tolist()),
                points=tuple(points[place].tolist()),
                placements=tuple(placements[place].tolist()),
                returns=tuple(returns[place].tolist()),
                play_seed=seed,
                match=int(numbers[row]),
            )
            for place, row in enumerate(rows.tolist())
        ]
