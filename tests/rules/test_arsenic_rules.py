"""Arsenic, position by position: turns, sugar, spoons, honour turns, death, special scones, the end."""

import numpy as np
import pytest

from poison_env.core.errors import ActionTypeError, IllegalActionError, OptionError, PositionError
from poison_env.games.arsenic import Arsenic, ArsenicState
from tests.arsenic_support import SORTED, WITH_SPECIALS, action, eat, labels, many_keys, push, words

# In these boxes slots 1 and 2 of a flavour are harmless, 3 and 4 have one dose, 5 two, 6 three; 7 is the special one.


def table(num_seats: int = 4, first: int = 0, **options: object) -> tuple[Arsenic, ArsenicState]:
    game = Arsenic(num_seats=num_seats, **options)  # type: ignore[arg-type]  # options as they come
    return game, game.deal_from(WITH_SPECIALS if game.specials else SORTED, first=first)


def test_a_turn_begins_with_a_stop_a_shuffle_or_a_draw_of_any_scone() -> None:
    game, state = table()
    assert words(game, state) == {"draw", "stop", "shuffle"}
    assert sum(label.startswith("draw") for label in labels(game, state)) == 36
    push(game, state, "shuffle")
    assert words(game, state) == {"draw", "stop"}


def test_the_drawer_eats_or_returns() -> None:
    game, state = table()
    push(game, state, "draw:2.5")
    assert words(game, state) == {"eat", "return"}


def test_a_return_costs_a_sugar_and_ends_the_turn_after_a_shuffle_or_none() -> None:
    game, state = table()
    push(game, state, "shuffle draw:2.5 return")
    assert state.sugars[0].tolist() == [2, 3, 3, 3]
    assert words(game, state) == {"shuffle", "pass"}
    assert state.to_move[0] == 0
    push(game, state, "shuffle")
    assert state.to_move[0] == 1
    assert words(game, state) == {"draw", "stop", "shuffle"}


def test_without_sugar_one_must_eat() -> None:
    game, state = table(num_seats=1)
    push(game, state, "draw:0.6 return pass " * 3 + "draw:0.6")
    assert words(game, state) == {"eat"}


def test_spoons_are_asked_for_clockwise_from_the_eater() -> None:
    game, state = table(first=2)
    asked = []
    push(game, state, "draw:0.1 eat")
    for _ in range(3):
        asked.append(int(state.to_move[0]))
        assert words(game, state) == {"spoon", "pass"}
        push(game, state, "pass")
    assert asked == [3, 0, 1]
    assert state.cups[0, 2].sum() == 1
    assert state.to_move[0] == 3


def test_a_spoon_leaves_sugar_cup_and_dose_of_the_eater_as_they_were() -> None:
    game, state = table()
    before = state.copy()
    push(game, state, "draw:0.6 eat pass spoon")
    assert state.spoons[0].tolist() == [True, True, False, True]
    for name in ("sugars", "cups", "doses", "alive", "box"):
        np.testing.assert_array_equal(getattr(state, name), getattr(before, name))
    assert (state.to_move[0], words(game, state)) == (0, {"shuffle", "pass"})


def test_a_spoon_is_used_once_and_its_user_learns_nothing() -> None:
    game, state = table(num_seats=2)
    push(game, state, "draw:0.6 eat spoon pass draw:0.1 eat pass draw:0.2 eat")
    assert state.to_move[0] == 1  # seat 1 has no spoon, so it was not asked
    push(game, state, "draw:0.6")
    seen = game.layout.decode(game.observe(state, np.array([1])), "known_slots")[0]
    assert np.flatnonzero(seen).tolist() == [5]  # what it has drawn itself
    assert game.layout.decode(game.observe(state, np.array([0])), "known_slots")[0, 5] == 4


def test_without_spoons_nobody_is_asked() -> None:
    game, state = table(spoons=False)
    push(game, state, "draw:0.1 eat")
    assert state.to_move[0] == 1


