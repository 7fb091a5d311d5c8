"""PettingZoo's agent environment cycle (AEC) over any game: one match, one decision at a time."""

import secrets
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env import AECIterable

from poison_env.core import chance
from poison_env.core.errors import (
    ActionTypeError,
    IllegalActionError,
    LifeCycleError,
    OptionError,
    UnknownNameError,
)
from poison_env.core.protocol import Game, HasPicture, State

AgentObservation = dict[str, npt.NDArray[Any]]
Mask = npt.NDArray[np.int8]


class MatchEnv(AECEnv[str, Any, Any]):
    """One match of a game as a PettingZoo environment that checks its input itself and so needs no wrappers.

    An observation is `{"observation": (F,) int16, "action_mask": (A,) int8}`, 1 = legal; the mask is in
    `infos[agent]["action_mask"]` as well, from `reset` on. It is all zero for agents that are not to move.
    Observations, masks, infos and states are new arrays after each step, and no two of them share memory.

    The game says who moves next, perhaps the same agent again. All agents end together: each is then asked once
    more, in the order of the seats, for `last()` and `step(None)`.

    Args:
        game: the rules, with their options.
        render_mode: "ansi" (`render` returns the table as text, all hands open), "human" (the table is printed after
            each reset and move) or None.
        scaled: give observations and `state()` as float32 in [0, 1] instead of int16 counts.

    Raises:
        OptionError: the game has no such `render_mode`.
    """

    def __init__(self, game: Game[Any], *, render_mode: str | None = None, scaled: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # has no annotations
        render_modes = ["human", "ansi"] if isinstance(game, HasPicture) else []
        if render_mode is not None and render_mode not in render_modes:
            raise OptionError(f"render_mode: expected None or one of {render_modes}, got {render_mode!r}")
        self.metadata = {"name": game.id.replace("-", "_"), "render_modes": render_modes, "is_parallelizable": False}
        self.game = game
        self.render_mode = render_mode
        self.scaled = scaled

        self.possible_agents = [f"player_{seat}" for seat in range(game.num_seats)]
        self.observation_spaces = {agent: self._make_observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}
        self.state_space = game.full_layout.box(scaled=scaled)

        self.agents: list[str] = []
        self.rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._cumulative_rewards: dict[str, float] = {}

        self._seats = {agent: np.array([seat]) for seat, agent in enumerate(self.possible_agents)}
        self._no_action: Mask = np.zeros(game.num_actions, np.int8)
        self._mask = self._no_action  # of the agent to move
        self._state: State | None = None  # a batch of one; never handed out
        self._seed: int | None = None
        self._episode = 0  # matches dealt since the seed was given

    def __repr__(self) -> str:
        return f"MatchEnv({self.game!r}, render_mode={self.render_mode!r}, scaled={self.scaled})"

    # --- spaces ---

    def _make_observation_space(self) -> spaces.Dict:
        mask = spaces.Box(0, 1, (self.game.num_actions,), np.int8)
        return spaces.Dict({"observation": self.game.layout.box(scaled=self.scaled), "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's observation space, the same object at each call.

        Raises:
            UnknownNameError: no such agent.
        """
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's action space, the same object at each call.

        Raises:
            UnknownNameError: no such agent.
        """
        return self.action_spaces[self._known(agent)]

    def _known(self, agent: str) -> str:
        if agent not in self._seats:
            raise UnknownNameError(f"no agent {agent!r}; the agents are {', '.join(self.possible_agents)}")
        return agent

    # --- the life of a match ---

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new match.

        With a seed, this match and the later ones are a function of it: counting from 0 at the seeded reset, the k-th
        is dealt from `chance.fold(seed, k)`. Without one the sequence goes on; where no seed was ever given, it starts
        from the system's entropy.

        Args:
            seed: a whole number in [0, 2**64).
            options: ignored, as PettingZoo's own checks pass made-up ones; a game's options belong to its constructor.

        Raises:
            OptionError: `seed` is not such a number; nothing has changed.
        """
        if seed is not None:
            if not _is_whole(seed) or not 0 <= seed < 2**64:
                raise OptionError(f"seed: expected a whole number in [0, 2**64), got {seed!r}")
            self._seed, self._episode = int(seed), 0
        elif self._seed is None:
            self._seed, self._episode = secrets.randbits(64), 0
        else:
            self._episode += 1
        self._state = self.game.deal(chance.fold(self._seed, self._episode))
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None  # type: ignore[assignment]  # AECEnv's mark amid the steps of the finished
        self._ask(self._state)

    def step(self, action: int | None) -> None:
        """Play the action of `agent_selection`, or take the last step, None, of an agent that has finished.

        Actions are Python or NumPy integers, integer arrays without dimension included. A call that raises has changed
        nothing.

        Raises:
            LifeCycleError: before `reset`, or after the last agent's last step.
            ActionTypeError: not an integer; booleans, floats, text, sequences and None are not.
            IllegalActionError: not legal now or out of range; or anything but None for an agent that has finished.
        """
        state = self._started()
        agent = self._asked()
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise IllegalActionError(f"{agent} has finished: expected None, got {action!r}")
            self._was_dead_step(None)
            self.infos = {agent: {"action_mask": self._mask_of(agent)} for agent in self.agents}
        else:
            self._play(state, agent, _whole_number(agent, action))

    def _play(self, state: State, agent: str, action: int) -> None:
        if not 0 <= action < self.game.num_actions:
            raise IllegalActionError(f"{agent}: action {action} is outside 0..{self.game.num_actions - 1}")
        try:
            paid = self.game.step(state, np.array([action]))[0].tolist()
        except IllegalActionError as error:
            raise IllegalActionError(f"{agent}: {str(error).removeprefix('row 0: ')}") from None
        self.rewards = dict(zip(self.agents, paid, strict=True))
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        self._ask(state)

    def _ask(self, state: State) -> None:
        """Turn to the agent that moves next, or let all agents finish."""
        self._mask = self._no_action
        if state.done[0]:
            truncated = bool(state.truncated[0])
            self.terminations = dict.fromkeys(self.agents, not truncated)
            self.truncations = dict.fromkeys(self.agents, truncated)
            self.agent_selection = self.agents[0]
        else:
            self._mask = self.game.action_mask(state)[0].astype(np.int8)
            self.agent_selection = self.possible_agents[state.to_move[0]]
        self.infos = {agent: {"action_mask": self._mask_of(agent)} for agent in self.agents}
        if self.render_mode == "human":
            self.render()

    def _mask_of(self, agent: str) -> Mask:
        return (self._mask if agent == self.agent_selection else self._no_action).copy()

    def _clear_rewards(self) -> None:
        self.rewards = dict.fromkeys(self.rewards, 0.0)

    def _started(self) -> State:
        if self._state is None:
            raise LifeCycleError("no match has begun: call reset() first")
        return self._state

    def _asked(self) -> str:
        if not self.agents:
            raise LifeCycleError("the match is over and every agent has taken its last step: call reset()")
        return self.agent_selection

    # --- what is seen ---

    def observe(self, agent: str) -> AgentObservation:
        """Return what an agent knows now, and its action mask.

        Raises:
            LifeCycleError: before `reset`.
            UnknownNameError: no such agent.
        """
        state = self._started()
        seen: npt.NDArray[Any] = self.game.observe(state, self._seats[self._known(agent)])[0]
        return {
            "observation": self.game.layout.scale(seen) if self.scaled else seen,
            "action_mask": self._mask_of(agent),
        }

    def last(self, observe: bool = True) -> tuple[AgentObservation | None, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since its last action, terminated, truncated and info of the agent to move.

        Raises:
            LifeCycleError: before `reset`, or after the last agent's last step.
        """
        self._started()
        agent = self._asked()
        seen = self.observe(agent) if observe else None
        paid = self._cumulative_rewards[agent]
        return seen, paid, self.terminations[agent], self.truncations[agent], self.infos[agent]

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Any, Any]:
        """Iterate over the agents to move until all have taken their last step.

        Raises:
            LifeCycleError: before `reset`.
        """
        self._started()
        return super().agent_iter(max_iter)

    def state(self) -> npt.NDArray[Any]:
        """Return everything there is to know, hidden cards too, (F_full,): for critics, not for agents.

        Raises:
            LifeCycleError: before `reset`.
        """
        seen: npt.NDArray[Any] = self.game.observe_all(self._started())[0]
        return self.game.full_layout.scale(seen) if self.scaled else seen

    def render(self) -> str | None:
        """Return the table as text ("ansi") or print it ("human"); all hands are open.

        Raises:
            LifeCycleError: before `reset`.
        """
        state = self._started()
        if self.render_mode is None or not isinstance(self.game, HasPicture):
            gymnasium.logger.warn("render() does nothing: the environment was made without a render_mode")
            return None
        text = self.game.text(state)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Release nothing: the environment holds no window, file or process."""


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _whole_number(agent: str, action: Any) -> int:
    if _is_whole(action) or (isinstance(action, np.ndarray) and action.ndim == 0 and action.dtype.kind in "iu"):
        return int(action)
    raise ActionTypeError(f"{agent}: expected a whole number as action, got {action!r} ({type(action).__name__})")
