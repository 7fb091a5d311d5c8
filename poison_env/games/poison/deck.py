"""Decks of Poison, and cards in text: `R7` is a red 7, `G4` a poison of value 4."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from poison_env.core.errors import OptionError, PositionError

Kind = tuple[str, int]  # colour, value

COLOURS = ("red", "blue", "purple")  # cauldron order of the fixed rule, and order of the kinds
POISON = "poison"
CLASSES = (*COLOURS, POISON)  # what cards count as when they are taken
LETTERS = {"red": "R", "blue": "B", "purple": "P", POISON: "G"}  # poison is green
BY_LETTER = {letter: colour for colour, letter in LETTERS.items()}
LIMIT = 13  # a cauldron holds this much; more overflows
MAX_CARDS = 700  # keeps every number of an observation within int16

# Published edition: fourteen potions of each of three colours, eight poisons of value 4.
PUBLISHED: dict[Kind, int] = {(c, v): n for c in COLOURS for v, n in ((1, 3), (2, 3), (4, 2), (5, 3), (7, 3))} | {
    (POISON, 4): 8
}
# The box of 50 potions and 8 poisons. Fifty do not divide by three and no list of its cards is public: every kind has
# five copies, and the five spare ones are the 1s of all colours and the 2s of the first two.
BOX58: dict[Kind, int] = {
    **{("red", 1): 6, ("red", 2): 6, ("red", 4): 5, ("blue", 1): 6, ("blue", 2): 6, ("blue", 4): 5},
    **{("purple", 1): 6, ("purple", 2): 5, ("purple", 4): 5, (POISON, 1): 4, (POISON, 2): 4},
}
NAMED = {"published": PUBLISHED, "box58": BOX58}

_CARD = re.compile(r"([RBPG])(1[0-3]|[1-9])(?:x([1-9][0-9]*))?")


class Deck:
    """A multiset of cards: kinds in colour order with rising values, poison last, and how many there are of each."""

    def __init__(self, table: Mapping[Kind, int]) -> None:
        self.kinds: tuple[Kind, ...] = tuple(sorted(table, key=lambda kind: (CLASSES.index(kind[0]), kind[1])))
        self.counts = np.array([table[kind] for kind in self.kinds], dtype=np.int16)
        self.size = int(self.counts.sum())
        self.values = np.array([value for _, value in self.kinds], dtype=np.int16)
        self.classes = np.array([CLASSES.index(colour) for colour, _ in self.kinds], dtype=np.int16)
        self.colours = tuple(c for c in COLOURS if any(colour == c for colour, _ in self.kinds))

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """The kind of every card, in kind order."""
        return tuple(np.repeat(np.arange(len(self.kinds)), self.counts).tolist())

    @cached_property
    def table(self) -> dict[Kind, int]:
        """The deck as `{(colour, value): count}`."""
        return {kind: int(count) for kind, count in zip(self.kinds, self.counts, strict=True)}

    @cached_property
    def text(self) -> str:
        """The deck's name, or its cards such as `R1x3 R2 G4x8`; `parse_deck` reads it back."""
        for name, table in NAMED.items():
            if table == self.table:
                return name
        return " ".join(self.label(k) + (f"x{n}" if n > 1 else "") for k, n in enumerate(self.counts.tolist()))

    def label(self, kind: int) -> str:
        """Return a kind as text, `R7`."""
        colour, value = self.kinds[kind]
        return f"{LETTERS[colour]}{value}"

    def count(self, cards: str | Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
        """Count cards by kind, (kinds,): from text such as `R7 G4x2` (`-` or nothing for none) or from kind numbers.

        Raises:
            PositionError: a word is no card, or no card of this deck.
        """
        kinds = self.parse(cards) if isinstance(cards, str) else list(cards)
        return np.bincount(np.array(kinds, dtype=np.int64), minlength=len(self.kinds)).astype(np.int16)

    def parse(self, text: str) -> list[int]:
        """Return the kinds named in text such as `R7 G4x2 P1`, in that order.

        Raises:
            PositionError: a word is no card, or no card of this deck.
        """
        found: list[int] = []
        for word in text.replace(",", " ").split():
            if word == "-":
                continue
            match = _CARD.fullmatch(word)
            kind = match and (BY_LETTER[match[1]], int(match[2]))
            if not match or kind not in self.kinds:
                raise PositionError(
                    f"{word!r} is no card of this deck ({' '.join(map(self.label, range(len(self.kinds))))})"
                )
            found += [self.kinds.index(kind)] * int(match[3] or 1)
        return found


def parse_deck(deck: str | Mapping[Kind, int]) -> Deck:
    """Return a deck from its name, its text (`R1x3 R2 G4x8`) or its table.

    Raises:
        OptionError: no such name, a card that cannot be, or nothing to play with.
    """
    if isinstance(deck, str):
        if deck in NAMED:
            return Deck(NAMED[deck])
        table: dict[Kind, int] = {}
        for word in deck.replace(",", " ").split():
            match = _CARD.fullmatch(word)
            if not match:
                raise OptionError(
                    f"deck: expected 'published', 'box58' or cards such as 'R1x3 R2 G4x8', got {word!r} in {deck!r}"
                )
            kind = (BY_LETTER[match[1]], int(match[2]))
            table[kind] = table.get(kind, 0) + int(match[3] or 1)
    elif isinstance(deck, Mapping):
        table = dict(deck)
    else:
        raise OptionError(f"deck: expected a name, a text or a table, got {type(deck).__name__}")
    entry: Any
    count: Any
    for entry, count in table.items():
        if not isinstance(entry, tuple) or len(entry) != 2 or entry[0] not in CLASSES:
            raise OptionError(
                f"deck: expected keys (colour, value) with a colour of {', '.join(CLASSES)}; got {entry!r}"
            )
        if isinstance(entry[1], bool) or not isinstance(entry[1], int | np.integer) or not 1 <= entry[1] <= LIMIT:
            raise OptionError(f"deck: expected values 1 to {LIMIT}, got {entry!r}")
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise OptionError(f"deck: expected at least one card of {entry!r}, got {count!r}")
    size = sum(int(count) for count in table.values())
    if size > MAX_CARDS:
        raise OptionError(f"deck: expected at most {MAX_CARDS} cards, got {size}")
    found = Deck({(colour, int(value)): int(count) for (colour, value), count in table.items()})
    if not found.colours:
        raise OptionError("deck: expected potions of one to three colours, got none")
    return found
