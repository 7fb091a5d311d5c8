"""Facts about whole rounds and matches of Poison: sizes, lengths, conservation, and what random play comes to."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from poison_env import MatchRecord, play
from poison_env.core import chance
from poison_env.core.choice import uniform_legal
from poison_env.games.poison import Poison, PoisonState
from poison_env.scripted import load
from tests.support import LARGEST, OPTION_SETS, advance, keys, many_keys, push, random_play

ROUNDS = 20_000
FOUR_ERRORS = 4 * 0.02  # the means below are known to a standard error of 0.02

# --- sizes and lengths ------------------------------------------------------------------------------------------------

HANDS = {  # deck, deal -> seats -> the first player's hand first; cards set aside
    ("published", "hands4"): {
        2: ([13] * 2, 24), 3: ([13, 13, 12], 12), 4: ([13, 13, 12, 12], 0), 5: ([10] * 5, 0),
        6: ([9, 9] + [8] * 4, 0), 7: ([8] + [7] * 6, 0), 8: ([7, 7] + [6] * 6, 0),
    },
    ("published", "equal"): {
        2: ([25] * 2, 0), 3: ([16] * 3, 2), 4: ([12] * 4, 2), 5: ([10] * 5, 0),
        6: ([8] * 6, 2), 7: ([7] * 7, 1), 8: ([6] * 8, 2),
    },
    ("published", "all"): {
        2: ([25] * 2, 0), 3: ([17, 17, 16], 0), 4: ([13, 13, 12, 12], 0), 5: ([10] * 5, 0),
        6: ([9, 9] + [8] * 4, 0), 7: ([8] + [7] * 6, 0), 8: ([7, 7] + [6] * 6, 0),
    },
    ("box58", "all"): {
        2: ([29] * 2, 0), 3: ([20, 19, 19], 0), 4: ([15, 15, 14, 14], 0), 5: ([12, 12, 12, 11, 11], 0),
        6: ([10] * 4 + [9, 9], 0), 7: ([9, 9] + [8] * 5, 0), 8: ([8, 8] + [7] * 6, 0),
    },
    ("box58", "equal"): {2: ([29] * 2, 0), 3: ([19] * 3, 1), 4: ([14] * 4, 2), 5: ([11] * 5, 3), 8: ([7] * 8, 2)},
    ("box58", "hands4"): {2: ([15] * 2, 28), 3: ([15, 15, 14], 14), 4: ([15, 15, 14, 14], 0)},
}  # fmt: skip


@pytest.mark.parametrize(
    ("deck", "deal", "seats"), [(deck, deal, seats) for (deck, deal), sizes in HANDS.items() for seats in sizes]
)
def test_hand_sizes(deck: str, deal: str, seats: int) -> None:
    sizes, aside = HANDS[deck, deal][seats]
    game = Poison(num_seats=seats, deck=deck, deal=deal, first_dealer=seats - 1)
    everything = game.observe_all(game.deal(keys(1)))
    assert game.hand_sizes == tuple(sizes)
    assert game.full_layout.decode(everything, "hands").sum(axis=2)[0].tolist() == sizes
    assert game.full_layout.decode(everything, "set_aside").sum() == aside


@pytest.mark.parametrize(
    ("options", "moves"),
    [
        ({"num_seats": 2}, 4 * 26),
        ({"num_seats": 3}, 152),
        ({"num_seats": 4}, 200),
        ({"num_seats": 5}, 250),
        ({"num_seats": 6}, 300),
        ({"num_seats": 7}, 350),
        ({"num_seats": 8}, 400),
        ({"num_seats": 3, "deal": "equal"}, 4 * 48),
        ({"num_seats": 3, "deal": "all"}, 4 * 50),
        ({"num_seats": 2, "deal": "all"}, 4 * 50),
        ({"num_rounds": 1}, 50),
        ({"num_rounds": 20}, 1000),
        ({"num_seats": 2, "deck": "box58"}, 2 * 58),
        ({"num_seats": 3, "deck": "box58"}, 3 * 58),
        ({"num_seats": 6, "deck": "box58"}, 6 * 58),
        ({"num_seats": 2, "deck": "R1x4 B2x4"}, 2 * 8),
        ({"num_seats": 8, "deck": "R1x8"}, 8 * 8),
    ],
)
def test_a_match_has_as_many_moves_as_dealt_cards(options: dict[str, Any], moves: int) -> None:
    game = Poison(**options)
    state = game.deal(many_keys(5))
    advance(game, state, moves - 1)
    assert not state.done.any()
    advance(game, state, 1)
    assert state.done.all()
    assert (game.max_moves, state.moves.tolist()) == (moves, [moves] * 5)


@pytest.mark.parametrize(
    ("seats", "deck", "rounds"),
    [
        (2, "published", 4),
        (3, "published", 4),
        (4, "published", 4),
        (5, "published", 5),
        (8, "published", 8),
        (2, "box58", 2),
        (3, "box58", 3),
        (6, "box58", 6),
        (3, "R1x9", 3),
    ],
)
def test_default_number_of_rounds(seats: int, deck: str, rounds: int) -> None:
    assert Poison(num_seats=seats, deck=deck).num_rounds == rounds


@pytest.mark.parametrize(("deck", "deal"), [("published", "hands4"), ("box58", "all"), ("R1x9", "all")])
def test_default_deal(deck: str, deal: str) -> None:
    assert Poison(num_seats=3, deck=deck).options["deal"] == deal


@pytest.mark.parametrize("seats", [4, 5, 6, 7, 8])
def test_four_hands_at_least_is_everything_with_four_and_more(seats: int) -> None:
    seeds = many_keys(10)
    four, everything = (Poison(num_seats=seats, deal=deal) for deal in ("hands4", "all"))
    assert four.deal(seeds).equals(everything.deal(seeds))


def test_the_published_deck() -> None:
    game = Poison()
    assert (game.deck.size, game.num_kinds, game.num_actions) == (50, 16, 48)
    assert game.deck.table == {
        **{(colour, value): 3 for colour in ("red", "blue", "purple") for value in (1, 2, 5, 7)},
        **{(colour, 4): 2 for colour in ("red", "blue", "purple")},
        ("poison", 4): 8,
    }


def test_the_box_of_58() -> None:
    game = Poison(deck="box58")
    assert (game.deck.size, game.num_kinds, game.num_actions) == (58, 11, 33)
    assert game.deck.text == "box58"
    assert game.deck.counts.tolist() == [6, 6, 5, 6, 6, 5, 6, 5, 5, 4, 4]


def test_kinds_are_colour_major_with_rising_values_and_poison_last() -> None:
    game = Poison(num_seats=2, deck="G2 P3 B9 B1 R4 G1 R13")
    assert game.kinds == (
        ("red", 4), ("red", 13), ("blue", 1), ("blue", 9), ("purple", 3), ("poison", 1), ("poison", 2)
    )  # fmt: skip


def test_an_action_is_three_times_the_kind_plus_the_cauldron() -> None:
    game = Poison()
    assert [game.action_label(a) for a in (0, 1, 2, 3, 47)] == ["R1>1", "R1>2", "R1>3", "R2>1", "G4>3"]


def test_every_card_is_equally_likely_in_every_hand() -> None:
    game = Poison(num_seats=3, first_dealer=2, num_rounds=1)
    hands = game.deal(many_keys(20_000)).hands.sum(axis=0)  # (P, K)
    expected = 20_000 * np.array([[13], [13], [12]]) / 50 * game.deck.counts
    np.testing.assert_allclose(hands, expected, rtol=0.03)


# --- every move conserves the cards -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPTION_SETS)
def test_no_card_is_lost_or_made(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = game.deal(many_keys(8))
    by_class = (game.deck.classes[:, None] == np.arange(4)).astype(int)
    deck = game.deck.counts @ by_class
    aside: npt.NDArray[Any] | None = None
    for _ in random_play(game, state):
        sections = {s.name: game.full_layout.decode(game.observe_all(state), s.name) for s in game.full_layout.sections}
        table = sections["hands"].sum(axis=1) + sections["set_aside"] + sections["cauldrons"].sum(axis=1)
        assert min(section.min() for section in sections.values()) >= 0
        assert (table <= game.deck.counts).all()
        np.testing.assert_array_equal(table @ by_class + sections["taken"].sum(axis=1), np.tile(deck, (8, 1)))
        aside = sections["set_aside"] if aside is None or (state.cards_left == game.cards_dealt).any() else aside
        np.testing.assert_array_equal(sections["set_aside"], aside)


@pytest.mark.parametrize("name", OPTION_SETS)
def test_a_cauldron_never_holds_more_than_thirteen_or_two_colours(name: str) -> None:
    game = Poison(**OPTION_SETS[name])
    state = game.deal(many_keys(8))
    for _ in random_play(game, state):
        everything = game.observe_all(state)
        cauldrons = game.full_layout.decode(everything, "cauldrons")
        totals = game.full_layout.decode(everything, "cauldron_totals")
        np.testing.assert_array_equal(cauldrons @ game.deck.values, totals)
        assert totals.max() <= 13
        there = np.stack([cauldrons[..., game.deck.classes == c].any(axis=-1) for c in range(3)], axis=-1)
        assert there.sum(axis=2).max() <= 1  # colours in a cauldron
        assert there.sum(axis=1).max() <= 1  # cauldrons of a colour


# --- random play ------------------------------------------------------------------------------------------------------


class Watch:
    """Counts overflows, the largest cauldron and the rounds in which a cauldron held poison alone."""

    def __init__(self, rounds: int) -> None:
        self.overflows = np.zeros(rounds, int)
        self.largest = 0
        self.poison_only = np.zeros(rounds, bool)

    def before_step(self, game: Any, state: PoisonState, actions: npt.NDArray[np.int64]) -> None:
        cauldrons = game.full_layout.decode(game.observe_all(state), "cauldrons")
        totals = cauldrons @ game.deck.values
        rows = np.arange(len(state))
        self.overflows += totals[rows, actions % 3] + game.deck.values[actions // 3] > 13
        self.largest = max(self.largest, int(cauldrons.sum(axis=2).max()))
        potions = cauldrons[..., game.deck.classes < 3].sum(axis=2)
        self.poison_only |= ((cauldrons.sum(axis=2) > 0) & (potions == 0)).any(axis=1)


def random_rounds(options: Mapping[str, Any]) -> float:
    """Play rounds at random; return the mean points of a player in a round."""
    game = Poison(num_rounds=1, **options)
    state = game.deal(many_keys(ROUNDS))
    advance(game, state)
    return float(state.totals.mean())


def watched_rounds(rounds: int, agent: Any, **options: Any) -> tuple[Watch, MatchRecord]:
    """Play rounds between copies of an agent, watched."""
    game, watch = Poison(num_rounds=1, **options), Watch(rounds)
    return watch, play(game, [agent] * game.num_seats, many_keys(rounds, seed=1), recorder=watch)


@pytest.mark.parametrize(
    ("options", "points"),
    [
        ({"num_seats": 3}, 7.39),
        ({"num_seats": 4}, 8.52),
        ({"num_seats": 5}, 7.13),
        ({"num_seats": 6}, 6.13),
        ({"num_seats": 2, "deal": "all"}, 13.49),
        ({"num_seats": 3, "deal": "all"}, 10.54),
        ({"num_seats": 3, "colour_rule": "fixed"}, 7.40),
        ({"num_seats": 4, "colour_rule": "fixed"}, 8.52),
        ({"num_seats": 5, "colour_rule": "fixed"}, 7.13),
        ({"num_seats": 6, "colour_rule": "fixed"}, 6.12),
        ({"num_seats": 3, "deck": "box58"}, 10.46),
        ({"num_seats": 4, "deck": "box58"}, 8.55),
        ({"num_seats": 5, "deck": "box58"}, 7.19),
        ({"num_seats": 6, "deck": "box58"}, 6.19),
    ],
)
def test_random_players_take_this_many_points(options: dict[str, Any], points: float) -> None:
    assert random_rounds(options) == pytest.approx(points, abs=FOUR_ERRORS)


@pytest.mark.parametrize(
    ("options", "points"),
    [({"num_seats": 2}, 5.5), ({"num_seats": 3, "deal": "equal"}, 10.0)],
)
def test_random_players_take_this_many_points_to_one_decimal(options: dict[str, Any], points: float) -> None:
    assert random_rounds(options) == pytest.approx(points, abs=0.05 + FOUR_ERRORS)


@pytest.mark.parametrize(("seats", "points", "overflows"), [(3, 7.39, 11.1), (4, 8.52, 15.2)])
def test_random_agents_take_as_many_and_overflow_this_often(seats: int, points: float, overflows: float) -> None:
    watch, record = watched_rounds(ROUNDS, load("random"), num_seats=seats)
    assert record.points.mean() == pytest.approx(points, abs=FOUR_ERRORS)
    assert watch.overflows.mean() == pytest.approx(overflows, abs=0.05 + FOUR_ERRORS)
    assert 94 <= round(100 * watch.poison_only.mean()) <= 99
    assert watch.largest <= 7


def test_random_box_rounds_never_fill_a_cauldron_with_more_than_eleven_cards() -> None:
    watch, _ = watched_rounds(4_000, load("random"), deck="box58")
    assert 9 <= watch.largest <= 11


@pytest.mark.parametrize(("deck", "cards", "size"), [("published", "R1x3 R2x3 R4", 7), ("box58", "R1x6 G1x4 R2", 11)])
def test_the_largest_cauldron(deck: str, cards: str, size: int) -> None:
    game = Poison(num_seats=2, deck=deck, deal="all")
    state = game.position(hands=["G2" if deck == "box58" else "G4", "B1"], cauldrons=(cards, "", ""))
    assert game.full_layout.decode(game.observe_all(state), "cauldrons").sum() == size
    lightest = np.sort(np.repeat(game.deck.values, game.deck.counts * (np.isin(game.deck.classes, (0, 3)))))
    assert lightest[: size + 1].sum() > 13
    push(game, state, "G2>1" if deck == "box58" else "G4>1")
    assert state.taken[0, 0].sum() == size


class OverflowHunter:
    """Overflows whenever it can, at random among the ways to; else plays the highest card or, by turns, any card."""

    def __init__(self, boldness: int) -> None:
        self.boldness = boldness

    def act(self, decisions: Any) -> npt.NDArray[np.int64]:
        game = decisions.game
        totals = game.layout.decode(decisions.observation, "cauldron_totals")
        over = decisions.action_mask & (totals[:, game.cauldron_of] + game.deck.values[game.kind_of] > 13)
        high = game.deck.values[game.kind_of] >= self.boldness
        wanted = np.where(over.any(axis=1, keepdims=True), over, decisions.action_mask & high)
        wanted = np.where(wanted.any(axis=1, keepdims=True), wanted, decisions.action_mask)
        return uniform_legal(wanted, decisions.keys)


@pytest.mark.parametrize("boldness", [1, 4, 7])
def test_a_published_round_has_at_most_27_overflows(boldness: int) -> None:
    watch, _ = watched_rounds(2_000, OverflowHunter(boldness))
    assert 17 <= watch.overflows.max() <= most_overflows(Poison()) <= 27


def most_overflows(game: Poison) -> int:
    """Return a bound of a round's overflows: each needs 14 in cards taken, all different, and in cards played."""
    values = np.sort(np.repeat(game.deck.values, game.deck.counts))[::-1].tolist()
    return max(n for n in range(len(values)) if 14 * n <= sum(values) + sum(values[:n]))


