"""What a network is given: consistent with the game, and equal for positions that only look different."""

import numpy as np
import pytest

from agents.features import CountFeatures, PoisonFeatures, by_name, for_game
from poison_env import make
from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.games.arsenic.scones import IN_FLAVOUR
from poison_env.games.potio import moves
from tests.arsenic_support import OPTION_SETS
from tests.potio_support import POTIO_SETS

OPTIONS = [{}, {"recall": "none"}, {"colour_rule": "fixed"}, {"deck": "box58", "num_seats": 5}, {"num_seats": 3}]
GAMES = [
    *(("poison-v0", options) for options in OPTIONS),
    *(("arsenic-v0", OPTION_SETS[name]) for name in ("default", "alone", "six seats, specials", "by flavour")),
    ("arsenic-v0", OPTION_SETS["by flavour, two seats, specials"]),
    *(("potio-v0", POTIO_SETS[name]) for name in ("default", "two seats", "all turned", "tiny deck")),
]


def positions(game, count=200):
    """Return random positions of the first round, some at every depth; of games without rounds of the first moves."""
    state = game.deal(chance.fold(11, np.arange(count)))
    seen = []
    for move in range(game.cards_dealt if game.id == "poison-v0" else 60):
        rows = np.flatnonzero(~state.done)[move % 7 :: 7]
        if len(rows):
            part = state[rows]
            seen.append((part, game.observe(part, part.to_move), game.action_mask(part)))
        game.step(state, uniform_legal(game.action_mask(state), chance.fold(12, np.arange(count), move)))
    return seen


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_outputs_are_a_permutation_of_the_actions(options):
    game = make("poison-v0", **options)
    for _, seen, mask in positions(game):
        encoded = for_game(game).encode(seen, mask)
        assert np.array_equal(np.sort(encoded.action_of, axis=1), np.tile(np.arange(game.num_actions), (len(seen), 1)))


@pytest.mark.parametrize(("game_id", "options"), GAMES, ids=str)
def test_every_output_that_is_offered_is_legal_and_every_legal_action_is_judged_by_one(game_id, options):
    game = make(game_id, **options)
    for _, seen, mask in positions(game, 70):
        encoded = for_game(game).encode(seen, mask)
        assert encoded.inputs.shape == (len(seen), for_game(game).size)
        assert np.isfinite(encoded.inputs).all()
        assert encoded.mask.any(axis=1).all()
        rows, outputs = np.nonzero(encoded.mask)
        assert mask[rows, encoded.action_of[rows, outputs]].all()
        rows, actions = np.nonzero(mask)
        assert encoded.mask[rows, encoded.output_of[rows, actions]].all()


def test_actions_that_share_an_output_lead_to_the_same_position_but_for_the_cauldrons_order():
    game = make("poison-v0")
    shared = 0
    for state, seen, mask in positions(game):
        output_of = for_game(game).encode(seen, mask).output_of
        for row in range(len(seen)):
            legal = np.flatnonzero(mask[row])
            outputs = output_of[row, legal]
            for output in np.unique(outputs):
                results = set()
                for action in legal[outputs == output]:
                    after = state[row]
                    game.step(after, np.array([action]))
                    results.add((*np.sort(after.cauldrons[0]), *after.taken.ravel(), *after.hands.ravel()))
                shared += len(legal[outputs == output]) > 1
                assert len(results) == 1
    assert shared > 100


def test_inputs_do_not_depend_on_which_cauldron_is_which():
    game = make("poison-v0")
    hands = ["R1 R2 B4", "R5 B1 P2", "P1 P4 G4", "B2 B7 G4"]
    contents = ["R7 G4", "", "P5"]
    encoder = for_game(game)
    inputs = []
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]):
        state = game.position(hands=hands, cauldrons=[contents[i] for i in order])
        inputs.append(encoder.encode(game.observe(state, state.to_move), game.action_mask(state)).inputs)
    assert all(np.array_equal(inputs[0], other) for other in inputs[1:])


def test_planes_say_what_overflows_and_what_it_costs():
    game = make("poison-v0")
    state = game.position(hands=["R7 B1 P1", "R1 R1 B4", "P5 P5 G4", "B2 B7 G4"], cauldrons=["R7 G4", "B1", ""])
    encoder = PoisonFeatures(game)
    encoded = encoder.encode(game.observe(state, state.to_move), game.action_mask(state))
    overflow, cost = encoded.inputs[0, -96:-48], encoded.inputs[0, -48:]
    action = next(a for a in range(48) if game.action_label(a) == "R7>1")
    output = encoded.output_of[0, action]
    assert np.flatnonzero(overflow).tolist() == [output]
    assert cost[output] == 2 / 8  # the red card is the only one taken, so it is discarded; the poison counts 2


