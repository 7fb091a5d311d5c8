"""What a seat of Arsenic sees, and what there is to see."""

from poison_env.core.layout import ObservationLayout, Section
from poison_env.games.arsenic.scones import FLAVOURS, IN_FLAVOUR, KINDS, SLOTS, SUGARS, in_flavour

MAX_OWED = 9


def seat_layout(num_seats: int, lethal: int, *, by_slot: bool, specials: bool) -> ObservationLayout:
    """Return the layout of a seat's observation, seats from one's own on; rewards and tie-breaks do not matter."""
    kinds = KINDS if specials else KINDS - 1
    code = "0 unknown, 1 to 4 a dose of 0 to 3" + (", 5 the special scone" if specials else "")
    private = (
        Section(name="known_slots", shape=(SLOTS,), high=kinds, text=f"what oneself has put back in a slot: {code}"),
        Section(name="put_back", shape=(SLOTS,), high=3, text="since the last shuffle: 1 returned, 2 spooned, 3 both"),
    )
    return ObservationLayout(
        (
            *_turn(num_seats),
            *_players(num_seats, specials),
            _box(by_slot, specials),
            Section(
                name="drawn",
                shape=(1,),
                high=SLOTS if by_slot else FLAVOURS,
                text=f"the {'slot' if by_slot else 'flavour'} of the scone in question, counted from 1; 0 without one",
            ),
            Section(name="drawn_scone", shape=(1,), high=kinds, text=f"that scone, if oneself knows it: {code}"),
            *(private if by_slot else ()),
            Section(
                name="kept",
                shape=(FLAVOURS, KINDS),
                high=_by_sort(specials),
                text="scones seen before a shuffle, by flavour and kind: there are at least so many in the box",
            ),
            Section(
                name="known_cups",
                shape=(num_seats, FLAVOURS, KINDS),
                high=_by_sort(specials) * num_seats,
                along_seats=True,
                text="scones in cups that oneself knows, by flavour and kind: all in one's own",
            ),
            Section(name="own_dose", shape=(1,), high=lethal + 2, text="the dose that counts in one's own cup"),
        )
    )


def full_layout(num_seats: int, *, by_slot: bool, specials: bool) -> ObservationLayout:
    """Return the layout of everything, seats in table order."""
    kinds = KINDS if specials else KINDS - 1
    return ObservationLayout(
        (
            *_turn(num_seats),
            *_players(num_seats, specials),
            Section(
                name="scones",
                shape=(SLOTS,),
                high=kinds,
                text="what lies in each slot: 0 nothing, 1 to 4 a dose of 0 to 3, 5 the special scone",
            ),
            Section(
                name="drawn",
                shape=(1,),
                high=SLOTS,
                text="the slot of the scone in question, counted from 1; 0 without",
            ),
            Section(
                name="known_slots",
                shape=(num_seats, SLOTS),
                high=1,
                along_seats=True,
                text="who has put the scone back in a slot" + ("" if by_slot else " (the drawer, while it is drawn)"),
            ),
            Section(
                name="kept",
                shape=(num_seats, FLAVOURS, KINDS),
                high=_by_sort(specials) * num_seats,
                along_seats=True,
                text="scones seen before a shuffle, by flavour and kind",
            ),
            Section(
                name="cup_scones",
                shape=(num_seats, FLAVOURS, KINDS),
                high=_by_sort(specials) * num_seats,
                along_seats=True,
                text="scones in cups by flavour and kind",
            ),
        )
    )


def _turn(num_seats: int) -> tuple[Section, ...]:
    return (
        Section(name="phase", shape=(4,), high=1, text="turn, inspect, react, after; all 0 when the match is over"),
        Section(name="turn", shape=(num_seats,), high=1, along_seats=True, text="whose turn it is"),
        Section(name="to_move", shape=(num_seats,), high=1, along_seats=True, text="who decides"),
        Section(name="shuffled", shape=(1,), high=1, text="the box was shuffled in this turn before the draw"),
    )


def _players(num_seats: int, specials: bool) -> tuple[Section, ...]:
    def section(name: str, high: int, text: str) -> Section:
        return Section(name=name, shape=(num_seats,), high=high, along_seats=True, text=text)

    return (
        section("alive", 1, "not poisoned"),
        section("stopped", 1, "has stopped"),
        section("sugars", SUGARS, "sugars left"),
        section("spoons", 1, "spoons left"),
        section("owed", MAX_OWED, "honour turns owed"),
        Section(
            name="cups",
            shape=(num_seats, FLAVOURS),
            high=len(in_flavour(specials)),
            along_seats=True,
            text="scones eaten, by flavour",
        ),
    )


def _box(by_slot: bool, specials: bool) -> Section:
    if by_slot:
        return Section(name="box", shape=(SLOTS,), high=1, text=f"slot has a scone; slot = {IN_FLAVOUR} × flavour + k")
    return Section(name="box", shape=(FLAVOURS,), high=len(in_flavour(specials)), text="scones in the box by flavour")


def _by_sort(specials: bool) -> tuple[int, ...]:
    kinds = in_flavour(specials)
    # Without special scones their kind never comes; Gymnasium warns of a bound of 0.
    return tuple(kinds.count(kind) or 1 for kind in range(KINDS)) * FLAVOURS
