"""Check the Poison referee against the printed rules, before anything is compared with it.

Notation: R, B, P are potions (red, blue, purple), G is poison, the number is the value; X, Y, Z are
the three cauldrons and `*` marks an overflow. "R7X*" is a red 7 that made cauldron X overflow.
"""

import copy
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest

from .poison_referee import PUBLISHED, Card, Move, Referee, count_round_points

COLOUR_OF = {"R": "red", "B": "blue", "P": "purple", "G": "poison"}

# A whole legal round that ends in the scoring example of the published rules (pt); the seats are
# Suzana, Ana, Ricardo, Renato.
RECORD_TEXT = (
    "R2X R4X R7X R7X* R5X B1Y B2Y B5Y R5X* R1X R1X R1X R2X R2X R4X* G4Y B7Y* R5X G4X R7X* "
    "G4X G4X* P4X P4X B2Y P7X* G4Y B5Y* P5X B2Y P5X* P1X P1X B7Y* P1X P2X B1Y B7Y* P2X P7X* "
    "P5X P7X* P2X B1Y G4Y B4Y* G4X B4Y B5Y G4X*"
)
RECORD = RECORD_TEXT.split()

# A round for two that can be followed by hand: seat 0 is dealt three reds and takes one, seat 1 is
# dealt one and takes two.
SMALL_DECK: dict[Card, int] = {
    **{("red", value): 1 for value in (2, 5, 7, 13)},
    ("blue", 1): 2,
}
SMALL_RECORD = ["R7X", "B1Y", "R5X", "R2X*", "R13X*", "B1Y"]


def cards(text: str) -> list[Card]:
    """Read cards such as "R7 G4"."""
    return [(COLOUR_OF[word[0]], int(word[1:])) for word in text.split()]


def move(word: str) -> Move:
    """Read a move such as "R7X*"."""
    word = word.rstrip("*")
    (card,) = cards(word[:-1])
    return (*card, "XYZ".index(word[-1]))


def moves(text: str) -> list[Move]:
    """Read moves such as "R7X G4Y"."""
    return [move(word) for word in text.split()]


def position(cauldrons: Sequence[str], hands: Sequence[str], **options: Any) -> Referee:
    """Set up a table; seat 0 is to move."""
    referee = Referee(num_seats=len(hands), first_dealer=len(hands) - 1, **options)
    referee.deal_round(list(referee.deck.elements()))
    referee.cauldrons = [cards(text) for text in cauldrons]
    referee.hands = [cards(text) for text in hands]
    return referee


def start(record: Sequence[str], num_seats: int, **options: Any) -> Referee:
    """Deal the cards of a record so that seat 0 begins and every seat holds what it plays."""
    referee = Referee(num_seats=num_seats, first_dealer=num_seats - 1, **options)
    referee.deal_round([move(word)[:2] for word in record])
    return referee


def shuffled(referee: Referee, rng: random.Random) -> list[Card]:
    """Shuffle the deck of a referee."""
    deck = list(referee.deck.elements())
    rng.shuffle(deck)
    return deck


def play_randomly(referee: Referee, rng: random.Random) -> Iterator[list[Fraction]]:
    """Play a match to its end with uniform legal moves, yielding after each move what it paid."""
    while not referee.finished:
        if referee.needs_deal:
            referee.deal_round(shuffled(referee, rng))
        yield referee.play(rng.choice(referee.legal_moves()))


EVERY_TABLE = [
    pytest.param({"num_seats": seats, "deck": deck, "colour_rule": rule}, id=f"{name}-{seats}-{rule}")
    for name, deck in (("published", "published"), ("box58", "box58"), ("small", SMALL_DECK))
    for seats in (2, 3, 4, 5, 6)
    for rule in ("exclusive", "fixed")
]


# --- decks ---------------------------------------------------------------------------------------


def test_published_deck_has_42_potions_and_8_poisons_of_4() -> None:
    deck = Referee(num_seats=4).deck
    per_colour = {value: deck["blue", value] for value in range(1, 14) if deck["blue", value]}
    assert per_colour == {1: 3, 2: 3, 4: 2, 5: 3, 7: 3}
    colours = Counter(colour for colour, _ in deck.elements())
    assert colours == {"red": 14, "blue": 14, "purple": 14, "poison": 8}
    assert deck["poison", 4] == 8


