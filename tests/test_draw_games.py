"""Pictures of Arsenic and Potio: scones, cards and what else there is lie where the rules have them."""

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from poison_env import draw
from poison_env.core import svg
from poison_env.games.arsenic import Arsenic
from poison_env.games.arsenic.scones import SPECIALS
from poison_env.games.potio import Potio, moves
from poison_env.games.potio.deck import EMPTY
from tests import arsenic_support
from tests.games import on_the_way
from tests.potio_support import POTIO_SETS
from tests.support import many_keys
from tests.test_draw import groups, parse, words

every_arsenic = pytest.mark.parametrize(
    "options", arsenic_support.OPTION_SETS.values(), ids=arsenic_support.OPTION_SETS
)
every_potio = pytest.mark.parametrize("options", POTIO_SETS.values(), ids=POTIO_SETS)


def scones(group: ElementTree.Element) -> list[str]:
    return ["".join(words(scone)) for scone in groups(group, "scone")]


def letters(kinds: Any, flavour: int) -> list[str]:
    return sorted(SPECIALS[flavour][0].upper() if kind == 4 else str(kind) for kind in kinds)


def marked(group: ElementTree.Element) -> bool:
    return svg.ACCENT in ElementTree.tostring(group, "unicode")


# --- Arsenic ------------------------------------------------------------------------------------------------------


