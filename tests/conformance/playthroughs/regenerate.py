"""Write the playthroughs anew: `python -m tests.conformance.playthroughs.regenerate`, from the top of the project.

They are OpenSpiel's own form of a golden record: one match of every case, with all that its states show. Only what is
meant to change may change: say in CHANGELOG.md what that is.
"""

from pathlib import Path

from open_spiel.python.algorithms import generate_playthrough

import poison_env.adapters.openspiel  # noqa: F401  # it registers the games

HERE = Path(__file__).parent
COMMAND = "python -m tests.conformance.playthroughs.regenerate"
CASES = {  # file: game and seed of the random match
    "poison_2_tiny": ("python_poison(num_seats=2,deck=R7x2 R9 G4x3,deal=hands4,num_rounds=1,reward=relative)", 1),
    "poison_2_two_rounds": ("python_poison(num_seats=2,deck=R7x2 B9 G6x2,deal=equal,num_rounds=2,reward=win)", 2),
    "poison_3_no_recall": ("python_poison(num_seats=3,deck=R9x3 B5 G4,num_rounds=1,recall=none,first_dealer=0)", 3),
    "potio_2_small": ("python_potio(num_seats=2,deck=B1x4 B2 Y1x2 G1x2,max_turns=2,reward=relative)", 4),
    "arsenic_1_by_flavour": ("python_arsenic(players=1,draw=flavour)", 23),
}


def main() -> None:
    """Write a playthrough for every case."""
    for name, (game, seed) in CASES.items():
        text = generate_playthrough.playthrough(game, None, alsologtostdout=False, seed=seed)
        path = HERE / f"{name}.txt"
        path.write_text(text, encoding="utf-8", newline="\n")
        print(path)


if __name__ == "__main__":
    main()
