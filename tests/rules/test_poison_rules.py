"""The rules of Poison on positions set up from text: where a card may go, when a cauldron overflows, who is immune."""

import numpy as np
import pytest

from poison_env.core.errors import IllegalActionError
from poison_env.games.poison import Poison, PoisonState
from tests.support import OPTION_SETS, RECORD, advance, at_random_depths, contents, keys, labels, many_keys, push, seen

# --- where a card may go ----------------------------------------------------------------------------------------------


def legal(cauldrons: tuple[str, str, str], hand: str, **options: object) -> set[str]:
    """Return the legal moves of seat 0, which holds `hand`; seat 1 holds as many 7s and 5s."""
    game = Poison(num_seats=2, **options)
    other = " ".join(["P7", "P7", "P7", "P5", "P5", "P5"][: len(hand.split())])
    return labels(game, game.position(hands=[hand, other], cauldrons=cauldrons))


def test_a_potion_goes_on_its_colour_only() -> None:
    assert legal(("R7", "G4", "B1"), "R1") == {"R1>1"}


def test_a_potion_of_a_new_colour_goes_where_there_is_no_colour() -> None:
    assert legal(("R7", "G4", "B1"), "P2") == {"P2>2"}


def test_a_poison_goes_anywhere() -> None:
    assert legal(("R7", "G4", "B1"), "G4") == {"G4>1", "G4>2", "G4>3"}


def test_a_hand_offers_the_moves_of_all_its_cards() -> None:
    assert legal(("R7", "G4", "B1"), "R1 P2 G4") == {"R1>1", "P2>2", "G4>1", "G4>2", "G4>3"}


def test_the_player_chooses_the_cauldron_of_a_new_colour() -> None:
    assert legal(("", "", ""), "B1") == {"B1>1", "B1>2", "B1>3"}


def test_cauldrons_of_poison_alone_have_no_colour() -> None:
    assert legal(("G4", "G4 G4", "R5"), "B1") == {"B1>1", "B1>2"}


def test_a_colour_placed_on_poison_claims_that_cauldron() -> None:
    game = Poison(num_seats=2)
    state = game.position(hands=["B1 P1", "P2 P4"], cauldrons=("G4", "G4 G4", "R5"))
    push(game, state, "B1>1")
    assert labels(game, state) == {"P2>2", "P4>2"}


def test_poison_in_a_coloured_cauldron_leaves_its_colour() -> None:
    assert legal(("R2 G4", "", ""), "R1 B1") == {"R1>1", "B1>2", "B1>3"}


def test_copies_of_a_card_are_one_move() -> None:
    game = Poison(num_seats=2)
    state = game.position(hands=["R1x3", "P7x3"])
    assert game.action_mask(state).sum() == 3


def test_fixed_colours_are_red_blue_purple() -> None:
    assert legal(("", "G4", ""), "R1 B1 P1", colour_rule="fixed") == {"R1>1", "B1>2", "P1>3"}


def test_poison_goes_anywhere_with_fixed_colours() -> None:
    assert legal(("R7", "", "P2"), "G4", colour_rule="fixed") == {"G4>1", "G4>2", "G4>3"}


def test_a_cauldron_whose_colour_the_deck_lacks_takes_poison_only() -> None:
    game = Poison(num_seats=2, deck="R1x4 P2x4 G1x2", colour_rule="fixed")
    state = game.position(hands=["R1 P2 G1", "R1 P2 G1"])
    assert labels(game, state) == {"R1>1", "P2>3", "G1>1", "G1>2", "G1>3"}


def test_fixed_colours_stay_after_an_overflow_by_poison() -> None:
    game = Poison(num_seats=2, colour_rule="fixed")
    state = game.position(hands=["G4 R1", "R2 B2"], cauldrons=("R7 R5", "", ""))
    push(game, state, "G4>1")
    assert labels(game, state) == {"R2>1", "B2>2"}