def test_the_stopped_may_use_spoons_and_the_dead_may_not() -> None:
    game, state = table(num_seats=3)
    push(game, state, "stop draw:0.1 eat")
    assert state.to_move[0] == 2
    push(game, state, "pass")
    assert state.to_move[0] == 0
    state.alive[0, 0] = False
    push(game, state, "pass draw:0.2 eat")
    assert state.to_move[0] == 1


def test_at_the_lethal_dose_one_dies() -> None:
    game, state = table()
    state.doses[0, 0] = 7
    eat(game, state, "0.3")
    assert state.alive[0].tolist() == [False, True, True, True]
    assert game.points(state)[0].tolist() == [0, 0, 0, 0]
    assert not state.done[0]


def test_a_spoon_can_save_a_life() -> None:
    game, state = table()
    state.doses[0, 0] = 7
    push(game, state, "draw:0.3 eat spoon")
    assert state.alive[0].all()


def test_honour_turns_after_a_stop() -> None:
    game, state = table(num_seats=3, spoons=False)
    push(game, state, "stop")
    assert state.owed[0].tolist() == [0, 2, 2]
    for flavour in (0, 1):
        for number in (1, 2):
            assert "stop" not in words(game, state)
            eat(game, state, f"{flavour}.{number}")
    assert state.to_move[0] == 1
    assert "stop" in words(game, state)
    push(game, state, "stop")
    assert state.owed[0].tolist() == [0, 0, 2]
    assert "stop" not in words(game, state)


def test_a_stop_sets_the_counter_anew() -> None:
    game, state = table(spoons=False)
    push(game, state, "stop draw:0.1 eat draw:0.2 eat draw:1.1 eat draw:1.2 eat draw:2.1 eat draw:2.2 eat")
    state.owed[0, 2] = 1  # which no order of turns can bring, so that setting and adding differ
    push(game, state, "stop")
    assert state.owed[0].tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize(("seats", "turns"), [(2, 2), (5, 2), (6, 1)])
def test_one_honour_turn_at_six_players(seats: int, turns: int) -> None:
    game, state = table(num_seats=seats)
    push(game, state, "stop")
    assert state.owed[0].tolist() == [0] + [turns] * (seats - 1)


@pytest.mark.parametrize("moves", ["draw:0.1 eat pass pass pass", "draw:0.1 return pass", "draw:0.1 eat spoon pass"])
def test_each_turn_pays_one_honour_turn(moves: str) -> None:
    game, state = table(num_seats=4)
    state.owed[0] = 2
    push(game, state, moves)
    assert state.owed[0].tolist() == [1, 2, 2, 2]


def test_all_may_stop_at_once() -> None:
    game, state = table(num_seats=2, honour_turns=0)
    paid = push(game, state, "stop stop")
    assert (state.done[0], paid.sum()) == (True, 1)


def test_the_last_survivor_wins_with_any_number_of_scones() -> None:
    game, state = table(num_seats=2)
    push(game, state, "draw:0.1 eat pass")
    state.doses[0, 1] = 14
    push(game, state, "draw:1.1 eat pass draw:1.2 eat pass")
    state.cups[0, 1, 3] = 9
    state.doses[0, 1] = 14
    paid = eat(game, state, "0.3")
    assert (state.done[0], paid.tolist()) == (True, [1, 0])
    assert game.placements(state)[0].tolist() == [0, 1]


def test_all_may_die_if_the_last_survivor_has_to_go_on() -> None:
    game, state = table(num_seats=2, last_survivor_ends=False)
    state.doses[0] = 14
    eat(game, state, "0.3")
    assert not state.done[0]
    state.owed[0, 1] = 1
    assert "stop" not in words(game, state)
    paid = eat(game, state, "0.4")
    assert (state.done[0], paid.tolist()) == (True, [0, 0])
    assert game.placements(state)[0].tolist() == [0, 0]


def test_an_empty_box_ends_the_match() -> None:
    game, state = table(num_seats=1)
    state.doses[0, 0] = -50
    slots = [f"{flavour}.{number}" for flavour in range(6) for number in range(1, 7)]
    for slot in slots[:-1]:
        eat(game, state, slot)
        assert not state.done[0]
    assert (eat(game, state, slots[-1]).tolist(), state.done[0]) == ([36], True)


