"""What the pictures of all games have in common: the page, its heading, a row for each seat, cards, numbers."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core import svg
from poison_env.core.errors import IllegalActionError
from poison_env.core.protocol import Game
from poison_env.core.svg import ACCENT, GREY, INK, PALE, PAPER

# Far apart for all kinds of colour vision, and dark enough for white letters; letters or numbers say the same.
RED, BLUE, PURPLE, GREEN, YELLOW, WINE, PLUM = (
    "#CA3712", "#0C3277", "#B03CC4", "#1D856B", "#8A6A00", "#7E020D", "#50314D",
)  # fmt: skip
WIDTH, MARGIN = 960, 24
HEADING, SMALL_TEXT = 64, 11
NAME = MARGIN + 18  # where names begin


class Picture:
    """One position, how much of it is shown, and what is marked.

    Raises:
        IllegalActionError: `action` is not legal here.
        ValueError: `values` do not fit the game.
    """

    def __init__(
        self,
        game: Game[Any],
        one: Any,
        seat: int | None,
        action: int | None,
        values: npt.ArrayLike | None,
        names: Sequence[str] | None,
    ) -> None:
        self.game: Any = game
        self.one: Any = one  # a batch of one
        self.seat, self.action = seat, action
        self.names = [svg.printable(name) for name in names or [f"player_{p}" for p in range(game.num_seats)]]
        self.over = bool(one.done[0])
        self.mover = None if self.over else int(one.to_move[0])
        self.mask = game.action_mask(one)[0]
        self.places = game.placements(one)[0]
        self.values = None if values is None else np.asarray(values, dtype=np.float64)
        if self.values is not None:
            if self.values.shape != self.mask.shape:
                raise ValueError(f"values: expected shape {self.mask.shape}, got {self.values.shape}")
            self.values = np.where(self.mask & np.isfinite(self.values), self.values, np.nan)
        if action is not None and not (0 <= action < game.num_actions and self.mask[action]):
            raise IllegalActionError(f"action {action} is not legal here")
        self.look()

    def look(self) -> None:
        """Note what a game's parts of the picture have in common; called once."""

    def page(self, height: float, title: str, parts: Iterable[str]) -> str:
        """Return the whole picture; `title` says in words what it shows."""
        return svg.document(WIDTH, height, title, parts)

    def heading(self, where: str, rules: Sequence[str], who: str) -> list[str]:
        """Draw how far the match is, by which rules it is played, and who does what."""
        if self.seat is not None:
            rules = [*rules, f"as {self.names[self.seat]} sees it"]
        return [
            svg.text(MARGIN, 30, where, size=17, bold=True),
            svg.text(MARGIN, 48, svg.fit(", ".join(rules), 560, 12), fill=GREY),
            svg.text(WIDTH - MARGIN, 30, who, size=16, anchor="end", bold=True),
        ]

    def winner(self) -> str:
        """Say who has won."""
        winners = [self.names[seat] for seat in np.flatnonzero(self.places == 0)]
        return f"{svg.fit(winners[0], 300, 16)} wins" if len(winners) == 1 else f"{len(winners)} share the win"

    def seat_frame(self, player: int, y: float, height: float, role: str) -> list[str]:
        """Draw the frame of a seat's row with its name and what it is; the seat to move is marked."""
        moves = player == self.mover
        fill, stroke = ("#FFF7DC", INK) if moves else (PAPER, PALE)
        return [
            svg.rect(MARGIN - 10, y, WIDTH - 2 * MARGIN + 20, height - 4, fill=fill, stroke=stroke, radius=8),
            *([svg.path(f"M{at(MARGIN, y + 17)} l10,6 l-10,6 Z", fill=INK)] if moves else []),
            svg.text(NAME, y + 28, svg.fit(self.names[player], 130, 13), size=13, bold=True),
            svg.text(NAME, y + 44, role, size=SMALL_TEXT, fill=GREY),
        ]

    def place(self, player: int) -> str:
        """Say which place a seat has at the end."""
        return f"place {int(self.places[player]) + 1}"

    # --- numbers beside actions ---------------------------------------------------------------------------------

    def value(self, action: int, x: float, y: float, *, bar: float = 0) -> list[str]:
        """Draw the value of an action around x, the best one bold; if it is chosen, on a mark of width `bar`."""
        if self.values is None:
            return []
        mark = [svg.rect(x - bar / 2, y - 9.5, bar, 12.5, fill=ACCENT, radius=2)] if self.chosen(action) and bar else []
        value = float(self.values[action])
        if not np.isfinite(value):
            return [*mark, svg.text(x, y, "·", size=9, fill=GREY, anchor="middle")]
        known = self.values[np.isfinite(self.values)]
        largest, best = np.abs(known).max(), known.max()
        label = f"{value:.2f}" if largest < 10 else f"{value:.1f}" if largest < 100 else f"{value:.0f}"
        return [*mark, svg.text(x, y, label, size=8.5, anchor="middle", bold=bool(value == best))]

    def chosen(self, action: int) -> bool:
        """Tell whether this action is to be marked."""
        return action == self.action

    def button(self, action: int, label: str, x: float, y: float, width: float) -> str:
        """Draw an action that is a word, pale where it is not legal, with its value below."""
        legal = bool(self.mask[action])
        fill = ACCENT if self.chosen(action) else PAPER
        parts = [
            svg.rect(x, y, width, 24, fill=fill, stroke=INK if legal else PALE, radius=12),
            svg.text(x + width / 2, y + 16, label, fill=INK if legal else "#A5A5AA", anchor="middle", bold=legal),
        ]
        return svg.group("button", [*parts, *(self.value(action, x + width / 2, y + 36) if legal else ())])


