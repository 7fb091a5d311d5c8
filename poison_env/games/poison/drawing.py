"""Positions of Poison as pictures: three cauldrons above, a row for each seat below."""

from typing import TYPE_CHECKING

import numpy as np

from poison_env.core import svg
from poison_env.core.picture import (
    BLUE,
    GREEN,
    HEADING,
    MARGIN,
    NAME,
    PURPLE,
    RED,
    SMALL_TEXT,
    Picture,
    at,
    captions,
    card,
    chip,
    halo,
)
from poison_env.core.svg import ACCENT, GREY, INK, PAPER
from poison_env.games.poison.deck import CLASSES, COLOURS, LETTERS, LIMIT
from poison_env.games.poison.tables import CAULDRONS

if TYPE_CHECKING:  # the game imports this module
    from poison_env.core.protocol import IntArray
    from poison_env.games.poison.dealing import PoisonState
    from poison_env.games.poison.game import Poison

SHADES = dict(zip(CLASSES, (RED, BLUE, PURPLE, GREEN), strict=True))

POT_WIDTH, POT_HEIGHT, POT_GAP, CORNER = 292, 116, 18, 30
CARD, POT_CARD = (24, 34), (30, 40)  # width and height
PITCH, POT_PITCH, IN_ROW, POT_IN_ROW = 27, 34, 16, 7  # cards side by side
POINTS, TAKEN, HAND = 176, 258, 492  # where the columns of a seat's row begin
ROW = 62


