"""Copies and comparisons of what environments return: nested dicts, sequences and arrays."""

import copy
import pickle
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces


def snapshot(value: Any) -> Any:
    """Return a copy that later changes cannot reach."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.dtype != object else copy.deepcopy(value)
    if isinstance(value, Mapping):
        return {name: snapshot(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [snapshot(part) for part in value]
    if value is None or isinstance(value, str | bool | int | float | np.generic):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:  # locks, connections, generators: only the object itself can be kept
        return value


def difference(expected: Any, actual: Any, path: str = "") -> str | None:
    """Return the first difference between two values as text, types and shapes of arrays included; None without one."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        if expected.keys() != actual.keys():
            return f"{path or 'keys'}: {sorted(map(str, expected))} and {sorted(map(str, actual))}"
        parts = (difference(expected[name], actual[name], f"{path}[{name!r}]") for name in expected)
        return next((part for part in parts if part), None)
    if isinstance(expected, np.ndarray) or isinstance(actual, np.ndarray):
        return _arrays_differ(expected, actual, path)
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        if len(expected) != len(actual):
            return f"{path or 'length'}: {len(expected)} and {len(actual)} entries"
        parts = (difference(*pair, f"{path}[{at}]") for at, pair in enumerate(zip(expected, actual, strict=True)))
        return next((part for part in parts if part), None)
    if getattr(type(expected), "__eq__", None) is getattr(object, "__eq__", None):
        return None  # objects that equal themselves only: copies tell nothing
    try:
        same = bool(expected == actual) or bool(expected != expected and actual != actual)
    except Exception:  # objects of the environment's own, which need not know equality
        return None
    return None if same else f"{path or 'value'}: {expected!r} and {actual!r}"


def _arrays_differ(expected: Any, actual: Any, path: str) -> str | None:
    if not (isinstance(expected, np.ndarray) and isinstance(actual, np.ndarray)):
        return f"{path or 'value'}: {type(expected).__name__} and {type(actual).__name__}"
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return f"{path or 'array'}: {expected.dtype} {expected.shape} and {actual.dtype} {actual.shape}"
    if expected.dtype == object:
        parts = (
            difference(*pair, f"{path}[{at}]") for at, pair in enumerate(zip(expected.flat, actual.flat, strict=True))
        )
        return next((part for part in parts if part), None)
    unequal = expected != actual
    if expected.dtype.kind in "fcmM":
        unequal &= ~(np.isnan(expected) & np.isnan(actual))
    if not unequal.any():
        return None
    at = tuple(int(index[0]) for index in np.nonzero(np.atleast_1d(unequal)))
    first, second = np.atleast_1d(expected)[at].item(), np.atleast_1d(actual)[at].item()
    return f"{path or 'array'}: at {list(at)} {first} and {second}"


def arrays_in(value: Any, path: str = "") -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Return the arrays of a nested value, with where they stand."""
    if isinstance(value, np.ndarray):
        yield path, value
        if value.dtype == object:
            for at, part in enumerate(value.flat):
                yield from arrays_in(part, f"{path}[{at}]")
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from arrays_in(part, f"{path}[{name!r}]")
    elif isinstance(value, list | tuple):
        for at, part in enumerate(value):
            yield from arrays_in(part, f"{path}[{at}]")


def overwrite(array: npt.NDArray[Any]) -> None:
    """Write something else into an array, where it lets itself be written."""
    if not array.flags.writeable:
        return
    if array.dtype.kind == "b":
        array[...] = ~array
    elif array.dtype.kind in "iufc":
        array[...] = 1 - array
    elif array.dtype != object:  # texts, times, records
        array[...] = np.zeros_like(array)


def misfit(space: spaces.Space[Any], value: Any, path: str = "") -> str | None:
    """Return why a value is not of a space, types of arrays exactly; None where it is."""
    if isinstance(space, spaces.Dict):
        if not isinstance(value, Mapping) or set(value) != set(space.spaces):
            got = sorted(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
            return f"{path or 'value'}: expected the keys {sorted(space.spaces)}, got {got}"
        parts = (misfit(part, value[name], f"{path}[{name!r}]") for name, part in space.spaces.items())
        return next((part for part in parts if part), None)
    if isinstance(space, spaces.Tuple):
        if not isinstance(value, tuple) or len(value) != len(space.spaces):
            got = f"{len(value)} entries" if isinstance(value, tuple) else type(value).__name__
            return f"{path or 'value'}: expected a tuple of {len(space.spaces)}, got {got}"
        parts = (misfit(part, value[at], f"{path}[{at}]") for at, part in enumerate(space.spaces))
        return next((part for part in parts if part), None)
    if isinstance(space, spaces.Box | spaces.MultiBinary | spaces.MultiDiscrete):
        if not isinstance(value, np.ndarray):
            return f"{path or 'value'}: expected an array, got {type(value).__name__}"
        if value.dtype != space.dtype or value.shape != space.shape:
            return f"{path or 'value'}: expected {space.dtype} {space.shape}, got {value.dtype} {value.shape}"
    if not space.contains(value):
        return f"{path or 'value'}: outside its space"
    return None


class GlobalRandomness:
    """Python's and NumPy's shared generators: what an environment must neither use nor touch."""

    def __init__(self) -> None:
        self._state = random.getstate(), np.random.get_state()  # noqa: NPY002  # the shared one is what is watched

    def disturb(self, seed: int) -> None:
        """Give both another state, so that whoever draws from them shows."""
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002  # the shared one is what is watched

    def fingerprint(self) -> bytes:
        """Return what changes when somebody draws from either."""
        return pickle.dumps((random.getstate(), np.random.get_state()))  # noqa: NPY002  # the shared one is what is watched

    def restore(self) -> None:
        """Put back what was there at the beginning."""
        random.setstate(self._state[0])
        np.random.set_state(self._state[1])  # noqa: NPY002  # the shared one is what is watched
