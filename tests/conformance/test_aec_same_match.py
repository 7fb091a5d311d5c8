"""Same seed, same match: alone, in any row of a large batch, and in the AEC environment."""

import numpy as np
import pytest

from poison_env import poison_v0
from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.games.poison import Poison

ROWS = 10_000
WATCHED = (0, 1, 4_095, 7_777, 9_999)


@pytest.mark.parametrize("num_seats", [2, 4, 6])
def test_a_seed_gives_one_match_alone_in_a_large_batch_and_in_the_environment(num_seats):
    game = Poison(num_seats=num_seats, num_rounds=2)
    seeds = chance.fold(np.arange(ROWS), 0)  # what the environment deals after reset(seed=row)
    batch = game.deal(seeds)
    alone = {row: game.deal(seeds[row : row + 1]) for row in WATCHED}
    envs = {row: poison_v0.env(num_seats=num_seats, num_rounds=2) for row in WATCHED}
    for row, env in envs.items():
        env.reset(seed=row)
    paid = np.zeros((ROWS, num_seats))
    while not batch.done.all():
        mask, everything = game.action_mask(batch), game.observe_all(batch)
        seen = [game.observe(batch, np.full(ROWS, seat)) for seat in range(num_seats)]
        for row, env in envs.items():
            match, mover = alone[row], int(batch.to_move[row])
            assert env.agent_selection == f"player_{mover}"
            assert env.infos[env.agent_selection]["action_mask"].tolist() == mask[row].tolist()
            assert game.action_mask(match)[0].tolist() == mask[row].tolist()
            assert env.state().tolist() == game.observe_all(match)[0].tolist() == everything[row].tolist()
            for seat, agent in enumerate(env.possible_agents):
                expected = seen[seat][row].tolist()
                assert env.observe(agent)["observation"].tolist() == expected
                assert game.observe(match, np.array([seat]))[0].tolist() == expected
            assert list(env.rewards.values()) == paid[row].tolist()
        actions = uniform_legal(mask, chance.fold(seeds, batch.moves))
        paid = game.step(batch, actions)
        for row, env in envs.items():
            env.step(actions[row])
            assert game.step(alone[row], actions[row : row + 1])[0].tolist() == paid[row].tolist()
            assert game.points(alone[row])[0].tolist() == game.points(batch)[row].tolist()
            assert game.points(env._state)[0].tolist() == game.points(batch)[row].tolist()
    for row, env in envs.items():
        assert all(env.terminations.values())
        assert env._state.equals(batch[row])
        assert alone[row].equals(batch[row])
