"""Exact best responses on small games: every deal, every line of play, all at once on the batched rules.

The tree is built move by move; a layer holds all matches after so many moves, as one batch. Seats that deviate remember
every move, whatever the game's option on recall says: a best response knows at least what any agent knows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from poison_env import scripted
from poison_env.core import chance
from poison_env.core.errors import OptionError, PoisonEnvError
from poison_env.core.protocol import Agent, FloatArray, Game, HasChance, HasProbabilities, IntArray, decisions

MAX_POSITIONS = 2_000_000  # some 400 bytes each
MAX_DRAWS = 20_000  # ways in which chance can draw at one place
Policy = Sequence[FloatArray]  # for each layer (N, A): how likely each action is


class TooLargeError(PoisonEnvError, ValueError):
    """A game with too many deals or positions for exact answers."""


class NotAPolicyError(PoisonEnvError, ValueError):
    """An agent without probabilities whose moves hang on luck or on what its seat cannot know."""


@dataclass(frozen=True, eq=False)
class Layer:
    """All positions after so many moves in which a seat is to move: N of them, with E legal moves."""

    state: Any  # (N,)
    move_before: IntArray  # (N,) the move of the layer before that led here; zeros in the first one
    likely: FloatArray  # (N,) how likely chance then drew what it drew
    knowledge: IntArray  # (N, P) a number for each seat: positions it cannot tell apart have the same
    position: IntArray  # (E,) where each move is made, rising
    action: IntArray  # (E,)
    paid: FloatArray  # (E, P)

    @property
    def information(self) -> IntArray:
        """The information set of each position's mover, (N,), numbered over the layer."""
        known = self.knowledge[np.arange(len(self.knowledge)), self.state.to_move]
        return np.unique(np.stack([self.state.to_move, known], axis=1), axis=0, return_inverse=True)[1].reshape(-1)


@dataclass(frozen=True)
class Tree:
    """A small game as a whole."""

    game: Game[Any]
    layers: tuple[Layer, ...]

    @property
    def positions(self) -> int:
        """Positions in which a seat is to move."""
        return sum(len(layer.likely) for layer in self.layers)

    @property
    def information_sets(self) -> int:
        """What movers can tell apart."""
        return sum(int(layer.information.max()) + 1 for layer in self.layers)


@dataclass(frozen=True)
class Exploitability:
    """How much each seat would gain by answering a policy that everybody plays."""

    values: FloatArray  # (P,) expected returns where all keep to the policy
    best: FloatArray  # (P,) expected returns of a best response to the others

    @property
    def gains(self) -> FloatArray:
        """What deviating alone earns each seat, (P,), never negative."""
        return self.best - self.values

    @property
    def nash_conv(self) -> float:
        """The sum of the gains: 0 in an equilibrium."""
        return float(self.gains.sum())

    @property
    def exploitability(self) -> float:
        """The mean of the gains; with two seats and relative rewards this is exploitability as it is usually meant."""
        return float(self.gains.mean())


def build_tree(game: Game[Any], *, max_positions: int = MAX_POSITIONS, progress: bool = False) -> Tree:
    """Build every line of play of every deal.

    Raises:
        OptionError: the game's chance cannot be drawn outcome by outcome.
        TooLargeError: more positions, or deals, than allowed.
    """
    if not isinstance(game, HasChance):
        raise OptionError(f"{game.id}: its chance cannot be drawn outcome by outcome")
    state, seats = game.deal(chance.as_keys(0)), np.arange(game.num_seats)
    before, likely, knowledge = np.zeros(1, np.int64), np.ones(1), np.zeros((1, game.num_seats), np.int64)
    layers: list[Layer] = []
    total = 0
    bar = tqdm(desc="positions", unit="", disable=not progress)
    while True:
        # Chance draws where it is its turn, and every seat sees what it sees.
        origin, part, outcomes = _draws(game, state)
        state, before, likely, knowledge = state[origin], before[origin], likely[origin] * part, knowledge[origin]
        drawn = np.flatnonzero(game.drawn_now(state))
        if len(drawn):
            fresh = state[drawn]
            game.draw(fresh, outcomes[drawn])
            state[drawn] = fresh
            for seat in seats:
                view = game.observe(fresh, np.full(len(fresh), seat))
                seen = np.concatenate([fresh.to_move[:, None], view, knowledge[drawn, seat][:, None]], axis=1)
                offset = knowledge[:, seat].max() + 1
                knowledge[drawn, seat] = offset + np.unique(seen, axis=0, return_inverse=True)[1].reshape(-1)

        mask = game.action_mask(state)
        moves = np.count_nonzero(mask)
        total += len(state)
        bar.update(len(state))
        if total + moves > max_positions:
            raise TooLargeError(
                f"more than {max_positions:,} positions after {len(layers) + 1} moves: exact answers need a smaller "
                "deck, fewer seats or fewer rounds"
            )
        position, action = np.nonzero(mask)
        mover = state.to_move[position]
        after = state[position]
        paid = game.step(after, action)
        paid += _last_draws(game, after, game.num_seats)
        layers.append(Layer(state, before, likely, knowledge, position, action, paid))

        # Moves are open: what each seat can tell apart grows by who moved and how.
        event = mover * game.num_actions + action
        told = knowledge[position] * (game.num_seats * game.num_actions) + event[:, None]
        before = np.flatnonzero(~after.done)
        if not len(before):
            bar.close()
            return Tree(game, tuple(layers))
        state, likely = after[before], np.ones(len(before))
        knowledge = np.stack([np.unique(told[before, seat], return_inverse=True)[1] for seat in seats], axis=1)