def test_box58_deck_has_50_potions_and_8_poisons() -> None:
    deck = Referee(num_seats=4, deck="box58").deck
    counts = [[deck[colour, value] for value in (1, 2, 4)] for colour in COLOUR_OF.values()]
    assert counts == [[6, 6, 5], [6, 6, 5], [6, 5, 5], [4, 4, 0]]
    assert deck.total() == 58


@pytest.mark.parametrize(("deck", "num_kinds"), [("published", 16), ("box58", 11)])
def test_kinds_are_colour_major_with_poison_last(deck: str, num_kinds: int) -> None:
    kinds = Referee(num_seats=4, deck=deck).kinds
    order = ["red", "blue", "purple", "poison"]
    assert len(kinds) == num_kinds
    assert [(order.index(colour), value) for colour, value in kinds] == sorted(
        (order.index(colour), value) for colour, value in kinds
    )


# --- dealing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "sizes", "aside"),
    [
        ({"num_seats": 2}, [13, 13], 24),
        ({"num_seats": 3}, [13, 13, 12], 12),
        ({"num_seats": 4}, [13, 13, 12, 12], 0),
        ({"num_seats": 5}, [10] * 5, 0),
        ({"num_seats": 6}, [9, 9, 8, 8, 8, 8], 0),
        ({"num_seats": 7}, [8] + [7] * 6, 0),
        ({"num_seats": 8}, [7, 7] + [6] * 6, 0),
        ({"num_seats": 2, "deal": "equal"}, [25, 25], 0),
        ({"num_seats": 3, "deal": "equal"}, [16] * 3, 2),
        ({"num_seats": 4, "deal": "equal"}, [12] * 4, 2),
        ({"num_seats": 5, "deal": "equal"}, [10] * 5, 0),
        ({"num_seats": 6, "deal": "equal"}, [8] * 6, 2),
        ({"num_seats": 7, "deal": "equal"}, [7] * 7, 1),
        ({"num_seats": 8, "deal": "equal"}, [6] * 8, 2),
        ({"num_seats": 2, "deal": "all"}, [25, 25], 0),
        ({"num_seats": 3, "deal": "all"}, [17, 17, 16], 0),
        ({"num_seats": 4, "deal": "all"}, [13, 13, 12, 12], 0),
        ({"num_seats": 5, "deal": "all"}, [10] * 5, 0),
        ({"num_seats": 6, "deal": "all"}, [9, 9, 8, 8, 8, 8], 0),
        ({"num_seats": 7, "deal": "all"}, [8] + [7] * 6, 0),
        ({"num_seats": 8, "deal": "all"}, [7, 7] + [6] * 6, 0),
        ({"num_seats": 2, "deck": "box58"}, [29, 29], 0),
        ({"num_seats": 3, "deck": "box58"}, [20, 19, 19], 0),
        ({"num_seats": 4, "deck": "box58"}, [15, 15, 14, 14], 0),
        ({"num_seats": 3, "deck": "box58", "deal": "hands4"}, [15, 15, 14], 14),
        ({"num_seats": 4, "deck": SMALL_DECK}, [2, 2, 1, 1], 0),
        ({"num_seats": 2, "deck": PUBLISHED}, [25, 25], 0),
    ],
)
def test_hand_sizes_from_the_first_player_on(options: dict[str, Any], sizes: list[int], aside: int) -> None:
    referee = Referee(**options, first_dealer=options["num_seats"] - 1)
    referee.deal_round(shuffled(referee, random.Random(0)))
    assert ([len(hand) for hand in referee.hands], len(referee.aside)) == (sizes, aside)


def test_cards_are_dealt_one_by_one_from_the_left_of_the_dealer() -> None:
    referee = Referee(num_seats=3, deck=SMALL_DECK, first_dealer=0)
    referee.deal_round(cards("R2 R5 R7 R13 B1 B1"))
    assert referee.hands == [cards("R7 B1"), cards("R2 R13"), cards("R5 B1")]
    assert referee.to_move == 1


def test_a_fourth_hand_is_dealt_and_set_aside_for_three_players() -> None:
    referee = Referee(num_seats=3, first_dealer=2)
    deck = shuffled(referee, random.Random(1))
    referee.deal_round(deck)
    assert referee.hands == [deck[0::4], deck[1::4], deck[2::4]]
    assert referee.aside == deck[3::4]


def test_equal_hands_set_the_last_cards_aside() -> None:
    referee = Referee(num_seats=3, deal="equal", first_dealer=2)
    deck = shuffled(referee, random.Random(1))
    referee.deal_round(deck)
    assert referee.aside == deck[48:]


