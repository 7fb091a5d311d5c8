"""SVG as text: the shapes that pictures of positions are drawn with.

Everything is a function from numbers and words to text, so that the same position gives the same bytes everywhere. No
element has an id, so that several pictures can stand in one page; text names fonts that systems have and loads none.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable
from xml.sax.saxutils import escape, quoteattr

import numpy.typing as npt

INK, GREY, PALE, PAPER, ACCENT = "#1C1C1E", "#6B6B70", "#DDDDE0", "#FFFFFF", "#F0B400"
FONTS = "'DejaVu Sans', Verdana, 'Segoe UI', Arial, Helvetica, sans-serif"
_USUAL, _CAPITAL, _WIDE = (
    0.72,
    0.87,
    1.12,
)  # widths that no letter of its sort exceeds, as parts of the size, bold included


@runtime_checkable
class HasDrawing(Protocol):
    """Ability of games that can draw a position."""

    def drawing(
        self,
        state: Any,
        row: int = 0,
        seat: int | None = None,
        *,
        action: int | None = None,
        values: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> str:
        """Return a position as SVG.

        Args:
            seat: show only what that seat may see.
            action: mark this legal action.
            values: (A,) show these numbers beside the legal actions.
            names: who sits in each seat.
        """


def document(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """Return a whole picture with a white ground; `title` is for those who cannot see it."""
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={_quoted(title)}'
    ground = rect(0, 0, width, height, fill=PAPER)
    return "\n".join([f'{head} font-family="{FONTS}">', ground, *parts, "</svg>\n"])


def group(kind: str, parts: Iterable[str]) -> str:
    """Return parts that are one thing, such as a card, with a class that style sheets and tests can find."""
    return f'<g class="{kind}">{"".join(parts)}</g>'


def rect(
    x: float, y: float, width: float, height: float, *, fill: str = "none", stroke: str = "none", line: float = 1,
    radius: float = 0, opacity: float = 1,
) -> str:  # fmt: skip
    """Return a rectangle, its corners rounded by `radius`."""
    corners = {"rx": radius} if radius else {}
    return (
        f"<rect {_attributes(x=x, y=y, width=width, height=height, **corners)}{_paint(fill, stroke, line, opacity)}/>"
    )


def path(d: str, *, fill: str = "none", stroke: str = "none", line: float = 1, opacity: float = 1) -> str:
    """Return a shape from path commands."""
    return f'<path d="{d}"{_paint(fill, stroke, line, opacity)}/>'


def text(
    x: float, y: float, content: object, *, size: float = 12, fill: str = INK, anchor: str = "start", bold: bool = False
) -> str:
    """Return one line of text; `y` is its base line, `anchor` says whether x is its start, middle or end."""
    place = _attributes(x=x, y=y, font_size=size)
    style = (f' text-anchor="{anchor}"' if anchor != "start" else "") + (' font-weight="bold"' if bold else "")
    return f'<text {place} fill="{fill}"{style}>{escape(printable(str(content)))}</text>'


def fit(content: str, width: float, size: float) -> str:
    """Return a text cut with an ellipsis so that it surely is no wider than `width` at a font size."""
    content = printable(content)
    widths = [_letter_width(letter) * size for letter in content]
    if sum(widths) <= width:
        return content
    kept, room = 0, width - _WIDE * size  # the ellipsis takes some
    while sum(widths[: kept + 1]) <= room:
        kept += 1
    return content[:kept].rstrip() + "…"


def printable(content: str) -> str:
    """Return a text with a replacement sign for all that has no picture or that XML forbids."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in content)


def number(value: float) -> str:
    """Return a number with two decimals at most, `-0` as `0`."""
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def _letter_width(letter: str) -> float:
    if letter in "MWmw@%" or unicodedata.east_asian_width(letter) in "WF":
        return _WIDE
    return _USUAL if letter.isascii() and not letter.isupper() else _CAPITAL


def _attributes(**values: float) -> str:
    return " ".join(f'{name.replace("_", "-")}="{number(value)}"' for name, value in values.items())


def _paint(fill: str, stroke: str, line: float, opacity: float) -> str:
    outline = f' stroke="{stroke}" stroke-width="{number(line)}"' if stroke != "none" else ""
    return f' fill="{fill}"{outline}' + (f' opacity="{number(opacity)}"' if opacity != 1 else "")


def _quoted(content: str) -> str:
    return quoteattr(printable(content))
