"""What OpenSpiel's states show is what a seat knows, no more and no less, in text and numbers; and resampling fits."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation

from poison_env.core.errors import OptionError
from tests.conformance.openspiel_support import OPTIONS, SMALL, TINY, at_depth, load, on_the_way, rules
from tests.support import chi_square_z

every_game = pytest.mark.parametrize("parameters", OPTIONS)
TREES = [
    TINY,
    "num_seats=2,deck=R7 R9 G4x2,num_rounds=1",
    "num_seats=2,deck=R7 B9 G9,num_rounds=2,deal=equal,first_dealer=0",
    "num_seats=3,deck=R9x2 G9x2,deal=hands4,num_rounds=1,recall=none",
    "python_potio(num_seats=2,deck=B1x7 Y1x2,max_turns=1)",
]


def every_state(game: Any) -> list[Any]:
    found, waiting = [], [game.new_initial_state()]
    while waiting:
        state = waiting.pop()
        found.append(state)
        if not state.is_terminal():
            waiting += [state.child(action) for action in state.legal_actions()]
    return found


def knowledge(game: Any, state: Any, seat: int) -> tuple[Any, ...]:
    """Return what a seat has seen on the way to a state: all moves, and what it was shown after each."""
    known: list[Any] = []
    replay = game.new_initial_state()
    for step in state.full_history():
        replay.apply_action(step.action)
        if step.player >= 0:
            known.append((step.player, step.action))
        if not replay.is_chance_node():
            known.append((replay.current_player(), replay.node.view(seat).tobytes()))
    return tuple(known)


@pytest.mark.parametrize("parameters", TREES)
def test_information_states_part_exactly_what_a_seat_can_tell_apart(parameters: str) -> None:
    game = load(parameters)
    for seat in range(game.num_players()):
        by_knowledge, by_text, by_numbers = defaultdict(set), defaultdict(set), defaultdict(set)
        for number, state in enumerate(every_state(game)):
            if not state.is_chance_node():
                by_knowledge[knowledge(game, state, seat)].add(number)
                by_text[state.information_state_string(seat)].add(number)
                by_numbers[tuple(state.information_state_tensor(seat))].add(number)
        expected = {frozenset(group) for group in by_knowledge.values()}
        assert {frozenset(group) for group in by_text.values()} == expected
        assert {frozenset(group) for group in by_numbers.values()} == expected


def test_deaths_are_known_to_all_and_doses_to_their_eater_alone() -> None:
    """The first of six seats eats the first scone of two flavours; six doses kill, and no move tells."""
    game = load("python_arsenic(num_seats=6,spoons=False)")
    slots, ends = ("0.1", "2.1", "2.2", "2.3", "2.4", "2.5", "1.1"), []
    for one, other in [(3, 3), (3, 2), (2, 3)]:
        state, labels = game.new_initial_state(), ["seat 0 begins"]
        for slot, dose in zip(slots, (one, 0, 0, 1, 1, 2, other), strict=True):
            labels += [f"draw:{slot}", f"dose {dose}", "eat"]
        for label in labels:
            state.apply_action(next(a for a in state.legal_actions() if state.action_to_string(a) == label))
        ends.append(state)
    dead, living, twin = ends
    assert [state.current_player() for state in ends] == [1, 1, 1]
    for seat in range(6):
        assert dead.information_state_string(seat) != living.information_state_string(seat)
        assert dead.information_state_tensor(seat) != living.information_state_tensor(seat)
        same = living.information_state_string(seat) == twin.information_state_string(seat)
        assert same == (living.information_state_tensor(seat) == twin.information_state_tensor(seat)) == (seat > 0)


@every_game
def test_observations_are_the_rules_own_in_text_and_numbers(parameters: str) -> None:
    game = load(parameters)
    core = rules(game)
    for seed in range(3):
        state = on_the_way(game, seed, seed / 3)
        for seat in range(core.num_seats):
            view = core.observe(state.node.match, np.array([seat]))[0]
            told_apart = [seat] if "to_move" in core.layout.slices else [seat, state.current_player()]
            turn = np.eye(core.num_seats)[told_apart].ravel()
            np.testing.assert_array_equal([*turn, *view], state.observation_tensor(seat))
            told = dict(part.split(" ", 1) for part in state.observation_string(seat).split("\n")[1].split("; "))
            for section in core.layout.sections:
                numbers = core.layout.decode(view, section.name).ravel()
                assert told.get(section.name) == (" ".join(map(str, numbers)) if numbers.any() else None)


@every_game
def test_nothing_that_a_seat_cannot_know_changes_what_it_is_shown(parameters: str) -> None:
    game = load(parameters)
    core = rules(game)
    random = np.random.default_rng(1)
    for seed, part in enumerate([0, 0.1, 0.3, 0.5, 0.8, 0.99]):
        state = on_the_way(game, seed, part)
        seat = seed % core.num_seats
        world = state.resample_from_infostate(seat, random.random)
        assert world.information_state_string(seat) == state.information_state_string(seat)
        assert world.information_state_tensor(seat) == state.information_state_tensor(seat)
        assert world.observation_string(seat) == state.observation_string(seat)
        assert world.observation_tensor(seat) == state.observation_tensor(seat)
        assert world.current_player() == state.current_player()
        if seat == state.current_player():
            assert world.legal_actions() == state.legal_actions()


@every_game
def test_a_resampled_state_is_what_its_history_leads_to(parameters: str) -> None:
    game = load(parameters)
    state = on_the_way(game, seed=5, part=2 / 3)
    world = state.resample_from_infostate(state.current_player(), np.random.default_rng(2).random)
    replay = game.new_initial_state()
    for action in world.history():
        assert action in replay.legal_actions()
        replay.apply_action(action)
    assert str(replay) == str(world)
    moves = [(step.player, step.action) for step in world.full_history() if step.player >= 0]
    assert moves == [(step.player, step.action) for step in state.full_history() if step.player >= 0]
    world.apply_action(world.legal_actions()[0])
    assert len(world.history()) == len(state.history()) + 1


@pytest.mark.parametrize("parameters", [f"{SMALL},deal=hands4,recall=none", "num_rounds=1", "num_seats=3,num_rounds=2"])
def test_resampling_draws_what_is_hidden_anew(parameters: str) -> None:
    state = at_depth(load(parameters), seed=6, moves=2)
    random = np.random.default_rng(3)
    worlds = [state.resample_from_infostate(state.current_player(), random.random) for _ in range(20)]
    assert len({str(world) for world in worlds}) > 3


@pytest.mark.parametrize("extra", ["", ",recall=none"])
def test_resampled_states_are_as_likely_as_chance_and_blind_play_make_them(extra: str) -> None:
    game = load(f"num_seats=2,deck=R1x3 R5 B2x2 B6,deal=hands4,num_rounds=1{extra}")
    state = at_depth(game, seed=4, moves=1)
    seat = state.current_player()
    known = state.information_state_string(seat)
    expected: dict[str, float] = {}

    def visit(node: Any, likely: float) -> None:
        """Weigh every deal in which the same moves lead to what the seat knows."""
        if node.is_chance_node():
            for outcome, part in node.chance_outcomes():
                visit(node.child(outcome), likely * part)
            return
        for step in state.full_history():
            if step.player >= 0:
                if step.player != node.current_player() or step.action not in node.legal_actions():
                    return
                if step.player != seat:
                    hand = node.node.match.hands[0, step.player]
                    likely *= hand[step.action // 3] / hand.sum()
                node.apply_action(step.action)
        if node.information_state_string(seat) == known:
            expected[str(node.history())] = likely

    visit(game.new_initial_state(), 1.0)
    random, draws = np.random.default_rng(7), 4_000
    drawn = Counter(str(state.resample_from_infostate(seat, random.random).history()) for _ in range(draws))
    assert drawn.keys() <= expected.keys()
    weights = np.array([*expected.values()])
    assert len(weights) >= 3
    assert abs(chi_square_z(np.array([drawn[key] for key in expected]), weights / weights.sum())) < 4


def test_resampling_is_a_function_of_the_sampler() -> None:
    state = at_depth(load("num_rounds=1"), seed=4, moves=5)
    one, same, other = (state.resample_from_infostate(0, lambda part=part: part) for part in (0.25, 0.25, 0.75))
    assert one.history() == same.history() != other.history()


def test_nothing_of_a_draw_in_progress_is_seen() -> None:
    game = load("num_seats=3,num_rounds=2")
    core = rules(game)
    begun = at_depth(game, seed=4, moves=core.cards_dealt - 1)
    begun.apply_action(begun.legal_actions()[0])
    assert begun.is_chance_node()

    def shown(state: Any, seat: int) -> tuple[Any, ...]:
        return (
            state.information_state_string(seat),
            state.information_state_tensor(seat),
            state.observation_tensor(seat),
        )

    for seat in range(3):
        later = begun.clone()
        while later.is_chance_node():
            assert shown(later, seat) == shown(begun, seat)
            assert sum(later.observation_tensor(seat)) == 1  # who is asking, and nothing else
            later.apply_action(later.legal_actions()[-1])
        assert shown(later, seat) != shown(begun, seat)


def test_observers_are_made_for_all_that_a_player_sees_and_for_nothing_else() -> None:
    game = load(TINY)
    kinds = pyspiel.IIGObservationType
    one, none = pyspiel.PrivateInfoType.SINGLE_PLAYER, pyspiel.PrivateInfoType.NONE
    for recall in (False, True):
        assert make_observation(game, kinds(perfect_recall=recall, private_info=one)) is not None
        assert make_observation(game, kinds(perfect_recall=recall, private_info=none)) is None
        assert make_observation(game, kinds(perfect_recall=recall, public_info=False, private_info=one)) is None
    with pytest.raises(OptionError, match="observation parameters: expected none, got"):
        make_observation(game, None, {"colour": "red"})


def test_parts_of_an_observation_have_names() -> None:
    game = load(TINY)
    state = at_depth(game, seed=1, moves=2)
    observer = make_observation(game)
    observer.set_from(state, 0)
    core = rules(game)
    assert {*observer.dict} == {"player", "to_move", *(section.name for section in core.layout.sections)}
    hand = core.layout.decode(core.observe(state.node.match, np.array([0])), "own_hand")[0]
    np.testing.assert_array_equal(hand, observer.dict["own_hand"])
    np.testing.assert_array_equal(state.observation_tensor(0), observer.tensor)
