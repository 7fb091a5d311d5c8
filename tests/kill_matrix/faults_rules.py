"""Faults in the rules of Poison."""

from tests.kill_matrix.fault import DEALING, GAME, LAYOUTS, OPTIONS, SINGLE, TABLES, Fault

FAULTS = [
    Fault("rules", "thirteen overflows", TABLES, "+ deck.values[:, None] > LIMIT", "+ deck.values[:, None] >= LIMIT"),
    Fault(
        "rules",
        "a tie is a majority",
        GAME,
        "(most.sum(axis=-2, keepdims=True) == 1)",
        "(most.sum(axis=-2, keepdims=True) >= 1)",
    ),
    Fault("rules", "poison is discarded too", GAME, "        immune[..., POISON_CLASS] = False\n", ""),
    Fault(
        "rules",
        "a colour may begin in a second place",
        TABLES,
        "legal = colours[cauldron] == colour",
        "legal = colours[cauldron] in (colour, NO_COLOUR)",
    ),
    Fault("rules", "the wrong seat begins", DEALING, "+ state.round[rows] + 1)", "+ state.round[rows])"),
    Fault(
        "rules",
        "a card is lost in the deal",
        DEALING,
        "        state.cards_left[rows] = self.cards_dealt",
        "        state.hands[rows, 0, 0] //= 2\n        state.cards_left[rows] = state.hands[rows].sum(axis=(1, 2))",
    ),
    Fault(
        "rewards",
        "rewards go to the next seat",
        GAME,
        "(self.points_sign * points)",
        "(self.points_sign * np.roll(points, 1, axis=1))",
    ),
    Fault(
        "masks", "the mask forbids legal moves", SINGLE, "hand.take(tables.kind_of))", "hand.take(tables.kind_of) > 1)"
    ),
    Fault("illegal input", "illegal moves are accepted in a batch", GAME, "allowed & (held > 0)", "held > 0"),
    Fault(
        "hidden information",
        "the cards set aside are known",
        SINGLE,
        "        state.unplayed[0] - own,",
        "        state.hands[0].sum(axis=0) - own,",
    ),
    Fault("shared memory", "points can be written to", GAME, "return state.totals.copy()", "return state.totals"),
    Fault(
        "side effects",
        "observing changes the state",
        SINGLE,
        "        state.unplayed[0] - own,",
        "        np.subtract(state.unplayed[0], own, out=state.unplayed[0]),",
    ),
    Fault(
        "types and spaces",
        "the last observation is outside its space",
        LAYOUTS,
        'Section(name="round", shape=(1,), high=20',
        'Section(name="round", shape=(1,), high=1',
    ),
    Fault(
        "batches",
        "the turn passes to the right in a batch",
        OPTIONS,
        "self._rotation[:, 1].copy()",
        "self._rotation[:, -1].copy()",
    ),
    Fault(
        "batches",
        "rewards are lost in a batch",
        GAME,
        "            rewards[ended] = self._score_round(state, ended)",
        "            self._score_round(state, ended)",
    ),
]
