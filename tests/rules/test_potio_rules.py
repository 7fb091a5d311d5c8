"""The rules of Potio, one by one."""

from pathlib import Path

import numpy as np
import pytest

from poison_env.core.errors import IllegalActionError, OptionError, PositionError
from poison_env.games.potio import Potio, moves
from poison_env.games.potio.deck import EMPTY

REST = "B1x7 B2x7 B3x7 B6x3 Y1x7 Y4x7 Y6x3 P1x7 P5x3 P6x3 G1x7 G2x7"  # cards enough for any position here


def act(game, state, *labels):
    """Play moves by their labels in one match, in place; return what the last one paid."""
    number = {game.action_label(action): action for action in range(game.num_actions)}
    for label in labels:
        paid = game.step(state, np.array([number[label]]))
    return paid[0].tolist()


def legal(game, state):
    return {game.action_label(action) for action in np.flatnonzero(game.action_mask(state)[0])}


def zone(game, state, seat):
    return game.deck.words(state.zones[0, seat].tolist())


def table(game, *zones, **more):
    """Return a position whose mover takes a purple 1 that fits nothing."""
    return game.position(zones=zones, centre=more.pop("centre", "P1"), **more)


def brew(game, state, *slots):
    return act(game, state, *(f"pick {slot}" for slot in slots), "commit")


def values_of(text, **options):
    """Return the points of brewing exactly these cards; None if that is illegal."""
    game = Potio(num_seats=2, deck=REST, **options)
    zones = np.full((1, 8), EMPTY, np.int8)
    cards = sorted(game.deck.parse(text))
    zones[0, : len(cards)] = cards
    _, subset, number = game.brews.find(zones)
    whole = ((1 << len(cards)) - 1) << (8 - len(cards))
    points = game.brews.points[number[subset == whole]].tolist()
    return points[0] if points else None


@pytest.mark.parametrize(
    ("cards", "options", "points"),
    [
        ("P6 B3 B3 Y4 G2", {}, 10),
        ("G1 G1 G1", {}, 3),
        ("G1 G1 G1", {"grey_first": False}, None),
        ("B2 G2 G1 G1", {}, 5),
        ("B2 G2 G1 G1", {"grey_only_sum": False}, None),
        ("B6 Y6 P5 P1", {}, 9),
        ("B6 B2 Y4 P6", {}, None),  # a sum of two colours
        ("B6 B3 B3", {}, None),  # two parts only
        ("B1 B1 B1", {}, 3),
        ("B2 G2 G2", {"grey_only_sum": False}, 4),  # a single grey is one card of that value
        ("B1 G1 G1", {"grey_first": False}, 3),
        ("B3* B3 B3", {}, None),  # frozen
    ],
)
def test_what_is_a_brew_and_its_points(cards, options, points):
    assert values_of(cards, **options) == points


def test_a_card_and_two_sums_are_one_brew_with_a_choice_of_effect():
    game = Potio(num_seats=2, deck=REST)
    five = np.array([[*sorted(game.deck.parse("P6 B3 B3 Y4 G2")), EMPTY, EMPTY, EMPTY]], np.int8)
    assert len(game.brews.find(five)[0]) == 1
    state = table(game, "B3 B3 Y4 P6 G2", "B1")
    act(game, state, "take 1")
    assert zone(game, state, 0) == "B3 B3 Y4 P1 P6 G2"
    assert brew(game, state, 1, 2, 3, 5, 6) == [10, 0]
    assert legal(game, state) == {"freeze", "burn", "steal", "none"}  # nothing of one's own is frozen


def test_an_effect_without_a_target_is_not_asked_for():
    game = Potio(num_seats=2, deck=REST)
    state = table(game, "B1 B1 B1", "Y4*")
    act(game, state, "take 1")
    brew(game, state, 1, 2, 3)
    assert legal(game, state) == {"commit"}


