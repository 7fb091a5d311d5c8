"""What the games whose chance is drawn outcome by outcome share: hands of which nobody knows the order, and checks."""

from collections.abc import Sequence
from itertools import accumulate
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core.errors import PositionError
from poison_env.core.protocol import BoolArray


def next_in_hand(counts: Sequence[int], held: Sequence[int], size: int) -> dict[int, float]:
    """Return how likely the next card of a hand is of each kind, where hands come in the order of their kinds.

    With c cards of each kind to draw from, the chance that a hand holds n of each is that of drawing without
    replacement, so the chance of its next card is a quotient of numbers of ways to fill it up.

    Args:
        counts: (K,) cards of each kind from which the whole hand is drawn.
        held: its first cards, kinds that do not fall, less than `size`.
        size: cards of the hand.

    Returns:
        Kinds, rising, with probabilities above 0; nothing if `held` cannot be drawn.
    """
    missing = size - len(held)
    beyond = [*accumulate(reversed(counts), initial=0)][::-1]  # [k]: cards of kind k and above
    last = held[-1] if held else 0
    copies = held.count(last)
    # Ways to fill the hand up, given the kinds below `last` and at least so many copies of it.
    again = sum(
        comb(counts[last], n) * comb(beyond[last + 1], copies + missing - n)
        for n in range(copies + 1, copies + missing + 1)
    )
    stay = comb(counts[last], copies)
    ways = {last: again} | {
        kind: stay * (comb(beyond[kind], missing) - comb(beyond[kind + 1], missing))
        for kind in range(last + 1, len(counts))
    }
    total = sum(ways.values())
    return {kind: number / total for kind, number in ways.items() if number}


def check_outcomes(outcomes: npt.ArrayLike, width: int, drawn_now: BoolArray) -> npt.NDArray[np.int64]:
    """Return rows of outcomes, (B, width at least), after checking type, shape, and that each match is at its draw.

    Raises:
        PositionError: wrong type or shape, or a match is not at a draw.
    """
    drawn: npt.NDArray[Any] = np.asarray(outcomes)
    size = len(drawn_now)
    if drawn.dtype.kind not in "iu" or drawn.ndim != 2 or drawn.shape[0] != size or drawn.shape[1] < width:
        raise PositionError(
            f"outcomes: expected whole numbers of shape ({size}, {width}), got {drawn.dtype} {drawn.shape}"
        )
    if not drawn_now.all():
        raise PositionError(f"row {int(np.argmin(drawn_now))}: the match is over, or past its draw")
    return drawn.astype(np.int64)


def refuse(drawn: npt.NDArray[np.int64], wrong: BoolArray) -> None:
    """Raise if chance cannot draw a row.

    Raises:
        PositionError: it names the first such row.
    """
    if wrong.any():
        row = int(np.argmax(wrong))
        raise PositionError(f"row {row}: chance cannot draw {drawn[row].tolist()}")
