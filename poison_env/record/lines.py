"""JSON lines that can be written in one way only: one object a line, parsed without any leniency."""

import json
import math
from typing import Any

from poison_env.core.errors import RecordError

MAX_DIGITS = 20  # of a number: 2**64 has as many
MAX_SHOWN = 200  # characters of a file that a message repeats


def dump(value: Any) -> str:
    """Return a value as JSON on one line, without the end of the line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def parse(line: bytes) -> dict[str, Any]:
    """Return the object that a line holds.

    Raises:
        RecordError: it is not one JSON object in UTF-8, written exactly as `dump` would and ended by a line feed; or it
            holds a key twice, a number that is not finite or has very many digits.
    """
    if not line.endswith(b"\n"):
        raise RecordError("cut off: the line does not end")
    try:
        text = line[:-1].decode()
        value = _DECODER.decode(text)
        exact = dump(value) == text
    except json.JSONDecodeError as error:
        raise RecordError(f"no JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:  # not UTF-8, too deep, or what the functions below refuse
        raise RecordError(shorten(str(error))) from error
    if type(value) is not dict:
        raise RecordError(f"expected a JSON object, got {shorten(value)}")
    if not exact:
        raise RecordError("no spaces, escapes or digits may stand where none need be")
    return value


def check_keys(value: dict[str, Any], expected: tuple[str, ...]) -> None:
    """Raise RecordError unless the object has exactly these keys in this order."""
    if tuple(value) != expected:
        raise RecordError(f"expected {', '.join(expected)} in this order; got {shorten(', '.join(value))}")


def check_equal(name: str, expected: Any, got: Any) -> None:
    """Raise RecordError unless both are equal as a file shows them, so that 1, 1.0 and true differ."""
    if dump(expected) != dump(got):
        raise RecordError(f"{name}: expected {shorten(expected)}, got {shorten(got)}")


def shorten(value: Any) -> str:
    """Return a value for a message: printable, and not long."""
    text = value if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {shorten(text)} is not finite")
    return value


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_int, parse_float=_float, parse_constant=_constant)