@pytest.mark.parametrize("text", ["R2 R5 R7 R13 B1", "R2 R5 R7 R13 B1 B1 B1", "R2 R5 R7 R7 B1 B1"])
def test_other_cards_than_the_deck_are_refused(text: str) -> None:
    referee = Referee(num_seats=2, deck=SMALL_DECK)
    with pytest.raises(ValueError, match="not exactly the deck"):
        referee.deal_round(cards(text))
    assert referee.needs_deal


def test_no_deal_during_a_round() -> None:
    referee = start(SMALL_RECORD, 2, deck=SMALL_DECK)
    with pytest.raises(ValueError, match="no deal is due"):
        referee.deal_round(list(referee.deck.elements()))


def test_no_deal_after_the_match() -> None:
    referee = start(SMALL_RECORD, 2, deck=SMALL_DECK, num_rounds=1)
    for word in SMALL_RECORD:
        referee.play(move(word))
    with pytest.raises(ValueError, match="no deal is due"):
        referee.deal_round(list(referee.deck.elements()))


# --- where a card may go -------------------------------------------------------------------------


def test_potions_follow_their_colour_and_poison_goes_anywhere() -> None:
    referee = position(["R7", "G4", "B1"], ["R1 P2 G4", "R1"])
    assert referee.legal_moves() == moves("R1X P2Y G4X G4Y G4Z")


def test_a_new_colour_may_start_on_any_poison_only_cauldron() -> None:
    referee = position(["G4", "G4 G4", "R5"], ["B1", "P1"])
    assert referee.legal_moves() == moves("B1X B1Y")
    referee.play(move("B1X"))
    assert referee.legal_moves() == moves("P1Y")


def test_equal_cards_make_one_move() -> None:
    referee = position(["R1", "", ""], ["R5 R5 R5", "R1"])
    assert referee.legal_moves() == moves("R5X")


def test_fixed_cauldrons_keep_their_colour_when_empty() -> None:
    referee = position(["", "", "G4"], ["R1 B1 P1 G4", "R1"], colour_rule="fixed")
    assert referee.legal_moves() == moves("R1X B1Y P1Z G4X G4Y G4Z")


def test_a_fixed_cauldron_of_a_colour_the_deck_lacks_takes_only_poison() -> None:
    deck = {("red", 7): 2, ("purple", 1): 1, ("poison", 4): 1}
    referee = Referee(num_seats=2, deck=deck, colour_rule="fixed")
    referee.deal_round(cards("R7 R7 P1 G4"))
    referee.hands[referee.to_move] = cards("R7 P1 G4")
    assert [played for played in referee.legal_moves() if played[2] == 1] == moves("G4Y")


@pytest.mark.parametrize("options", EVERY_TABLE)
def test_every_card_in_every_hand_is_always_playable(options: dict[str, Any]) -> None:
    referee = Referee(**options)
    for _ in play_randomly(referee, random.Random(2)):
        for seat in range(referee.num_seats):
            asked = copy.copy(referee)
            asked.to_move = seat
            assert {played[:2] for played in asked.legal_moves()} == set(referee.hands[seat])


@pytest.mark.parametrize("options", EVERY_TABLE)
def test_no_colour_lies_in_two_cauldrons_and_no_cauldron_holds_two(
    options: dict[str, Any],
) -> None:
    referee = Referee(**options)
    for _ in play_randomly(referee, random.Random(3)):
        colours = [{card[0] for card in pot} - {"poison"} for pot in referee.cauldrons]
        assert max(len(found) for found in colours) <= 1
        assert len(set().union(*colours)) == sum(len(found) for found in colours)


@pytest.mark.parametrize("word", ["P1Y", "R1Y", "R2X", "B7X"])
def test_illegal_moves_are_refused_and_change_nothing(word: str) -> None:
    referee = position(["R7", "B4", ""], ["R1 P1", "R2"])
    before = copy.deepcopy(vars(referee))
    with pytest.raises(ValueError, match="seat 0 cannot play"):
        referee.play(move(word))
    assert vars(referee) == before


@pytest.mark.parametrize("cauldron", [-1, 3])
def test_there_are_three_cauldrons(cauldron: int) -> None:
    referee = position(["", "", ""], ["G4", "R2"])
    with pytest.raises(ValueError, match="cannot play"):
        referee.play(("poison", 4, cauldron))


def test_nobody_can_move_before_the_deal() -> None:
    referee = Referee(num_seats=4)
    assert referee.legal_moves() == []
    with pytest.raises(ValueError, match="cannot play"):
        referee.play(move("G4X"))


