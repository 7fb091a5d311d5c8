"""Properties of Potio over random matches: contract, conservation, bounds, uniform resampling, agents."""

from collections import Counter
from functools import partial

import numpy as np
import pytest

from poison_env import play, potio_v0, scripted
from poison_env.adapters.solo import SoloEnv
from poison_env.adapters.vector import SoloVectorEnv
from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.core.errors import IllegalActionError
from poison_env.games.potio import Potio, moves
from poison_env.games.potio.deck import EMPTY
from poison_env.testing import check_aec, check_game, check_vector
from tests.potio_support import POTIO_SETS, cards_everywhere, referee_for, rewards_of, words
from tests.support import chi_square_z

every_option_set = pytest.mark.parametrize("name", POTIO_SETS)


class Judge:
    """The referee under the names of the conformance suite, with rewards in the game's scheme."""

    def __init__(self, game, state):
        self.game, self.referee = game, referee_for(game, state)

    def to_move(self):
        return None if self.referee.over else self.referee.mover

    def legal(self):
        actions = self.referee.legal()
        return [action for action in range(self.game.num_actions) if words(action) in actions]

    def step(self, action):
        before = self.referee.points.copy()
        self.referee.step(words(action))
        return np.array(rewards_of(self.referee, before, self.game.reward))


@pytest.mark.parametrize("name", ["tiny deck", "cut off", "stalls soon"])
def test_the_contract_holds(name):
    game = Potio(**POTIO_SETS[name])
    report = check_game(game, referee=partial(Judge, game), conserved=partial(cards_everywhere, game))
    assert report.ok, str(report)


@pytest.mark.slow
@every_option_set
def test_the_contract_holds_for_all_options(name):
    game = Potio(**POTIO_SETS[name])
    report = check_game(game, referee=partial(Judge, game), conserved=partial(cards_everywhere, game))
    assert report.ok, str(report)


@pytest.mark.parametrize("name", ["tiny deck"])
def test_the_aec_environment_keeps_its_contract(name):
    report = check_aec(partial(potio_v0.env, **POTIO_SETS[name]), episodes=2)
    assert report.ok, str(report)


@pytest.mark.slow
@every_option_set
def test_the_aec_environment_keeps_its_contract_with_all_options(name):
    report = check_aec(partial(potio_v0.env, **POTIO_SETS[name]))
    assert report.ok, str(report)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["default", "extra cards", "cut off", "small deck, five seats"])
def test_the_vector_environment_keeps_its_contract(name):
    options = {"opponents": "greedy", **POTIO_SETS[name]}
    one, many = partial(SoloEnv, "potio-v0", **options), partial(SoloVectorEnv, "potio-v0", **options)
    report = check_vector(many, scalar=one, episodes=1)
    assert report.ok, str(report)


@every_option_set
def test_every_match_ends_within_its_bounds_and_no_card_is_lost(name):
    game = Potio(**POTIO_SETS[name])
    state = game.deal(chance.fold(4, np.arange(64)))
    for move in range(game.max_moves):
        if state.done.all():
            break
        mask = game.action_mask(state)
        assert (mask.any(axis=1) == ~state.done).all()
        if move % 16 == 0:
            assert (cards_everywhere(game, state) == game.deck.counts).all()
        game.step(state, uniform_legal(mask, chance.fold(4, np.arange(64), move)))
    assert state.done.all()
    assert (cards_everywhere(game, state) == game.deck.counts).all()
    assert (state.turns <= game.max_turns).all()


def test_who_never_brews_is_stopped_by_the_stalemate():
    game = Potio(num_seats=3)
    state = game.deal(chance.fold(5, np.arange(32)))
    while not state.done.all():
        actions = np.where(state.phase == moves.TAKING, moves.TAKE, moves.COMMIT)
        game.step(state, actions)
    assert set(state.turns.tolist()) == {36}
    assert not state.truncated.any()


def explode_twice():
    """Return a match whose pile has three batches: some of the first, and those of two explosions."""
    game = Potio(num_seats=2, deck="B1x3 B5x5 B6x5 Y1x2 Y3 Y4x2 P1 P6x4 G1", stall_turns=100)
    zones = ["B5* B5* B5* B5* B6* B6* B6*", "B1* B1* B1* P6* P6* P6* P6*"]
    state = game.position(zones=zones, centre="Y3", pile="Y4 P1 B6 B6 B5 Y4")
    for action in (moves.TAKE, moves.COMMIT) * 2:
        game.step(state, np.array([action]))
    return game, state


