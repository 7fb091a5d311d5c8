"""TorchRL's own PettingZoo wrapper and checker over the AEC environment, and a short training run."""

import numpy as np
import pytest
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import MarlGroupMapType, check_env_specs
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss

from poison_env import poison_v0
from poison_env.core import chance

GROUP = "agents"
SEATS = (2, 3, 4, 5, 6)


def env_of(seats: int, groups: MarlGroupMapType = MarlGroupMapType.ALL_IN_ONE_GROUP) -> PettingZooWrapper:
    return PettingZooWrapper(
        env=poison_v0.env(num_seats=seats, num_rounds=1, reward="relative", scaled=True),
        group_map=groups,
        use_mask=True,
        categorical_actions=True,
    )


def mover(rollout: TensorDict) -> torch.Tensor:
    """Return who moved at each step, (T,)."""
    mask = rollout[GROUP, "mask"]
    assert torch.equal(mask.sum(dim=1), torch.ones(len(mask), dtype=torch.int64))
    return mask.int().argmax(dim=1)


def core_rewards(env: PettingZooWrapper, rollout: TensorDict, seed: int) -> np.ndarray:
    """Play the rollout's actions on the core; return what each step paid, (T, P)."""
    game = env._env.game
    state = game.deal(chance.fold(seed, 0))
    actions = rollout[GROUP, "action"].gather(1, mover(rollout)[:, None])[:, 0].numpy()
    paid = np.concatenate([game.step(state, action[None]) for action in actions])
    assert state.done[0]
    return paid


def since_last_action(rewards: torch.Tensor, movers: torch.Tensor) -> torch.Tensor:
    """Return what each step's mover earned up to its next move or the end, (T,), from rewards (T, P)."""
    earned, open_until_now = torch.zeros(len(rewards)), torch.zeros(rewards.shape[1])
    for step in reversed(range(len(rewards))):
        open_until_now += rewards[step]
        earned[step] = open_until_now[movers[step]]
        open_until_now[movers[step]] = 0
    return earned


def returns(rewards: torch.Tensor, movers: torch.Tensor) -> torch.Tensor:
    """Return what each step's mover earned from there to the end, (T,)."""
    to_come = rewards.flip(0).cumsum(0).flip(0)
    return to_come.gather(1, movers[:, None])[:, 0]


@pytest.mark.parametrize("groups", [MarlGroupMapType.ALL_IN_ONE_GROUP, MarlGroupMapType.ONE_GROUP_PER_AGENT])
@pytest.mark.parametrize("seats", SEATS)
def test_torchrl_finds_nothing_wrong_with_the_environment(seats: int, groups: MarlGroupMapType) -> None:
    check_env_specs(env_of(seats, groups))


@pytest.mark.parametrize("seats", SEATS)
def test_masked_random_actions_play_a_match_to_its_end_and_pay_what_the_core_pays(seats: int) -> None:
    env = env_of(seats)
    for seed in range(3):
        torch.manual_seed(seed)
        first = env.reset(seed=seed)
        rollout = env.rollout(1000, policy=env.rand_action, auto_reset=False, tensordict=first)
        assert rollout["next", "done"][-1].all()
        assert not rollout["next", "done"][:-1].any()
        paid = rollout["next", GROUP, "reward"][..., 0].numpy()
        assert paid == pytest.approx(core_rewards(env, rollout, seed), abs=1e-5)


def test_what_a_mover_earned_up_to_its_next_move_sums_to_what_it_earned_since_its_first() -> None:
    env = env_of(4)
    torch.manual_seed(0)
    rollout = env.rollout(1000, policy=env.rand_action)
    rewards, movers = rollout["next", GROUP, "reward"][..., 0], mover(rollout)
    pieces = since_last_action(rewards, movers)
    for seat in range(4):
        first = int(torch.argmax((movers == seat).int()))
        assert float(pieces[movers == seat].sum()) == pytest.approx(float(rewards[first:, seat].sum()), abs=1e-4)


def test_a_masked_policy_learns_by_ppo_on_decisions_of_all_seats() -> None:
    """One policy plays all seats; each decision is a row: what its seat saw, did, and earned from there on."""
    torch.set_num_threads(1)  # more cost much on a busy machine
    torch.manual_seed(0)
    env = env_of(3)
    env.set_seed(0)
    game = env._env.game
    features, actions = game.layout.size, game.num_actions
    network = nn.Sequential(nn.Linear(features, 64), nn.Tanh(), nn.Linear(64, actions))
    actor = ProbabilisticActor(
        TensorDictModule(network, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        out_keys=["action"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(nn.Sequential(nn.Linear(features, 64), nn.Tanh(), nn.Linear(64, 1)), in_keys=["observation"])
    loss_module = ClipPPOLoss(actor, critic, entropy_coeff=0.01)
    optimizer = torch.optim.Adam(loss_module.parameters(), lr=1e-3)

    def act(tensordict: TensorDict) -> TensorDict:
        seen = tensordict[GROUP]
        choice = actor(
            TensorDict(
                {"observation": seen["observation", "observation"], "action_mask": seen["action_mask"]}, seen.batch_size
            )
        )
        tensordict[GROUP, "action"] = choice["action"]
        tensordict[GROUP, "action_log_prob"] = choice["action_log_prob"]
        return tensordict

    before = [parameter.detach().clone() for parameter in actor.parameters()]
    losses = []
    for _ in range(3):
        rows = []
        for _ in range(4):
            with torch.no_grad():
                rollout = env.rollout(1000, policy=act)
            movers = mover(rollout)
            own = rollout[GROUP][torch.arange(len(movers)), movers]
            earned = returns(rollout["next", GROUP, "reward"][..., 0], movers)[:, None]
            rows.append(
                TensorDict(
                    {
                        "observation": own["observation", "observation"],
                        "action_mask": own["action_mask"],
                        "action": own["action"],
                        "action_log_prob": own["action_log_prob"],
                        "value_target": earned,
                    },
                    len(movers),
                )
            )
        batch = torch.cat(rows)
        with torch.no_grad():
            batch["advantage"] = batch["value_target"] - critic(batch.select("observation"))["state_value"]
        assert batch["action_mask"].gather(1, batch["action"][:, None]).all()
        for _ in range(2):
            found = loss_module(batch)
            loss = found["loss_objective"] + found["loss_critic"] + found["loss_entropy"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
    assert np.isfinite(losses).all()
    assert any(not torch.equal(old, new) for old, new in zip(before, actor.parameters(), strict=True))