@pytest.mark.parametrize("name", OPTION_SETS)
def test_every_card_of_every_hand_is_always_playable(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = at_random_depths(game, many_keys(60))
    for seat in range(game.num_seats):
        state.to_move[:] = seat
        playable = game.action_mask(state).reshape(len(state), game.num_kinds, 3).any(axis=2)
        np.testing.assert_array_equal((state.hands[:, seat] > 0) & ~state.done[:, None], playable)


# --- overflow ---------------------------------------------------------------------------------------------------------


def overflow_table(cauldron: str, *cards: str, deck: str = "published") -> tuple[Poison, PoisonState]:
    """Return a table for two with one cauldron; seat 0 and seat 1 hold and play `cards` by turns."""
    game = Poison(num_seats=2, deal="all", deck=deck)
    spare = " ".join(["P7"] * (len(cards) % 2))
    state = game.position(hands=[" ".join(cards[::2]), " ".join((*cards[1::2], spare))], cauldrons=(cauldron, "", ""))
    return game, state


def test_thirteen_does_not_overflow() -> None:
    game, state = overflow_table("R7 R4", "R2")
    assert not game.overflows(state).any()
    push(game, state, "R2>1")
    assert (contents(game, state)[0], seen(game, state, "cauldron_totals")) == ("R2 R4 R7", [13, 0, 0])


def test_above_thirteen_the_mover_takes_what_was_there() -> None:
    game, state = overflow_table("R7 R4", "R2", "R4", "B1", "B1")
    push(game, state, "R2>1", "R4>1")
    assert seen(game, state, "taken") == [[0, 0, 0, 0], [3, 0, 0, 0]]
    assert contents(game, state)[0] == "R4"


def test_the_card_just_played_is_not_taken() -> None:
    game, state = overflow_table("R7", "R7")
    push(game, state, "R7>1")
    assert seen(game, state, "taken")[0] == [1, 0, 0, 0]
    assert contents(game, state)[0] == "R7"


def test_poison_in_the_cauldron_is_taken_too() -> None:
    game, state = overflow_table("R7 G4", "R5")
    push(game, state, "R5>1")
    assert seen(game, state, "taken")[0] == [1, 0, 0, 1]
    assert contents(game, state)[0] == "R5"


def test_poison_on_poison_overflows_at_sixteen() -> None:
    game, state = overflow_table("G4 G4 G4", "G4")
    push(game, state, "G4>1")
    assert seen(game, state, "taken")[0] == [0, 0, 0, 3]
    assert contents(game, state)[0] == "G4"


def test_three_poisons_cost_six_points() -> None:
    game = Poison(num_seats=2)
    assert game.score(np.array([[0, 0, 0, 3], [0, 0, 0, 0]])).tolist() == [6, 0]


def test_an_overflow_by_poison_frees_the_colour() -> None:
    game, state = overflow_table("R7 R5", "G4", "R1")
    push(game, state, "G4>1")
    assert seen(game, state, "taken")[0] == [2, 0, 0, 0]
    assert contents(game, state) == ["G4", "-", "-"]
    assert seen(game, state, "cauldron_colours") == [0, 0, 0]
    assert labels(game, state) == {"R1>1", "R1>2", "R1>3"}


def test_an_overflow_by_a_potion_keeps_the_colour() -> None:
    game, state = overflow_table("R7 R5", "R5", "R1")
    push(game, state, "R5>1")
    assert seen(game, state, "cauldron_colours") == [1, 0, 0]
    assert labels(game, state) == {"R1>1"}


def test_an_overflow_leaves_the_other_cauldrons_alone() -> None:
    game = Poison(num_seats=2)
    state = game.position(hands=["R5", "P7"], cauldrons=("R7 R4", "B1 G4", "G4"))
    push(game, state, "R5>1")
    assert contents(game, state) == ["R5", "B1 G4", "G4"]


def test_taken_cards_add_up_over_a_round() -> None:
    game, state = overflow_table("R7", "R7", "B1", "R7", "B1")
    push(game, state, "R7>1", "B1>2", "R7>1")
    assert seen(game, state, "taken")[0] == [2, 0, 0, 0]


def test_a_thirteen_on_an_empty_cauldron_stays() -> None:
    game, state = overflow_table("", "R13", deck="R13x4 P7x2")
    push(game, state, "R13>1")
    assert seen(game, state, "cauldron_totals") == [13, 0, 0]
    assert seen(game, state, "taken")[0] == [0, 0, 0, 0]


def test_overflows_names_the_legal_moves_that_overflow() -> None:
    game = Poison(num_seats=2)
    state = game.position(hands=["R1 R5 G4", "P7x3"], cauldrons=("R7 R4", "B5 B5", "G4"))
    found = {game.action_label(a) for a in np.flatnonzero(game.overflows(state)[0])}
    assert found == {"R5>1", "G4>1", "G4>2"}


def test_cards_taken_foretells_what_a_move_takes() -> None:
    game = Poison(**OPTION_SETS["default"])
    state = at_random_depths(game, many_keys(200))
    state = state[~(state.done | game.round_ends(state))]
    for a in range(game.num_actions):
        rows = game.action_mask(state)[:, a]
        before = state[rows]
        movers = np.arange(len(before)), before.to_move
        foretold = game.cards_taken(before, np.full(len(before), a))
        after = before.copy()
        game.step(after, np.full(len(before), a))
        np.testing.assert_array_equal(after.taken[movers] - before.taken[movers], foretold)
        np.testing.assert_array_equal(foretold.any(axis=1), game.overflows(before)[:, a])


# --- turns ------------------------------------------------------------------------------------------------------------


def test_the_turn_passes_clockwise() -> None:
    game = Poison(num_seats=3, first_dealer=0, num_rounds=1)
    state = game.deal(keys(5))
    order = []
    while not state.done[0]:
        order.append(int(state.to_move[0]))
        advance(game, state, 1)
    assert order == [(1 + move) % 3 for move in range(38)]


def test_the_player_left_of_the_dealer_is_dealt_the_first_card_and_begins() -> None:
    game = Poison(num_seats=3, deck="R1 R2 R3 R4 R5 R6 R7", first_dealer=1)
    state = game.deal_from([[6, 5, 4, 3, 2, 1, 0]])
    assert state.to_move.tolist() == [2]
    assert seen(game, state, "hands") == [[0, 0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0, 0], [1, 0, 0, 1, 0, 0, 1]]


def test_the_dealer_passes_to_the_left_after_each_round() -> None:
    game = Poison(num_seats=4, first_dealer=2, num_rounds=6)
    state = game.deal(keys(1))
    first = []
    for _ in range(6):
        first.append(int(state.to_move[0]))
        advance(game, state, game.cards_dealt)
    assert first == [3, 0, 1, 2, 3, 0]


def test_the_first_dealer_is_drawn_from_the_seed() -> None:
    state = Poison(num_seats=5).deal(many_keys(5000))
    counts = np.bincount(state.to_move, minlength=5)
    assert counts.min() > 900
    assert counts.max() < 1100


def test_a_new_round_starts_from_a_clean_table() -> None:
    game = Poison(num_rounds=2)
    state = game.deal(many_keys(20))
    advance(game, state, 50)
    assert state.round.tolist() == [1] * 20
    assert not state.taken.any()
    assert not state.cauldrons.any()
    assert (state.hands.sum(axis=(1, 2)) == 50).all()


def test_every_round_has_its_own_deal() -> None:
    game = Poison(num_rounds=3, first_dealer=0)
    first, second, third = (game.card_order(keys(7), r) for r in range(3))
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)