@pytest.mark.parametrize(
    ("own", "kinds"),
    [
        ("B1 B1 B1", {"freeze"}),
        ("Y1 Y1 Y1", {"burn"}),
        ("P1 P1 P1", {"steal"}),
        ("B1 Y1 G1", None),
        ("B6 Y6 P5 P1", {"freeze", "burn", "steal"}),
    ],
)
def test_colours_decide_the_effect(own, kinds):
    game = Potio(num_seats=2, deck=REST)
    state = table(game, own, "B3", centre="B2")
    act(game, state, "take 1")
    places = [i + 1 for i, word in enumerate(zone(game, state, 0).split()) if word in own.split()]
    brew(game, state, *places)
    assert legal(game, state) == ({"commit"} if kinds is None else {*kinds, "none"})


def test_a_frozen_card_is_thawed_and_can_be_used_again():
    game = Potio(num_seats=2, deck=REST)
    state = table(game, "Y1 Y1 Y1 B6*", "B3", centre="P5")
    act(game, state, "take 1")
    brew(game, state, 2, 3, 4)
    act(game, state, "thaw", "aim +0.1")
    assert zone(game, state, 0) == "B6 P5"


def test_freezing_turns_an_opponents_card():
    game = Potio(num_seats=2, deck=REST)
    state = table(game, "B1 B1 B1", "B3 Y4", centre="P5")
    act(game, state, "take 1")
    brew(game, state, 1, 2, 3)
    act(game, state, "freeze")
    assert legal(game, state) == {"aim +1.1", "aim +1.2"}
    act(game, state, "aim +1.2")
    assert zone(game, state, 1) == "B3 Y4*"


def test_a_burned_card_is_its_owners_point():
    game = Potio(num_seats=2, deck=REST)
    state = table(game, "Y1 Y1 Y1", "B3 Y4", centre="P5")
    act(game, state, "take 1")
    brew(game, state, 1, 2, 3)
    act(game, state, "burn")
    assert act(game, state, "aim +1.1") == [0, 1]
    assert game.points(state).tolist() == [[3, 1]]


def test_a_stolen_card_is_brewed_in_the_same_turn():
    game = Potio(num_seats=2, deck=REST)
    state = table(game, "P1 P1 P1 B3 B3", "B3 Y4", centre="P5")
    act(game, state, "take 1")
    brew(game, state, 3, 4, 5)
    act(game, state, "steal", "aim +1.1")
    assert zone(game, state, 0) == "B3 B3 B3 P5"
    assert brew(game, state, 1, 2, 3) == [5, 0]


@pytest.mark.parametrize(
    ("options", "own", "expected"),
    [
        ({}, "P1 P1 P1", {"steal", "none"}),
        ({"steal_frozen": True}, "P1 P1 P1", {"steal", "none"}),
        ({}, "Y1 Y1 Y1", {"burn", "none"}),
        ({"burn_frozen": False}, "Y1 Y1 Y1", {"burn", "none"}),
    ],
)
def test_frozen_cards_as_targets(options, own, expected):
    game = Potio(num_seats=2, deck=REST, **options)
    state = table(game, own, "B3 Y4*", centre="B6")
    act(game, state, "take 1")
    brew(game, state, 2, 3, 4)
    assert legal(game, state) == expected
    act(game, state, (expected - {"none"}).pop())
    frozen_allowed = options.get("steal_frozen", False) if own[0] == "P" else options.get("burn_frozen", True)
    assert ("aim +1.2" in legal(game, state)) == frozen_allowed


def test_an_empty_zone_draws_two_before_the_effect():
    game = Potio(num_seats=2, deck=REST)
    state = table(game, "P1 P1", "B3", pile="B6 Y6 P5")
    act(game, state, "take 1")
    brew(game, state, 1, 2, 3)
    assert (zone(game, state, 0), legal(game, state)) == ("B6 Y6", {"steal", "none"})
    act(game, state, "steal", "aim +1.1")
    assert (zone(game, state, 0), zone(game, state, 1)[:2]) == ("B3 B6 Y6", "P5")


