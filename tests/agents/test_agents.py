"""Agents by name and by directory, and wrappers for policies of other kinds."""

import gymnasium
import numpy as np
import pytest
import sb3_contrib
import stable_baselines3
import torch
from gymnasium import spaces

import agents
from agents import features
from agents.neural import NeuralAgent, ValueNetwork, describe
from experiments.runs import Run
from poison_env import make, play
from poison_env.core import chance
from poison_env.core.errors import CheckpointError, IllegalActionError, UnknownNameError
from poison_env.core.protocol import decisions
from tests.games import every_game

SEEDS = chance.fold(5, np.arange(12))
SHORT = {
    "poison-v0": {"num_rounds": 1},
    "arsenic-v0": {"num_seats": 3, "draw": "flavour"},
    "potio-v0": {"num_seats": 2, "max_turns": 15},
}
every_short_game = pytest.mark.parametrize(("game_id", "options"), SHORT.items())


def network_agent(game, seed=0):
    torch.manual_seed(seed)
    encoder = features.for_game(game)
    return NeuralAgent(game, ValueNetwork(encoder.size, game.num_actions, (16,)), encoder)


def saved(path, game):
    """Write a checkpoint of an untrained network and return its run directory."""
    agent = network_agent(game)
    run = Run(path, {"seed": 0}, resume=False)
    optimizer = torch.optim.Adam(agent.network.parameters())
    run.save(7, agent.network, optimizer, describe(game, agent.encoder, (16,)))
    return path


@pytest.mark.parametrize("name", ["random", "cautious", "greedy"])
def test_scripted_agents_are_loaded_by_name(name):
    game = make("poison-v0", num_rounds=1)
    assert play(game, [agents.load(name)] * 4, SEEDS).points.shape == (12, 4)


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(UnknownNameError, match="random, cautious, greedy"):
        agents.load("grady")


@every_game
def test_a_function_is_an_agent(game_id):
    game = make(game_id)
    asked = []
    lowest = agents.FunctionAgent(lambda seen, mask: asked.append(seen.shape[1]) or mask.argmax(axis=1))
    assert (play(game, [lowest] * game.num_seats, SEEDS).moves > 0).all()
    assert set(asked) == {game.layout.size}


@every_game
def test_a_function_that_forgets_the_mask_is_refused(game_id):
    with pytest.raises(IllegalActionError, match=r"row \d+: seat"):
        play(make(game_id), [agents.FunctionAgent(lambda seen, mask: np.argmin(mask, axis=1))] * 4, SEEDS)


@every_short_game
def test_a_checkpoint_plays_as_the_agent_that_was_saved(tmp_path, game_id, options):
    game = make(game_id, **options)
    loaded = agents.load(saved(tmp_path / "run", game))
    found, expected = (play(game, [agent] * game.num_seats, SEEDS) for agent in (loaded, network_agent(game)))
    assert np.array_equal(expected.returns, found.returns)
    assert np.array_equal(expected.moves, found.moves)


def test_a_network_plays_other_lengths_and_rewards_of_its_game(tmp_path):
    loaded = agents.load(saved(tmp_path / "run", make("poison-v0", num_rounds=1, reward="relative")))
    assert play(make("poison-v0", num_rounds=2, reward="win"), [loaded] * 4, SEEDS[:2]).moves.tolist() == [100, 100]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"num_seats": 5}, "num_seats 4, not 5"),
        ({"deck": "box58", "deal": "hands4"}, "deck 'published', not 'box58'"),
        ({"colour_rule": "fixed"}, "colour_rule 'exclusive', not 'fixed'"),
        ({"recall": "none"}, "recall 'perfect', not 'none'"),
    ],
)
def test_a_network_refuses_a_game_it_was_not_trained_for(tmp_path, options, reason):
    loaded = agents.load(saved(tmp_path / "run", make("poison-v0")))
    game = make("poison-v0", **options)
    with pytest.raises(CheckpointError, match=reason):
        play(game, [loaded] * game.num_seats, SEEDS)


def damage_weights(run):
    path = next(run.glob("checkpoint-*")) / "network.safetensors"
    path.write_bytes(path.read_bytes()[:-9])


def damage_state(run):
    (next(run.glob("checkpoint-*")) / "state.json").write_text("{")


def other_layout(run):
    path = next(run.glob("checkpoint-*")) / "state.json"
    path.write_text(path.read_text().replace('"hand_sizes"', '"hands"'))


def other_size(run):
    path = next(run.glob("checkpoint-*")) / "state.json"
    path.write_text(path.read_text().replace("16\n  ]", "17\n  ]"))


def remove_weights(run):
    (next(run.glob("checkpoint-*")) / "network.safetensors").unlink()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (damage_weights, "damaged"),
        (damage_state, "damaged"),
        (other_layout, "another observation layout"),
        (other_size, "damaged"),
        (remove_weights, "network.safetensors"),
    ],
)
def test_a_damaged_checkpoint_is_refused(tmp_path, change, reason):
    run = saved(tmp_path / "run", make("poison-v0"))
    change(run)
    with pytest.raises(CheckpointError, match=reason):
        agents.load(run)


