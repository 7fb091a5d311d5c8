"""What a seat knows: mask, points, cards and history follow from what it is shown."""

from typing import Any

import numpy as np
import pytest

from poison_env import make
from poison_env.games.arsenic import Arsenic
from poison_env.games.arsenic.options import EAT, PASS, RETURN, SHUFFLE, SPOON, STOP
from poison_env.games.poison import Poison
from tests.games import SETS, a_few_cases, on_the_way
from tests.support import OPTION_SETS, advance, at_random_depths, every_seat, keys, many_keys, random_play

every_option_set = pytest.mark.parametrize("name", OPTION_SETS)


@every_option_set
def test_the_mask_follows_from_the_observation(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(150))
    state = state[~state.done]
    observation = game.observe(state, state.to_move)
    hand, colours = (game.layout.decode(observation, section) for section in ("own_hand", "cauldron_colours"))
    colour = np.where(game.deck.classes == 3, 0, game.deck.classes + 1)[game.kind_of]  # (A,)
    here = colours[:, game.cauldron_of]
    placed = (colours[:, None, :] == colour[:, None]).any(axis=2)
    fits = np.where(placed, here == colour, here == 0) | (colour == 0)
    expected = fits & (hand[:, game.kind_of] > 0)
    np.testing.assert_array_equal(game.action_mask(state), expected)


@pytest.mark.parametrize("options", SETS["arsenic-v0"].values(), ids=SETS["arsenic-v0"])
def test_the_mask_of_arsenic_follows_from_the_observation(options: dict[str, Any]) -> None:
    game = Arsenic(**options)
    state = on_the_way(game, many_keys(500))  # in some of them the window is drawn
    state = state[~state.done]
    seen = game.observe(state, state.to_move)
    shown = {name: game.layout.decode(seen, name) for name in game.layout.slices}
    turn, inspect, react, after = shown["phase"].astype(bool).T
    sugars, owed, shuffled = shown["sugars"][:, 0], shown["owed"][:, 0], shown["shuffled"].reshape(-1) > 0
    in_last_flavour = shown["drawn"].reshape(-1) > (35 if game.by_slot else 5)
    window = in_last_flavour & (shown["drawn_scone"].reshape(-1) == 5)
    words = {
        STOP: turn & (owed == 0),
        SHUFFLE: after | turn & ~shuffled,
        EAT: inspect,
        RETURN: inspect & (sugars > 0) & ~window,
        SPOON: react,
        PASS: after | react,
    }
    expected = np.zeros((len(state), game.num_actions), bool)
    expected[:, : game.num_draws] = turn[:, None] & (shown["box"] > 0)
    for word, action in game.action_of.items():
        expected[:, action] = words[word]
    np.testing.assert_array_equal(game.action_mask(state), expected)


@every_option_set
def test_points_and_cards_taken_follow_from_the_observation(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state, seats = every_seat(game, at_random_depths(game, many_keys(40)))
    observation = game.observe(state, seats)
    clockwise = (seats[:, None] + np.arange(game.num_seats)) % game.num_seats
    rows = np.arange(len(state))[:, None]
    np.testing.assert_array_equal(game.points(state)[rows, clockwise], game.layout.decode(observation, "match_points"))
    if game.recall == "perfect":
        np.testing.assert_array_equal(state.taken[rows, clockwise], game.layout.decode(observation, "taken"))
    else:
        np.testing.assert_array_equal(
            state.taken.sum(axis=2)[rows, clockwise], game.layout.decode(observation, "pile_sizes")
        )


@every_option_set
def test_hand_sizes_and_round_follow_from_the_observation(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state, seats = every_seat(game, at_random_depths(game, many_keys(40)))
    observation = game.observe(state, seats)
    clockwise = (seats[:, None] + np.arange(game.num_seats)) % game.num_seats
    sizes = state.hands.sum(axis=2)[np.arange(len(state))[:, None], clockwise]
    np.testing.assert_array_equal(sizes, game.layout.decode(observation, "hand_sizes"))
    np.testing.assert_array_equal(state.round[:, None], game.layout.decode(observation, "round"))


@every_option_set
def test_cauldrons_in_the_observation_agree_with_each_other(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(100))
    observation = game.observe(state, state.to_move)
    cauldrons = game.layout.decode(observation, "cauldrons")
    np.testing.assert_array_equal(cauldrons @ game.deck.values, game.layout.decode(observation, "cauldron_totals"))
    there = np.stack([cauldrons[..., game.deck.classes == c].any(axis=-1) for c in range(3)], axis=-1)
    expected = np.tile([1, 2, 3], (100, 1)) if game.colour_rule == "fixed" else there @ np.array([1, 2, 3])
    np.testing.assert_array_equal(expected, game.layout.decode(observation, "cauldron_colours"))


@every_option_set
def test_unseen_cards_are_where_the_seat_cannot_look(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state, seats = every_seat(game, at_random_depths(game, many_keys(40)))
    unseen = game.layout.decode(game.observe(state, seats), "unseen")
    full = game.observe_all(state)
    hands = game.full_layout.decode(full, "hands").sum(axis=1) - state.hands[np.arange(len(state)), seats]
    hidden = hands + game.full_layout.decode(full, "set_aside")
    if game.recall == "perfect":
        np.testing.assert_array_equal(hidden, unseen)
    else:
        taken = game.deck.counts - state.unplayed - game.full_layout.decode(full, "cauldrons").sum(axis=1)
        np.testing.assert_array_equal(hidden + taken, unseen)


@every_option_set
def test_observations_stay_within_the_bounds_of_the_layout(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state, seats = every_seat(game, at_random_depths(game, many_keys(60)))
    for observation, layout in ((game.observe(state, seats), game.layout), (game.observe_all(state), game.full_layout)):
        assert observation.dtype == np.int16
        assert observation.shape == (len(state), layout.size)
        assert (observation >= 0).all()
        assert (observation <= layout.high).all()


@a_few_cases
def test_history_is_seat_and_action_of_every_move(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    state = game.deal(many_keys(10))
    expected = np.full_like(game.history(state), -1)
    for move, chosen in enumerate(random_play(game, state)):
        expected[:, move] = np.where(state.done, -1, state.to_move * game.num_actions + chosen)
    known = options.get("recall") != "none"
    np.testing.assert_array_equal(expected if known else np.full_like(expected, -1), game.history(state))


def test_history_is_minus_one_beyond_the_last_move() -> None:
    game = Poison(num_rounds=2)
    state = game.deal(keys(1))
    advance(game, state, 7)
    history = game.history(state)[0]
    assert history.shape == (100,)
    assert (history[:7] >= 0).all()
    assert (history[7:] == -1).all()
