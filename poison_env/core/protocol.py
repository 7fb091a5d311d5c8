"""The contract between rules, environments and agents.

Letters for shapes: `B` matches in a batch, `P` seats, `A` actions, `F` features, `N` decisions (a subset of rows),
`K` worlds a decision, `T` public events.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import ActionTypeError, IllegalActionError, NoWorldsError
from poison_env.core.layout import Observation, ObservationLayout

IntArray = npt.NDArray[np.integer[Any]]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


@dataclass(eq=False)
class State:
    """Matches as arrays whose first axis is the match; games add their own arrays in a subclass.

    The owner's arrays are advanced in place by `Game.step`; indexing and `copy` are the only ways to branch, and both
    copy.
    """

    to_move: npt.NDArray[np.int64]  # (B,) seat to move; meaningless where done
    done: BoolArray  # (B,) the match is over
    truncated: BoolArray  # (B,) over by a limit, not by the rules
    moves: npt.NDArray[np.int64]  # (B,) moves made so far

    def __len__(self) -> int:
        return len(self.to_move)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __getitem__(self, rows: int | slice | IntArray | BoolArray | list[int]) -> Self:
        """Return a copy of those rows; repeats are allowed."""
        if isinstance(rows, slice):
            return type(self)(**{name: array[rows].copy() for name, array in self._arrays().items()})
        index = self._index(rows)
        return type(self)(**{name: array.take(index, axis=0) for name, array in self._arrays().items()})

    def __setitem__(self, rows: int | slice | IntArray | BoolArray | list[int], other: Self) -> None:
        """Overwrite those rows with the matches of `other`."""
        index = rows if isinstance(rows, slice) else self._index(rows)
        for name, array in self._arrays().items():
            array[index] = getattr(other, name)

    def _index(self, rows: int | IntArray | BoolArray | list[int]) -> IntArray:
        index = np.atleast_1d(np.asarray(rows))
        if index.dtype == np.bool_:
            return np.flatnonzero(index)
        return index if index.size else index.astype(np.int64)  # an empty list has no type of its own

    def copy(self) -> Self:
        """Return a copy that shares no memory."""
        return type(self)(**{name: array.copy() for name, array in self._arrays().items()})

    def equals(self, other: object) -> bool:
        """Tell whether both hold the same matches, bit for bit."""
        return type(self) is type(other) and all(
            np.array_equal(array, getattr(other, name)) for name, array in self._arrays().items()
        )


S = TypeVar("S", bound=State)


class Game(Protocol[S]):
    """The rules of one game with its options; immutable, holds no match."""

    @property
    def id(self) -> str:
        """Name and version, "poison-v0"."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Constructor arguments as JSON values, defaults resolved."""

    @property
    def rules_options(self) -> Mapping[str, Any]:
        """The options that change what is seen or legal: what a policy depends on."""

    @property
    def num_seats(self) -> int:
        """P."""

    @property
    def num_actions(self) -> int:
        """A."""

    @property
    def max_moves(self) -> int:
        """An upper bound of a match's length in moves."""

    @property
    def layout(self) -> ObservationLayout:
        """What a seat sees, F numbers."""

    @property
    def full_layout(self) -> ObservationLayout:
        """Everything, for critics and `state()`."""

    @property
    def points_sign(self) -> int:
        """+1 if many points are good, -1 if few are."""

    def deal(self, seeds: KeyArray) -> S:
        """Return B fresh matches, one for each seed (B,)."""

    def action_mask(self, state: S) -> BoolArray:
        """Return (B, A), True = legal; all False where done."""

    def step(self, state: S, actions: IntArray) -> FloatArray:
        """Play one action in each live row, in place; return rewards (B, P).

        Done rows ignore their action, pay 0 and stay as they are.

        Raises:
            IllegalActionError: an action of a live row is illegal; nothing has changed.
            ActionTypeError: `actions` is not an integer array of shape (B,); nothing has changed.
        """

    def observe(self, state: S, seats: IntArray) -> Observation:
        """Return (B, F) int16: row b from the point of view of `seats[b]`, own seat first."""

    def observe_all(self, state: S) -> Observation:
        """Return (B, F_full) int16: everything there is to know."""

    def points(self, state: S) -> IntArray:
        """Return (B, P), the game's own count so far."""

    def placements(self, state: S) -> IntArray:
        """Return (B, P), 0 = best, equal = shared, by the rules' own tie-breaks."""

    def resample(self, state: S, seats: IntArray, seeds: KeyArray) -> S:
        """Return a new batch in which all that `seats[b]` cannot know is drawn anew from `seeds[b]`."""

    def history(self, state: S) -> IntArray:
        """Return (B, T) public events: seat * A + action, -1 beyond the last one."""

    def action_label(self, action: int) -> str:
        """Return an action as people write it, such as `R7>2`."""