def test_batches_of_the_pile_are_known_sets():
    game, state = explode_twice()
    pile = game.layout.decode(game.observe(state, np.array([0])), "pile")[0]
    sizes = pile.sum(axis=1).tolist()
    assert sizes == [3, 8, 8, 0]


def test_each_batch_of_the_pile_is_resampled_by_itself_and_uniformly():
    game, state = explode_twice()
    count = 20_000
    many = state[np.zeros(count, np.int64)]
    worlds = game.resample(many, np.zeros(count, np.int64), chance.fold(6, np.arange(count)))
    shown = game.observe(worlds, np.zeros(count, np.int64))
    assert (shown == game.observe(many, np.zeros(count, np.int64))).all()
    order = game.full_layout.decode(game.observe_all(worlds), "pile_order")[:, : state.pile_size[0]]
    batches = game.layout.decode(shown, "pile")[0].astype(int)
    start = 0
    for batch in batches[batches.any(axis=1)]:
        part = order[:, start : start + batch.sum()]
        assert (np.sort(part, axis=1) == np.repeat(np.arange(game.num_kinds), batch) + 1).all()
        for place in range(part.shape[1]):
            found = np.bincount(part[:, place], minlength=game.num_kinds + 1)[1:][batch > 0]
            assert abs(chi_square_z(found, batch[batch > 0] / batch.sum())) < 4.5
        start += batch.sum()
    assert start == state.pile_size[0]


def test_explosions_shuffle_evenly():
    game = Potio()
    cards = np.tile(np.arange(8), (20_000, 1))
    order = game.explosion_order(chance.fold(7, np.arange(20_000)), np.zeros(20_000, int), cards)
    for place in (0, 3, 7):
        assert abs(chi_square_z(np.bincount(order[:, place], minlength=8), np.full(8, 1 / 8))) < 4.5
    assert len(Counter(map(tuple, order.tolist()))) > 15_000


def test_a_match_is_the_same_alone_and_in_a_batch_of_2000():
    game, seeds = Potio(num_seats=3), chance.fold(8, np.arange(2_000))
    batch, alone = game.deal(seeds), game.deal(seeds[[1234]])
    while not alone.done.all():
        actions = uniform_legal(game.action_mask(batch), chance.fold(batch.seeds, batch.moves))
        paid = game.step(batch, actions)
        np.testing.assert_array_equal(game.step(alone, actions[[1234]]), paid[[1234]])
        if alone.moves[0] % 20 == 0:
            seen = game.observe(batch, batch.to_move)
            np.testing.assert_array_equal(game.observe(alone, alone.to_move), seen[[1234]])
    assert alone.equals(batch[1234])


def test_one_illegal_row_leaves_all_as_it_was():
    game = Potio()
    state = game.deal(chance.fold(9, np.arange(8)))
    before, actions = state.copy(), np.zeros(8, int)
    actions[5] = moves.NONE
    with pytest.raises(IllegalActionError, match="row 5: seat"):
        game.step(state, actions)
    assert state.equals(before)


def test_at_most_219_sets_of_a_zone_are_brews():
    game = Potio(deck="G1x7 G2x7 B1x7 B2x7 Y2x7 Y6 P6x2")
    zones = np.sort(np.random.default_rng(0).choice(np.arange(0, 2 * game.num_kinds, 2), (4_000, 8)), axis=1)
    row, _, _ = game.brews.find(zones.astype(np.int8))
    assert 0 < np.bincount(row).max() <= 219


@pytest.mark.parametrize("agent", ["random", "greedy", "patient"])
@every_option_set
def test_every_agent_plays_every_option(agent, name):
    game = Potio(**POTIO_SETS[name])
    record = play(game, [scripted.load(agent)] * game.num_seats, chance.fold(10, np.arange(4)))
    assert (record.moves <= game.max_moves).all()


def test_greedy_beats_random_players():
    agents = [scripted.load("greedy"), scripted.load("random")]
    record = play(Potio(), agents, chance.fold(11, np.arange(200)), seating=[0, 1, 1, 1])
    assert record.points[:, 0].mean() > record.points[:, 1:].mean() + 8


def test_empty_slots_are_behind_all_cards():
    assert max(2 * Potio().num_kinds - 1, 0) < EMPTY
