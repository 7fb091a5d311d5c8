"""A damaged or altered record is refused, with the line and the reason; nothing but RecordError ever comes out."""

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poison_env import record
from poison_env.core.errors import RecordError
from tests.record_support import Lines, record_of, signed


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    """The lines of a good record: a round of 50 moves; header in line 1, move m in line m + 1, footer in line 52."""
    path = tmp_path_factory.mktemp("whole") / "match.jsonl"
    record_of(path, 7, num_rounds=1, first_dealer=2)
    return path.read_bytes().splitlines(keepends=True)


def swap(old: str, new: str, line: int) -> Callable[[Lines], Lines]:
    """Replace text in one line, counted from 1."""

    def edit(lines: Lines) -> Lines:
        assert old.encode() in lines[line - 1], (old, lines[line - 1])
        return [*lines[: line - 1], lines[line - 1].replace(old.encode(), new.encode(), 1), *lines[line:]]

    return edit


def change(line: int, **values: Any) -> Callable[[Lines], Lines]:
    """Replace values in one line, counted from 1, and sign the file again; `...` removes a key."""

    def edit(lines: Lines) -> Lines:
        value = {k: v for k, v in (json.loads(lines[line - 1]) | values).items() if v is not ...}
        text = json.dumps(value, ensure_ascii=False).encode() + b"\n"
        changed = [*lines[: line - 1], text, *lines[line:]]
        return changed if line == len(lines) else signed(changed)

    return edit


def options(**values: Any) -> Callable[[Lines], Lines]:
    """Replace options of the game in the header and sign the file again; `...` removes one."""

    def edit(lines: Lines) -> Lines:
        merged = json.loads(lines[0])["options"] | values
        return change(1, options={k: v for k, v in merged.items() if v is not ...})(lines)

    return edit


def wrong(message: str) -> str:
    return f"expected .*, got {message}"


def other_digit(lines: Lines) -> Lines:
    last = json.loads(lines[-1])["sha256"]
    return swap(last, last[:-1] + ("0" if last[-1] != "0" else "1"), 52)(lines)


