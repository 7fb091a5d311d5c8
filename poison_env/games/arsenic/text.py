"""Positions of Arsenic as text for people."""

from typing import TYPE_CHECKING

import numpy as np

from poison_env.games.arsenic.dealing import RETURNED
from poison_env.games.arsenic.options import DRAW, SHUFFLE, STOP, TURN, WORDS
from poison_env.games.arsenic.scones import FLAVOUR_OF_SLOT, FLAVOURS, IN_FLAVOUR, KINDS, SLOTS, SPECIAL, label

if TYPE_CHECKING:  # the game imports this module
    from poison_env.core.protocol import BoolArray, IntArray
    from poison_env.games.arsenic.dealing import ArsenicState
    from poison_env.games.arsenic.game import Arsenic

_PHASES = ("may {}", "looks at {}", "may use the spoon against {}", "may shuffle")


def table(game: "Arsenic", state: "ArsenicState", row: int, seat: int | None) -> str:
    """Return a position as lines of text; with `seat`, only what that seat may see."""
    one = state[row]
    mover, turn, phase = int(one.to_move[0]), int(one.turn[0]), int(one.phase[0])
    drawn = _scone(game, one, seat) if one.drawn[0] >= 0 else ""
    if one.done[0]:
        what = "over"
    else:
        eater = f"player_{turn}, who eats {drawn}"
        named = beginning(game, game.action_mask(one)[0]) if phase == TURN else eater if mover != turn else drawn
        what = f"player_{mover} {_PHASES[phase].format(named)}"
    lines = [f"{game.id}   {what}   lethal dose {game.lethal}"]
    lines += [f"  flavour {flavour}: {_flavour(game, one, flavour, seat)}" for flavour in range(FLAVOURS)]
    places, points = game.placements(one)[0], game.points(one)[0]
    for player in range(game.num_seats):
        mark = ">" if not one.done[0] and player == mover else " "
        fate = "dead" if not one.alive[0, player] else "stopped" if one.stopped[0, player] else "eats"
        if one.done[0]:
            fate += f", place {places[player] + 1}"
        if one.owed[0, player]:
            fate += f", owes {one.owed[0, player]}"
        supply = f"{one.sugars[0, player]} sugars, {'a' if one.spoons[0, player] else 'no'} spoon"
        cup = _cup(one, player, seat)
        lines.append(f"{mark} player_{player} {points[player]:>2} scones | {fate} | {supply} | cup {cup}")
    return "\n".join(lines)


def beginning(game: "Arsenic", mask: "BoolArray") -> str:
    """Return what a turn may begin with, such as `stop, shuffle or draw`, from its legal actions (A,)."""
    legal = {*game.words_of[mask].tolist()}
    *others, last = [WORDS[word].lower() for word in (STOP, SHUFFLE, DRAW) if word in legal]
    return f"{', '.join(others)} or {last}" if others else last


def _scone(game: "Arsenic", one: "ArsenicState", seat: int | None) -> str:
    slot = int(one.drawn[0])
    if seat is None or one.knows[0, slot] >> seat & 1:
        return label(int(FLAVOUR_OF_SLOT[slot]) * KINDS + int(one.box[0, slot]) - 1)
    return f"a scone of flavour {FLAVOUR_OF_SLOT[slot]}"


def _flavour(game: "Arsenic", one: "ArsenicState", flavour: int, seat: int | None) -> str:
    """Return the slots of a flavour: `.` empty, `?` not known, else the dose; `'` put back since the last shuffle."""
    words = []
    for slot in range(flavour * IN_FLAVOUR, flavour * IN_FLAVOUR + IN_FLAVOUR):
        scone, knows = int(one.box[0, slot]), int(one.knows[0, slot])
        if not scone:
            words.append(".")
        elif not game.by_slot and seat is not None:
            words.append("?")
        elif seat is None or knows >> seat & 1:
            words.append(("*" if scone == SPECIAL + 1 else str(scone - 1)) + "'" * (knows >= RETURNED))
        else:
            words.append("?" + "'" * (knows >= RETURNED))
    if not game.by_slot:
        words.sort()
    kept = [] if seat is None else _sorts(one.kept[0, seat], flavour)
    return " ".join(words) + (f"   seen {' '.join(kept)}" if kept else "")


def _sorts(counts: "IntArray", flavour: int | None = None) -> list[str]:
    sorts = range(len(counts)) if flavour is None else range(flavour * KINDS, flavour * KINDS + KINDS)
    return [label(sort) for sort in sorts for _ in range(int(counts[sort]))]


def _cup(one: "ArsenicState", player: int, seat: int | None) -> str:
    if seat is None or seat == player:
        return (" ".join(_sorts(one.cup_scones[0, player])) or "empty") + f" (dose {max(0, int(one.doses[0, player]))})"
    counts = one.cups[0, player]
    told = [bite for bite in range(SLOTS) if one.eaters[0, bite] == player and int(one.bite_known[0, bite]) >> seat & 1]
    known = np.bincount(one.bites[0, told] // KINDS, minlength=FLAVOURS) if told else np.zeros(FLAVOURS, np.int64)
    words = [label(int(one.bites[0, bite])) for bite in told]
    words += [f"{flavour}?" for flavour in range(FLAVOURS) for _ in range(int(counts[flavour] - known[flavour]))]
    return " ".join(words) or "empty"
