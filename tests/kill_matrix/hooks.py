"""What our conformance suite is told about the environments: how to redeal, what is conserved, and an own referee."""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from poison_env import make, poison_v0
from poison_env.adapters.solo import SoloEnv
from poison_env.adapters.vector import SoloVectorEnv
from poison_env.core import chance
from tests.kill_matrix import foreign
from tests.reference.poison_referee import Card, Referee

SEATS = (3, 4, 5)
# Small, so that matches are short, with two rounds, since something passes from one to the next.
DECK = "R1x2 R4x2 R7x2 B1x2 B4x2 B7x2 P1x2 P4x2 P7x2 G4x4"
POISON: dict[str, Any] = {"deck": DECK, "deal": "hands4", "num_rounds": 2}


# --- poison_env's environments


def make_poison_aec(num_seats: int = 4, **options: Any) -> Any:
    """Return Poison for PettingZoo."""
    return poison_v0.env(num_seats=num_seats, **POISON, **options)


make_vector = partial(SoloVectorEnv, "poison-v0", **POISON)
make_vector_scalar = partial(SoloEnv, "poison-v0", **POISON)
make_truncating_vector = partial(make_vector, on_illegal="truncate")
make_truncating_scalar = partial(make_vector_scalar, on_illegal="truncate", render_mode="ansi")


def make_game() -> Any:
    """Return the rules of Poison with handicaps."""
    return make("poison-v0", handicaps=(0, 2, 0), num_seats=3, **POISON)