DAMAGES: dict[str, tuple[Callable[[Lines], Lines], int, str]] = {
    # lines lost, doubled, moved, joined
    "empty": (lambda x: [], 1, "the file is empty"),
    "header alone": (lambda x: x[:1], 2, "the footer is missing"),
    "no header": (lambda x: x[1:], 1, "expected format, version, .*; got move, seat, action"),
    "no footer": (lambda x: x[:-1], 52, "the footer is missing"),
    "last byte lost": (lambda x: [*x[:-1], x[-1][:-1]], 52, "cut off"),
    "cut within a move": (lambda x: [*x[:20], x[20][:9]], 21, "cut off"),
    "cut within the header": (lambda x: [x[0][:30]], 1, "cut off"),
    "a move lost": (lambda x: signed([*x[:9], *x[10:]]), 10, "move: expected 9, got 10"),
    "the last move lost": (lambda x: signed([*x[:-2], x[-1]]), 51, "not over after 49 moves"),
    "a move doubled": (lambda x: signed([*x[:9], *x[8:]]), 10, "move: expected 9, got 8"),
    "moves swapped": (lambda x: signed([*x[:9], x[10], x[9], *x[11:]]), 10, "move: expected 9, got 10"),
    "a move too many": (
        lambda x: signed([*x[:-1], b'{"move": 51, "seat": 0, "action": "R1>1"}\n', x[-1]]),
        52,
        "the match is over",
    ),
    "footer first": (lambda x: [x[0], x[-1], *x[1:-1]], 2, "not over after 0 moves"),
    "footer twice": (lambda x: [*x, x[-1]], 53, "nothing may follow"),
    "an empty line at the end": (lambda x: [*x, b"\n"], 53, "nothing may follow"),
    "an empty line within": (lambda x: signed([*x[:5], b"\n", *x[5:]]), 6, "no JSON"),
    "two records in one file": (lambda x: [*x, *x], 53, "nothing may follow"),
    "something after the last line": (lambda x: [*x, b" "], 53, "nothing may follow"),
    "a line feed lost": (lambda x: [*x[:3], x[3][:-1], *x[4:]], 4, "no JSON: Extra data"),
    # bytes and JSON
    "not UTF-8": (lambda x: [*x[:3], x[3].replace(b"seat", b"se\xffat"), *x[4:]], 4, "codec can't decode"),
    "UTF-16": (lambda x: ["".join(map(bytes.decode, x)).encode("utf-16")], 1, ""),
    "a byte order mark": (lambda x: [b"\xef\xbb\xbf" + x[0], *x[1:]], 1, "no JSON"),
    "zeros": (lambda x: [b"\0" * 4096], 1, "cut off"),
    "a zero byte": (swap("seat", "se\0at", 4), 4, "no JSON"),
    "line ends of Windows": (lambda x: signed([line.replace(b"\n", b"\r\n") for line in x]), 1, "no spaces"),
    "a space too many": (swap(": 3,", ":  3,", 4), 4, "no spaces"),
    "an escape": (swap('"random"', '"r\\u0061ndom"', 1), 1, "no spaces, escapes"),
    "a brace lost": (swap("}", "", 4), 4, "no JSON"),
    "a list": (lambda x: [x[0], b"[1, 2]\n", *x[2:]], 2, r"expected a JSON object, got \[1, 2\]"),
    "a number alone": (lambda x: [b"7\n"], 1, "expected a JSON object, got 7"),
    "a key twice": (swap('"move": 3,', '"move": 3, "move": 3,', 4), 4, "a key stands twice"),
    "a key twice in the options": (swap('"deal"', '"deal": 1, "deal"', 1), 1, "a key stands twice"),
    "NaN": (swap(": 3,", ": NaN,", 4), 4, "NaN is no number"),
    "infinity": (swap(": 3,", ": -Infinity,", 4), 4, "-Infinity is no number"),
    "a float beyond all": (swap(": 3,", ": 1e999,", 4), 4, "1e999 is not finite"),
    "a number of many digits": (swap(": 3,", f": {'9' * 5000},", 4), 4, "a number of 5000 digits"),
    "too deep": (lambda x: [b'{"a": ' * 100_000 + b"\n"], 1, "recursion"),
    "too deep in lists": (lambda x: [b"[" * 100_000 + b"\n"], 1, "recursion"),
    # a move
    "an overflow not marked": (lambda x: swap('*"', '"', _starred(x))(x), 0, r"action: expected .*>.\*, got"),
    "an overflow marked that was none": (swap('"}', '*"}', 2), 2, r"action: expected B1>2, got B1>2\*"),
    "an overflow marked twice": (lambda x: swap('*"', '**"', _starred(x))(x), 0, "is no action"),
    "another seat": (change(5, seat=0), 5, "seat: expected 2, got 0"),
    "a seat as text": (change(5, seat="2"), 5, wrong("2")),
    "a seat as float": (change(5, seat=2.0), 5, wrong("2.0")),
    "a seat as truth value": (change(4, seat=True), 4, wrong("True")),
    "a seat of no table": (change(5, seat=-1), 5, wrong("-1")),
    "a huge seat": (change(5, seat=2**64), 5, wrong(str(2**64))),
    "a move's number as float": (change(5, move=4.0), 5, wrong("4.0")),
    "a move's number as null": (change(5, move=None), 5, wrong("None")),
    "no such card": (change(5, action="X7>1"), 5, "X7>1 is no action"),
    "no such cauldron": (change(5, action="R7>4"), 5, "R7>4 is no action"),
    "an action as number": (change(5, action=3), 5, "action: expected a text, got 3"),
    "an action as list": (change(5, action=["R7>1"]), 5, "action: expected a text"),
    "an action that breaks lines": (change(5, action="R7>1\n"), 5, r"R7>1\\n' is no action"),
    "a key missing": (change(5, seat=...), 5, "expected move, seat, action in this order; got move, action"),
    "a key too many": (change(5, why="?"), 5, "got move, seat, action, why"),
    "keys in another order": (swap('"move": 4, "seat": 2', '"seat": 2, "move": 4', 5), 5, "got seat, move, action"),
    # the header
    "another format": (change(1, format="chess"), 1, "format: expected poison_env match, got chess"),
    "a later version": (change(1, version=2), 1, "version: expected 1, got 2"),
    "a version as text": (change(1, version="1"), 1, "version: expected 1, got 1"),
    "an unknown game": (change(1, game="bridge-v0"), 1, "no game 'bridge-v0'"),
    "an unknown version of the game": (change(1, game="poison-v9"), 1, "there is poison-v0"),
    "a game as list": (change(1, game=["poison-v0"]), 1, "expected a game's id"),
    "options as list": (change(1, options=[]), 1, "expected a game's id and its options"),
    "an unknown option": (options(bones=1), 1, "bones"),
    "an option left out": (options(recall=...), 1, "options: expected"),
    "an option that is not resolved": (options(deal=None), 1, "options: expected"),
    "an option as float": (options(num_rounds=1.0), 1, "whole number"),
    "an option as truth value": (options(num_rounds=True), 1, "whole number"),
    "an option of the wrong type": (options(handicaps=5), 1, "the game cannot be made"),
    "a deck of very many cards": (options(deck="R1x99999999999999999999"), 1, "the game cannot be made"),
    "a deck of a very long number": (options(deck="R1x" + "9" * 9999), 1, "the game cannot be made"),
    "a constructor's other arguments": (options(game_id="x", self=1), 1, "the game cannot be made"),
    "more seats": (options(num_seats=5, handicaps=[0] * 5), 1, "agents: expected a list of 5 names"),
    "another reward": (options(reward="relative"), 52, "returns: expected"),
    "a handicap": (options(handicaps=[0, 1, 0, 0]), 52, "points: expected"),
    "more rounds": (options(num_rounds=2), 52, "not over after 50 moves"),
    "another dealer": (options(first_dealer=1), 2, ""),
    "a seed as number": (change(1, seed=7), 1, "seed: expected a decimal number below .* as a text, got 7"),
    "a seed below 0": (change(1, seed="-7"), 1, "seed: expected"),
    "a seed with zeros": (change(1, seed="07"), 1, "seed: expected"),
    "a seed too large": (change(1, seed=str(2**64)), 1, "seed: expected"),
    "a seed in other digits": (change(1, seed="\u0667"), 1, "seed: expected"),
    "a seed with a line end": (change(1, seed="7\n"), 1, "seed: expected"),
    "a play seed as number": (change(1, play_seed=0), 1, "play_seed: expected"),
    "a match below 0": (change(1, match=-1), 1, "match: expected"),
    "a match as truth value": (change(1, match=False), 1, "match: expected"),
    "names as text": (change(1, agents="abcd"), 1, "agents: expected a list"),
    "too few names": (change(1, agents=["a", "b", "c"]), 1, "agents: expected a list of 4 names"),
    "a name as number": (change(1, agents=["a", "b", "c", 4]), 1, "agents: expected printable"),
    "a name that clears the screen": (change(1, agents=["a", "b", "c", "\x1b[2J"]), 1, "agents: expected printable"),
    "a name that turns the line": (change(1, agents=["a", "b", "c", "\u202e"]), 1, "agents: expected printable"),
    "a very long name": (change(1, agents=["a", "b", "c", "d" * 201]), 1, "at most 200"),
    "cards as text": (change(1, cards="R7"), 1, "cards: expected lists"),
    "cards as list": (change(1, cards=[1, 2]), 1, "cards: expected lists"),
    "cards as floats": (change(1, cards=[[1.0] * 50]), 1, "cards: expected lists"),
    "no cards": (change(1, cards=[[]]), 1, "cards: expected"),
    "cards that are not the deck": (change(1, cards=[[0] * 50]), 1, "not exactly the deck"),
    "cards of huge numbers": (change(1, cards=[[2**64 + k for k in range(50)]]), 1, "cards: expected"),
    "a header's key missing": (change(1, agents=...), 1, "in this order"),
    "a header's key too many": (change(1, hint=1), 1, "in this order"),
    # the footer, and what only the sum can tell
    "other points": (change(52, points=[1, 2, 3, 4]), 52, "points: expected"),
    "points as floats": (swap("[6,", "[6.0,", 52), 52, r"points: expected \[6, .*got \[6.0,"),
    "other placements": (change(52, placements=[0, 0, 0, 0]), 52, "placements: expected"),
    "other returns": (change(52, returns=[0.0, 0.0, 0.0, 0.0]), 52, "returns: expected"),
    "another number of moves": (change(52, moves=49), 52, "moves: expected 50, got 49"),
    "a footer's key missing": (change(52, placements=...), 52, "in this order"),
    "no sum": (change(52, sha256=...), 52, "in this order"),
    "another sum": (other_digit, 52, "sha256: expected"),
    "another name": (swap("random", "cheater", 1), 52, "sha256: expected"),
    "another play seed": (swap('"play_seed": "0"', '"play_seed": "1"', 1), 52, "sha256: expected"),
    "another match": (swap('"match": 0', '"match": 1', 1), 52, "sha256: expected"),
}


