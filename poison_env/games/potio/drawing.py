"""Positions of Potio as pictures: centre, choices and pile above, a row for each seat with its zone below."""

from typing import TYPE_CHECKING

import numpy as np

from poison_env.core import svg
from poison_env.core.picture import (
    BLUE,
    HEADING,
    MARGIN,
    NAME,
    PURPLE,
    SMALL_TEXT,
    WIDTH,
    YELLOW,
    Picture,
    captions,
    card,
    chip,
    halo,
)
from poison_env.core.svg import GREY, INK, PALE, PAPER
from poison_env.games.potio import moves
from poison_env.games.potio.brews import EFFECTS
from poison_env.games.potio.deck import CLASSES, EMPTY, LETTERS, SLOTS
from poison_env.games.potio.moves import CENTRE, PICKING

if TYPE_CHECKING:  # the game imports this module
    from poison_env.games.potio.dealing import PotioState
    from poison_env.games.potio.game import Potio

SHADES = dict(zip(CLASSES, (BLUE, YELLOW, PURPLE, GREY), strict=True))
ICE = "#D8ECF8"  # the ground of a frozen card

CARD, PITCH = (34, 46), 46
SMALL_CARD, SMALL_PITCH, SMALL_LINE, BATCH_GAP = (22, 18), 23, 22, 12
POINTS, WON, ZONE = 176, 258, 560  # where the columns of a seat's row begin
TOP = 96  # height of centre and choices
ROW = 72


