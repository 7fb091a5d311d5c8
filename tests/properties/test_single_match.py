"""A match alone, in a batch of one, takes a shorter way through the code; it must be the same match."""

from typing import Any

import numpy as np
import pytest

from poison_env import make
from poison_env.core.errors import IllegalActionError
from tests.games import every_case
from tests.support import arrays, many_keys, random_actions

ROWS = 4
EVERY = 9  # moves between two looks at all that is illegal


@every_case
def test_each_row_of_a_batch_is_the_match_played_alone(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    batch = game.deal(many_keys(ROWS, 7))
    alone = [batch[row] for row in range(ROWS)]
    for move in range(game.max_moves):
        if batch.done.all():
            break
        mask, actions = game.action_mask(batch), random_actions(game, batch)
        seat = move * 3 % game.num_seats  # at times the mover, at times another
        seen = game.observe(batch, np.full(ROWS, seat))
        for row, match in enumerate(alone):
            assert mask[row].tolist() == game.action_mask(match)[0].tolist()
            alone_seen = game.observe(match, np.array([seat]))
            assert alone_seen.dtype == seen.dtype == np.int16
            assert seen[row].tolist() == alone_seen[0].tolist()
            assert not any(np.shares_memory(alone_seen, array) for array in arrays(match).values())
        paid = game.step(batch, actions)
        for row, match in enumerate(alone):
            assert paid[row].tolist() == game.step(match, actions[row : row + 1])[0].tolist()
            assert batch[row].equals(match)


@every_case
def test_an_illegal_action_is_refused_alone_as_in_a_batch(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    match = game.deal(many_keys(1, 8))
    while not match.done[0]:
        before, pair = match.copy(), match[[0, 0]]
        illegal = np.flatnonzero(~game.action_mask(match)[0]) if match.moves[0] % EVERY == 0 else []
        for action in illegal:
            with pytest.raises(IllegalActionError) as alone:
                game.step(match, np.array([action]))
            with pytest.raises(IllegalActionError) as together:
                game.step(pair, np.array([action, action]))
            assert str(together.value) == str(alone.value)
        assert match.equals(before)
        game.step(match, random_actions(game, match))


@every_case
def test_a_match_that_is_over_stays_as_it_is(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    match = game.deal(many_keys(1, 9))
    while not match.done[0]:
        game.step(match, random_actions(game, match))
    before = match.copy()
    assert not game.action_mask(match).any()
    assert game.step(match, np.array([0])).tolist() == [[0.0] * game.num_seats]
    assert match.equals(before)
