"""Positions of Arsenic as pictures: the box above, the scone in question and what may be done, a row for each seat."""

from typing import TYPE_CHECKING

import numpy as np

from poison_env.core import svg
from poison_env.core.picture import (
    BLUE,
    GREEN,
    HEADING,
    MARGIN,
    NAME,
    PLUM,
    PURPLE,
    RED,
    SMALL_TEXT,
    WIDTH,
    WINE,
    Picture,
    at,
    captions,
)
from poison_env.core.svg import ACCENT, GREY, INK, PALE, PAPER
from poison_env.games.arsenic.dealing import RETURNED, SPOONED
from poison_env.games.arsenic.options import REACT, TURN, WORDS
from poison_env.games.arsenic.scones import (
    FLAVOURS,
    IN_FLAVOUR,
    KINDS,
    SLOTS,
    SPECIAL,
    SPECIALS,
    SUGARS,
    WINDOW_SLOT,
)
from poison_env.games.arsenic.text import beginning

if TYPE_CHECKING:  # the game imports this module
    from poison_env.games.arsenic.dealing import ArsenicState
    from poison_env.games.arsenic.game import Arsenic

SHADES = dict(enumerate((RED, BLUE, PURPLE, GREEN, WINE, PLUM)))  # of the flavours, whose numbers say the same

PANEL, PANEL_GAP, PANEL_HEIGHT = (292, 62), 18, 84  # a flavour of the box, three side by side
SCONE, PITCH = 30, 38
IN_CUP, CUP_PITCH, CUP_LINE, BADGE = 20, 22, 24, 12
SCONES, SUPPLY, CUP = 176, 258, 436  # where the columns of a seat's row begin
HIDDEN = -1  # the kind of a scone that is not shown
ROW = 62


