"""The engine of Potio is held against the referee, decision by decision, over random matches of all options."""

import numpy as np
import pytest

from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.games.potio import Potio, moves
from poison_env.games.potio.deck import EMPTY
from tests.potio_support import POTIO_SETS, referee_for, rewards_of, words


def compare(options, seeds):
    """Play random matches beside the referee; return how many decisions of each kind were compared."""
    game = Potio(**options)
    state = game.deal(seeds)
    judges = [referee_for(game, state, row) for row in range(len(seeds))]
    seen: dict[str, int] = {}
    while not state.done.all():
        mask = game.action_mask(state)
        for row in np.flatnonzero(~state.done):
            judge = judges[row]
            assert judge.mover == state.to_move[row]
            assert judge.legal() == {words(action) for action in np.flatnonzero(mask[row])}
        actions = uniform_legal(mask, chance.fold(state.seeds, state.moves, 7))
        # Some matches brew as often as they can, in others every zone fills up and explodes.
        nature = chance.fold(state.seeds, 9) % 5
        eager = chance.fold(state.seeds, state.moves, 8) % 4 < nature
        brews = (mask.sum(axis=1) > 1) & (actions == moves.COMMIT) & eager
        mask[brews, moves.COMMIT] = False
        actions = np.where(brews, uniform_legal(mask, chance.fold(state.seeds, state.moves, 9)), actions)
        actions = np.where((nature == 0) & mask[:, moves.COMMIT], moves.COMMIT, actions)
        live = np.flatnonzero(~state.done)
        rewards = game.step(state, actions)
        for row in live:
            judge, word, before = judges[row], words(actions[row]), judges[row].points.copy()
            judge.step(word)
            seen[word[0]] = seen.get(word[0], 0) + 1
            check_row(game, state, row, judge)
            assert rewards[row].tolist() == rewards_of(judge, before, game.reward)
    for row, judge in enumerate(judges):
        assert judge.places() == game.placements(state)[row].tolist()
        assert judge.cut_off == state.truncated[row]
        seen["explosion"] = seen.get("explosion", 0) + judge.explosions
    return seen


def check_row(game, state, row, judge):
    assert judge.over == state.done[row]
    assert judge.points == state.scores[row].tolist()
    for seat in range(game.num_seats):
        zone = [(*game.kinds[code // 2], bool(code % 2)) for code in state.zones[row, seat].tolist() if code != EMPTY]
        assert zone == [tuple(card) for card in judge.sorted_zone(seat)]
    assert judge.centre == [game.kinds[kind] for kind in state.centre[row].tolist() if kind >= 0]
    places = (state.top[row] + np.arange(state.pile_size[row])) % game.deck.size
    assert judge.pile == [game.kinds[kind] for kind in state.pile[row, places].tolist()]
    assert (judge.turns, judge.idle, judge.won_now) == (state.turns[row], state.stalled[row], state.scored[row])
    for seat in range(game.num_seats):
        won = np.bincount([game.kinds.index(card) for card in judge.won[seat]], minlength=game.num_kinds)
        assert won.tolist() == state.victory[row, seat].tolist()


@pytest.mark.parametrize("name", POTIO_SETS)
def test_engine_and_referee_agree(name):
    compare(POTIO_SETS[name], chance.fold(1, np.arange(12)))


def test_the_matches_compared_have_every_kind_of_decision():
    seen = compare(POTIO_SETS["two seats"], chance.fold(2, np.arange(20)))
    assert set(seen) == {"take", "pick", "commit", "effect", "none", "aim", "explosion"}
    assert min(seen.values()) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("name", POTIO_SETS)
def test_engine_and_referee_agree_in_many_matches(name):
    compare(POTIO_SETS[name], chance.fold(3, np.arange(20_000 // len(POTIO_SETS))))
