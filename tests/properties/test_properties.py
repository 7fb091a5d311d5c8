"""Properties that hold for every option set, seed, depth and seat: what is known, what is paid, what is copied."""

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poison_env.core import chance
from poison_env.core.errors import ActionTypeError, IllegalActionError
from poison_env.games.poison import Poison, PoisonState
from tests.support import (
    OPTION_SETS,
    advance,
    arrays,
    at_random_depths,
    keys,
    many_keys,
    random_actions,
    random_play,
    shares_memory,
)

every_option_set = pytest.mark.parametrize("name", OPTION_SETS)
properties = settings(deadline=None, derandomize=True, max_examples=60)
DECKS = ["published", "box58", "R1x2 R3 R5 B2x2 B4 B6", "R2x9", "R1x4 B1x4 P1x4 G1x4", "R7x3 P6x5 G2x4 G13"]


@st.composite
def games(draw: Callable[[Any], Any]) -> Poison:
    seats = draw(st.integers(2, 8))
    return Poison(
        num_seats=seats,
        deck=draw(st.sampled_from(DECKS)),
        deal=draw(st.sampled_from([None, "hands4", "equal", "all"])),
        colour_rule=draw(st.sampled_from(["exclusive", "fixed"])),
        num_rounds=draw(st.integers(1, 3)),
        first_dealer=draw(st.none() | st.integers(0, seats - 1)),
        recall=draw(st.sampled_from(["perfect", "none"])),
        handicaps=draw(st.none() | st.lists(st.integers(0, 9), min_size=seats, max_size=seats)),
        reward=draw(st.sampled_from(["points", "relative", "win"])),
    )


seeds_64 = st.integers(0, 2**64 - 1)


def every_seat(game: Poison, state: PoisonState) -> tuple[PoisonState, npt.NDArray[np.int64]]:
    """Return the rows once for each seat, and the seats."""
    return state[np.repeat(np.arange(len(state)), game.num_seats)], np.tile(np.arange(game.num_seats), len(state))


# --- what a seat may not know -----------------------------------------------------------------------------------------


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


# --- what a seat knows ------------------------------------------------------------------------------------------------


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


def test_history_is_seat_and_action_of_every_move() -> None:
    game = Poison(num_seats=3, num_rounds=2)
    state = game.deal(many_keys(10))
    expected = []
    for chosen in random_play(game, state):
        expected.append(state.to_move * game.num_actions + chosen)
    np.testing.assert_array_equal(np.stack(expected, axis=1), game.history(state))


def test_history_is_minus_one_beyond_the_last_move() -> None:
    game = Poison(num_rounds=2)
    state = game.deal(keys(1))
    advance(game, state, 7)
    history = game.history(state)[0]
    assert history.shape == (100,)
    assert (history[:7] >= 0).all()
    assert (history[7:] == -1).all()


# --- what is paid -----------------------------------------------------------------------------------------------------


@properties
@given(game=games(), seed=seeds_64)
def test_rewards_of_a_match_are_a_function_of_its_points(game: Poison, seed: int) -> None:
    state = game.deal(chance.fold(seed, np.arange(8)))
    paid = advance(game, state)
    won = game.points(state) - np.array(game.handicaps)
    if game.reward == "points":
        np.testing.assert_array_equal(-won, paid)
    elif game.reward == "relative":
        others = (won.sum(axis=1, keepdims=True) - won) / (game.num_seats - 1)
        np.testing.assert_allclose(others - won, paid, rtol=0, atol=1e-9)
        np.testing.assert_allclose(paid.sum(axis=1), 0, atol=1e-9)
    else:
        first = game.points(state) == game.points(state).min(axis=1, keepdims=True)
        np.testing.assert_array_equal(first / first.sum(axis=1, keepdims=True), paid)


@properties
@given(game=games(), seed=seeds_64)
def test_places_are_the_number_of_seats_with_fewer_points(game: Poison, seed: int) -> None:
    state = at_random_depths(game, chance.fold(seed, np.arange(5)))
    expected = [[sum(other < own for other in row) for own in row] for row in game.points(state).tolist()]
    assert game.placements(state).tolist() == expected


@every_option_set
def test_points_of_a_round_are_scored_from_the_cards_taken_in_it(name: str) -> None:
    game = Poison(**OPTION_SETS[name] | {"num_rounds": 1})
    state = game.deal(many_keys(50))
    advance(game, state)
    for row in range(50):
        points = []
        for own in state.taken[row].tolist():
            others = [pile for pile in state.taken[row].tolist() if pile is not own]
            others.remove(own)
            count = sum(n for c, n in enumerate(own[:3]) if any(pile[c] >= n for pile in others))
            points.append(count + 2 * own[3])
        assert points == (state.totals[row] - np.array(game.handicaps)).tolist()


