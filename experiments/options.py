"""Options of games on the command line: `num_seats=4 deck=box58 first_dealer=0`."""

import json
from collections.abc import Sequence
from typing import Any

from poison_env.core.errors import OptionError


def parse_options(words: Sequence[str]) -> dict[str, Any]:
    """Return `name=value` words as keyword arguments; a value is JSON where it can be, else text.

    Raises:
        OptionError: a word has no `=`, or a name stands twice.
    """
    options: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise OptionError(f"options: expected name=value, got {word!r}")
        if name in options:
            raise OptionError(f"options: {name} is given twice")
        try:
            options[name] = json.loads(text)
        except ValueError:
            options[name] = text
    return options
