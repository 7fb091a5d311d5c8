"""The single-agent environment: Gymnasium's and Stable-Baselines3's checkers, credit, episodes, input."""

import json
import warnings

import gymnasium
import numpy as np
import pytest
import stable_baselines3.common.env_checker
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import poison_env
from poison_env import make, scripted
from poison_env.adapters.solo import SoloEnv
from poison_env.core import chance
from poison_env.core.errors import ActionTypeError, IllegalActionError, LifeCycleError, OptionError, UnknownNameError
from tests.games import every_game

ID = "poison_env/Poison-v0"
SEATS = [2, 3, 4, 5, 6]


class Opening(spaces.Discrete):
    """Actions of which the one that begins a match is always drawn, as the checkers know no mask."""

    def sample(self, mask=None, probability=None):
        return np.int64(0)


def random_action(info, generator):
    return int(generator.choice(np.flatnonzero(info["action_mask"])))


def play_episode(env, generator, **reset):
    """Play to the end; return observations, rewards and infos."""
    observation, info = env.reset(**reset)
    log = [(observation, 0.0, info)]
    over = False
    while not over:
        observation, reward, terminated, truncated, info = env.step(random_action(info, generator))
        log.append((observation, reward, info))
        over = terminated or truncated
    return log


@pytest.mark.parametrize("num_seats", SEATS)
@pytest.mark.parametrize("options", [{}, {"flat": True}, {"scaled": True}], ids=str)
def test_the_public_checkers_have_nothing_to_say(num_seats, options):
    # The checker plays one action that it draws without a mask and wants the episode to go on: so here every action is
    # legal at first.
    free = {"deck": "R1x30 B1x30 P1x30 G1x30", "first_dealer": num_seats - 1, "seat": 0}
    env = gymnasium.make(
        ID, num_seats=num_seats, num_rounds=1, opponents="greedy", on_illegal="truncate", **free, **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
        if options.get("flat"):  # its other checks are for images and nested dicts
            stable_baselines3.common.env_checker.check_env(env.unwrapped)


@pytest.mark.parametrize("options", [{}, {"flat": True}, {"scaled": True}], ids=str)
@pytest.mark.parametrize(("name", "rules"), [("Arsenic", {"num_seats": 1, "draw": "flavour"}), ("Potio", {})])
def test_the_public_checkers_have_nothing_to_say_of_other_games(name, rules, options):
    env = gymnasium.make(f"poison_env/{name}-v0", seat=0, on_illegal="truncate", **rules, **options).unwrapped
    env.action_space = Opening(env.game.num_actions)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)
        if options.get("flat"):
            stable_baselines3.common.env_checker.check_env(env)


@pytest.mark.parametrize("name", ["Poison", "Arsenic", "Potio"])
def test_the_spec_survives_json(name):
    spec = gymnasium.make(f"poison_env/{name}-v0", num_seats=5, opponents=["greedy", "random"], reward="win").spec
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(spec.to_json()))
    assert again.unwrapped.game == make(f"{name.lower()}-v0", num_seats=5, reward="win")
    assert json.loads(spec.to_json())["id"] == f"poison_env/{name}-v0"


@pytest.mark.parametrize("num_seats", SEATS)
@pytest.mark.parametrize("reward", ["points", "relative", "win"])
def test_the_learners_seat_is_paid_exactly_what_the_rules_pay_it(num_seats, reward):
    game = make("poison-v0", num_seats=num_seats, num_rounds=2, reward=reward)
    env, generator = SoloEnv(game, opponents=["random", "greedy"]), np.random.default_rng(1)
    for episode in range(8):
        log = play_episode(env, generator, seed=episode)
        state, seat = env._table._state, log[0][2]["seat"]
        replayed = game.deal(chance.fold(episode, 0))
        paid = np.zeros(num_seats)
        for event in game.history(state)[0]:
            assert replayed.to_move[0] == event // game.num_actions
            paid += game.step(replayed, np.array([event % game.num_actions]))[0]
        assert sum(reward for _, reward, _ in log) == paid[seat]
        assert log[-1][2]["placement"] == game.placements(replayed)[0, seat]


def test_a_step_ends_at_the_learners_next_decision():
    env, generator = SoloEnv(num_rounds=1), np.random.default_rng(2)
    for episode in range(5):
        log = play_episode(env, generator, seed=episode)
        hands = [int(env.game.layout.decode(entry[0]["observation"], "own_hand").sum()) for entry in log]
        assert hands == list(range(hands[0], -1, -1))
        assert all(entry[2]["action_mask"].any() for entry in log[:-1])
        assert not log[-1][2]["action_mask"].any()


def test_episodes_follow_from_the_seed_and_differ():
    def starts(env):
        first = [env.reset(seed=7), env.reset(), env.reset()]
        return [(*observation["observation"], info["seat"]) for observation, info in first]

    env, generator = SoloEnv(), np.random.default_rng(3)
    before = starts(env)
    play_episode(env, generator)
    env.reset()
    env.step(random_action({"action_mask": env.action_masks()}, generator))
    assert starts(env) == before == starts(SoloEnv())
    assert len(set(before)) == 3


