"""play(): the one loop over decisions, for whole batches of matches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import IllegalActionError
from poison_env.core.protocol import Agent, Decisions, FloatArray, Game, HasMemory, IntArray, decisions


@dataclass(frozen=True, eq=False)
class MatchRecord:
    """What became of B matches with P seats."""

    returns: FloatArray  # (B, P) sums of rewards
    points: IntArray  # (B, P) the game's own count
    placements: IntArray  # (B, P) 0 = best, equal = shared
    moves: IntArray  # (B,)


class Recorder(Protocol):
    """Somebody who watches a play; `state` is the live batch and must be left alone."""

    def before_step(self, game: Game[Any], state: Any, actions: npt.NDArray[np.int64]) -> None:
        """See the batch and the actions (B,) about to be played; entries of finished rows mean nothing."""


def play(
    game: Game[Any],
    agents: Sequence[Agent],
    seeds: KeyArray | Sequence[int],
    *,
    seating: npt.ArrayLike | None = None,
    seed: int = 0,
    matches: IntArray | None = None,
    recorder: Recorder | None = None,
) -> MatchRecord:
    """Play a match for each seed, all of them side by side, to the end.

    Args:
        seeds: (B,) the matches' seeds: what is dealt.
        seating: (B, P) or (P,) which agent sits where, as indices into `agents`; agent p in seat p unless given.
        seed: the agents' randomness, together with each match's number.
        matches: (B,) the matches' numbers, 0 to B - 1 unless given: a match played with the same number, seed and
            agents is the same in any batch.

    Raises:
        ValueError: `seating` has another shape, or names an agent that is not there.
        IllegalActionError: an agent chose an illegal action; the message names agent, row and seat.
    """
    keys = chance.as_keys(seeds)
    size, seats = len(keys), game.num_seats
    if seating is None and len(agents) != seats:
        raise ValueError(
            f"expected {seats} agents, one for each seat, got {len(agents)}; give `seating` to place them otherwise"
        )
    table = np.broadcast_to(np.arange(seats) if seating is None else np.asarray(seating), (size, seats))
    if table.dtype.kind not in "iu" or (size and not 0 <= int(table.min()) <= int(table.max()) < len(agents)):
        raise ValueError(f"seating: expected indices of {len(agents)} agents")
    for agent in agents:
        if isinstance(agent, HasMemory):
            agent.reset(np.arange(size))

    state = game.deal(keys)
    returns = np.zeros((size, seats))
    asked = np.zeros((size, seats), bool)
    actions = np.zeros(size, np.int64)
    while not state.done.all():
        live = np.flatnonzero(~state.done)
        players = table[live, state.to_move[live]]
        for index in np.unique(players):
            rows = live[players == index]
            question = decisions(game, state, rows, seed, matches=matches, first=~asked[rows, state.to_move[rows]])
            actions[rows] = legal_choice(agents[index].act(question), question, agents[index])
        asked[live, state.to_move[live]] = True
        if recorder is not None:
            recorder.before_step(game, state, actions)
        returns += game.step(state, actions)
    return MatchRecord(
        returns=returns, points=game.points(state), placements=game.placements(state), moves=state.moves.copy()
    )


def legal_choice(chosen: IntArray, question: Decisions, agent: Agent) -> IntArray:
    """Return an agent's answer to a question after checking it.

    Raises:
        IllegalActionError: it is not a legal action for each decision; the message names agent, row and seat.
    """
    given = np.asarray(chosen)
    if given.shape != question.rows.shape or given.dtype.kind not in "iu":
        expected = f"expected integer actions of shape {question.rows.shape}"
        raise IllegalActionError(f"{agent!r}: {expected}, got {given.dtype} of shape {given.shape}")
    inside = (given >= 0) & (given < question.action_mask.shape[1])
    legal = inside & question.action_mask[np.arange(len(given)), np.where(inside, given, 0)]
    if not legal.all():
        wrong = int(np.argmin(legal))
        where = f"row {question.rows[wrong]}: seat {question.seats[wrong]}"
        raise IllegalActionError(f"{agent!r}: {where} chose the illegal action {given[wrong]}")
    return given
