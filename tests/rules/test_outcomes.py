"""Chance outcome by outcome, in every game: exact, one path for a draw, and back again from a match."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from poison_env import make
from poison_env.core.errors import PositionError
from poison_env.core.protocol import HasChance, HasReturns
from tests.games import a_few_cases, every_case, on_the_way
from tests.support import advance, arrays, every_seat, keys, many_keys, random_actions

SMALL_DEALS: dict[str, tuple[str, dict[str, Any]]] = {  # few enough cards to go through all orders of dealing
    "two hands": ("poison-v0", {"num_seats": 2, "deck": "R1x2 R3 B2x2 G4"}),
    "cards aside": ("poison-v0", {"num_seats": 2, "deck": "R1x3 R3 B2x2 G4", "deal": "hands4"}),
    "unequal hands": ("poison-v0", {"num_seats": 3, "deck": "R1x2 R3x2 B2 B4 G4"}),
    "equal hands": ("poison-v0", {"num_seats": 3, "deck": "R1x2 R3x2 B2 B4 G4", "deal": "equal"}),
    "no recall": ("poison-v0", {"num_seats": 2, "deck": "R1x3 R3 B2x2 G4", "deal": "hands4", "recall": "none"}),
    "zones": ("potio-v0", {"num_seats": 2, "deck": "B1x3 B2x3 Y1 G1"}),
    "zones, more for one": ("potio-v0", {"num_seats": 2, "deck": "B1x3 B2x4 Y1", "extra_cards_last": 1}),
}


def whole(game_id: str, options: dict[str, Any]) -> Any:
    """Return a game whose matches are short enough to be told one by one."""
    return make(game_id, **({"max_turns": 25} | options if game_id == "potio-v0" else options))


def ways(game: HasChance, state: Any, drawn: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], float]]:
    following = game.next_outcomes(state, drawn)
    if not following:
        yield drawn, 1.0
    for outcome, likely in following.items():
        for path, rest in ways(game, state, (*drawn, outcome)):
            yield path, likely * rest


def told(game: Any, outcomes: Any, events: Any) -> Iterator[tuple[Any, npt.NDArray[np.float64]]]:
    """Play a match by its outcomes and moves; hand it out, and what it has paid, wherever a seat may look."""
    left, moves = [n for n in outcomes.tolist() if n >= 0], [n for n in events.tolist() if n >= 0]
    match, paid = game.deal(keys(12345)), np.zeros(game.num_seats)
    while True:
        if game.drawn_now(match)[0]:
            drawn: tuple[int, ...] = ()
            while following := game.next_outcomes(match, drawn):
                assert left[0] in following
                drawn = (*drawn, left.pop(0))
            paid += game.draw(match, np.array([drawn], np.int64))[0]
        yield match, paid
        if not moves:
            assert left == []
            return
        seat, action = divmod(moves.pop(0), game.num_actions)
        assert seat == match.to_move[0]
        paid += game.step(match, np.array([action]))[0]


def seen(game: Any, state: Any, seats: Any = None) -> list[Any]:
    looking, seats = every_seat(game, state) if seats is None else (state, seats)
    return [game.observe(looking, seats).tolist(), game.points(state).tolist(), game.placements(state).tolist()]


@every_case
def test_the_game_has_the_abilities(game_id: str, options: dict[str, Any]) -> None:
    game = make(game_id, **options)
    assert isinstance(game, HasChance)
    assert isinstance(game, HasReturns)


@pytest.mark.parametrize(("game_id", "options"), SMALL_DEALS.values(), ids=SMALL_DEALS)
def test_every_deal_has_one_path_and_its_exact_chance(game_id: str, options: dict[str, Any]) -> None:
    game: Any = make(game_id, **options)
    orders = Counter(permutations(game.deck.cards))  # every order as often as cards that look alike can be exchanged
    state = game.deal_from(np.array([*orders]))
    expected: Counter[Any] = Counter()
    for row, number in enumerate(orders.values()):
        views, seats = every_seat(game, state[row])
        expected[game.observe(views, seats).tobytes()] += number
    found = {}
    begins = game.outcomes(state[0])[0, 0]
    for path, likely in ways(game, state[0]):
        if path[0] == begins:
            drawn = state[0]
            game.draw(drawn, np.array([path]))
            views, seats = every_seat(game, drawn)
            view = game.observe(views, seats).tobytes()
            assert view not in found
            found[view] = likely * game.num_seats
    assert found.keys() == expected.keys()
    for view, number in expected.items():
        assert found[view] == pytest.approx(float(Fraction(number, orders.total())), rel=1e-12)


@every_case
def test_probabilities_add_up_to_one(game_id: str, options: dict[str, Any]) -> None:
    game: Any = make(game_id, **options)
    state = game.deal(many_keys(1, seed=3))
    drawn: tuple[int, ...] = ()
    wanted = game.outcomes(state)[0]
    while following := game.next_outcomes(state, drawn):
        assert sum(following.values()) == pytest.approx(1, rel=1e-12)
        assert min(following.values()) > 0
        assert list(following) == sorted(following)
        drawn = (*drawn, int(wanted[len(drawn)]))
    assert drawn == tuple(wanted[wanted >= 0].tolist())


@every_case
def test_a_match_is_its_outcomes_and_its_moves(game_id: str, options: dict[str, Any]) -> None:
    game = whole(game_id, options)
    state = on_the_way(game, many_keys(6))
    outcomes = game.outcomes(state)
    for row in range(len(state)):
        *_, (match, _) = told(game, outcomes[row], state.events[row])
        assert seen(game, match) == seen(game, state[row])
        assert game.outcomes(match).tolist() == outcomes[[row]].tolist()


@every_case
def test_a_match_pays_what_its_outcomes_and_its_moves_pay(game_id: str, options: dict[str, Any]) -> None:
    game = whole(game_id, options)
    state = game.deal(many_keys(6, seed=1))
    expected = advance(game, state)
    for row in range(len(state)):
        *_, (_, paid) = told(game, game.outcomes(state)[row], state.events[row])
        assert paid.tolist() == pytest.approx(expected[row].tolist())


@a_few_cases
@pytest.mark.parametrize("drawn_anew", [False, True])
def test_chance_is_as_likely_as_it_says(game_id: str, options: dict[str, Any], drawn_anew: bool) -> None:
    """Count each outcome against the sum of its probabilities, over whole matches as the seed makes them.

    With `drawn_anew` they begin with a draw of the test's own, and go on as the seed makes them.
    """
    game, random = whole(game_id, options), np.random.default_rng(2)
    hits, likely, spread = np.zeros((3, game.num_outcomes))
    for key in many_keys(60, seed=4):
        match = game.deal(keys(int(key)))
        if drawn_anew:
            drawn: tuple[int, ...] = ()
            while following := game.next_outcomes(match, drawn):
                drawn = (*drawn, int(random.choice([*following], p=[*following.values()])))
            game.draw(match, np.array([drawn]))
        known = int((game.outcomes(match) >= 0).sum()) if drawn_anew else 0
        while True:
            if game.drawn_now(match)[0]:
                row = game.outcomes(match)[0]
                now, known = row[known : (row >= 0).sum()].tolist(), int((row >= 0).sum())
                for number, outcome in enumerate(now):
                    following = game.next_outcomes(match, now[:number])
                    chances = np.zeros(game.num_outcomes)
                    chances[[*following]] = [*following.values()]
                    hits[outcome] += 1
                    likely += chances
                    spread += chances * (1 - chances)
            if match.done[0]:
                break
            game.step(match, random_actions(game, match))
    assert (abs(hits - likely) <= 4.5 * spread**0.5 + 1e-9).all()


@every_case
def test_outcomes_are_within_their_bounds_and_have_names(game_id: str, options: dict[str, Any]) -> None:
    game: Any = make(game_id, **options)
    state = game.deal(many_keys(5))
    draws = game.drawn_now(state).astype(int)
    while not state.done.all():
        live = ~state.done
        game.step(state, random_actions(game, state))
        draws += game.drawn_now(state) & live
    assert draws.max() <= game.max_draws
    outcomes = game.outcomes(state)
    assert outcomes.shape == (5, game.max_outcomes)
    assert outcomes.min() >= -1
    assert outcomes.max() < game.num_outcomes
    assert (np.diff((outcomes >= 0).astype(int), axis=1) <= 0).all()
    labels = [game.outcome_label(outcome) for outcome in range(game.num_outcomes)]
    assert len(set(labels)) == game.num_outcomes


@every_case
def test_redrawing_keeps_all_that_the_seat_has_seen(game_id: str, options: dict[str, Any]) -> None:
    game = whole(game_id, options)
    state, seats = every_seat(game, on_the_way(game, many_keys(3)))
    drawn, events = game.outcomes(state), state.events
    for row, outcomes in enumerate(game.redraw(state, seats, many_keys(len(state), seed=5))):
        at = seats[[row]]
        true, world = (told(game, those, events[row]) for those in (drawn[row], outcomes))
        for (match, _), (other, _) in zip(true, world, strict=True):
            assert game.observe(other, at).tolist() == game.observe(match, at).tolist()
            if match.to_move[0] == at[0]:
                assert game.action_mask(other).tolist() == game.action_mask(match).tolist()


# --- what cannot be drawn


@a_few_cases
def test_what_chance_cannot_draw_is_refused_and_changes_nothing(game_id: str, options: dict[str, Any]) -> None:
    game = whole(game_id, options)
    state = game.deal(many_keys(2))
    before = state.copy()
    rows = game.outcomes(state)
    rows = rows[:, : (rows >= 0).sum(axis=1).max()]
    wrong: list[Any] = [rows[:, :-1], rows[:1], rows[0], rows.astype(float), np.insert(rows, rows.shape[1], 0, axis=1)]
    for value in (-1, game.num_outcomes):
        for place in range(rows.shape[1]):
            wrong.append(rows.copy())
            wrong[-1][1, place] = value
    for outcomes in wrong:
        with pytest.raises(PositionError, match=r"outcomes: expected|row 1: chance cannot draw|row 0: chance cannot"):
            game.draw(state, outcomes)
        assert state.equals(before)


@a_few_cases
def test_nothing_follows_what_chance_cannot_draw(game_id: str, options: dict[str, Any]) -> None:
    game = whole(game_id, options)
    state = game.deal(many_keys(1))
    row = [n for n in game.outcomes(state)[0].tolist() if n >= 0]
    for drawn in ([*row, 0], [-1], [game.num_outcomes], [*row[:-1], -1, 0], [*row[:-1], game.num_outcomes, 0]):
        with pytest.raises(PositionError, match="chance cannot draw"):
            game.next_outcomes(state, drawn)


@a_few_cases
def test_a_match_past_its_draw_is_not_drawn_again(game_id: str, options: dict[str, Any]) -> None:
    game = whole(game_id, options)
    state = game.deal(many_keys(40))
    outcomes = game.outcomes(state)
    advance(game, state, 3)
    late = ~game.drawn_now(state)
    assert late.any()
    with pytest.raises(PositionError, match=f"row {np.argmax(late)}: the match is over, or past its draw"):
        game.draw(state, outcomes)


@a_few_cases
def test_reading_and_redrawing_leave_the_match_alone(game_id: str, options: dict[str, Any]) -> None:
    game = whole(game_id, options)
    state = on_the_way(game, many_keys(5))
    before = state.copy()
    outcomes = game.outcomes(state)
    game.redraw(state, state.to_move, many_keys(5))
    assert state.equals(before)
    assert not any(np.shares_memory(outcomes, array) for array in arrays(state).values())


# --- what a match can pay


@pytest.mark.parametrize("reward", ["points", "relative", "win"])
@every_case
def test_no_match_pays_more_or_less_than_the_bounds(game_id: str, options: dict[str, Any], reward: str) -> None:
    if reward == "relative" and options.get("num_seats") == 1:
        pytest.skip("there is no other seat")
    level = {"handicaps": None} if game_id == "poison-v0" else {}
    game: Any = make(game_id, **(options | level | {"reward": reward}))
    paid = advance(game, game.deal(many_keys(50)))
    low, high = game.return_bounds
    assert paid.min() >= low
    assert paid.max() <= high
    if game.return_sum is not None:
        np.testing.assert_allclose(paid.sum(axis=1), game.return_sum, atol=1e-9)