def test_an_environment_without_a_seed_is_not_always_the_same():
    assert len({tuple(SoloEnv().reset()[0]["observation"]) for _ in range(4)}) > 1


def test_seats_and_opponents_are_drawn_for_each_match():
    env = SoloEnv(opponents=["random", "greedy"])
    env.reset(seed=1)
    seats = {env.reset()[1]["seat"] for _ in range(40)}
    assert seats == {0, 1, 2, 3}
    assert {env.reset()[1]["seat"] for _ in range(3)} <= seats
    assert {SoloEnv(seat=2).reset(seed=seed)[1]["seat"] for seed in range(10)} == {2}


def test_opponents_are_asked_in_their_seats_and_never_in_the_learners():
    asked = []

    class Watching:
        def act(self, decisions):
            asked.append((int(decisions.seats[0]), bool(decisions.first[0])))
            return scripted.load("random").act(decisions)

    env, generator = SoloEnv(opponents=Watching(), seat=1, num_rounds=1), np.random.default_rng(4)
    play_episode(env, generator, seed=5)
    assert {seat for seat, _ in asked} == {0, 2, 3}
    assert [seat for seat, first in asked if first] == sorted(
        {seat for seat, _ in asked}, key=[s for s, _ in asked].index
    )


@every_game
def test_hidden_cards_do_not_change_what_the_learner_sees(game_id):
    env = SoloEnv(game_id, seat=0)
    observation, info = env.reset(seed=9)
    table = env._table
    before = table._state.copy()
    table._state = env.game.resample(before, table.seats, np.array([77], np.uint64))
    assert not np.array_equal(env.game.observe_all(before), env.game.observe_all(table._state))
    seen, mask = table.observe(env._row)
    assert np.array_equal(seen[0], observation["observation"])
    assert np.array_equal(mask[0], info["action_mask"])


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (-1, IllegalActionError),
        (48, IllegalActionError),
        (2.0, ActionTypeError),
        (None, ActionTypeError),
        (True, ActionTypeError),
        ("3", ActionTypeError),
        ([3], ActionTypeError),
    ],
)
def test_impossible_input_is_refused_and_changes_nothing(action, error):
    env = SoloEnv()
    env.reset(seed=1)
    before = env._table._state.copy()
    with pytest.raises(error):
        env.step(action)
    assert env._table._state.equals(before)
    env.step(int(np.argmax(env.action_masks())))


def test_an_illegal_action_names_the_card_and_changes_nothing():
    env = SoloEnv()
    _, info = env.reset(seed=1)
    illegal = int(np.argmin(info["action_mask"]))
    before = env._table._state.copy()
    with pytest.raises(IllegalActionError, match=env.game.action_label(illegal)):
        env.step(illegal)
    assert env._table._state.equals(before)


def test_an_illegal_action_can_end_the_episode_instead():
    env = SoloEnv(on_illegal="truncate")
    _, info = env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(int(np.argmin(info["action_mask"])))
    assert (reward, terminated, truncated, info["illegal_action"]) == (0.0, False, True, True)
    with pytest.raises(LifeCycleError, match="is over"):
        env.step(0)


def test_numbers_of_any_whole_type_are_actions():
    env = SoloEnv()
    for kind in (int, np.int8, np.int64, np.uint16, np.asarray):
        env.reset(seed=1)
        env.step(kind(int(np.argmax(env.action_masks()))))


def test_calls_at_the_wrong_time_are_refused():
    env = SoloEnv(render_mode="ansi")
    with pytest.raises(LifeCycleError, match="has not begun"):
        env.step(0)
    with pytest.raises(LifeCycleError):
        env.render()


def test_the_picture_shows_the_learners_hand_alone():
    env = SoloEnv(render_mode="ansi", seat=2)
    env.reset(seed=1)
    text = env.render()
    assert text.count("cards") == 3
    assert SoloEnv().render() is None


@pytest.mark.parametrize(
    "options",
    [{"on_illegal": "repair"}, {"opponents": []}, {"seat": 4}, {"render_mode": "human"}, {"num_seats": 9}],
    ids=str,
)
def test_options_that_cannot_be_are_refused(options):
    with pytest.raises(OptionError):
        SoloEnv(**options)


def test_an_unknown_opponent_is_refused():
    with pytest.raises(UnknownNameError, match="random, cautious, greedy"):
        SoloEnv(opponents="gready")


def test_options_beside_a_game_that_is_there_are_refused():
    with pytest.raises(OptionError, match="num_seats"):
        SoloEnv(make("poison-v0"), num_seats=3)


@every_game
def test_nothing_that_is_returned_shares_memory(game_id):
    env, generator = SoloEnv(game_id), np.random.default_rng(5)
    log = play_episode(env, generator, seed=2)
    arrays = [array for entry in log[-20:] for array in (*entry[0].values(), entry[2]["action_mask"])]
    arrays.append(env.action_masks())
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def test_importing_the_package_is_all_it_takes():
    assert ID in gymnasium.registry
    poison_env.adapters.registration.register_with_gymnasium()  # again does nothing
