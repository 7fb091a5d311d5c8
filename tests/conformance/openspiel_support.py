"""What the tests of the OpenSpiel adapter share: games by their parameters, random matches, and the same ones here."""

from typing import Any

import numpy as np
import pyspiel
from absl import flags

import poison_env.adapters.openspiel  # noqa: F401  # it registers the games
from poison_env.core import chance
from poison_env.core.protocol import State

TINY = "num_seats=2,deck=R7x2 R9 G4x3,deal=hands4,num_rounds=1,reward=relative,first_dealer=0"  # 1,005 decisions
SMALL = "num_seats=2,deck=R1x2 R3 R5 B2x2 B4 B6"
OPTIONS = [
    "",
    "players=2",
    "num_seats=3,num_rounds=2",
    "players=5,num_rounds=1,reward=win",
    "num_seats=6,num_rounds=1",
    "num_rounds=1,reward=relative",
    "num_seats=3,deal=equal,num_rounds=1",
    "num_seats=3,deal=all,num_rounds=1,first_dealer=2",
    "deck=box58,num_rounds=1,colour_rule=fixed",
    "recall=none,num_rounds=2,num_seats=3",
    "handicaps=3 0 0 7,reward=win,num_rounds=1",
    TINY,
    SMALL,
    f"{SMALL},deal=hands4,recall=none",
    "python_potio(max_turns=10)",
    "python_potio(num_seats=2,deck=B1x3 B2x3 Y1 G1x2,reward=relative,grey_first=False)",
    "python_potio(players=3,deck=B1x7 B2x3 Y1x3 Y2x7 P1x7 P3x2 G1x7,max_turns=40,reward=win,extra_cards_last=5)",
    "python_arsenic",
    "python_arsenic(players=1)",
    "python_arsenic(num_seats=6,specials=True,honour_turns=3)",
    "python_arsenic(num_seats=2,draw=flavour,tiebreak=shared,reward=relative)",
    "python_arsenic(num_seats=3,draw=flavour,specials=True,spoons=False,last_survivor_ends=False)",
]

if not flags.FLAGS.is_parsed():
    flags.FLAGS(["tests"])  # OpenSpiel's api_test and playthroughs read flags


def load(parameters: str = "") -> Any:
    """Return a game by its name and parameters, or Poison by its parameters alone."""
    return pyspiel.load_game(parameters if parameters.startswith("python_") else f"python_poison({parameters})")


def rules(game: Any) -> Any:
    return game.rules.game


def at_depth(game: Any, seed: int, moves: int | None = None) -> Any:
    """Return a state after so many random moves, or at the end."""
    random = np.random.default_rng(seed)
    state = game.new_initial_state()
    made = 0
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, likely = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(random.choice(outcomes, p=likely)))
        elif made == moves:
            break
        else:
            made += 1
            state.apply_action(int(random.choice(state.legal_actions())))
    return state


def on_the_way(game: Any, seed: int, part: float) -> Any:
    """Return a state after a part of a random match; 1 is its end."""
    moves = [step for step in at_depth(game, seed).full_history() if step.player >= 0]
    return at_depth(game, seed, int(part * len(moves)))


def dealt(game: Any, seed: int) -> tuple[Any, State]:
    """Return one and the same match of one round, dealt from a seed here, in OpenSpiel and in the rules."""
    ours = rules(game).deal(chance.as_keys(seed))
    theirs = game.new_initial_state()
    for outcome in rules(game).outcomes(ours)[0].tolist():
        if theirs.is_chance_node():
            theirs.apply_action(outcome)
    return theirs, ours
