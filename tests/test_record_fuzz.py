"""Whatever bytes stand in a file, reading gives a record that is the file, or RecordError with line and reason."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poison_env import record
from poison_env.core.errors import RecordError
from poison_env.record import RecordedMatch
from tests.record_support import record_of, signed

REASON = r": line \d+: ."


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RecordedMatch, bytes]:
    """A short record, for many edits."""
    path = tmp_path_factory.mktemp("small") / "match.jsonl"
    match = record_of(path, 3, num_seats=2, num_rounds=1, deck="R1x2 R3 R5 B2x2 B4 B6")
    return path, match, path.read_bytes()


def read_or_reason(path: Path) -> RecordedMatch | str:
    try:
        return record.read(path)
    except RecordError as error:
        return str(error)


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["replace", "insert", "delete", "cut", "double"]),
        st.floats(0, 1, exclude_max=True),
        st.one_of(
            st.binary(min_size=1, max_size=4), st.sampled_from([b"\n", b'"', b"{", b"}", b"0", b"-", b",", b"*"])
        ),
    ),
    min_size=1,
    max_size=4,
)


def apply(data: bytes, edits: list[tuple[str, float, bytes]]) -> bytes:
    for action, place, content in edits:
        at = int(place * len(data))
        if action == "replace":
            data = data[:at] + content + data[at + len(content) :]
        elif action == "insert":
            data = data[:at] + content + data[at:]
        elif action == "delete":
            data = data[:at] + data[at + len(content) :]
        elif action == "cut":
            data = data[:at]
        else:
            lines = data.splitlines(keepends=True)
            data = b"".join([*lines, *lines[int(place * len(lines)) :][:1]])
    return data


@settings(max_examples=400, deadline=None)
@given(edits=EDITS)
def test_edits_give_the_record_itself_or_an_error(small: tuple[Path, RecordedMatch, bytes], edits: Any) -> None:
    path, match, data = small
    edited = apply(data, edits)
    path.write_bytes(edited)
    if edited == data:
        assert record.read(path) == match
    else:
        with pytest.raises(RecordError, match=REASON):
            record.read(path)


@settings(max_examples=400, deadline=None)
@given(edits=EDITS)
def test_edits_signed_again_give_an_error_or_a_record_that_is_its_file(
    small: tuple[Path, RecordedMatch, bytes], edits: Any
) -> None:
    path, _, data = small
    lines = data.splitlines(keepends=True)
    path.write_bytes(b"".join(signed([apply(b"".join(lines[:-1]), edits), lines[-1]])))
    before = path.read_bytes()
    found = read_or_reason(path)
    if isinstance(found, RecordedMatch):
        record.write(path, found)
        assert before == path.read_bytes()
    else:
        assert re.search(REASON, found)


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=300))
def test_any_bytes_give_an_error(small: tuple[Path, RecordedMatch, bytes], data: bytes) -> None:
    path = small[0]
    path.write_bytes(data)
    with pytest.raises(RecordError, match=REASON):
        record.read(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_value_in_any_place_gives_an_error_or_a_record(
    small: tuple[Path, RecordedMatch, bytes], data: st.DataObject
) -> None:
    path, _, whole = small
    lines = whole.splitlines(keepends=True)
    number = data.draw(st.integers(0, len(lines) - 1))
    value = json.loads(lines[number])
    inner = value["options"] if number == 0 and data.draw(st.booleans()) else value
    inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(JSON)
    lines[number] = json.dumps(value).encode() + b"\n"
    path.write_bytes(b"".join(lines if number == len(lines) - 1 else signed(lines)))
    found = read_or_reason(path)
    assert isinstance(found, RecordedMatch) or re.search(REASON, found)
