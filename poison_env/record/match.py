"""A recorded match, and matches played again through the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from poison_env import registry
from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import IllegalActionError, RecordError
from poison_env.core.protocol import BoolArray, Game, HasOverflow
from poison_env.record.lines import check_equal, shorten

OVERFLOWED = "*"


@runtime_checkable
class HasGivenDeals(Protocol):
    """Ability of games whose rounds can be dealt from given orders of cards, as at a real table."""

    def deal_from(self, cards: npt.ArrayLike, *, seeds: KeyArray | None = None) -> Any:
        """Return matches whose first round is dealt from orders of cards (B, deck size)."""

    def redeal(self, state: Any, cards: npt.ArrayLike) -> None:
        """Deal the round that has just begun again, in place, from orders of cards (B, deck size)."""

    def round_ends(self, state: Any) -> BoolArray:
        """Return (B,): the next move is the last of its round."""


@dataclass(frozen=True, kw_only=True)
class RecordedMatch:
    """One match from its deal to its end: where it came from, what was played, what became of it."""

    game_id: str
    options: Mapping[str, Any]  # of the game, with the defaults resolved
    seed: int  # what was dealt
    agents: tuple[str, ...]  # who sat in each seat
    actions: tuple[int, ...]  # in the order in which they were played
    points: tuple[int, ...]
    placements: tuple[int, ...]  # 0 = best, equal = shared
    returns: tuple[float, ...]
    play_seed: int | None = None  # the agents' randomness, with the number of the match in its play
    match: int | None = None
    cards: tuple[tuple[int, ...], ...] = ()  # orders of cards that the first rounds were dealt from instead of the seed

    @cached_property
    def game(self) -> Game[Any]:
        """The rules that it was played by."""
        return registry.make(self.game_id, **self.options)


def from_moves(
    game: Game[Any],
    moves: Sequence[int | str],
    *,
    seed: int = 0,
    agents: Sequence[str] = (),
    cards: Sequence[Sequence[int]] = (),
) -> RecordedMatch:
    """Return the record of a match from its moves: actions, or their notation such as `R7>2*`.

    Args:
        seed: what was dealt, as far as `cards` does not say it.
        agents: who sat in each seat; `player_0` and so on unless given.
        cards: orders of cards that the first rounds were dealt from, as at a real table.

    Raises:
        RecordError: a move cannot be, or the match is not over.
        PositionError: an order is not exactly the deck.
    """
    played = Replayed(game, seed, cards)
    for number, move in enumerate(moves, 1):
        try:
            played.play(move)
        except RecordError as error:
            raise RecordError(f"move {number}: {error}") from error
    outcome = played.outcome()
    return RecordedMatch(
        game_id=game.id,
        options=dict(game.options),
        seed=int(seed),
        agents=tuple(agents) or tuple(f"player_{seat}" for seat in range(game.num_seats)),
        actions=tuple(played.actions),
        points=tuple(outcome["points"]),
        placements=tuple(outcome["placements"]),
        returns=tuple(outcome["returns"]),
        cards=tuple(tuple(int(card) for card in order) for order in cards),
    )


def replay(record: RecordedMatch) -> Any:
    """Return the positions of a match as one batch of states, (moves + 1,): row m is the position after m moves.

    Raises:
        RecordError: the match cannot be.
    """
    played = Replayed(record.game, record.seed, record.cards)
    states = played.state[np.zeros(len(record.actions) + 1, np.int64)]
    for number, action in enumerate(record.actions, 1):
        played.play(action)
        states[[number]] = played.state
    return states


def notation(record: RecordedMatch) -> list[str]:
    """Return the moves of a match as a file has them, `R7>2*`.

    Raises:
        RecordError: the match cannot be.
    """
    played = Replayed(record.game, record.seed, record.cards)
    return [played.play(action)[1] for action in record.actions]


class Replayed:
    """A match played through the engine, move by move."""

    def __init__(self, game: Game[Any], seed: int, cards: Sequence[Sequence[int]]) -> None:
        self.game = game
        self.actions: list[int] = []
        self._returns = np.zeros((1, game.num_seats))
        self._orders = list(cards)  # not yet dealt
        self._overflow = game if isinstance(game, HasOverflow) else None
        self._dealer = game if isinstance(game, HasGivenDeals) else None
        self._labels = {game.action_label(action): action for action in range(game.num_actions)}
        key = chance.as_keys(seed)
        if not self._orders:
            self.state = game.deal(key)
        elif self._dealer:
            self.state = self._dealer.deal_from([self._orders.pop(0)], seeds=key)
        else:
            raise RecordError(f"cards: {game.id} cannot be dealt from given orders")

    def play(self, move: int | str) -> tuple[int, str]:
        """Play an action or its notation; return the seat that played it and its notation."""
        game, state = self.game, self.state
        if state.done[0]:
            raise RecordError("the match is over, no move can follow")
        action = self._labels.get(move.removesuffix(OVERFLOWED), -1) if isinstance(move, str) else move
        if not 0 <= action < game.num_actions:
            raise RecordError(f"{shorten(move)} is no action of {game.id}")
        seat = int(state.to_move[0])
        overflowed = bool(self._overflow and self._overflow.overflows(state)[0, action])
        redeals = self._dealer if self._orders and self._dealer and self._dealer.round_ends(state)[0] else None
        try:
            self._returns += game.step(state, np.array([action]))
        except IllegalActionError as error:
            raise RecordError(str(error).removeprefix("row 0: ")) from error
        written = game.action_label(action) + OVERFLOWED * overflowed
        if isinstance(move, str):
            check_equal("action", written, move)
        if redeals and not state.done[0]:
            redeals.redeal(state, [self._orders.pop(0)])
        self.actions.append(int(action))
        return seat, written

    def outcome(self) -> dict[str, Any]:
        """Return what became of the match, as the footer has it."""
        if not self.state.done[0]:
            raise RecordError(f"the match is not over after {len(self.actions)} moves")
        if self._orders:
            raise RecordError(f"cards: orders for more rounds than the match had, {len(self._orders)} left")
        return {
            "moves": len(self.actions),
            "points": self.game.points(self.state)[0].tolist(),
            "placements": self.game.placements(self.state)[0].tolist(),
            "returns": self._returns[0].tolist(),
        }
