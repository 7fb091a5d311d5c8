"""The batched engine against the slow referee: whole random matches over all options, compared after every move.

Options are drawn at random, a batch of matches is played with each, and every row has a referee of its own. Rows are
compared in full now and then (every section of every seat, every overflow), in the essentials after every move.
"""

import random
from typing import Any

import numpy as np
import pytest

from poison_env.core import chance
from poison_env.games.poison import Poison, PoisonState
from tests.reference.poison_referee import Card, Referee
from tests.support import random_actions

CLASSES = ("red", "blue", "purple", "poison")
NAMED = ["published", "published", "box58"]
FIXED_TABLES: list[dict[Card, int]] = [
    {("red", 5): 4, ("blue", 9): 4},  # two colours of four cards
    {("red", 1): 2, ("red", 3): 1, ("red", 5): 1, ("blue", 2): 2, ("blue", 4): 1, ("blue", 6): 1},
    {("purple", 13): 8},  # one kind
    {("blue", 1): 30, ("poison", 1): 5},  # a cauldron of thirteen cards
    {("red", 2): 5, ("red", 6): 5, ("poison", 4): 3},  # one colour
    {("red", 7): 3, ("blue", 7): 3, ("purple", 7): 3},  # no poison
    {("red", 4): 2, ("blue", 4): 2, ("purple", 4): 2, ("poison", 4): 20},  # mostly poison
]
MATCHES = 12  # in a batch
FAST, SLOW = 200, 2_000  # option sets: 2,400 matches in the normal suite, 24,000 in the slow one
CHUNKS = 20


def draw_table(rng: random.Random) -> dict[Card, int]:
    """Draw a deck of one's own: 1 to 17 kinds of any colours and values."""
    colours = rng.sample(CLASSES[:3], rng.randint(1, 3)) + rng.choice([[], ["poison"]])
    kinds = [(colour, value) for colour in colours for value in range(1, 14)]
    table = {kind: rng.randint(1, 4) for kind in rng.sample(kinds, min(len(kinds), rng.randint(1, 17)))}
    potion = (colours[0], rng.randint(1, 13))
    return table | {potion: table.get(potion, 0) + rng.choice([8, 9, 15])}


def draw_options(rng: random.Random) -> dict[str, Any]:
    """Draw one option set; all options vary, and defaults are left out at times."""
    seats = rng.randint(2, 8)
    deck = rng.choice([rng.choice(NAMED), rng.choice(FIXED_TABLES), draw_table(rng)])
    options: dict[str, Any] = {"num_seats": seats, "deck": deck, "num_rounds": rng.choice([1, 1, 2, 3])}
    if isinstance(deck, dict) and sum(deck.values()) < 12:
        options["num_rounds"] = rng.choice([None, 1, 2, 5, 20])
    if options["num_rounds"] is None:
        del options["num_rounds"]
    choices: dict[str, list[Any]] = {
        "deal": ["hands4", "equal", "all"],
        "colour_rule": ["exclusive", "fixed"],
        "recall": ["perfect", "none"],
        "reward": ["points", "relative", "win"],
        "handicaps": [tuple(rng.randint(0, 9) for _ in range(seats))],
        "first_dealer": [rng.randrange(seats)],
    }
    return options | {name: rng.choice(values) for name, values in choices.items() if rng.random() < 0.7}