def test_eight_cards_explode_at_the_end_of_the_turn():
    game = Potio(num_seats=2, deck="B1x2 Y2 P6x5 Y6 B4 Y4 G1")
    state = game.position(zones=["P6* P6* P6* P6* P6* B1 Y2", "B4"], centre="Y6 Y4")
    size = int(state.pile_size[0])
    act(game, state, "take 1")
    assert legal(game, state) == {"commit"}
    act(game, state, "commit")
    assert (state.zones[0, 0] != EMPTY).sum() == 2
    assert state.pile_size[0] == size + 6 - 1  # eight less the two drawn; the next player reveals one
    assert not (state.zones[0, 0][:2] & 1).any()


def test_a_take_closes_the_centre_up():
    game = Potio(num_seats=2, deck=REST)
    state = game.position(zones=["B1", "B1"], centre="B2 B3 Y4 P5")
    act(game, state, "take 2")
    assert [game.deck.label(kind) for kind in state.centre[0, :3]] == ["B2", "Y4", "P5"]


def test_the_game_is_over_when_pile_and_centre_are_empty_and_fewer_frozen_cards_break_a_tie():
    game = Potio(num_seats=2, deck="B1x2 Y4x3 P5x4")
    state = game.position(zones=["B1 Y4", "Y4*"], centre="B1", victory=["P5x2", "P5x2"], pile="Y4")
    assert state.pile_size[0] == 1
    act(game, state, "take 1", "commit", "take 1", "commit")
    assert (state.done[0], state.truncated[0]) == (True, False)
    assert game.points(state).tolist() == [[2, 2]]
    assert game.placements(state).tolist() == [[0, 1]]


def test_an_explosion_on_the_last_turn_lets_the_game_go_on():
    game = Potio(num_seats=2, deck="P6x4 Y6 B1x2 Y2 P5 B3")
    state = game.position(zones=["P6* P6* P6* P6* B1 B1 Y2", "P5"], centre="Y6", victory=["B3", ""])
    assert state.pile_size[0] == 0
    act(game, state, "take 1", "commit")
    assert not state.done[0]
    assert (state.pile_size[0], state.centre_size[0]) == (5, 1)


def test_turns_without_a_card_won_end_the_game_by_the_rules():
    game = Potio(num_seats=2, stall_turns=3)
    state = game.deal(np.array([0], np.uint64))
    act(game, state, *["take 1", "commit"] * 3)
    assert (state.done[0], state.truncated[0], state.turns[0]) == (True, False, 3)


def test_too_many_turns_cut_the_match_off():
    game = Potio(num_seats=2, max_turns=2, reward="win")
    state = game.deal(np.array([0], np.uint64))
    assert act(game, state, *["take 1", "commit"] * 2) == [0.5, 0.5]
    assert (state.done[0], state.truncated[0]) == (True, True)


def test_a_match_that_ends_by_the_rules_on_its_last_turn_is_not_cut_off():
    game = Potio(num_seats=2, max_turns=3, stall_turns=3)
    state = game.deal(np.array([0], np.uint64))
    act(game, state, *["take 1", "commit"] * 3)
    assert (state.done[0], state.truncated[0]) == (True, False)


def test_of_equal_cards_the_first_is_picked():
    game = Potio(num_seats=2, deck=REST)
    state = table(game, "B3 B3 B3 B3", "B1", centre="P5")
    act(game, state, "take 1")
    assert legal(game, state) == {"pick 1", "commit"}
    act(game, state, "pick 1", "pick 2")
    assert legal(game, state) == {"pick 3"}


def test_numbers_of_actions():
    assert [Potio(num_seats=seats).num_actions for seats in (2, 3, 4, 5)] == [34, 42, 50, 58]


def test_the_standard_deck_and_the_deal():
    game = Potio()
    assert game.deck.size == 66
    state = game.deal(np.arange(40, dtype=np.uint64))
    assert ((state.zones != EMPTY).sum(axis=2) == 2).all()
    assert (state.centre_size == 4).all()
    assert set(state.first.tolist()) == {0, 1, 2, 3}


