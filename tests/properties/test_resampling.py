"""What a seat may not know: resampling draws it anew, and nothing the seat sees changes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from poison_env import make
from poison_env.core import chance
from poison_env.games.poison import Poison
from tests.games import a_few_cases, on_the_way
from tests.properties.strategies import games, properties, seeds_64
from tests.support import (
    OPTION_SETS,
    advance,
    arrays,
    at_random_depths,
    every_seat,
    keys,
    many_keys,
    random_actions,
    shares_memory,
)

every_option_set = pytest.mark.parametrize("name", OPTION_SETS)


@every_option_set
def test_resampling_changes_nothing_that_a_seat_sees(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state, seats = every_seat(game, at_random_depths(game, many_keys(80)))
    world = game.resample(state, seats, many_keys(len(state), seed=5))
    np.testing.assert_array_equal(game.observe(state, seats), game.observe(world, seats))
    np.testing.assert_array_equal(game.history(state), game.history(world))


@every_option_set
def test_resampling_changes_nothing_public(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state, seats = every_seat(game, at_random_depths(game, many_keys(40)))
    world = game.resample(state, seats, many_keys(len(state), seed=5))
    np.testing.assert_array_equal(game.points(state), game.points(world))
    np.testing.assert_array_equal(game.placements(state), game.placements(world))
    np.testing.assert_array_equal(game.round_ends(state), game.round_ends(world))
    for public in ("to_move", "done", "truncated", "moves", "cauldrons", "round", "dealer", "cards_left"):
        np.testing.assert_array_equal(getattr(state, public), getattr(world, public), public)


@every_option_set
def test_resampling_keeps_the_legal_moves_of_the_mover(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(100))
    world = game.resample(state, state.to_move, many_keys(100, seed=6))
    np.testing.assert_array_equal(game.action_mask(state), game.action_mask(world))


@properties
@given(game=games(), seed=seeds_64, salt=seeds_64)
def test_no_seat_of_any_game_sees_what_resampling_changes(game: Poison, seed: int, salt: int) -> None:
    state, seats = every_seat(game, at_random_depths(game, chance.fold(seed, np.arange(6))))
    world = game.resample(state, seats, chance.fold(salt, np.arange(len(state))))
    np.testing.assert_array_equal(game.observe(state, seats), game.observe(world, seats))


@every_option_set
def test_resampled_cards_are_the_deck(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state, seats = every_seat(game, at_random_depths(game, many_keys(40)))
    world = game.resample(state, seats, many_keys(len(state), seed=7))
    by_class = (game.deck.classes[:, None] == np.arange(4)).astype(int)
    sections = {s.name: game.full_layout.decode(game.observe_all(world), s.name) for s in game.full_layout.sections}
    assert min(section.min() for section in sections.values()) >= 0
    table = sections["hands"].sum(axis=1) + sections["set_aside"] + sections["cauldrons"].sum(axis=1)
    if game.recall == "perfect":
        np.testing.assert_array_equal(state.unplayed, world.unplayed)
        np.testing.assert_array_equal(state.taken, world.taken)
    assert (table <= game.deck.counts).all()
    total = table @ by_class + sections["taken"].sum(axis=1)
    np.testing.assert_array_equal(total, np.tile(game.deck.counts @ by_class, (len(total), 1)))


@every_option_set
def test_resampled_hands_and_piles_keep_their_sizes(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state, seats = every_seat(game, at_random_depths(game, many_keys(40)))
    world = game.resample(state, seats, many_keys(len(state), seed=7))
    np.testing.assert_array_equal(state.hands.sum(axis=2), world.hands.sum(axis=2))
    np.testing.assert_array_equal(state.taken.sum(axis=2), world.taken.sum(axis=2))
    rows = np.arange(len(state))
    np.testing.assert_array_equal(state.hands[rows, seats], world.hands[rows, seats])


@pytest.mark.parametrize("name", [name for name in OPTION_SETS if name not in ("two seats, all dealt", "tiny")])
def test_resampling_draws_the_hidden_hands_anew(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state, seats = every_seat(game, game.deal(many_keys(50)))
    world = game.resample(state, seats, many_keys(len(state), seed=8))
    changed = (state.hands != world.hands).any(axis=2)  # (B, P)
    assert not changed[np.arange(len(state)), seats].any()
    others = np.arange(game.num_seats) != seats[:, None]
    assert changed[others].mean() > (0.5 if game.deck.size < 20 else 0.9)


def test_with_two_seats_and_no_card_aside_nothing_is_hidden() -> None:
    game = Poison(num_seats=2, deal="all", num_rounds=1)
    state = at_random_depths(game, many_keys(50))
    world = game.resample(state, state.to_move, many_keys(50, seed=8))
    world.seeds[:] = state.seeds
    assert world.equals(state)


def test_resampling_may_exchange_hands_and_cards_aside() -> None:
    game = Poison(num_seats=3)
    state = game.deal(many_keys(50))
    world = game.resample(state, state.to_move, many_keys(50, seed=8))
    aside = game.full_layout.slices["set_aside"]
    assert (game.observe_all(state)[:, aside] != game.observe_all(world)[:, aside]).any(axis=1).mean() > 0.95


def test_resampling_without_recall_draws_the_piles_anew() -> None:
    game = Poison(recall="none", num_rounds=1)
    state = game.deal(many_keys(50))
    advance(game, state, 30)
    world = game.resample(state, state.to_move, many_keys(50, seed=8))
    assert (state.taken != world.taken).any(axis=(1, 2)).mean() > 0.95


@a_few_cases
def test_worlds_of_any_game_have_other_seeds_follow_from_theirs_alone_and_can_be_played_to_the_end(
    game_id: str, options: dict[str, Any]
) -> None:
    game = make(game_id, **options)
    state, seeds = on_the_way(game, many_keys(40)), many_keys(40, seed=8)
    seats = state.to_move.copy()
    world = game.resample(state, seats, seeds)
    assert not np.isin(world.seeds, state.seeds).any()
    assert game.resample(state[[7]], seats[[7]], seeds[[7]]).equals(world[[7]])
    assert not shares_memory([*arrays(state).values()], [*arrays(world).values()])
    advance(game, world)
    assert world.done.all()


def test_resampling_replaces_the_seed_and_the_deals_to_come() -> None:
    game = Poison(num_rounds=2)
    state = game.deal(many_keys(50))
    advance(game, state, 49)
    world = game.resample(state, state.to_move, many_keys(50, seed=8))
    assert not np.isin(world.seeds, state.seeds).any()
    last = random_actions(game, state)
    for either in (state, world):
        game.step(either, last)
    assert (state.hands != world.hands).any(axis=(1, 2)).all()


def test_worlds_of_different_seeds_have_different_futures() -> None:
    game = Poison(num_rounds=2)
    state = game.deal(keys(1))[np.zeros(20, int)]
    world = game.resample(state, state.to_move, many_keys(20, seed=8))
    assert len(np.unique(world.seeds)) == 20


def test_resampling_is_a_function_of_the_seeds() -> None:
    game = Poison(num_seats=3, recall="none")
    state = at_random_depths(game, many_keys(50))
    seeds = many_keys(50, seed=8)
    assert game.resample(state, state.to_move, seeds).equals(game.resample(state, state.to_move, seeds))
    one = game.resample(state[[7]], state.to_move[[7]], seeds[[7]])
    assert one.equals(game.resample(state, state.to_move, seeds)[[7]])


def test_a_world_without_recall_holds_no_events() -> None:
    game = Poison(recall="none", num_rounds=2)
    state = at_random_depths(game, many_keys(50))
    world = game.resample(state, state.to_move, many_keys(50, seed=8))
    assert (world.events == -1).all()


def test_history_without_recall_is_empty() -> None:
    game = Poison(recall="none", num_rounds=1)
    state = at_random_depths(game, many_keys(50))
    assert (game.history(state) == -1).all()
    assert game.history(state).shape == (50, 50)


@every_option_set
def test_resampling_leaves_its_argument_alone(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(30))
    before = state.copy()
    world = game.resample(state, state.to_move, many_keys(30, seed=8))
    assert state.equals(before)
    assert not shares_memory([*arrays(state).values()], [*arrays(world).values()])


@every_option_set
def test_worlds_can_be_played_to_the_end(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(20))
    world = game.resample(state, state.to_move, many_keys(20, seed=9))
    advance(game, world)
    assert world.done.all()
