"""Gymnasium's single-agent environment over any game: one learner's seat, other agents in the rest."""

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from poison_env.adapters.table import Opponents, Table
from poison_env.core.errors import ActionTypeError, IllegalActionError, LifeCycleError, OptionError
from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray, Game, HasPicture
from poison_env.registry import make

ON_ILLEGAL = ("raise", "truncate")
SeatObservation = dict[str, npt.NDArray[Any]] | npt.NDArray[np.float32]


class Presentation:
    """How a learner is shown observations and masks: as a dict, or as one flat vector for learners that take no dict.

    Args:
        scaled: the observation as float32 in [0, 1] instead of int16 counts.
        flat: scaled observation and mask in one float32 vector, (F + A,).
    """

    def __init__(self, game: Game[Any], *, scaled: bool, flat: bool) -> None:
        self._layout, self._scaled, self._flat = game.layout, scaled or flat, flat
        size, actions = game.layout.size, game.num_actions
        self.space: spaces.Space[Any]
        if flat:
            self.space = spaces.Box(np.float32(0), np.float32(1), (size + actions,), np.float32)
        else:
            mask = spaces.MultiBinary(actions)
            self.space = spaces.Dict({"observation": game.layout.box(scaled=scaled), "action_mask": mask})

    def __call__(self, seen: Observation, mask: BoolArray) -> Any:
        """Present observations (..., F) and masks (..., A), as new arrays."""
        shown: npt.NDArray[Any] = self._layout.scale(seen) if self._scaled else seen
        if self._flat:
            return np.concatenate([shown, mask], axis=-1, dtype=np.float32)
        return {"observation": shown, "action_mask": mask.astype(np.int8)}


class SoloEnv(gymnasium.Env[Any, Any]):
    """One learner's seat of a game; a step runs from one decision of the learner to its next one, or to the end.

    The reward of a step is all that the learner's seat earned in between. The mask (int8, 1 = legal) is in the
    observation and in `info["action_mask"]`; `info["seat"]` is the learner's seat, and at the end `info["placement"]`
    its place, 0 = best.

    Args:
        game: the rules, or their id, such as "poison-v0".
        opponents: a scripted agent's name, an agent, or a pool of these from which every other seat draws for each
            match.
        seat: the learner's; drawn for each match unless given.
        scaled: observations as float32 in [0, 1] instead of int16 counts.
        flat: observation and mask in one float32 vector.
        on_illegal: what an illegal action does: "raise" IllegalActionError, or "truncate" the episode without reward,
            with `info["illegal_action"]`.
        render_mode: "ansi" or None.
        options: of the game, when it is given by id.

    Raises:
        OptionError: an option that cannot be.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  # Gymnasium looks for it on the class

    def __init__(
        self,
        game: Game[Any] | str = "poison-v0",
        *,
        opponents: Opponents = "random",
        seat: int | None = None,
        scaled: bool = False,
        flat: bool = False,
        on_illegal: str = "raise",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.game = resolve_game(game, options)
        if on_illegal not in ON_ILLEGAL:
            raise OptionError(f"on_illegal: expected one of {', '.join(ON_ILLEGAL)}; got {on_illegal!r}")
        self.metadata = {"render_modes": ["ansi"] if isinstance(self.game, HasPicture) else [], "render_fps": 1}
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise OptionError(
                f"render_mode: expected None or one of {self.metadata['render_modes']}, got {render_mode!r}"
            )
        self.render_mode = render_mode
        self.on_illegal = on_illegal
        self.action_space = spaces.Discrete(self.game.num_actions)
        self._present = Presentation(self.game, scaled=scaled, flat=flat)
        self.observation_space = self._present.space
        self._table = Table(self.game, opponents, 1, seat=seat)
        self._row = np.arange(1)
        self._mask: BoolArray = np.zeros(self.game.num_actions, bool)
        self._seeded = self._running = self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin the next episode; with a seed, the first one of that seed."""
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            chosen = self.np_random.integers(2**63) if seed is None else seed
            self._table.seed(self._row, np.array([chosen], np.uint64))
            self._seeded = True
        self._table.begin(self._row)
        self._running = self._begun = True
        return self._look({})

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action of the learner, and the others' moves up to its next decision.

        Raises:
            LifeCycleError: before the first reset, or after the end of an episode.
            ActionTypeError: not a whole number.
            IllegalActionError: not legal now, unless `on_illegal` is "truncate". Nothing has changed then.
        """
        if not self._running:
            raise LifeCycleError("call reset() first: the episode " + ("is over" if self._begun else "has not begun"))
        given = np.asarray(action)
        if given.shape != () or given.dtype.kind not in "iu":
            raise ActionTypeError(f"expected a whole number as action, got {action!r}")
        number = int(given)
        if not 0 <= number < self.game.num_actions or not self._mask[number]:
            if self.on_illegal == "raise":
                what = self.game.action_label(number) if 0 <= number < self.game.num_actions else "no action"
                raise IllegalActionError(f"seat {int(self._table.seats[0])}: {number} ({what}) is not legal now")
            self._running = False
            observation, info = self._look({"illegal_action": True})
            return observation, 0.0, False, True, info
        reward, terminated, truncated = self._table.act(self._row, np.array([number]))
        self._running = not (terminated[0] or truncated[0])
        info = {} if self._running else {"placement": int(self._table.placements(self._row)[0])}
        observation, info = self._look(info)
        return observation, float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def action_masks(self) -> BoolArray:
        """Return the learner's legal actions, (A,), True = legal: what sb3-contrib's maskable algorithms ask for."""
        return self._mask.copy()

    def render(self) -> str | None:
        """Return the table as the learner sees it, as text; None without a render mode."""
        if self.render_mode is None:
            return None
        if not self._begun:
            raise LifeCycleError("call reset() first: there is nothing to show yet")
        return self._table.text(0)

    def _look(self, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        seen, mask = self._table.observe(self._row)
        self._mask = mask[0] if self._running else np.zeros_like(mask[0])
        common = {"action_mask": self._mask.astype(np.int8), "seat": int(self._table.seats[0])}
        return self._present(seen[0], self._mask), common | info


def resolve_game(game: Game[Any] | str, options: dict[str, Any]) -> Game[Any]:
    """Return the rules, given by id and options or as they are.

    Raises:
        OptionError: options for a game that is there already.
    """
    if isinstance(game, str):
        return make(game, **options)
    if options:
        raise OptionError(f"options are for a game given by its id, got {', '.join(options)} beside {game!r}")
    return game