@every_arsenic
def test_every_scone_is_shown_in_box_hand_or_cup(options: dict[str, Any]) -> None:
    game = Arsenic(**options)
    state = on_the_way(game, many_keys(5, 2))
    for row in range(len(state)):
        root, drawn = parse(draw.svg(game, state, row)), int(state.drawn[row])
        for flavour, panel in enumerate(groups(root, "flavour")):
            box = state.box[row, 7 * flavour : 7 * flavour + 7].copy()
            if drawn // 7 == flavour:
                box[drawn % 7] = 0
            assert sorted(scones(panel)) == letters(box[box > 0] - 1, flavour)
        (hand,) = groups(root, "hand")
        assert scones(hand) == (letters([state.box[row, drawn] - 1], drawn // 7) if drawn >= 0 else [])
        for seat, group in enumerate(groups(root, "seat")):
            bites = state.bites[row, state.eaters[row] == seat]
            expected = [letter for flavour in range(6) for letter in letters(bites[bites // 5 == flavour] % 5, flavour)]
            assert scones(group) == expected
            assert f"dose {max(0, int(state.doses[row, seat]))} of {game.lethal}" in words(group)


@every_arsenic
def test_a_seat_sees_the_doses_that_its_observation_has(options: dict[str, Any]) -> None:
    game = Arsenic(**options)
    state = on_the_way(game, many_keys(4, 3))
    for seat in range(game.num_seats):
        seen = game.observe(state, np.full(len(state), seat))
        cups = game.layout.decode(seen, "known_cups").sum(axis=(2, 3))
        for row in range(len(state)):
            root = parse(draw.svg(game, state, row, seat))
            for ahead, known in enumerate(cups[row]):
                shown = scones(groups(root, "seat")[(seat + ahead) % game.num_seats])
                assert sum(word != "?" for word in shown) == known
                assert len(shown) == state.cups[row, (seat + ahead) % game.num_seats].sum()
            known_slots = game.layout.decode(seen[row], "known_slots") > 0 if game.by_slot else np.zeros(42, bool)
            known_slots[state.drawn[row]] &= state.drawn[row] < 0
            in_box = sum(word != "?" for panel in groups(root, "flavour") for word in scones(panel))
            assert in_box == known_slots.sum()


def test_supplies_debts_and_fates_are_those_of_the_rules() -> None:
    game = Arsenic(num_seats=3)
    state = game.deal_from(arsenic_support.SORTED)
    arsenic_support.push(game, state, "stop draw:2.6 eat pass spoon pass draw:0.3 return shuffle")
    rows = groups(parse(draw.svg(game, state)), "seat")
    assert [[word for word in words(row) if "owes" in word or word == "stopped"] for row in rows] == [
        ["stopped"],
        ["owes 1 turn"],
        ["owes 1 turn"],
    ]
    sugars = [
        sum(rect.get("stroke") == svg.INK for rect in row.iter("rect") if rect.get("width") == "14") for row in rows
    ]
    assert sugars == [3, 3, 2]
    assert [sum(path.get("fill") == svg.GREY for path in row.iter("path")) for row in rows] == [0, 1, 1]


def test_a_chosen_draw_marks_its_slot_and_a_chosen_word_its_button() -> None:
    game = Arsenic(num_seats=2)
    state = game.deal_from(arsenic_support.SORTED)
    root = parse(draw.svg(game, state, action=arsenic_support.action(game, "draw:3.2")))
    assert [marked(panel) for panel in groups(root, "flavour")] == [flavour == 3 for flavour in range(6)]
    assert "player_0: draw 3.2" in words(root)
    root = parse(draw.svg(game, state, action=arsenic_support.action(game, "stop")))
    assert [words(button) for button in groups(root, "button") if marked(button)] == [["stop"]]


def test_what_the_mover_may_do_is_told_to_others_in_general_alone() -> None:
    game = Arsenic(num_seats=2, specials=True)
    state = game.deal_from(arsenic_support.WITH_SPECIALS)
    arsenic_support.push(game, state, "draw:5.7")  # the window, which cannot be returned
    other = game.deal_from(arsenic_support.WITH_SPECIALS.reshape(6, 7)[:, ::-1].reshape(-1))
    arsenic_support.push(game, other, "draw:5.7")
    assert draw.svg(game, state, seat=1) == draw.svg(game, other, seat=1)
    assert draw.svg(game, state, seat=0) != draw.svg(game, other, seat=0)
    asked = [[word for word in words(parse(draw.svg(game, state, seat=seat))) if "eat," in word] for seat in (0, 1)]
    assert asked == [["eat, as the window sticks"], ["eat, or return it for a sugar"]]


# --- Potio --------------------------------------------------------------------------------------------------------


def cards(group: ElementTree.Element) -> list[str]:
    return ["".join(words(card)) for card in groups(group, "card")]


@every_potio
def test_every_card_is_shown_in_its_place(options: dict[str, Any]) -> None:
    game = Potio(**options)
    state = on_the_way(game, many_keys(4, 2))
    for row in range(len(state)):
        one = state[[row]]
        root, everything = parse(draw.svg(game, one)), game.observe_all(one)[0]
        order = game.full_layout.decode(everything, "pile_order")
        assert cards(groups(root, "centre")[0]) == [game.deck.label(k) for k in one.centre[0, : one.centre_size[0]]]
        assert cards(groups(root, "pile")[0]) == [game.deck.label(kind - 1) for kind in order if kind]
        for seat, group in enumerate(groups(root, "seat")):
            zone = one.zones[0, seat]
            assert cards(group) == game.deck.words(zone[zone != EMPTY].tolist()).replace("-", "").split()
            assert str(one.scores[0, seat]) in words(group)
            counts = [int(one.victory[0, seat][game.deck.classes == number].sum()) for number in range(4)]
            chips = [f"{letter} {count}" if count else letter for letter, count in zip("BYPG", counts, strict=True)]
            assert [word for word in words(group) if word in chips][:4] == chips


def test_a_seat_sees_the_parts_of_the_pile_in_an_order_that_tells_nothing() -> None:
    game = Potio(num_seats=2, deck="B1x3 B5x5 B6x5 Y1x2 Y3 Y4x2 P1 P6x4 G1", stall_turns=100)
    zones = ["B5* B5* B5* B5* B6* B6* B6*", "B1* B1* B1* P6* P6* P6* P6*"]
    state = game.position(zones=zones, centre="Y3", pile="Y4 P1 B6 B6 B5 Y4")
    for action in (moves.TAKE, moves.COMMIT) * 2:
        game.step(state, np.array([action]))
    (pile,) = groups(parse(draw.svg(game, state, seat=0)), "pile")
    assert " ".join(cards(pile)) == "Y1 Y1 G1 B5 B5 B5 B5 B6 B6 B6 Y3 B1 B1 B1 B6 P6 P6 P6 P6"
    assert "pile, 19 cards, in any order within a part" in words(pile)
    lefts = [float(rect.get("x") or 0) for rect in pile.iter("rect")]
    assert np.flatnonzero(np.diff(lefts) > 30).tolist() == [2, 10]


def test_picked_cards_a_chosen_one_and_targets_are_marked() -> None:
    game = Potio(num_seats=2, deck="B1x7 B2x7 Y1x7 P1x7 G1x7")
    state = game.position(zones=["Y1 P1*", "B1x4"], centre="B1 Y1 P1", to_move=1)
    (take, *_) = [move for move in range(4) if state.centre[0, move] == 0]
    root = parse(draw.svg(game, state, action=take))
    assert "player_1: take B1" in words(root)
    assert [marked(group) for group in (*groups(root, "centre"), *groups(root, "seat"))] == [True, False, False]
    game.step(state, np.array([take]))
    game.step(state, np.array([moves.PICK]))
    root = parse(draw.svg(game, state, action=moves.PICK + 1))
    other, own = groups(root, "seat")
    assert sum(rect.get("stroke-width") == "3" for rect in own.iter("rect")) == 1
    assert [marked(own), marked(other)] == [True, False]
    for action in (moves.PICK + 1, moves.PICK + 2, moves.COMMIT, moves.EFFECT):  # blue alone: freeze
        game.step(state, np.array([action]))
    target = moves.TARGET + 8  # the one card of the other seat that is not frozen
    root = parse(draw.svg(game, state, action=target, values=np.arange(game.num_actions) / 10))
    assert "player_1: freeze Y1" in words(root)
    other, own = groups(root, "seat")
    assert [marked(own), marked(other)] == [False, True]
    assert [word for word in words(other) if "." in word] == [f"{target / 10:.2f}"]
    assert cards(other) == ["Y1", "P1*"]
