"""Potio for one match, slowly, from the rules alone; it shares nothing with the engine.

A card is a tuple (colour, value); a card in a zone is a list [colour, value, frozen]. The caller says how the pile is
ordered and in which order the cards of each explosion come to lie. Actions are tuples of words.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations

COLOUR_ORDER = ["blue", "yellow", "purple", "grey"]
Card = tuple[str, int]


def is_part(cards: tuple[Card, ...], value: int, *, grey_only_sum: bool) -> bool:
    """Tell whether cards may stand for `value` as the second or third part of a brew."""
    if not cards or sum(number for _, number in cards) != value:
        return False
    colours = {colour for colour, _ in cards if colour != "grey"}
    if len(cards) == 1:
        return True
    return len(colours) == 1 or (not colours and grey_only_sum)


@lru_cache(maxsize=1 << 18)
def brew_value(cards: tuple[Card, ...], *, grey_first: bool = True, grey_only_sum: bool = True) -> int | None:
    """Return the value of a brew with exactly these cards, trying every first card and every split; None if illegal."""
    total = sum(value for _, value in cards)
    for first, (colour, value) in enumerate(cards):
        if total != 3 * value:  # three parts of the same value
            continue
        if colour == "grey" and not grey_first:
            continue
        rest = cards[:first] + cards[first + 1 :]
        for count in range(1, len(rest)):
            for chosen in combinations(range(len(rest)), count):
                one = tuple(rest[i] for i in chosen)
                other = tuple(rest[i] for i in range(len(rest)) if i not in chosen)
                if all(is_part(part, value, grey_only_sum=grey_only_sum) for part in (one, other)):
                    return value
    return None


@lru_cache(maxsize=1 << 14)
def legal_sets(zone: tuple[tuple[str, int, bool], ...], **rules: bool) -> list[tuple[int, ...]]:
    """Return every legal set of slots; of sets with the same cards the one with the first of equal cards."""
    free = [slot for slot, card in enumerate(zone) if not card[2]]
    found: dict[tuple[Card, ...], tuple[int, ...]] = {}
    for count in range(3, len(free) + 1):
        choices = combinations(free, count)  # in lexical order, so the first ones come first
        for slots, cards in zip(choices, combinations([zone[slot][:2] for slot in free], count), strict=True):
            if cards not in found and brew_value(cards, **rules) is not None:
                found[cards] = slots
    return list(found.values())


class PotioReferee:
    """One match.

    Args:
        pile: all cards, the top one first.
        first: the first player.
        explosion_order: given the number of the explosion (from 0) and its cards, returns them from top to bottom.
    """

    def __init__(
        self,
        pile: list[Card],
        *,
        num_seats: int,
        first: int,
        explosion_order: Callable[[int, list[Card]], list[Card]],
        extra_cards_last: int = 0,
        grey_first: bool = True,
        grey_only_sum: bool = True,
        steal_frozen: bool = False,
        burn_frozen: bool = True,
        stall_turns: int | None = None,
        max_turns: int | None = None,
    ) -> None:
        self.seats = num_seats
        self.rules = {"grey_first": grey_first, "grey_only_sum": grey_only_sum}
        self.steal_frozen, self.burn_frozen = steal_frozen, burn_frozen
        self.stall_limit = 12 * num_seats if stall_turns is None else stall_turns
        self.turn_limit = 6 * len(pile) if max_turns is None else max_turns
        self.order_explosion = explosion_order
        self.pile = list(pile)
        self.zones: list[list[list]] = [[] for _ in range(num_seats)]
        self.won: list[list[Card]] = [[] for _ in range(num_seats)]
        self.points = [0] * num_seats
        order = [(first + i) % num_seats for i in range(num_seats)]
        for seat in order:
            self.zones[seat] = [self.top(), self.top()]
        self.zones[order[-1]] += [self.top() for _ in range(extra_cards_last)]
        self.centre: list[Card] = [tuple(self.top()[:2]) for _ in range(3)]
        self.mover = first
        self.over = self.cut_off = False
        self.turns = self.idle = self.explosions = 0
        self.won_now = False
        self.begin_turn()

    def top(self) -> list:
        colour, value = self.pile.pop(0)
        return [colour, value, False]

    def sorted_zone(self, seat: int) -> list[list]:
        zone = self.zones[seat]
        zone.sort(key=lambda card: (COLOUR_ORDER.index(card[0]), card[1], card[2]))
        return zone

    def begin_turn(self) -> None:
        if self.pile:
            self.centre.append(tuple(self.top()[:2]))
        self.phase = "take"
        self.picked: list[int] = []
        self.effects: list[str] = []

    def refill(self) -> None:
        for ahead in range(self.seats):
            seat = (self.mover + ahead) % self.seats
            if not self.zones[seat]:
                while self.pile and len(self.zones[seat]) < 2:
                    self.zones[seat].append(self.top())

    # --- what is legal

    def legal_sets(self) -> list[tuple[int, ...]]:
        return legal_sets(tuple(map(tuple, self.sorted_zone(self.mover))), **self.rules)

    def targets(self, effect: str) -> set[tuple[int, int]]:
        """Return (seats after the mover, slot) that an effect may hit; of equal cards the first."""
        found = set()
        for ahead in range(self.seats):
            zone = self.sorted_zone((self.mover + ahead) % self.seats)
            for slot, card in enumerate(zone):
                if slot and zone[slot - 1] == card:
                    continue
                frozen = card[2]
                allowed = {
                    "freeze": ahead > 0 and not frozen,
                    "burn": self.burn_frozen or not frozen,
                    "thaw": ahead == 0 and frozen,
                    "steal": ahead > 0 and (self.steal_frozen or not frozen),
                }[effect]
                if allowed:
                    found.add((ahead, slot))
        return found

    def legal(self) -> set[tuple]:
        if self.over:
            return set()
        if self.phase == "take":
            return {("take", place) for place in range(len(self.centre))}
        if self.phase == "pick":
            sets = [s for s in self.legal_sets() if list(s[: len(self.picked)]) == self.picked]
            actions: set[tuple] = {("pick", s[len(self.picked)]) for s in sets if len(s) > len(self.picked)}
            if not self.picked or tuple(self.picked) in sets:
                actions.add(("commit",))
            return actions
        if self.phase == "choose":
            return {("effect", effect) for effect in self.effects if self.targets(effect)} | {("none",)}
        return {("aim", *target) for target in self.targets(self.effects[0])}

    # --- what a decision does

    def step(self, action: tuple) -> None:
        assert action in self.legal(), action
        word, *rest = action
        if word == "take":
            self.zones[self.mover].append([*self.centre.pop(rest[0]), False])
            self.phase = "pick"
        elif word == "pick":
            self.picked.append(rest[0])
        elif word == "commit" and self.picked:
            self.brew()
        elif word == "commit":
            self.end_turn()
        elif word == "effect":
            self.effects, self.phase = [rest[0]], "aim"
        else:
            if word == "aim":
                self.apply(self.effects[0], (self.mover + rest[0]) % self.seats, rest[1])
            self.effects, self.phase = [], "pick"

    def brew(self) -> None:
        zone = self.sorted_zone(self.mover)
        cards = tuple((zone[slot][0], zone[slot][1]) for slot in self.picked)
        value = brew_value(cards, **self.rules)
        assert value is not None
        self.zones[self.mover] = [card for slot, card in enumerate(zone) if slot not in self.picked]
        self.picked = []
        self.won[self.mover] += cards
        self.points[self.mover] += value + len(cards) - 1
        self.won_now = True
        self.refill()
        colours = {colour for colour, _ in cards} - {"grey"}
        if len(colours) == 3:
            effects = ["freeze", "burn", "thaw", "steal"]
        elif len(colours) == 1:
            effects = {"blue": ["freeze"], "yellow": ["burn", "thaw"], "purple": ["steal"]}[colours.pop()]
        else:
            effects = []
        self.effects = effects if any(self.targets(effect) for effect in effects) else []
        self.phase = "choose" if self.effects else "pick"

    def apply(self, effect: str, owner: int, slot: int) -> None:
        zone = self.sorted_zone(owner)
        if effect in ("freeze", "thaw"):
            zone[slot][2] = effect == "freeze"
            return
        card = zone.pop(slot)
        if effect == "steal":
            self.zones[self.mover].append(card)
        else:
            self.won[owner].append((card[0], card[1]))
            self.points[owner] += 1
            self.won_now = True
        self.refill()

    def end_turn(self) -> None:
        zone = self.zones[self.mover]
        if len(zone) == 8:
            self.pile += self.order_explosion(self.explosions, [(card[0], card[1]) for card in zone])
            self.explosions += 1
            self.zones[self.mover] = []
            self.refill()
        self.turns += 1
        self.idle = 0 if self.won_now else self.idle + 1
        self.won_now = False
        self.over = (not self.pile and not self.centre) or self.idle >= self.stall_limit
        if not self.over and self.turns >= self.turn_limit:
            self.over = self.cut_off = True
        self.mover = (self.mover + 1) % self.seats
        if not self.over:
            self.begin_turn()

    def places(self) -> list[int]:
        """Return how many seats are better: more points, or as many and fewer frozen cards."""
        merit = [(self.points[seat], -sum(card[2] for card in self.zones[seat])) for seat in range(self.seats)]
        return [sum(other > own for other in merit) for own in merit]