class Comparison:
    """A batch of the engine and a referee for each of its rows, moved together."""

    def __init__(self, options: dict[str, Any], number: int) -> None:
        self.game = Poison(**options)
        self.seeds = chance.fold(number, np.arange(MATCHES))
        self.state: PoisonState = self.game.deal(self.seeds)
        self.referees = [Referee(**options | {"first_dealer": int(self.state.dealer[row])}) for row in range(MATCHES)]
        self.events: list[list[int]] = [[] for _ in range(MATCHES)]
        self.deal()

    def deal(self) -> None:
        for row, referee in enumerate(self.referees):
            if referee.needs_deal:
                order = self.game.card_order(self.seeds[[row]], referee.rounds_scored)[0]
                referee.deal_round([self.game.kinds[kind] for kind in order])

    def play(self) -> None:
        """Play to the end, comparing all the way."""
        moves = 0
        while not self.state.done.all():
            self.compare_tables()
            if moves % 7 == 0:
                self.compare_views(moves // 7 % MATCHES)
            self.move()
            moves += 1
        self.compare_ends()

    def move(self) -> None:
        game, state = self.game, self.state
        mask, over = game.action_mask(state), game.overflows(state)
        actions = random_actions(game, state)
        before = state.copy()
        paid = game.step(state, actions)
        for row, referee in enumerate(self.referees):
            action = int(actions[row])
            move = (*game.kinds[action // 3], action % 3)
            legal = [3 * game.kinds.index(other[:2]) + other[2] for other in referee.legal_moves()]
            assert legal == np.flatnonzero(mask[row]).tolist(), row
            assert referee.would_overflow(move) == over[row, action], row
            self.events[row].append(int(before.to_move[row]) * game.num_actions + action)
            expected = referee.play(move)
            if any(expected) or paid[row].any():
                np.testing.assert_allclose([float(f) for f in expected], paid[row], rtol=0, atol=1e-12)
        self.deal()

    def compare_tables(self) -> None:
        """Compare what changes with every move: hands, cauldrons, taken, whose turn it is."""
        game, state = self.game, self.state
        full = game.observe_all(state)
        hands, cauldrons, taken, aside = (
            game.full_layout.decode(full, name).tolist() for name in ("hands", "cauldrons", "taken", "set_aside")
        )
        for row, referee in enumerate(self.referees):
            assert (referee.to_move, referee.round) == (state.to_move[row], state.round[row]), row
            assert [self.count(hand) for hand in referee.hands] == hands[row], row
            assert [self.count(cards) for cards in referee.cauldrons] == cauldrons[row], row
            assert [count_classes(cards) for cards in referee.taken] == taken[row], row
            assert self.count(referee.aside) == aside[row], row
            assert referee.totals == state.totals[row].tolist(), row
            assert referee.dealer == (state.dealer[row] + state.round[row]) % game.num_seats, row
            assert referee.finished == state.done[row], row

    def compare_views(self, row: int) -> None:
        """Compare every section of every seat, and every move's overflow, in one row."""
        game, one, referee = self.game, self.state[row], self.referees[row]
        for seat in range(game.num_seats):
            observation = game.observe(one, np.array([seat]))
            view = referee.observation(seat)
            assert view.keys() == game.layout.slices.keys()
            for name, expected in view.items():
                assert expected == game.layout.decode(observation, name)[0].tolist(), (row, seat, name)
        over = [
            3 * game.kinds.index(move[:2]) + move[2] for move in referee.legal_moves() if referee.would_overflow(move)
        ]
        assert over == np.flatnonzero(game.overflows(one)[0]).tolist(), row
        assert referee.placements() == game.placements(one)[0].tolist(), row
        known = self.events[row] if game.recall == "perfect" else []
        assert known == [event for event in game.history(one)[0].tolist() if event >= 0], row

    def compare_ends(self) -> None:
        """Compare finished matches, and what every seat sees of them."""
        game, state = self.game, self.state
        assert not game.action_mask(state).any()
        for row, referee in enumerate(self.referees):
            assert referee.finished, row
            assert referee.totals == game.points(state)[row].tolist(), row
            assert referee.placements() == game.placements(state)[row].tolist(), row
            assert len(self.events[row]) == state.moves[row] == game.max_moves, row
        for seat in range(game.num_seats):
            observation = game.observe(state[0], np.array([seat]))
            view = self.referees[0].observation(seat) | {"round": [game.num_rounds]}  # rounds scored
            for name, expected in view.items():
                assert expected == game.layout.decode(observation, name)[0].tolist(), (seat, name)

    def count(self, cards: list[Card]) -> list[int]:
        return [cards.count(kind) for kind in self.game.kinds]


def count_classes(cards: list[Card]) -> list[int]:
    return [sum(colour == name for colour, _ in cards) for name in CLASSES]


def compare(numbers: range) -> int:
    """Play the option sets with those numbers against the referee; return how many matches were equal."""
    for number in numbers:
        options = draw_options(random.Random(number))
        try:
            Comparison(options, number).play()
        except AssertionError as error:
            error.add_note(f"option set {number}: {options}")
            raise
    return MATCHES * len(numbers)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_matches_equal_the_referee(chunk: int) -> None:
    size = FAST // CHUNKS
    assert compare(range(chunk * size, (chunk + 1) * size)) == 120


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_many_random_matches_equal_the_referee(chunk: int) -> None:
    size = SLOW // CHUNKS
    assert compare(range(FAST + chunk * size, FAST + (chunk + 1) * size)) == 1_200


def test_the_slow_comparison_plays_at_least_20000_matches() -> None:
    assert MATCHES * SLOW >= 20_000


def test_the_drawn_options_vary_in_everything() -> None:
    drawn = [Poison(**draw_options(random.Random(number))) for number in range(FAST)]
    least = {"num_seats": 7, "deck": 60, "deal": 3, "colour_rule": 2, "num_rounds": 5, "recall": 2, "handicaps": 60}
    for name, several in least.items():
        assert len({str(game.options[name]) for game in drawn}) >= several, name
    assert {game.options["reward"] for game in drawn} == {"points", "relative", "win"}
    assert {game.options["first_dealer"] for game in drawn} >= {None, 0, 1, 2, 3, 4, 5, 6}
    assert {any(game.handicaps) for game in drawn} == {True, False}
    assert len({game.num_kinds % 8 for game in drawn}) == 8  # masks are packed by eight kinds
    assert {game.deck.text for game in drawn} >= {"published", "box58"}


def count_lines_of_play(referee_options: dict[str, Any], order: list[Card]) -> list[int]:
    """Count by the referee, move by move, the ways to play a round from a deal: by how many moves were made."""
    counts = [0] * (len(order) + 1)

    def walk(played: list[Any]) -> None:
        counts[len(played)] += 1
        referee = Referee(**referee_options)
        referee.deal_round(order)
        for move in played:
            referee.play(move)
        if not referee.finished:
            for move in referee.legal_moves():
                walk([*played, move])

    walk([])
    return counts


@pytest.mark.parametrize("colour_rule", ["exclusive", "fixed"])
@pytest.mark.parametrize(
    "deck", [{("red", 6): 2, ("blue", 8): 2, ("poison", 5): 2}, {("red", 9): 2, ("blue", 1): 3, ("purple", 7): 1}]
)
def test_lines_of_play_of_a_tiny_deck_are_as_many(deck: dict[Card, int], colour_rule: str) -> None:
    options = {"num_seats": 2, "deck": deck, "colour_rule": colour_rule, "num_rounds": 1, "first_dealer": 0}
    game = Poison(**options)
    state = game.deal(np.array([4], np.uint64))
    order = [game.kinds[kind] for kind in game.card_order(state.seeds)[0]]
    counts = [1]
    while not state.done.all():
        rows, actions = np.nonzero(game.action_mask(state))
        state = state[rows]
        game.step(state, actions)
        counts.append(len(state))
    assert count_lines_of_play(options, order) == counts
