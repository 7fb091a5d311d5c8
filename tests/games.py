"""All games with every option set of their tests, for what holds in any game; positions of theirs."""

from typing import Any

import numpy as np
import pytest

from poison_env.core import chance
from poison_env.core.chance import KeyArray
from poison_env.core.protocol import Game
from tests import arsenic_support, potio_support, support
from tests.support import advance, random_actions

SETS = {
    "poison-v0": support.OPTION_SETS,
    "arsenic-v0": arsenic_support.OPTION_SETS,
    "potio-v0": potio_support.POTIO_SETS,
}
CASES = {f"{game_id}, {name}": (game_id, options) for game_id, sets in SETS.items() for name, options in sets.items()}
every_case = pytest.mark.parametrize(("game_id", "options"), CASES.values(), ids=CASES)
every_game = pytest.mark.parametrize("game_id", SETS)

# A few of them, all that change what is known, for tests that take their time.
FEW = {
    name: CASES[name]
    for name in (
        *("poison-v0, three seats", "poison-v0, no recall", "poison-v0, box58, seven seats, no recall"),
        *("arsenic-v0, alone", "arsenic-v0, six seats, specials", "arsenic-v0, by flavour, two seats, specials"),
        *("potio-v0, cut off", "potio-v0, small deck, five seats", "potio-v0, tiny deck"),
    )
}
a_few_cases = pytest.mark.parametrize(("game_id", "options"), FEW.values(), ids=FEW)


def on_the_way(game: Game[Any], seeds: KeyArray) -> Any:
    """Return matches stopped each after a random part of its random moves, the start and the end included."""
    whole, state = game.deal(seeds), game.deal(seeds)
    advance(game, whole)
    depth = chance.below(chance.fold(seeds, 99), whole.moves + 1)
    while len(rows := np.flatnonzero(state.moves < depth)):
        part = state[rows]
        game.step(part, random_actions(game, part))
        state[rows] = part
    return state
