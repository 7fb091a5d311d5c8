"""What a seat of Poison sees, and what there is to see."""

import numpy as np

from poison_env.core.layout import ObservationLayout, Section
from poison_env.games.poison.deck import CLASSES, LIMIT, Deck

MATCH_POINTS = 32_000  # no match reaches it: at most 20 rounds of 700 cards at 2 points each, and handicaps of 1,000


def seat_layout(deck: Deck, num_seats: int, largest_hand: int, recall: str) -> ObservationLayout:
    """Return the layout of a seat's observation, seats from one's own on; rounds and rewards do not matter."""
    counts = tuple(deck.counts.tolist())
    taken = Section(
        name="taken",
        shape=(num_seats, len(CLASSES)),
        high=_by_class(deck) * num_seats,
        along_seats=True,
        text="cards taken in this round: red, blue, purple, poison",
    )
    piles = Section(
        name="pile_sizes",
        shape=(num_seats,),
        high=deck.size,
        along_seats=True,
        text="how many cards were taken in this round",
    )
    return ObservationLayout(
        (
            Section(name="own_hand", shape=(len(counts),), high=counts, text="own cards by kind"),
            *_table(deck),
            taken if recall == "perfect" else piles,
            Section(name="hand_sizes", shape=(num_seats,), high=largest_hand, along_seats=True, text="cards in hand"),
            *_match(num_seats),
            Section(
                name="unseen",
                shape=(len(counts),),
                high=counts,
                text="cards by kind that may be in other hands, aside or (recall none) in piles",
            ),
        )
    )


def full_layout(deck: Deck, num_seats: int, largest_hand: int) -> ObservationLayout:
    """Return the layout of everything, seats in table order."""
    counts = tuple(deck.counts.tolist())
    hands = tuple(min(n, largest_hand) for n in counts) * num_seats
    return ObservationLayout(
        (
            Section(
                name="hands", shape=(num_seats, len(counts)), high=hands, along_seats=True, text="every hand by kind"
            ),
            Section(name="set_aside", shape=(len(counts),), high=counts, text="cards set aside by kind"),
            *_table(deck),
            Section(
                name="taken",
                shape=(num_seats, len(CLASSES)),
                high=_by_class(deck) * num_seats,
                along_seats=True,
                text="cards taken in this round: red, blue, purple, poison",
            ),
            *_match(num_seats),
            Section(name="to_move", shape=(1,), high=num_seats - 1, text="seat to move, 0 when the match is over"),
        )
    )


def _table(deck: Deck) -> tuple[Section, Section, Section]:
    fits = tuple(min(count, LIMIT // value) for count, (_, value) in zip(deck.counts.tolist(), deck.kinds, strict=True))
    return (
        Section(name="cauldrons", shape=(3, len(fits)), high=fits * 3, text="what is in each cauldron by kind"),
        Section(name="cauldron_totals", shape=(3,), high=LIMIT, text="total value in each cauldron"),
        Section(name="cauldron_colours", shape=(3,), high=3, text="0 none, 1 red, 2 blue, 3 purple"),
    )


def _match(num_seats: int) -> tuple[Section, Section]:
    return (
        Section(
            name="match_points",
            shape=(num_seats,),
            high=MATCH_POINTS,
            along_seats=True,
            text="points of the rounds scored, handicaps included",
        ),
        Section(name="round", shape=(1,), high=20, text="rounds scored"),
    )


def _by_class(deck: Deck) -> tuple[int, ...]:
    return tuple(int(n) for n in np.bincount(deck.classes, weights=deck.counts, minlength=len(CLASSES)))