def test_later_rounds_are_dealt_from_the_order_of_their_round() -> None:
    game = Poison(num_rounds=2, first_dealer=3)
    state = game.deal(keys(7))
    advance(game, state, 50)
    hand = np.bincount(game.card_order(keys(7), 1)[0, ::4], minlength=game.num_kinds)
    assert state.to_move.tolist() == [1]
    np.testing.assert_array_equal(hand, state.hands[0, 1])


def test_a_deal_from_an_order_is_the_deal_of_that_order() -> None:
    game = Poison(num_seats=5, num_rounds=2)
    seeds = many_keys(30)
    assert game.deal_from(game.card_order(seeds), seeds=seeds).equals(game.deal(seeds))


def test_a_round_that_has_begun_can_be_dealt_again() -> None:
    game = Poison(num_rounds=2)
    state = game.deal(many_keys(3))
    advance(game, state, 50)
    orders = game.card_order(many_keys(3, seed=8), 5)
    game.redeal(state, orders)
    hand = np.bincount(orders[1, ::4], minlength=game.num_kinds)
    np.testing.assert_array_equal(hand, state.hands[1, state.to_move[1]])


# --- scoring ----------------------------------------------------------------------------------------------------------


def score(*piles: tuple[int, int, int, int]) -> list[int]:
    """Return the points for cards taken as (blue, red, purple, poison), the order of the published table."""
    taken = np.array(piles)[:, [1, 0, 2, 3]]
    return Poison(num_seats=len(piles)).score(taken).tolist()


