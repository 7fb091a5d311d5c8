"""One match as a file of JSON lines: a header, a line for each move in the notation of people, a footer.

    {"format": "poison_env match", "version": 1, "game": "poison-v0", "options": {...}, "seed": "7", "agents": [...]}
    {"move": 17, "seat": 2, "action": "R7>2*"}
    {"moves": 200, "points": [...], "placements": [...], "returns": [...], "sha256": "..."}

Moves count from 1; `*` marks a move that made its mover take cards. Seeds are decimal strings, as readers in other
languages lose digits of large numbers. The header may also have `play_seed` and `match`, from which the agents'
randomness came, and `cards`, the given orders of cards that the first rounds were dealt from. The sum is over all bytes
before the footer. Reading replays the match through the engine: what does not agree with it, to the byte, is refused
with its line. Nothing in a file is ever executed.
"""

from poison_env.record.file import read, write
from poison_env.record.match import HasGivenDeals, RecordedMatch, from_moves, notation, replay
from poison_env.record.recorder import Recorder

__all__ = ["HasGivenDeals", "RecordedMatch", "Recorder", "from_moves", "notation", "read", "replay", "write"]
