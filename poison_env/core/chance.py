"""Chance as a function: the same seed, stream and counter give the same bits, in any batch and on any platform.

A counter-based generator on 64-bit words. The finaliser is that of SplitMix64 (Steele, Lea and Flood, "Fast splittable
pseudorandom number generators", OOPSLA 2014); its state is hashed from the seed and a stream number, so streams need no
order and no memory. Nothing here reads or writes a global random state.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

KeyArray = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = (np.uint64(shift) for shift in (30, 27, 31, 32))


def as_keys(values: Any) -> KeyArray:
    """Return `values` as an array of uint64 keys, at least one-dimensional.

    Raises:
        ValueError: a value is not an integer in [0, 2**64).
    """
    if isinstance(values, np.ndarray):
        array = values
        if array.dtype.kind not in "iu":
            raise ValueError(f"seeds: expected integers, got dtype {array.dtype}")
        if array.dtype.kind == "i" and array.size and int(array.min()) < 0:
            raise ValueError(f"seeds: expected integers in [0, 2**64), got {int(array.min())}")
        return np.atleast_1d(array).astype(np.uint64)
    listed = list(values) if isinstance(values, Iterable) else [values]
    for value in listed:
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= int(value) < 2**64:
            raise ValueError(f"seeds: expected integers in [0, 2**64), got {value!r}")
    return np.array([int(value) for value in listed], dtype=np.uint64)


def mix(keys: KeyArray) -> KeyArray:
    """Scramble 64-bit words one to one (the SplitMix64 finaliser)."""
    return _mix_in_place(keys.copy())


def _mix_in_place(keys: KeyArray) -> KeyArray:
    shifted = keys >> _S30
    keys ^= shifted
    keys *= _MIX_A
    keys ^= np.right_shift(keys, _S27, out=shifted)
    keys *= _MIX_B
    keys ^= np.right_shift(keys, _S31, out=shifted)
    return keys


def fold(seed: int | Sequence[int] | npt.NDArray[Any], *counters: int | npt.NDArray[Any]) -> KeyArray:
    """Hash a seed and any number of counters into keys; shapes broadcast, result at least (1,).

    `fold(seed, k)` is the seed of an environment's k-th episode.
    """
    key = mix(as_keys(seed) + _GOLDEN)
    for counter in counters:
        key = mix((key + _GOLDEN) ^ mix(as_keys(counter) * _MIX_B + _GOLDEN))
    return key


def bits(keys: KeyArray, stream: int | npt.NDArray[Any], count: int) -> KeyArray:
    """Draw `count` words for each key: (B,) -> (B, count) uint64. `stream` is one number or one per key."""
    start = fold(keys, stream)
    steps = np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN
    return _mix_in_place(start[:, None] + steps)


def below(words: KeyArray, limit: int | npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Map random words to whole numbers in [0, limit), limit < 2**31; the bias is below limit / 2**32."""
    return (((words >> _S32) * np.asarray(limit, dtype=np.uint64)) >> _S32).astype(np.int64)


def uniform(words: KeyArray) -> npt.NDArray[np.float64]:
    """Map random words to floats in [0, 1) with 53 random bits."""
    return (words >> np.uint64(11)).astype(np.float64) / 2**53