# --- decks of one's own -----------------------------------------------------------------------------------------------


def test_a_deck_of_two_colours_of_four_cards_by_hand() -> None:
    game = Poison(num_seats=2, deck="R7x4 B7x4", first_dealer=1)
    state = game.deal_from([game.deck.parse("R7 R7 R7 R7 B7 B7 B7 B7")])
    push(game, state, "R7>1", "R7>1", "R7>1", "R7>1", "B7>2", "B7>2", "B7>2")
    assert state.taken[0].tolist() == [[1, 1, 0, 0], [2, 1, 0, 0]]
    push(game, state, "B7>2")
    assert state.totals.tolist() == [[2, 0]]


def test_a_deck_of_one_colour() -> None:
    game = Poison(num_seats=3, deck="R13x6", first_dealer=2, num_rounds=1)
    state = game.deal(keys(4))
    assert [game.action_label(a) for a in np.flatnonzero(game.action_mask(state)[0])] == ["R13>1", "R13>2", "R13>3"]
    push(game, state, *["R13>2"] * 6)
    assert state.totals.tolist() == [[1, 2, 2]]


def test_as_many_cards_as_players_are_enough() -> None:
    game = Poison(num_seats=8, deck="R13x8", first_dealer=7, num_rounds=1)
    state = game.deal(keys(4))
    push(game, state, *["R13>1"] * 8)
    assert state.totals.tolist() == [[0] + [1] * 7]


