"""The engine of Arsenic agrees with the slow referee in every match, move by move, for all options."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from poison_env.games.arsenic import Arsenic, ArsenicState
from tests.arsenic_support import (
    OPTION_SETS,
    box_of,
    many_keys,
    move_of,
    number_of,
    random_actions,
    referee_for,
)
from tests.reference.arsenic_referee import Referee, Scone

PHASES = ["turn", "inspect", "react", "after"]
every_option = pytest.mark.parametrize("options", OPTION_SETS.values(), ids=OPTION_SETS)


def code_of(scone: Scone) -> int:
    return number_of(scone) % 5 + 1


def by_sort(scones: Any) -> list[int]:
    counts = Counter(number_of(scone) for scone in scones)
    return [counts[sort] for sort in range(30)]


def seen_by(game: Arsenic, referee: Referee, seat: int) -> dict[str, list[int]]:
    """Return an observation section by section, from the referee's account of a match that goes on."""
    number = len(referee.players)
    clockwise = [(seat + ahead) % number for ahead in range(number)]
    players = [referee.players[other] for other in clockwise]
    me = referee.players[seat]
    hand, slots = referee.hand, game.rule_draw == "slots"
    places = [(slot if slots else slot // 7) for slot in referee.box]
    shown = {
        "phase": [int(referee.phase == phase) for phase in PHASES],
        "turn": [int(other == referee.turn) for other in clockwise],
        "to_move": [int(other == referee.to_move) for other in clockwise],
        "shuffled": [int(referee.shuffled)],
        "alive": [int(not player.dead) for player in players],
        "stopped": [int(player.stopped) for player in players],
        "sugars": [player.sugars for player in players],
        "spoons": [int(player.spoon) for player in players],
        "owed": [player.owed for player in players],
        "cups": [sum(scone[0] == flavour for scone in player.cup) for player in players for flavour in range(6)],
        "box": [places.count(place) for place in range(42 if slots else 6)],
        "drawn": [0 if hand is None else (hand if slots else hand // 7) + 1],
        "drawn_scone": [code_of(me.seen[hand]) if hand is not None and hand in me.seen else 0],
        "kept": by_sort(me.kept.elements()),
        "own_dose": [me.dose],
    }
    if slots:
        shown["known_slots"] = [code_of(me.seen[slot]) if slot in me.seen else 0 for slot in range(42)]
        marks = {"returned": 1, "spooned": 2}
        shown["put_back"] = [sum(marks[how] for how in referee.put_back.get(slot, ())) for slot in range(42)]
    return shown


def compare_views(game: Arsenic, state: ArsenicState, row: int, referee: Referee) -> None:
    """Compare the box, and what each seat sees of the match in a row."""
    assert box_of(state, row) == referee.box
    for seat in range(game.num_seats):
        view = game.observe(state[row], np.array([seat]))[0]
        for name, shown in seen_by(game, referee, seat).items():
            assert game.layout.decode(view, name).reshape(-1).tolist() == shown, (name, seat)
        known = game.layout.decode(view, "known_cups").reshape(game.num_seats, 30)
        assert known[0].tolist() == by_sort(referee.players[seat].cup)
        for ahead in range(1, game.num_seats):
            other = referee.players[(seat + ahead) % game.num_seats]
            assert not Counter(dict(enumerate(known[ahead].tolist()))) - Counter(map(number_of, other.cup))


def run(options: dict[str, Any], matches: int, seed: int, *, views_every: int, stops: bool = False) -> Counter[str]:
    """Play random matches beside referees; return what happened, how often. `stops`: stop at every other chance."""
    game, seen = Arsenic(**options), Counter[str]()
    state = game.deal(many_keys(matches, seed))
    referees = [referee_for(game, state, row) for row in range(matches)]
    move_names = [move_of(game, number) for number in range(game.num_actions)]
    move = 0
    while True:
        mask, points, places = game.action_mask(state), game.points(state), game.placements(state)
        for row, referee in enumerate(referees):
            if referee.phase == "over" and move:
                continue
            assert referee.legal_moves() == {move_names[number] for number in np.flatnonzero(mask[row]).tolist()}
            assert int(state.to_move[row]) == referee.to_move
            if (move + row) % views_every == 0:
                assert points[row].tolist() == referee.points()
                compare_views(game, state, row, referee)
        if state.done.all():
            assert points.tolist() == [referee.points() for referee in referees]
            assert places.tolist() == [referee.places for referee in referees]
            assert [box_of(state, row) for row in range(matches)] == [referee.box for referee in referees]
            return seen
        actions, before, move = random_actions(game, state), state.done.copy(), move + 1
        if stops:
            stop = move_names.index(("stop", None))
            actions = np.where(mask[:, stop] & (actions % 2 == 1), stop, actions)
        paid = game.step(state, actions)
        for row in np.flatnonzero(~before).tolist():
            referee = referees[row]
            asked = move_names[actions[row]]
            told: dict[str, Any] = {}
            if asked[0] == "shuffle":
                told["now_lie"] = box_of(state, row)
            if asked[0] == "draw" and game.rule_draw == "flavour":
                told["picked"] = int(state.drawn[row])
            order = game.last_draws(state[row])[0].tolist() if state.done[row] else []

            def last_draws(order: list[int] = order, referee: Referee = referee) -> list[int]:
                seen["sudden death"] += 1
                return [slot for slot in order if slot in referee.box]

            earned = referee.play(asked, last_draws=last_draws, **told)
            assert (referee.phase == "over") == bool(state.done[row])
            assert paid[row].tolist() == pytest.approx([float(value) for value in earned], abs=1e-12)
            seen[asked[0]] += 1


@every_option
def test_random_matches_agree(options: dict[str, Any]) -> None:
    seen = run(options, 12, 1, views_every=31)
    words = {"draw", "stop", "shuffle", "eat", "return", "spoon", "pass"}
    words -= {"shuffle"} if options.get("draw") == "flavour" else set()
    without = options.get("num_seats") == 1 or options.get("spoons") is False
    words -= {"spoon"} if without else set()
    words -= {"pass"} if without and options.get("draw") == "flavour" else set()
    assert words <= seen.keys()


@pytest.mark.parametrize("specials", [False, True])
@pytest.mark.parametrize("num_seats", [2, 6])
def test_ties_are_broken_alike(num_seats: int, specials: bool) -> None:
    options = {"num_seats": num_seats, "honour_turns": 0, "spoons": False, "specials": specials}
    assert run(options, 60, 2, views_every=997, stops=True)["sudden death"] >= 10


@pytest.mark.slow
@every_option
def test_many_random_matches_agree(options: dict[str, Any]) -> None:
    for batch in range(6):
        run(options, 200, 100 + batch, views_every=199)