def test_play_goes_clockwise() -> None:
    referee = Referee(num_seats=3, deck=SMALL_DECK, first_dealer=1)
    referee.deal_round(cards("R2 R5 R7 R13 B1 B1"))
    seats = []
    for _ in range(3):
        seats.append(referee.to_move)
        referee.play(referee.legal_moves()[0])
    assert seats == [2, 0, 1]


# --- overflow ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cauldron", "card", "taken", "left"),
    [
        pytest.param("R7 R4 R2", "R4", "R7 R4 R2", "R4", id="after-exactly-13"),
        pytest.param("R7 G4", "R5", "R7 G4", "R5", id="the-poison-too"),
        pytest.param("R7 R5", "G4", "R7 R5", "G4", id="by-poison"),
        pytest.param("G4 G4 G4", "G4", "G4 G4 G4", "G4", id="poison-on-poison"),
        pytest.param("R7", "R7", "R7", "R7", id="one-card"),
        pytest.param("R7 R4", "R2", "", "R7 R4 R2", id="13-does-not-overflow"),
        pytest.param("", "R7", "", "R7", id="empty"),
    ],
)
def test_overflow_takes_what_was_there_and_leaves_the_card_played(
    cauldron: str, card: str, taken: str, left: str
) -> None:
    referee = position(["B1", cauldron, ""], [f"{card} R1", "R1"])
    played = move(card + "Y")
    assert referee.would_overflow(played) == bool(taken)
    referee.play(played)
    assert (referee.taken, referee.cauldrons[1]) == ([cards(taken), []], cards(left))


def test_an_overflow_leaves_the_other_cauldrons_alone() -> None:
    referee = position(["R7", "B7", "P7"], ["B7 R1", "R1"])
    referee.play(move("B7Y"))
    assert [referee.cauldrons[0], referee.cauldrons[2]] == [cards("R7"), cards("P7")]


@pytest.mark.parametrize(
    ("deck", "text", "size"),
    [
        ("published", "R1 R1 R1 R2 R2 R2 R4", 7),
        ("box58", "R1 R1 R1 R1 R1 R1 G1 G1 G1 G1 R2", 11),
    ],
)
def test_largest_cauldron(deck: str, text: str, size: int) -> None:
    *before, last = cards(text)
    referee = position(["", "", ""], ["R1", "R1"], deck=deck)
    referee.cauldrons[0] = before
    assert not referee.would_overflow((*last, 0))
    values = sorted(v for c, v in referee.deck.elements() if c in ("red", "poison"))
    assert sum(values[:size]) <= 13 < sum(values[: size + 1])  # the cheapest next card is too much
    assert (len(before) + 1, Counter(cards(text)) <= referee.deck) == (size, True)


# --- faults seen in other programs ---------------------------------------------------------------


def test_fault_the_card_just_played_is_taken_too() -> None:
    referee = position(["R7 R5", "", ""], ["R2 B1", "B1"])
    referee.play(move("R2X"))
    assert referee.taken[0] == cards("R7 R5")
    assert referee.cauldrons[0] == cards("R2")


def test_fault_the_program_chooses_the_cauldron_for_a_new_colour() -> None:
    for index, name in enumerate("XYZ"):
        referee = position(["", "", ""], ["R2 B1", "B1"])
        assert moves("R2X R2Y R2Z") == [m for m in referee.legal_moves() if m[0] == "red"]
        referee.play(move("R2" + name))
        assert [len(pot) for pot in referee.cauldrons] == [int(i == index) for i in range(3)]


def test_fault_a_poison_only_cauldron_keeps_its_old_colour() -> None:
    referee = position(["R7 R5", "B1", ""], ["G4 B1", "R1 P1"])
    referee.play(move("G4X"))
    assert referee.cauldron_colour(0) is None
    assert referee.legal_moves() == moves("R1X R1Z P1X P1Z")


def test_fault_hand_cards_count_in_the_majority() -> None:
    referee = start(SMALL_RECORD, 2, deck=SMALL_DECK)
    for word in SMALL_RECORD:
        referee.play(move(word))
    assert [Counter(cards_taken) for cards_taken in referee.taken] == [
        Counter(cards("R2")),
        Counter(cards("R7 R5")),
    ]
    assert referee.totals == [1, 0]


def test_fault_taken_cards_go_to_the_hand() -> None:
    referee = position(["R7 R5", "", ""], ["R2 B1", "B1"])
    referee.play(move("R2X"))
    assert referee.hands == [cards("B1"), cards("B1")]