def _starred(lines: Lines) -> int:
    return next(number for number, line in enumerate(lines, 1) if b"*" in line)


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_record_is_refused_with_line_and_reason(tmp_path: Path, whole: Lines, name: str) -> None:
    edit, line, reason = DAMAGES[name]
    path = tmp_path / "match.jsonl"
    path.write_bytes(b"".join(edit(whole)))
    with pytest.raises(RecordError) as caught:
        record.read(path)
    found = re.fullmatch(rf"{re.escape(str(path))}: line (\d+): (.+)", str(caught.value))
    assert found, str(caught.value)
    assert int(found[1]) == (line or _starred(whole))
    assert re.search(reason, found[2]), found[2]
    assert len(found[2]) < 600


def test_the_record_itself_is_good(tmp_path: Path, whole: Lines) -> None:
    (tmp_path / "match.jsonl").write_bytes(b"".join(whole))
    assert len(record.read(tmp_path / "match.jsonl").actions) == 50
    assert signed(whole) == whole


def test_returns_that_differ_in_the_last_bit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    match = record_of(path, 8, num_seats=4, num_rounds=1, reward="relative")
    lines = path.read_bytes().splitlines(keepends=True)
    nudged = [float(np.nextafter(match.returns[0], 9e9)), *match.returns[1:]]
    path.write_bytes(b"".join(change(52, returns=nudged)(lines)))
    with pytest.raises(RecordError, match="line 52: returns: expected"):
        record.read(path)