@pytest.mark.parametrize("seats", [2, 5, 8])
def test_a_deck_of_700_cards_can_be_played(seats: int) -> None:
    game = Poison(num_seats=seats, deck=LARGEST, num_rounds=1)
    state = game.deal(many_keys(20))
    paid = advance(game, state)
    assert state.done.all()
    np.testing.assert_array_equal(-paid, game.points(state))
    assert (game.observe_all(state) <= game.full_layout.high).all()


def test_a_table_and_its_text_are_the_same_deck() -> None:
    table = {("red", 1): 3, ("poison", 4): 8, ("red", 2): 1}
    assert Poison(deck=table) == Poison(deck="R1x3 R2 G4x8")
    assert Poison(deck=table).options["deck"] == "R1x3 R2 G4x8"


def test_words_of_a_deck_may_repeat() -> None:
    assert Poison(deck="R1 R1x2 R1") == Poison(deck="R1x4")


def test_the_order_of_a_deck_does_not_matter() -> None:
    assert Poison(deck="G4x4, P1 R2").options["deck"] == Poison(deck="R2 P1 G4x4").options["deck"]


def test_every_line_of_play_of_a_tiny_deck_ends_and_conserves_points() -> None:
    game = Poison(num_seats=2, deck="R5 R6 R8 R9 B5 B6 B7 B8", num_rounds=1)
    state = game.deal(keys(11))
    for _ in range(game.cards_dealt):
        assert not state.done.any()
        rows, actions = np.nonzero(game.action_mask(state))
        state = state[rows]
        paid = game.step(state, actions)
    assert state.done.all()
    np.testing.assert_array_equal(-paid, state.totals)
    np.testing.assert_array_equal(game.score(state.taken), state.totals)
    assert len(state) == 24 * 24 * 3 * 2  # the orders of two hands, the cauldrons of two colours


def test_seeds_draw_independent_rounds() -> None:
    game = Poison(num_rounds=1)
    orders = game.card_order(chance.fold(0, np.arange(20_000)))
    poison_first = (orders[:, 0] == 15).mean()
    assert poison_first == pytest.approx(8 / 50, abs=0.012)
    assert ((orders[:, 0] == 15) & (orders[:, 1] == 15)).mean() == pytest.approx(8 * 7 / (50 * 49), abs=0.006)
