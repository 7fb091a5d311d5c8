"""Files are written whole or not at all."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poison_env.core.files import write_whole


def test_text_is_written_as_utf8_with_its_line_ends(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", "já\r\n\n")
    assert (tmp_path / "a").read_bytes() == b"j\xc3\xa1\r\n\n"


def test_an_older_file_is_replaced(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", b"old and long")
    write_whole(str(tmp_path / "a"), b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("no space left"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise error

    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(type(error)):
        write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_content_is_on_the_disk_before_it_takes_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append("sync"), sync(fd))[1])
    monkeypatch.setattr(os, "replace", lambda a, b: (calls.append("replace"), replace(a, b))[1])
    write_whole(tmp_path / "a", b"new")
    assert calls == ["sync", "replace", "sync"] if os.name != "nt" else ["sync", "replace"]


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    target = tmp_path / "a"
    program = (
        "import sys; from poison_env.core.files import write_whole\n"
        "while True:\n"
        "    for letter in b'xy': write_whole(sys.argv[1], bytes([letter]) * 3_000_000)"
    )
    writer = subprocess.Popen([sys.executable, "-c", program, str(target)])
    try:
        patience = time.monotonic() + 60
        while not target.exists() and time.monotonic() < patience:
            time.sleep(0.01)
        time.sleep(0.05)
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    content = target.read_bytes()
    assert len(content) == 3_000_000
    assert set(content) in ({ord("x")}, {ord("y")})


@pytest.mark.skipif(os.name == "nt", reason="links and modes are different there")
def test_a_link_is_followed_and_the_mode_is_that_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_bytes() == b"new"
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "none" / "a", b"")
