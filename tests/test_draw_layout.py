"""Nothing in a picture is cut off, lies over anything else, or hangs on telling colours apart."""

import functools
import itertools
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from poison_env import draw, make
from poison_env.games.arsenic import drawing as arsenic
from poison_env.games.poison import Poison
from poison_env.games.poison.drawing import POT_HEIGHT, SHADES
from poison_env.games.potio import drawing as potio
from tests.games import CASES, SETS, on_the_way
from tests.support import ALL_KINDS, LARGEST, many_keys

textpath = pytest.importorskip("matplotlib.textpath")  # measures text in the font of the pictures
font_manager = pytest.importorskip("matplotlib.font_manager")

ALL_CARDS = " ".join(f"{letter}{value}x7" for letter in "BYPG" for value in range(1, 7) if letter != "G" or value < 3)
SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]  # left, top, right, bottom


@functools.cache
def ink(content: str, size: float, weight: str) -> Box:
    """Measure a text in DejaVu Sans, from its start on the base line."""
    if not content.strip():
        return 0.0, 0.0, 0.0, 0.0
    font = font_manager.FontProperties(family="DejaVu Sans", weight=weight)
    extents = textpath.TextPath((0, 0), content, size=size, prop=font).get_extents()
    return float(extents.x0), -float(extents.y1), float(extents.x1), -float(extents.y0)


def text_box(element: ElementTree.Element) -> Box:
    """Return the box of a text's ink."""
    x, y, size = (float(element.get(name) or 0) for name in ("x", "y", "font-size"))
    left, top, right, bottom = ink(element.text or "", size, element.get("font-weight") or "normal")
    x -= {"start": 0.0, "middle": right / 2, "end": right}[element.get("text-anchor") or "start"]
    return x + left, y + top, x + right, y + bottom


