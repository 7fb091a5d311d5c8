"""Pictures of positions: what may be seen is there, in its place, and nothing else."""

import functools
import re
import struct
import sys
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from poison_env import draw, make
from poison_env.core import chance, svg
from poison_env.core.errors import IllegalActionError, PoisonEnvError, UnknownNameError
from poison_env.games.poison import Poison, PoisonState
from tests.games import every_case, every_game, on_the_way
from tests.support import OPTION_SETS, advance, at_random_depths, keys, many_keys

LETTERS = "RBPG"


@functools.cache
def table(name: str) -> tuple[Poison, PoisonState]:
    """Return a game and four positions of it: its start, two on the way, its end."""
    game = Poison(**OPTION_SETS[name])
    depths = at_random_depths(game, many_keys(200, 3))
    way = np.flatnonzero((depths.moves > 0) & ~depths.done)[:2]
    state, end = game.deal(keys(1, 2, 3, 4)), game.deal(keys(5))
    advance(game, end)
    state[[1, 2]], state[[3]] = depths[way], end
    return game, state


def parse(picture: str) -> ElementTree.Element:
    root = ElementTree.fromstring(re.sub(' xmlns="[^"]*"', "", picture, count=1))
    assert root.tag == "svg"
    return root


def groups(root: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [element for element in root.iter("g") if element.get("class") == kind]


def words(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter("text")]


def cards(root: ElementTree.Element) -> Counter[str]:
    """Count the cards that are shown face up, as `R7`."""
    found: Counter[str] = Counter()
    for card in groups(root, "card"):
        letter, value, *count = words(card)
        found[letter + value] += int(count[0].removeprefix("×")) if count else 1
    return found


def piles(seat: ElementTree.Element) -> list[int]:
    """Return the taken cards by class that a seat's row shows."""
    chips = [match for word in words(seat) if (match := re.fullmatch(r"([RBPG]) (\d+)", word))]
    return [next((int(chip[2]) for chip in chips if chip[1] == letter), 0) for letter in LETTERS]


def counted(game: Poison, counts: Any) -> Counter[str]:
    return Counter({game.deck.label(kind): int(n) for kind, n in enumerate(counts) if n})


# --- what is shown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPTION_SETS)
def test_every_card_of_the_position_is_shown_in_its_place(name: str) -> None:
    game, state = table(name)
    for row in range(len(state)):
        root, everything = parse(draw.svg(game, state, row)), game.observe_all(state[[row]])[0]
        for index, content in enumerate(game.full_layout.decode(everything, "cauldrons")):
            assert cards(groups(root, "cauldron")[index]) == counted(game, content)
        for seat, hand in enumerate(state.hands[row]):
            assert cards(groups(root, "seat")[seat]) == counted(game, hand)
            assert piles(groups(root, "seat")[seat]) == state.taken[row, seat].tolist()
        aside = sum((cards(group) for group in groups(root, "aside")), Counter())
        assert aside == counted(game, game.full_layout.decode(everything, "set_aside"))
        shown = cards(root).total() + sum(map(sum, map(piles, groups(root, "seat"))))
        assert shown == game.deck.size


@pytest.mark.parametrize("name", OPTION_SETS)
def test_a_seat_sees_its_own_hand_and_how_many_the_others_hold(name: str) -> None:
    game, state = table(name)
    for row in range(len(state)):
        for seat in range(game.num_seats):
            root = parse(draw.svg(game, state, row, seat))
            for other, group in enumerate(groups(root, "seat")):
                hand = state.hands[row, other]
                assert cards(group) == (counted(game, hand) if other == seat else Counter())
                if other != seat and hand.sum():
                    assert f"{hand.sum()} card{'s' * int(hand.sum() > 1)}" in words(group)
                if game.recall == "perfect":
                    assert piles(group) == state.taken[row, other].tolist()
                else:
                    assert piles(group) == [0, 0, 0, 0]
                    assert "so far" not in " ".join(words(group))


@every_case
def test_a_seat_sees_nothing_that_it_cannot_know(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    state = on_the_way(game, many_keys(5, 4))
    state[[0]] = game.deal(keys(1))
    values = np.linspace(-1, 1, game.num_actions)
    for seat in range(game.num_seats):
        for salt in range(2):
            other = game.resample(state, np.full(len(state), seat), chance.fold(salt, np.arange(len(state))))
            for row in range(len(state)):
                pictures = [draw.svg(game, each, row, seat, values=values) for each in (state, other)]
                assert pictures[0] == pictures[1]


@every_game
def test_the_whole_picture_tells_resampled_positions_apart(game_id: str) -> None:
    game = make(game_id)
    state = game.deal(keys(1, 2, 3, 4))
    other = game.resample(state, np.zeros(4, np.int64), many_keys(4, 9))
    assert draw.svg(game, state) != draw.svg(game, other)


def test_heading_points_and_majorities_are_those_of_the_rules() -> None:
    game = Poison()
    state = game.position(
        hands=["R7 B1", "P2 G4", "R2 R1", "B2"],
        cauldrons=["R5 G4", "G4", ""],
        taken=["B5x3 R7x2 G4", "R1x2 R4x2 P1x2", "B7x2 R5x2 P2x2 G4", "B1x2 R2 P4 P5 P7 G4"],
        to_move=0,
        round_number=2,
        match_points=[10, 0, 7, 31],
    )
    root = parse(draw.svg(game, state, names=["Ana", "Bo", "Cleo", "Dan"]))
    seats = [words(seat) for seat in groups(root, "seat")]
    assert "Round 3 of 4, card 44 of 50" in words(root)
    assert "Ana to move" in words(root)
    assert [row[0] for row in seats] == ["Ana", "Bo", "Cleo", "Dan"]
    assert [row.count("immune") for row in seats] == [1, 1, 0, 1]  # most blue, most red, most purple
    points = game.score(state.taken)[0]
    assert [f"+{p} so far" in row for p, row in zip(points, seats, strict=True)] == [True] * 4
    assert [str(p) in row for p, row in zip((10, 0, 7, 31), seats, strict=True)] == [True] * 4
    assert [words(pot)[:3] for pot in groups(root, "cauldron")] == [
        ["1", "red", "9 of 13"],
        ["2", "no colour", "4 of 13"],
        ["3", "no colour", "0 of 13"],
    ]
    dealer = (int(state.dealer[0]) + 2) % 4
    assert [row for row in range(4) if "dealer" in seats[row]] == [dealer]


def test_the_end_names_winners_and_places() -> None:
    game, state = table("win, handicaps")
    assert state.done[3]
    root = parse(draw.svg(game, state, 3))
    places = game.placements(state[[3]])[0] + 1
    assert [f"place {place}" in words(seat) for place, seat in zip(places, groups(root, "seat"), strict=True)] == [
        True
    ] * 4
    assert "Over after 2 rounds" in words(root)
    assert re.search(r"player_\d wins|\d share the win", " ".join(words(root)))
    assert "to move" not in " ".join(words(root))


# --- a chosen action, and values ----------------------------------------------------------------------------------


def test_a_chosen_action_marks_its_card_and_its_cauldron() -> None:
    game = Poison(num_seats=2)
    state = game.position(hands=["R7x2 B1", "P2 G4 R1"], cauldrons=["R5 G4", "", ""], to_move=0)
    plain, (action,) = draw.svg(game, state), np.flatnonzero(game.overflows(state)[0])
    root = parse(draw.svg(game, state, action=int(action)))
    assert "player_0 plays R7>1*, takes 2 cards" in words(root)
    marked = [svg.ACCENT in ElementTree.tostring(pot, "unicode") for pot in groups(root, "cauldron")]
    assert marked == [True, False, False]
    assert [svg.ACCENT in ElementTree.tostring(s, "unicode") for s in groups(root, "seat")] == [True, False]
    assert svg.ACCENT not in plain
    quiet = next(a for a in np.flatnonzero(game.action_mask(state)[0]) if game.action_label(a) == "B1>2")
    assert "player_0 plays B1>2" in words(parse(draw.svg(game, state, action=int(quiet))))


def test_values_stand_under_the_cards_of_the_seat_to_move() -> None:
    game = Poison(num_seats=2)
    state = game.position(hands=["R7 B1", "P2 G4"], cauldrons=["R5 G4", "", ""], to_move=0)
    values = np.arange(game.num_actions) / 100 + 1
    legal = np.flatnonzero(game.action_mask(state)[0])
    mover, other = groups(parse(draw.svg(game, state, values=values)), "seat")
    shown = [word for word in words(mover) if re.fullmatch(r"\d\.\d\d", word)]
    assert shown == [f"{values[action]:.2f}" for action in legal]
    assert not any(re.fullmatch(r"\d\.\d\d", word) for word in words(other))
    best = [text.text for text in mover.iter("text") if text.get("font-weight") and "." in (text.text or "")]
    assert best == [f"{values[legal].max():.2f}"]


def test_values_are_not_shown_where_the_hand_is_not() -> None:
    game, state = table("default")
    hidden = (int(state.to_move[0]) + 1) % 4
    values = np.full(game.num_actions, 0.5)
    assert draw.svg(game, state, 0, hidden, values=values) == draw.svg(game, state, 0, hidden)


# --- the text itself ----------------------------------------------------------------------------------------------


@every_case
def test_a_position_has_one_picture_wherever_it_stands(game_id: str, options: dict[str, Any]) -> None:
    game, again = make(game_id, **options), make(game_id, **options)
    state = on_the_way(game, many_keys(3, 6))
    for row in range(len(state)):
        assert draw.svg(game, state, row) == draw.svg(again, state[[row, 0]], 0)


@every_game
def test_names_are_escaped_and_cut(game_id: str) -> None:
    game = make(game_id)
    state = game.deal(keys(1))
    names = ["<b>&\"'", "\x00\x1b[2J\ud800", "W" * 50, "李" * 50]
    root = parse(draw.svg(game, state, names=names))
    shown = [words(seat)[0] for seat in groups(root, "seat")]
    assert shown[:2] == ["<b>&\"'", "\N{REPLACEMENT CHARACTER}" * 2 + "[2J\N{REPLACEMENT CHARACTER}"]
    assert [name[-1] for name in shown[2:]] == ["…", "…"]
    assert max(map(len, shown)) < 12


@every_game
def test_a_picture_needs_nothing_from_elsewhere_and_shares_a_page(game_id: str) -> None:
    game = make(game_id)
    picture = draw.svg(game, game.deal(keys(1)))
    assert re.findall(r"https?://[^\"]*", picture) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"\bid=|href|url\(|<style|<script|@", picture)


def test_numbers_are_short_and_never_minus_zero() -> None:
    assert [svg.number(value) for value in (1.0, 1.25, 1.005, -0.001, 100, 0.1 + 0.2)] == [
        "1", "1.25", "1", "0", "100", "0.3",
    ]  # fmt: skip


# --- what cannot be drawn -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        ({"row": 4}, ValueError, "row: expected 0 to 3, got 4"),
        ({"row": -1}, ValueError, "row"),
        ({"seat": 4}, ValueError, "seat: expected 0 to 3, got 4"),
        ({"names": ["a"]}, ValueError, "names: expected 4, got 1"),
        ({"values": [1.0]}, ValueError, r"values: expected shape \(\d\d,\)"),
        ({"action": 999}, IllegalActionError, "action 999 is not legal"),
        ({"action": -1}, IllegalActionError, "action -1 is not legal"),
        ({"row": 3, "action": 0}, IllegalActionError, "action 0 is not legal"),
    ],
)
@every_game
def test_what_does_not_fit_is_refused(
    game_id: str, arguments: dict[str, Any], error: type[Exception], reason: str
) -> None:
    game = make(game_id)
    state = game.deal(many_keys(4))
    over = state[[3]]
    advance(game, over)
    state[[3]] = over
    with pytest.raises(error, match=reason):
        draw.svg(game, state, **arguments)