@runtime_checkable
class HasOverflow(Protocol):
    """Ability of games in which a move can make its mover take cards."""

    def overflows(self, state: Any) -> BoolArray:
        """Return (B, A): legal actions that make the mover take cards now."""

    def cards_taken(self, state: Any, actions: IntArray) -> IntArray:
        """Return (B, C): cards of each class that the mover of row b takes by `actions[b]`, 0 without an overflow."""

    def majority(self, taken: IntArray) -> BoolArray:
        """Return (..., P, C): which seats are immune in which class, from cards taken (..., P, C)."""

    def round_ends(self, state: Any) -> BoolArray:
        """Return (B,): the next move is the last of its round."""


@runtime_checkable
class HasPicture(Protocol):
    """Ability of games that can describe a position for a person."""

    def text(self, state: Any, row: int = 0, seat: int | None = None) -> str:
        """Return a position as a table; with `seat`, only what that seat may see."""


@runtime_checkable
class HasChance(Protocol):
    """Ability of games whose chance can be drawn one outcome at a time, as game trees and exact solvers need it.

    `deal` draws before the first move and `step` after some of them, the last one too, at once and from the match's
    seed. All that is drawn between two moves is one draw, a row of outcomes; what no seat can ever learn is not among
    them, and what is hidden is drawn when a seat first sees it. Draws that no seat can tell apart are one and the same
    row, so that each has one path through the tree. The row is empty where a move alone has shown seats what they
    could not know: moves and what seats see after each draw must tell all that they ever know.
    """

    @property
    def num_outcomes(self) -> int:
        """Outcomes are the numbers from 0 to one below this."""

    @property
    def max_outcomes(self) -> int:
        """D, an upper bound of the outcomes in a match."""

    @property
    def max_draws(self) -> int:
        """An upper bound of the draws in a match."""

    def drawn_now(self, state: Any) -> BoolArray:
        """Return (B,): there is a draw after the last move, or before the first; it can be drawn again."""

    def next_outcomes(self, state: Any, drawn: Sequence[int]) -> dict[int, float]:
        """Return what may follow the outcomes `drawn` of the present draw, and how likely; nothing if that is all.

        Args:
            state: a batch of one in which `drawn_now`.
            drawn: the first outcomes of its draw.

        Raises:
            PositionError: chance cannot draw these.
        """

    def draw(self, state: Any, outcomes: IntArray) -> FloatArray:
        """Let chance have drawn `outcomes` instead, in place: a row for each match, filled up with -1.

        Returns:
            (B, P) by how much that changes what the last move has paid.

        Raises:
            PositionError: chance cannot draw a row, or a match is past its draw; nothing has changed.
        """

    def outcomes(self, state: Any) -> IntArray:
        """Return (B, D): the outcomes of all draws of each match, -1 beyond the last one.

        Raises:
            PositionError: the match does not tell, as it was set up in its middle or has forgotten its moves.
        """

    def redraw(self, state: Any, seats: IntArray, seeds: KeyArray) -> IntArray:
        """Return (B, D): outcomes of matches with the same moves that `seats[b]` cannot tell from these.

        They are drawn from `seeds[b]` as `resample` draws, but for a seat that remembers every move.

        Raises:
            PositionError: as `outcomes`.
        """

    def outcome_label(self, outcome: int) -> str:
        """Return an outcome as people write it, such as `R7`."""


@runtime_checkable
class HasReturns(Protocol):
    """Ability of games that know what a match can pay."""

    @property
    def return_bounds(self) -> tuple[float, float]:
        """What a seat can earn in a match: never less than the first, never more than the second."""

    @property
    def return_sum(self) -> float | None:
        """What all seats together earn in every match; None if that varies."""

    @property
    def pays_at_end(self) -> bool:
        """Whether the last move of a match pays everything."""


class Agent(Protocol):
    """A policy: one legal action for each decision it is asked for."""

    def act(self, decisions: "Decisions") -> IntArray:
        """Return (N,) legal actions."""


@runtime_checkable
class HasProbabilities(Protocol):
    """Ability of agents with a policy that can be read."""

    def probabilities(self, decisions: "Decisions") -> FloatArray:
        """Return (N, A): how likely each action is; 0 where illegal."""


@runtime_checkable
class HasValues(Protocol):
    """Ability of agents that judge actions."""

    def values(self, decisions: "Decisions") -> FloatArray:
        """Return (N, A): expected return of each action; -inf where illegal."""


@runtime_checkable
class HasMemory(Protocol):
    """Ability of agents that remember."""

    def reset(self, rows: IntArray) -> None:
        """Forget the matches in those rows."""


