"""Write the golden records anew: `python -m tests.golden.regenerate`, from the top of the project.

Only together with a new version of the game: the same seed and actions then give something else than before.
"""

from tests.golden.records import CASES, HERE, choose_moves, describe, game_of


def main() -> None:
    """Write a record for every case and delete those that are none any more."""
    for path in HERE.glob("*.txt"):
        if path.stem not in CASES:
            path.unlink()
    for name, (options, seed) in CASES.items():
        path = HERE / f"{name}.txt"
        moves = choose_moves(game_of(name), options, seed)
        path.write_text(describe(game_of(name), options, seed, moves), encoding="utf-8", newline="\n")
        print(path)


if __name__ == "__main__":
    main()
