"""What may have been drawn in a match of Arsenic, for a seat that remembers every look it took.

Where which scone lay is a chain of arrangements for each flavour: one holds from a shuffle to the next, which permutes
what has not been eaten. What the seat saw rules some out. Going forward through the chain each arrangement is weighed,
going back one is drawn after another; whole chains of all flavours are drawn until the cups agree with who died of
which bite. The first that do are a draw from all that do, as likely as chance made them.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.errors import PositionError
from poison_env.core.protocol import BoolArray, FloatArray
from poison_env.games.arsenic.dealing import ArsenicState
from poison_env.games.arsenic.options import DRAW, EAT, PASS, RETURN, SHUFFLE, SPOON
from poison_env.games.arsenic.scones import DOSES, FLAVOURS, IN_FLAVOUR, KINDS, MOONS, SPECIAL
from poison_env.games.arsenic.worlds import TABLES, ArsenicWorlds

_FIRST_TRIES, _MOST_TRIES = 1 << 4, 1 << 12  # chains drawn at a time
_ROUNDS = 1 << 12  # more would take a minute


@dataclass
class _Stretch:
    """The time from one shuffle of a flavour to the next."""

    eaten: tuple[int, ...]  # places whose scones had been eaten when it began
    fits: BoolArray  # (R,) arrangements that agree with what the seat saw
    draws: list[tuple[int, int]] = field(default_factory=list)  # number of the draw in the match, and place


class ArsenicHistories(ArsenicWorlds):
    """Draws what may have been drawn for one set of options."""

    def _another_history(self, state: ArsenicState, seat: int, key: KeyArray) -> npt.NDArray[np.int64]:
        """Return the kinds of all draws of a match that a seat cannot tell from this one, (draws,)."""
        chains, bites = self._chains(state, seat)
        weights = [_weigh(chain, self._kinds) for chain in chains]
        eaters = np.where(state.eaters[:, : len(bites)] == seat, -1, state.eaters[:, : len(bites)])
        fatal = self._fatal_bites(state, np.zeros(1, np.int64))[:, : len(bites)]
        kinds = np.zeros((0, 0), np.int64)
        tries = _FIRST_TRIES
        for number in range(_ROUNDS):
            kinds = np.zeros((tries, int(state.draws[0])), np.int64)
            for flavour, chain in enumerate(chains):
                words = chance.bits(chance.fold(key, number, flavour), np.arange(len(chain)), tries)
                _draw_back(chain, weights[flavour], self._kinds, chance.uniform(words), kinds)
            sorts = kinds[:, [draw for draw, _ in bites]] + np.array(
                [KINDS * flavour for _, flavour in bites], np.int64
            )
            moons = MOONS[sorts] if self.specials else None
            agrees = self._agrees(DOSES[sorts].astype(np.int64), moons, eaters, fatal)
            if agrees.any():
                found: npt.NDArray[np.int64] = kinds[int(np.argmax(agrees))]
                return found
            tries = min(4 * tries, _MOST_TRIES)
        raise PositionError(f"in {_ROUNDS} rounds no match was found that seat {seat} cannot tell from this one")

    @property
    def _kinds(self) -> npt.NDArray[np.int8]:
        """The arrangements of a flavour's scones, (R, n)."""
        return TABLES[self.specials].kinds

    def _chains(self, state: ArsenicState, seat: int) -> tuple[list[list[_Stretch]], list[tuple[int, int]]]:
        """Return the stretches of each flavour, and of each bite its draw and flavour.

        Where draws are by flavour the box is mixed before each, so the next place that is not eaten stands for any.
        """
        kinds, everything = self._kinds, np.ones(len(self._kinds), bool)
        chains = [[_Stretch((), everything)] for _ in range(FLAVOURS)]
        eaten: list[list[int]] = [[] for _ in range(FLAVOURS)]
        bites: list[tuple[int, int]] = []
        draw, flavour, place, chewing = -1, 0, 0, False
        steps = state.events[0, : state.moves[0]].tolist()
        for event in (*steps, None):
            mover, action = divmod(event, self.num_actions) if event is not None else (-1, -1)
            word = int(self.words_of[action]) if event is not None else -1
            # A bite goes down when nobody is left to use a spoon: at the next move that is neither SPOON nor PASS.
            swallowed = word not in (SPOON, PASS) if event is not None else state.drawn[0] < 0
            if chewing and swallowed:
                eaten[flavour].append(place)
                bites.append((draw, flavour))
                chewing = False
            if word == SHUFFLE:
                for each in range(FLAVOURS):
                    _mix(chains[each], eaten[each], everything)
            elif word == DRAW:
                draw += 1
                if self.by_slot:
                    flavour, place = divmod(action, IN_FLAVOUR)
                else:
                    flavour, place = action, len(eaten[action])
                    _mix(chains[flavour], eaten[flavour], everything)
                stretch = chains[flavour][-1]
                stretch.draws.append((draw, place))
                if mover == seat:
                    stretch.fits = stretch.fits & (kinds[:, place] == state.shown[0, draw])
            elif word == RETURN and flavour == FLAVOURS - 1:  # nobody can have returned the window
                stretch = chains[flavour][-1]
                stretch.fits = stretch.fits & (kinds[:, place] != SPECIAL)
            chewing = word == EAT or (chewing and word != SPOON)
        return chains, bites


def _mix(chain: list[_Stretch], eaten: list[int], everything: BoolArray) -> None:
    """Begin a stretch, unless nobody has drawn in the last one."""
    if chain[-1].draws:
        chain.append(_Stretch(tuple(eaten), everything))


def _groups(stretch: _Stretch, kinds: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """Return a number for what had been eaten when a stretch began, (R,): a shuffle leads to any of the same."""
    code = np.zeros(len(kinds), np.int64)
    for place in stretch.eaten:
        code = code * KINDS + kinds[:, place]
    return np.unique(code, return_inverse=True)[1].reshape(-1)


def _weigh(chain: list[_Stretch], kinds: npt.NDArray[np.int8]) -> list[FloatArray]:
    """Return for each stretch how likely each arrangement is, (R,), with all that the seat has seen until its end."""
    weights: list[FloatArray] = []
    likely = np.full(len(kinds), 1 / len(kinds))
    for number, stretch in enumerate(chain):
        if number:
            group = _groups(stretch, kinds)
            likely = (np.bincount(group, likely) / np.bincount(group))[group]
        likely = likely * stretch.fits
        likely = likely / likely.sum()
        weights.append(likely)
    return weights


def _draw_back(
    chain: list[_Stretch],
    weights: list[FloatArray],
    kinds: npt.NDArray[np.int8],
    words: FloatArray,
    found: npt.NDArray[np.int64],
) -> None:
    """Draw a chain of arrangements from its end for each column of `words`, (stretches, N) in [0, 1).

    Args:
        found: (N, draws) filled with the kinds that were drawn.
    """
    group, wanted = np.zeros(len(kinds), np.int64), np.zeros(words.shape[1], np.int64)
    for number in reversed(range(len(chain))):
        order = np.argsort(group, kind="stable")
        upto = np.cumsum(weights[number][order])
        last = np.searchsorted(group[order], wanted, side="right") - 1
        first = np.searchsorted(group[order], wanted, side="left")
        begin = np.where(first > 0, upto[first - 1], 0.0)
        mark = np.minimum(begin + words[number] * (upto[last] - begin), np.nextafter(upto[last], 0))
        picked = order[np.searchsorted(upto, mark, side="right")]
        for draw, place in chain[number].draws:
            found[:, draw] = kinds[picked, place]
        group = _groups(chain[number], kinds)
        wanted = group[picked]