def rect_box(element: ElementTree.Element) -> Box:
    x, y, width, height = (float(element.get(name) or 0) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def assert_inside(outer: Box, elements: Iterable[ElementTree.Element], margin: float = 0) -> None:
    for element in elements:
        left, top, right, bottom = text_box(element) if element.tag.endswith("text") else rect_box(element)
        assert outer[0] + margin <= left <= right <= outer[2] - margin, ElementTree.tostring(element)
        assert outer[1] + margin <= top <= bottom <= outer[3] - margin, ElementTree.tostring(element)


def assert_apart(boxes: list[Box], labels: list[str]) -> None:
    if not boxes:
        return
    lefts, tops, rights, bottoms = np.array(boxes).T
    over = (lefts[:, None] < rights) & (lefts < rights[:, None]) & (tops[:, None] < bottoms) & (tops < bottoms[:, None])
    np.fill_diagonal(over, False)
    assert not over.any(), [(labels[a], labels[b]) for a, b in np.argwhere(over)]


def check(picture: str) -> None:
    root = ElementTree.fromstring(picture)
    page = (0.0, 0.0, float(root.get("width") or 0), float(root.get("height") or 0))
    rects, texts = list(root.iter(SVG + "rect")), list(root.iter(SVG + "text"))
    assert_inside(page, rects)
    assert_inside(page, texts, margin=4)
    assert_apart([text_box(text) for text in texts], [text.text or "" for text in texts])
    cards = [each for each in root.iter(SVG + "g") if each.get("class") in ("card", "scone", "button")]
    faces = [face for card in cards if (face := card.find(SVG + "rect")) is not None]
    assert len(faces) == len(cards)
    assert_apart([rect_box(face) for face in faces], ["".join(card.itertext()) for card in cards])
    for row in root.findall(f"./{SVG}g[@class='seat']"):
        frame, *others = row.iter(SVG + "rect")
        assert_inside(rect_box(frame), [*others, *row.iter(SVG + "text")], margin=2)
    for pot in root.findall(f"./{SVG}g[@class='cauldron']"):
        rim = next(rect for rect in reversed(list(pot.findall(SVG + "rect"))))
        left, _, right, top = rect_box(rim)
        assert_inside((left, top, right, top + POT_HEIGHT), pot.findall(f"{SVG}g[@class='card']/{SVG}rect"), margin=10)


LARGE: dict[str, dict[str, Any]] = {
    "two seats, all kinds": {"num_seats": 2, "deck": ALL_KINDS, "num_rounds": 1},
    "many cards": {"num_seats": 3, "deck": LARGEST, "num_rounds": 1},
    "many cards, two seats": {"num_seats": 2, "deck": LARGEST, "deal": "all", "num_rounds": 1},
    "many kinds and cards": {
        "num_seats": 2,
        "deck": " ".join(f"{letter}{value}x3" for letter in "RBPG" for value in range(1, 14)),
        "num_rounds": 1,
    },
    "full cauldrons": {"num_seats": 4, "deck": "R1x60 B1x60 P1x60 G1x60", "num_rounds": 1},
}
TABLES = CASES | {f"poison-v0, {name}": ("poison-v0", options) for name, options in LARGE.items()}
TABLES["potio-v0, largest deck"] = ("potio-v0", {"deck": ALL_CARDS, "num_seats": 5})


@pytest.mark.parametrize(("game_id", "options"), TABLES.values(), ids=TABLES)
def test_nothing_is_cut_off_and_no_text_lies_over_another(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    state = on_the_way(game, many_keys(3, 5))
    names = ["Wilhelmina-Maximiliane"] * game.num_seats
    for row in range(len(state)):
        legal = np.flatnonzero(game.action_mask(state)[row])
        action = int(legal[-1]) if len(legal) else None
        values = np.linspace(-9.99, 9.99, game.num_actions) * 10.0 ** (row - 1)
        check(draw.svg(game, state, row))
        check(draw.svg(game, state, row, row % game.num_seats))
        check(draw.svg(game, state, row, action=action, values=values, names=names))


def test_the_largest_numbers_fit() -> None:
    game = Poison(num_seats=3, deck="R1x13 B1x200 G1x400 P13x20", num_rounds=20)
    state = game.position(
        hands=["B1x2", "B1x2", "P13 B1"],
        cauldrons=["R1x13", "G1x13", "B1"],
        taken=["B1x150 G1x300", "P13x12 G1x50", ""],
        to_move=0,
        round_number=19,
        match_points=[31_000, 7, 0],
    )
    check(draw.svg(game, state))


def test_an_overlap_would_be_seen() -> None:
    picture = draw.svg(Poison(), Poison().deal(many_keys(1)))
    with pytest.raises(AssertionError, match="player_0"):
        check(picture.replace('x="176"', 'x="60"'))
    with pytest.raises(AssertionError):
        check(picture.replace('width="960" height', 'width="900" height', 1))


# Linear RGB as seen without red, green or blue cones: Machado, Oliveira and Fernandes, "A physiologically-based model
# for simulation of color vision deficiency", IEEE TVCG 2009, table 1, severity 1.
SIGHT = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
every_palette = pytest.mark.parametrize("shades", [SHADES, arsenic.SHADES, potio.SHADES], ids=SETS)
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)


def linear(colour: str) -> Any:
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(rgb: Any) -> Any:
    """Return CIE L*a*b* of linear RGB."""
    ratio = XYZ @ np.clip(rgb, 0, 1) / WHITE
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@every_palette
@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_every_kind_of_colour_vision(sight: str, shades: dict[Any, str]) -> None:
    seen = {name: lab(np.array(SIGHT[sight]) @ linear(shade)) for name, shade in shades.items()}
    for first, second in itertools.combinations(seen, 2):
        assert np.linalg.norm(seen[first] - seen[second]) > 20, (first, second)  # ten times what is just noticeable


@every_palette
def test_white_letters_are_legible_on_colours(shades: dict[Any, str]) -> None:
    for name, shade in shades.items():
        luminance = float(XYZ[1] @ linear(shade))
        assert 1.05 / (luminance + 0.05) >= 4.5, name  # WCAG 2.1, success criterion 1.4.3