def test_a_directory_without_checkpoint_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="no checkpoint"):
        agents.load(tmp_path)


@every_short_game
def test_a_network_never_chooses_what_the_mask_forbids(game_id, options):
    game = make(game_id, **options)
    agent = network_agent(game)
    with torch.no_grad():
        agent.network.layers[-1].bias.copy_(
            torch.linspace(-1e6, 1e6, game.num_actions)
        )  # it wants the last action, always
    state = game.deal(SEEDS)
    while len(rows := np.flatnonzero(~state.done)):
        question = decisions(game, state, rows)
        chosen = agent.act(question)
        assert question.action_mask[np.arange(len(rows)), chosen].all()
        actions = np.zeros(len(state), np.int64)
        actions[rows] = chosen
        game.step(state, actions)


@every_short_game
def test_values_are_finite_exactly_where_legal_and_best_where_the_agent_goes(game_id, options):
    game = make(game_id, **options)
    agent = network_agent(game)
    state = game.deal(SEEDS)
    question = decisions(game, state, np.arange(len(state)))
    values = agent.values(question)
    assert np.array_equal(np.isfinite(values), question.action_mask)
    best = values.max(axis=1)
    assert np.array_equal(values[np.arange(len(state)), agent.act(question)], best)


class Spaces(gymnasium.Env):
    """An environment that only has spaces, which is all that a model needs to be made."""

    def __init__(self, observation_space, num_actions=48):
        self.observation_space = observation_space
        self.action_space = spaces.Discrete(num_actions)

    def action_masks(self):
        return np.ones(self.action_space.n, bool)

    def reset(self, *, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, True, False, {}


def counts(game):
    return game.layout.box()


def scaled(game):
    return game.layout.box(scaled=True)


def pair(game):
    mask = spaces.MultiBinary(game.num_actions)
    return spaces.Dict({"observation": game.layout.box(scaled=True), "action_mask": mask})


@pytest.mark.parametrize(
    ("game_id", "algorithm", "space"),
    [
        ("poison-v0", sb3_contrib.MaskablePPO, scaled),
        ("poison-v0", sb3_contrib.MaskablePPO, pair),
        ("poison-v0", stable_baselines3.PPO, scaled),
        ("poison-v0", stable_baselines3.A2C, counts),
        ("poison-v0", stable_baselines3.DQN, scaled),
        ("arsenic-v0", sb3_contrib.MaskablePPO, pair),
        ("potio-v0", stable_baselines3.DQN, scaled),
    ],
)
@pytest.mark.parametrize("deterministic", [True, False])
def test_a_stable_baselines3_model_is_an_agent_that_cannot_forget_the_mask(game_id, algorithm, space, deterministic):
    game = make(game_id, **SHORT[game_id])
    policy = "MultiInputPolicy" if space is pair else "MlpPolicy"
    model = algorithm(policy, Spaces(space(game), game.num_actions), seed=0, device="cpu")
    agent = agents.SB3Agent(model, deterministic=deterministic)
    assert (play(game, [agent] * game.num_seats, SEEDS[:4]).moves > 0).all()  # an illegal action would raise


def test_a_stable_baselines3_model_chooses_as_its_own_masked_prediction():
    game = make("poison-v0", num_rounds=1)
    model = sb3_contrib.MaskablePPO("MlpPolicy", Spaces(scaled(game)), seed=3, device="cpu")
    state = game.deal(SEEDS)
    question = decisions(game, state, np.arange(len(state)))
    own, _ = model.predict(
        game.layout.scale(question.observation), action_masks=question.action_mask, deterministic=True
    )
    assert np.array_equal(agents.SB3Agent(model).act(question), own)


def test_a_stable_baselines3_model_draws_from_its_own_masked_distribution():
    game = make("poison-v0", num_rounds=1)
    model = sb3_contrib.MaskablePPO("MlpPolicy", Spaces(scaled(game)), seed=3, device="cpu")
    state = game.deal(np.zeros(20_000, np.uint64))  # one question, many keys
    question = decisions(game, state, np.arange(len(state)))
    drawn = np.bincount(agents.SB3Agent(model, deterministic=False).act(question), minlength=48) / len(state)
    seen, _ = model.policy.obs_to_tensor(game.layout.scale(question.observation[:1]))
    with torch.no_grad():
        likely = (
            model.policy.get_distribution(seen, action_masks=question.action_mask[:1]).distribution.probs[0].numpy()
        )
    assert np.allclose(drawn, likely, atol=0.02)


def test_a_stable_baselines3_model_of_another_game_is_refused():
    game = make("poison-v0", num_rounds=1)
    model = stable_baselines3.PPO("MlpPolicy", Spaces(scaled(game)), device="cpu")
    other = make("poison-v0", num_seats=5, num_rounds=1)
    with pytest.raises(CheckpointError, match="expected observations of shape"):
        play(other, [agents.SB3Agent(model)] * 5, SEEDS)
