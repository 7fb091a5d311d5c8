"""What is paid: over a match, exactly a function of the points."""

import numpy as np
import pytest
from hypothesis import given

from poison_env.core import chance
from poison_env.games.poison import Poison
from tests.properties.strategies import games, properties, seeds_64
from tests.support import OPTION_SETS, advance, at_random_depths, many_keys, random_play

every_option_set = pytest.mark.parametrize("name", OPTION_SETS)


@properties
@given(game=games(), seed=seeds_64)
def test_rewards_of_a_match_are_a_function_of_its_points(game: Poison, seed: int) -> None:
    state = game.deal(chance.fold(seed, np.arange(8)))
    paid = advance(game, state)
    won = game.points(state) - np.array(game.handicaps)
    if game.reward == "points":
        np.testing.assert_array_equal(-won, paid)
    elif game.reward == "relative":
        others = (won.sum(axis=1, keepdims=True) - won) / (game.num_seats - 1)
        np.testing.assert_allclose(others - won, paid, rtol=0, atol=1e-9)
        np.testing.assert_allclose(paid.sum(axis=1), 0, atol=1e-9)
    else:
        first = game.points(state) == game.points(state).min(axis=1, keepdims=True)
        np.testing.assert_array_equal(first / first.sum(axis=1, keepdims=True), paid)


@properties
@given(game=games(), seed=seeds_64)
def test_places_are_the_number_of_seats_with_fewer_points(game: Poison, seed: int) -> None:
    state = at_random_depths(game, chance.fold(seed, np.arange(5)))
    expected = [[sum(other < own for other in row) for own in row] for row in game.points(state).tolist()]
    assert game.placements(state).tolist() == expected


@every_option_set
def test_points_of_a_round_are_scored_from_the_cards_taken_in_it(name: str) -> None:
    game = Poison(**OPTION_SETS[name] | {"num_rounds": 1})
    state = game.deal(many_keys(50))
    advance(game, state)
    for row in range(50):
        points = []
        for own in state.taken[row].tolist():
            others = [pile for pile in state.taken[row].tolist() if pile is not own]
            others.remove(own)
            count = sum(n for c, n in enumerate(own[:3]) if any(pile[c] >= n for pile in others))
            points.append(count + 2 * own[3])
        assert points == (state.totals[row] - np.array(game.handicaps)).tolist()


def test_nothing_is_paid_within_a_round() -> None:
    game = Poison(num_rounds=2)
    state = game.deal(many_keys(20))
    for chosen in random_play(game, state):
        ends = game.round_ends(state)
        copied = state.copy()
        assert game.step(copied, chosen).any() == ends.any()
