"""The scripted agents of Arsenic: legal everywhere, true to their descriptions, better than chance."""

from typing import Any

import numpy as np
import pytest

from poison_env import play
from poison_env.core.protocol import decisions
from poison_env.games.arsenic import Arsenic, ArsenicState
from poison_env.scripted import load, names
from tests.arsenic_support import OPTION_SETS, SORTED, action, many_keys, push

every_name = pytest.mark.parametrize("name", ["cautious", "greedy"])


def answer(game: Arsenic, state: ArsenicState, name: str) -> str:
    return game.action_label(int(load(name).act(decisions(game, state, np.array([0])))[0]))


def after(moves: str, **options: Any) -> tuple[Arsenic, ArsenicState]:
    game = Arsenic(**options)
    state = game.deal_from(SORTED)
    push(game, state, moves)
    return game, state


def test_arsenic_has_three_scripted_agents() -> None:
    assert names("arsenic-v0") == ["random", "cautious", "greedy"]


@every_name
@pytest.mark.parametrize("options", OPTION_SETS.values(), ids=OPTION_SETS)
def test_whole_matches_are_legal(name: str, options: dict[str, Any]) -> None:
    game = Arsenic(**options)
    seating = np.arange(game.num_seats) % 2
    record = play(game, [load(name), load("random")], many_keys(20), seating=seating)
    assert (record.moves > 0).all()


@every_name
@pytest.mark.parametrize(("num_seats", "draw"), [(2, "slots"), (4, "slots"), (6, "flavour")])
def test_they_win_twice_their_share_against_random_players(name: str, num_seats: int, draw: str) -> None:
    game, count = Arsenic(num_seats=num_seats, draw=draw), 300
    seating = (np.arange(num_seats) != np.arange(count)[:, None] % num_seats).astype(np.int64)
    won = play(game, [load(name), load("random")], many_keys(count), seating=seating).returns[seating == 0]
    assert won.mean() - 2 * won.std() / count**0.5 > min(0.9, 2 / num_seats)


@pytest.mark.parametrize(
    ("slot", "cautious", "greedy"),
    [("0.1", "eat", "eat"), ("0.3", "eat", "eat"), ("0.5", "return", "eat"), ("0.6", "return", "eat")],
)
def test_cautious_returns_two_doses_and_more(slot: str, cautious: str, greedy: str) -> None:
    game, state = after(f"draw:{slot}")
    assert (answer(game, state, "cautious"), answer(game, state, "greedy")) == (cautious, greedy)


@every_name
def test_what_would_kill_is_returned(name: str) -> None:
    game, state = after("draw:0.1 eat pass pass pass stop")
    push(game, state, "draw:0.3")
    state.doses[0, 2] = 7
    state.cup_scones[0, 2, 3] = 2
    state.cup_scones[0, 2, 1] = 1
    assert answer(game, state, name) == "return"


def test_cautious_stops_when_three_doses_could_kill_and_no_sugar_is_left() -> None:
    game, state = after("")
    state.doses[0, 0] = 5
    assert answer(game, state, "cautious").startswith("draw")
    state.sugars[0, 0] = 0
    assert (answer(game, state, "cautious"), answer(game, state, "greedy")[:4]) == ("stop", "draw")


def test_cautious_keeps_its_spoon_for_the_leader() -> None:
    game, state = after("draw:0.1 eat")
    assert answer(game, state, "cautious") == "spoon"
    state.cups[0, 3, 2] = 1
    assert (answer(game, state, "cautious"), answer(game, state, "greedy")) == ("pass", "spoon")


@every_name
def test_a_slot_known_to_be_harmless_is_drawn_first(name: str) -> None:
    game, state = after("draw:4.2 return pass draw:1.1 return pass")
    for _ in range(2):
        push(game, state, "draw:1.6 return pass")
    assert state.to_move[0] == 0
    assert answer(game, state, name) == "draw:4.2"
    assert action(game, "draw:4.2") == 29


@every_name
@pytest.mark.parametrize("draw", ["slots", "flavour"])
def test_alone_they_do_not_die_of_a_second_moon(name: str, draw: str) -> None:
    game = Arsenic(num_seats=1, specials=True, draw=draw)
    assert (play(game, [load(name)], many_keys(60)).points > 0).mean() > 0.8
