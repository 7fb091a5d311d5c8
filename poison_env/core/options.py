"""What the options of every game share: checking values, and being a value that is compared, copied and pickled."""

from typing import Any, Self

import numpy as np

from poison_env.core.errors import OptionError


class Options:
    """Rules given by their options alone: immutable, equal where the options are, made again from them."""

    options: Any  # constructor arguments as JSON values with the defaults resolved; a subclass computes them

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool(self.options == other.options)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # immutable


def whole(name: str, value: Any, low: int, high: int) -> int:
    """Return a whole number in [low, high].

    Raises:
        OptionError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise OptionError(f"{name}: expected a whole number from {low} to {high}, got {value!r}")
    return int(value)


def one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return one of the allowed words.

    Raises:
        OptionError: it is none.
    """
    if not isinstance(value, str) or value not in allowed:
        raise OptionError(f"{name}: expected one of {', '.join(allowed)}; got {value!r}")
    return value


def yes_or_no(name: str, value: Any) -> bool:
    """Return True or False.

    Raises:
        OptionError: it is neither.
    """
    if not isinstance(value, bool | np.bool_):
        raise OptionError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def _rebuild(kind: Any, options: dict[str, Any]) -> Any:
    return kind(**options)
