"""Worlds of Arsenic: nothing that a seat knows changes, and all worlds that it cannot tell apart are equally likely."""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations, product
from math import prod
from typing import Any

import numpy as np
import pytest

from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.games.arsenic import Arsenic, ArsenicState
from poison_env.games.arsenic.scones import DOSES, FLAVOUR_OF_SLOT, MOONS
from tests.arsenic_support import OPTION_SETS, SORTED, WITH_SPECIALS, action, at_random_depths, eat, many_keys, push
from tests.support import chi_square_z

every_option = pytest.mark.parametrize("options", OPTION_SETS.values(), ids=OPTION_SETS)
PUBLIC = (
    *("to_move", "done", "truncated", "moves", "phase", "turn", "first", "shuffled", "drawn", "knows", "looks"),
    *("alive", "stopped", "sugars", "spoons", "owed", "cups", "eaten", "eaters", "bite_known", "places", "events"),
)


def agrees_with_what_happened(game: Arsenic, state: ArsenicState, row: int) -> bool:
    """Replay the bites of a match: did each kill exactly where its eater died?"""
    last = {int(eater): bite for bite, eater in enumerate(state.eaters[row]) if eater >= 0}
    for seat in range(game.num_seats):
        dose = moons = 0
        for bite in np.flatnonzero(state.eaters[row] == seat).tolist():
            sort = int(state.bites[row, bite])
            dose, moons = dose + int(DOSES[sort]), moons + int(MOONS[sort])
            dies = not state.alive[row, seat] and bite == last[seat]
            if (dose >= game.lethal or moons == 2) != dies:
                return False
    return True


@every_option
def test_worlds_keep_what_is_public_or_known_and_agree_with_what_happened(options: dict[str, Any]) -> None:
    game = Arsenic(**options)
    state = at_random_depths(game, many_keys(60, 1), 100)
    for seat in range(game.num_seats):
        seats = np.full(60, seat)
        world = game.resample(state, seats, many_keys(60, 2 + seat))
        for name in PUBLIC:
            np.testing.assert_array_equal(getattr(world, name), getattr(state, name), err_msg=name)
        np.testing.assert_array_equal(game.observe(world, seats), game.observe(state, seats))
        np.testing.assert_array_equal(world.kept[:, seat], state.kept[:, seat])
        np.testing.assert_array_equal(world.cup_scones @ DOSES, world.doses)
        assert all(agrees_with_what_happened(game, world, row) for row in range(60))
        in_box = (world.box.reshape(-1, 6, 7, 1) == np.arange(1, 6)).sum(axis=2).reshape(-1, 1, 30)
        assert (world.kept <= in_box).all()
        whole = in_box[:, 0] + world.cup_scones.sum(axis=1)
        np.testing.assert_array_equal(whole, np.broadcast_to(whole[0], whole.shape))


@every_option
def test_a_world_depends_on_what_the_seat_knows_and_the_seed_alone(options: dict[str, Any]) -> None:
    game = Arsenic(**options)
    state = at_random_depths(game, many_keys(40, 3), 80)
    state = state[~state.done]
    seats, seeds = state.to_move, many_keys(len(state), 4)
    other = game.resample(state, seats, many_keys(len(state), 5))
    assert game.resample(other, seats, seeds).equals(game.resample(state, seats, seeds))


def test_worlds_go_on_by_chance_of_their_own() -> None:
    game = Arsenic()
    state = game.deal(many_keys(50))
    world = game.resample(state, state.to_move, many_keys(50, 1))
    assert not (world.seeds == state.seeds).any()
    assert not (world.box == state.box).all(axis=1).any()


# --- uniform: against the list of all worlds