def test_another_move_is_found_out_even_with_a_right_sum(tmp_path: Path, whole: Lines) -> None:
    path = tmp_path / "match.jsonl"
    kinds = sorted({json.loads(line)["action"].rstrip("*") for line in whole[1:-1]})
    generator = np.random.default_rng(0)
    for number in range(2, 52):
        played = json.loads(whole[number - 1])["action"].rstrip("*")
        other = generator.choice([kind for kind in kinds if kind != played])
        for mark in ("", "*"):
            path.write_bytes(b"".join(change(number, action=f"{other}{mark}")(whole)))
            with pytest.raises(RecordError, match=r": line \d+: "):
                record.read(path)


# --- what is no file of records, and what takes long --------------------------------------------------------------


def test_a_file_longer_than_any_match_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    path.write_bytes(b"\n" * ((8 << 20) + 1))
    with pytest.raises(RecordError, match="line 1: more than 8388608 bytes"):
        record.read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(RecordError, match="line 1: not a regular file"):
            record.read(path)


def test_no_file_is_an_operating_system_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        record.read(tmp_path / "none.jsonl")


def test_hostile_lines_are_refused_soon(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    began = time.process_time()
    for data in (
        b"[" * (8 << 20),
        b"9" * (8 << 20),
        b'"' + b"\\" * (8 << 20),
        b'{"seed": ' + b"9" * (7 << 20) + b"}\n",
    ):
        path.write_bytes(data[: 8 << 20])
        with pytest.raises(RecordError, match=": line 1: "):
            record.read(path)
    assert time.process_time() - began < 20
