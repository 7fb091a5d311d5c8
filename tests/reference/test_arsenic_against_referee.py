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
    occupied_first,
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
        "drawn": [
            int(hand is not None and place == (hand if slots else hand // 7)) for place in range(42 if slots else 6)
        ],
        "drawn_scone": [code_of(me.seen[hand]) if hand is not None and hand in me.seen else 0],
        "kept": by_sort(me.kept.elements()),
        "own_dose": [me.dose],
    }
    if slots:
        shown["known_slots"] = [code_of(me.seen[slot]) if slot in me.seen else 0 for slot in range(42)]
        marks = {"returned": 1, "spooned": 2}
        shown["put_back"] = [sum(marks[how] for how in referee.put_back.get(slot, ())) for slot in range(42)]
    return shown


def compare(game: Arsenic, state: ArsenicState, row: int, referee: Referee, *, views: bool) -> None:
    """Compare what can be asked of both about the match in a row."""
    assert bool(state.done[row]) == (referee.phase == "over")
    assert game.points(state[row])[0].tolist() == referee.points()
    legal = {move_of(game, number) for number in np.flatnonzero(game.action_mask(state[row])[0]).tolist()}
    assert legal == referee.legal_moves()
    assert box_of(state, row) == referee.box
    if state.done[row]:
        assert game.placements(state[row])[0].tolist() == referee.places
        return
    assert int(state.to_move[row]) == referee.to_move
    if views:
        for seat in range(game.num_seats):
            view = game.observe(state[row], np.array([seat]))[0]
            for name, shown in seen_by(game, referee, seat).items():
                assert game.layout.decode(view, name).reshape(-1).tolist() == shown, (name, seat)
            known = game.layout.decode(view, "known_cups").reshape(game.num_seats, 30)
            assert known[0].tolist() == by_sort(referee.players[seat].cup)
            for ahead in range(1, game.num_seats):
                other = referee.players[(seat + ahead) % game.num_seats]
                assert not Counter(dict(enumerate(known[ahead].tolist()))) - Counter(map(number_of, other.cup))


def run(options: dict[str, Any], matches: int, seed: int, *, views_every: int) -> None:
    game = Arsenic(**options)
    state = game.deal(many_keys(matches, seed))
    referees = [referee_for(game, state, row) for row in range(matches)]
    for row, referee in enumerate(referees):
        compare(game, state, row, referee, views=True)
    move = 0
    while not state.done.all():
        actions, before, move = random_actions(game, state), state.copy(), move + 1
        paid = game.step(state, actions)
        for row in np.flatnonzero(~before.done).tolist():
            word, _ = asked = move_of(game, int(actions[row]))
            told: dict[str, Any] = {"now_lie": box_of(state, row)} if word == "shuffle" else {}
            if word == "draw" and game.rule_draw == "flavour":
                told["picked"] = int(state.drawn[row])
            box = referees[row].box
            order = game.last_draws(state[row])[0].tolist()
            earned = referees[row].play(asked, last_draws=lambda o=order, b=box: occupied_first(o, b), **told)
            assert paid[row].tolist() == pytest.approx([float(value) for value in earned], abs=1e-12)
            compare(game, state, row, referees[row], views=(move + row) % views_every == 0)


@every_option
def test_random_matches_agree(options: dict[str, Any]) -> None:
    run(options, 12, 1, views_every=5)


@pytest.mark.slow
@every_option
def test_many_random_matches_agree(options: dict[str, Any]) -> None:
    for batch in range(12):
        run(options, 100, 100 + batch, views_every=41)
