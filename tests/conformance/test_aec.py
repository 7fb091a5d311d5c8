"""The AEC environment: masks, rewards, seeds and the life of an episode."""

import random

import numpy as np
import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from poison_env import poison_v0
from poison_env.core import chance
from poison_env.core.errors import LifeCycleError, OptionError, UnknownNameError
from tests.conformance.aec_support import (
    SEAT_COUNTS,
    advance,
    advance_to_end_of_match,
    choose,
    everything,
    match,
)

every_seat_count = pytest.mark.parametrize("num_seats", SEAT_COUNTS)
every_reward = pytest.mark.parametrize("reward", ["points", "relative", "win"])


# --- masks ---


@every_seat_count
def test_the_mask_is_in_observation_and_info_and_the_games_own(num_seats):
    env = poison_v0.env(num_seats=num_seats, num_rounds=2)
    env.reset(seed=1)
    while env.agents:
        finished = any(env.terminations.values())
        expected = env.game.action_mask(env._state)[0].astype(int).tolist()
        for agent in env.agents:
            mask, info_mask = env.observe(agent)["action_mask"], env.infos[agent]["action_mask"]
            assert mask.dtype == info_mask.dtype == np.int8
            moves = agent == env.agent_selection and not finished
            assert mask.tolist() == info_mask.tolist() == (expected if moves else [0] * env.game.num_actions)
        assert finished or any(expected)
        env.step(choose(env))


def test_gymnasium_can_sample_with_the_mask_as_it_is():
    env = poison_v0.env(num_rounds=1)
    env.reset(seed=2)
    for agent in env.agent_iter():
        seen, _, terminated, _, info = env.last()
        mask = info["action_mask"]
        env.step(None if terminated else env.action_space(agent).sample(mask))
        assert seen["action_mask"].tolist() == mask.tolist()


def test_agents_that_have_taken_their_last_step_see_no_legal_action():
    env = poison_v0.env(num_rounds=1)
    env.reset(seed=3)
    advance(env, env.game.max_moves + 2)
    assert env.agents == ["player_2", "player_3"]
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()


# --- rewards ---


@every_seat_count
@every_reward
def test_every_seat_is_paid_exactly_what_the_game_paid(num_seats, reward):
    env = poison_v0.env(num_seats=num_seats, reward=reward, num_rounds=3, handicaps=range(num_seats))
    for seed in range(10):
        env.reset(seed=seed)
        alone = env.game.deal(chance.fold(seed, 0))
        owed = np.zeros(num_seats)
        delivered = dict.fromkeys(env.possible_agents, 0.0)
        summed = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            _, paid, *_ = env.last(observe=False)
            delivered[agent] += paid
            action = choose(env, seed)
            if action is not None:
                owed += env.game.step(alone, np.array([action]))[0]
            env.step(action)
            for receiver, amount in env.rewards.items():
                summed[receiver] += amount
        assert alone.done[0]
        assert list(delivered.values()) == owed.tolist()
        assert list(summed.values()) == owed.tolist()
        assert any(delivered.values())


@every_reward
def test_the_parallel_view_pays_every_seat_what_the_game_paid(reward):
    env = poison_v0.env(num_seats=3, reward=reward, num_rounds=2)
    parallel = turn_based_aec_to_parallel(env)
    parallel.reset(seed=4)
    alone = env.game.deal(chance.fold(4, 0))
    owed, delivered = np.zeros(3), dict.fromkeys(env.possible_agents, 0.0)
    while parallel.agents:
        action = choose(env)
        owed += env.game.step(alone, np.array([action]))[0]
        _, paid, *_ = parallel.step({env.agent_selection: action})
        for agent, amount in paid.items():
            delivered[agent] += amount
    assert list(delivered.values()) == owed.tolist()


def test_rewards_and_ends_are_plain_numbers_and_truth_values():
    env = poison_v0.env(num_rounds=1)
    env.reset(seed=5)
    while env.agents:
        _, paid, terminated, truncated, _ = env.last()
        assert type(paid) is float
        assert {type(value) for value in env.rewards.values()} == {float}
        assert type(terminated) is type(truncated) is bool
        assert {type(v) for v in (*env.terminations.values(), *env.truncations.values())} == {bool}
        env.step(choose(env))


# --- the life of an episode ---


@every_seat_count
def test_every_agent_has_exactly_one_terminal_last_with_its_reward(num_seats):
    env = poison_v0.env(num_seats=num_seats, num_rounds=1)
    env.reset(seed=6)
    final = []
    for agent in env.agent_iter():
        _, paid, terminated, truncated, _ = env.last()
        if terminated:
            final.append((agent, paid))
        assert not truncated
        env.step(choose(env))
    assert [agent for agent, _ in final] == env.possible_agents
    assert [-int(paid) for _, paid in final] == env.game.points(env._state)[0].tolist()
    assert env.agents == []
    assert env.rewards == env.terminations == env.truncations == env.infos == env._cumulative_rewards == {}


@pytest.mark.parametrize("call", ["step", "observe", "last", "state", "agent_iter", "render"])
def test_nothing_works_before_reset(call):
    env = poison_v0.env(render_mode="ansi")
    arguments = {"step": (0,), "observe": ("player_0",)}.get(call, ())
    with pytest.raises(LifeCycleError, match=r"call reset\(\) first"):
        getattr(env, call)(*arguments)


