"""Facts of Potio: how long matches are, what random players earn, how often a zone explodes; bounds, and limits."""

import numpy as np
import pytest

from poison_env import scripted
from poison_env.core import chance
from poison_env.core.protocol import decisions
from poison_env.games.potio import Potio
from tests.potio_support import POTIO_SETS
from tests.support import advance

# seats: turns, points of a seat, explosions and the share of stalemates, means of 20,000 random matches
RANDOM_PLAY = {
    2: (71.2, 50.2, 1.84, 0.003),
    3: (67.3, 31.0, 1.51, 0.000),
    4: (63.8, 21.4, 1.25, 0.000),
    5: (60.6, 15.7, 1.03, 0.000),
}
ROUNDING = (0.05, 0.05, 0.005, 0.0005)
# seats: mean turns of matches among greedy players, 5,000 matches
GREEDY_PLAY = {2: 51.3, 3: 48.5, 4: 46.3, 5: 44.5}
every_option_set = pytest.mark.parametrize("options", POTIO_SETS.values(), ids=POTIO_SETS)


@pytest.mark.parametrize("num_seats", RANDOM_PLAY)
def test_random_matches_are_as_long_and_earn_as_much_as_they_should(num_seats):
    game = Potio(num_seats=num_seats)
    state = game.deal(chance.fold(4, np.arange(2_000)))
    advance(game, state)
    assert not state.truncated.any()
    stalemates = (state.pile_size > 0) | (state.centre_size > 0)
    figures = (state.turns, state.scores.mean(axis=1), state.explosions, stalemates)
    for counted, fact, rounding in zip(figures, RANDOM_PLAY[num_seats], ROUNDING, strict=True):
        assert abs(counted.mean() - fact) < 4 * counted.std() / len(counted) ** 0.5 + rounding


@pytest.mark.parametrize("num_seats", GREEDY_PLAY)
def test_greedy_matches_are_as_long_as_they_should_be(num_seats):
    game = Potio(num_seats=num_seats)
    state, greedy = game.deal(chance.fold(5, np.arange(200))), scripted.load("greedy")
    while len(rows := np.flatnonzero(~state.done)):
        actions = np.zeros(200, np.int64)
        actions[rows] = greedy.act(decisions(game, state, rows))
        game.step(state, actions)
    turns = state.turns
    assert abs(turns.mean() - GREEDY_PLAY[num_seats]) < 4 * turns.std() / len(turns) ** 0.5 + 0.05
    assert 30 <= turns.min() <= turns.max() <= 70


@every_option_set
def test_returns_are_within_their_bounds_and_sums(options):
    game = Potio(**options)
    state = game.deal(chance.fold(6, np.arange(100)))
    earned = advance(game, state)
    low, high = game.return_bounds
    assert low <= earned.min() <= earned.max() <= high
    if game.return_sum is not None:
        np.testing.assert_allclose(earned.sum(axis=1), game.return_sum, atol=1e-9)
