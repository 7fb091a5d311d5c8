"""Driving a PettingZoo environment for the checks: sessions that log what they do, moments, traces."""

import copy
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from poison_env.testing.compare import difference, snapshot
from poison_env.testing.report import HasWhere, Log

Env = AECEnv[Any, Any, Any]


class Referee(Protocol):
    """An independent account of the rules, told of each action; agents are the environment's own names."""

    def to_move(self) -> Any:
        """Return the agent to move; None when the match is over."""

    def legal(self) -> Collection[int]:
        """Return its legal actions."""

    def step(self, action: int) -> Mapping[Any, float]:
        """Play an action; return what it pays each agent."""


@dataclass(frozen=True)
class Moment:
    """What an environment shows when it asks an agent: a copy."""

    index: int  # moves made before
    agent: Any
    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: Any
    rewards: Mapping[Any, float]  # of the last move, every agent's

    @property
    def dead(self) -> bool:
        """Whether the agent has finished, and the only action is None."""
        return bool(self.terminated or self.truncated)

    @property
    def mask(self) -> Any:
        """The action mask, from the observation or else from the info; None without one."""
        return mask_in(self.observation, self.info)

    def differs(self, other: "Moment") -> str | None:
        """Return what differs in another moment; None where nothing does."""
        for name in ("agent", "observation", "reward", "terminated", "truncated", "info", "rewards"):
            found = difference(getattr(self, name), getattr(other, name))
            if found:
                return f"{name} of {self.agent} at move {self.index}: {found}"
        return None


def mask_in(observation: Any, info: Any) -> Any:
    """Return the action mask of an observation, or else of an info; None without one."""
    for place in (observation, info):
        if isinstance(place, Mapping) and "action_mask" in place:
            return place["action_mask"]
    return None


def seen(env: Env, agent: Any, index: int = 0) -> Moment:
    """Return what an agent sees now, whether or not it is to move."""
    info = env.infos.get(agent, {})
    flags = env.terminations.get(agent, False), env.truncations.get(agent, False)
    rewards = snapshot(env.rewards)
    return Moment(index, agent, snapshot(env.observe(agent)), 0.0, *flags, snapshot(info), rewards)


def everything(env: Env) -> dict[str, Any]:
    """Return all that an environment shows, as a copy."""
    shown: dict[str, Any] = {
        "agents": list(env.agents),
        "agent_selection": env.agent_selection,
        "last": snapshot(env.last()),
        "rewards": snapshot(env.rewards),
        "terminations": snapshot(env.terminations),
        "truncations": snapshot(env.truncations),
        "infos": snapshot(env.infos),
        "observations": {agent: snapshot(env.observe(agent)) for agent in env.agents},
    }
    state = state_of(env)
    return shown if state is None else shown | {"state": snapshot(state)}


def state_of(env: Env) -> Any:
    """Return `env.state()`; None for an environment without one."""
    if type(env.unwrapped).state is AECEnv.state:
        return None
    try:
        return env.state()
    except NotImplementedError:  # such as a parallel environment without one, seen through a conversion
        return None