def test_fault_poison_always_goes_on_the_first_cauldron() -> None:
    for index, name in enumerate("XYZ"):
        referee = position(["R1", "B1", "P1"], ["G4 B1", "B1"])
        assert moves("G4X G4Y G4Z") == [m for m in referee.legal_moves() if m[0] == "poison"]
        referee.play(move("G4" + name))
        assert [len(pot) for pot in referee.cauldrons] == [1 + (i == index) for i in range(3)]


# --- points of a round ---------------------------------------------------------------------------


def test_scoring_example_of_the_published_rules() -> None:
    table = {"Suzana": (3, 2, 0, 1), "Ricardo": (0, 6, 2, 0)}
    table |= {"Renato": (2, 5, 6, 2), "Ana": (6, 1, 6, 4)}
    taken = [
        [("blue", 1)] * blue + [("red", 2)] * red + [("purple", 7)] * purple + [("poison", 4)] * poison
        for blue, red, purple, poison in table.values()
    ]
    assert dict(zip(table, count_round_points(taken), strict=True)) == {
        "Suzana": 7,
        "Ricardo": 2,
        "Renato": 17,
        "Ana": 15,
    }


@pytest.mark.parametrize(
    ("taken", "points"),
    [
        pytest.param(["R1 R1 R1 R1", "R7 R7 R7 R7", "R1"], [4, 4, 1], id="tie-for-most"),
        pytest.param(["R1 R1", "R2 R2", "R4 R4"], [2, 2, 2], id="all-tied"),
        pytest.param(["R1 R1 R1", "R7 R7", "R7 R7"], [0, 2, 2], id="less-than-half-is-enough"),
        pytest.param(["R7", "R1 R1", ""], [1, 0, 0], id="cards-count-not-values"),
        pytest.param(["R7", "", ""], [0, 0, 0], id="one-card-is-a-majority"),
        pytest.param(["R1 B1 B1", "R1 R1 B1", ""], [1, 1, 0], id="each-colour-by-itself"),
        pytest.param(["G4 G4 G4", "", ""], [6, 0, 0], id="poison-is-never-discarded"),
        pytest.param(["G1", "G2 R1", ""], [2, 2, 0], id="poison-of-any-value-counts-two"),
        pytest.param(["", "", ""], [0, 0, 0], id="nothing-taken"),
    ],
)
def test_points_of_a_round(taken: list[str], points: list[int]) -> None:
    assert count_round_points([cards(text) for text in taken]) == points


# --- a whole round -------------------------------------------------------------------------------


def test_the_record_uses_exactly_the_published_deck() -> None:
    assert Counter(move(word)[:2] for word in RECORD) == PUBLISHED


def test_the_hands_of_the_record_are_every_fourth_card() -> None:
    referee = start(RECORD, 4)
    assert referee.hands == [[move(word)[:2] for word in RECORD[seat::4]] for seat in range(4)]
    assert [len(hand) for hand in referee.hands] == [13, 13, 12, 12]


def test_the_record_is_legal_and_overflows_where_it_says() -> None:
    referee = start(RECORD, 4)
    for number, word in enumerate(RECORD):
        assert referee.to_move == number % 4
        assert referee.would_overflow(move(word)) == word.endswith("*"), (number, word)
        referee.play(move(word))
    assert (referee.needs_deal, referee.finished) == (True, False)


def test_the_record_ends_in_the_published_scoring_table() -> None:
    referee = start(RECORD, 4)
    paid = [referee.play(move(word)) for word in RECORD]
    colours = ("blue", "red", "purple", "poison")
    counts = [[sum(card[0] == c for card in pile) for c in colours] for pile in referee.taken]
    assert counts == [[3, 2, 0, 1], [6, 1, 6, 4], [0, 6, 2, 0], [2, 5, 6, 2]]
    assert referee.totals == [7, 15, 2, 17]
    assert paid == [[0] * 4] * 49 + [[-7, -15, -2, -17]]


def test_cards_left_in_the_cauldrons_of_the_record_belong_to_nobody() -> None:
    referee = start(RECORD, 4)
    for word in RECORD:
        referee.play(move(word))
    left = [cards("G4"), cards("B4 B4 B5"), []]
    assert [sorted(pot) for pot in referee.cauldrons] == left
    assert sum(len(pile) for pile in referee.taken) == 50 - 4