@pytest.mark.parametrize("action", [0, None, 2.5])
def test_a_step_after_the_end_is_an_error(action):
    env = poison_v0.env(num_rounds=1)
    env.reset(seed=7)
    match(env)
    before = everything(env)
    with pytest.raises(LifeCycleError, match=r"the match is over .*call reset\(\)"):
        env.step(action)
    with pytest.raises(LifeCycleError, match=r"the match is over .*call reset\(\)"):
        env.last()
    assert everything(env) == before
    assert list(env.agent_iter()) == []
    assert env.state_space.contains(env.state())  # the final position can still be seen
    assert env.observation_space("player_0").contains(env.observe("player_0"))


def test_an_unknown_agent_cannot_observe():
    env = poison_v0.env()
    env.reset(seed=8)
    with pytest.raises(UnknownNameError, match="no agent 'player_9'"):
        env.observe("player_9")


@pytest.mark.parametrize("steps", [1, 7, 51, 52, 53], ids=lambda n: f"after {n} steps")
def test_a_reset_at_any_time_leaves_no_trace(steps):
    env = poison_v0.env(num_rounds=1)  # 50 cards: 51 to 53 steps end amid the last steps
    env.reset(seed=9)
    advance(env, steps)
    assert env.agents
    env.reset(seed=10)
    fresh = poison_v0.env(num_rounds=1)
    fresh.reset(seed=10)
    assert everything(env) == everything(fresh)
    assert match(env) == match(fresh)


def test_close_may_be_called_at_any_time_and_twice():
    env = poison_v0.env()
    env.close()
    env.reset(seed=11)
    env.close()
    env.close()
    assert env.last()[0] is not None


# --- seeds ---


def test_one_environment_reseeded_amid_an_episode_gives_the_same_matches():
    env = poison_v0.env(num_rounds=1)

    def two_matches():
        env.reset(seed=12)
        first = match(env)
        env.reset()
        return first, match(env)

    expected = two_matches()
    for steps in (1, 23, 52):
        env.reset()
        advance(env, steps, salt=3)
        assert two_matches() == expected


def test_matches_after_a_seeded_reset_follow_a_fixed_sequence():
    env, other = poison_v0.env(num_rounds=1), poison_v0.env(num_rounds=1)
    dealt = set()
    for episode in range(4):
        seed = 13 if episode == 0 else None
        env.reset(seed=seed)
        other.reset(seed=seed)
        assert env._state.equals(env.game.deal(chance.fold(13, episode)))
        assert env._state.equals(other._state)
        dealt.add(tuple(env.state().tolist()))
        match(env)
        advance(other, 9 * episode)  # how far an episode was played makes no difference to the next
    assert len(dealt) == 4


def test_different_seeds_give_different_matches():
    env = poison_v0.env()
    dealt = set()
    for seed in range(50):
        env.reset(seed=seed)
        dealt.add(tuple(env.state().tolist()))
    assert len(dealt) == 50


def test_environments_that_were_never_seeded_differ():
    dealt = set()
    for _ in range(5):
        env = poison_v0.env()
        for _ in range(3):
            env.reset()
            dealt.add(tuple(env.state().tolist()))
    assert len(dealt) == 15


def test_global_random_states_are_neither_read_nor_written():
    def run(seed):
        env = poison_v0.env(num_rounds=1)
        env.reset(seed=seed)
        transcript = match(env)
        env.reset()
        return transcript, env.state().tolist()

    np.random.seed(1)  # noqa: NPY002  # the global state is what is tested
    random.seed(1)
    before = np.random.get_state()[1].tolist(), random.getstate()  # noqa: NPY002  # the global state is what is watched
    first = run(14)
    poison_v0.env().reset()
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before  # noqa: NPY002  # the global state is what is watched
    np.random.seed(2)  # noqa: NPY002  # the global state is what is watched
    random.seed(2)
    assert run(14) == first


@pytest.mark.parametrize("seed", [0, 2**64 - 1, np.int64(15), np.uint64(2**63)])
def test_whole_numbers_of_any_kind_are_seeds(seed):
    env, same = poison_v0.env(), poison_v0.env()
    env.reset(seed=seed)
    same.reset(seed=int(seed))
    assert everything(env) == everything(same)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, True, "1", [1], np.array([1, 2]), np.float64(3)], ids=repr)
def test_anything_else_is_no_seed_and_changes_nothing(seed):
    env = poison_v0.env()
    env.reset(seed=16)
    advance(env, 5)
    before = everything(env)
    with pytest.raises(OptionError, match=r"seed: expected a whole number in \[0, 2\*\*64\), got"):
        env.reset(seed=seed)
    assert everything(env) == before


def test_options_survive_resets():
    options = {"num_seats": 5, "reward": "win", "recall": "none", "handicaps": (1, 2, 3, 4, 5), "deck": "box58"}
    env = poison_v0.env(num_rounds=2, **options)
    expected = dict(env.game.options)
    for seed in (17, None, 17):
        env.reset(seed=seed, options={"num_seats": 3})
        assert env.game.options == expected
        assert env.agents == [f"player_{seat}" for seat in range(5)]
        assert env.game.points(env._state)[0].tolist() == [1, 2, 3, 4, 5]
        advance_to_end_of_match(env)
        assert sum(env.rewards.values()) == pytest.approx(1.0)
