"""The text of Arsenic for a seat shows what the seat knows."""

from typing import Any

import numpy as np
import pytest

from poison_env.games.arsenic import Arsenic
from poison_env.games.arsenic.options import TURN
from tests.arsenic_support import OPTION_SETS, at_random_depths, many_keys, words

every_option = pytest.mark.parametrize("options", OPTION_SETS.values(), ids=OPTION_SETS)


@every_option
def test_the_text_for_a_seat_shows_what_it_knows_and_no_more(options: dict[str, Any]) -> None:
    game = Arsenic(**options)
    state = at_random_depths(game, many_keys(12, 2), 90)
    for seat in range(game.num_seats):
        world = game.resample(state, np.full(12, seat), many_keys(12, 3))
        for row in np.flatnonzero(~state.done).tolist():
            assert game.text(world, row, seat) == game.text(state, row, seat)
            assert f"player_{seat}" in game.text(state, row)


@every_option
def test_text_and_picture_offer_what_a_turn_may_begin_with(options: dict[str, Any]) -> None:
    game = Arsenic(**options)
    state = at_random_depths(game, many_keys(12, 4), 90)
    for row in np.flatnonzero((state.phase == TURN) & ~state.done).tolist():
        legal = words(game, state[row])
        told = [word for word in ("stop", "shuffle", "draw") if word in legal]
        offer = told[0] if len(told) == 1 else " or ".join([", ".join(told[:-1]), told[-1]])
        assert f" may {offer}   lethal" in game.text(state, row)
        assert f">{offer}{', the box was shuffled' if state.shuffled[row] else ''}<" in game.drawing(state, row)


def test_a_text() -> None:
    game = Arsenic(num_seats=2)
    state = game.deal_from(np.tile([0, 0, 1, 1, 2, 3, -1], 6))
    for label in ("draw:2.6", "return", "pass", "draw:0.3", "eat", "pass", "draw:1.5"):
        numbers = {game.action_label(number): number for number in range(game.num_actions)}
        game.step(state, np.array([numbers[label]]))
    assert game.text(state, seat=0).splitlines() == [
        "arsenic-v0   player_0 looks at 1d2   lethal dose 15",
        "  flavour 0: ? ? . ? ? ? .",
        "  flavour 1: ? ? ? ? 2 ? .",
        "  flavour 2: ? ? ? ? ? 3' .",
        "  flavour 3: ? ? ? ? ? ? .",
        "  flavour 4: ? ? ? ? ? ? .",
        "  flavour 5: ? ? ? ? ? ? .",
        "> player_0  0 scones | eats | 2 sugars, a spoon | cup empty (dose 0)",
        "  player_1  1 scones | eats | 3 sugars, a spoon | cup 0?",
    ]
    assert "looks at a scone of flavour 1" in game.text(state, seat=1)
    assert "cup 0d1 (dose 1)" in game.text(state, seat=1)