def unknown_places(state: ArsenicState, seat: int, flavour: int) -> tuple[list[int], list[int]]:
    """Return bites and slots of a flavour that a seat does not know."""
    bites = (state.bites[0] // 5 == flavour) & (state.bite_known[0] >> seat & 1 == 0)
    slots = (flavour == FLAVOUR_OF_SLOT) & (state.box[0] > 0) & (state.knows[0] >> seat & 1 == 0)
    return np.flatnonzero(bites).tolist(), np.flatnonzero(slots).tolist()


def orders(state: ArsenicState, bites: list[int], slots: list[int]) -> list[tuple[int, ...]]:
    """Return all orders of the scones in those places, as kinds."""
    pool = [int(state.bites[0, bite]) % 5 for bite in bites] + [int(state.box[0, slot]) - 1 for slot in slots]
    return sorted(set(permutations(pool)))


def all_worlds(game: Arsenic, state: ArsenicState, seat: int) -> Iterator[bytes]:
    """List the worlds of a match that a seat cannot tell apart, as bites and box; nobody returned the window."""
    ways = []
    for flavour in range(6):
        bites, slots = unknown_places(state, seat, flavour)
        ways.append([(bites, slots, kinds) for kinds in orders(state, bites, slots)])
    returned_bites, returned = np.flatnonzero(state.bite_known[0] & 64), np.flatnonzero(state.knows[0] & 64)
    world = state.copy()
    for choice in product(*ways):
        for flavour, (bites, slots, kinds) in enumerate(choice):
            world.bites[0, bites] = [5 * flavour + kind for kind in kinds[: len(bites)]]
            world.box[0, slots] = [kind + 1 for kind in kinds[len(bites) :]]
        held = (world.box[0].reshape(6, 7, 1) == np.arange(1, 6)).sum(axis=1).reshape(30)
        if (held < state.kept[0, seat]).any() or not agrees_with_what_happened(game, world, 0):
            continue
        if not (world.bites[0, returned_bites] == 29).any() and not (world.box[0, returned[returned >= 35]] == 5).any():
            yield world.bites[0].tobytes() + world.box[0].tobytes()


def check_uniform(game: Arsenic, state: ArsenicState, seat: int, count: int) -> None:
    """Compare how often each world is drawn with the list of all: none missing, none too many, equal chances."""
    worlds = list(all_worlds(game, state, seat))
    assert len(worlds) == count
    number = 40 * count
    drawn = game.resample(state[np.zeros(number, np.int64)], np.full(number, seat), chance.fold(11, np.arange(number)))
    found = Counter(drawn.bites[row].tobytes() + drawn.box[row].tobytes() for row in range(number))
    assert found.keys() <= set(worlds)
    assert abs(chi_square_z(np.array([found[world] for world in worlds]), np.full(count, 1 / count))) < 4


def knowing(state: ArsenicState, seat: int, *, flavours: tuple[int, ...], bites: tuple[int, ...] = ()) -> None:
    """Let a seat know the scones that lie in those flavours, and those bites."""
    state.knows[0, np.isin(FLAVOUR_OF_SLOT, flavours) & (state.box[0] > 0)] |= np.uint8(1 << seat)
    state.bite_known[0, list(bites)] |= np.uint8(1 << seat)


def test_uniform_over_a_box_of_which_little_is_known() -> None:
    game = Arsenic(num_seats=2)
    state = game.deal_from(SORTED)
    knowing(state, 1, flavours=(1, 2, 3, 4, 5))
    check_uniform(game, state, 1, 180)


def test_uniform_with_living_and_dead_cups() -> None:
    game = Arsenic(num_seats=6, spoons=False)
    state = game.deal_from(SORTED)
    for slot in ["2.1", "0.6", "1.6", "0.5", "1.1", "0.1", "2.2", "1.3", "1.5"]:
        eat(game, state, slot)
    push(game, state, "draw:0.3 return pass")  # seat 3
    for slot in ["1.4", "0.2", "3.1", "1.2", "0.4"]:  # seats 4, 5, 0, 1, and 2, which dies
        eat(game, state, slot)
    assert state.alive[0].tolist() == [True, True, False, True, True, True]
    knowing(state, 0, flavours=(2, 3, 4, 5), bites=(1, 2, 5))
    count = len(list(all_worlds(game, state, 0)))
    assert 20 < count < 60 * 60
    check_uniform(game, state, 0, count)


def test_uniform_with_what_was_seen_before_a_shuffle() -> None:
    game = Arsenic(num_seats=2, spoons=False)
    state = game.deal_from(SORTED)
    push(game, state, "draw:0.3 return shuffle")  # seat 0 keeps: a dose of one in flavour 0
    eat(game, state, "1.1")
    assert state.kept[0, 0].tolist()[:5] == [0, 1, 0, 0, 0]
    state.kept[0, 0, 3] = 1
    state.looks[0, 0, 0] = 2
    eat(game, state, "2.1")
    knowing(state, 0, flavours=(1, 2, 3, 4, 5), bites=(0,))
    kept = state.kept.copy()
    for slot in ("0.1", "0.4"):  # seat 1 and seat 0
        eat(game, state, slot)
    state.kept[:] = kept
    state.looks[0, 0, 0] = 2
    number = len(list(all_worlds(game, state, 0)))
    assert 5 < number < 180
    check_uniform(game, state, 0, number)


def test_uniform_with_moons_the_drop_and_a_returned_window() -> None:
    game = Arsenic(num_seats=6, spoons=False, specials=True)
    state = game.deal_from(WITH_SPECIALS)
    # Seat 1 dies of two moons; seat 2 eats the drop after five doses; seat 3 returns a scone of the window's flavour.
    for slot in ["2.1", "3.7", "1.6"]:
        eat(game, state, slot)
    push(game, state, "draw:5.6 return pass")
    for slot in ["2.2", "2.3", "2.4", "4.7", "1.5", "0.1", "0.2", "0.3", "0.4"]:
        eat(game, state, slot)
    for slot in ["1.7", "3.1"]:
        eat(game, state, slot)
    assert not state.alive[0, 1]
    # Seat 0 knows all but some scones of flavours 1, 3, 4 and 5.
    state.knows[0, :] |= np.uint8(state.box[0] > 0)
    state.knows[0, [7, 8, 21 + 1, 28 + 0, 28 + 5, 35 + 5, 35 + 6]] &= np.uint8(254)
    state.bite_known[0] |= np.where(np.isin(state.bites[0] // 5, (1, 3, 4)), 0, 1).astype(np.uint8)
    assert state.knows[0, 40] & 64
    number = len(list(all_worlds(game, state, 0)))
    assert 5 < number < 3_000
    check_uniform(game, state, 0, number)


def crowded(game: Arsenic, seed: int, dead: int) -> ArsenicState:
    """Return a match in which so many have just died: all eat whatever does not kill them, while sugar lasts."""
    state = game.deal(many_keys(64, seed))
    never = [action(game, word) for word in ("stop", "shuffle", "spoon")]
    eats, returns = action(game, "eat"), action(game, "return")
    while True:
        ready = np.flatnonzero(((~state.alive).sum(axis=1) == dead) & ~state.done)
        if len(ready):
            return state[ready[:1]]
        mask, rows = game.action_mask(state), np.arange(64)
        sort = 5 * FLAVOUR_OF_SLOT[state.drawn] + state.box[rows, state.drawn] - 1
        kills = state.doses[rows, state.turn] + DOSES[sort] >= game.lethal
        mask[:, never] = False
        mask[:, eats] &= ~(kills & mask[:, returns])
        mask[:, returns] &= kills
        game.step(state, uniform_legal(mask, chance.fold(state.seeds, state.moves)))


@pytest.mark.parametrize("specials", [False, True])
@pytest.mark.parametrize("dead", [1, 2, 3])
def test_uniform_where_few_arrangements_agree(dead: int, specials: bool) -> None:
    game = Arsenic(num_seats=6, specials=specials)
    state = crowded(game, 3, dead)
    seat = int(state.to_move[0])
    for place in np.random.default_rng(5).permutation(84).tolist():  # tell the seat until the rest can be listed
        if prod(len(orders(state, *unknown_places(state, seat, flavour))) for flavour in range(6)) <= 800:
            break
        (state.bite_known if place < 42 else state.knows)[0, place % 42] |= np.uint8(1 << seat)
    count = len(list(all_worlds(game, state, seat)))
    assert 10 < count < 200
    check_uniform(game, state, seat, count)


def test_a_world_is_the_same_alone_and_in_a_batch_where_few_arrangements_agree() -> None:
    game = Arsenic(num_seats=6)
    state, seeds = crowded(game, 3, 2), many_keys(30, 13)
    worlds = game.resample(state[np.zeros(30, np.int64)], state.to_move.repeat(30), seeds)
    for row in (0, 7, 29):
        assert game.resample(state, state.to_move, seeds[[row]]).equals(worlds[[row]])


def test_others_remember_random_scones_of_the_box() -> None:
    game = Arsenic(num_seats=2, spoons=False)
    state = game.deal_from(SORTED)
    push(game, state, "draw:0.6 return shuffle")
    world = game.resample(state[np.zeros(6_000, np.int64)], np.ones(6_000, np.int64), many_keys(6_000, 3))
    kept = world.kept[:, 0].sum(axis=0)
    assert kept[5:].sum() == 0
    assert abs(chi_square_z(kept[:4], np.array([2, 2, 1, 1]) / 6)) < 4
