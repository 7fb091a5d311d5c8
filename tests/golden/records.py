"""Golden playthroughs: what a match gave when its version was fixed, as short text.

A record holds the options, the seed, the moves in notation, the points, and a digest of all that was seen, legal and
paid along the match: every seat's observation, the full observation and the mask before each move and at the end, the
rewards of each move and the history at the end, as little-endian bytes.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from poison_env import make
from poison_env.core.protocol import Game, HasOverflow
from tests.support import random_play

HERE = Path(__file__).parent
COMMAND = "python -m tests.golden.regenerate"
MOVES_IN_A_LINE = 16

CASES: dict[str, tuple[dict[str, Any], int]] = {  # name -> options, seed
    "published_4": ({}, 1),
    "published_2_one_round": ({"num_seats": 2, "num_rounds": 1}, 2),
    "published_3_first_dealer": ({"num_seats": 3, "num_rounds": 2, "first_dealer": 1}, 3),
    "published_3_equal_relative": ({"num_seats": 3, "deal": "equal", "num_rounds": 2, "reward": "relative"}, 4),
    "published_5_fixed": ({"num_seats": 5, "colour_rule": "fixed", "num_rounds": 2}, 5),
    "published_6_no_recall": ({"num_seats": 6, "recall": "none", "num_rounds": 2}, 6),
    "published_8_win_handicaps": (
        {"num_seats": 8, "reward": "win", "handicaps": [0, 1, 2, 3, 4, 5, 6, 7], "num_rounds": 2},
        7,
    ),
    "box58_4": ({"deck": "box58", "num_rounds": 2}, 2**64 - 1),
    "box58_3_no_recall_fixed": (
        {"deck": "box58", "num_seats": 3, "recall": "none", "colour_rule": "fixed", "num_rounds": 1},
        9,
    ),
    "small_2_aside": ({"deck": "R5x3 R6x2 R9x3 B7x3 B8x2 G4x3", "num_seats": 2, "deal": "hands4"}, 10),
    "many_kinds_7_win": (
        {"deck": "R1x3 R3 R5x2 R13 B2x4 B6x3 B9 B12 P1x5 P8x2 G1 G2x3 G11", "num_seats": 7, "reward": "win"},
        11,
    ),
    "arsenic_4": ({}, 1),
    "arsenic_1": ({"num_seats": 1, "specials": True}, 2),
    "arsenic_2_to_the_last": ({"num_seats": 2, "last_survivor_ends": False, "tiebreak": "shared"}, 3),
    "arsenic_3_relative": ({"num_seats": 3, "reward": "relative", "spoons": False, "honour_turns": 0}, 4),
    "arsenic_5_flavour": ({"num_seats": 5, "draw": "flavour", "reward": "points"}, 2**64 - 1),
    "arsenic_6_specials": ({"num_seats": 6, "specials": True}, 6),
}


def game_of(name: str) -> str:
    """Return which game a case is of."""
    return "arsenic-v0" if name.startswith("arsenic_") else "poison-v0"


def notation(game: Game[Any], state: Any, action: int) -> str:
    """Return an action as text, `*` for an overflow."""
    return game.action_label(action) + "*" * (isinstance(game, HasOverflow) and bool(game.overflows(state)[0, action]))


def choose_moves(game_id: str, options: dict[str, Any], seed: int) -> list[str]:
    """Play a match at random; return its moves in notation."""
    game: Any = make(game_id, **options)
    state = game.deal(np.array([seed], np.uint64))
    return [notation(game, state, int(chosen[0])) for chosen in random_play(game, state)]


def describe(game_id: str, options: dict[str, Any], seed: int, moves: list[str]) -> str:
    """Replay a match from its moves; return its record, with what the rules give now."""
    game = make(game_id, **options)
    state = game.deal(np.array([seed, seed], np.uint64))  # batched; a match alone is compared with this elsewhere
    digest, paid, played = hashlib.sha256(), np.zeros(game.num_seats), []

    def look() -> None:
        for seat in range(game.num_seats):
            digest.update(game.observe(state, np.array([seat, seat])).astype("<i2").tobytes())
        digest.update(game.observe_all(state).astype("<i2").tobytes())
        digest.update(game.action_mask(state).astype("u1").tobytes())

    numbers = {game.action_label(action): action for action in range(game.num_actions)}
    for move in moves:
        look()
        chosen = numbers.get(move.rstrip("*"), -1)  # what is no move at all is refused by `step`
        as_played = notation(game, state, max(chosen, 0))
        rewards = game.step(state, np.array([chosen, chosen]))
        played.append(as_played)
        digest.update(rewards.astype("<f8").tobytes())
        paid += rewards[0]
    look()
    digest.update(game.history(state).astype("<i2").tobytes())

    lines = [played[start : start + MOVES_IN_A_LINE] for start in range(0, len(played), MOVES_IN_A_LINE)]
    return "\n".join(
        [
            f"game {game.id}",
            f"options {json.dumps(dict(game.options))}",
            f"seed {seed}",
            *("moves " + " ".join(line) for line in lines),
            f"over {'yes' if state.done[0] else 'no'}",
            f"points {' '.join(map(str, game.points(state)[0].tolist()))}",
            f"places {' '.join(map(str, game.placements(state)[0].tolist()))}",
            f"returns {' '.join(f'{value:.9g}' for value in paid)}",
            f"digest {digest.hexdigest()}",
            "",
        ]
    )


def replay(text: str) -> str:
    """Return the record of the match that `text` records, as the rules are now."""
    lines = [line.split(" ", 1) for line in text.splitlines()]
    moves = [move for word, rest in lines if word == "moves" for move in rest.split()]
    fields = dict(lines)
    return describe(fields["game"], json.loads(fields["options"]), int(fields["seed"]), moves)
