"""Facts of Arsenic: how long random matches are and how many die, bounds, and that no scone is lost."""

import numpy as np
import pytest

from poison_env.games.arsenic import Arsenic, ArsenicState
from poison_env.games.arsenic.scones import COUNTS, DOSES, arrangements
from tests.arsenic_support import OPTION_SETS, SORTED, action, many_keys, push, random_actions, random_play
from tests.support import chi_square_z

# seats: draws in a match and deaths, both means of 20,000 random matches, given to a tenth and a hundredth
RANDOM_PLAY = {2: (24.7, 0.83), 3: (30.7, 1.71), 4: (36.8, 2.59), 5: (43.2, 3.43), 6: (47.3, 4.14)}


def played(game: Arsenic, count: int, seed: int) -> ArsenicState:
    state = game.deal(many_keys(count, seed))
    for _ in random_play(game, state):
        pass
    return state


def draws(game: Arsenic, state: ArsenicState) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return how many scones were drawn in each match, (B,)."""
    actions = state.events % game.num_actions
    return ((state.events >= 0) & (actions < game.num_draws)).sum(axis=1)


@pytest.mark.parametrize("num_seats", RANDOM_PLAY)
def test_random_matches_are_as_long_and_as_deadly_as_they_should_be(num_seats: int) -> None:
    game = Arsenic(num_seats=num_seats)
    state = played(game, 2_000, 3)
    for counted, fact, rounding in (
        (draws(game, state), RANDOM_PLAY[num_seats][0], 0.05),
        ((~state.alive).sum(axis=1), RANDOM_PLAY[num_seats][1], 0.005),
    ):
        error = counted.std() / len(counted) ** 0.5
        assert abs(counted.mean() - fact) < 4 * error + rounding
    if num_seats == 6:
        assert draws(game, state).max() == 60  # the bound is reached


@pytest.mark.parametrize("options", OPTION_SETS.values(), ids=OPTION_SETS)
def test_a_match_has_at_most_so_many_draws_and_moves(options: dict[str, object]) -> None:
    game = Arsenic(**options)  # type: ignore[arg-type]  # options as they come
    state = played(game, 300, 4)
    seats = game.num_seats
    assert draws(game, state).max() <= game.scones + 3 * seats + seats
    assert state.moves.max() <= game.max_moves


@pytest.mark.parametrize("options", OPTION_SETS.values(), ids=OPTION_SETS)
def test_no_scone_is_lost_or_made(options: dict[str, object]) -> None:
    game = Arsenic(**options)  # type: ignore[arg-type]  # options as they come
    state = game.deal(many_keys(40, 5))
    whole = np.bincount([5 * flavour + kind for flavour in range(6) for kind in (0, 0, 1, 1, 2, 3)], minlength=30)
    whole[4::5] = game.specials
    for _ in random_play(game, state):
        in_box = (state.box.reshape(-1, 6, 7, 1) == np.arange(1, 6)).sum(axis=2).reshape(-1, 30)
        in_bites = (state.bites[:, :, None] == np.arange(30)).sum(axis=1)
        np.testing.assert_array_equal(in_box + in_bites, np.tile(whole, (40, 1)))
        np.testing.assert_array_equal(state.cup_scones.sum(axis=1), in_bites)
        np.testing.assert_array_equal(state.cup_scones.reshape(40, -1, 6, 5).sum(axis=3), state.cups)
        np.testing.assert_array_equal(state.cup_scones @ DOSES, state.doses)
        assert (state.kept.reshape(40, -1, 6, 5).sum(axis=3) <= state.looks).all()
        np.testing.assert_array_equal((state.box > 0).reshape(40, 6, 7).sum(axis=2), state.left)
        assert (state.looks <= state.left[:, None]).all()
        assert (state.kept <= in_box[:, None]).all()


def test_thirty_one_scones_can_be_eaten_alone() -> None:
    doses = sorted(DOSES.reshape(6, 5)[:, [0, 0, 1, 1, 2, 3]].ravel().tolist())
    assert (len(doses), sum(doses)) == (36, 42)
    assert max(n for n in range(37) if sum(doses[:n]) <= 29) == 31

    game = Arsenic(num_seats=1)
    state = game.deal_from(SORTED)
    for slot in np.argsort(SORTED + 9 * (SORTED < 0), kind="stable")[:31]:  # the harmless ones first
        game.step(state, np.array([slot]))
        game.step(state, np.array([action(game, "eat")]))
    assert game.step(state, np.array([action(game, "stop")])).tolist() == [[31]]


def test_a_draw_by_flavour_and_one_in_sudden_death_take_any_scone_alike() -> None:
    game = Arsenic(num_seats=1, draw="flavour")
    state = game.deal_from(SORTED)
    push(game, state, "draw:2 eat draw:5 eat")
    state = state[np.zeros(6_000, np.int64)]
    state.seeds[:] = many_keys(6_000, 10)
    order = game.last_draws(state)
    there = np.take_along_axis(state.box > 0, order, axis=1)
    game.step(state, np.full(6_000, 2))
    for slots, places in ((state.drawn, 5), (order[np.arange(6_000), there.argmax(axis=1)], 34)):
        counts = np.unique(slots, return_counts=True)[1]
        assert len(counts) == places
        assert abs(chi_square_z(counts, np.full(places, 1 / places))) < 4


def test_the_scones_of_a_flavour_can_lie_in_so_many_ways() -> None:
    assert [len(arrangements(specials)) for specials in (False, True)] == [180, 1260]
    assert COUNTS.reshape(6, 5)[:, 4].tolist() == [2, 1, 0, 1, 1, 1]


@pytest.mark.parametrize("options", OPTION_SETS.values(), ids=OPTION_SETS)
def test_returns_are_within_their_bounds_and_sums(options: dict[str, object]) -> None:
    game = Arsenic(**options)  # type: ignore[arg-type]  # options as they come
    state, earned = game.deal(many_keys(200, 6)), np.zeros((200, game.num_seats))
    while not state.done.all():
        over = state.done.copy()
        paid = game.step(state, random_actions(game, state))
        assert not paid[over | ~state.done].any()  # all is paid by the last move
        earned += paid
    low, high = game.return_bounds
    assert low <= earned.min() <= earned.max() <= high
    if game.return_sum is not None:
        np.testing.assert_allclose(earned.sum(axis=1), game.return_sum, atol=1e-9)


def test_a_shuffle_leaves_every_order_of_a_flavour_equally_likely() -> None:
    game = Arsenic(num_seats=2)
    state = game.deal(np.tile(many_keys(1, 7), 1))[np.zeros(9_000, np.int64)]
    state.seeds[:] = many_keys(9_000, 8)
    game.step(state, np.full(9_000, game.action_of[2]))  # SHUFFLE
    for boxes in (state.box, game.deal(many_keys(9_000, 9)).box):
        for flavour in (0, 5):
            orders, counts = np.unique(boxes[:, 7 * flavour : 7 * flavour + 6], axis=0, return_counts=True)
            assert len(orders) == 180
            assert ((counts - 50) ** 2 / 50).sum() < 179 + 4 * (2 * 179) ** 0.5


@pytest.mark.parametrize("options", OPTION_SETS.values(), ids=OPTION_SETS)
def test_every_bound_of_an_observation_is_above_none(options: dict[str, object]) -> None:
    game = Arsenic(**options)  # type: ignore[arg-type]  # options as they come
    assert min(game.layout.high.min(), game.full_layout.high.min()) > 0
