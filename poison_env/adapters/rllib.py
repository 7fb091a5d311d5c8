"""Ray RLlib over any game: one match as a `MultiAgentEnv` of RLlib's new API stack.

RLlib's own `PettingZooEnv` takes `MatchEnv` too. This one adds what it lacks: infos from `reset` on, `render`, the
observation keys that RLlib's action masking wants, and action spaces that draw legal actions, without which RLlib's
check of an environment and its random actions play illegal moves.

Needs the extra `rllib`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from poison_env.adapters.aec import AgentObservation, MatchEnv
from poison_env.core.errors import IllegalActionError
from poison_env.core.protocol import Game, HasPicture

ByAgent = dict[str, Any]


class LegalDiscrete(spaces.Discrete):
    """Actions of an agent; `sample` draws a legal one while the agent is to move."""

    legal: npt.NDArray[np.int8] | None = None  # (A,) 1 = legal

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Return an action: a legal one of the agent to move, any one of the others."""
        if mask is None and probability is None:
            mask = self.legal
        return super().sample(mask, probability)


class RLlibEnv(MultiAgentEnv):  # type: ignore[misc]  # ray is in another environment than mypy: its classes are Any
    """One match for RLlib: `reset` and `step` show the agent to move, and nobody else, until the match ends.

    An observation is `{"observations": (F,) float32 in [0, 1], "action_mask": (A,) int8}`, 1 = legal, the keys that
    RLlib's `ActionMaskingTorchRLModule` wants; infos hold the mask as well.

    An agent is paid, together with each observation, everything it has earned since its last action (or since the
    deal). All agents end together: the last step shows and pays them all. A match is the one that `MatchEnv` deals
    for the same seed.

    Args:
        game: the rules, with their options.
        scaled: give observations as int16 counts instead, if False.
    """

    def __init__(self, game: Game[Any], *, scaled: bool = True) -> None:
        super().__init__()
        self.game = game
        render_mode = "ansi" if isinstance(game, HasPicture) else None
        self._match = MatchEnv(game, render_mode=render_mode, scaled=scaled)
        self.possible_agents = self._match.possible_agents.copy()
        self.agents = self.possible_agents.copy()
        self.observation_spaces = {agent: self._observation_space() for agent in self.agents}
        self.action_spaces = {agent: LegalDiscrete(game.num_actions) for agent in self.agents}

    def __repr__(self) -> str:
        return f"RLlibEnv({self.game!r})"

    def _observation_space(self) -> spaces.Dict:
        mask = spaces.Box(0, 1, (self.game.num_actions,), np.int8)
        return spaces.Dict({"observations": self.game.layout.box(scaled=self._match.scaled), "action_mask": mask})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ByAgent, ByAgent]:
        """Deal a new match and return the observation and info of the agent to move; see `MatchEnv.reset`.

        Raises:
            OptionError: `seed` is not a whole number in [0, 2**64).
        """
        self._match.reset(seed=seed, options=options)
        agent = self._match.agent_selection
        return {agent: self._seen(self._match.observe(agent))}, {agent: self._match.infos[agent]}

    def step(self, action_dict: ByAgent) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Play the action of the agent to move; return observations, rewards, terminateds, truncateds and infos.

        They are about the agent to move next; about all agents when the match is over.

        Raises:
            LifeCycleError: before `reset`, or after the end.
            ActionTypeError: the action is not an integer.
            IllegalActionError: it is not legal now, or `action_dict` does not name the agent to move and nobody else.
        """
        match = self._match
        if match.agents and list(action_dict) != [match.agent_selection]:
            raise IllegalActionError(f"expected one action, of {match.agent_selection}; got {action_dict!r}")
        match.step(next(iter(action_dict.values()), None))
        columns: tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent] = ({}, {}, {}, {}, {})
        while match.agents:
            agent = match.agent_selection
            seen, *others = match.last()
            for column, value in zip(columns, (self._seen(seen), *others), strict=True):
                column[agent] = value
            if not (match.terminations[agent] or match.truncations[agent]):
                break
            match.step(None)
        _, _, terminateds, truncateds, _ = columns
        terminateds["__all__"] = not match.agents and all(terminateds.values())
        truncateds["__all__"] = not match.agents and all(truncateds.values())
        return columns

    def _seen(self, observation: AgentObservation | None) -> AgentObservation:
        assert observation is not None  # asked for
        agent = self._match.agent_selection
        mask = observation["action_mask"]
        self.action_spaces[agent].legal = mask if mask.any() else None
        return {"observations": observation["observation"], "action_mask": mask}

    def render(self) -> str | None:
        """Return the table as text, all hands open; None for a game that has no such picture.

        Raises:
            LifeCycleError: before `reset`.
        """
        return self._match.render() if self._match.render_mode else None
