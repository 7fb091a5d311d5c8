"""Choosing among legal actions, for whole batches."""

from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core.chance import KeyArray, below
from poison_env.core.protocol import BoolArray

_FEW_ROWS = 256  # below, one call counts for more than the bytes it moves
_NTH_BIT = np.zeros((256, 8), np.int64)  # [byte, n]: place of the n-th set bit, lowest first
for _byte in range(256):
    _set = [place for place in range(8) if _byte >> place & 1]
    _NTH_BIT[_byte, : len(_set)] = _set


def uniform_legal(action_mask: BoolArray, words: KeyArray) -> npt.NDArray[np.int64]:
    """Choose a legal action uniformly for each row, (N,), from masks (N, A) and a random word each; 0 without any."""
    size, actions = action_mask.shape
    if size < _FEW_ROWS:
        upto = np.add.accumulate(action_mask, axis=1, dtype=np.int64)
        result: npt.NDArray[np.int64] = (upto > below(words, upto[:, -1])[:, None]).argmax(axis=1)
        return result
    groups = -(-actions // 8)
    if actions % 8:
        action_mask = np.concatenate([action_mask, np.zeros((size, -actions % 8), bool)], axis=1)
    packed = np.packbits(np.ascontiguousarray(action_mask).reshape(-1), bitorder="little")
    columns = np.ascontiguousarray(packed.reshape(size, groups).T)  # one row of bytes for each eight actions

    # The n-th legal action is in the group before which at most n are counted; narrow numbers and one row per group
    # keep this fast.
    narrow = np.uint8 if actions < 256 else np.uint16
    counted = np.zeros((groups + 1, size), narrow)
    for group, count in enumerate(np.bitwise_count(columns)):
        np.add(counted[group], count, out=counted[group + 1])
    nth = below(words, counted[-1]).astype(narrow)
    # The second condition holds always, but in rows where nothing is legal.
    passed = (counted[1:-1] <= nth) & (counted[1:-1] < counted[-1])
    group_of = np.add.reduce(passed, axis=0, dtype=narrow).astype(np.int64)
    place = group_of * size + np.arange(size)
    bit = np.int64(8) * columns.reshape(-1).take(place) + (nth - counted.reshape(-1).take(place))
    chosen: npt.NDArray[np.int64] = group_of * 8 + _NTH_BIT.reshape(-1).take(bit)
    return chosen


def best_legal(values: npt.NDArray[Any], action_mask: BoolArray) -> npt.NDArray[np.int64]:
    """Choose the legal action of highest value for each row, (N,); the lowest action among equals.

    Values (N, A) must be finite where legal.
    """
    if values.dtype.kind in "iu":
        lowest: Any = np.iinfo(values.dtype).min
    else:
        lowest = -np.inf
    result: npt.NDArray[np.int64] = np.where(action_mask, values, lowest).argmax(axis=1)
    return result
