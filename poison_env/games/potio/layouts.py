"""What a seat of Potio sees, and what there is to see: all but the order of the pile is open."""

from typing import TYPE_CHECKING

from poison_env.core.layout import ObservationLayout, Section
from poison_env.games.potio.brews import EFFECTS
from poison_env.games.potio.deck import EMPTY, MAX_VALUE, SLOTS
from poison_env.games.potio.moves import AIMING, CENTRE

if TYPE_CHECKING:  # the options import this module
    from poison_env.games.potio.options import PotioOptions


def num_batches(deck_size: int) -> int:
    """Return how many batches may lie in the pile: each is an explosion's, the first one may be partly drawn."""
    return 1 + deck_size // SLOTS


def most_points(deck_size: int) -> int:
    """Return an upper bound of the points of all seats: 1 a card, and more for the first card of each brew."""
    return deck_size + deck_size // 3 * (MAX_VALUE - 1)


def seat_layout(game: "PotioOptions") -> ObservationLayout:
    """Return the layout of a seat's observation, seats from one's own on."""
    return ObservationLayout(_sections(game))


def full_layout(game: "PotioOptions") -> ObservationLayout:
    """Return the layout of everything, seats in table order."""
    order = Section(
        name="pile_order",
        shape=(game.deck.size,),
        high=game.num_kinds,
        text="the pile from the top: 1 + kind, 0 beyond its end",
    )
    return ObservationLayout((*_sections(game), order))


def _sections(game: "PotioOptions") -> tuple[Section, ...]:
    seats, kinds, counts = game.num_seats, game.num_kinds, tuple(game.deck.counts.tolist())
    fits = tuple(min(n, SLOTS) for n in counts) * seats
    batches = num_batches(game.deck.size)
    slots = "cards in sorted order, slot by slot: 1 + twice the kind, 1 more when frozen; 0 when empty"
    return (
        Section(name="zones", shape=(seats, SLOTS), high=EMPTY, along_seats=True, text=slots),
        Section(name="free", shape=(seats, kinds), high=fits, along_seats=True, text="cards not frozen by kind"),
        Section(name="frozen", shape=(seats, kinds), high=fits, along_seats=True, text="frozen cards by kind"),
        Section(
            name="victory",
            shape=(seats, kinds),
            high=counts * seats,
            along_seats=True,
            text="cards in the victory pile by kind",
        ),
        Section(
            name="points", shape=(seats,), high=most_points(game.deck.size), along_seats=True, text="points so far"
        ),
        Section(
            name="to_move", shape=(seats,), high=1, along_seats=True, text="1 for the seat to move, 0 when all is over"
        ),
        Section(name="centre", shape=(CENTRE,), high=kinds, text="1 + kind in order of arrival, 0 when empty"),
        Section(name="phase", shape=(AIMING + 1,), high=1, text="1 for the phase: take, pick, choose an effect, aim"),
        Section(name="picked", shape=(SLOTS,), high=1, text="slots picked for a brew"),
        Section(
            name="effects",
            shape=(len(EFFECTS),),
            high=1,
            text="effects to choose from, or the one to aim: freeze, burn, thaw, steal",
        ),
        Section(
            name="pile",
            shape=(batches, kinds),
            high=counts * batches,
            text="cards in the pile by kind, batch by batch: the top one comes first, the order in each is unknown",
        ),
        Section(name="turns", shape=(1,), high=game.max_turns, text="turns ended"),
        Section(
            name="stalled", shape=(1,), high=game.stall_turns, text="turns ended since a card entered a victory pile"
        ),
        Section(name="scored", shape=(1,), high=1, text="a card has entered a victory pile in this turn"),
    )
