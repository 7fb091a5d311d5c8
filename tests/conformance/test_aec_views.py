"""What the AEC environment shows: observations in two scales, the state for critics, the table for people."""

import numpy as np
import pytest

from poison_env import make, poison_v0
from poison_env.adapters.aec import MatchEnv
from tests.conformance.aec_support import SEAT_COUNTS, advance, choose, legal
from tests.games import every_game

every_seat_count = pytest.mark.parametrize("num_seats", SEAT_COUNTS)
SHORT = {"poison-v0": {"num_rounds": 1}, "arsenic-v0": {}, "potio-v0": {"max_turns": 20}}  # options of short matches


@every_seat_count
def test_observation_and_state_are_the_games_own_counts(num_seats):
    env = poison_v0.env(num_seats=num_seats, num_rounds=2)
    env.reset(seed=1)
    while env.agents:
        for seat, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)["observation"]
            assert seen.dtype == np.int16
            assert seen.tolist() == env.game.observe(env._state, np.array([seat]))[0].tolist()
            assert env.observation_space(agent).contains(env.observe(agent))
        assert env.state().dtype == np.int16
        assert env.state().tolist() == env.game.observe_all(env._state)[0].tolist()
        assert env.state_space.contains(env.state())
        env.step(choose(env))


@every_game
def test_scaled_numbers_are_the_counts_as_parts_of_their_bounds(game_id):
    game = make(game_id, **SHORT[game_id])
    env, scaled = MatchEnv(game), MatchEnv(game, scaled=True)
    env.reset(seed=2)
    scaled.reset(seed=2)
    while env.agents:
        counts, parts = env.last()[0]["observation"], scaled.last()[0]["observation"]
        assert parts.dtype == scaled.state().dtype == np.float32
        assert np.round(parts * env.game.layout.high).astype(int).tolist() == counts.tolist()
        assert np.round(scaled.state() * env.game.full_layout.high).astype(int).tolist() == env.state().tolist()
        assert scaled.observation_space("player_0").contains(scaled.last()[0])
        assert scaled.state_space.contains(scaled.state())
        action = choose(env)
        env.step(action)
        scaled.step(action)


@every_seat_count
def test_ansi_shows_the_whole_table_through_a_whole_match(num_seats):
    env = poison_v0.env(num_seats=num_seats, num_rounds=2, render_mode="ansi")
    env.reset(seed=3)
    shown = set()
    while env.agents:
        text = env.render()
        assert text == env.game.text(env._state)
        assert all(agent in text for agent in env.possible_agents)
        finished = any(env.terminations.values())
        assert ("over after 2 rounds" in text) == finished
        assert finished or f"> {env.agent_selection}" in text
        shown.add(text)
        env.step(choose(env))
    assert len(shown) == env.game.max_moves + 1


@every_game
def test_human_prints_what_ansi_returns_after_reset_and_each_move(game_id, capsys):
    game = make(game_id, **SHORT[game_id])
    human, ansi = MatchEnv(game, render_mode="human"), MatchEnv(game, render_mode="ansi")
    human.reset(seed=4)
    ansi.reset(seed=4)
    assert capsys.readouterr().out == f"{ansi.render()}\n"
    while legal(ansi).size:
        action = choose(ansi)
        human.step(action)
        ansi.step(action)
        assert capsys.readouterr().out == f"{ansi.render()}\n"
    human.step(None)
    assert capsys.readouterr().out == ""
    assert human.render() is None
    assert capsys.readouterr().out == f"{ansi.render()}\n"


def test_rendering_without_a_render_mode_warns_and_returns_nothing():
    env = poison_v0.env()
    env.reset(seed=5)
    advance(env, 3)
    with pytest.warns(UserWarning, match="made without a render_mode"):
        assert env.render() is None
