"""RLlib's view of a match, by RLlib's own check, its own wrapper and its own episodes."""

from typing import Any

import numpy as np
import pytest
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from poison_env import make, poison_v0
from poison_env.adapters.rllib import RLlibEnv
from poison_env.core import chance
from poison_env.core.errors import IllegalActionError, LifeCycleError

SEATS = (2, 3, 4, 5, 6)


def env_of(seats: int, **options: Any) -> RLlibEnv:
    return RLlibEnv(make("poison-v0", num_seats=seats, **options))


def random_action(env: MultiAgentEnv, agent: str, observation: dict[str, Any], rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(observation["action_mask"])))


def play(env: MultiAgentEnv, seed: int) -> tuple[MultiAgentEpisode, dict[str, float], list[int]]:
    """Play a match at random; return RLlib's episode, what each agent was paid, and the actions."""
    rng = np.random.default_rng(seed)
    observations, infos = env.reset(seed=seed)
    episode = MultiAgentEpisode(
        observation_space={agent: env.get_observation_space(agent) for agent in env.possible_agents},
        action_space={agent: env.get_action_space(agent) for agent in env.possible_agents},
        agent_to_module_mapping_fn=lambda agent, episode: "policy",
    )
    episode.add_env_reset(observations=observations, infos=infos)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    actions = []
    while not episode.is_done:
        chosen = {agent: random_action(env, agent, seen, rng) for agent, seen in observations.items()}
        actions += chosen.values()
        observations, rewards, terminateds, truncateds, infos = env.step(chosen)
        episode.add_env_step(observations, chosen, rewards, infos, terminateds=terminateds, truncateds=truncateds)
        for agent, reward in rewards.items():
            paid[agent] += reward
    return episode, paid, actions


def replay(env: MultiAgentEnv, seed: int, actions: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Play the same actions on the core; return what it paid to each seat, in all and from its first action on."""
    game = env.game if isinstance(env, RLlibEnv) else env.env.game
    state = game.deal(chance.fold(seed, 0))
    total, since_first = np.zeros(game.num_seats), np.zeros(game.num_seats)
    has_acted = np.zeros(game.num_seats, bool)
    for action in actions:
        has_acted[state.to_move[0]] = True
        paid = game.step(state, np.array([action]))[0]
        total += paid
        since_first += paid * has_acted
    assert state.done[0]
    return total, since_first


def both(seats: int, **options: Any) -> list[MultiAgentEnv]:
    return [env_of(seats, **options), PettingZooEnv(poison_v0.env(num_seats=seats, **options))]


@pytest.mark.parametrize("seats", SEATS)
def test_rllib_finds_nothing_wrong_with_the_environment(seats: int) -> None:
    for _ in range(20):  # each check plays one action drawn from the space
        check_multiagent_environments(env_of(seats))


@pytest.mark.parametrize("reward", ["points", "relative"])
@pytest.mark.parametrize("seats", SEATS)
def test_every_agent_is_paid_what_the_core_paid(seats: int, reward: str) -> None:
    for env in both(seats, num_rounds=2, reward=reward):
        for seed in range(5):
            _, paid, actions = play(env, seed)
            total, _ = replay(env, seed, actions)
            assert [paid[agent] for agent in sorted(paid)] == pytest.approx(total.tolist())


@pytest.mark.parametrize("seats", SEATS)
def test_rllibs_episode_holds_what_each_agent_earned_from_its_first_action_on(seats: int) -> None:
    for env in both(seats, num_rounds=1, reward="relative"):
        for seed in range(5):
            episode, _, actions = play(env, seed)
            _, since_first = replay(env, seed, actions)
            earned = [episode.agent_episodes[agent].get_return() for agent in sorted(env.possible_agents)]
            assert earned == pytest.approx(since_first.tolist())


def test_both_wrappers_show_the_same_match() -> None:
    ours, theirs = both(4, num_rounds=1)
    assert play(ours, 3)[2] == play(theirs, 3)[2]


def test_each_observation_lies_in_its_space_and_infos_hold_the_mask_from_reset_on() -> None:
    env = env_of(3, num_rounds=1)
    observations, infos = env.reset(seed=1)
    rng = np.random.default_rng(1)
    done = False
    while not done:
        for agent, seen in observations.items():
            assert env.get_observation_space(agent).contains(seen)
            assert np.array_equal(infos[agent]["action_mask"], seen["action_mask"])
        chosen = {agent: random_action(env, agent, seen, rng) for agent, seen in observations.items()}
        observations, _, terminateds, truncateds, infos = env.step(chosen)
        done = terminateds["__all__"] or truncateds["__all__"]
    assert set(observations) == set(env.possible_agents)
    assert terminateds == {**dict.fromkeys(env.possible_agents, True), "__all__": True}
    assert truncateds == {**dict.fromkeys(env.possible_agents, False), "__all__": False}


def test_an_action_drawn_from_the_space_of_the_agent_to_move_is_legal() -> None:
    env = env_of(4, num_rounds=1)
    observations, _ = env.reset(seed=0)
    done = False
    while not done:
        observations, _, terminateds, _, _ = env.step(
            {agent: env.get_action_space(agent).sample() for agent in observations}
        )
        done = terminateds["__all__"]


@pytest.mark.parametrize("action_dict", [{}, {"player_0": 0, "player_1": 0}, {"player_9": 0}])
def test_actions_of_others_than_the_agent_to_move_are_refused(action_dict: dict[str, int]) -> None:
    env = env_of(4)
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="expected one action"):
        env.step(action_dict)


def test_an_illegal_action_is_refused_and_changes_nothing() -> None:
    env = env_of(4)
    observations, _ = env.reset(seed=0)
    ((agent, seen),) = observations.items()
    before = env.render()
    with pytest.raises(IllegalActionError):
        env.step({agent: int(np.argmin(seen["action_mask"]))})
    assert env.render() == before


def test_stepping_before_reset_is_refused() -> None:
    with pytest.raises(LifeCycleError):
        env_of(4).step({})


def test_render_shows_the_table() -> None:
    env = env_of(4)
    env.reset(seed=0)
    assert "player" in (env.render() or "") or "seat" in (env.render() or "")
