"""Lookup tables of Poison: a cauldron is a small automaton.

What a cauldron can hold (a multiset of one colour and poison, 13 at most) is numbered once per deck: 430 contents for
the published deck, 0 is empty. One gather then gives what a card makes of it. Legality depends on the colours of the
three cauldrons alone: 64 codes.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from poison_env.games.poison.deck import CLASSES, COLOURS, LIMIT, POISON, Deck, parse_deck

CAULDRONS = 3
NO_COLOUR = 0  # cauldron colours: 0 none, 1 red, 2 blue, 3 purple
CODES = (len(COLOURS) + 1) ** CAULDRONS
_PACK = 8  # kinds per byte of the mask table


@dataclass(frozen=True, eq=False)
class Tables:
    """Read-only tables of one deck and colour rule. C contents, K kinds, A = 3 K actions."""

    contents: npt.NDArray[np.int16]  # (C, K) cards by kind
    totals: npt.NDArray[np.int16]  # (C,)
    colours: npt.NDArray[np.int16]  # (C,) colour by content, NO_COLOUR without potions
    codes: npt.NDArray[np.int64]  # (3, C) what a content adds to the colour code; zeros with fixed colours
    # At k * C + c: the content after playing kind k on content c; -1 where no rule allows it.
    after: npt.NDArray[np.int64]  # (K * C,)
    # There too: what is taken, four int16 counts by class in one word; 0 without an overflow.
    piles: npt.NDArray[np.int64]  # (K * C,)
    allowed: npt.NDArray[np.bool_]  # (64, A) legal by colour
    allowed_words: npt.NDArray[np.uint64]  # (64, 3 * groups) the same, each eight kinds in three words of mask bytes
    kind_of: npt.NDArray[np.int64]  # (A,)
    cauldron_of: npt.NDArray[np.int64]  # (A,)


@lru_cache(maxsize=64)
def build(deck_text: str, colour_rule: str) -> Tables:
    """Build the tables of a deck, given as text, under the rule `exclusive` or `fixed`."""
    deck = parse_deck(deck_text)
    kinds, counts = len(deck.kinds), deck.counts.tolist()
    number: dict[tuple[int, ...], int] = {(0,) * kinds: 0}
    order = list(number)
    after: list[list[int]] = []
    for content in order:  # grows while it is walked
        total = sum(n * v for n, (_, v) in zip(content, deck.kinds, strict=True))
        colour = next((c for n, (c, _) in zip(content, deck.kinds, strict=True) if n and c != POISON), None)
        row = []
        for kind, (card_colour, value) in enumerate(deck.kinds):
            if (colour and card_colour not in (colour, POISON)) or content[kind] == counts[kind]:
                row.append(-1)
                continue
            kept = (0,) * kinds if total + value > LIMIT else content
            found = (*kept[:kind], kept[kind] + 1, *kept[kind + 1 :])
            if found not in number:
                number[found] = len(order)
                order.append(found)
            row.append(number[found])
        after.append(row)

    contents = np.array(order, dtype=np.int16)
    totals = (contents @ deck.values).astype(np.int16)
    by_class = contents @ (deck.classes[:, None] == np.arange(len(CLASSES))).astype(np.int16)  # (C, 4)
    colours = (by_class[:, :3] > 0).astype(np.int16) @ np.arange(1, 4, dtype=np.int16)
    packed = np.ascontiguousarray(by_class.astype(np.int16)).view(np.int64)[:, 0]
    overflows = totals[None, :] + deck.values[:, None] > LIMIT  # (K, C)
    fixed = colour_rule == "fixed"
    weights = np.array([16, 4, 1]) * (not fixed)
    allowed = _allowed(deck, fixed)
    tables = Tables(
        contents=contents,
        totals=totals,
        colours=colours.astype(np.int16),
        codes=weights[:, None] * colours[None, :],
        after=np.ascontiguousarray(np.array(after, dtype=np.int64).T).ravel(),
        piles=np.where(overflows, packed[None, :], 0).ravel(),
        allowed=allowed,
        allowed_words=_in_words(allowed.reshape(CODES, kinds, CAULDRONS)),
        kind_of=np.repeat(np.arange(kinds), CAULDRONS),
        cauldron_of=np.tile(np.arange(CAULDRONS), kinds),
    )
    for array in vars(tables).values():
        array.flags.writeable = False
    return tables


def _allowed(deck: Deck, fixed: bool) -> npt.NDArray[np.bool_]:
    """Return (64, A): which card may go where, by the colours of the three cauldrons."""
    allowed = np.zeros((CODES, len(deck.kinds), CAULDRONS), dtype=bool)
    for code in range(CODES):
        colours = (code // 16, code // 4 % 4, code % 4)
        for kind, (name, _) in enumerate(deck.kinds):
            colour = NO_COLOUR if name == POISON else COLOURS.index(name) + 1
            for cauldron in range(CAULDRONS):
                if name == POISON:
                    legal = True
                elif fixed:
                    legal = cauldron == colour - 1
                elif colour in colours:
                    legal = colours[cauldron] == colour
                else:
                    legal = colours[cauldron] == NO_COLOUR
                allowed[code, kind, cauldron] = legal
    return allowed.reshape(CODES, -1)


def _in_words(masks: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Return masks (n, kinds, 3) as words (n, 3 * groups): 24 bytes for each eight kinds, filled up with False."""
    size, kinds, _ = masks.shape
    filled = np.zeros((size, -(-kinds // _PACK) * _PACK, CAULDRONS), dtype=bool)
    filled[:, :kinds] = masks
    return filled.view(np.uint8).reshape(size, -1).view(np.uint64)


_HELD = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").view(np.bool_)
HELD_WORDS = _in_words(np.repeat(_HELD[:, :, None], CAULDRONS, axis=2))  # (256, 3) by the bits of the held kinds
