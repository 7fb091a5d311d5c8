"""Tianshou's own PettingZoo wrapper over the AEC environment, what it pays, and a short training run.

Tianshou's `PettingZooEnv.step` returns what the last move paid to each agent, and its multi-agent algorithms take from
a transition the mover's share alone: what an agent earns by the moves of others would be lost. The moves of a round go
around the table, so that a return over as many steps as there are seats (`n_step_return_horizon=num_seats`, gamma 1)
holds all that the agent earns up to its next move, and bootstraps from what it sees there.
"""

from typing import Any

import numpy as np
import pytest
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.algorithm_base import Algorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from torch import nn

from poison_env import poison_v0
from poison_env.core import chance

SEATS = (2, 3, 4, 5, 6)


def env_of(seats: int) -> PettingZooEnv:
    return PettingZooEnv(poison_v0.env(num_seats=seats, num_rounds=1, reward="relative", scaled=True))


class QNetwork(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, outputs))

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        return self.layers(torch.as_tensor(np.asarray(obs), dtype=torch.float32)), state


def learner(env: PettingZooEnv) -> DQN:
    network = QNetwork(env.observation_space["observation"].shape[0], int(env.action_space.n))
    policy = DiscreteQLearningPolicy(model=network, action_space=env.action_space, eps_training=0.1)
    return DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=len(env.agents),
        target_update_freq=50,
    )


def random_player(env: PettingZooEnv) -> MARLRandomDiscreteMaskedOffPolicyAlgorithm:
    return MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space)


@pytest.mark.parametrize("seats", SEATS)
def test_each_step_pays_every_agent_what_the_core_paid_for_that_move(seats: int) -> None:
    env = env_of(seats)
    game = env.env.game
    for seed in range(3):
        rng = np.random.default_rng(seed)
        observation, _ = env.reset(seed=seed)
        state, done = game.deal(chance.fold(seed, 0)), False
        while not done:
            assert observation["agent_id"] == f"player_{state.to_move[0]}"
            assert observation["mask"] == game.action_mask(state)[0].tolist()
            action = int(rng.choice(np.flatnonzero(observation["mask"])))
            observation, rewards, terminated, truncated, _ = env.step(action)
            assert rewards == pytest.approx(game.step(state, np.array([action]))[0].tolist())
            done = terminated or truncated
        assert state.done[0]


@pytest.mark.parametrize("seats", SEATS)
def test_a_return_over_a_lap_holds_all_that_an_agent_earned_up_to_its_next_move(seats: int) -> None:
    env = env_of(seats)
    dispatcher = MultiAgentOffPolicyAlgorithm(algorithms=[random_player(env) for _ in env.agents], env=env)
    buffer = VectorReplayBuffer(1000, 1)
    collector = Collector[Any](dispatcher, DummyVectorEnv([lambda: env_of(seats)]), buffer)
    collector.reset()
    collector.collect(n_episode=3)
    indices = np.arange(len(buffer))
    batch = buffer[indices]
    movers = np.array([env.agent_idx[agent] for agent in batch.obs.agent_id])
    ends = np.flatnonzero(batch.terminated)
    for seat, agent in enumerate(env.agents):
        own = np.flatnonzero(movers == seat)
        paid = batch.rew[:, seat]
        expected = []
        for step in own:
            last = ends[ends >= step][0]
            following = own[(own > step) & (own <= last)]
            expected.append(paid[step : (following[0] if len(following) else last + 1)].sum())
        save, buffer._meta.rew = buffer.rew, paid  # as MARLDispatcher.dispatch_process_fn does
        found = Algorithm.compute_nstep_return(
            batch=buffer[own],
            buffer=buffer,
            indices=own,
            target_q_fn=lambda buffer, indices: torch.zeros(len(indices), 1),
            gamma=1.0,
            n_step=seats,
        ).returns.flatten()
        buffer._meta.rew = save
        assert found.tolist() == pytest.approx(expected, abs=1e-4), agent


def test_masked_dqn_trains_against_random_players() -> None:
    torch.set_num_threads(1)  # more cost much on a busy machine
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002  # Tianshou draws from NumPy's global state
    env = env_of(3)
    dqn = learner(env)
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[dqn, random_player(env), random_player(env)], env=env)
    before = [parameter.detach().clone() for parameter in dqn.policy.parameters()]
    envs = DummyVectorEnv([lambda: env_of(3) for _ in range(4)])
    collector = Collector[Any](algorithm, envs, VectorReplayBuffer(5000, 4), exploration_noise=True)
    collector.reset()
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            max_epochs=2,
            epoch_num_steps=600,
            training_collector=collector,
            collection_step_num_env_steps=200,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=64,
            multi_agent_return_reduction=lambda returns: returns[:, 0],
            verbose=False,
            show_progress=False,
        )
    )
    assert result.timing is not None
    after = list(dqn.policy.parameters())
    assert all(torch.isfinite(parameter).all() for parameter in after)
    assert any(not torch.equal(old, new) for old, new in zip(before, after, strict=True))