@pytest.mark.parametrize("options", EVERY_TABLE)
def test_no_card_is_lost_or_made(options: dict[str, Any]) -> None:
    referee = Referee(**options)
    for _ in play_randomly(referee, random.Random(4)):
        lists = [*referee.hands, *referee.cauldrons, *referee.taken, referee.aside]
        assert Counter(card for some in lists for card in some) == referee.deck


def test_overflows_of_a_published_round_are_bounded() -> None:
    """Bound the overflows of a round by the values of its cards.

    Add up all overflowing totals: each is 14 or more, and only a card that overflowed counts
    twice, so n overflows need 14 n <= the whole deck + its n highest cards. That allows 22.
    """
    values = sorted((v for _, v in Referee(num_seats=4).deck.elements()), reverse=True)
    assert max(n for n in range(51) if 14 * n <= sum(values) + sum(values[:n])) == 22
    rng = random.Random(5)
    counts: Counter[int] = Counter()
    referee = Referee(num_seats=4, num_rounds=20)
    while not referee.finished:
        if referee.needs_deal:
            referee.deal_round(shuffled(referee, rng))
        chosen = max(referee.legal_moves(), key=lambda m: (referee.would_overflow(m), rng.random()))
        counts[referee.round] += referee.would_overflow(chosen)
        referee.play(chosen)
    assert 15 < max(counts.values()) <= 22


def test_random_rounds_cost_what_they_should() -> None:
    """Expect 8.52 points per seat and round and 15.2 overflows; bounds are four standard errors."""
    rng = random.Random(6)
    num_rounds, points, overflows, poison_only = 600, 0, 0, 0
    for _ in range(num_rounds):
        referee = Referee(num_seats=4, num_rounds=1)
        referee.deal_round(shuffled(referee, rng))
        seen = False
        while not referee.finished:
            chosen = rng.choice(referee.legal_moves())
            overflows += referee.would_overflow(chosen)
            referee.play(chosen)
            seen |= any(pot and {c for c, _ in pot} == {"poison"} for pot in referee.cauldrons)
        points += sum(referee.totals)
        poison_only += seen
    assert points / num_rounds / 4 == pytest.approx(8.52, abs=0.35)
    assert overflows / num_rounds == pytest.approx(15.2, abs=0.35)
    assert 0.94 <= poison_only / num_rounds <= 0.99


# --- a whole match -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "num_moves", "num_rounds"),
    [
        ({"num_seats": 2}, 4 * 26, 4),
        ({"num_seats": 3}, 152, 4),
        ({"num_seats": 4}, 200, 4),
        ({"num_seats": 5}, 250, 5),
        ({"num_seats": 6}, 300, 6),
        ({"num_seats": 7}, 350, 7),
        ({"num_seats": 8}, 400, 8),
        ({"num_seats": 3, "deal": "equal"}, 4 * 48, 4),
        ({"num_seats": 3, "deal": "all"}, 4 * 50, 4),
        ({"num_seats": 4, "num_rounds": 1}, 50, 1),
        ({"num_seats": 4, "num_rounds": 20}, 1000, 20),
        ({"num_seats": 2, "deck": "box58"}, 2 * 58, 2),
        ({"num_seats": 5, "deck": "box58"}, 5 * 58, 5),
        ({"num_seats": 3, "deck": SMALL_DECK}, 3 * 6, 3),
    ],
)
def test_length_of_a_match(options: dict[str, Any], num_moves: int, num_rounds: int) -> None:
    referee = Referee(**options)
    assert sum(1 for _ in play_randomly(referee, random.Random(7))) == num_moves
    assert referee.round + 1 == num_rounds
    assert (referee.needs_deal, referee.legal_moves()) == (False, [])


def test_the_dealer_passes_to_the_left_and_the_next_seat_begins() -> None:
    referee = Referee(num_seats=3, first_dealer=1)
    rng = random.Random(8)
    seen = []
    while not referee.finished:
        if referee.needs_deal:
            referee.deal_round(shuffled(referee, rng))
            seen.append((referee.round, referee.dealer, referee.to_move))
        referee.play(referee.legal_moves()[0])
    assert seen == [(0, 1, 2), (1, 2, 0), (2, 0, 1), (3, 1, 2)]


def test_a_new_round_starts_from_a_clean_table() -> None:
    referee = start(SMALL_RECORD, 2, deck=SMALL_DECK)
    for word in SMALL_RECORD:
        referee.play(move(word))
    referee.deal_round(list(referee.deck.elements()))
    assert (referee.cauldrons, referee.taken, referee.played) == ([[], [], []], [[], []], [])
    assert (referee.totals, referee.needs_deal) == ([1, 0], False)