def _draws(game: HasChance, state: Any) -> tuple[IntArray, FloatArray, IntArray]:
    """Return all that chance may do now: row (C,), probability (C,) and outcomes (C, D), -1 where it does nothing."""
    rows: list[int] = []
    likely: list[float] = []
    outcomes: list[tuple[int, ...]] = []
    draws = game.drawn_now(state)
    for row in range(len(state)):  # few rows: wherever chance draws, there are many ways
        ways = list(_ways(game, state[row])) if draws[row] else [((), 1.0)]
        rows += [row] * len(ways)
        outcomes += [drawn for drawn, _ in ways]
        likely += [part for _, part in ways]
    filled = np.full((len(rows), max(map(len, outcomes))), -1)
    for number, drawn in enumerate(outcomes):
        filled[number, : len(drawn)] = drawn
    return np.array(rows), np.array(likely), filled


def _last_draws(game: HasChance, after: Any, seats: int) -> FloatArray:
    """Return by how much the draws at the end of matches change on average what their last move has paid, (E, P)."""
    changed = np.zeros((len(after), seats))
    drawn = np.flatnonzero(after.done & game.drawn_now(after))
    if len(drawn):
        row, likely, outcomes = _draws(game, after[drawn])
        np.add.at(changed, drawn[row], likely[:, None] * game.draw(after[drawn[row]], outcomes))
    return changed


def _ways(game: HasChance, state: Any) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the draws of one match and how likely they are."""
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    found = 0
    while waiting:
        drawn, likely = waiting.pop()
        following = game.next_outcomes(state, drawn)
        if not following:
            found += 1
            if found > MAX_DRAWS:
                raise TooLargeError(
                    f"chance has more than {MAX_DRAWS:,} ways to draw: exact answers need a smaller deck"
                )
            yield drawn, likely
        waiting += [((*drawn, outcome), likely * part) for outcome, part in following.items()]


def policy_of(tree: Tree, agent: Agent) -> Policy:
    """Return what an agent does in every position.

    An agent with probabilities is what these say. Any other is taken to be deterministic, and is asked twice.

    Raises:
        NotAPolicyError: an agent's moves hang on luck, or on what its seat cannot know.
    """
    if isinstance(agent, scripted.Scripted):  # by its name: the policy itself may have probabilities
        policies = scripted.POLICIES[agent.name]
        agent = policies.get(tree.game.id) or policies.get("") or agent
    policy = []
    for layer in tree.layers:
        size = len(layer.likely)
        questions = [decisions(tree.game, layer.state, np.arange(size), seed) for seed in (0, 1)]
        if isinstance(agent, HasProbabilities):
            likely = np.asarray(agent.probabilities(questions[0]), np.float64)
        else:
            likely, again = (np.eye(tree.game.num_actions)[agent.act(question)] for question in questions)
            if not np.array_equal(likely, again):
                raise NotAPolicyError("the agent plays by luck and has no probabilities to be read")
        information = layer.information
        first = np.unique(information, return_index=True)[1]
        if not np.allclose(likely, likely[first[information]], rtol=0, atol=1e-6):
            raise NotAPolicyError("the agent moves differently where its seat knows the same")
        policy.append(likely)
    return policy


def best_responses(tree: Tree, policy: Policy) -> Exploitability:
    """Return what a policy that everybody plays earns each seat, and what the best response of each alone would."""
    seats = range(tree.game.num_seats)
    return Exploitability(
        values=np.array([_value(tree, policy, seat, responds=False) for seat in seats]),
        best=np.array([_value(tree, policy, seat, responds=True) for seat in seats]),
    )


def _value(tree: Tree, policy: Policy, seat: int, *, responds: bool) -> float:
    """Return what a seat earns, where the others keep to the policy and it does so too or `responds` at its best."""
    reach: list[FloatArray] = []  # how likely chance and the others make each position, were the seat to go for it
    arriving = np.ones(1)
    for layer, likely in zip(tree.layers, policy, strict=True):
        reach.append(arriving[layer.move_before] * layer.likely)
        own = layer.state.to_move[layer.position] == seat
        chosen = np.where(own, 1.0, likely[layer.position, layer.action])
        arriving = reach[-1][layer.position] * chosen

    following: FloatArray = np.zeros(0)  # what the positions of the layer after are worth
    for number in reversed(range(len(tree.layers))):
        layer = tree.layers[number]
        worth = layer.paid[:, seat].copy()
        if len(following):
            after = tree.layers[number + 1]
            worth += np.bincount(after.move_before, weights=after.likely * following, minlength=len(worth))
        weight = policy[number][layer.position, layer.action]
        if responds:
            best = _best_moves(layer, reach[number], worth, tree.game.num_actions)
            weight = np.where(layer.state.to_move[layer.position] == seat, best, weight)
        following = np.bincount(layer.position, weights=weight * worth, minlength=len(layer.likely)).astype(np.float64)
    return float((tree.layers[0].likely * following).sum())


def _best_moves(layer: Layer, reach: FloatArray, worth: FloatArray, num_actions: int) -> npt.NDArray[np.bool_]:
    """Return which moves, (E,), are best for their mover, who cannot tell the positions of a set apart: one each."""
    information = layer.information
    place = information[layer.position] * num_actions + layer.action
    size = (int(information.max()) + 1) * num_actions
    total = np.bincount(place, weights=reach[layer.position] * worth, minlength=size)
    legal = np.bincount(place, minlength=size) > 0
    best = np.where(legal, total, -np.inf).reshape(-1, num_actions).argmax(axis=1)
    chosen: npt.NDArray[np.bool_] = best[information[layer.position]] == layer.action
    return chosen