def test_a_game_without_pictures_is_named() -> None:
    class Plain:
        id = "plain-v0"

    plain: Any = Plain()
    with pytest.raises(UnknownNameError, match="plain-v0 has no picture"):
        draw.svg(plain, None)


# --- PNG ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 0.5, 2.0])
def test_png_has_the_size_of_the_picture(scale: float) -> None:
    pytest.importorskip("resvg_py")
    picture = draw.svg(*table("default"))
    image = draw.png(picture, scale)
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    size = struct.unpack(">II", image[16:24])
    assert size == tuple(round(scale * float(parse(picture).get(side) or 0)) for side in ("width", "height"))


def test_png_without_its_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    draw._has_font.cache_clear()
    with pytest.raises(ImportError, match=r"poison_env\[draw\]"):
        draw.png(draw.svg(*table("default")))


def test_png_without_any_font_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    resvg = pytest.importorskip("resvg_py")
    render = functools.partial(resvg.svg_to_bytes, skip_system_fonts=True)
    monkeypatch.setattr(resvg, "svg_to_bytes", lambda **given: render(**(given | {"font_dirs": []})))
    draw._has_font.cache_clear()
    with pytest.raises(PoisonEnvError, match="no font"):
        draw.png(draw.svg(*table("default")))
    draw._has_font.cache_clear()


def test_png_refuses_what_is_no_picture() -> None:
    pytest.importorskip("resvg_py")
    with pytest.raises(ValueError, match=r"."):
        draw.png("no picture")
    with pytest.raises(ValueError, match="scale: expected a number above 0"):
        draw.png(draw.svg(*table("default")), 0)


def test_fonts_of_matplotlib_are_found_without_loading_it() -> None:
    pytest.importorskip("matplotlib")
    assert any("mpl-data" in place for place in draw._font_dirs())