def at(x: float, y: float) -> str:
    """Return a point of a path."""
    return f"{svg.number(x)},{svg.number(y)}"


def captions(y: float, columns: dict[int, str]) -> list[str]:
    """Draw what stands in the columns of the seats' rows: a word for each x."""
    return [svg.text(x, y, caption, size=SMALL_TEXT, fill=GREY) for x, caption in columns.items()]


def card(
    letter: str, value: object, shade: str, x: float, y: float, size: tuple[int, int], *below: str, fill: str = PAPER
) -> str:
    """Draw a card: its letter on its colour, its value under that on the ground `fill`, and what lies below."""
    width, height = size
    band, middle = round(height * 0.36), x + width / 2
    cap = f"v{4 - band} a4,4 0 0 1 4,-4 h{width - 8} a4,4 0 0 1 4,4 v{band - 4} Z"
    size_of_value = band + 3 - 2 * (len(str(value)) > 1)
    parts = [
        svg.rect(x + 0.75, y + 0.75, width - 1.5, height - 1.5, fill=fill, stroke=shade, line=1.5, radius=4),
        svg.path(f"M{at(x, y + band)} {cap}", fill=shade),
        svg.text(middle, y + band - 3, letter, size=band - 3, fill=PAPER, anchor="middle", bold=True),
        svg.text(middle, y + height - 6, value, size=size_of_value, anchor="middle", bold=True),
        *below,
    ]
    return svg.group("card", parts)


def halo(x: float, y: float, size: tuple[int, int]) -> str:
    """Mark what lies on it, a card."""
    return svg.rect(x - 3, y - 3, size[0] + 6, size[1] + 6, fill=ACCENT, radius=6)


def chip(letter: str, count: int, shade: str, x: float, y: float, *, hollow: bool = False) -> list[str]:
    """Draw how many cards of a class there are; hollow ones do not count."""
    if not count:
        frame = svg.rect(x, y, 50, 28, stroke=PALE, radius=6)
        return [frame, svg.text(x + 25, y + 19, letter, size=13, fill=GREY, anchor="middle")]
    size, ink = 14 if count < 100 else 12, shade if hollow else PAPER
    return [
        svg.rect(x, y, 50, 28, fill=PAPER if hollow else shade, stroke=shade, line=2, radius=6),
        svg.text(x + 25, y + 19, f"{letter} {count}", size=size, fill=ink, anchor="middle", bold=True),
    ]
