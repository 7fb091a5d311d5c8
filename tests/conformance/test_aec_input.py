"""Input of the AEC environment: the mask is sound and complete, and all else is refused with nothing changed."""

import copy

import numpy as np
import pytest

from poison_env import poison_v0
from poison_env.core.errors import ActionTypeError, IllegalActionError, PoisonEnvError
from tests.conformance.aec_support import SEAT_COUNTS, advance, advance_to_end_of_match, everything, legal

WRONG_TYPE = [None, 2.0, True, np.True_, np.float64(2), "3", b"3", [3], (3,), {}, np.array([3]), np.array(3.0)]
WRONG_TYPE += [np.array(True), np.array([1, 2]), np.zeros(0, int), 1 + 0j]
OUT_OF_RANGE = [-1, -48, 48, 10**30, -(10**30), np.int64(-1), np.int8(-1), np.uint64(2**64 - 1), np.array(48)]


def started(**options):
    env = poison_v0.env(**options)
    env.reset(seed=1)
    return env


@pytest.mark.parametrize("num_seats", SEAT_COUNTS)
@pytest.mark.parametrize("colour_rule", ["exclusive", "fixed"])
def test_every_action_in_the_mask_is_accepted_and_every_other_is_refused(num_seats, colour_rule):
    env = started(num_seats=num_seats, num_rounds=1, colour_rule=colour_rule)
    while len(legal(env)):
        mask, before = env.infos[env.agent_selection]["action_mask"], everything(env)
        for action in range(env.game.num_actions):
            copied = copy.deepcopy(env)
            if mask[action]:
                copied.step(action)
                assert copied._state.moves[0] == env._state.moves[0] + 1
            else:
                with pytest.raises(IllegalActionError):
                    copied.step(action)
                assert everything(copied) == before
        assert everything(env) == before
        advance(env, min(5, env.game.max_moves - env._state.moves[0]))


@pytest.mark.parametrize("action", WRONG_TYPE, ids=repr)
def test_a_wrong_type_is_refused_and_changes_nothing(action):
    env = started()
    before = everything(env)
    with pytest.raises(ActionTypeError, match=rf"^{env.agent_selection}: expected a whole number as action, got "):
        env.step(action)
    assert everything(env) == before


@pytest.mark.parametrize("action", OUT_OF_RANGE, ids=repr)
def test_an_action_out_of_range_is_refused_and_changes_nothing(action):
    env = started()
    before = everything(env)
    with pytest.raises(IllegalActionError, match=rf"^{env.agent_selection}: action {int(action)} is outside 0\.\.47$"):
        env.step(action)
    assert everything(env) == before


def test_an_action_that_only_another_agent_may_take_is_refused():
    env = started()
    mover = env._state.to_move
    other = env._state.copy()
    other.to_move[:] = (mover + 1) % 4
    (action, *_) = np.flatnonzero(env.game.action_mask(other)[0] & ~env.game.action_mask(env._state)[0])
    before = everything(env)
    with pytest.raises(IllegalActionError, match=rf"^player_{mover[0]}: seat {mover[0]} does not hold "):
        env.step(action)
    assert everything(env) == before


INTEGERS = [int, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.array, lambda n: np.array(n, dtype=np.uint16)]


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_of_every_kind_are_the_same_action(kind):
    env, same = started(), started()
    action = int(legal(env)[-1])
    env.step(kind(action))
    same.step(action)
    assert everything(env) == everything(same)


@pytest.mark.parametrize("action", [0, 3, -1, 2.0, "3", np.int64(1), np.array(1)], ids=repr)
def test_a_finished_agent_takes_no_step_but_none(action):
    env = started(num_rounds=1)
    advance_to_end_of_match(env)
    for finished in (1, 2):
        before = everything(env)
        with pytest.raises(IllegalActionError, match=rf"^{env.agent_selection} has finished: expected None, got "):
            env.step(action)
        assert everything(env) == before
        env.step(None)
        assert len(env.agents) == 4 - finished


def test_the_match_goes_on_after_a_refused_action_as_if_nothing_had_been():
    env, undisturbed = (started(num_seats=2, num_rounds=2) for _ in range(2))
    paid_amid_the_match = 0.0
    for episode in range(2):
        while env.agents:
            mask = env.infos[env.agent_selection]["action_mask"]
            for wrong in (-1, len(mask), "x", 1.5, *np.flatnonzero(mask == 0)[:2]):
                with pytest.raises(PoisonEnvError):
                    env.step(wrong)
                assert everything(env) == everything(undisturbed)
            paid_amid_the_match += abs(env._cumulative_rewards[env.agent_selection]) * mask.any()
            advance(env, 1, salt=episode)
            advance(undisturbed, 1, salt=episode)
        env.reset()
        undisturbed.reset()
    assert paid_amid_the_match > 0