class ArsenicPicture(Picture):
    """One position; see `HasDrawing`."""

    game: "Arsenic"
    one: "ArsenicState"

    def look(self) -> None:
        """Note what is shown."""
        # What the mover may do can tell what it has in its hand.
        self.own = self.seat is None or self.seat == self.mover
        self.values = self.values if self.own else None
        self.drawn = int(self.one.drawn[0])
        self.phase = int(self.one.phase[0])
        sees = np.full(SLOTS, self.seat is None) | ((self.one.knows[0] >> (self.seat or 0) & 1) > 0)
        self.kinds = np.where(sees, self.one.box[0].astype(np.int64) - 1, HIDDEN)  # (42,) of the scones that are there
        self.there = self.one.box[0] > 0

    def draw(self) -> str:
        """Return the whole picture."""
        parts, y = self.heading(self._where(), self._rules(), self._who()), float(HEADING)
        if self.game.by_slot:
            legend = "since the last shuffle: r returned, s saved by a spoon"
            parts.append(svg.text(WIDTH - MARGIN, 48, legend, size=SMALL_TEXT, fill=GREY, anchor="end"))
        for flavour in range(FLAVOURS):
            line, column = divmod(flavour, 3)
            x = MARGIN + column * (PANEL[0] + PANEL_GAP)
            parts.append(svg.group("flavour", self._flavour(flavour, x, y + line * PANEL_HEIGHT)))
        y += 2 * PANEL_HEIGHT + 4
        parts.append(svg.group("hand", self._hand(y)))
        y += 72
        parts += captions(y, {NAME: "seat", SCONES: "scones", SUPPLY: "sugars, spoon", CUP: "cup"})
        y += 10
        for player in range(self.game.num_seats):
            row, height = self._seat_row(player, y)
            parts.append(svg.group("seat", row))
            y += height
        return self.page(y + 14, f"{self.game.id}: {self._where()}. {self._who()}", parts)

    # --- words ----------------------------------------------------------------------------------------------

    def _where(self) -> str:
        eaten = int(self.one.eaten[0])
        done = f"{eaten} of {self.game.scones} scones eaten"
        return f"Over, {done}" if self.over else f"Move {int(self.one.moves[0]) + 1}, {done}"

    def _rules(self) -> list[str]:
        return [self.game.id, f"lethal dose {self.game.lethal}", f"drawn by {self.game.rule_draw.removesuffix('s')}"]

    def _who(self) -> str:
        if self.mover is None:
            return self.winner() if self.one.alive.any() else "nobody wins"
        name = svg.fit(self.names[self.mover], 220, 16)
        if self.action is not None:
            label = self.game.action_label(self.action)
            return f"{name}: {label.replace(':', ' ')}"
        if self.phase == REACT:
            return f"{name} to react"
        return f"{name} to move"

    # --- the box --------------------------------------------------------------------------------------------

    def _flavour(self, flavour: int, x: float, y: float) -> list[str]:
        shade, first = SHADES[flavour], flavour * IN_FLAVOUR
        slots = range(first, first + IN_FLAVOUR)
        number = int(self.there[first : first + IN_FLAVOUR].sum())
        name = f"flavour {flavour}" + (f", {SPECIALS[flavour]}" if self.game.specials else "")
        parts = [
            svg.rect(x, y + 1, 20, 20, fill=shade, radius=4),
            svg.text(x + 10, y + 15.5, flavour, size=13, fill=PAPER, anchor="middle", bold=True),
            svg.text(x + 28, y + 16, name, size=13, fill=shade, bold=True),
            svg.text(x + PANEL[0], y + 16, self._left(flavour, number), size=SMALL_TEXT, fill=GREY, anchor="end"),
        ]
        if not self.game.by_slot:
            kinds = sorted(int(self.kinds[slot]) for slot in slots if self.there[slot] and slot != self.drawn)
            parts += [self._scone(flavour, kind, x + 1 + at_ * PITCH, y + 27) for at_, kind in enumerate(kinds)]
            if first <= self.drawn < first + IN_FLAVOUR:
                parts.append(self._gap(x + 1 + len(kinds) * PITCH, y + 27, taken=True))
            if self.chosen(flavour):
                parts.insert(0, svg.rect(x - 6, y - 4, PANEL[0] + 12, PANEL[1] + 10, stroke=ACCENT, line=4, radius=10))
            return parts + (self.value(flavour, x + 15, y + 70) if self._shows_draws() and number else [])
        for slot in slots:
            left = x + 1 + (slot - first) * PITCH
            if self.chosen(slot):
                parts.append(svg.rect(left - 4, y + 23, SCONE + 8, SCONE + 8, fill=ACCENT, radius=19))
            if self.there[slot] and slot != self.drawn:
                parts.append(self._scone(flavour, int(self.kinds[slot]), left, y + 27))
            elif slot == self.drawn or self.game.specials or slot - first < IN_FLAVOUR - 1:
                parts.append(self._gap(left, y + 27, taken=slot == self.drawn))
            knows = int(self.one.knows[0, slot]) if self.there[slot] else 0
            if mark := "r" * (knows & RETURNED > 0) + "s" * (knows & SPOONED > 0):
                parts.append(svg.text(left + SCONE + 0.5, y + 59, mark, size=9, fill=INK, bold=True))
            if self._shows_draws() and self.there[slot]:
                parts += self.value(slot, left + SCONE / 2 - 2, y + 70)
        return parts

    def _shows_draws(self) -> bool:
        return self.own and self.phase == TURN and not self.over

    def _left(self, flavour: int, number: int) -> str:
        """Say how many scones are left, and what the seat had seen there before the box was mixed."""
        kept = (
            [] if self.seat is None else self.one.kept[0, self.seat, flavour * KINDS : (flavour + 1) * KINDS].tolist()
        )
        seen = [_letter(flavour, kind) for kind, count in enumerate(kept) for _ in range(count)]
        return f"{number} left" + (f", seen {' '.join(seen)}" if seen else "")

    def _scone(self, flavour: int, kind: int, x: float, y: float, size: float = SCONE) -> str:
        """Draw a scone: hollow with its dose or the letter of what is special, or full with a question mark."""
        shade, hidden = SHADES[flavour], kind == HIDDEN
        inset = 1.0 if size < SCONE else 1.5
        face = svg.rect(
            x + inset, y + inset, size - 2 * inset, size - 2 * inset, fill=shade if hidden else PAPER, stroke=shade,
            line=2 * inset, radius=size / 2,
        )  # fmt: skip
        word, ink = ("?", PAPER) if hidden else (_letter(flavour, kind), INK)
        height = size * 0.5
        middle = svg.text(
            x + size / 2, y + size / 2 + height * 0.37, word, size=height, fill=ink, anchor="middle", bold=True
        )
        return svg.group("scone", [face, middle])

    def _gap(self, x: float, y: float, *, taken: bool) -> str:
        """Draw an empty place, or that of the scone in question."""
        inset = 1.5
        stroke, line = (INK, 2.0) if taken else (PALE, 1.0)
        return svg.rect(
            x + inset, y + inset, SCONE - 2 * inset, SCONE - 2 * inset, stroke=stroke, line=line, radius=SCONE / 2
        )

    # --- what is in question --------------------------------------------------------------------------------

    def _hand(self, y: float) -> list[str]:
        """Draw the scone in question, what is to be done, and what the mover may choose beside draws."""
        parts = [svg.rect(MARGIN - 10, y, WIDTH - 2 * MARGIN + 20, 50, fill="#F6F6F7", radius=8)]
        left = float(NAME)
        if self.drawn >= 0 and not self.over:
            flavour = self.drawn // IN_FLAVOUR
            parts.append(self._scone(flavour, int(self.kinds[self.drawn]), NAME, y + 10))
            left += SCONE + 12
        parts.append(
            svg.text(left, y + 21, "in hand" if left > NAME else "nothing in hand", size=SMALL_TEXT, fill=GREY)
        )
        parts.append(svg.text(left, y + 38, svg.fit(self._question(), 430 - (left - NAME), 13), size=13, bold=True))
        x = 528.0
        for word, action in self.game.action_of.items():
            if self.mover is not None and (self.own or self.chosen(action)):
                parts.append(self.button(action, WORDS[word].lower(), x, y + 5, 64))
            x += 68
        return parts

    def _question(self) -> str:
        if self.mover is None:
            return "the match is over"
        mixed = ", the box was shuffled" if self.one.shuffled[0] else ""
        if self.phase == TURN:
            return beginning(self.game, self.mask) + mixed
        if self.phase == REACT:
            return f"{svg.fit(self.names[int(self.one.turn[0])], 130, 13)} eats: use the spoon?"
        if self.drawn < 0:
            return "shuffle, or pass"
        if self.kinds[self.drawn] == SPECIAL and self.drawn >= WINDOW_SLOT:  # hidden from who must not know
            return "eat, as the window sticks"
        return "eat, or return it for a sugar" if self.one.sugars[0, self.mover] else "eat, as no sugar is left"

    # --- seats ----------------------------------------------------------------------------------------------

    def _seat_row(self, player: int, y: float) -> tuple[list[str], float]:
        cup, lines = self._cup(player, y)
        height = max(float(ROW), lines * CUP_LINE + 20)
        parts = self.seat_frame(player, y, height, self._role(player))
        parts.append(svg.text(SCONES, y + 28, int(self.game.points(self.one)[0, player]), size=16, bold=True))
        if self.seat in (None, player):
            dose = max(0, int(self.one.doses[0, player]))
            parts.append(svg.text(SCONES, y + 44, f"dose {dose} of {self.game.lethal}", size=SMALL_TEXT, fill=GREY))
        for number in range(SUGARS):
            full = number < int(self.one.sugars[0, player])
            parts.append(
                svg.rect(
                    SUPPLY + number * 20, y + 17, 14, 14, fill=PAPER, stroke=INK if full else PALE, line=1.5, radius=2
                )
            )
            if full:
                parts.append(svg.path(f"M{at(SUPPLY + number * 20 + 3.5, y + 27.5)} l7,-7", stroke=GREY))
        if self.one.spoons[0, player]:
            spoon = f"M{at(SUPPLY + 76, y + 33)} l9,-9 a5,5 0 1 1 3,3 l-9,9 Z"
            parts.append(svg.path(spoon, fill=GREY))
        owed = int(self.one.owed[0, player])
        if owed:
            parts.append(svg.text(SUPPLY, y + 48, f"owes {owed} turn{'s' * (owed > 1)}", size=SMALL_TEXT, fill=INK))
        return parts + cup, height

    def _role(self, player: int) -> str:
        fate = "dead" if not self.one.alive[0, player] else "stopped" if self.one.stopped[0, player] else ""
        return ", ".join(word for word in (fate, self.place(player) if self.over else "") if word)

    def _cup(self, player: int, y: float) -> tuple[list[str], int]:
        """Draw the scones of a cup behind the numbers of their flavours, and tell how many lines they take."""
        bites = np.flatnonzero(self.one.eaters[0] == player)
        if not len(bites):
            return [svg.text(CUP, y + 28, "empty", size=SMALL_TEXT, fill=GREY)], 1
        known = np.full(len(bites), self.seat in (None, player))
        known |= (self.one.bite_known[0, bites] >> (self.seat or 0) & 1) > 0
        sorts = self.one.bites[0, bites].astype(np.int64)
        kinds = np.where(known, sorts % KINDS, HIDDEN)
        parts, x, line = [], float(CUP), 0
        for flavour in sorted({*(sorts // KINDS).tolist()}):
            scones = sorted(kinds[sorts // KINDS == flavour].tolist())
            if x + BADGE + 3 + len(scones) * CUP_PITCH > WIDTH - MARGIN:
                x, line = float(CUP), line + 1
            top = y + 14 + line * CUP_LINE
            parts.append(svg.rect(x, top + 3, BADGE, 14, fill=SHADES[flavour], radius=3))
            parts.append(svg.text(x + BADGE / 2, top + 13.5, flavour, size=10, fill=PAPER, anchor="middle", bold=True))
            x += BADGE + 3
            for kind in scones:
                parts.append(self._scone(flavour, kind, x, top, IN_CUP))
                x += CUP_PITCH
            x += 8
        return parts, line + 1


def _letter(flavour: int, kind: int) -> str:
    return SPECIALS[flavour][0].upper() if kind == SPECIAL else str(kind)