def test_points_of_the_rounds_add_up() -> None:
    referee = Referee(num_seats=5)
    paid = list(play_randomly(referee, random.Random(9)))
    assert referee.totals == [-sum(column) for column in zip(*paid, strict=True)]
    assert sum(any(row) for row in paid) == 5


def test_handicaps_open_the_totals_and_are_not_paid() -> None:
    referee = start(RECORD, 4, num_rounds=1, handicaps=(0, 0, 6, 1))
    assert referee.totals == [0, 0, 6, 1]
    paid = [referee.play(move(word)) for word in RECORD]
    assert referee.totals == [7, 15, 8, 18]
    assert paid[-1] == [-7, -15, -2, -17]


def test_handicaps_decide_the_places() -> None:
    referee = start(RECORD, 4, num_rounds=1, handicaps=(0, 0, 6, 0))
    for word in RECORD:
        referee.play(move(word))
    assert referee.placements() == [0, 2, 1, 3]


def test_equal_totals_share_a_place() -> None:
    referee = start(RECORD, 4, num_rounds=1, handicaps=(0, 0, 5, 0))
    for word in RECORD:
        referee.play(move(word))
    assert referee.placements() == [0, 2, 0, 3]


# --- reward schemes ------------------------------------------------------------------------------


def last_reward(record: Sequence[str], num_seats: int, **options: Any) -> list[Fraction]:
    """Play a record and return what its last move paid, when no other move paid anything."""
    referee = start(record, num_seats, **options)
    paid = [referee.play(move(word)) for word in record]
    assert not any(any(row) for row in paid[:-1])
    return paid[-1]


def test_relative_reward_is_own_less_the_mean_of_the_others() -> None:
    reward = last_reward(RECORD, 4, reward="relative")
    assert reward == [Fraction(13, 3), Fraction(-19, 3), 11, -9]


def test_relative_rewards_sum_to_zero() -> None:
    referee = Referee(num_seats=3, reward="relative")
    paid = list(play_randomly(referee, random.Random(10)))
    assert {sum(row) for row in paid} == {0}
    assert any(any(row) for row in paid)


def test_win_reward_goes_to_the_lowest_total() -> None:
    assert last_reward(RECORD, 4, reward="win", num_rounds=1) == [0, 0, 1, 0]


def test_win_reward_is_shared() -> None:
    reward = last_reward(RECORD, 4, reward="win", num_rounds=1, handicaps=(0, 0, 5, 0))
    assert reward == [Fraction(1, 2), 0, Fraction(1, 2), 0]


def test_win_reward_waits_for_the_end_of_the_match() -> None:
    assert last_reward(RECORD, 4, reward="win", num_rounds=2) == [0, 0, 0, 0]


def test_win_reward_is_for_the_match_and_not_for_its_last_round() -> None:
    referee = start(SMALL_RECORD, 2, deck=SMALL_DECK, reward="win")
    for word in SMALL_RECORD:
        reward = referee.play(move(word))
    assert reward == [0, 0]
    referee.deal_round([move(word)[:2] for word in SMALL_RECORD])  # the same, seat 1 begins
    for word in SMALL_RECORD:
        reward = referee.play(move(word))
    assert reward == [Fraction(1, 2), Fraction(1, 2)]  # 1 to 0 and then 0 to 1


# --- observation ---------------------------------------------------------------------------------


def test_observation_with_perfect_recall() -> None:
    referee = start(SMALL_RECORD, 2, deck=SMALL_DECK, handicaps=(0, 3))
    for word in SMALL_RECORD[:4]:
        referee.play(move(word))
    assert referee.observation(0) == {  # kinds R2 R5 R7 R13 B1
        "own_hand": [0, 0, 0, 1, 0],
        "cauldrons": [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]],
        "cauldron_totals": [2, 1, 0],
        "cauldron_colours": [1, 2, 0],
        "taken": [[0, 0, 0, 0], [2, 0, 0, 0]],
        "hand_sizes": [1, 1],
        "match_points": [0, 3],
        "round": [0],
        "unseen": [0, 0, 0, 0, 1],
    }


def test_observation_of_another_seat_puts_that_seat_first() -> None:
    referee = start(SMALL_RECORD, 2, deck=SMALL_DECK, handicaps=(0, 3))
    for word in SMALL_RECORD[:5]:
        referee.play(move(word))
    view = referee.observation(1)
    assert (view["own_hand"], view["unseen"]) == ([0, 0, 0, 0, 1], [0, 0, 0, 0, 0])
    assert view["taken"] == [[2, 0, 0, 0], [1, 0, 0, 0]]
    assert (view["hand_sizes"], view["match_points"]) == ([1, 0], [3, 0])


