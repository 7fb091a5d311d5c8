"""Reference opponents that ship with the environments, by name. All act on whole batches, without a loop over rows."""

import numpy as np
import numpy.typing as npt

from poison_env.core.choice import best_legal, uniform_legal
from poison_env.core.errors import UnknownNameError
from poison_env.core.protocol import Agent, Decisions, FloatArray, IntArray
from poison_env.games.arsenic import Arsenic
from poison_env.games.arsenic.advice import ArsenicCautious, ArsenicGreedy
from poison_env.games.poison import Poison
from poison_env.games.poison.deck import CLASSES, LIMIT
from poison_env.games.poison.tables import CAULDRONS
from poison_env.games.potio import Potio
from poison_env.games.potio.policies import PotioGreedy, PotioPatient


class Random:
    """Plays uniformly over the legal actions of any game."""

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions."""
        return uniform_legal(decisions.action_mask, decisions.keys)

    def probabilities(self, decisions: Decisions) -> FloatArray:
        """Return (N, A): equal over the legal actions."""
        likely: FloatArray = decisions.action_mask / decisions.action_mask.sum(axis=1, keepdims=True)
        return likely


class PoisonCautious:
    """Avoids overflows.

    Among moves that do not overflow: the highest value, then the cauldron with the highest total, then the lowest
    action. If all overflow: the fewest points taken now (1 a potion, 2 a poison), then the lowest value, then the
    lowest action.
    """

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions."""
        game = poison_rules(decisions)
        value, total, overflows = moves_seen(game, decisions.observation)
        cauldrons = game.layout.decode(decisions.observation, "cauldrons").astype(np.int64)
        points = (cauldrons @ np.where(game.deck.classes == 3, 2, 1))[:, game.cauldron_of]
        preference = np.where(overflows, -16 * points - value, 10_000 + 16 * value + total)
        return best_legal(preference, decisions.action_mask)


class PoisonGreedy:
    """Weighs what a move would cost or earn if the round ended now: the point of a deliberate overflow.

    A move's cost is the change it makes in one's own points. Among equal costs a move that does not overflow comes
    first, then the order of `cautious`. With `recall="none"` there are no majorities to see, every card taken costs,
    and so it plays like `cautious`.
    """

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions."""
        game = poison_rules(decisions)
        if game.recall == "none":
            return PoisonCautious().act(decisions)
        value, total, overflows = moves_seen(game, decisions.observation)
        cost = overflow_costs(game, decisions.observation)[:, game.cauldron_of]
        preference = np.where(overflows, -1024 * cost - value - LIMIT, 16 * value + total)
        return best_legal(preference, decisions.action_mask)


def moves_seen(game: Poison, observation: npt.NDArray[np.int16]) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
    """Return for each action the card's value (A,), the cauldron's total (N, A) and whether it overflows (N, A)."""
    value = game.deck.values[game.kind_of].astype(np.int64)
    total = game.layout.decode(observation, "cauldron_totals").astype(np.int64)[:, game.cauldron_of]
    return value, total, total + value > LIMIT


def overflow_costs(game: Poison, observation: npt.NDArray[np.int16]) -> npt.NDArray[np.int64]:
    """Return the points that taking each cauldron would cost the mover if the round ended then, (N, 3)."""
    taken = game.layout.decode(observation, "taken").astype(np.int64)
    by_class = (game.deck.classes[:, None] == np.arange(len(CLASSES))).astype(np.int64)
    after = np.repeat(taken[:, None], CAULDRONS, axis=1)  # (N, 3, P, 4)
    after[:, :, 0] += game.layout.decode(observation, "cauldrons").astype(np.int64) @ by_class
    return game.score(after)[..., 0] - game.score(taken)[:, None, 0]


def poison_rules(decisions: Decisions) -> Poison:
    """Return the rules of a question about Poison."""
    assert isinstance(decisions.game, Poison)  # the table below asks these policies about no other game
    return decisions.game


POLICIES: dict[str, dict[str, Agent]] = {  # name -> game -> policy; "" stands for every game
    "random": {"": Random()},
    "cautious": {Poison.id: PoisonCautious(), Arsenic.id: ArsenicCautious()},
    "greedy": {Poison.id: PoisonGreedy(), Arsenic.id: ArsenicGreedy(), Potio.id: PotioGreedy()},
    "patient": {Potio.id: PotioPatient()},
}


class Scripted:
    """A reference opponent by name: for each game the policy of that name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Scripted({self.name!r})"

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions.

        Raises:
            UnknownNameError: this game has no policy of that name.
        """
        policies = POLICIES[self.name]
        policy = policies.get(decisions.game.id) or policies.get("")
        if policy is None:
            raise UnknownNameError(
                f"{decisions.game.id} has no agent {self.name!r}; it has {', '.join(names(decisions.game.id))}"
            )
        return policy.act(decisions)


def names(game_id: str) -> list[str]:
    """Return the names of the scripted agents that can play a game."""
    return [name for name, policies in POLICIES.items() if "" in policies or game_id in policies]


def load(name: str) -> Scripted:
    """Return the scripted agent of that name.

    Raises:
        UnknownNameError: there is none; the message names those there are.
    """
    if name not in POLICIES:
        raise UnknownNameError(f"no scripted agent {name!r}; there are {', '.join(POLICIES)}")
    return Scripted(name)