def test_alone_the_scones_are_paid_and_death_pays_nothing() -> None:
    game, state = table(num_seats=1)
    eat(game, state, "0.6")
    eat(game, state, "0.5")
    dead = state.copy()
    assert push(game, state, "stop").tolist() == [2]
    dead.doses[0, 0] = 29
    assert (eat(game, dead, "1.4").tolist(), dead.done[0]) == ([0], True)


def test_equal_scones_go_by_the_higher_dose() -> None:
    game, state = table(num_seats=2, spoons=False, honour_turns=0)
    eat(game, state, "0.3")
    eat(game, state, "0.5")
    assert push(game, state, "stop stop").tolist() == [0, 1]


def test_a_shared_tie() -> None:
    game, state = table(num_seats=3, tiebreak="shared", honour_turns=0)
    assert push(game, state, "stop stop stop").tolist() == pytest.approx([1 / 3] * 3)


def sudden_death(doses: list[int], draws: list[int], num_seats: int, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let all seats stop with those doses, and tie; return what is paid when scones with those doses are drawn."""
    game, state = table(num_seats=num_seats, first=1, honour_turns=0)
    state.doses[0] = doses
    state.box[0] = 0
    state.box[0, : len(draws)] = np.array(draws) + 1
    monkeypatch.setattr(Arsenic, "last_draws", lambda self, one: np.tile(np.arange(42), (len(one), 1)))
    result: list[float] = push(game, state, "stop " * num_seats).tolist()
    return result


@pytest.mark.parametrize(
    ("doses", "draws", "paid"),
    [
        ([14, 14], [1, 0], [1, 0]),  # seat 1 began the match and draws first
        ([14, 14], [0, 2, 0, 0], [0, 1]),
        ([14, 14], [0, 0, 1, 1, 0], [0.5, 0.5]),  # both out in one lap
        ([14, 14], [0, 0, 0], [0.5, 0.5]),  # the box is empty
        ([14, 14], [0, 0, 1], [1, 0]),  # out by the last scone
        ([2, 2], [3, 3], [0.5, 0.5]),
    ],
)
def test_sudden_death(doses: list[int], draws: list[int], paid: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    assert sudden_death(doses, draws, 2, monkeypatch) == paid


def test_sudden_death_goes_on_among_those_left(monkeypatch: pytest.MonkeyPatch) -> None:
    # lethal is 10: seats 1, 2, 0 draw in this order; seat 2 is out in the first lap, seat 1 in the second
    assert sudden_death([8, 8, 8], [1, 2, 0, 1, 1, 0, 0], 3, monkeypatch) == [1, 0, 0]


def test_scones_drawn_in_sudden_death_do_not_count_and_who_is_out_is_behind_the_winners() -> None:
    game, state = table(num_seats=4, honour_turns=0, reward="points")
    state.alive[0, 3] = False
    state.doses[0, :3] = 7
    state.box[0] = 0
    state.box[0, 3] = 2  # one dose is all there is: seat 0 is out, and the others share
    assert push(game, state, "stop stop stop").tolist() == [0, 0, 0, 0]
    assert game.points(state)[0].tolist() == [0, 0, 0, 0]
    assert game.placements(state)[0].tolist() == [2, 0, 0, 3]


def test_a_second_moon_in_sudden_death_kills_nobody() -> None:
    game, state = table(num_seats=2, specials=True, honour_turns=0, spoons=False)
    eat(game, state, "3.7")
    eat(game, state, "0.1")
    state.box[0] = 0
    state.box[0, 34] = 5  # the other moon, which seat 0 draws
    assert push(game, state, "stop stop").tolist() == [0.5, 0.5]


def test_a_scone_in_the_hand_lies_in_its_slot_until_it_is_swallowed() -> None:
    game, state = table(num_seats=2)
    for moves, there in (("draw:2.5", 1), ("eat", 1), ("pass", 0)):
        push(game, state, moves)
        assert game.layout.decode(game.observe(state, np.array([1])), "box")[0, 18] == there


def test_knowledge_goes_from_slots_to_flavours_when_the_box_is_shuffled() -> None:
    game, state = table(num_seats=2)
    push(game, state, "draw:2.5 return pass draw:2.5 return shuffle")
    for seat in (0, 1):
        view = game.observe(state, np.array([seat]))
        assert not game.layout.decode(view, "known_slots").any()
        kept = game.layout.decode(view, "kept")[0]
        assert (kept.sum(), kept[2, 2]) == (1, 1)


def test_what_was_kept_of_a_flavour_is_dropped_when_another_eats_of_it() -> None:
    game, state = table(num_seats=2)
    push(game, state, "draw:2.5 return shuffle draw:3.1 eat pass")
    assert state.kept[0, 0].sum() == 1
    push(game, state, "draw:3.2 eat pass draw:2.1 eat pass")
    assert state.kept[0, 0].sum() == 0


def test_one_knows_a_scone_that_another_eats_from_a_slot_one_has_seen() -> None:
    game, state = table(num_seats=2)
    push(game, state, "draw:2.6 return pass draw:2.6 eat pass")
    cups = game.layout.decode(game.observe(state, np.array([0])), "known_cups")[0]
    assert (cups[1].sum(), cups[1, 2, 3]) == (1, 1)


def test_by_flavour_nothing_is_asked_after_a_return_or_a_spoon() -> None:
    game, state = table(draw="flavour", num_seats=2)
    assert (game.num_actions, words(game, state)) == (11, {"draw", "stop"})
    push(game, state, "draw:2 return")
    assert (state.to_move[0], state.kept[0, 0, 10:15].sum()) == (1, 1)
    push(game, state, "draw:2 eat spoon")
    assert state.to_move[0] == 0


# --- special scones


def test_the_plus_counts_two_and_the_round_none() -> None:
    game, state = table(num_seats=1, specials=True)
    eat(game, state, "0.7")
    assert game.points(state)[0].tolist() == [1]  # as many as everybody sees; what they count is told at the end
    eat(game, state, "2.7")
    assert push(game, state, "stop").tolist() == [2]
    assert game.points(state)[0].tolist() == [2]
    eat(game, state := table(num_seats=1, specials=True)[1], "2.7")
    assert push(game, state, "stop").tolist() == [0]


def test_a_drop_saves_a_later_life_and_no_dose_is_below_none() -> None:
    game, state = table(num_seats=1, specials=True)
    eat(game, state, "1.7")
    assert game.layout.decode(game.observe(state, np.array([0])), "own_dose")[0, 0] == 0
    state.doses[0, 0] += 29
    eat(game, state, "0.3")
    assert state.alive[0, 0]
    eat(game, state, "0.4")
    assert not state.alive[0, 0]


def test_two_moons_in_a_cup_kill() -> None:
    game, state = table(num_seats=2, specials=True)
    eat(game, state, "3.7")
    eat(game, state, "0.1")
    assert not state.done[0]
    eat(game, state, "4.7")
    assert (state.done[0], state.alive[0].tolist()) == (True, [False, True])


def test_two_cups_may_have_a_moon_each() -> None:
    game, state = table(num_seats=2, specials=True)
    eat(game, state, "3.7")
    eat(game, state, "4.7")
    assert state.alive[0].all()


def test_the_window_sticks_but_a_spoon_sends_it_back() -> None:
    game, state = table(num_seats=2, specials=True)
    push(game, state, "draw:5.7")
    assert words(game, state) == {"eat"}
    push(game, state, "eat spoon")
    assert state.cups[0, 0].sum() == 0
    push(game, state, "pass draw:0.1 eat pass")
    eat(game, state, "5.7")
    assert state.doses[0, 0] == 1


# --- illegal input


@pytest.mark.parametrize(
    ("moves", "wrong", "message"),
    [
        ("", "eat", "row 1: seat 0 may not eat now"),
        ("shuffle", "shuffle", "may not shuffle now"),
        ("draw:0.1 eat pass pass pass", "draw:0.1", "draws where no scone is"),
        ("stop", "stop", "seat 1 owes 2 honour turns"),
        ("draw:0.1", "stop", "legal is eat, return"),
    ],
)
def test_an_illegal_action_is_refused_and_nothing_changes(moves: str, wrong: str, message: str) -> None:
    game, one = table()
    push(game, one, moves)
    state = one[[0, 0]]
    before = state.copy()
    legal = int(np.flatnonzero(game.action_mask(one)[0])[0])
    with pytest.raises(IllegalActionError, match=message):
        game.step(state, np.array([legal, action(game, wrong)]))
    assert state.equals(before)


def test_actions_are_draws_by_slot_or_flavour_and_then_the_words() -> None:
    by_slot, by_flavour = (Arsenic(draw=draw) for draw in ("slots", "flavour"))
    assert [by_slot.action_label(number) for number in (0, 18, 41)] == ["draw:0.1", "draw:2.5", "draw:5.7"]
    rest = ["stop", "shuffle", "eat", "return", "spoon", "pass"]
    assert [by_slot.action_label(number) for number in range(42, by_slot.num_actions)] == rest
    rest.remove("shuffle")
    shown = [by_flavour.action_label(number) for number in range(by_flavour.num_actions)]
    assert shown == [f"draw:{flavour}" for flavour in range(6)] + rest


def test_actions_must_be_whole_numbers_in_range() -> None:
    game, state = table()
    with pytest.raises(ActionTypeError):
        game.step(state, np.array([0.0]))
    with pytest.raises(IllegalActionError, match=r"outside 0\.\.47"):
        game.step(state, np.array([48]))


@pytest.mark.parametrize(
    "options",
    [
        {"num_seats": 0},
        {"num_seats": 7},
        {"num_seats": True},
        {"honour_turns": -1},
        {"honour_turns": 10},
        {"spoons": 1},
        {"last_survivor_ends": "yes"},
        {"draw": "box"},
        {"tiebreak": "none"},
        {"specials": None},
        {"reward": "scones"},
        {"num_seats": 1, "reward": "relative"},
    ],
)
def test_options_that_cannot_be_played_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError, match=list(options)[-1]):
        Arsenic(**options)  # type: ignore[arg-type]  # what a user may try


def test_defaults_are_resolved() -> None:
    assert (Arsenic().options["reward"], Arsenic(num_seats=1).options["reward"]) == ("win", "points")
    assert [Arsenic(num_seats=n).lethal for n in range(1, 7)] == [30, 15, 10, 8, 7, 6]


def test_a_box_must_have_exactly_the_scones() -> None:
    game = Arsenic()
    with pytest.raises(PositionError, match="row 0"):
        game.deal_from(np.where(np.arange(42) == 0, 3, SORTED))
    with pytest.raises(PositionError, match="row 1"):
        game.deal_from(np.stack([SORTED, WITH_SPECIALS]))
    with pytest.raises(PositionError, match="no such seat"):
        game.deal_from(SORTED, first=4)


def test_boxes_seats_and_seeds_are_as_many() -> None:
    game = Arsenic()
    for wrong in ({"seeds": [1]}, {"seeds": [1, 2, 3]}, {"first": [0, 1, 2]}, {"first": 1.0}, {"first": True}):
        with pytest.raises(PositionError, match="expected"):
            game.deal_from([SORTED, SORTED], **wrong)


def test_boxes_may_lie_in_memory_in_any_order() -> None:
    game, boxes = Arsenic(num_seats=1), np.array([SORTED, SORTED])
    state = game.deal_from(np.asfortranarray(boxes))
    for move in ("draw:0.1", "eat"):
        game.step(state, np.full(2, action(game, move)))
    assert state.box[:, 0].tolist() == [0, 0]


def test_every_seat_may_begin() -> None:
    assert set(Arsenic(num_seats=5).deal(many_keys(200)).to_move.tolist()) == set(range(5))
