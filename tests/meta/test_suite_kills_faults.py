"""Does the suite notice? Faults of one line are planted into copies of Poison's rules; the tests must fail on each.

The faults are those that programs of this game have had, and those that an optimisation could bring. A fault that
survives shows a gap in the tests; one whose text is not found any more must be rewritten for the new code.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parents[2]
RULES = "poison_env/games/poison"
COPIED = [
    "pyproject.toml",
    "poison_env",
    "tests/support.py",
    *("tests/games.py", "tests/arsenic_support.py", "tests/potio_support.py"),  # the properties are those of all games
    "tests/rules/test_poison_rules.py",
    "tests/rules/test_poison_options.py",
    "tests/properties",
    "tests/reference",
]
SUBSET = [  # quickest to fail first; golden records notice every change, so they prove nothing here
    "tests/rules/test_poison_rules.py",
    "tests/rules/test_poison_options.py",
    "tests/properties",
    "tests/reference/test_engine_against_referee.py",
    *("-k", "not arsenic and not potio and (not 10000 and not test_random_matches_equal_the_referee or referee[1])"),
]


class Fault(NamedTuple):
    """A text that stands once in a file, and what is put in its place."""

    file: str
    old: str
    new: str


OWN_COLOUR = "legal = colours[cauldron] == colour"
NO_COLOUR = "legal = colours[cauldron] == NO_COLOUR"
LEFT_OVER = (
    "points = self.score(state.taken[rows] + (np.arange(self.num_seats) == state.to_move[rows, None])[..., None]"
    " * (self._tables.contents[state.cauldrons[rows]].sum(axis=1)"
    " @ (self.deck.classes[:, None] == np.arange(4)))[:, None])"
)

FAULTS: dict[str, Fault] = {
    # faults of other people's programs
    "the card just played is taken too": Fault(
        "tables.py",
        "np.where(overflows, packed[None, :], 0)",
        "np.where(overflows, packed[None, :] + (1 << 16 * deck.classes[:, None].astype(np.int64)), 0)",
    ),
    "the program chooses the cauldron of a new colour": Fault(
        "tables.py", NO_COLOUR, NO_COLOUR + " and cauldron == colours.index(NO_COLOUR)"
    ),
    "poison alone has a colour": Fault(
        "tables.py", "colours=colours.astype(np.int16)", "colours=np.maximum(colours, by_class[:, 3] > 0)"
    ),
    "poison alone keeps potions from other colours out": Fault(
        "tables.py", "weights[:, None] * colours[None, :]", "weights[:, None] * np.maximum(colours, by_class[:, 3] > 0)"
    ),
    "cards in cauldrons go to the last mover": Fault("game.py", "points = self.score(state.taken[rows])", LEFT_OVER),
    "poison goes in the first cauldron": Fault("tables.py", "legal = True", "legal = cauldron == 0"),
    # overflow
    "thirteen empties the cauldron": Fault("tables.py", "if total + value > LIMIT", "if total + value >= LIMIT"),
    "thirteen makes the mover take": Fault(
        "tables.py", "+ deck.values[:, None] > LIMIT", "+ deck.values[:, None] >= LIMIT"
    ),
    "fourteen does not overflow": Fault(
        "tables.py", "+ deck.values[:, None] > LIMIT", "+ deck.values[:, None] > LIMIT + 1"
    ),
    "thirteen counts as an overflow": Fault("game.py", "totals > LIMIT -", "totals >= LIMIT -"),
    "cards are taken by the seat before": Fault(
        "game.py",
        "taken[movers] = taken.take(movers) +",
        "taken[movers - 1] = taken.take(movers - 1) +",
    ),
    "cards are taken by the seat before, in a match alone": Fault(
        "single.py", "state.taken.view(np.int64)[0, mover] +=", "state.taken.view(np.int64)[0, mover - 1] +="
    ),
    # what is legal
    "a colour may start in a second cauldron": Fault(
        "tables.py", OWN_COLOUR, "legal = colours[cauldron] in (colour, NO_COLOUR)"
    ),
    "fixed colours are in another order": Fault(
        "tables.py", "legal = cauldron == colour - 1", "legal = cauldron == colour % 3"
    ),
    "the mask offers cards that are not held": Fault(
        "game.py", ".take(movers, axis=0) > 0", ".take(movers, axis=0) >= 0"
    ),
    "the mask forgets single cards": Fault("game.py", ".take(movers, axis=0) > 0", ".take(movers, axis=0) > 1"),
    "the mask is that of the seat before": Fault(
        "game.py",
        "np.arange(size) * self.num_seats + state.to_move",
        "np.arange(size) * self.num_seats + (state.to_move - 1) % self.num_seats",
    ),
    "the mask of a match alone offers cards that are not held": Fault(
        "single.py", "hand.take(tables.kind_of))", "hand.take(tables.kind_of) >= 0)"
    ),
    "a card that is not held can be played": Fault("game.py", "legal = allowed & (held > 0)", "legal = allowed"),
    "a card can be played anywhere": Fault("game.py", "legal = allowed & (held > 0)", "legal = held > 0"),
    "a card can be played anywhere in a match alone": Fault(
        "single.py", "if not held or not tables.allowed.item(_colour_code(tables, state), action):", "if not held:"
    ),
    "an illegal move has been made when it is refused": Fault(
        "game.py",
        "            self._refuse(state, rows,",
        "            hands[hand_at] = held - 1\n            self._refuse(state, rows,",
    ),
    # turns and deals
    "the turn passes to the right": Fault("options.py", "self._rotation[:, 1].copy()", "self._rotation[:, -1].copy()"),
    "the turn passes to the right in a match alone": Fault("single.py", "(mover + 1) %", "(mover - 1) %"),
    "the dealer does not change": Fault(
        "dealing.py", "(state.dealer[rows] + state.round[rows] + 1)", "(state.dealer[rows] + 1)"
    ),
    "the dealer begins": Fault("dealing.py", "+ state.round[rows] + 1)", "+ state.round[rows])"),
    "cards set aside go into the hands": Fault(
        "options.py",
        'self._hands = max(num_seats, PUBLISHED_HANDS) if self.rule_deal == "hands4" else',
        "self._hands =",
    ),
    "an equal deal deals the excess": Fault(
        "options.py", '(self.deck.size % num_seats if self.rule_deal == "equal" else 0)', "0"
    ),
    "every round has the deal of the first": Fault(
        "dealing.py", "self.card_order(state.seeds[part], state.round[part])", "self.card_order(state.seeds[part])"
    ),
    "deals are not uniform": Fault("dealing.py", "keys &= ~_KIND_BITS", "keys &= np.uint64(0x700)"),
    "cards taken stay for the next round": Fault("dealing.py", "        state.taken[rows] = 0\n", ""),
    "three players play three rounds": Fault("options.py", "max(num_seats, PUBLISHED_HANDS) if published else", ""),
    # points and rewards
    "a tie gives a majority": Fault(
        "game.py", "(most.sum(axis=-2, keepdims=True) == 1)", "(most.sum(axis=-2, keepdims=True) >= 1)"
    ),
    "poison can be discarded": Fault("game.py", "        immune[..., POISON_CLASS] = False\n", ""),
    "poison is worth one": Fault("game.py", "POISON_POINTS = 3, 2", "POISON_POINTS = 3, 1"),
    "handicaps are forgotten": Fault(
        "dealing.py", "np.tile(np.array(self.handicaps, np.int64)", "np.tile(np.zeros(seats, np.int64)"
    ),
    "points of earlier rounds are forgotten": Fault(
        "game.py", "state.totals[rows] += points", "state.totals[rows] = points"
    ),
    "the reward goes to the next seat": Fault(
        "game.py", "(self.points_sign * points)", "(self.points_sign * np.roll(points, 1, axis=1))"
    ),
    "a relative reward is less the mean of all": Fault(
        "game.py", "points) / (self.num_seats - 1)", "points) / self.num_seats"
    ),
    "a win is paid after every round": Fault("game.py", "winners & over[:, None]", "winners"),
    "equal totals do not share a place": Fault(
        "game.py", "state.totals[:, None, :] < state", "state.totals[:, None, :] <= state"
    ),
    # what is seen
    "seats are listed from seat 0": Fault(
        "game.py", "self._rotation.take(seats, axis=0) + seat", "self._rotation.take(0 * seats, axis=0) + seat"
    ),
    "a seat sees the hand of the next": Fault(
        "game.py", "take(seat_rows + seats, axis=0)", "take(seat_rows + (seats + 1) % number, axis=0)"
    ),
    "a seat knows which cards are aside": Fault(
        "dealing.py", "return state.unplayed - own", "return state.hands.sum(axis=1) - own"
    ),
    "a seat without recall knows what was taken": Fault(
        "dealing.py", "return self.deck.counts - boiling - own", "return state.unplayed - own"
    ),
    "a seat without recall knows the moves": Fault(
        "game.py", 'state.events.copy() if self.recall == "perfect" else', "state.events.copy() if True else"
    ),
    "hand sizes are wrong in the last lap": Fault("options.py", "(left + num_seats - 1 - ahead)", "(left + ahead)"),
    "events name no seat": Fault("game.py", "mover * self.num_actions + chosen", "chosen"),
    "the end of a round is told too late": Fault("game.py", "state.cards_left == 1", "state.cards_left == 0"),
    # worlds
    "worlds have the true hands": Fault("dealing.py", "        world.hands[:] = drawn[:, :number]\n", ""),
    "worlds have the true piles": Fault("dealing.py", "world.taken[:] = drawn[:, number:-1] @ by_class", "pass"),
    "worlds have the true future": Fault("dealing.py", "world.seeds[:] = chance.fold(keys, _FUTURE)", "pass"),
    "worlds are not uniform": Fault(
        "dealing.py",
        "chance.bits(keys, _DEAL, self.deck.size) & ~_KIND_BITS",
        "chance.bits(keys, _DEAL, self.deck.size) & np.uint64(0x700)",
    ),
    "worlds are the batch itself": Fault("dealing.py", "world = state.copy()", "world = state"),
    "what is handed out can be written to": Fault(
        "game.py", "return state.totals.copy()", "return state.totals"
    ),
}  # fmt: skip


def copy_of_the_project(place: Path) -> Path:
    """Copy what the subset of tests needs."""
    for name in COPIED:
        source, target = HERE / name, place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(source, target)
    return place


def run_the_subset(place: Path) -> subprocess.CompletedProcess[str]:
    """Run the subset of tests on a copy; it imports the copy, since the tests' own configuration puts it first."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider", *SUBSET]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_can_be_planted_in_one_place(name: str) -> None:
    fault = FAULTS[name]
    assert (HERE / RULES / fault.file).read_text(encoding="utf-8").count(fault.old) == 1
    assert fault.old != fault.new


def test_there_are_faults_enough() -> None:
    assert len(FAULTS) >= 20
    assert len(set(FAULTS.values())) == len(FAULTS)


@pytest.mark.slow
def test_the_subset_passes_on_a_copy_without_a_fault(tmp_path: Path) -> None:
    done = run_the_subset(copy_of_the_project(tmp_path))
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_killed(name: str, tmp_path: Path) -> None:
    fault, place = FAULTS[name], copy_of_the_project(tmp_path)
    path = place / RULES / fault.file
    path.write_text(path.read_text(encoding="utf-8").replace(fault.old, fault.new), encoding="utf-8")
    done = run_the_subset(place)
    assert done.returncode == 1, f"tests did not fail on: {name}\n{done.stdout}\n{done.stderr}"  # 1: tests failed