class PoisonReferee:
    """The slow referee of Poison in the suite's terms; of the engine it takes the order of the cards alone."""

    def __init__(self, game: Any, state: Any) -> None:
        deck = dict(zip(game.kinds, game.deck.counts.tolist(), strict=True))
        options = dict(game.options) | {"deck": deck} | {"first_dealer": int(state.dealer[0])}
        self._orders = [game.card_order(state.seeds, number)[0] for number in range(options["num_rounds"])]
        self._kinds: Sequence[Card] = game.kinds
        self._referee = Referee(**options)
        self._deal()

    def _deal(self) -> None:
        if self._referee.needs_deal:
            order = self._orders[self._referee.rounds_scored]
            self._referee.deal_round([self._kinds[kind] for kind in order])

    def seat_to_move(self) -> int | None:
        """Return the seat, None when the match is over."""
        return None if self._referee.finished else self._referee.to_move

    def legal(self) -> Collection[int]:
        """Return the legal actions."""
        return [3 * self._kinds.index((colour, value)) + place for colour, value, place in self._referee.legal_moves()]

    def play(self, action: int) -> list[Fraction]:
        """Play an action; return what each seat is paid."""
        paid = self._referee.play((*self._kinds[action // 3], action % 3))
        self._deal()
        return paid


class SeatReferee(PoisonReferee):
    """For the core: seats are numbers."""

    def to_move(self) -> int | None:
        """Return the seat to move."""
        return self.seat_to_move()

    def step(self, action: int) -> Sequence[float]:
        """Play an action; return the rewards by seat."""
        return [float(paid) for paid in self.play(action)]


class AgentReferee(PoisonReferee):
    """For PettingZoo: seats are agents."""

    def to_move(self) -> str | None:
        """Return the agent to move."""
        seat = self.seat_to_move()
        return None if seat is None else f"player_{seat}"

    def step(self, action: int) -> Mapping[str, float]:
        """Play an action; return the rewards by agent."""
        return {f"player_{seat}": float(paid) for seat, paid in enumerate(self.play(action))}


def poison_referee(env: Any) -> AgentReferee:
    """Return a referee for the match that an AEC environment has just dealt; it trusts the seed, not the deal."""
    return AgentReferee(env.game, env.game.deal(chance.fold(env._seed, env._episode)))


def redeal_poison(env: Any, agent: str, seed: int) -> None:
    """Draw anew what an agent cannot know."""
    seat = env.possible_agents.index(agent)
    env._state = env.game.resample(env._state, np.array([seat]), np.array([seed], np.uint64))
    env._ask(env._state)  # infos are made at each step: they must not be those of the deal before


def poison_cards(env: Any) -> Any:
    """Return the cards in play by colour: in hands, aside, in cauldrons or taken."""
    return cards_of_matches(env.game, env._state)[0].tolist()


def cards_of_matches(game: Any, state: Any) -> Any:
    """Return the cards in play by colour, (B, 4)."""
    everything = game.full_layout.decode
    seen = game.observe_all(state)
    by_kind = everything(seen, "hands").sum(axis=1, dtype=int) + everything(seen, "set_aside")
    by_kind = by_kind + everything(seen, "cauldrons").sum(axis=1)
    by_colour = by_kind @ (game.deck.classes[:, None] == np.arange(4))
    return by_colour + everything(seen, "taken").sum(axis=1)


def learners_returns(env: SoloVectorEnv) -> Any:
    """Return what the learner of each slot has earned, (B,): the points of its match, which have their own account."""
    points = env.game.points(env._table._state)
    return env.game.points_sign * points[np.arange(env.num_envs), env._table.seats]


# --- the foreign environment


def make_foreign(num_seats: int = 3, **options: Any) -> foreign.Cauldrons:
    """Return the foreign environment; its poison counts 3, which is not the default."""
    return foreign.Cauldrons(num_seats, poison_points=3, **options)


class ForeignReferee:
    """The rules of the foreign environment once more, on text and sets; it takes the shuffled decks alone."""

    def __init__(self, env: foreign.Cauldrons) -> None:
        names = [f"{colour[0]}{value}" for colour, value in foreign.CARDS]
        self._names = names
        self._agents = list(env.possible_agents)
        self._decks = [[names[card] for card in deck] for deck in env._decks]
        self._poison = 3
        self._round = -1
        self._next_round()

    def _next_round(self) -> None:
        self._round += 1
        self._over = self._round == len(self._decks)
        if not self._over:
            each = 28 // len(self._agents)
            deck = iter(self._decks[self._round])
            self._hands = {agent: [next(deck) for _ in range(each)] for agent in self._agents}
            self._taken: dict[str, str] = dict.fromkeys(self._agents, "")  # the first letters of the cards
            self._pots: list[list[str]] = [[], []]
            self._seat = self._round % len(self._agents)

    def to_move(self) -> str | None:
        """Return the agent to move."""
        return None if self._over else self._agents[self._seat]

    def legal(self) -> Collection[int]:
        """Return the legal actions."""
        potions = [{card[0] for card in pot} - {"p"} for pot in self._pots]
        found = set()
        for card in self._hands[self._agents[self._seat]]:
            places = [place for place in (0, 1) if potions[place] == {card[0]}]
            places = places or [place for place in (0, 1) if not potions[place]]
            found |= {2 * self._names.index(card) + place for place in ((0, 1) if card[0] == "p" else places)}
        return found

    def step(self, action: int) -> Mapping[str, float]:
        """Play an action; return the rewards by agent."""
        agent, card, place = self._agents[self._seat], self._names[action // 2], action % 2
        self._hands[agent].remove(card)
        pot = self._pots[place]
        again = sum(int(other[1]) for other in [*pot, card]) >= 14
        if again:
            self._taken[agent] += "".join(other[0] for other in pot)
            pot.clear()
        pot.append(card)
        if not again or not self._hands[agent]:
            turns = [self._seat + 1 + step for step in range(len(self._agents))]
            free = [seat % len(self._agents) for seat in turns if self._hands[self._agents[seat % len(self._agents)]]]
            if not free:
                return self._score()
            self._seat = free[0]
        return dict.fromkeys(self._agents, 0.0)

    def _score(self) -> Mapping[str, float]:
        paid = {agent: -float(self._poison * own.count("p")) for agent, own in self._taken.items()}
        for letter in "rb":
            ranking = sorted(own.count(letter) for own in self._taken.values())
            for agent, own in self._taken.items():
                first = own.count(letter) == ranking[-1] != ranking[-2]
                paid[agent] -= 0 if first else own.count(letter)
        self._next_round()
        return paid


def redeal_foreign(env: foreign.Cauldrons, agent: str, seed: int) -> None:
    """Draw anew what an agent cannot know: the others' hands, the cards aside, later rounds."""
    random, seat = np.random.default_rng(seed), env.possible_agents.index(agent)
    hidden = [card for other, hand in enumerate(env._hands) if other != seat for card in hand] + env._aside
    drawn = iter(random.permutation(hidden).tolist())
    env._hands = [hand if other == seat else [next(drawn) for _ in hand] for other, hand in enumerate(env._hands)]
    env._aside = list(drawn)
    env.infos = env._make_infos()
    env._decks = [
        *env._decks[: env._round + 1],
        *(random.permutation(d).tolist() for d in env._decks[env._round + 1 :]),
    ]


def foreign_cards(env: foreign.Cauldrons) -> Any:
    """Return the cards in play by kind."""
    held = [*env._hands, *env._cauldrons, *env._taken, env._aside]
    return [sum(cards.count(card) for cards in held) for card in range(len(foreign.CARDS))]


def _referee_of_seats(state: Any) -> SeatReferee:
    return SeatReferee(make_game(), state)


def _cards_of_states(state: Any) -> Any:
    return cards_of_matches(make_game(), state)


AEC_HOOKS: dict[str, dict[str, Any]] = {
    "foreign": {"redeal": redeal_foreign, "referee": ForeignReferee, "conserved": foreign_cards},
    "aec": {"redeal": redeal_poison, "referee": poison_referee, "conserved": poison_cards},
}
GAME_HOOKS: dict[str, Any] = {"referee": _referee_of_seats, "conserved": _cards_of_states}
VECTOR_HOOKS: dict[str, Any] = {"scalar": make_vector_scalar, "returns": learners_returns}
SOLO_HOOKS: dict[str, Any] = {"scalar": make_truncating_scalar, "returns": learners_returns}
