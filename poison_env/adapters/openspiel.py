"""OpenSpiel over every game whose chance can be drawn outcome by outcome: importing this module registers them.

    import pyspiel, poison_env.adapters.openspiel
    game = pyspiel.load_game("python_poison(num_seats=2,deck=R1x3 R5 B2x3 B6,deal=hands4,num_rounds=1,reward=relative)")

The short name is `python_` and the game's id without its version. Parameters are the options of `poison_env.make`; -1
or an empty text leaves one to the game, lists are numbers with spaces between them (`handicaps=3 0 0 7`). `players` is
another name of `num_seats`, the one that OpenSpiel's own programs set.

What a state shows is at most what a seat knows:

- Information states remember everything, as OpenSpiel's algorithms suppose: what the seat saw when chance had drawn,
  and all moves since, which are open. A game that lets seats forget (`recall="none"`) shows less in its observations
  alone: who wants to learn without memory uses `observation_tensor`.
- Observations are the game's own, `game.layout`, with the seat to move (`to_move`, in some games a section of theirs).
- At a chance node nothing of the draw in progress is seen.

Search and solvers in Python work (`ISMCTSBot`, `CFRSolver`, `best_response`, `exploitability`), and so do those in C++
that build the tree through `State`. The C++ `pyspiel.ISMCTSBot` does not: on games written in Python, whichever, it
ends the process with a segmentation fault (OpenSpiel 2.0.2); use `open_spiel.python.algorithms.ismcts`.
`pyspiel.deserialize_game_and_state` loads a pickle, as for all Python games: give it only what you have written.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_type_hints

import numpy as np
import pyspiel

from poison_env.adapters.game_tree import OVER, Node, Rules, rules_of
from poison_env.core import chance
from poison_env.core.errors import LifeCycleError, OptionError
from poison_env.core.protocol import (
    Decisions,
    FloatArray,
    HasChance,
    HasReturns,
    IntArray,
)
from poison_env.registry import GAMES

MOST_PLAYERS = 16  # games are asked whether they can be played by 1 to so many
_OWN = -1  # a number that leaves an option to the game


class MatchState(pyspiel.State):  # type: ignore[misc]  # pyspiel has no annotations
    """A state of OpenSpiel: a node of the tree of its game."""

    def __init__(self, game: "MatchGame") -> None:
        super().__init__(game)
        self.node: Node = game.rules.root

    def current_player(self) -> int:
        """Return the seat to move, or that chance draws, or that the match is over."""
        return self.node.player

    def is_terminal(self) -> bool:
        """Return whether the match is over."""
        return self.node.player == OVER

    def _legal_actions(self, player: int) -> list[int]:
        return self.node.legal

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return what chance can do next, and how likely."""
        return list(self.node.outcomes.items())

    def _apply_action(self, action: int) -> None:
        self.node = self.node.child(action)

    def _action_to_string(self, player: int, action: int) -> str:
        rules = self.node.rules
        if player == pyspiel.PlayerId.CHANCE:
            return rules.chance.outcome_label(action)
        return rules.game.action_label(action)

    def returns(self) -> list[float]:
        """Return what each seat has been paid so far."""
        return list(self.node.returns)

    def rewards(self) -> list[float]:
        """Return what each seat has been paid since the decision before this one."""
        return list(self.node.rewards)

    def __str__(self) -> str:
        return str(self.node)

    def resample_from_infostate(self, player: int, probability_sampler: Callable[[], float]) -> "MatchState":
        """Return a state, history and all, that the player cannot tell from this one; moves are the same.

        It is drawn as `game.resample` draws: what is hidden is shuffled, as though others' moves told nothing about
        the cards that they keep.

        Args:
            player: a seat, to move or not.
            probability_sampler: returns a number in [0, 1), the only randomness.

        Raises:
            LifeCycleError: at a chance node, where no information state is complete.
        """
        node = self.node
        if node.drawn is not None:
            raise LifeCycleError("chance has not drawn all yet: resample where a seat is to move")
        seeds = chance.fold(int(probability_sampler() * 2**53))
        outcomes = iter(node.rules.chance.redraw(node.match, np.array([player]), seeds)[0].tolist())
        world = MatchState(self.get_game())
        for mover, action in node.path:
            world.apply_action(action if mover >= 0 else next(outcomes))
        return world