def test_nothing_is_paid_within_a_round() -> None:
    game = Poison(num_rounds=2)
    state = game.deal(many_keys(20))
    for chosen in random_play(game, state):
        ends = game.round_ends(state)
        copied = state.copy()
        assert game.step(copied, chosen).any() == ends.any()


# --- one match, wherever it is played ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["three seats", "no recall", "box58", "win, handicaps", "tiny"])
def test_a_match_is_the_same_alone_and_in_any_row_of_10000(name: str) -> None:
    game = Poison(**OPTION_SETS[name] | {"num_rounds": 2})
    batch = game.deal(many_keys(10_000))
    paid = advance(game, batch)
    for row in (0, 1, 1023, 1024, 4095, 9_999):
        alone = game.deal(many_keys(10_000)[[row]])
        paid_alone = advance(game, alone)
        assert alone.equals(batch[row])
        np.testing.assert_array_equal(paid[[row]], paid_alone)


@properties
@given(game=games(), seed=seeds_64, order=st.permutations(range(7)))
def test_the_order_of_a_batch_does_not_matter(game: Poison, seed: int, order: list[int]) -> None:
    seeds = chance.fold(seed, np.arange(7))
    state, permuted = game.deal(seeds), game.deal(seeds[order])
    advance(game, state, 30)
    advance(game, permuted, 30)
    assert permuted.equals(state[order])


def test_different_seeds_are_different_matches() -> None:
    game = Poison(num_rounds=1)
    hands = game.deal(many_keys(500)).hands.reshape(500, -1)
    assert len(np.unique(hands, axis=0)) == 500


def test_rows_at_different_depths_do_not_disturb_each_other() -> None:
    game = Poison(num_rounds=2, num_seats=3)
    state = at_random_depths(game, many_keys(40))
    alone = [state[row] for row in range(40)]
    for _ in range(30):
        chosen = random_actions(game, state)
        game.step(state, chosen)
        for row, one in enumerate(alone):
            game.step(one, chosen[[row]])
    for row, one in enumerate(alone):
        assert one.equals(state[row])


def test_a_batch_may_be_empty() -> None:
    game = Poison()
    state = game.deal(np.zeros(0, np.uint64))
    none = np.zeros(0, np.int64)
    assert game.action_mask(state).shape == (0, 48)
    assert game.overflows(state).shape == (0, 48)
    assert game.step(state, none).shape == (0, 4)
    assert game.observe(state, none).shape == (0, game.layout.size)
    assert game.observe_all(state).shape == (0, game.full_layout.size)
    assert len(game.resample(state, none, np.zeros(0, np.uint64))) == 0
    assert game.placements(state).shape == (0, 4)


# --- batches ----------------------------------------------------------------------------------------------------------

ROWS = [
    ([4, 0, 4], [4, 0, 4]),
    (np.array([5, 5]), [5, 5]),
    (2, [2]),
    (-1, [5]),
    (np.int64(3), [3]),
    (slice(1, 4), [1, 2, 3]),
    (slice(None, None, 2), [0, 2, 4]),
    (np.array([True, False, False, True, False, True]), [0, 3, 5]),
    (np.zeros(0, np.int64), []),
    ([], []),
]


@pytest.mark.parametrize(("rows", "meant"), ROWS)
def test_rows_of_a_batch_are_a_copy(rows: Any, meant: list[int]) -> None:
    game = Poison(num_rounds=1)
    state = at_random_depths(game, many_keys(6))
    part = state[rows]
    assert isinstance(part, PoisonState)
    for name, array in arrays(state).items():
        np.testing.assert_array_equal(array[np.array(meant, int)], arrays(part)[name])
        assert arrays(part)[name].dtype == array.dtype
    assert not shares_memory([*arrays(state).values()], [*arrays(part).values()])


def test_repeated_rows_are_separate_matches() -> None:
    game = Poison(num_rounds=1)
    state = game.deal(keys(3))
    twice = state[[0, 0]]
    legal = np.flatnonzero(game.action_mask(twice)[0])
    game.step(twice, legal[[0, -1]])
    assert (twice.hands[0] != twice.hands[1]).any()
    assert state.equals(game.deal(keys(3)))


