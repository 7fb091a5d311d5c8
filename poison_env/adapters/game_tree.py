"""The tree of a game, node by node, for libraries that walk it: OpenSpiel's states are nodes of it."""

import json
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.errors import OptionError
from poison_env.core.protocol import Game, HasChance, HasPicture, HasReturns, State
from poison_env.registry import GAMES

CHANCE, OVER = -1, -4  # who is to move where no seat is, in OpenSpiel's numbers
REMEMBERED = 500_000  # steps to the nodes that are kept, since solvers come to the same ones again and again


class Rules:
    """A game with its abilities, and the root of its tree.

    Raises:
        OptionError: the game's chance, or what it pays, cannot be told.
    """

    def __init__(self, game: Game[Any]) -> None:
        if not isinstance(game, HasChance) or not isinstance(game, HasReturns):
            raise OptionError(f"{game.id} cannot be played in OpenSpiel: it has not HasChance and HasReturns")
        self.game: Game[Any] = game
        self.chance: HasChance = game
        self.returns: HasReturns = game
        self.seats = np.arange(game.num_seats)
        self.remembered = 0
        self.nothing = nothing = (0.0,) * game.num_seats
        match = game.deal(chance.as_keys(0))
        self.root = Node(self, match, (), drawn=(), seen=(), rewards=nothing, returns=nothing, pending=nothing)


