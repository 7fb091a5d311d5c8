"""Faults in the foreign environment."""

from tests.kill_matrix.fault import FOREIGN, Fault, after, before

GENERATOR = "            self._random = np.random.default_rng(seed)"
CONDITION = "        if seed is not None or self._random is None:"
NEW_MASK = "mask = np.zeros(ACTIONS, np.int8)"
CLEARED = "        self._cumulative_rewards[agent] = 0.0"
REFUSAL = '            raise ValueError(f"{agent} may not play {action!r}")'
LAST_SHOW = "        self._accumulate_rewards()\n        self._show()"
FIRST_SHOW = "        self._skip_agent_selection = None\n        self._show()"
LEGAL = 'mask[card * CAULDRONS + place] = colour == "poison" or colours[place] == wanted'
SEEN = '        return {"observation": np.array(seen, np.int16), "action_mask": self._mask(agent)}'
INFOS = '{agent: {"action_mask": self._mask(agent)} for agent in self.agents}'
SELECTION = "self.agent_selection = self.possible_agents[self._mover]"
DEAD = "            self._was_dead_step(action)"
CLOSE = "    def close(self) -> None:"
SHARED_COPY = "copy = type(self).__new__(type(self)); copy.__dict__.update(self.__dict__); return copy"

_FAULTS: list[tuple[str, str, str, str]] = [
    # seeding
    ("seeding", "the seed is ignored", GENERATOR, GENERATOR.replace("(seed)", "()")),
    ("seeding", "a second reset with the seed goes on", CONDITION, CONDITION.replace("seed is not None or ", "")),
    (
        "seeding",
        "the next episode has the same seed",
        *before(CONDITION, 'seed = self.__dict__["_seed"] = self.__dict__.get("_seed") if seed is None else seed'),
    ),
    ("seeding", "chance comes from the shared generator", "self._random.permutation", "np.random.permutation"),
    ("seeding", "the shared generator is seeded", *after(GENERATOR, "np.random.seed(seed)")),
    # types and spaces
    ("types and spaces", "the mask is of bool", NEW_MASK, NEW_MASK.replace("np.int8", "np.bool_")),
    ("types and spaces", "the mask is of int64", NEW_MASK, NEW_MASK.replace("np.int8", "np.int64")),
    ("types and spaces", "the mask is of float64", NEW_MASK, NEW_MASK.replace(", np.int8", "")),
    (
        "types and spaces",
        "terminations are NumPy's",
        "self.terminations = dict.fromkeys(self.agents, True)",
        "self.terminations = dict.fromkeys(self.agents, np.True_)",
    ),
    (
        "types and spaces",
        "a new space at each call",
        "return self.action_spaces[agent]",
        "return spaces.Discrete(ACTIONS)",
    ),
    ("types and spaces", "observations of another type", SEEN, SEEN.replace("seen, np.int16", "seen, np.int32")),
    (
        "types and spaces",
        "the last observation is outside its space",
        "high += [1000] * num_seats + [rounds]",
        "high += [1000] * num_seats + [rounds - 1]",
    ),
    (
        "types and spaces",
        "the state is outside its space",
        "return np.array([*cards, *taken, *self._points, self._round], np.int16)",
        "return np.array([*cards, *taken, *self._points, self._round - 1], np.int16)",
    ),
    ("types and spaces", "step returns something", *after(LAST_SHOW, "return self.observe(agent)")),
    # rewards
    ("rewards", "cumulative rewards are not cleared", CLEARED + "\n", ""),
    (
        "rewards",
        "cumulative rewards of all are cleared",
        CLEARED,
        "        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)",
    ),
    (
        "rewards",
        "a new episode owes what the old one did",
        "        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)",
        "        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0) | self._cumulative_rewards",
    ),
    (
        "rewards",
        "only the last mover is rewarded",
        "float(-points)",
        "float(-points) * (agent == self.agent_selection)",
    ),
    ("rewards", "every reward is one point off", "float(-points)", "float(1 - points)"),
    (
        "rewards",
        "rewards go to the next seat",
        "zip(self.agents, self._count(), strict=True)",
        "zip(self.agents[1:] + self.agents[:1], self._count(), strict=True)",
    ),
    (
        "rewards",
        "a reward is paid again at the next step",
        "        self.rewards = dict.fromkeys(self.agents, 0.0)\n        if not any",
        "        if not any",
    ),
    # masks
    ("masks", "the mask allows cards that are not held", "in self._hands[self._mover]:", "in range(len(CARDS)):"),
    ("masks", "the mask forbids legal moves", *after("                " + LEGAL, "mask[0] = 0")),
    ("masks", "the mask in the info is stale", LAST_SHOW, LAST_SHOW.replace("self._show()", SELECTION)),
    (
        "masks",
        "the info has no mask at reset",
        FIRST_SHOW,
        FIRST_SHOW.replace("self._show()", SELECTION + "; self.infos = {agent: {} for agent in self.agents}"),
    ),
    ("masks", "masks in info and observation differ", INFOS, INFOS.replace("(agent)", "(agent)[::-1].copy()")),
    (
        "masks",
        "an agent to move may do nothing",
        "wanted = colour if colour in colours else None",
        'wanted = colour if colour in colours else "none"',
    ),
    ("masks", "masks are set off turn", "        if agent == self.agent_selection:", "        if True:"),
    # rules
    ("rules", "a card is lost in the deal", "deck[seat * size :", "deck[seat * size + (seat == 1) :"),
    ("rules", "thirteen overflows", "+ CARDS[card][1] > LIMIT", "+ CARDS[card][1] >= LIMIT"),
    ("rules", "a tie is a majority", "counts.count(max(counts)) > 1 or count < max(counts)", "count < max(counts)"),
    (
        "rules",
        "poison has a colour",
        'for card in cauldron if CARDS[card][0] != "poison"), None)',
        "for card in cauldron), None)",
    ),
    ("rules", "cards are taken by the seat before", "self._taken[seat] += self", "self._taken[seat - 1] += self"),
    ("rules", "the wrong seat moves after an overflow", "range(1 - overflows, ", "range(1, "),
    (
        "rules",
        "the wrong seat begins",
        "self._mover = self._round % self.num_seats",
        "self._mover = (self._round + 1) % self.num_seats",
    ),
    (
        "rules",
        "a colour may begin in a second place",
        LEGAL,
        LEGAL.replace("colours[place] == wanted", "colours[place] in (wanted, None)"),
    ),
    ("rules", "poison only in one place", LEGAL, LEGAL.replace('"poison" or', '"poison" and place == 0 or')),
    # hidden information
    ("hidden information", "the next seat's hand is seen", "self._hands[own].count", "self._hands[order[1]].count"),
    (
        "hidden information",
        "a number betrays the others' hands",
        "len(self._hands[seat]) for",
        "len(set(self._hands[seat])) for",
    ),
    (
        "hidden information",
        "the info betrays the others' hands",
        INFOS,
        INFOS.replace("(agent)}", '(agent), "left": [len(set(hand)) for hand in self._hands]}'),
    ),
    # shared memory
    (
        "shared memory",
        "observations are one array",
        SEEN,
        "        self.__dict__.setdefault('_seen', np.zeros(len(seen), np.int16))[:] = seen\n"
        + SEEN.replace("np.array(seen, np.int16)", "self._seen"),
    ),
    (
        "shared memory",
        "observation and info share their mask",
        SEEN,
        SEEN.replace("self._mask(agent)", "self.infos.get(agent, {}).get('action_mask', self._mask(agent))"),
    ),
    # side effects
    (
        "side effects",
        "observing draws from the generator",
        *after("        own = self.possible_agents.index(agent)", "self._random.random()"),
    ),
    (
        "side effects",
        "rendering changes the table",
        *before("        names = [", "self._cauldrons[0] = []"),
    ),
    # illegal input
    (
        "illegal input",
        "illegal moves are accepted",
        "or not self._mask(agent)[number]",
        "or number // CAULDRONS not in self._hands[self._mover]",
    ),
    (
        "illegal input",
        "illegal moves are replaced by others",
        REFUSAL,
        "            number = int(self._mask(agent).argmax())",
    ),
    ("illegal input", "a refused move costs the turn", *before(REFUSAL, "self._mover = -1; self._show()")),
    (
        "illegal input",
        "a refused move costs what is owed",
        *after("        number = _whole(action)", "self._cumulative_rewards[agent] = 0.0"),
    ),
    ("illegal input", "numbers wrap around", "number = _whole(action)", "number = _whole(action) % ACTIONS"),
    (
        "illegal input",
        "fractions are cut off",
        "isinstance(action, int | np.integer)",
        "isinstance(action, int | float | np.integer)",
    ),
    # life cycle
    (
        "life cycle",
        "finished agents stay",
        DEAD,
        "            self.agent_selection = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]",
    ),
    ("life cycle", "all leave with the first", DEAD, "            self.agents = []"),
    (
        "life cycle",
        "a reset amid the last steps leaves a trace",
        "        self.agents = self.possible_agents.copy()",
        "        self.agents = self.agents or self.possible_agents.copy()",
    ),
    (
        "life cycle",
        "the end is a truncation",
        "self.terminations = dict.fromkeys(self.agents, True)",
        "self.truncations = dict.fromkeys(self.agents, True)",
    ),
    (
        "life cycle",
        "points of the old episode stay",
        "        self._points = [0] * self.num_seats",
        '        self._points = self.__dict__.get("_points", [0] * self.num_seats)',
    ),
    # options
    ("options", "options are lost on a seeded reset", *after(GENERATOR, "self.poison_points = 2")),
    ("options", "the seat count is ignored", *before("        super().__init__()", "num_seats = 3")),
    # copies
    (
        "copies",
        "a deep copy shares its state",
        *before(CLOSE, "def __deepcopy__(self, memo):", f"    {SHARED_COPY}", ""),
    ),
    (
        "copies",
        "a copy loses the match",
        *before(CLOSE, "def __reduce__(self):", "    return type(self), (self.num_seats,)", ""),
    ),
    (
        "copies",
        "a copy loses the generator",
        *before(CLOSE, "def __getstate__(self):", "    return {**self.__dict__, '_random': None}", ""),
    ),
]
FAULTS = [Fault(kind, what, FOREIGN, old, new) for kind, what, old, new in _FAULTS]