def test_observation_lists_seats_clockwise() -> None:
    referee = start(RECORD, 4, handicaps=(1, 2, 3, 4))
    for word in RECORD[:49]:
        referee.play(move(word))
    view = referee.observation(2)
    assert view["taken"] == [[6, 0, 2, 0], [5, 2, 6, 2], [2, 3, 0, 1], [1, 6, 4, 3]]
    assert view["match_points"] == [3, 4, 1, 2]
    assert (view["hand_sizes"], referee.to_move) == ([0, 0, 0, 1], 1)


def test_observation_without_recall_has_pile_sizes_and_forgets_what_was_taken() -> None:
    referee = start(SMALL_RECORD, 2, deck=SMALL_DECK, recall="none")
    for word in SMALL_RECORD[:4]:
        referee.play(move(word))
    view = referee.observation(0)
    assert "taken" not in view
    assert (view["pile_sizes"], view["unseen"]) == ([0, 2], [0, 1, 1, 0, 1])


def test_observed_colours_follow_the_potions() -> None:
    referee = position(["G4", "P1 G4", ""], ["R1", "R1"])
    assert referee.observation(0)["cauldron_colours"] == [0, 3, 0]
    assert referee.observation(0)["cauldron_totals"] == [4, 5, 0]


def test_observed_colours_are_red_blue_purple_when_fixed() -> None:
    referee = position(["G4", "", "P1"], ["R1", "R1"], colour_rule="fixed")
    assert referee.observation(0)["cauldron_colours"] == [1, 2, 3]


def test_observed_round_counts_from_zero() -> None:
    referee = Referee(num_seats=2, deck=SMALL_DECK, num_rounds=3)
    seen = [referee.observation(0)["round"] for _ in play_randomly(referee, random.Random(11))]
    assert seen == [[0]] * 6 + [[1]] * 6 + [[2]] * 6


@pytest.mark.parametrize("options", EVERY_TABLE)
@pytest.mark.parametrize("recall", ["perfect", "none"])
def test_unseen_cards_are_where_the_seat_cannot_look(options: dict[str, Any], recall: str) -> None:
    referee = Referee(**options, recall=recall, num_rounds=2)
    for _ in play_randomly(referee, random.Random(12)):
        for seat in range(referee.num_seats):
            hidden = [hand for other, hand in enumerate(referee.hands) if other != seat]
            hidden += [referee.aside] + (referee.taken if recall == "none" else [])
            count = Counter(card for some in hidden for card in some)
            assert referee.observation(seat)["unseen"] == [count[kind] for kind in referee.kinds]


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_seats": 1}, "num_seats"),
        ({"num_seats": 9}, "num_seats"),
        ({"num_rounds": 0}, "num_rounds"),
        ({"num_rounds": 21}, "num_rounds"),
        ({"first_dealer": -1}, "first_dealer"),
        ({"first_dealer": 4}, "first_dealer"),
        ({"deck": "tarot"}, "deck"),
        ({"deal": "hands5"}, "deal"),
        ({"colour_rule": "any"}, "colour_rule"),
        ({"recall": "some"}, "recall"),
        ({"reward": "score"}, "reward"),
        ({"handicaps": (0, 0, 0)}, "handicaps"),
        ({"handicaps": (0, 0, 0, -1)}, "handicaps"),
        ({"handicaps": (0, 0, 0, 0.5)}, "handicaps"),
        ({"deck": {("red", 1): 3}}, "3 cards are too few for 4 seats"),
        ({"deck": {("red", 0): 4}}, "deck value"),
        ({"deck": {("red", 14): 4}}, "deck value"),
        ({"deck": {("red", 1): 4, ("red", 2): 0}}, "deck count"),
        ({"deck": {("green", 1): 4}}, "deck colour"),
        ({"deck": {("poison", 4): 8}}, "potion colours"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Referee(**{"num_seats": 4, **options})


def test_a_deck_of_one_card_per_seat_is_enough() -> None:
    referee = Referee(num_seats=4, deck={("red", 13): 4}, num_rounds=1)
    assert len(list(play_randomly(referee, random.Random(13)))) == 4
    assert referee.totals == [1, 0, 1, 1]  # seat 1 begins, and every later 13 takes one before it
