"""What the tests of Potio share: option sets, actions in words, the referee beside the engine."""

from typing import Any

import numpy as np

from poison_env.games.potio import Potio, PotioState, moves
from poison_env.games.potio.brews import EFFECTS
from poison_env.games.potio.deck import EMPTY
from tests.reference.potio_referee import Card, PotioReferee

SMALL = "B1x7 B2x3 Y1x3 Y2x7 P1x7 P3x2 G1x7"
TINY = "B2x4 Y2x3 P1x3 G1x2"

# One option set for every option that changes what is dealt, legal, seen or paid.
POTIO_SETS: dict[str, dict[str, Any]] = {
    "default": {},
    "two seats": {"num_seats": 2},
    "three seats": {"num_seats": 3, "reward": "relative"},
    "five seats": {"num_seats": 5},
    "extra cards": {"num_seats": 3, "extra_cards_last": 5, "reward": "win"},
    "no grey first": {"grey_first": False, "num_seats": 2},
    "no grey sums": {"grey_only_sum": False, "num_seats": 2},
    "frozen stolen": {"steal_frozen": True},
    "frozen not burned": {"burn_frozen": False, "num_seats": 3, "reward": "relative"},
    "all turned": {
        "grey_first": False,
        "grey_only_sum": False,
        "steal_frozen": True,
        "burn_frozen": False,
        "num_seats": 5,
        "reward": "win",
        "extra_cards_last": 2,
    },
    "stalls soon": {"stall_turns": 5, "num_seats": 3, "reward": "win"},
    "cut off": {"max_turns": 17, "reward": "win"},
    "small deck": {"deck": SMALL, "num_seats": 2},
    "small deck, five seats": {"deck": SMALL, "num_seats": 5, "reward": "relative"},
    "tiny deck": {"deck": TINY, "num_seats": 2},
    "greys": {"deck": "G1x7 G2x7 B1x2 Y3x3", "num_seats": 2, "stall_turns": 12},
}


def words(action: int) -> tuple[Any, ...]:
    """Return an action as the referee writes it."""
    if action < moves.PICK:
        return ("take", action - moves.TAKE)
    if action < moves.COMMIT:
        return ("pick", action - moves.PICK)
    if action == moves.COMMIT:
        return ("commit",)
    if action < moves.NONE:
        return ("effect", EFFECTS[action - moves.EFFECT])
    if action == moves.NONE:
        return ("none",)
    return ("aim", *divmod(action - moves.TARGET, 8))


def referee_for(game: Potio, state: PotioState, row: int = 0) -> PotioReferee:
    """Return a referee at the start of a freshly dealt match."""
    seed = state.seeds[row : row + 1]
    kind_of = {kind: number for number, kind in enumerate(game.kinds)}

    def order(number: int, cards: list[Card]) -> list[Card]:
        kinds = np.array([[kind_of[card] for card in cards]])
        return [game.kinds[kind] for kind in game.explosion_order(seed, np.array([number]), kinds)[0]]

    options = {name: value for name, value in game.options.items() if name not in ("deck", "reward")}
    pile = [game.kinds[kind] for kind in game.card_order(seed)[0]]
    return PotioReferee(pile, first=int(state.first[row]), explosion_order=order, **options)


def rewards_of(judge: PotioReferee, before: list[int], reward: str) -> list[float]:
    """Return what a decision has paid each seat that had the points `before`."""
    made = [now - then for now, then in zip(judge.points, before, strict=True)]
    if reward == "points":
        return [float(own) for own in made]
    if reward == "relative":
        return [own - (sum(made) - own) / (judge.seats - 1) for own in made]
    winners = judge.places().count(0) if judge.over else 0
    return [1 / winners if winners and place == 0 else 0.0 for place in judge.places()]


def cards_everywhere(game: Potio, state: PotioState) -> np.ndarray:
    """Return all cards of each match by kind, (B, K): they must be the deck."""
    total = state.victory.sum(axis=1).astype(np.int64)
    for row in range(len(state)):
        zone = state.zones[row][state.zones[row] != EMPTY] >> 1
        centre = state.centre[row, : state.centre_size[row]]
        places = (state.top[row] + np.arange(state.pile_size[row])) % game.deck.size
        for part in (zone, centre, state.pile[row, places]):
            total[row] += np.bincount(part, minlength=game.num_kinds)
    return total
