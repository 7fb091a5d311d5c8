"""Golden playthroughs of Potio; `python -m tests.golden.potio_records` writes them anew, with a new version only.

A record holds the options, the seed, the moves by their labels, the points, and a digest of all that was seen, legal
and paid along the match.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from poison_env import make
from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from tests.potio_support import SMALL

HERE = Path(__file__).parent / "potio"
MOVES_IN_A_LINE = 12

CASES: dict[str, tuple[dict[str, Any], int]] = {  # name -> options, seed
    "standard_4": ({}, 1),
    "standard_2_relative": ({"num_seats": 2, "reward": "relative"}, 2),
    "standard_3_extra_win": ({"num_seats": 3, "extra_cards_last": 2, "reward": "win"}, 3),
    "standard_5_cut_off": ({"num_seats": 5, "max_turns": 20}, 2**64 - 1),
    "small_2_other_rules": (
        {
            "deck": SMALL,
            "num_seats": 2,
            "grey_first": False,
            "grey_only_sum": False,
            "steal_frozen": True,
            "burn_frozen": False,
            "stall_turns": 9,
        },
        5,
    ),
}


def describe(options: dict[str, Any], seed: int, played: list[str] | None = None) -> str:
    """Play a match, at random unless given its moves; return its record."""
    game = make("potio-v0", **options)
    number = {game.action_label(action): action for action in range(game.num_actions)}
    state = game.deal(np.array([seed, seed], np.uint64))
    digest, paid, moves = hashlib.sha256(), np.zeros(game.num_seats), []

    def look() -> None:
        for seat in range(game.num_seats):
            digest.update(game.observe(state, np.array([seat, seat])).astype("<i2").tobytes())
        digest.update(game.observe_all(state).astype("<i2").tobytes())
        digest.update(game.action_mask(state).astype("u1").tobytes())

    while not state.done[0] and (played is None or len(moves) < len(played)):
        look()
        if played is None:
            action = int(uniform_legal(game.action_mask(state)[:1], chance.fold(seed, len(moves)))[0])
        else:
            action = number[played[len(moves)]]
        moves.append(game.action_label(action))
        rewards = game.step(state, np.array([action, action]))
        digest.update(rewards.astype("<f8").tobytes())
        paid += rewards[0]
    look()
    digest.update(game.history(state).astype("<i2").tobytes())
    lines = [moves[start : start + MOVES_IN_A_LINE] for start in range(0, len(moves), MOVES_IN_A_LINE)]
    return "\n".join(
        [
            f"game {game.id}",
            f"options {json.dumps(dict(game.options))}",
            f"seed {seed}",
            *("moves " + ", ".join(line) for line in lines),
            f"over {'yes' if state.done[0] else 'no'}, cut off {'yes' if state.truncated[0] else 'no'}",
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
    moves = [move for word, rest in lines if word == "moves" for move in rest.split(", ")]
    fields = dict(lines)
    return describe(json.loads(fields["options"]), int(fields["seed"]), moves)


def main() -> None:
    """Write a record for every case."""
    for name, (options, seed) in CASES.items():
        (HERE / f"{name}.txt").write_text(describe(options, seed), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
