"""Options of Poison are checked when the game is built; positions and orders of cards when they are set up."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

from poison_env.core.errors import OptionError, PositionError
from poison_env.games.poison import Poison
from tests.support import OPTION_SETS, advance, contents, keys, many_keys, seen

# --- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_seats": 1}, "num_seats: expected a whole number from 2 to 8, got 1"),
        ({"num_seats": 9}, "num_seats"),
        ({"num_seats": 4.0}, "num_seats"),
        ({"num_seats": "4"}, "num_seats"),
        ({"num_seats": True}, "num_seats"),
        ({"num_seats": None}, "num_seats"),
        ({"num_rounds": 0}, "num_rounds: expected a whole number from 1 to 20, got 0"),
        ({"num_rounds": 21}, "num_rounds"),
        ({"num_rounds": 1.5}, "num_rounds"),
        ({"first_dealer": -1}, "first_dealer: expected a whole number from 0 to 3, got -1"),
        ({"first_dealer": 4}, "first_dealer"),
        ({"first_dealer": 0.0}, "first_dealer"),
        ({"deal": "hands5"}, "deal: expected one of hands4, equal, all; got 'hands5'"),
        ({"deal": 4}, "deal"),
        ({"colour_rule": "any"}, "colour_rule: expected one of exclusive, fixed; got 'any'"),
        ({"colour_rule": None}, "colour_rule"),
        ({"colour_rule": np.array(["fixed", "exclusive"])}, "colour_rule"),
        ({"recall": "some"}, "recall: expected one of perfect, none; got 'some'"),
        ({"recall": None}, "recall"),
        ({"reward": "score"}, "reward: expected one of points, relative, win; got 'score'"),
        ({"reward": ["points"]}, "reward"),
        ({"handicaps": (0, 0, 0)}, "handicaps: expected one for each of 4 seats, got 3"),
        ({"handicaps": (0, 0, 0, 0, 0)}, "handicaps"),
        ({"handicaps": (0, 0, 0, -1)}, "handicaps"),
        ({"handicaps": (0, 0, 0, 1001)}, "handicaps"),
        ({"handicaps": (0, 0, 0, 0.5)}, "handicaps"),
        ({"handicaps": "0000"}, "handicaps"),
        ({"handicaps": 5}, "handicaps"),
        ({"deck": "tarot"}, "deck: expected 'published', 'box58' or cards"),
        ({"deck": "R1x3 X4"}, "deck.*'X4'"),
        ({"deck": "R0x4"}, "deck.*'R0x4'"),
        ({"deck": "R14x4"}, "deck.*'R14x4'"),
        ({"deck": "R1x0"}, "deck.*'R1x0'"),
        ({"deck": ""}, "deck: expected potions"),
        ({"deck": None}, "deck"),
        ({"deck": ["R1"]}, "deck"),
        ({"deck": {}}, "deck: expected potions"),
        ({"deck": {("poison", 4): 8}}, "deck: expected potions of one to three colours, got none"),
        ({"deck": {("green", 1): 4}}, "deck: .*'green'"),
        ({"deck": {"red": 4}}, "deck: .*'red'"),
        ({"deck": {("red", 1, 1): 4}}, "deck"),
        ({"deck": {("red", 0): 4}}, "deck: expected values 1 to 13"),
        ({"deck": {("red", 14): 4}}, "deck: expected values 1 to 13"),
        ({"deck": {("red", 1.0): 4}}, "deck: expected values 1 to 13"),
        ({"deck": {("red", True): 4}}, "deck: expected values 1 to 13"),
        ({"deck": {("red", 1): 0}}, "deck: expected at least one card"),
        ({"deck": {("red", 1): 4.0}}, "deck: expected at least one card"),
        ({"deck": {("red", 1): True}}, "deck: expected at least one card"),
        ({"deck": {("red", 1): 3}}, "deck: 3 cards are not enough for 4 players"),
        ({"deck": "R1x701"}, "deck: expected at most 700 cards, got 701"),
        ({"deck": "R1x70000"}, "deck: expected at most 700 cards, got 70000"),
        ({"deck": {("red", 1): 32767, ("red", 2): 32769}}, "deck: expected at most 700 cards"),
    ],
)
def test_a_bad_option_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Poison(**options)


def test_options_are_keywords_only() -> None:
    with pytest.raises(TypeError):
        Poison(4)  # type: ignore[misc]


def test_an_option_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="num_seats"):
        Poison(num_seats=0)


def test_numpy_integers_are_whole_numbers() -> None:
    game = Poison(num_seats=np.int64(3), num_rounds=np.uint8(2), handicaps=np.array([1, 0, 2]))
    assert game == Poison(num_seats=3, num_rounds=2, handicaps=(1, 0, 2))
    assert json.dumps(game.options)


@pytest.mark.parametrize("name", OPTION_SETS)
def test_a_game_is_its_options(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    again = Poison(**json.loads(json.dumps(game.options)))
    assert again == game
    assert hash(again) == hash(game)
    assert again.options == game.options


@pytest.mark.parametrize("name", OPTION_SETS)
def test_a_game_survives_pickle_and_deepcopy(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    for again in (pickle.loads(pickle.dumps(game)), copy.deepcopy(game), copy.copy(game)):
        assert again == game
        assert again.deal(keys(3)).equals(game.deal(keys(3)))


@pytest.mark.parametrize(
    "options",
    [
        {"num_seats": 5},
        {"deck": "box58"},
        {"deal": "equal"},
        {"colour_rule": "fixed"},
        {"num_rounds": 1},
        {"first_dealer": 0},
        {"recall": "none"},
        {"handicaps": (1, 0, 0, 0)},
        {"reward": "win"},
    ],
)
def test_every_option_makes_another_game(options: dict[str, Any]) -> None:
    assert Poison(**options) != Poison()
    assert Poison() != "poison-v0"


def test_defaults_are_resolved_in_the_options() -> None:
    assert Poison().options == {
        "num_seats": 4,
        "deck": "published",
        "deal": "hands4",
        "colour_rule": "exclusive",
        "num_rounds": 4,
        "first_dealer": None,
        "recall": "perfect",
        "handicaps": [0, 0, 0, 0],
        "reward": "points",
    }


@pytest.mark.parametrize(
    "options", [{"num_rounds": 1}, {"reward": "win"}, {"handicaps": (9, 0, 0, 0)}, {"first_dealer": 2}]
)
def test_rounds_rewards_and_dealers_change_nothing_that_a_policy_depends_on(options: dict[str, Any]) -> None:
    game = Poison(**options)
    assert game.rules_options == Poison().rules_options
    assert game.layout == Poison().layout


@pytest.mark.parametrize(
    "options",
    [{"num_seats": 5}, {"deck": "box58"}, {"deal": "equal"}, {"colour_rule": "fixed"}, {"recall": "none"}],
)
def test_what_is_seen_or_legal_is_in_the_rules_options(options: dict[str, Any]) -> None:
    assert Poison(**options).rules_options != Poison().rules_options


def test_the_name_of_a_game_builds_it() -> None:
    game = Poison(num_seats=3, recall="none")
    assert eval(repr(game), {"Poison": Poison}) == game


# --- orders of cards --------------------------------------------------------------------------------------------------


def test_an_order_that_is_not_the_deck_is_refused() -> None:
    game = Poison(num_seats=2, deck="R1x2 R2x2")
    with pytest.raises(PositionError, match="row 1 is not exactly the deck"):
        game.deal_from([[0, 0, 1, 1], [0, 1, 1, 1]])


@pytest.mark.parametrize("order", [[0, 0, 1], [[0, 0, 1, 1, 1]], [0.0, 0.0, 1.0, 1.0], [[[0, 0, 1, 1]]]])
def test_an_order_of_the_wrong_shape_is_refused(order: list[Any]) -> None:
    with pytest.raises(PositionError, match="cards: expected whole numbers"):
        Poison(num_seats=2, deck="R1x2 R2x2").deal_from(order)


def test_an_order_for_each_seed() -> None:
    with pytest.raises(PositionError, match=r"shape \(2, 4\)"):
        Poison(num_seats=2, deck="R1x2 R2x2").deal_from([[0, 0, 1, 1]], seeds=keys(1, 2))


def test_a_round_under_way_is_not_dealt_again() -> None:
    game = Poison(num_seats=2, deck="R1x2 R2x2", num_rounds=1)
    state = game.deal(keys(1, 2))
    played = state[1]
    advance(game, played, 1)
    state[1] = played
    before = state.copy()
    with pytest.raises(PositionError, match="row 1: the match is over, or a card of the round has been played"):
        game.redeal(state, [[0, 0, 1, 1]] * 2)
    assert state.equals(before)


# --- positions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ({"hands": ["R1"]}, "expected 2 hands, 3 cauldrons, 2 piles and 2 totals"),
        ({"hands": ["R1", "R1"], "cauldrons": ["", ""]}, "3 cauldrons"),
        ({"hands": ["R1", "R1"], "taken": ["R2"]}, "2 piles"),
        ({"hands": ["R1", "R1"], "match_points": [1]}, "2 totals"),
        ({"hands": ["R1", "R1"], "match_points": [1, -1]}, "no total below 0"),
        ({"hands": ["R1", "R1"], "to_move": 2}, "a seat below 2 to move"),
        ({"hands": ["R1", "R1"], "to_move": -1}, "a seat below 2 to move"),
        ({"hands": ["R1", "R1"], "round_number": 4}, "a round below 4"),
        ({"hands": ["R1", "R3"]}, "'R3' is no card of this deck"),
        ({"hands": ["R1", "1R"]}, "'1R' is no card of this deck"),
        ({"hands": ["R1x2", "R1x2"]}, "more R1 than the deck has"),
        ({"hands": ["R4 R1", "R4 R1"], "taken": ["R4", ""]}, "more R4 than the deck has"),
        ({"hands": ["", ""]}, "one at least"),
        ({"hands": ["R1", "R1 R2"]}, r"seats in turn hold \[1, 2\] cards"),
        ({"hands": ["R1 R2", "R1"], "to_move": 1}, r"seats in turn hold \[1, 2\] cards"),
        ({"hands": ["R1", "R1"], "cauldrons": ["R7 R7", "", ""]}, "no cauldron can hold R7 R7"),
        ({"hands": ["R1", "R1"], "cauldrons": ["R7 B1", "", ""]}, "no cauldron can hold R7 B1"),
        ({"hands": ["R1", "R1"], "cauldrons": ["R7", "R2", ""]}, "a colour is in several cauldrons"),
    ],
)
def test_a_position_that_cannot_be_is_refused(position: dict[str, Any], message: str) -> None:
    with pytest.raises(PositionError, match=message):
        Poison(num_seats=2).position(**position)


def test_more_cards_than_are_dealt_are_no_position() -> None:
    with pytest.raises(PositionError, match="seats in turn hold"):
        Poison(num_seats=2).position(hands=["R1x3 R2x3 R4x2 R5x3 R7x3", "B1x3 B2x3 B4x2 B5x3 B7x3"])


def test_a_cauldron_with_another_colour_than_its_own_is_refused_with_fixed_colours() -> None:
    with pytest.raises(PositionError, match="a colour that is not its own"):
        Poison(num_seats=2, colour_rule="fixed").position(hands=["R1", "R1"], cauldrons=("", "R2", ""))


def test_a_position_is_what_was_asked_for() -> None:
    game = Poison(num_seats=3, num_rounds=4, handicaps=(0, 5, 0))
    state = game.position(
        hands=["R1", "B1 G4", "P1 P2"],
        cauldrons=("R7 G4", "-", "B5"),
        taken=("R2x3 G4", "", "P7, P7"),
        to_move=1,
        round_number=2,
        match_points=(10, 20, 30),
    )
    assert contents(game, state) == ["R7 G4", "-", "B5"]
    assert seen(game, state, "taken") == [[3, 0, 0, 1], [0, 0, 0, 0], [0, 0, 2, 0]]
    assert seen(game, state, "match_points") == [10, 20, 30]
    assert (seen(game, state, "round"), seen(game, state, "to_move")) == ([2], [1])
    assert (state.moves.tolist(), state.cards_left.tolist()) == ([2 * 38 + 33], [5])
    assert sum(seen(game, state, "set_aside")) == 50 - 5 - 3 - 6


def test_a_position_has_the_handicaps_unless_told_otherwise() -> None:
    game = Poison(num_seats=2, handicaps=(0, 5))
    assert game.points(game.position(hands=["R1", "R1"])).tolist() == [[0, 5]]


def test_a_position_in_an_earlier_round_goes_on_to_the_next() -> None:
    game = Poison(num_seats=3, num_rounds=2)
    state = game.position(hands=["R1", "B1 G4", "P1 P2"], to_move=1)
    first = (1 - 33) % 3  # 33 of 38 cards were played
    advance(game, state, 5)
    assert (state.round[0], state.to_move[0], state.cards_left[0]) == (1, (first + 1) % 3, 38)
    advance(game, state)
    assert (state.done[0], state.moves[0]) == (True, 76)


# --- text -------------------------------------------------------------------------------------------------------------


def test_a_table_as_text() -> None:
    game = Poison(num_seats=2, num_rounds=2, deal="all")
    state = game.position(
        hands=["R1 B1", "P1"], cauldrons=("R7 G4", "", "G4"), taken=("P2 G4", ""), match_points=(3, 12)
    )
    assert game.text(state).splitlines() == [
        "poison-v0   round 1 of 2",
        "  cauldron 1     red  11 of 13: R7 G4",
        "  cauldron 2    none   0 of 13: -",
        "  cauldron 3    none   4 of 13: G4",
        "> player_0    3 points | took purple 1 poison 1 | hand R1 B1",
        "  player_1   12 points | took nothing | hand P1",
    ]


def test_a_table_as_a_seat_sees_it() -> None:
    game = Poison(num_seats=2, recall="none", deal="all")
    state = game.position(hands=["R1 B1", "P1"], taken=("P2 G4", ""))
    lines = game.text(state, seat=1).splitlines()
    assert lines[4:] == [
        "> player_0    0 points | took 2 cards | hand 2 cards",
        "  player_1    0 points | took 0 cards | hand P1",
    ]


def test_the_text_of_a_row_of_a_finished_batch() -> None:
    game = Poison(num_rounds=1)
    state = game.deal(many_keys(2))
    advance(game, state)
    assert game.text(state, row=1).startswith("poison-v0   over after 1 rounds\n")
    assert ">" not in game.text(state, row=1)