def test_the_published_scoring_table() -> None:
    assert score((3, 2, 0, 1), (0, 6, 2, 0), (2, 5, 6, 2), (6, 1, 6, 4)) == [7, 2, 17, 15]


def test_two_with_four_and_one_with_one_all_count() -> None:
    assert score((0, 4, 0, 0), (0, 4, 0, 0), (0, 1, 0, 0)) == [4, 4, 1]


def test_strictly_most_of_a_colour_is_discarded() -> None:
    assert score((0, 4, 0, 0), (0, 3, 0, 0), (0, 1, 0, 0)) == [0, 3, 1]


def test_each_colour_has_its_own_majority() -> None:
    assert score((5, 1, 0, 0), (1, 5, 0, 0), (0, 0, 1, 0)) == [1, 1, 0]


def test_the_only_card_of_a_colour_is_a_majority() -> None:
    assert score((0, 0, 1, 0), (0, 0, 0, 0)) == [0, 0]


def test_poison_is_never_discarded() -> None:
    assert score((0, 0, 0, 8), (0, 0, 0, 0)) == [16, 0]


def test_a_poison_counts_two_whatever_its_value() -> None:
    game = Poison(num_seats=2, deck="R13x2 G1 G2", first_dealer=1, num_rounds=1)
    state = game.deal_from([game.deck.parse("G1 R13 G2 R13")])
    push(game, state, "G1>1", "R13>1", "G2>1", "R13>1")
    assert seen(game, state, "taken") == [[1, 0, 0, 0], [0, 0, 0, 2]]
    assert state.totals.tolist() == [[0, 4]]


def test_a_potion_counts_one_whatever_its_value() -> None:
    assert score((7, 0, 0, 0), (7, 0, 0, 0)) == [7, 7]


def test_majority_names_seats_and_colours() -> None:
    game = Poison(num_seats=3)
    immune = game.majority(np.array([[2, 0, 1, 5], [1, 0, 1, 0], [0, 0, 0, 0]]))
    assert immune.tolist() == [[True, False, False, False], [False] * 4, [False] * 4]


def test_cards_in_hand_do_not_count_for_a_majority() -> None:
    game = Poison(num_seats=2, deck="R7x6", num_rounds=1)
    state = game.position(hands=["R7", "R7"], cauldrons=("R7", "", ""), taken=["R7x2", "R7"])
    push(game, state, "R7>1", "R7>1")
    assert state.totals.tolist() == [[0, 2]]  # three taken by seat 0 against two


def test_cards_left_in_cauldrons_belong_to_nobody() -> None:
    game = Poison(num_seats=2, deck="R1x2 B1x2", num_rounds=1)
    state = game.position(hands=["R1 B1", "R1 B1"])
    push(game, state, "R1>1", "R1>1", "B1>2", "B1>2")
    assert state.done.all()
    assert state.totals.tolist() == [[0, 0]]


# --- a whole round ----------------------------------------------------------------------------------------------------


def play_the_record(**options: object) -> tuple[Poison, PoisonState, list[bool], list[list[float]]]:
    """Play the recorded round; return whether each move overflowed and what the last move paid."""
    game = Poison(first_dealer=3, **{"num_rounds": 1, **options})
    state = game.deal_from([[game.deck.parse(move[:2])[0] for move in RECORD]])
    overflowed, paid = [], []
    for move in RECORD:
        label = f"{move[:2]}>{'XYZ'.index(move[2]) + 1}"
        chosen = 3 * game.deck.parse(move[:2])[0] + "XYZ".index(move[2])
        overflowed.append(bool(game.overflows(state)[0, chosen]))
        paid.append(push(game, state, label)[0].tolist())
    return game, state, overflowed, paid


def test_the_record_overflows_where_it_says() -> None:
    assert play_the_record()[2] == [move.endswith("*") for move in RECORD]


