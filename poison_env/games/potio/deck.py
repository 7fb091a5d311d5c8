"""Decks of Potio, and cards in text: `B3` is a blue 3, `G2` a grey 2, `B3*` a frozen one."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core.errors import OptionError, PositionError

Kind = tuple[str, int]  # colour, value

COLOURS = ("blue", "yellow", "purple")
GREY = "grey"
CLASSES = (*COLOURS, GREY)  # order of the kinds
LETTERS = {"blue": "B", "yellow": "Y", "purple": "P", GREY: "G"}
BY_LETTER = {letter: colour for colour, letter in LETTERS.items()}
MAX_VALUE, MAX_GREY = 6, 2
MAX_KINDS = len(COLOURS) * MAX_VALUE + MAX_GREY
MAX_COPIES = 7  # a brew is looked up by its counts by kind, three bits each

# No list of the cards is public; this one is a decision of this project.
STANDARD: dict[Kind, int] = {(c, v): 3 for c in COLOURS for v in range(1, MAX_VALUE + 1)} | {(GREY, 1): 6, (GREY, 2): 6}
NAMED = {"standard": STANDARD}

# A card in a zone is one number: twice its kind, one more when it is frozen. Zones are sorted by it.
EMPTY = 2 * MAX_KINDS  # an empty slot, sorted behind every card
SLOTS = 8  # of a zone; one that is full at the end of its owner's turn explodes

_CARD = re.compile(r"([BYPG])([1-6])(\*?)(?:x([1-9][0-9]*))?")


class Deck:
    """A multiset of cards: kinds in colour order with rising values, grey last, and how many there are of each."""

    def __init__(self, table: Mapping[Kind, int]) -> None:
        self.kinds: tuple[Kind, ...] = tuple(sorted(table, key=lambda kind: (CLASSES.index(kind[0]), kind[1])))
        self.counts = np.array([table[kind] for kind in self.kinds], dtype=np.int16)
        self.size = int(self.counts.sum())
        self.values = np.array([value for _, value in self.kinds], dtype=np.int64)
        self.classes = np.array([CLASSES.index(colour) for colour, _ in self.kinds], dtype=np.int64)

    @cached_property
    def cards(self) -> npt.NDArray[np.int64]:
        """The kind of every card, in kind order."""
        return np.repeat(np.arange(len(self.kinds)), self.counts)

    @cached_property
    def table(self) -> dict[Kind, int]:
        """The deck as `{(colour, value): count}`."""
        return {kind: int(count) for kind, count in zip(self.kinds, self.counts, strict=True)}

    @cached_property
    def text(self) -> str:
        """The deck's name, or its cards such as `B1x3 B2 G1x6`; `parse_deck` reads it back."""
        for name, table in NAMED.items():
            if table == self.table:
                return name
        return " ".join(self.label(k) + (f"x{n}" if n > 1 else "") for k, n in enumerate(self.counts.tolist()))

    def label(self, kind: int) -> str:
        """Return a kind as text, `B3`."""
        colour, value = self.kinds[kind]
        return f"{LETTERS[colour]}{value}"

    def words(self, zone: Iterable[int]) -> str:
        """Return the cards of a zone as text, `B3 G1*`; `-` for none."""
        return " ".join(self.label(code // 2) + "*" * (code % 2) for code in zone if code != EMPTY) or "-"

    def parse(self, text: str) -> list[int]:
        """Return the cards named in text such as `B3 G1x2 P4*` as numbers of a zone, in that order.

        Raises:
            PositionError: a word is no card, or no card of this deck.
        """
        found: list[int] = []
        for word in text.replace(",", " ").split():
            match = _CARD.fullmatch(word)
            kind = (BY_LETTER[match[1]], int(match[2])) if match else None
            if match is None or kind not in self.table:
                raise PositionError(f"{word!r} is no card of this deck")
            found += [2 * self.kinds.index(kind) + len(match[3])] * int(match[4] or 1)
        return found


def parse_deck(given: Any) -> Deck:
    """Return a deck from its name, from cards such as `B1x3 Y2 G1x6`, or from `{(colour, value): count}`.

    Raises:
        OptionError: it is none of these, or not a deck that can be played.
    """
    if isinstance(given, str) and given in NAMED:
        return Deck(NAMED[given])
    if isinstance(given, str):
        table: dict[Kind, int] = {}
        for word in given.replace(",", " ").split():
            match = _CARD.fullmatch(word)
            if match is None or match[3]:
                raise OptionError(f"deck: expected {', '.join(NAMED)} or cards such as B1x3 Y2 G1x6; got {word!r}")
            kind = BY_LETTER[match[1]], int(match[2])
            table[kind] = table.get(kind, 0) + int(match[4] or 1)
    elif isinstance(given, Mapping):
        table = dict(given)
    else:
        raise OptionError(f"deck: expected a name, cards as text or a table, got {given!r}")
    for kind, count in table.items():
        _check_entry(kind, count)
    if not table:
        raise OptionError("deck: expected some cards, got none")
    return Deck({(str(colour), int(value)): int(count) for (colour, value), count in table.items()})


def _check_entry(kind: Any, count: Any) -> None:
    if not isinstance(kind, tuple) or len(kind) != 2 or kind[0] not in CLASSES or not _is_whole(kind[1]):
        raise OptionError(f"deck: expected (colour, value) with a colour of {', '.join(CLASSES)}; got {kind!r}")
    highest = MAX_GREY if kind[0] == GREY else MAX_VALUE
    if not 1 <= kind[1] <= highest:
        raise OptionError(f"deck: values of {kind[0]} are 1 to {highest}, got {kind[1]}")
    if not _is_whole(count) or not 1 <= count <= MAX_COPIES:
        raise OptionError(f"deck: expected 1 to {MAX_COPIES} copies of {kind[0]} {kind[1]}, got {count!r}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
