"""A small card game for PettingZoo that shares nothing with poison_env: one of the environments faults are planted in.

Cards are red or blue potions of 1, 3 or 7 and poisons of 4, four of each; they are dealt equally, those left over are
set aside unseen. A poison goes in either of two cauldrons, a potion where its colour is, else where no colour is. Above
13 the mover takes what was in the cauldron, the card just played stays there alone, and the same player moves again;
otherwise the next player who holds cards does. When all hands are empty, every potion taken counts 1 and every poison
`poison_points`, but who took strictly most of a colour discards it. Points are paid as negative rewards after each
round; the player who begins it moves on by one. Nobody knows the others' hands; what is taken is seen by all.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

CARDS = (("red", 1), ("red", 3), ("red", 7), ("blue", 1), ("blue", 3), ("blue", 7), ("poison", 4))
COPIES, CAULDRONS, LIMIT = 4, 2, 13
ACTIONS = len(CARDS) * CAULDRONS  # action = 2 * card + cauldron


class Cauldrons(AECEnv[str, Any, Any]):
    """One match of `rounds` rounds for 3 or more players."""

    metadata = {"name": "cauldrons_v0", "render_modes": ["human", "ansi"], "is_parallelizable": False}  # noqa: RUF012  # as PettingZoo writes it

    def __init__(
        self, num_seats: int = 3, *, rounds: int = 2, poison_points: int = 2, render_mode: str | None = None
    ) -> None:
        super().__init__()
        self.num_seats, self.rounds, self.poison_points = num_seats, rounds, poison_points
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(num_seats)]
        self.agents: list[str] = []
        high = [COPIES] * len(CARDS) * 3 + [4 * COPIES] * 3 * num_seats + [len(CARDS) * COPIES] * num_seats
        high += [1000] * num_seats + [rounds]
        seen = spaces.Box(0, np.array(high, np.int16), dtype=np.int16)
        mask = spaces.Box(0, 1, (ACTIONS,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": seen, "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(ACTIONS) for agent in self.possible_agents}
        size = len(CARDS) * (num_seats + 1 + CAULDRONS) + 4 * num_seats + 1
        self.state_space = spaces.Box(0, 1000, (size,), np.int16)
        self._random: np.random.Generator | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if seed is not None or self._random is None:
            self._random = np.random.default_rng(seed)
        deck = [card for card in range(len(CARDS)) for _ in range(COPIES)]
        self._decks = [self._random.permutation(deck).tolist() for _ in range(self.rounds)]
        self._round = 0
        self._points = [0] * self.num_seats
        self._deal()
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._show()

    def _deal(self) -> None:
        deck, size = self._decks[self._round], len(CARDS) * COPIES // self.num_seats
        self._hands = [deck[seat * size : (seat + 1) * size] for seat in range(self.num_seats)]
        self._aside = deck[self.num_seats * size :]
        self._cauldrons: list[list[int]] = [[] for _ in range(CAULDRONS)]
        self._taken: list[list[int]] = [[] for _ in range(self.num_seats)]
        self._mover = self._round % self.num_seats

    def step(self, action: int | None) -> None:
        if not self.agents:
            raise RuntimeError("call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            self.infos = self._make_infos()
            return
        number = _whole(action)
        if not 0 <= number < ACTIONS or not self._mask(agent)[number]:
            raise ValueError(f"{agent} may not play {action!r}")
        seat, (card, place) = self._mover, divmod(number, CAULDRONS)
        self._hands[seat].remove(card)
        overflows = sum(CARDS[held][1] for held in self._cauldrons[place]) + CARDS[card][1] > LIMIT
        if overflows:
            self._taken[seat] += self._cauldrons[place]
            self._cauldrons[place] = []
        self._cauldrons[place].append(card)
        waiting = [(seat + step) % self.num_seats for step in range(1 - overflows, self.num_seats + 1)]
        self._mover = next((other for other in waiting if self._hands[other]), seat)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if not any(self._hands):
            self._score()
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        self._show()

    def _score(self) -> None:
        for agent, points in zip(self.agents, self._count(), strict=True):
            self._points[self.agents.index(agent)] += points
            self.rewards[agent] = float(-points)
        self._round += 1
        if self._round < self.rounds:
            self._deal()
        else:
            self.terminations = dict.fromkeys(self.agents, True)
            self._mover = 0

    def _count(self) -> list[int]:
        """Return the points of a round."""
        colours = [[CARDS[card][0] for card in taken] for taken in self._taken]
        points = [self.poison_points * own.count("poison") for own in colours]
        for colour in ("red", "blue"):
            counts = [own.count(colour) for own in colours]
            for seat, count in enumerate(counts):
                if counts.count(max(counts)) > 1 or count < max(counts):
                    points[seat] += count
        return points

    def _show(self) -> None:
        self.agent_selection = self.possible_agents[self._mover]
        self.infos = self._make_infos()

    def _make_infos(self) -> dict[str, dict[str, Any]]:
        return {agent: {"action_mask": self._mask(agent)} for agent in self.agents}

    def _mask(self, agent: str) -> np.ndarray:
        mask = np.zeros(ACTIONS, np.int8)
        if agent == self.agent_selection:
            colours = [self._colour(cauldron) for cauldron in self._cauldrons]
            for card in self._hands[self._mover]:
                colour = CARDS[card][0]
                wanted = colour if colour in colours else None
                for place in range(CAULDRONS):
                    mask[card * CAULDRONS + place] = colour == "poison" or colours[place] == wanted
        return mask

    def _colour(self, cauldron: list[int]) -> str | None:
        return next((CARDS[card][0] for card in cauldron if CARDS[card][0] != "poison"), None)

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        own = self.possible_agents.index(agent)
        order = [(own + step) % self.num_seats for step in range(self.num_seats)]
        seen = [self._hands[own].count(card) for card in range(len(CARDS))]
        seen += [cauldron.count(card) for cauldron in self._cauldrons for card in range(len(CARDS))]
        for seat in order:
            colours = [CARDS[card][0] for card in self._taken[seat]]
            seen += [colours.count(colour) for colour in ("red", "blue", "poison")]
        seen += [len(self._hands[seat]) for seat in order]
        seen += [self._points[seat] for seat in order]
        seen += [self._round]
        return {"observation": np.array(seen, np.int16), "action_mask": self._mask(agent)}

    def state(self) -> np.ndarray:
        held = [*self._hands, self._aside, *self._cauldrons]
        cards = [cards.count(card) for cards in held for card in range(len(CARDS))]
        owners = [[CARDS[card][0] for card in own] for own in self._taken]
        taken = [colours.count(name) for colours in owners for name in ("red", "blue", "poison")]
        return np.array([*cards, *taken, *self._points, self._round], np.int16)

    def render(self) -> str | None:
        names = [f"{colour}{value}" for colour, value in CARDS]
        rows = [f"cauldron: {' '.join(names[card] for card in cards)}" for cards in self._cauldrons]
        rows += [f"hand: {' '.join(names[card] for card in sorted(cards))}" for cards in self._hands]
        text = "\n".join([*rows, f"{self.agent_selection} moves"])
        if self.render_mode == "human":
            print(text)
        return text if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _whole(action: object) -> int:
    """Return an action as a number; -1, which no action is, for what is no whole number."""
    if isinstance(action, np.ndarray) and action.shape == ():
        action = action[()]
    return int(action) if isinstance(action, int | np.integer) and not isinstance(action, bool) else -1