class PoisonPicture(Picture):
    """One position; see `HasDrawing`."""

    game: "Poison"
    one: "PoisonState"

    def look(self) -> None:
        """Note what is shown."""
        self.piles_shown = self.seat is None or self.game.recall == "perfect"
        everything = self.game.observe_all(self.one)[0]
        self.seen = {name: self.game.full_layout.decode(everything, name) for name in self.game.full_layout.slices}

    def draw(self) -> str:
        """Return the whole picture."""
        parts, y = self.heading(self._where(), self._rules(), self._who()), float(HEADING)
        for index in range(CAULDRONS):
            parts.append(svg.group("cauldron", self._cauldron(index, MARGIN + index * (POT_WIDTH + POT_GAP), y)))
        y += 26 + POT_HEIGHT + 30
        parts += captions(y, {NAME: "seat", POINTS: "points", TAKEN: "taken in this round", HAND: "hand"})
        y += 10
        for player in range(self.game.num_seats):
            row, height = self._seat_row(player, y)
            parts.append(svg.group("seat", row))
            y += height
        if self.game.cards_dealt < self.game.deck.size:
            row, height = self._set_aside(y)
            parts.append(svg.group("aside", row))
            y += height
        return self.page(y + 14, f"{self.game.id}: {self._where()}. {self._who()}", parts)

    # --- words ----------------------------------------------------------------------------------------------

    def _where(self) -> str:
        played = int(self.one.round[0])
        if self.over:
            return f"Over after {played} round{'s' * (played > 1)}"
        card = self.game.cards_dealt - int(self.one.cards_left[0]) + 1
        return f"Round {played + 1} of {self.game.num_rounds}, card {card} of {self.game.cards_dealt}"

    def _who(self) -> str:
        if self.mover is None:
            return self.winner()
        name = svg.fit(self.names[self.mover], 220, 16)
        if self.action is None:
            return f"{name} to move"
        taken = int(self.game.cards_taken(self.one, np.array([self.action])).sum())
        label = self.game.action_label(self.action)
        return f"{name} plays {label}*, takes {taken} card{'s' * (taken > 1)}" if taken else f"{name} plays {label}"

    def _rules(self) -> list[str]:
        rules = [self.game.id, "own deck" if " " in self.game.deck.text else f"{self.game.deck.text} deck"]
        return [*rules, *(["fixed colours"] if self.game.colour_rule == "fixed" else [])]

    # --- cauldrons ------------------------------------------------------------------------------------------

    def _cauldron(self, index: int, x: float, y: float) -> list[str]:
        total, colour = int(self.seen["cauldron_totals"][index]), int(self.seen["cauldron_colours"][index])
        name = COLOURS[colour - 1] if colour else "no colour"
        shade = SHADES[name] if colour else GREY
        middle, left, top = x + POT_WIDTH / 2, x + 14, y + 30
        marked = self.action is not None and self.game.cauldron_of[self.action] == index
        halo = svg.rect(x - 6, y - 6, POT_WIDTH + 12, POT_HEIGHT + 44, stroke=ACCENT, line=4, radius=12)
        bottom, width = top + POT_HEIGHT, POT_WIDTH - 28
        parts = [
            *([halo] if marked else []),
            svg.path(f"M{at(x + 11, y + 9)} m-10,0 a10,10 0 1 0 20,0 a10,10 0 1 0 -20,0 Z", fill=INK),
            svg.text(x + 11, y + 13.5, index + 1, size=13, fill=PAPER, anchor="middle", bold=True),
            svg.text(x + 28, y + 14, name, size=14, fill=shade, bold=bool(colour)),
            svg.text(x + POT_WIDTH - 2, y + 14, f"{total} of {LIMIT}", size=14, anchor="end", bold=True),
            svg.path(_basin(left, top, width, POT_HEIGHT, 1.0), fill="#F6F6F7"),
        ]
        if total:
            parts.append(svg.path(_basin(left, top, width, POT_HEIGHT, total / LIMIT), fill=shade, opacity=0.2))
        parts.append(svg.path(_basin(left, top, width, POT_HEIGHT, 1.0), stroke=shade, line=2.5))
        parts.append(svg.rect(x + 4, top - 8, POT_WIDTH - 8, 9, fill=shade, radius=4.5))
        cards = np.repeat(np.arange(self.game.num_kinds), self.seen["cauldrons"][index]).tolist()
        lines = [cards[start : start + POT_IN_ROW] for start in range(0, len(cards), POT_IN_ROW)]
        for number, line in enumerate(reversed(lines)):  # they lie on the bottom
            start = middle - (len(line) * POT_PITCH - 4) / 2
            upper = bottom - 10 - (number + 1) * (POT_CARD[1] + 6)
            parts += [self._card(kind, start + place * POT_PITCH, upper, POT_CARD) for place, kind in enumerate(line)]
        return parts

    # --- seats ----------------------------------------------------------------------------------------------

    def _seat_row(self, player: int, y: float) -> tuple[list[str], float]:
        hand = self.seen["hands"][player]
        shown = self.seat is None or self.seat == player
        grid = self.values is not None and shown and player == self.mover
        held, height = self._hand(hand, y + 9, player, grid) if shown else self._backs(HAND, y + 9, int(hand.sum()), 36)
        height = max(float(ROW), height + 12)
        parts = self.seat_frame(player, y, height, self._role(player))
        parts.append(svg.text(POINTS, y + 28, int(self.seen["match_points"][player]), size=16, bold=True))
        if self.piles_shown:
            if not self.over:
                running = int(self.game.score(self.seen["taken"])[player])
                parts.append(svg.text(POINTS, y + 44, f"+{running} so far", size=SMALL_TEXT, fill=GREY))
            parts += self._taken(player, y + 9)
        else:
            parts += self._backs(TAKEN, y + 9, int(self.seen["taken"][player].sum()), 12)[0]
        return parts + held, height

    def _role(self, player: int) -> str:
        if self.over:
            return self.place(player)
        return "dealer" if (int(self.one.dealer[0]) + int(self.one.round[0])) % self.game.num_seats == player else ""

    def _taken(self, player: int, y: float) -> list[str]:
        """Draw how many cards of each class were taken, and the majorities as they stand."""
        parts = []
        immune = self.game.majority(self.seen["taken"])[player]
        for number, name in enumerate(CLASSES):
            x, count, shade = TAKEN + number * 56, int(self.seen["taken"][player, number]), SHADES[name]
            parts += chip(LETTERS[name], count, shade, x, y, hollow=bool(immune[number]))
            if count and immune[number]:
                parts.append(svg.text(x + 25, y + 41, "immune", size=10, fill=shade, anchor="middle", bold=True))
        return parts

    def _hand(self, hand: "IntArray", y: float, player: int | None, grid: bool) -> tuple[list[str], float]:
        """Draw a card for each kind, below it how many there are and the values of playing it."""
        kinds = np.flatnonzero(hand).tolist()
        line_height = CARD[1] + 16 + (CAULDRONS * 13 + 4 if grid else 0)
        parts = [] if kinds else [svg.text(HAND, y + 20, "none", size=SMALL_TEXT, fill=GREY)]
        for place, kind in enumerate(kinds):
            x, upper = HAND + place % IN_ROW * PITCH, y + place // IN_ROW * line_height
            if self.action is not None and player == self.mover and self.game.kind_of[self.action] == kind:
                parts.append(halo(x, upper, CARD))
            parts.append(self._card(kind, x, upper, CARD, int(hand[kind])))
            if grid:
                parts += self._kind_values(kind, x, upper + CARD[1] + 14, place % IN_ROW == 0)
        return parts, -(-len(kinds) // IN_ROW) * line_height

    def _kind_values(self, kind: int, x: float, y: float, first: bool) -> list[str]:
        """Draw the values of playing a kind on cauldrons 1 to 3, one below the other."""
        parts = []
        for cauldron in range(CAULDRONS):
            line = y + 10 + cauldron * 13
            if first:
                parts.append(svg.text(HAND - 14, line, cauldron + 1, size=9, fill=GREY, bold=True))
            parts += self.value(kind * CAULDRONS + cauldron, x + CARD[0] / 2, line, bar=PITCH)
        return parts

    def _set_aside(self, y: float) -> tuple[list[str], float]:
        count = self.game.deck.size - self.game.cards_dealt
        parts = [svg.text(NAME, y + 28, "set aside", size=13, fill=GREY, bold=True)]
        if self.seat is None:
            held, height = self._hand(self.seen["set_aside"], y + 9, None, False)
        else:
            held, height = self._backs(HAND, y + 9, count, 36)
        return parts + held, max(float(ROW), height + 12)

    # --- cards ----------------------------------------------------------------------------------------------

    def _card(self, kind: int, x: float, y: float, size: tuple[int, int], count: int = 1) -> str:
        """Draw a card: its letter on its colour, its value below, and under it how many there are if several."""
        name, value = self.game.kinds[kind]
        label = svg.text(
            x + size[0] / 2, y + size[1] + 11, f"×{count}", size=10 if count < 100 else 8.5, anchor="middle"
        )
        return card(LETTERS[name], value, SHADES[name], x, y, size, *([label] if count > 1 else []))

    def _backs(self, x: float, y: float, count: int, most: int) -> tuple[list[str], float]:
        """Draw the backs of cards that are not shown, `most` at most, and how many there are; return the height too."""
        parts = [
            svg.rect(x + n * 9, y + 0.5, CARD[0], CARD[1] - 1, fill="#8A8A91", stroke=PAPER, radius=4)
            for n in range(min(count, most))
        ]
        end = x + (len(parts) - 1) * 9 + CARD[0] + 8 if parts else x
        label = f"{count} card{'s' * (count != 1)}" if count else "none"
        return [*parts, svg.text(end, y + 21, label, fill=INK if count else GREY)], float(CARD[1])


def _basin(x: float, y: float, width: float, height: float, filled: float) -> str:
    """Return the path of a pot with round lower corners, or of what is in it up to a part of its height."""
    bottom, level = y + height, y + height * (1 - filled)
    above = bottom - CORNER - level  # of the corners; below 0 within them
    inset = CORNER - (CORNER**2 - above**2) ** 0.5 if above < 0 else 0.0
    left, right, arc = x + inset, x + width - inset, f"A{CORNER},{CORNER} 0 0 1 "
    start, end = (f"L{at(right, bottom - CORNER)} ", f"L{at(left, level)} ") if above > 0 else ("", "")
    upper_left = bottom - CORNER if above > 0 else level
    return (
        f"M{at(left, level)} L{at(right, level)} {start}{arc}{at(x + width - CORNER, bottom)} "
        f"L{at(x + CORNER, bottom)} {arc}{at(left, upper_left)} {end}Z"
    )