class Decisions:
    """The question an agent gets: N decisions, each with what its seat may know and nothing else."""

    def __init__(
        self,
        game: Game[Any],
        *,
        observation: Observation,
        action_mask: BoolArray,
        seats: IntArray,
        rows: IntArray,
        keys: KeyArray,
        first: BoolArray | None = None,
        state: Any = None,
    ) -> None:
        self.game = game
        self.observation = observation  # (N, F) int16
        self.action_mask = action_mask  # (N, A) at least one True in each row
        self.seats = seats  # (N,)
        self.rows = rows  # (N,) which match of the batch
        self.keys = keys  # (N,) uint64, the randomness of each decision
        self.first = np.zeros(len(rows), bool) if first is None else first  # (N,) a new match has begun for this seat
        self._state = state  # the batch the rows point into; agents see it through `worlds` alone

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def history(self) -> IntArray:
        """Public events of each decision's match, (N, T); computed when asked for.

        Raises:
            NoWorldsError: the decisions were built from an observation alone.
        """
        return self.game.history(self._true_rows(None))

    def worlds(self, count: int, rows: IntArray | None = None) -> Any:
        """Draw `count` states for each decision (or those `rows` of this question) that agree with what its seat knows.

        Returns:
            (N * K,) states, decision-major. Row n * K + k is a function of the n-th key and k alone.

        Raises:
            NoWorldsError: the decisions were built from an observation alone.
        """
        chosen = np.arange(len(self)) if rows is None else np.asarray(rows)
        states = self._true_rows(np.repeat(chosen, count))
        numbers = np.tile(np.arange(count), len(chosen))
        seeds = chance.fold(np.repeat(self.keys[chosen], count), numbers)
        return self.game.resample(states, np.repeat(self.seats[chosen], count), seeds)

    def _true_rows(self, chosen: IntArray | None) -> Any:
        if self._state is None:
            raise NoWorldsError(
                "these decisions were built from an observation alone: they have no worlds and no history"
            )
        return self._state[self.rows if chosen is None else self.rows[chosen]]

    @classmethod
    def from_observation(
        cls,
        game: Game[Any],
        observation: npt.ArrayLike,
        action_mask: npt.ArrayLike,
        seat: npt.ArrayLike,
        *,
        seed: int = 0,
    ) -> "Decisions":
        """Build decisions for callers that hold no state: observations (N, F) or (F,), masks likewise, seat(s)."""
        seen = np.atleast_2d(np.asarray(observation, dtype=np.int16))
        mask = np.atleast_2d(np.asarray(action_mask)).astype(bool)
        rows = np.arange(len(seen))
        seats = np.broadcast_to(np.asarray(seat, dtype=np.int64), rows.shape)
        if seen.shape != (len(rows), game.layout.size) or mask.shape != (len(rows), game.num_actions):
            expected = f"({len(rows)}, {game.layout.size}) and ({len(rows)}, {game.num_actions})"
            raise ValueError(f"expected observation and mask of shapes {expected}, got {seen.shape} and {mask.shape}")
        if not mask.any(axis=1).all():
            raise IllegalActionError(f"row {int(np.argmin(mask.any(axis=1)))}: the mask allows no action")
        return cls(game, observation=seen, action_mask=mask, seats=seats, rows=rows, keys=chance.fold(seed, rows))


def decisions(
    game: Game[Any],
    state: Any,
    rows: IntArray,
    seed: int = 0,
    *,
    matches: IntArray | None = None,
    first: BoolArray | None = None,
) -> Decisions:
    """Ask the seats to move in those live rows of `state`.

    Args:
        rows: (N,) rows whose match is not over.
        seed: the play's seed. A decision's key is a hash of it, the match's number, the move's number and the seat.
        matches: (B,) number of each match, so that a match keeps its keys in any batch; the row number unless given.
        first: (N,) whether this is a seat's first decision in its match.
    """
    whole = len(rows) == len(state)
    part = state if whole and np.array_equal(rows, np.arange(len(state))) else state[rows]
    numbers = rows if matches is None else matches[rows]
    seats = part.to_move.copy()
    return Decisions(
        game,
        observation=game.observe(part, seats),
        action_mask=game.action_mask(part),
        seats=seats,
        rows=rows,
        keys=chance.fold(seed, numbers, part.moves, seats),
        first=first,
        state=state,
    )


def check_actions(actions: npt.ArrayLike, state: State, num_actions: int) -> npt.NDArray[np.int64]:
    """Return `actions` as (B,) int64 after checking type and shape, and in live rows the range.

    Raises:
        ActionTypeError: wrong type or shape.
        IllegalActionError: a number outside [0, num_actions).
    """
    given = np.asarray(actions)
    size = len(state)
    if given.dtype.kind not in "iu" or given.shape != (size,):
        raise ActionTypeError(
            f"actions: expected integers of shape ({size},), got {given.dtype} of shape {given.shape}"
        )
    array = given.astype(np.int64, copy=False)
    wrong = array.view(np.uint64) >= num_actions  # a negative number is a huge unsigned one
    if np.count_nonzero(wrong):
        wrong &= ~state.done
        if wrong.any():
            row = int(np.argmax(wrong))
            reason = f"action {given[row]} is outside 0..{num_actions - 1}"
            raise IllegalActionError(f"row {row}: seat {state.to_move[row]}: {reason}")
    return array