class Node:
    """A node of the game's tree. It never changes, so that clones of a state share it."""

    def __init__(
        self,
        rules: Rules,
        match: State,
        path: tuple[tuple[int, int], ...],
        *,
        drawn: tuple[int, ...] | None,
        seen: tuple[npt.NDArray[np.int16], ...],
        rewards: tuple[float, ...],
        returns: tuple[float, ...],
        pending: tuple[float, ...],
    ) -> None:
        self.rules = rules
        self.match = match  # a batch of one
        self.path = path  # player and action of every step from the root to here, chance included
        self.drawn = drawn  # the first outcomes of the draw in progress; None where a seat is to move
        self.seen = seen  # (P, F) for each draw: what every seat saw after it
        self.rewards = rewards  # since the last decision
        self.returns = returns
        self.pending = pending  # what the last move pays unless the draw in progress changes it
        self.player: int = int(match.to_move[0])
        if drawn is not None:
            self.player = CHANCE
        elif match.done[0]:
            self.player = OVER
        self._children: dict[int, Node] = {}
        self._strings: dict[tuple[bool, int], str] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        game = self.rules.game
        return _replayed, (game.id, json.dumps(game.options), [action for _, action in self.path])

    @property
    def moves(self) -> list[tuple[int, int]]:
        """Seat and action of every move so far."""
        return [step for step in self.path if step[0] >= 0]

    @cached_property
    def legal(self) -> list[int]:
        """Legal actions, rising."""
        legal: list[int] = np.flatnonzero(self.rules.game.action_mask(self.match)[0]).tolist()
        return legal

    @cached_property
    def outcomes(self) -> dict[int, float]:
        """What chance can do next, and how likely."""
        return self.rules.chance.next_outcomes(self.match, self.drawn or ())

    def child(self, action: int) -> "Node":
        """Return the node that an outcome or an action leads to.

        Raises:
            IllegalActionError: the action is not legal.
            PositionError: chance cannot draw this outcome.
        """
        child = self._children.get(action)
        if child is None:
            child = self._after_move(action) if self.drawn is None else self._after_outcome(self.drawn, action)
            if self.rules.remembered < REMEMBERED:
                self.rules.remembered += len(child.path)
                self._children[action] = child
        return child

    def _after_outcome(self, before: tuple[int, ...], outcome: int) -> "Node":
        path = (*self.path, (self.player, outcome))
        return self._drawing(self.match, path, (*before, outcome), self.pending)

    def _after_move(self, action: int) -> "Node":
        rules, match, path = self.rules, self.match.copy(), (*self.path, (self.player, action))
        paid = tuple(rules.game.step(match, np.array([action]))[0].tolist())
        if rules.chance.drawn_now(match)[0]:
            return self._drawing(match, path, (), paid)
        return self._settled(match, path, self.seen, paid)

    def _drawing(
        self, match: State, path: tuple[tuple[int, int], ...], drawn: tuple[int, ...], paid: tuple[float, ...]
    ) -> "Node":
        """Return the node where chance goes on, or has drawn all: only then is told what the last move pays."""
        rules = self.rules
        node = Node(
            rules,
            match,
            path,
            drawn=drawn,
            seen=self.seen,
            rewards=rules.nothing,
            returns=self.returns,
            pending=paid,
        )
        if node.outcomes:
            return node
        match = match.copy()
        change = rules.chance.draw(match, np.array([drawn], np.int64))[0].tolist()
        seen = (*self.seen, rules.game.observe(match[np.zeros_like(rules.seats)], rules.seats))
        return self._settled(match, path, seen, _sum(paid, change))

    def _settled(
        self,
        match: State,
        path: tuple[tuple[int, int], ...],
        seen: tuple[npt.NDArray[np.int16], ...],
        paid: tuple[float, ...],
    ) -> "Node":
        """Return the node where a seat is to move, or all is over."""
        returns, nothing = _sum(self.returns, paid), self.rules.nothing
        return Node(self.rules, match, path, drawn=None, seen=seen, rewards=paid, returns=returns, pending=nothing)

    # --- what a seat sees ---

    def view(self, seat: int) -> npt.NDArray[np.int16] | None:
        """Return what a seat sees now, (F,); None at a chance node."""
        if self.drawn is not None:
            return None
        seen: npt.NDArray[np.int16] = self.rules.game.observe(self.match, np.array([seat]))[0]
        return seen

    def string(self, seat: int, *, recall: bool) -> str:
        """Return what a seat knows (with `recall`) or sees now as text."""
        known = self._strings.get((recall, seat))
        if known is None:
            known = self._strings[recall, seat] = self._knowledge(seat) if recall else self._sight(seat)
        return known

    def _knowledge(self, seat: int) -> str:
        game = self.rules.game
        seen = [self._words(view[seat]) for view in self.seen]
        moves = " ".join(f"{mover}:{game.action_label(action)}" for mover, action in self.moves)
        return "\n".join((self._turn(seat), *seen, moves))

    def _sight(self, seat: int) -> str:
        view = self.view(seat)
        return self._turn(seat) if view is None else f"{self._turn(seat)}\n{self._words(view)}"

    def _turn(self, seat: int) -> str:
        if self.player >= 0:
            return f"seat {seat}, {self.player} to move"
        return f"seat {seat}, {'chance' if self.player == CHANCE else 'over'}"

    def _words(self, view: npt.NDArray[np.int16]) -> str:
        """Return an observation as sections with their numbers, without those that are all zero."""
        layout = self.rules.game.layout
        parts = ((section.name, layout.decode(view, section.name).ravel()) for section in layout.sections)
        return "; ".join(f"{name} {' '.join(map(str, numbers.tolist()))}" for name, numbers in parts if numbers.any())

    def __str__(self) -> str:
        rules = self.rules
        if self.drawn is not None:
            labels = ", ".join(map(rules.chance.outcome_label, self.drawn)) or "nothing yet"
            return f"{rules.game.id}, after {len(self.moves)} moves chance has drawn {labels}"
        if isinstance(rules.game, HasPicture):
            return rules.game.text(self.match)
        return f"{rules.game.id}, {' '.join(map(str, rules.game.observe_all(self.match)[0].tolist()))}"


def _sum(one: Iterable[float], other: Iterable[float]) -> tuple[float, ...]:
    return tuple(map(sum, zip(one, other, strict=True)))


@lru_cache(maxsize=16)
def rules_of(game_id: str, options: str) -> Rules:
    """Return the one tree of a game and options as JSON, so that all its states share what is remembered."""
    return Rules(GAMES[game_id](**json.loads(options)))


def _replayed(game_id: str, options: str, actions: list[int]) -> Node:
    """Return a node by its path; this is what a pickle of one holds."""
    node = rules_of(game_id, options).root
    for action in actions:
        node = node.child(action)
    return node
