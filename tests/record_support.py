"""What the tests of damaged records share: a record to damage, and the right sum for what was done to it."""

import hashlib
import json
from pathlib import Path
from typing import Any

from poison_env import make, play, record, scripted
from poison_env.record import RecordedMatch, Recorder

Lines = list[bytes]


def record_of(path: Path, seed: int, **options: Any) -> RecordedMatch:
    game, recorder = make("poison-v0", **options), Recorder()
    play(game, [scripted.load("random")] * game.num_seats, [seed], recorder=recorder)
    (match,) = recorder.records([seed], ["random"] * game.num_seats)
    record.write(path, match)
    return match


def signed(lines: Lines) -> Lines:
    """Put the right sum in the footer, as somebody who knows the format would."""
    footer = json.loads(lines[-1])
    footer["sha256"] = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
    return [*lines[:-1], json.dumps(footer, ensure_ascii=False).encode() + b"\n"]
