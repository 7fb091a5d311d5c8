"""Referee one match of Poison, one move at a time, on plain lists of cards.

This is the slow half of a comparison: it follows the printed rules line by line and shares nothing with the engine it
is compared with. Sources: "published rules (pt)" is the Portuguese text of Reiner Knizia's Poison (50 cards, 3 to 6
players); "58-card box rules (fr/nl)" is the French and Dutch text of a box with 50 potions and 8 poisons.

Seats are numbered clockwise, so the player to the left of seat s is seat s + 1.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

Card = tuple[str, int]  # ("red", 7), ("poison", 4)
Move = tuple[str, int, int]  # colour, value, cauldron 0 to 2
Observation = dict[str, list[int] | list[list[int]]]

POTIONS = ("red", "blue", "purple")
POISON = "poison"
COLOURS = (*POTIONS, POISON)  # the order of kinds and of the columns of `taken`
LIMIT = 13  # a cauldron holds 13; only more than that overflows

# Published rules (pt): per colour two 4s and three each of 1, 2, 5, 7; eight poisons of value 4.
PUBLISHED: dict[Card, int] = {
    **{(colour, 4): 2 for colour in POTIONS},
    **{(colour, value): 3 for colour in POTIONS for value in (1, 2, 5, 7)},
    (POISON, 4): 8,
}
# 58-card box rules (fr/nl): 50 potions of 1, 2, 4 in three colours and 8 poisons of 1 and 2. The texts do not say how
# many of each. Here: five of every potion, and the five left over are the 1s of all three colours and the 2s of red
# and blue; four poisons of each value.
BOX58: dict[Card, int] = {
    **{(colour, value): 5 for colour in POTIONS for value in (1, 2, 4)},
    **{("red", 1): 6, ("blue", 1): 6, ("purple", 1): 6, ("red", 2): 6, ("blue", 2): 6},
    **{(POISON, 1): 4, (POISON, 2): 4},
}


def count_round_points(taken: Sequence[Sequence[Card]]) -> list[int]:
    """Count the points of a round from the cards each seat has taken.

    Published rules (pt), scoring: who has more cards of a colour than every other player discards them; in a tie for
    the most nobody does. Then a potion counts 1 and a poison 2, whatever its value. Poison is never discarded.
    """
    points = []
    for seat, own in enumerate(taken):
        others = [cards for other, cards in enumerate(taken) if other != seat]
        total = 2 * _count_colour(own, POISON)
        for colour in POTIONS:
            count = _count_colour(own, colour)
            immune = all(count > _count_colour(cards, colour) for cards in others)
            if not immune:
                total += count
        points.append(total)
    return points


class Referee:
    """Keep one match of Poison by the rules.

    Attributes: `hands`, `taken` (per seat) and `cauldrons` (three), lists of cards; `aside`, cards set aside unseen in
    this round; `played`, all cards played in this round; `to_move`, `dealer`, `round` (from 0); `totals`, the points of
    the match with handicaps; `needs_deal`, a round has to be dealt; `finished`. After a round the table shows it until
    the next deal.
    """

    def __init__(
        self,
        *,
        num_seats: int,
        deck: str | Mapping[Card, int] = "published",
        deal: str | None = None,
        colour_rule: str = "exclusive",
        num_rounds: int | None = None,
        recall: str = "perfect",
        handicaps: Sequence[int] | None = None,
        reward: str = "points",
        first_dealer: int = 0,
    ) -> None:
        """Open a match that waits for its first deal.

        Raises:
            ValueError: an option is unknown or out of range, or the deck cannot be played.
        """
        _require_integer("num_seats", num_seats, 2, 8)
        self.num_seats = num_seats
        self.deck = _read_deck(deck)
        if self.deck.total() < num_seats:
            raise ValueError(f"deck: {self.deck.total()} cards are too few for {num_seats} seats")
        self.kinds = sorted(self.deck, key=lambda card: (COLOURS.index(card[0]), card[1]))

        # Published rules (pt): one round per player; three players play four rounds and remove the excess, read as a
        # fourth hand; two do the same. Other decks are dealt out, one round per player.
        if deal is None:
            deal = "hands4" if deck == "published" else "all"
        if num_rounds is None:
            num_rounds = max(num_seats, 4) if deck == "published" else num_seats
        _require_integer("num_rounds", num_rounds, 1, 20)
        self.deal = _require_one_of("deal", deal, ("hands4", "equal", "all"))
        self.num_rounds = num_rounds
        self.colour_rule = _require_one_of("colour_rule", colour_rule, ("exclusive", "fixed"))
        self.recall = _require_one_of("recall", recall, ("perfect", "none"))
        self.reward = _require_one_of("reward", reward, ("points", "relative", "win"))
        _require_integer("first_dealer", first_dealer, 0, num_seats - 1)
        self.first_dealer = first_dealer
        self.totals = [0] * num_seats if handicaps is None else list(handicaps)
        if len(self.totals) != num_seats:
            raise ValueError(f"handicaps: expected {num_seats} numbers, got {len(self.totals)}")
        for handicap in self.totals:
            _require_integer("handicaps", handicap, 0, None)

        self.rounds_scored = 0
        self.round = 0
        self.dealer = first_dealer
        self.to_move = (first_dealer + 1) % num_seats
        self.hands: list[list[Card]] = [[] for _ in range(num_seats)]
        self.taken: list[list[Card]] = [[] for _ in range(num_seats)]
        self.cauldrons: list[list[Card]] = [[], [], []]
        self.aside: list[Card] = []
        self.played: list[Card] = []
        self.needs_deal = True
        self.finished = False

    def deal_round(self, cards: Sequence[Card]) -> None:
        """Deal the whole shuffled deck one by one, from the player to the left of the dealer.

        Raises:
            ValueError: no deal is due, or `cards` are not exactly the deck.
        """
        if not self.needs_deal:
            raise ValueError("no deal is due: a round is being played or the match is over")
        if Counter(cards) != self.deck:
            raise ValueError("the cards dealt are not exactly the deck")
        self.round = self.rounds_scored
        self.dealer = (self.first_dealer + self.round) % self.num_seats  # passes to the left
        first = (self.dealer + 1) % self.num_seats

        num_hands = max(self.num_seats, 4) if self.deal == "hands4" else self.num_seats
        excess = len(cards) % self.num_seats if self.deal == "equal" else 0
        dealt = cards[: len(cards) - excess]
        self.aside = list(cards[len(cards) - excess :])
        for place in range(num_hands):
            hand = list(dealt[place::num_hands])
            if place < self.num_seats:
                self.hands[(first + place) % self.num_seats] = hand
            else:  # a hand without a player
                self.aside.extend(hand)
        self.taken = [[] for _ in range(self.num_seats)]
        self.cauldrons = [[], [], []]
        self.played = []
        self.to_move = first
        self.needs_deal = False

    def cauldron_colour(self, cauldron: int) -> str | None:
        """Return the colour of the potions in a cauldron, None if it is empty or all poison."""
        if self.colour_rule == "fixed":
            return POTIONS[cauldron]
        for colour, _ in self.cauldrons[cauldron]:
            if colour != POISON:
                return colour
        return None

    def legal_moves(self) -> list[Move]:
        """List the distinct moves of the seat to move, by kind and then by cauldron.

        Published rules (pt): poison goes on any cauldron. A potion goes on the cauldron of its colour, and if no
        cauldron has that colour, on any cauldron without a colour.
        """
        colours = [self.cauldron_colour(cauldron) for cauldron in range(3)]
        moves = []
        for colour, value in self.kinds:
            needed = colour if colour in colours else None
            for cauldron in range(3):
                fits = colour == POISON or colours[cauldron] == needed
                if fits and (colour, value) in self.hands[self.to_move]:
                    moves.append((colour, value, cauldron))
        return moves

    def would_overflow(self, move: Move) -> bool:
        """Tell whether the card of the move would bring its cauldron above 13."""
        _, value, cauldron = move
        return _add_values(self.cauldrons[cauldron]) + value > LIMIT

    def play(self, move: Move) -> list[Fraction]:
        """Play a card of the seat to move and return what every seat is paid for it.

        Published rules (pt): who makes a cauldron exceed 13 takes all the cards that were in it; the card just played
        stays in it. The round is scored with its last card.

        Raises:
            ValueError: the move is not legal; nothing has changed then.
        """
        if move not in self.legal_moves():
            raise ValueError(f"seat {self.to_move} cannot play {move}")
        colour, value, cauldron = move
        seat = self.to_move
        overflows = self.would_overflow(move)
        self.hands[seat].remove((colour, value))
        if overflows:
            self.taken[seat].extend(self.cauldrons[cauldron])
            self.cauldrons[cauldron] = []
        self.cauldrons[cauldron].append((colour, value))
        self.played.append((colour, value))
        self.to_move = (seat + 1) % self.num_seats
        if any(self.hands):
            return [Fraction(0)] * self.num_seats
        return self._score_round()

    def placements(self) -> list[int]:
        """Return for each seat how many seats have fewer points: 0 is best, equal is shared."""
        return [sum(other < own for other in self.totals) for own in self.totals]

    def observation(self, seat: int) -> Observation:
        """Return what `seat` knows, as named lists of integers; seats run clockwise from `seat`.

        Taken cards lie face down, but everybody saw them being taken: with perfect recall a seat knows them all, with
        recall "none" only how many there are in each pile.
        """
        order = [(seat + step) % self.num_seats for step in range(self.num_seats)]
        own, kinds = self.hands[seat], self.kinds
        colours = [self.cauldron_colour(cauldron) for cauldron in range(3)]
        sections: Observation = {
            "own_hand": [own.count(kind) for kind in kinds],
            "cauldrons": [[cards.count(kind) for kind in kinds] for cards in self.cauldrons],
            "cauldron_totals": [_add_values(cards) for cards in self.cauldrons],
            "cauldron_colours": [0 if c is None else 1 + POTIONS.index(c) for c in colours],
            "hand_sizes": [len(self.hands[s]) for s in order],
            "match_points": [self.totals[s] for s in order],
            "round": [self.round],
        }
        if self.recall == "perfect":
            seen = own + self.played
            sections["taken"] = [[_count_colour(self.taken[s], c) for c in COLOURS] for s in order]
        else:
            seen = own + self.cauldrons[0] + self.cauldrons[1] + self.cauldrons[2]
            sections["pile_sizes"] = [len(self.taken[s]) for s in order]
        sections["unseen"] = [self.deck[kind] - seen.count(kind) for kind in kinds]
        return sections

    def _score_round(self) -> list[Fraction]:
        """Score the round just ended, close it, and return the rewards.

        Cards left in the cauldrons belong to nobody. The lowest total wins, equal ones share.
        """
        points = count_round_points(self.taken)
        self.totals = [total + new for total, new in zip(self.totals, points, strict=True)]
        self.rounds_scored += 1
        self.finished = self.rounds_scored == self.num_rounds
        self.needs_deal = not self.finished

        gains = [Fraction(-new) for new in points]  # many points are bad
        if self.reward == "points":
            return gains
        if self.reward == "relative":
            return [own - (sum(gains) - own) / (self.num_seats - 1) for own in gains]
        winners = [total == min(self.totals) for total in self.totals]
        share = Fraction(1, sum(winners)) if self.finished else Fraction(0)
        return [share if wins else Fraction(0) for wins in winners]


def _count_colour(cards: Sequence[Card], colour: str) -> int:
    """Count the cards of one colour."""
    return sum(card[0] == colour for card in cards)


def _add_values(cards: Sequence[Card]) -> int:
    """Add up the values of cards."""
    return sum(value for _, value in cards)


def _read_deck(deck: str | Mapping[Card, int]) -> Counter[Card]:
    """Return the number of cards of each kind, from a name or a table."""
    if isinstance(deck, str):
        _require_one_of("deck", deck, ("published", "box58"))
        return Counter(PUBLISHED if deck == "published" else BOX58)
    for (colour, value), count in deck.items():
        _require_one_of("deck colour", colour, COLOURS)
        _require_integer("deck value", value, 1, LIMIT)
        _require_integer("deck count", count, 1, None)
    if not any(colour in POTIONS for colour, _ in deck):
        raise ValueError("deck: expected one to three potion colours, got none")
    return Counter(deck)


def _require_integer(name: str, value: object, low: int, high: int | None) -> None:
    """Raise ValueError unless `value` is a whole number from `low` to `high`."""
    if not isinstance(value, int) or value < low or (high is not None and value > high):
        raise ValueError(f"{name}: expected a whole number from {low} to {high}, got {value!r}")


def _require_one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    """Return `value`, or raise ValueError if it is none of `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name}: expected one of {', '.join(allowed)}, got {value!r}")
    return value
