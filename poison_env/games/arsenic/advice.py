"""Two reference opponents for Arsenic. They act on whole batches and see no more than an observation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core.choice import best_legal
from poison_env.core.protocol import BoolArray, Decisions, FloatArray, IntArray
from poison_env.games.arsenic.game import Arsenic
from poison_env.games.arsenic.options import DRAW, EAT, PASS, RETURN, SHUFFLE, SPOON, STOP, WORDS
from poison_env.games.arsenic.scones import DOSES, FLAVOUR_OF_SLOT, FLAVOURS, KINDS, MOONS, SLOTS, in_flavour

_DOUBT = 0.6  # doses more to expect of a scone that somebody else has put back


@dataclass(frozen=True)
class _Seen:
    """What an observation says, N decisions."""

    dose: IntArray  # (N,) in one's own cup
    sugars: IntArray  # (N,)
    scones: IntArray  # (N, P) of the living, own seat first; -1 for the dead
    eater: IntArray  # (N,) whose turn it is, in seats from one's own
    drawn: IntArray  # (N,) doses of the scone in question as far as one knows it, else 0
    deadly: BoolArray  # (N,) eating it kills
    expected: FloatArray  # (N, draws) doses to expect of each draw


class ArsenicCautious:
    """Eats little poison.

    Draws where it expects the fewest doses. Returns two doses and more, and what would kill, while sugar lasts. Stops
    as soon as three doses could kill and no sugar is left, or one dose could and there is one sugar. Keeps its spoon
    for the player who has the most scones.
    """

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions."""
        game = arsenic_rules(decisions)
        seen = _look(game, decisions.observation)
        room = game.lethal - seen.dose
        stop = ((seen.sugars == 0) & (room <= 3)) | ((seen.sugars == 1) & (room <= 1))
        back = seen.deadly | (seen.drawn >= 2)
        eater = seen.scones[np.arange(len(seen.eater)), seen.eater]
        return _choose(game, decisions, seen, stop, back, eater == seen.scones.max(axis=1))


class ArsenicGreedy:
    """Eats much.

    Draws where it expects the fewest doses. Returns only what would kill. Stops when no sugar is left and one dose
    could kill, or two could and nobody has more scones. Uses its spoon against the first who would overtake it.
    """

    def act(self, decisions: Decisions) -> IntArray:
        """Return (N,) legal actions."""
        game = arsenic_rules(decisions)
        seen = _look(game, decisions.observation)
        room = game.lethal - seen.dose
        ahead = seen.scones[:, 0] == seen.scones.max(axis=1)
        stop = (seen.sugars == 0) & ((room <= 1) | (ahead & (room <= 2)))
        eater = seen.scones[np.arange(len(seen.eater)), seen.eater]
        return _choose(game, decisions, seen, stop, seen.deadly, eater >= seen.scones[:, 0])


def _look(game: Arsenic, observation: npt.NDArray[np.int16]) -> _Seen:
    def section(name: str) -> npt.NDArray[np.int64]:
        return game.layout.decode(observation, name).astype(np.int64)

    known = section("known_cups")  # (N, P, 6, 5)
    dose_of = DOSES.reshape(FLAVOURS, KINDS).astype(np.int64)
    raw = (known[:, 0] * dose_of).sum(axis=(1, 2))
    drawn, flavour = section("drawn_scone")[:, 0], np.maximum(section("drawn")[:, 0] - 1, 0)
    if game.by_slot:
        flavour = FLAVOUR_OF_SLOT[flavour]
    kind = np.maximum(drawn - 1, 0)
    doses = np.where(drawn > 0, dose_of[flavour, kind], 0)
    moon = MOONS.reshape(FLAVOURS, KINDS)
    held = (known[:, 0] * moon).sum(axis=(1, 2))
    moons = held + (moon[flavour, kind] & (drawn > 0))
    alive = section("alive") > 0
    return _Seen(
        dose=section("own_dose")[:, 0],
        sugars=section("sugars")[:, 0],
        scones=np.where(alive, section("cups").sum(axis=2), -1),
        eater=section("turn").argmax(axis=1),
        drawn=doses,
        deadly=(raw + doses >= game.lethal) | (moons == 2),
        # A second moon is as good as a lethal dose.
        expected=_expected(game, known.sum(axis=1), section, dose_of + game.lethal * moon * held[:, None, None]),
    )


def _expected(game: Arsenic, eaten: IntArray, section: Any, dose_of: IntArray) -> FloatArray:
    """Return the doses to expect of each draw, (N, draws): what is known, else the mean of what is not.

    Args:
        eaten: (N, 6, 5) scones in cups as far as they are known.
        dose_of: (N, 6, 5) what each scone would do.
    """
    whole = np.bincount(in_flavour(game.specials), minlength=KINDS)
    if not game.by_slot:
        unseen = whole - eaten
        mean: FloatArray = (unseen * dose_of).sum(axis=2) / np.maximum(unseen.sum(axis=2), 1)
        return mean
    slots = section("known_slots")  # (N, 42)
    one_hot = slots.reshape(-1, FLAVOURS, SLOTS // FLAVOURS)[..., None] == np.arange(1, KINDS + 1)
    unseen = whole - eaten - one_hot.sum(axis=2)
    mean = (unseen * dose_of).sum(axis=2) / np.maximum(unseen.sum(axis=2), 1)
    others = mean[:, FLAVOUR_OF_SLOT] + _DOUBT * (section("put_back") > 0)
    scone = np.arange(len(slots))[:, None], FLAVOUR_OF_SLOT, np.maximum(slots - 1, 0)
    result: FloatArray = np.where(slots > 0, dose_of[scone], others)
    return result


def _choose(
    game: Arsenic, decisions: Decisions, seen: _Seen, stop: BoolArray, back: BoolArray, spoon: BoolArray
) -> IntArray:
    """Choose among what is legal: in each phase one word is wanted, and draws by the doses to expect."""
    wishes = np.zeros((len(decisions), len(WORDS)))
    wishes[:, STOP] = np.where(stop, 100.0, -100.0)
    wishes[:, SHUFFLE] = -200.0
    wishes[:, EAT] = np.where(back, -1.0, 1.0)
    wishes[:, RETURN] = 0.0
    wishes[:, SPOON] = np.where(spoon, 1.0, -1.0)
    wishes[:, PASS] = 0.0
    values = wishes[:, game.words_of]
    values[:, game.words_of == DRAW] = -seen.expected
    return best_legal(values, decisions.action_mask)


def arsenic_rules(decisions: Decisions) -> Arsenic:
    """Return the rules of a question about Arsenic."""
    assert isinstance(decisions.game, Arsenic)  # the table of scripted agents asks these about no other game
    return decisions.game
