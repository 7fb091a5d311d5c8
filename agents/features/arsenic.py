"""Inputs for Arsenic."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.features.encoding import Encoded
from poison_env.core import chance
from poison_env.core.layout import Observation
from poison_env.core.protocol import BoolArray
from poison_env.games.arsenic import Arsenic
from poison_env.games.arsenic.scones import COUNTS, DOSES, FLAVOURS, IN_FLAVOUR, KINDS, SPECIAL, in_flavour

SORTS = IN_FLAVOUR  # sorts of slots in a flavour, as many as slots, so that outputs can be numbered like actions
FRESH, RETURNED, OTHER, KNOWN = 0, 1, 2, 3  # KNOWN + dose; OTHER: a known special scone, else what a spoon sent back
ROOMS = 9  # doses that fit into one's cup, told apart up to 8

# [special scones, what is known of a slot, put back]: the sort of the slot
_SORT_OF = np.zeros((2, KINDS + 1, 4), np.int64)
_SORT_OF[:, 0] = [[FRESH, RETURNED, OTHER, RETURNED], [FRESH, RETURNED, FRESH, RETURNED]]
_SORT_OF[:, 1:] = np.array([KNOWN, KNOWN + 1, KNOWN + 2, KNOWN + 3, OTHER])[:, None]


class ArsenicFeatures:
    """For Arsenic: what is left of each flavour, doses to expect, what each player has, what fits into one's cup.

    Of the slots of a flavour about which a seat knows the same one is offered, and without special scones the flavours
    stand in order of the doses to expect of them: outputs stand for flavour and sort of slot.
    """

    name = "arsenic-1"

    def __init__(self, game: Arsenic) -> None:
        self._game = game
        self._whole = np.bincount(in_flavour(game.specials), minlength=KINDS)
        self._words = np.arange(game.num_draws, game.num_actions)
        self._sorts = SORTS if game.by_slot else 1
        seats, sorts = game.num_seats, self._sorts
        flavours = FLAVOURS * (2 * KINDS + sorts + seats + 3)
        self._scales = np.repeat([2, 2, 6, 6, 1], [KINDS, KINDS, sorts, seats, 2])
        self._spread = chance.bits(chance.as_keys(0), 0, len(self._scales))[0].view(np.int64)  # tells counts apart
        # phase, turn, shuffled; eight numbers a seat; sugars, room, room for the scone in question; it; words
        self.size = flavours + 4 + seats + 1 + 8 * seats + 4 + 2 * ROOMS + KINDS + 1 + sorts + len(self._words)

    def encode(self, observation: Observation, action_mask: BoolArray) -> Encoded:
        """Encode observations (N, F) with their masks (N, A)."""
        game, size = self._game, len(observation)
        dose_of, count_of = DOSES.reshape(FLAVOURS, KINDS), COUNTS.reshape(FLAVOURS, KINDS)
        one = np.arange(size)

        def section(name: str) -> npt.NDArray[Any]:
            return game.layout.decode(observation, name)

        cups, in_cups = section("known_cups"), section("cups")  # (N, P, 6, 5), (N, P, 6)
        sort_of, number, slot, unseen = self._box(section)
        expected = (unseen * dose_of).sum(axis=2) / np.maximum(unseen.sum(axis=2), 1)  # (N, 6) doses

        drawn, scone = section("drawn")[:, 0], section("drawn_scone")[:, 0]
        at = np.maximum(drawn - 1, 0)
        flavour, place = np.divmod(at, IN_FLAVOUR) if game.by_slot else (at, at)
        of_flavour = (np.arange(FLAVOURS) == flavour[:, None]) & (drawn > 0)[:, None]
        own = cups[:, 0, :, SPECIAL:], of_flavour[..., None]
        counts = np.concatenate(
            (unseen, section("kept"), number, in_cups.transpose(0, 2, 1), *own), axis=2, dtype=np.int64
        )

        # Flavours in order; without special scones they differ in nothing else than these counts.
        if game.specials:
            order = np.broadcast_to(np.arange(FLAVOURS), expected.shape)
        else:
            order = np.lexsort((counts @ self._spread, expected), axis=1)
        rank = np.argsort(order, axis=1)
        flavours = np.concatenate([counts / self._scales, expected[..., None] / 3], axis=2, dtype=np.float32)
        flavours = flavours[one[:, None], order]

        # The players: scones, and the doses to expect in their cups.
        shown = (cups * dose_of).sum(axis=(2, 3))
        doses = shown + ((in_cups - cups.sum(axis=3)) * expected[:, None]).sum(axis=2)
        scones = in_cups.sum(axis=2)
        scones[:, 0] = (cups[:, 0] * count_of).sum(axis=(1, 2))
        sugars, room = section("sugars"), game.lethal - section("own_dose")[:, 0]
        kind = np.maximum(scone - 1, 0)
        after = room - np.where(scone > 0, dose_of[flavour, kind], 0)
        sort = sort_of[one, flavour, place if game.by_slot else 0]
        planes = (
            flavours.reshape(size, -1),
            section("phase"),
            section("turn"),
            section("shuffled"),
            section("alive"),
            section("stopped"),
            section("spoons"),
            sugars / 3,
            section("owed") / 2,
            scones / 10,
            (scones - scones[:, :1]) / 5,
            doses / game.lethal,
            sugars[:, :1] == np.arange(4),
            np.clip(room, 0, ROOMS - 1)[:, None] == np.arange(ROOMS),
            np.clip(after, 0, ROOMS - 1)[:, None] == np.arange(ROOMS),
            scone[:, None] == np.arange(KINDS + 1),
            (sort[:, None] == np.arange(self._sorts)) & (drawn > 0)[:, None],
            action_mask[:, self._words],
        )
        inputs = np.concatenate(planes, axis=1, dtype=np.float32)
        words = np.broadcast_to(self._words, (size, len(self._words)))
        slots = (self._sorts * np.arange(FLAVOURS)[:, None] + slot)[one[:, None], order]  # (N, 6, sorts)
        action_of = np.concatenate([slots.reshape(size, -1), words], axis=1)
        outputs = self._sorts * rank[:, :, None] + sort_of
        output_of = np.concatenate([outputs.reshape(size, -1), words], axis=1)
        mask = np.take_along_axis(action_mask, action_of, axis=1)
        mask[:, : game.num_draws] &= number[one[:, None], order].reshape(size, -1) > 0
        return Encoded(inputs, mask, action_of, output_of)

    def _box(self, section: Callable[[str], npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], ...]:
        """Return the sorts of the slots (N, 6, slots), of each sort the number and one slot (N, 6, sorts).

        And last how many scones of each kind one has not seen, (N, 6, 5). Drawing by flavour there is one slot.
        """
        unseen = self._whole - section("known_cups").sum(axis=1)
        if not self._game.by_slot:
            number = section("box")[..., None]
            return np.zeros_like(number), number, np.zeros_like(number), unseen
        known = section("known_slots").reshape(-1, FLAVOURS, IN_FLAVOUR)
        sort_of = _SORT_OF[int(self._game.specials), known, section("put_back").reshape(known.shape)]
        there = section("box").reshape(known.shape) > 0
        is_sort = (sort_of[:, :, None] == np.arange(SORTS)[:, None]) & there[:, :, None]  # (N, 6, sorts, slots)
        unseen = unseen - (known[..., None] == np.arange(1, KINDS + 1)).sum(axis=2)
        return sort_of, is_sort.sum(axis=3), is_sort.argmax(axis=3), unseen