class MatchObserver:
    """What a seat sees, or with perfect recall knows, as text and as numbers: OpenSpiel's observer interface."""

    def __init__(self, rules: Rules, *, recall: bool) -> None:
        game = rules.game
        self.recall = recall
        shapes: dict[str, tuple[int, ...]] = {"player": (game.num_seats,), "to_move": (game.num_seats,)}
        sections = {section.name: section.shape for section in game.layout.sections}
        self._tells_mover = recall or "to_move" not in sections  # else the game's own section does
        if recall:
            shapes["seen"] = (rules.chance.max_draws, game.layout.size)
            shapes["moves"] = (game.max_moves, game.num_seats + game.num_actions)
        else:
            shapes = {name: shape for name, shape in shapes.items() if name not in sections} | sections
        ends = np.cumsum([np.prod(shape) for shape in shapes.values()])
        self.tensor = np.zeros(ends[-1], np.float32)
        parts = np.split(self.tensor, ends[:-1])
        self.dict = {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}
        self._view = self.tensor[-game.layout.size :]

    def set_from(self, state: MatchState, player: int) -> None:
        """Fill `tensor`, and so `dict`, with what a player knows or sees; counts as they are."""
        node = state.node
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        if node.player >= 0 and self._tells_mover:
            self.dict["to_move"][node.player] = 1
        if self.recall:
            for number, views in enumerate(node.seen):
                self.dict["seen"][number] = views[player]
            moves = self.dict["moves"]
            seats = moves.shape[1] - node.rules.game.num_actions
            for number, (mover, action) in enumerate(node.moves):
                moves[number, mover] = moves[number, seats + action] = 1
        elif (view := node.view(player)) is not None:
            self._view[:] = view

    def string_from(self, state: MatchState, player: int) -> str:
        """Return what a player knows or sees as text."""
        return state.node.string(player, recall=self.recall)


class MatchGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no annotations
    """A game of OpenSpiel: the rules of one of ours with its options; a subclass names which.

    Raises:
        OptionError: options that cannot be played.
    """

    game_id: str

    def __init__(self, params: Mapping[str, Any]) -> None:
        game_id = self.game_id
        self.rules = rules = rules_of(game_id, json.dumps(GAMES[game_id](**options_of(game_id, params)).options))
        game, returns = rules.game, rules.returns
        low, high = returns.return_bounds
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions,
            max_chance_outcomes=rules.chance.num_outcomes,
            num_players=game.num_seats,
            min_utility=low,
            max_utility=high,
            utility_sum=returns.return_sum,
            max_game_length=game.max_moves,
        )
        super().__init__(game_type(game_id, game.num_seats, game.num_seats, returns), info, dict(params))

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (str(self),)

    def new_initial_state(self) -> MatchState:
        """Return a state in which nothing has been dealt."""
        return MatchState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return the most outcomes of chance that a match has."""
        return self.rules.chance.max_outcomes

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> MatchObserver | None:
        """Return an observer of all that a player may see, now or ever; None if public and private are to be parted.

        Raises:
            OptionError: there are parameters; it has none.
        """
        if params:
            raise OptionError(f"observation parameters: expected none, got {dict(params)}")
        if iig_obs_type is None:
            return MatchObserver(self.rules, recall=False)
        if not iig_obs_type.public_info or iig_obs_type.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        return MatchObserver(self.rules, recall=iig_obs_type.perfect_recall)


def _loaded(text: str) -> Any:
    """Return a game from its text; this is what a pickle of one holds, so that it registers the games."""
    return pyspiel.load_game(text)


class PolicyAgent:
    """A policy of OpenSpiel as an agent of ours, such as `CFRSolver(game).average_policy()`.

    It is asked about a world that agrees with what the seat knows, whose information state is the seat's own. Policies
    of OpenSpiel answer one state at a time, so this loops over the decisions.

    Args:
        policy: anything with `action_probabilities(state) -> {action: probability}`.
        game: the game of OpenSpiel that the policy is for.
    """

    def __init__(self, policy: Any, game: MatchGame) -> None:
        self.policy, self.game = policy, game

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) actions, drawn from the policy by `decisions.keys`.

        Raises:
            OptionError, PositionError: as `probabilities`.
        """
        upto = np.cumsum(self.probabilities(decisions), axis=1)
        words = chance.uniform(decisions.keys) * upto[:, -1]
        chosen: IntArray = (upto > words[:, None]).argmax(axis=1)
        return chosen

    def probabilities(self, decisions: Decisions) -> FloatArray:
        """Return (N, A): how likely each action is.

        Raises:
            OptionError: the decisions are of another game than the policy.
            PositionError: what the seat knows does not tell the moves so far, as with `recall="none"`, or the game's
                worlds do not tell what others saw on the way.
        """
        ours, theirs = self.game.rules.game, decisions.game
        if (ours.id, ours.rules_options, ours.max_moves) != (theirs.id, theirs.rules_options, theirs.max_moves):
            raise OptionError(f"the policy is for {ours.id} with {ours.options}, the decisions are of {theirs.options}")
        outcomes = self.game.rules.chance.outcomes(decisions.worlds(1))
        likely = np.zeros((len(decisions), ours.num_actions))
        for row, (drawn, moves) in enumerate(zip(outcomes, decisions.history, strict=True)):
            outcome, move = iter(drawn.tolist()), (event % ours.num_actions for event in moves[moves >= 0].tolist())
            state = self.game.new_initial_state()
            for _ in range(np.count_nonzero(drawn >= 0) + np.count_nonzero(moves >= 0)):
                state.apply_action(next(outcome if state.is_chance_node() else move))
            for action, part in self.policy.action_probabilities(state).items():
                likely[row, action] = part
        return likely


