"""One picture of a position, as SVG text or PNG; everything that shows a game uses it."""

import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy.typing as npt

from poison_env.core.errors import PoisonEnvError, UnknownNameError
from poison_env.core.protocol import Game
from poison_env.core.svg import HasDrawing, document, text


def svg(
    game: Game[Any],
    state: Any,
    row: int = 0,
    seat: int | None = None,
    *,
    action: int | None = None,
    values: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> str:
    """Draw the match in a row of a batch as SVG; in a notebook: `IPython.display.SVG(svg(game, state))`.

    Args:
        seat: show only what that seat may see; everything unless given.
        action: mark this legal action.
        values: (A,) numbers to show beside the legal actions of the seat to move, where its hand is shown: expected
            returns, probabilities.
        names: who sits in each seat; `player_0` and so on unless given.

    Raises:
        UnknownNameError: the game has no picture.
        IllegalActionError: `action` is not legal here.
        ValueError: `row`, `seat`, `values` or `names` do not fit the game.
    """
    if not isinstance(game, HasDrawing):
        raise UnknownNameError(f"{game.id} has no picture: it lacks the ability HasDrawing")
    if not 0 <= row < len(state):
        raise ValueError(f"row: expected 0 to {len(state) - 1}, got {row}")
    if seat is not None and not 0 <= seat < game.num_seats:
        raise ValueError(f"seat: expected 0 to {game.num_seats - 1}, got {seat}")
    if names is not None and len(names) != game.num_seats:
        raise ValueError(f"names: expected {game.num_seats}, got {len(names)}")
    return game.drawing(state, row, seat, action=action, values=values, names=names)


def png(svg_text: str, scale: float = 1.0) -> bytes:
    """Return SVG text as a PNG image, `scale` pixels for each unit.

    Text is set in DejaVu Sans where matplotlib, which brings it, is installed; else in a font of the system.

    Raises:
        ImportError: the extra `draw` is not installed.
        PoisonEnvError: there is no font at all.
        ValueError: the text is no SVG, or the scale is not above 0.
    """
    if not scale > 0:
        raise ValueError(f"scale: expected a number above 0, got {scale}")
    if not _has_font():
        raise PoisonEnvError("no font was found to draw text with: install a system font, or matplotlib, which has one")
    return _rasterise(svg_text, scale)


def _rasterise(svg_text: str, scale: float) -> bytes:
    try:
        import resvg_py
    except ImportError as error:
        raise ImportError("PNG pictures need the extra `draw`: pip install 'poison_env[draw]'") from error
    return resvg_py.svg_to_bytes(svg_string=svg_text, zoom=scale, font_dirs=_font_dirs())


@lru_cache(maxsize=1)
def _has_font() -> bool:
    """Tell whether a letter leaves a mark; without fonts the rasteriser leaves text out silently."""
    return _rasterise(document(20, 20, "", [text(2, 16, "M")]), 1.0) != _rasterise(document(20, 20, "", []), 1.0)


@lru_cache(maxsize=1)
def _font_dirs() -> list[str]:
    found = importlib.util.find_spec("matplotlib")  # found, not imported
    fonts = (
        [Path(place) / "mpl-data" / "fonts" / "ttf" for place in (found.submodule_search_locations or [])]
        if found
        else []
    )
    return [str(place) for place in fonts if place.is_dir()]