@pytest.mark.parametrize(("rows", "meant"), [pair for pair in ROWS if len(set(pair[1])) == len(pair[1])])
def test_rows_of_a_batch_can_be_overwritten(rows: Any, meant: list[int]) -> None:
    game = Poison(num_rounds=1)
    state = at_random_depths(game, many_keys(6))
    others = at_random_depths(game, many_keys(len(meant), seed=3))
    expected = [state[row] for row in range(6)]
    for index, row in enumerate(meant):
        expected[row] = others[index]
    state[rows] = others
    for row in range(6):
        assert state[row].equals(expected[row])
    assert not shares_memory([*arrays(state).values()], [*arrays(others).values()])


def test_an_overwritten_row_goes_on_as_the_other_match() -> None:
    game = Poison(num_rounds=1)
    state = game.deal(many_keys(4))
    advance(game, state, 20)
    fresh = game.deal(keys(8, 9))
    state[[1, 3]] = fresh
    advance(game, state, 30)
    assert state.done.tolist() == [True, False, True, False]
    advance(game, state)
    advance(game, fresh)
    assert state[[1, 3]].equals(fresh)


def test_a_copy_shares_no_memory() -> None:
    game = Poison(num_rounds=1)
    state = at_random_depths(game, many_keys(6))
    for again in (state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert again.equals(state)
        assert not shares_memory([*arrays(state).values()], [*arrays(again).values()])
        advance(game, again)
        assert again.done.all()


def test_equal_batches_are_equal_in_every_array() -> None:
    game = Poison(num_rounds=1)
    state = game.deal(many_keys(3))
    for name, array in arrays(state).items():
        other = state.copy()
        arrays(other)[name].reshape(-1)[0] += np.ones((), array.dtype)
        assert not other.equals(state), name
    assert not state.equals(state[[0, 1]])
    assert not state.equals(None)


def test_a_batch_knows_its_length() -> None:
    assert len(Poison().deal(many_keys(7))) == 7


# --- matches that are over --------------------------------------------------------------------------------------------


@every_option_set
def test_matches_that_are_over_ignore_actions_and_stay(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    over = game.deal(many_keys(3))
    advance(game, over)
    state = game.deal(many_keys(5))
    state[[0, 2, 4]] = over
    live = state[[1, 3]]
    for chosen in (0, -1, 10**9, game.num_actions):
        actions = np.full(5, chosen)
        actions[[1, 3]] = random_actions(game, live)
        paid = game.step(state, actions)
        game.step(live, actions[[1, 3]])
        assert not paid[[0, 2, 4]].any()
        assert state[[0, 2, 4]].equals(over)
        assert state[[1, 3]].equals(live)


def test_matches_that_are_over_offer_nothing() -> None:
    game = Poison(num_rounds=1)
    over = game.deal(many_keys(3))
    advance(game, over)
    assert not game.action_mask(over).any()
    assert not game.overflows(over).any()
    assert not game.cards_taken(over, np.array([0, -1, 99])).any()


# --- illegal input ----------------------------------------------------------------------------------------------------


@every_option_set
def test_an_illegal_action_changes_nothing(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(12))
    state = state[~state.done]
    before = state.copy()
    for row in range(len(state)):
        illegal = np.flatnonzero(~game.action_mask(state)[row])
        for wrong in illegal[:: max(1, len(illegal) // 4)]:
            actions = random_actions(game, state)
            actions[row] = wrong
            with pytest.raises(IllegalActionError, match=f"row {row}: seat {state.to_move[row]} ") as refused:
                game.step(state, actions)
            assert game.deck.label(wrong // 3) in str(refused.value)
            assert state.equals(before)


@pytest.mark.parametrize("wrong", [-1, 48, 10**12, -(2**63)])
def test_an_action_out_of_range_changes_nothing(wrong: int) -> None:
    game = Poison()
    state = game.deal(many_keys(5))
    before = state.copy()
    actions = random_actions(game, state)
    actions[3] = wrong
    with pytest.raises(IllegalActionError, match=rf"row 3: seat {state.to_move[3]}.* action {wrong} .*0\.\.47"):
        game.step(state, actions)
    assert state.equals(before)


def test_a_huge_unsigned_action_is_out_of_range() -> None:
    game = Poison()
    state = game.deal(many_keys(2))
    with pytest.raises(IllegalActionError, match="row 0"):
        game.step(state, np.full(2, 2**64 - 1, np.uint64))


def test_the_first_illegal_row_is_named_by_its_number_in_the_batch() -> None:
    game = Poison(num_rounds=1)
    state = game.deal(many_keys(6))
    over = game.deal(many_keys(2))
    advance(game, over)
    state[[0, 3]] = over
    actions = random_actions(game, state)
    actions[[4, 5]] = [np.flatnonzero(~mask)[0] for mask in game.action_mask(state)[[4, 5]]]
    with pytest.raises(IllegalActionError, match=f"row 4: seat {state.to_move[4]}"):
        game.step(state, actions)


@pytest.mark.parametrize(
    "actions",
    [
        np.zeros(3),
        np.zeros(3, bool),
        np.array(["0", "0", "0"]),
        np.array([None, None, None]),
        np.zeros(2, int),
        np.zeros(4, int),
        np.zeros((3, 1), int),
        np.zeros((), int),
        0,
        [0, 0],
        [0.0, 0.0, 0.0],
        None,
    ],
)
def test_actions_of_a_wrong_type_or_shape_change_nothing(actions: Any) -> None:
    game = Poison()
    state = game.deal(many_keys(3))
    before = state.copy()
    with pytest.raises(ActionTypeError, match=r"expected integers of shape \(3,\)"):
        game.step(state, actions)
    assert state.equals(before)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
def test_actions_may_be_integers_of_any_width(dtype: Any) -> None:
    game = Poison(num_rounds=1)
    state, expected = game.deal(many_keys(5)), game.deal(many_keys(5))
    chosen = random_actions(game, state)
    game.step(state, chosen.astype(dtype))
    game.step(expected, chosen)
    assert state.equals(expected)


# --- nothing else is touched ------------------------------------------------------------------------------------------


def test_global_random_state_is_left_alone() -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - it is the global state that is watched
    before = random.getstate(), [str(part) for part in np.random.get_state()]  # noqa: NPY002
    game = Poison(num_rounds=2)
    state = game.deal(many_keys(5))
    advance(game, state, 70)
    game.resample(state, state.to_move, many_keys(5))
    assert (random.getstate(), [str(part) for part in np.random.get_state()]) == before  # noqa: NPY002


def test_global_random_state_has_no_say() -> None:
    game = Poison(num_rounds=1)
    found = []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        state = game.deal(many_keys(5))
        advance(game, state)
        found.append(state)
    assert found[0].equals(found[1])


@every_option_set
def test_nothing_handed_out_shares_memory(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    seeds = many_keys(20)
    state = game.deal(seeds)
    advance(game, state, 5)
    seats = state.to_move.copy()
    actions = random_actions(game, state)
    given_arrays = [seeds, seats, actions, *arrays(state).values(), game.deck.counts, game.kind_of]

    def hand_out() -> list[npt.NDArray[Any]]:
        return [
            game.action_mask(state),
            game.observe(state, seats),
            game.observe_all(state),
            game.points(state),
            game.placements(state),
            game.history(state),
            game.overflows(state),
            game.cards_taken(state, actions),
            game.round_ends(state),
            game.cauldron_colours(state),
            game.majority(state.taken),
            game.score(state.taken),
            game.step(state.copy(), actions),
            *arrays(game.resample(state, seats, seeds)).values(),
        ]

    first, second = hand_out(), hand_out()
    assert not shares_memory(first, given_arrays)
    assert not shares_memory(first, second)
    assert all(array.flags.writeable for array in first)


def test_arguments_are_not_changed() -> None:
    game = Poison(num_rounds=1)
    seeds, orders = many_keys(6), Poison(num_rounds=1).card_order(many_keys(6))
    kept = seeds.copy(), orders.copy()
    state = game.deal_from(orders, seeds=seeds)
    seats, actions = state.to_move.copy(), random_actions(game, state)
    kept_seats, kept_actions = seats.copy(), actions.copy()
    game.observe(state, seats)
    game.resample(state, seats, seeds)
    game.cards_taken(state, actions)
    game.step(state, actions)
    game.redeal(game.deal(seeds), orders)
    for array, copied in ((seeds, kept[0]), (orders, kept[1]), (seats, kept_seats), (actions, kept_actions)):
        np.testing.assert_array_equal(copied, array)


@every_option_set
def test_asking_changes_nothing(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(10))
    before = state.copy()
    game.action_mask(state)
    game.observe(state, np.zeros(10, int))
    game.observe_all(state)
    game.points(state)[:] = 99
    game.history(state)[:] = 99
    game.placements(state)
    game.overflows(state)
    game.round_ends(state)
    game.majority(state.taken)
    game.text(state, row=2, seat=1)
    assert state.equals(before)


def test_the_seed_of_a_match_is_in_no_observation() -> None:
    game = Poison(first_dealer=0)
    one, other = game.deal(keys(1)), game.deal(keys(1))
    other.seeds[:] = 2
    np.testing.assert_array_equal(game.observe(one, one.to_move), game.observe(other, other.to_move))
    np.testing.assert_array_equal(game.observe_all(one), game.observe_all(other))
    np.testing.assert_array_equal(game.history(one), game.history(other))