def game_type(game_id: str, least: int, most: int, returns: HasReturns) -> Any:
    """Return OpenSpiel's description of a game for so many players."""
    of, total = pyspiel.GameType, returns.return_sum
    varies, zero = of.Utility.GENERAL_SUM, of.Utility.ZERO_SUM
    return of(
        short_name=short_name(game_id),
        long_name=game_id,
        dynamics=of.Dynamics.SEQUENTIAL,
        chance_mode=of.ChanceMode.EXPLICIT_STOCHASTIC,
        information=of.Information.IMPERFECT_INFORMATION,
        utility=varies if total is None else of.Utility.CONSTANT_SUM if total else zero,
        reward_model=of.RewardModel.TERMINAL if returns.pays_at_end else of.RewardModel.REWARDS,
        max_num_players=most,
        min_num_players=least,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={**_specification(game_id), "players": _OWN},
    )


def short_name(game_id: str) -> str:
    """Return the name under which OpenSpiel knows a game: `python_poison` for `poison-v0`."""
    return f"python_{game_id.rpartition('-v')[0].replace('-', '_')}"


def _specification(game_id: str) -> dict[str, int | str]:
    """Return OpenSpiel's parameters with their defaults: numbers and texts, as the options are annotated."""
    hints = get_type_hints(GAMES[game_id].__init__ if inspect.isclass(GAMES[game_id]) else GAMES[game_id])
    found: dict[str, int | str] = {}
    for name, option in inspect.signature(GAMES[game_id]).parameters.items():
        number = int in (hints[name], *get_args(hints[name]))
        default = option.default
        found[name] = (_OWN if number else "") if default is None or name == "num_seats" else default
    return found


def options_of(game_id: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a game's options from OpenSpiel's parameters.

    Raises:
        OptionError: `players` and `num_seats` disagree, or a list holds something else than numbers.
    """
    options: dict[str, Any] = {name: value for name, value in params.items() if value not in (_OWN, "")}
    players = options.pop("players", None)
    if players is not None and options.setdefault("num_seats", players) != players:
        raise OptionError(f"players={players} and num_seats={options['num_seats']} are two names of one option")
    hints = get_type_hints(GAMES[game_id].__init__ if inspect.isclass(GAMES[game_id]) else GAMES[game_id])
    for name in options.keys() & hints.keys():
        kinds = (hints[name], *get_args(hints[name]))
        if isinstance(options[name], str) and str not in kinds and int not in kinds:
            try:
                options[name] = [int(word) for word in options[name].split()]
            except ValueError:
                raise OptionError(f"{name}: expected numbers with spaces between, got {options[name]!r}") from None
    return options


def _register(game_id: str) -> None:
    """Let `pyspiel.load_game` know a game, if it can be played there; again does the same."""
    default = GAMES[game_id]()
    if not isinstance(default, HasChance) or not isinstance(default, HasReturns):
        return
    possible = [number for number in range(1, MOST_PLAYERS + 1) if _playable(game_id, number)]
    described = game_type(game_id, possible[0], possible[-1], default)
    # A class, not a function: OpenSpiel drops what it holds after Python has ended, which only a class survives.
    pyspiel.register_game(described, type(short_name(game_id), (MatchGame,), {"game_id": game_id}))


def _playable(game_id: str, num_seats: int) -> bool:
    try:
        GAMES[game_id](num_seats=num_seats)
    except OptionError:
        return False
    return True


for _game_id in GAMES:
    _register(_game_id)