def test_the_totals_of_the_match_do_not_change_the_inputs():
    game = make("poison-v0")
    inputs = []
    for points, number in (((0, 0, 0, 0), 0), ((9, 30, 2, 1), 3)):
        state = game.position(hands=["R7", "B1", "P1", "G4"], match_points=points, round_number=number)
        inputs.append(for_game(game).encode(game.observe(state, state.to_move), game.action_mask(state)).inputs)
    assert np.array_equal(*inputs)


@pytest.mark.parametrize("options", [{}, {"num_seats": 6, "specials": True}], ids=str)
def test_arsenics_draws_share_an_output_where_the_seat_knows_the_same_of_the_slots(options):
    game = make("arsenic-v0", **options)
    shared = 0
    for _, seen, mask in positions(game):
        known, put_back = game.layout.decode(seen, "known_slots"), game.layout.decode(seen, "put_back")
        output_of = for_game(game).encode(seen, mask).output_of
        for row in np.flatnonzero(mask[:, 0 : game.num_draws].any(axis=1)):
            slots = np.flatnonzero(mask[row, : game.num_draws])
            same = {}
            for slot in slots.tolist():
                back = int(put_back[row, slot]) if known[row, slot] == 0 else 0
                back = back & 1 if game.specials else min(back, 2) if back != 3 else 1
                same.setdefault((slot // IN_FLAVOUR, int(known[row, slot]), back), set()).add(int(output_of[row, slot]))
            assert all(len(outputs) == 1 for outputs in same.values())
            assert len(set.union(*same.values())) == len(same)
            shared += len(same) < len(slots)
    assert shared > 100


def test_arsenics_inputs_do_not_depend_on_which_flavour_or_slot_is_which():
    game = make("arsenic-v0")
    encoder = for_game(game)
    rng = np.random.default_rng(5)
    flavours, slots = rng.permutation(6), rng.permuted(np.tile(np.arange(6), (6, 1)), axis=1)
    other = np.full(42, -1)  # [slot]: the slot that stands for it in the other box
    for flavour in range(6):
        other[7 * flavour : 7 * flavour + 6] = 7 * flavours[flavour] + slots[flavour]
        other[7 * flavour + 6] = 7 * flavours[flavour] + 6
    first = game.deal(chance.fold(3, np.arange(100)))
    second = first.copy()
    second.box[:, other] = first.box
    second.left[:, flavours] = first.left
    for move in range(40):
        live = np.flatnonzero(~first.done)
        a, b = (
            encoder.encode(game.observe(part, part.to_move), game.action_mask(part))
            for part in (first[live], second[live])
        )
        assert np.array_equal(a.inputs, b.inputs)
        assert np.array_equal(a.mask, b.mask)
        legal = game.action_mask(first)
        legal[:, game.num_draws + 1] = False  # shuffles go by the slots' numbers: the boxes would not be alike any more
        actions = uniform_legal(legal, chance.fold(4, np.arange(100), move))
        game.step(first, actions)
        game.step(second, np.where(actions < 42, other[np.minimum(actions, 41)], actions))


def test_potios_inputs_tell_the_points_of_the_brews_that_a_move_leads_to():
    game = make("potio-v0", num_seats=2)
    encoder = for_game(game)
    state = game.position(zones=["B6 Y6 P5 B2", "B1"], centre="P1 Y4")
    takes = encoder.encode(game.observe(state, np.array([0])), game.action_mask(state)).inputs[0]
    game.step(state, np.array([moves.TAKE]))  # now 6B 6Y 5P 1P: 9 points
    picks = encoder.encode(game.observe(state, np.array([0])), game.action_mask(state)).inputs[0]
    assert (takes == np.float32(0.9)).sum() == 2  # with the first card of the centre, and by so much better than now
    assert (picks == np.float32(0.9)).sum() == 2  # the best brew there is, and the first slot that leads to it


def test_features_are_found_by_the_name_that_a_checkpoint_records():
    game = make("poison-v0")
    assert isinstance(by_name(for_game(game).name, game), PoisonFeatures)
    assert isinstance(by_name("counts", game), CountFeatures)
    with pytest.raises(KeyError):
        by_name("poison-0", game)


def test_counts_serve_any_game():
    game = make("poison-v0", num_seats=3)
    state = game.deal(np.arange(4, dtype=np.uint64))
    seen, mask = game.observe(state, state.to_move), game.action_mask(state)
    encoded = CountFeatures(game).encode(seen, mask)
    assert encoded.inputs.shape == (4, game.layout.size + game.num_actions)
    assert np.array_equal(encoded.inputs[:, -game.num_actions :], mask)
