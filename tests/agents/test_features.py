"""What a network is given: consistent with the game, and equal for positions that only look different."""

import numpy as np
import pytest

from agents.features import CountFeatures, PoisonFeatures, by_name, for_game
from poison_env import make
from poison_env.core import chance
from poison_env.core.choice import uniform_legal

OPTIONS = [{}, {"recall": "none"}, {"colour_rule": "fixed"}, {"deck": "box58", "num_seats": 5}, {"num_seats": 3}]


def positions(game, count=200):
    """Return random positions of the first round, some at every depth."""
    state = game.deal(chance.fold(11, np.arange(count)))
    seen = []
    for move in range(game.cards_dealt):
        rows = np.arange(move % 7, count, 7)
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


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_output_that_is_offered_is_legal_and_every_legal_action_is_judged_by_one(options):
    game = make("poison-v0", **options)
    for _, seen, mask in positions(game):
        encoded = for_game(game).encode(seen, mask)
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
