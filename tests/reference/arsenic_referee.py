"""Referee one match of Arsenic, one move at a time, on plain lists of scones.

This is the slow half of a comparison: it follows the rules line by line and shares nothing with the engine it is
compared with. Source: the French rules of Arsenic ("Tea, scones and arsenic") with the variants of the box; what they
leave open is decided in docs/arsenic.md.

Nothing is drawn here. The caller says which scone lies where, how the scones lie after each shuffle, which scone of a
flavour is drawn when the box is mixed before each draw, and which scones the tied players draw at the end.

Seats are numbered clockwise.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

Scone = tuple[int, str]  # flavour 0 to 5, and "0" to "3" doses or the name of a special scone
Move = tuple[str, int | None]  # ("draw", slot or flavour), else the word alone

LETHAL = {1: 30, 2: 15, 3: 10, 4: 8, 5: 7, 6: 6}
SPECIALS = ("plus", "drop", "round", "moon", "moon", "window")  # on flavours 0 to 5
DOSES = {"0": 0, "1": 1, "2": 2, "3": 3, "plus": 0, "drop": -1, "round": 0, "moon": 0, "window": 1}
COUNTS = {"plus": 2, "round": 0}  # all other scones count one


def all_scones(specials: bool) -> Counter[Scone]:
    """Return the scones of the box: two harmless ones of each flavour, two of one dose, one of two, one of three."""
    scones = Counter((flavour, dose) for flavour in range(6) for dose in ("0", "0", "1", "1", "2", "3"))
    return scones + Counter(enumerate(SPECIALS)) if specials else scones


class Player:
    """What lies before one player."""

    def __init__(self) -> None:
        self.cup: list[Scone] = []
        self.sugars = 3
        self.spoon = True
        self.stopped = False
        self.dead = False
        self.owed = 0
        self.seen: dict[int, Scone] = {}  # scones drawn and put back, by slot
        self.kept: Counter[Scone] = Counter()  # the same after a shuffle: there are at least so many in the box

    @property
    def dose(self) -> int:
        """The dose that counts."""
        return max(0, sum(DOSES[name] for _, name in self.cup))

    @property
    def scones(self) -> int:
        """What the cup counts at the end."""
        return sum(COUNTS.get(name, 1) for _, name in self.cup)

    @property
    def active(self) -> bool:
        """Alive and not stopped."""
        return not self.dead and not self.stopped


class Referee:
    """One match."""

    def __init__(
        self,
        box: dict[int, Scone],
        *,
        num_seats: int,
        first: int,
        honour_turns: int | None = None,
        spoons: bool = True,
        last_survivor_ends: bool = True,
        draw: str = "slots",
        tiebreak: str = "sudden_death",
        specials: bool = False,
        reward: str = "win",
    ) -> None:
        assert Counter(box.values()) == all_scones(specials)
        assert all(slot // 7 == flavour for slot, (flavour, _) in box.items())
        self.box = dict(box)
        self.players = [Player() for _ in range(num_seats)]
        for player in self.players:
            player.spoon = spoons
        self.honour_turns = (1 if num_seats == 6 else 2) if honour_turns is None else honour_turns
        self.last_survivor_ends, self.draw, self.tiebreak, self.reward = last_survivor_ends, draw, tiebreak, reward
        self.lethal = LETHAL[num_seats]
        self.first = self.turn = first
        self.phase = "turn"  # then "inspect", "react", "after", "over"
        self.reactors: list[int] = []  # who may still use a spoon, the next one first
        self.shuffled = False
        self.hand: int | None = None  # the slot of the scone that was drawn
        self.put_back: dict[int, set[str]] = {}  # since the last shuffle, and how
        self.places = [0] * num_seats

    # --- whose decision, and which

    @property
    def to_move(self) -> int:
        """The seat that decides."""
        return self.reactors[0] if self.phase == "react" else self.turn

    def legal_moves(self) -> set[Move]:
        """Return what the seat to move may do."""
        if self.phase == "turn":
            slots = self.draw == "slots"
            moves: set[Move] = {("draw", slot if slots else slot // 7) for slot in self.box}
            if self.players[self.turn].owed == 0:
                moves.add(("stop", None))
            if slots and not self.shuffled:
                moves.add(("shuffle", None))
            return moves
        if self.phase == "inspect":
            assert self.hand is not None
            sticky = self.box[self.hand][1] == "window"
            may_return = self.players[self.turn].sugars > 0 and not sticky
            return {("eat", None), ("return", None)} if may_return else {("eat", None)}
        if self.phase == "react":
            return {("spoon", None), ("pass", None)}
        if self.phase == "after":
            return {("shuffle", None), ("pass", None)}
        return set()

    # --- what a move does

    def play(
        self,
        move: Move,
        *,
        now_lie: dict[int, Scone] | None = None,
        picked: int | None = None,
        last_draws: Callable[[], list[int]] = list,
    ) -> list[Fraction]:
        """Play a legal move; return what it pays.

        Args:
            now_lie: how the scones lie after a shuffle.
            picked: the slot of the scone that is drawn when the box is mixed before each draw.
            last_draws: gives the slots in the order in which tied players draw them at the end.
        """
        assert move in self.legal_moves()
        word, place = move
        if word == "stop":
            self.players[self.turn].stopped = True
            for seat, player in enumerate(self.players):
                if player.active and seat != self.turn:
                    player.owed = self.honour_turns
            self._next_turn()
        elif word == "shuffle":
            assert now_lie is not None
            self._shuffle(now_lie)
            if self.phase == "after":
                self._next_turn()
            else:
                self.shuffled = True
        elif word == "draw":
            self.hand = place if self.draw == "slots" else picked
            assert self.hand is not None
            assert self.draw == "slots" or self.hand // 7 == place
            self.players[self.turn].seen[self.hand] = self.box[self.hand]
            self.phase = "inspect"
        elif word == "eat":
            self.reactors = self._may_use_a_spoon()
            self.phase = "react"
            if not self.reactors:
                self._swallow()
        elif word == "return":
            self.players[self.turn].sugars -= 1
            self._put_back("returned")
        elif word == "spoon":
            self.players[self.to_move].spoon = False
            self._put_back("spooned")
        elif self.phase == "react":
            self.reactors.pop(0)
            if not self.reactors:
                self._swallow()
        else:
            self._next_turn()

        if self.phase != "over" and self._is_over():
            self.phase = "over"
            self._finish(last_draws)
            return self._pay()
        return [Fraction(0)] * len(self.players)

    def _may_use_a_spoon(self) -> list[int]:
        number = len(self.players)
        clockwise = [(self.turn + ahead) % number for ahead in range(1, number)]
        return [seat for seat in clockwise if self.players[seat].spoon and not self.players[seat].dead]

    def _shuffle(self, now_lie: dict[int, Scone]) -> None:
        """Mix the scones of each flavour among their slots: what was known of slots is known of flavours."""
        assert now_lie.keys() == self.box.keys()
        assert Counter(now_lie.values()) == Counter(self.box.values())
        self.box = dict(now_lie)
        self.put_back = {}
        for player in self.players:
            player.kept |= Counter(player.seen.values())  # the larger number of each
            player.seen = {}

    def _put_back(self, how: str) -> None:
        assert self.hand is not None
        self.put_back.setdefault(self.hand, set()).add(how)
        self.hand = None
        self._owe_one_less()
        self.reactors = []
        self.phase = "after"
        if self.draw == "flavour":  # mixed before the next draw: no shuffle is asked for
            self._shuffle(self.box)
            self._next_turn()

    def _swallow(self) -> None:
        assert self.hand is not None
        eater, scone = self.players[self.turn], self.box.pop(self.hand)
        for player in self.players:
            player.seen.pop(self.hand, None)
            if player is not eater:
                for other in [known for known in player.kept if known[0] == scone[0]]:
                    del player.kept[other]
        eater.kept -= Counter([scone])  # it may be the one that was seen
        self.put_back.pop(self.hand, None)
        self.hand = None
        eater.cup.append(scone)
        moons = sum(name == "moon" for _, name in eater.cup)
        if eater.dose >= self.lethal or moons == 2:
            eater.dead = True
        self._owe_one_less()
        self._next_turn()

    def _owe_one_less(self) -> None:
        eater = self.players[self.turn]
        eater.owed = max(0, eater.owed - 1)

    def _next_turn(self) -> None:
        self.phase, self.shuffled = "turn", False
        number = len(self.players)
        for ahead in range(1, number + 1):
            seat = (self.turn + ahead) % number
            if self.players[seat].active:
                self.turn = seat
                return

    # --- the end

    def _is_over(self) -> bool:
        alive = sum(not player.dead for player in self.players)
        if len(self.players) > 1 and alive == 1 and self.last_survivor_ends:
            return True
        return not any(player.active for player in self.players) or not self.box

    def _finish(self, last_draws: Callable[[], list[int]]) -> None:
        order: list[list[int]] = []  # groups of seats, the best first
        alive = [seat for seat, player in enumerate(self.players) if not player.dead]
        results = {seat: (self.players[seat].scones, self.players[seat].dose) for seat in alive}
        for result in sorted(set(results.values()), reverse=True):
            order.append([seat for seat in alive if results[seat] == result])
        if order and len(order[0]) > 1 and self.tiebreak == "sudden_death":
            winners = self._sudden_death(order[0], last_draws())
            losers = [seat for seat in order[0] if seat not in winners]
            order[:1] = [winners, losers] if losers else [winners]
        order.append([seat for seat, player in enumerate(self.players) if player.dead])
        place = 0
        for group in order:
            for seat in group:
                self.places[seat] = place
            place += len(group)

    def _sudden_death(self, tied: list[int], slots: list[int]) -> list[int]:
        number = len(self.players)
        left = sorted(tied, key=lambda seat: (seat - self.first) % number)
        sums = {seat: sum(DOSES[name] for _, name in self.players[seat].cup) for seat in left}
        box = [self.box[slot] for slot in slots]
        assert Counter(box) == Counter(self.box.values())
        while len(left) > 1 and box:
            lap = list(left)
            for seat in lap:
                if not box:
                    break
                sums[seat] += DOSES[box.pop(0)[1]]
                if max(0, sums[seat]) >= self.lethal:
                    left.remove(seat)
            if not left:
                return lap
        return left

    def points(self) -> list[int]:
        """Count scones: while the match goes on those that everybody sees, at its end what they are worth."""
        if self.phase == "over":
            return [0 if player.dead else player.scones for player in self.players]
        return [0 if player.dead else len(player.cup) for player in self.players]

    def _pay(self) -> list[Fraction]:
        if self.reward == "win":
            winners = [place == 0 and not p.dead for place, p in zip(self.places, self.players, strict=True)]
            return [Fraction(won, sum(winners) or 1) for won in winners]
        points = self.points()
        if self.reward == "points":
            return [Fraction(p) for p in points]
        others = len(points) - 1
        return [p - Fraction(sum(points) - p, others) for p in points]