class PotioPicture(Picture):
    """One position; see `HasDrawing`."""

    game: "Potio"
    one: "PotioState"

    def look(self) -> None:
        """Note what is shown."""
        everything = self.game.observe_all(self.one)[0]
        self.seen = {name: self.game.full_layout.decode(everything, name) for name in self.game.full_layout.slices}

    def draw(self) -> str:
        """Return the whole picture."""
        parts, y = self.heading(self._where(), [self.game.id, self._deck()], self._who()), float(HEADING)
        parts.append(svg.group("centre", self._centre(y)))
        parts.append(svg.group("choices", self._choices(y)))
        y += TOP
        pile, height = self._pile(y)
        parts.append(svg.group("pile", pile))
        y += height + 18
        parts += captions(y, {NAME: "seat", POINTS: "points", WON: "victory pile", ZONE: "zone"})
        y += 10
        height = ROW + (12 if self.values is not None else 0)
        for player in range(self.game.num_seats):
            parts.append(svg.group("seat", self._seat_row(player, y, height)))
            y += height
        return self.page(y + 14, f"{self.game.id}: {self._where()}. {self._who()}", parts)

    # --- words ----------------------------------------------------------------------------------------------

    def _where(self) -> str:
        turns = int(self.one.turns[0])
        if self.over:
            return f"{'Cut off' if self.one.truncated[0] else 'Over'} after {turns} turn{'s' * (turns > 1)}"
        stalled = 0 if self.one.scored[0] else int(self.one.stalled[0])
        return f"Turn {turns + 1}" + (f", {stalled} of {self.game.stall_turns} without a card won" if stalled else "")

    def _deck(self) -> str:
        return "own deck" if " " in self.game.deck.text else f"{self.game.deck.text} deck"

    def _who(self) -> str:
        if self.mover is None:
            return self.winner()
        name = svg.fit(self.names[self.mover], 220, 16)
        return f"{name} to move" if self.action is None else f"{name}: {self._act(self.action)}"

    def _act(self, action: int) -> str:
        """Say what an action does, with the cards and seats that it means."""
        if action < moves.PICK:
            return f"take {self._label(int(self.one.centre[0, action - moves.TAKE]))}"
        if action < moves.COMMIT:
            return f"pick {self._label(int(self.one.zones[0, self.one.to_move[0], action - moves.PICK]) // 2)}"
        if action < moves.TARGET:
            return self._word(action)
        ahead, slot = divmod(action - moves.TARGET, SLOTS)
        owner = (int(self.one.to_move[0]) + ahead) % self.game.num_seats
        (effect,) = np.flatnonzero(self.seen["effects"])
        return f"{EFFECTS[effect]} {self._label(int(self.one.zones[0, owner, slot]) // 2)}"

    def _word(self, action: int) -> str:
        if action == moves.COMMIT:
            return "brew" if self.seen["picked"].any() else "end"
        return "none" if action == moves.NONE else EFFECTS[action - moves.EFFECT]

    def _label(self, kind: int) -> str:
        return self.game.deck.label(kind)

    # --- centre, choices, pile ------------------------------------------------------------------------------

    def _centre(self, y: float) -> list[str]:
        parts = [svg.text(MARGIN, y + 12, "centre", size=SMALL_TEXT, fill=GREY)]
        for place in range(CENTRE):
            x, action = MARGIN + place * PITCH, moves.TAKE + place
            if place >= int(self.one.centre_size[0]):
                parts.append(svg.rect(x + 1, y + 21, CARD[0] - 2, CARD[1] - 2, stroke=PALE, radius=4))
                continue
            if self.chosen(action):
                parts.append(halo(x, y + 20, CARD))
            parts.append(self._card(2 * int(self.one.centre[0, place]), x, y + 20))
            if self.mask[action]:
                parts += self.value(action, x + CARD[0] / 2, y + 80)
        return parts

    def _choices(self, y: float) -> list[str]:
        """Draw the actions that are words: to brew what is picked or end the turn, and the effects."""
        parts = [svg.text(ZONE, y + 12, self._question(), size=SMALL_TEXT, fill=GREY)]
        for number, action in enumerate(() if self.over else range(moves.COMMIT, moves.TARGET)):
            x = ZONE + number * 63
            parts.append(self.button(action, self._word(action), x, y + 24, 58))
        return parts

    def _question(self) -> str:
        if self.over:
            return "the match is over"
        if self.one.phase[0] == PICKING:
            return "pick all cards of a brew" if self.seen["picked"].any() else "pick cards to brew, or end the turn"
        (effect, *_) = *np.flatnonzero(self.seen["effects"]), 0
        return ("take a card of the centre", "", "choose an effect, or none", f"{EFFECTS[effect]} which card?")[
            int(self.one.phase[0])
        ]

    def _pile(self, y: float) -> tuple[list[str], float]:
        """Draw the pile from the top, batch by batch; with a seat, each batch sorted, as its order is not known."""
        batches = self.seen["pile"]
        size = int(batches.sum())
        order = self.seen["pile_order"][:size] - 1
        if self.seat is not None:
            order = np.concatenate([np.repeat(np.arange(self.game.num_kinds), batch) for batch in batches])
        parted = np.count_nonzero(batches.any(axis=1)) > 1
        how = "the next one first" if self.seat is None else f"in any order{' within a part' if parted else ''}"
        words = f"pile, {size} card{'s' * (size != 1)}" + (f", {how}" if size else "")
        parts = [svg.text(MARGIN, y + 12, words, size=SMALL_TEXT, fill=GREY)]
        starts = {*np.cumsum(batches.sum(axis=1)).tolist()}
        x, line = float(MARGIN), 0
        for number, kind in enumerate(order.tolist()):
            x += BATCH_GAP * (number in starts and x > MARGIN)
            if x + SMALL_CARD[0] > WIDTH - MARGIN:
                x, line = float(MARGIN), line + 1
            parts.append(self._small_card(kind, x, y + 20 + line * SMALL_LINE))
            x += SMALL_PITCH
        return parts, 20.0 + (line + 1) * SMALL_LINE

    def _small_card(self, kind: int, x: float, y: float) -> str:
        name, value = self.game.kinds[kind]
        label = f"{LETTERS[name]}{value}"
        face = svg.rect(x, y, *SMALL_CARD, fill=SHADES[name], radius=3)
        middle = svg.text(x + SMALL_CARD[0] / 2, y + 13, label, size=10, fill=PAPER, anchor="middle", bold=True)
        return svg.group("card", [face, middle])

    # --- seats ----------------------------------------------------------------------------------------------

    def _seat_row(self, player: int, y: float, height: float) -> list[str]:
        parts = self.seat_frame(player, y, height, self.place(player) if self.over else "")
        won = self.seen["victory"][player]
        count = int(won.sum())
        parts.append(svg.text(POINTS, y + 28, int(self.seen["points"][player]), size=16, bold=True))
        parts.append(svg.text(WON, y + 56, f"{count} card{'s' * (count != 1)}", size=SMALL_TEXT, fill=GREY))
        for number, name in enumerate(CLASSES):
            parts += chip(
                LETTERS[name], int(won[self.game.deck.classes == number].sum()), SHADES[name], WON + number * 56, y + 9
            )
        ahead = (player - int(self.one.to_move[0])) % self.game.num_seats
        for slot, code in enumerate(self.one.zones[0, player].tolist()):
            x, top = ZONE + slot * PITCH, y + 11.0
            if code == EMPTY:
                parts.append(svg.rect(x + 1, top + 1, CARD[0] - 2, CARD[1] - 2, stroke=PALE, radius=4))
                continue
            pick, aim = moves.PICK + slot, moves.TARGET + ahead * SLOTS + slot
            action = pick if player == self.mover and self.one.phase[0] == PICKING else aim
            if self.chosen(action):
                parts.append(halo(x, top, CARD))
            elif player == self.mover and self.seen["picked"][slot]:
                parts.append(svg.rect(x - 2, top - 2, CARD[0] + 4, CARD[1] + 4, stroke=INK, line=3, radius=6))
            parts.append(self._card(code, x, top))
            if self.mask[action]:
                parts += self.value(action, x + CARD[0] / 2, top + CARD[1] + 12)
        return parts

    def _card(self, code: int, x: float, y: float) -> str:
        """Draw a card of a zone; a frozen one lies on ice and has a star."""
        name, value = self.game.kinds[code // 2]
        if code % 2 == 0:
            return card(LETTERS[name], value, SHADES[name], x, y, CARD)
        return card(LETTERS[name], f"{value}*", SHADES[name], x, y, CARD, fill=ICE)