def test_cards_are_dealt_from_the_first_player_on_then_the_centre():
    game = Potio(num_seats=3, deck="B1x2 B2x2 Y3x2 Y4x2 P5x2 P6x2 G1x3", extra_cards_last=1)
    order = game.deck.parse("B2 B1 Y4 Y3 P6 P5 G1 G1 B1 B2 P5 P6 Y3 Y4 G1")
    state = game.deal_from(np.array(order) // 2, seeds=[1])
    first = int(state.first[0])
    assert [zone(game, state, (first + ahead) % 3) for ahead in range(3)] == ["B1 B2", "Y3 Y4", "P5 P6 G1"]
    assert [game.deck.label(kind) for kind in state.centre[0]] == ["G1", "B1", "B2", "P5"]
    assert "pile P6 Y3 Y4 G1" in game.text(state)


def test_a_deal_is_that_from_its_own_order_of_cards():
    game, seeds = Potio(), np.arange(6, dtype=np.uint64)
    assert game.deal_from(game.card_order(seeds), seeds=seeds).equals(game.deal(seeds))


@pytest.mark.parametrize("wrong", [np.zeros(66, int), np.arange(65), Potio().deck.cards * 1.0, np.zeros(132, int)])
def test_orders_that_are_not_the_deck_are_refused(wrong):
    with pytest.raises(PositionError, match="cards: "):
        Potio().deal_from(wrong)


def test_the_last_seat_may_get_more_cards():
    game = Potio(num_seats=3, extra_cards_last=2)
    state = game.deal(np.array([4], np.uint64))
    sizes = (state.zones[0] != EMPTY).sum(axis=1)
    assert np.roll(sizes, -int(state.first[0])).tolist() == [2, 2, 4]


@pytest.mark.parametrize(
    "options",
    [
        {"num_seats": 6},
        {"num_seats": 1},
        {"deck": "B7"},
        {"deck": "G3x7"},
        {"deck": "B1x8"},
        {"deck": "B1x6"},
        {"deck": 3},
        {"extra_cards_last": 6},
        {"grey_first": 1},
        {"stall_turns": 0},
        {"max_turns": 0},
        {"reward": "score"},
    ],
)
def test_options_that_cannot_be_played_are_refused(options):
    with pytest.raises(OptionError):
        Potio(**options)


def test_an_illegal_action_is_refused_with_row_seat_and_reason():
    game = Potio(num_seats=2, deck=REST)
    state = table(game, "B1 B1", "B3")
    before = state.copy()
    with pytest.raises(IllegalActionError, match=r"row 0: seat 0 may not commit now.*take a card.*B1 B1"):
        game.step(state, np.array([moves.COMMIT]))
    assert state.equals(before)


@pytest.mark.parametrize(
    "wrong",
    [
        {"zones": ["B1"], "centre": "B2"},
        {"zones": ["B1", "B1"], "centre": ""},
        {"zones": ["B1x8", "B1"], "centre": "B2"},
        {"zones": ["B1", ""], "centre": "B2"},
        {"zones": ["B1", "B1"], "centre": "B2*"},
        {"zones": ["B9", "B1"], "centre": "B2"},
    ],
)
def test_positions_that_cannot_be_are_refused(wrong):
    with pytest.raises(PositionError):
        Potio(num_seats=2, deck=REST).position(**wrong)


def test_the_text_hides_the_order_of_the_pile_from_seats():
    game = Potio(num_seats=2, deck="B1x2 Y4x3 P5x4 G1x3")
    state = game.position(zones=["B1 Y4", "Y4*"], centre="B1", pile="P5 G1 P5 G1")
    assert "pile P5 G1 P5 G1" in game.text(state)
    assert "pile, any order within a batch: Y4 P5" in game.text(state, seat=0)
    assert "zone Y4*" in game.text(state, seat=0)


def test_the_observation_table_of_the_document_is_the_layouts_own():
    document = Path(__file__).resolve().parents[2] / "docs" / "potio.md"
    assert Potio().layout.table() in document.read_text(encoding="utf-8")
