"""Reading and writing one match as a file of JSON lines."""

import hashlib
import io
import os
import re
from pathlib import Path
from typing import Any

from poison_env import registry
from poison_env.core.errors import PoisonEnvError, RecordError
from poison_env.core.files import write_whole
from poison_env.record.lines import check_equal, check_keys, dump, parse, shorten
from poison_env.record.match import RecordedMatch, Replayed

FORMAT, VERSION = "poison_env match", 1
MAX_BYTES = 8 << 20  # ten times the longest match
MAX_NAME = 200

_HEADER = ("format", "version", "game", "options", "seed", "agents", "play_seed", "match", "cards")  # in this order
_OPTIONAL = ("play_seed", "match", "cards")
_MOVE = ("move", "seat", "action")
_FOOTER = ("moves", "points", "placements", "returns", "sha256")
_DECIMAL = re.compile("0|[1-9][0-9]{0,19}")


def write(path: str | os.PathLike[str], record: RecordedMatch) -> None:
    """Write a record, whole or not at all; an older file of that name is replaced.

    Raises:
        RecordError: the record is not that of a match that was played so.
        OSError: the file cannot be written.
    """
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "game": record.game_id,
        "options": dict(record.options),
        "seed": str(record.seed),
        "agents": list(record.agents),
    }
    if record.play_seed is not None:
        header["play_seed"] = str(record.play_seed)
    if record.match is not None:
        header["match"] = record.match
    if record.cards:
        header["cards"] = [list(order) for order in record.cards]
    match = _open(header)
    lines = [dump(header)]
    for number, action in enumerate(record.actions, 1):
        seat, notation = match.play(action)
        lines.append(dump({"move": number, "seat": seat, "action": notation}))
    body = "".join(line + "\n" for line in lines).encode()
    footer = match.outcome() | {"sha256": hashlib.sha256(body).hexdigest()}
    for name in ("points", "placements", "returns"):
        check_equal(name, footer[name], list(getattr(record, name)))
    write_whole(path, body + dump(footer).encode() + b"\n")


def read(path: str | os.PathLike[str]) -> RecordedMatch:
    """Read a record and replay it.

    Raises:
        RecordError: `path: line N: reason`; the file is damaged, altered or of another kind.
        OSError: there is no such file, or it cannot be opened.
    """
    if Path(path).exists() and not Path(path).is_file():
        raise RecordError(f"{path}: line 1: not a regular file")
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise RecordError(f"{path}: line 1: more than {MAX_BYTES} bytes, no match is that long")
    reader, number = _Reader(), 0
    for number, line in enumerate(io.BytesIO(data), 1):
        try:
            reader.take(line)
        except PoisonEnvError as error:
            raise RecordError(f"{path}: line {number}: {error}") from error
    if reader.record is None:
        reason = "cut off: the footer is missing" if number else "the file is empty"
        raise RecordError(f"{path}: line {number + 1}: {reason}")
    return reader.record


class _Reader:
    """Takes the lines of a file one after the other; `record` is there after a good footer."""

    def __init__(self) -> None:
        self.record: RecordedMatch | None = None
        self._header: dict[str, Any] = {}
        self._match: Replayed | None = None
        self._sum = hashlib.sha256()

    def take(self, line: bytes) -> None:
        """Check the next line."""
        if self.record is not None:
            raise RecordError("the footer was the line before, nothing may follow it")
        value = parse(line)
        if self._match is None:
            self._header, self._match = value, _open(value)
        elif "move" in value:
            check_keys(value, _MOVE)
            check_equal("move", len(self._match.actions) + 1, value["move"])
            if type(value["action"]) is not str:
                raise RecordError(f"action: expected a text, got {shorten(value['action'])}")
            seat, _ = self._match.play(value["action"])
            check_equal("seat", seat, value["seat"])
        else:
            check_keys(value, _FOOTER)
            expected = self._match.outcome() | {"sha256": self._sum.hexdigest()}
            for name in _FOOTER:
                check_equal(name, expected[name], value[name])
            self.record = self._recorded(expected)
        self._sum.update(line)

    def _recorded(self, footer: dict[str, Any]) -> RecordedMatch:
        assert self._match is not None  # a footer is read after a header
        header = self._header
        return RecordedMatch(
            game_id=header["game"],
            options=header["options"],
            seed=int(header["seed"]),
            agents=tuple(header["agents"]),
            actions=tuple(self._match.actions),
            points=tuple(footer["points"]),
            placements=tuple(footer["placements"]),
            returns=tuple(footer["returns"]),
            play_seed=int(header["play_seed"]) if "play_seed" in header else None,
            match=header.get("match"),
            cards=tuple(map(tuple, header.get("cards", ()))),
        )


def _open(header: dict[str, Any]) -> Replayed:
    """Check a header; return its match before the first move."""
    check_keys(header, tuple(name for name in _HEADER if name in header or name not in _OPTIONAL))
    check_equal("format", FORMAT, header["format"])
    check_equal("version", VERSION, header["version"])
    if type(header["game"]) is not str or type(header["options"]) is not dict:
        raise RecordError("expected a game's id and its options")
    try:
        game = registry.make(header["game"], **header["options"])
    except Exception as error:  # whatever a constructor makes of such options, it is the file that is wrong
        raise RecordError(f"the game cannot be made: {shorten(str(error))}") from error
    check_equal("options", dict(game.options), header["options"])
    seed = _seed("seed", header["seed"])
    if "play_seed" in header:
        _seed("play_seed", header["play_seed"])
    if "match" in header and (type(header["match"]) is not int or not 0 <= header["match"] < 2**63):
        raise RecordError(f"match: expected a number from 0 on, got {shorten(header['match'])}")
    _check_names(header["agents"], game.num_seats)
    cards = header.get("cards", [])
    orders = cards if type(cards) is list else [cards]
    if not all(type(order) is list and all(type(card) is int for card in order) for order in orders):
        raise RecordError(f"cards: expected lists of whole numbers, got {shorten(cards)}")
    return Replayed(game, seed, orders)


def _check_names(names: Any, num_seats: int) -> None:
    if type(names) is not list or len(names) != num_seats:
        raise RecordError(f"agents: expected a list of {num_seats} names, one for each seat, got {shorten(names)}")
    if not all(type(name) is str and name.isprintable() and len(name) <= MAX_NAME for name in names):
        raise RecordError(f"agents: expected printable names of at most {MAX_NAME} characters, got {shorten(names)}")


def _seed(name: str, value: Any) -> int:
    if type(value) is not str or not _DECIMAL.fullmatch(value) or int(value) >= 2**64:
        raise RecordError(f"{name}: expected a decimal number below 2**64 as a text, got {shorten(value)}")
    return int(value)