class Session:
    """An environment being driven; what is done to it is logged in the case it belongs to."""

    def __init__(self, case: "AECCase") -> None:
        self.case = case
        case.log = self.log = Log(case.name)
        self.env = case.make_env()

    def reset(self, seed: int | None = None) -> Any:
        """Reset the environment, without a seed unless given."""
        self.case.log = self.log
        self.log.add(f"env.reset(seed={seed})")
        return self.env.reset(seed=seed)

    def step(self, action: Any) -> Any:
        """Make a step."""
        self.case.log = self.log
        self.log.step(action)
        return self.env.step(action)

    def ask(self, index: int) -> Moment:
        """Return what the environment shows the agent it asks."""
        self.case.log = self.log
        agent = self.env.agent_selection
        shown = snapshot(self.env.last())
        observation, reward, terminated, truncated, info = shown
        return Moment(
            index, agent, observation, reward, terminated, truncated, info, rewards=snapshot(self.env.rewards)
        )

    def moments(self, rng: np.random.Generator) -> Iterator[tuple[Moment, Any]]:
        """Play to the end with random legal actions; yield each moment with the action that will be made after it."""
        for index in range(self.case.max_steps):
            if not self.env.agents:
                return
            moment = self.ask(index)
            action = None if moment.dead else self.case.choose(self.env, moment, rng)
            yield moment, action
            self.step(action)
        raise AssertionError(f"the episode has not ended after {self.case.max_steps} steps")

    def play(self, actions: list[Any]) -> "Session":
        """Make these steps."""
        for action in actions:
            self.step(action)
        return self

    def trace(self, number: int, *, steps: int | None = None) -> "Trace":
        """Play to the end, or some steps, with the actions of script `number`; return what was shown."""
        trace = Trace([], [])
        for moment, action in self.moments(np.random.default_rng(number)):
            if steps is not None and len(trace.actions) == steps:
                break
            trace.moments.append(moment)
            trace.actions.append(action)
        return trace


@dataclass(frozen=True)
class Trace:
    """An episode: what was shown at each step, and what was done."""

    moments: list[Moment]
    actions: list[Any]

    def differs(self, other: "Trace") -> str | None:
        """Return the first difference from another trace; None where there is none."""
        for mine, its, action, its_action in zip(
            self.moments, other.moments, self.actions, other.actions, strict=False
        ):
            found = mine.differs(its) or difference(action, its_action, "action")
            if found:
                return found
        if len(self.actions) != len(other.actions):
            return f"{len(self.actions)} and {len(other.actions)} steps"
        return None

    @property
    def moves(self) -> list[int]:
        """Which steps are moves, not the last steps of finished agents; those may come amid the moves of others."""
        return [moment.index for moment in self.moments if not moment.dead]

    @property
    def live(self) -> int:
        """How many steps are moves."""
        return len(self.moves)


class AECCase(HasWhere):
    """One way to make the environment, and what is known about its game."""

    def __init__(
        self,
        name: str,
        make_env: Callable[[], Env],
        *,
        num_seats: int | None,
        redeal: Callable[[Env, Any, int], Env | None] | None,
        referee: Callable[[Env], Referee] | None,
        conserved: Callable[[Env], Any] | None,
        seed: int,
        episodes: int,
        max_steps: int,
    ) -> None:
        super().__init__(name)
        self.make_env = make_env
        self.num_seats = num_seats
        self.redeal = redeal
        self.referee = referee
        self.conserved = conserved
        self.seeds = range(seed, seed + episodes)
        self.max_steps = max_steps

    def start(self, seed: int) -> Session:
        """Make an environment and reset it."""
        session = Session(self)
        session.reset(seed)
        return session

    def choose(self, env: Env, moment: Moment, rng: np.random.Generator) -> Any:
        """Return a random action that the mask allows, or any of the space without a mask."""
        space = env.action_space(moment.agent)
        mask = moment.mask
        if mask is not None and isinstance(space, spaces.Discrete):
            legal = np.flatnonzero(np.asarray(mask))
            if not len(legal):
                raise AssertionError(f"{moment.agent} is to move and its mask allows no action")
            return int(rng.choice(legal)) + int(space.start)
        if isinstance(space, spaces.Discrete):
            return int(rng.integers(space.n)) + int(space.start)
        space = copy.deepcopy(space)
        space.seed(int(rng.integers(2**31)))
        if isinstance(mask, tuple) and isinstance(space, spaces.MultiDiscrete | spaces.Tuple):
            return space.sample(mask)  # one mask for each part, as Gymnasium has them
        return space.sample()

    def depths(self, trace: Trace, rng: np.random.Generator, count: int = 4) -> list[int]:
        """Return some moves of an episode to look at more closely: the first, the last and others between."""
        inner = rng.integers(trace.live, size=max(count - 2, 0)).tolist()
        return sorted(trace.moves[at] for at in {0, trace.live - 1, *inner})
