"""Same seed, same match: alone, in any row of a large batch, and in the AEC environment."""

import numpy as np
import pytest

from poison_env import make
from poison_env.adapters.aec import MatchEnv
from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from tests.potio_support import SMALL

CASES = {
    "Poison, 2": ("poison-v0", {"num_seats": 2, "num_rounds": 2}),
    "Poison, 4": ("poison-v0", {"num_rounds": 2}),
    "Poison, 6": ("poison-v0", {"num_seats": 6, "num_rounds": 2}),
    "Arsenic, 6": ("arsenic-v0", {"num_seats": 6, "specials": True}),
    "Arsenic by flavour": ("arsenic-v0", {"num_seats": 3, "draw": "flavour", "last_survivor_ends": False}),
    "Potio": ("potio-v0", {"num_seats": 3, "deck": SMALL, "max_turns": 24}),
}


@pytest.mark.parametrize(("game_id", "options"), CASES.values(), ids=CASES)
def test_a_seed_gives_one_match_alone_in_a_large_batch_and_in_the_environment(game_id, options):
    game = make(game_id, **options)
    num_seats, rows = game.num_seats, 10_000 if game_id == "poison-v0" else 500
    watched = (0, 1, rows // 2 - 1, rows - 1)
    seeds = chance.fold(np.arange(rows), 0)  # what the environment deals after reset(seed=row)
    batch = game.deal(seeds)
    alone = {row: game.deal(seeds[row : row + 1]) for row in watched}
    envs = {row: MatchEnv(game) for row in watched}
    for row, env in envs.items():
        env.reset(seed=row)
    paid = np.zeros((rows, num_seats))
    while not batch.done[list(watched)].all():
        mask, everything = game.action_mask(batch), game.observe_all(batch)
        seen = [game.observe(batch, np.full(rows, seat)) for seat in range(num_seats)]
        for row, env in envs.items():
            match, mover = alone[row], int(batch.to_move[row])
            assert any(env.truncations.values()) == batch.truncated[row]
            if batch.done[row]:
                continue
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
            if any(env.infos[env.agent_selection]["action_mask"]):
                env.step(actions[row])
            assert game.step(alone[row], actions[row : row + 1])[0].tolist() == paid[row].tolist()
            assert game.points(alone[row])[0].tolist() == game.points(batch)[row].tolist()
            assert game.points(env._state)[0].tolist() == game.points(batch)[row].tolist()
    for row, env in envs.items():
        assert set(env.terminations.values()) == {not batch.truncated[row]}
        assert env._state.equals(batch[row])
        assert alone[row].equals(batch[row])