def test_the_record_ends_in_the_published_table() -> None:
    game, state, _, _ = play_the_record()
    taken = [[blue, red, purple, poison] for red, blue, purple, poison in seen(game, state, "taken")]
    assert taken == [[3, 2, 0, 1], [6, 1, 6, 4], [0, 6, 2, 0], [2, 5, 6, 2]]
    assert state.totals.tolist() == [[7, 15, 2, 17]]


def test_the_record_leaves_four_cards_in_the_cauldrons() -> None:
    game, state, _, _ = play_the_record()
    assert contents(game, state) == ["G4", "B4 B4 B5", "-"]


def test_the_record_ends_the_match_after_fifty_moves() -> None:
    game, state, _, _ = play_the_record()
    assert (state.done[0], state.moves[0], state.truncated[0]) == (True, 50, False)
    assert not game.action_mask(state).any()


def test_only_the_last_move_of_a_round_is_paid() -> None:
    paid = play_the_record()[3]
    assert paid == [[0.0] * 4] * 49 + [[-7.0, -15.0, -2.0, -17.0]]


def test_round_ends_tells_the_last_move() -> None:
    game = Poison(num_rounds=2)
    state = game.deal(keys(3))
    told = []
    for chosen in range(100):
        told += [chosen] if game.round_ends(state)[0] else []
        advance(game, state, 1)
    assert told == [49, 99]
    assert not game.round_ends(state).any()


# --- rewards, handicaps, places ---------------------------------------------------------------------------------------


def test_relative_reward_is_own_less_the_mean_of_the_others() -> None:
    paid = play_the_record(reward="relative")[3]
    assert paid[-1] == pytest.approx([-(7 - 34 / 3), -(15 - 26 / 3), -(2 - 39 / 3), -(17 - 24 / 3)])


def test_win_pays_the_lowest_total_of_the_match() -> None:
    assert play_the_record(reward="win")[3][-1] == [0.0, 0.0, 1.0, 0.0]


def test_a_shared_win_is_shared_equally() -> None:
    assert play_the_record(reward="win", handicaps=(0, 0, 5, 0))[3][-1] == [0.5, 0.0, 0.5, 0.0]


def test_a_win_is_not_paid_before_the_match_ends() -> None:
    assert play_the_record(reward="win", num_rounds=2)[3][-1] == [0.0] * 4


def test_rewards_of_a_round_are_paid_when_it_is_scored() -> None:
    assert play_the_record(num_rounds=2)[3][-1] == [-7.0, -15.0, -2.0, -17.0]


def test_handicaps_open_the_totals_and_are_not_paid() -> None:
    game, state, _, paid = play_the_record(handicaps=(0, 1, 16, 0))
    assert game.points(state).tolist() == [[7, 16, 18, 17]]
    assert paid[-1] == [-7.0, -15.0, -2.0, -17.0]


def test_handicaps_count_for_the_places() -> None:
    game, state, _, _ = play_the_record(handicaps=(0, 1, 16, 0))
    assert game.placements(state).tolist() == [[0, 1, 3, 2]]


def test_equal_totals_share_a_place() -> None:
    game, state, _, _ = play_the_record(handicaps=(8, 0, 13, 0))
    assert game.placements(state).tolist() == [[0, 0, 0, 3]]


def test_points_before_the_first_round_are_the_handicaps() -> None:
    game = Poison(handicaps=(4, 0, 2, 1))
    assert game.points(game.deal(keys(1, 2))).tolist() == [[4, 0, 2, 1]] * 2


# --- illegal moves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("move", "message"),
    [
        ("R7>1", "row 0: seat 0 does not hold R7"),
        ("R1>2", "row 0: seat 0 may not play R1 on cauldron 2; colours are red, none, blue"),
        ("P2>1", "row 0: seat 0 may not play P2 on cauldron 1; colours are red, none, blue"),
    ],
)
def test_an_illegal_move_is_refused_with_its_reason(move: str, message: str) -> None:
    game = Poison(num_seats=2)
    state = game.position(hands=["R1 P2", "P7 P7"], cauldrons=("R7", "G4", "B1"))
    with pytest.raises(IllegalActionError) as refused:
        push(game, state, move)
    assert message in str(refused.value)
