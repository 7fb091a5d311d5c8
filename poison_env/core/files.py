"""Files that are written whole or not at all."""

import os
import secrets
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file so that at any moment, even after a crash, there is the old one or the new one and nothing between.

    The content goes to a temporary file in the same directory, is forced to the disk and then takes the name; text is
    written as UTF-8 with its line ends as they are. A link is followed: the file it points to is replaced.

    Raises:
        OSError: it cannot be written; an older file is untouched, and no temporary file is left.
    """
    target = Path(os.path.realpath(path))
    data = content.encode() if isinstance(content, str) else content
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)  # less the user's umask
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_directory(target.parent)


def _sync_directory(directory: Path) -> None:
    """Force a new name in a directory to the disk, where the system can open directories (Windows cannot)."""
    if os.name == "nt":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
