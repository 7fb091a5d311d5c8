"""The scones of Arsenic, and the tables that say what each does.

A scone is a flavour, which everybody sees, and a kind, which only its drawer sees: kinds 0 to 3 are doses, kind 4 is
the special scone of the flavour. `2d3` is a scone of flavour 2 with three doses, `3moon` the special one of flavour 3.
"""

from itertools import permutations

import numpy as np
import numpy.typing as npt

FLAVOURS, KINDS = 6, 5
SCONES = FLAVOURS * KINDS  # sorts of scones: sort = KINDS * flavour + kind
IN_FLAVOUR = 7  # slots of a flavour; the last one is for its special scone
SLOTS = FLAVOURS * IN_FLAVOUR
NORMAL = (0, 0, 1, 1, 2, 3)  # two harmless ones of each flavour, four with one to three doses
SPECIAL = KINDS - 1
SPECIALS = ("plus", "drop", "round", "moon", "moon", "window")  # the special scone of each flavour
LETHAL = {1: 30, 2: 15, 3: 10, 4: 8, 5: 7, 6: 6}  # by seats at the start
SUGARS = 3

_SPECIAL_DOSES = {"plus": 0, "drop": -1, "round": 0, "moon": 0, "window": 1}
_SPECIAL_COUNTS = {"plus": 2, "drop": 1, "round": 0, "moon": 1, "window": 1}

FLAVOUR_OF_SLOT = np.arange(SLOTS) // IN_FLAVOUR
DOSES = np.array([[0, 1, 2, 3, _SPECIAL_DOSES[name]] for name in SPECIALS], np.int16).reshape(-1)  # (30,) by sort
COUNTS = np.array([[1, 1, 1, 1, _SPECIAL_COUNTS[name]] for name in SPECIALS], np.int16).reshape(-1)  # (30,)
MOONS = np.array([[0, 0, 0, 0, name == "moon"] for name in SPECIALS], bool).reshape(-1)  # (30,)
WINDOW_SLOT = IN_FLAVOUR * SPECIALS.index("window")  # slots from here on may hold the window
MAY_KILL = (DOSES > 0) | MOONS  # (30,) what a last bite can have been


def label(sort: int) -> str:
    """Return a sort as text, `2d3` or `3moon`."""
    flavour, kind = divmod(sort, KINDS)
    return f"{flavour}{SPECIALS[flavour]}" if kind == SPECIAL else f"{flavour}d{kind}"


def in_flavour(specials: bool) -> tuple[int, ...]:
    """Return the kinds of the scones of one flavour."""
    return (*NORMAL, SPECIAL) if specials else NORMAL


def arrangements(specials: bool) -> npt.NDArray[np.int8]:
    """Return every order of the scones of one flavour, (R, n) kinds: 180 of 6, with specials 1260 of 7."""
    return np.array(sorted(set(permutations(in_flavour(specials)))), np.int8)
