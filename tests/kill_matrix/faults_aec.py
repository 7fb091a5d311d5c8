"""Faults in the PettingZoo environment."""

from tests.kill_matrix.fault import AEC, V0, Fault, after, before

DEAL = "chance.fold(self._seed, self._episode)"
SEEDED = "            self._seed, self._episode = int(seed), 0"
NEW_MASK = "self.game.action_mask(state)[0].astype(np.int8)"
MASK_OF = "(self._mask if agent == self.agent_selection else self._no_action).copy()"
CLEARED = "        self._cumulative_rewards[agent] = 0.0"
PAID = "            paid = self.game.step(state, np.array([action]))[0].tolist()"
PLAYED = "            self._play(state, agent, _whole_number(agent, action))"
RANGE = "        if not 0 <= action < self.game.num_actions:"
REFUSAL = """            raise IllegalActionError(f"{agent}: {str(error).removeprefix('row 0: ')}") from None"""
INFOS = """        self.infos = {agent: {"action_mask": self._mask_of(agent)} for agent in self.agents}
        if self.render_mode"""
SELECTION = "self.possible_agents[state.to_move[0]]"
OBSERVED = "        seen: npt.NDArray[Any] = self.game.observe(state, self._seats[self._known(agent)])[0]"
SHOWN = '            "observation": self.game.layout.scale(seen) if self.scaled else seen,'
DEAD = "            self._was_dead_step(None)"
CLOSE = "    def close(self) -> None:"
SHARED_COPY = "copy = type(self).__new__(type(self)); copy.__dict__.update(self.__dict__); return copy"
WHOLE = "isinstance(value, int | np.integer) and not isinstance(value, bool)"

_FAULTS: list[tuple[str, str, str, str]] = [
    # seeding
    ("seeding", "the seed is ignored", DEAL, "chance.fold(secrets.randbits(63), self._episode)"),
    ("seeding", "a second reset with the seed goes on", SEEDED, "            self._seed = int(seed)"),
    (
        "seeding",
        "chance comes from the shared generator",
        DEAL,
        "chance.fold(self._seed, self._episode, int(np.random.randint(1000)))",
    ),
    # types and spaces
    ("types and spaces", "the mask is of bool", NEW_MASK, NEW_MASK.replace("np.int8", "np.bool_")),
    ("types and spaces", "the mask is of int64", NEW_MASK, NEW_MASK.replace("np.int8", "np.int64")),
    (
        "types and spaces",
        "truncations are NumPy's",
        "truncated = bool(state.truncated[0])",
        "truncated = state.truncated[0]",
    ),
    (
        "types and spaces",
        "a new space at each call",
        "return self.observation_spaces[self._known(agent)]",
        "return self._make_observation_space()",
    ),
    (
        "types and spaces",
        "the state is outside its space",
        "self.game.full_layout.scale(seen) if self.scaled else seen",
        "self.game.full_layout.scale(seen) if self.scaled else seen - 1",
    ),
    ("types and spaces", "step returns something", *after(PLAYED, "return self.observe(agent)")),
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
        "        self.rewards = dict(zip(self.agents, paid, strict=True))",
        "        self.rewards = {name: r * (name == agent) for name, r in zip(self.agents, paid, strict=True)}",
    ),
    (
        "rewards",
        "the last reward is one point off",
        PAID,
        "            paid = (self.game.step(state, np.array([action]))[0] + state.done).tolist()",
    ),
    (
        "rewards",
        "rewards go to the next seat",
        "zip(self.agents, paid, strict=True)",
        "zip(self.agents[1:] + self.agents[:1], paid, strict=True)",
    ),
    # masks
    (
        "masks",
        "the mask forbids legal moves",
        NEW_MASK,
        f"{NEW_MASK} * (np.arange(self.game.num_actions) > 2)",
    ),
    ("masks", "the mask in the info is stale", INFOS, INFOS.replace("= {agent", "= self.infos or {agent")),
    (
        "masks",
        "the info has no mask at reset",
        *after("        self._ask(self._state)", "self.infos = {agent: {} for agent in self.agents}"),
    ),
    ("masks", "an agent to move may do nothing", NEW_MASK, f"{NEW_MASK} * np.int8(state.cards_left[0] > 1)"),
    ("masks", "masks are set off turn", f"return {MASK_OF}", "return self._mask.copy()"),
    # rules
    ("rules", "the turn is given to the wrong seat", SELECTION, "self.possible_agents[state.to_move[0] - 1]"),
    # hidden information
    (
        "hidden information",
        "everybody sees the hand of the seat to move",
        OBSERVED,
        OBSERVED.replace("self._seats[self._known(agent)]", "state.to_move"),
    ),
    (
        "hidden information",
        "the info betrays the others' hands",
        INFOS,
        INFOS.replace("(agent)}", '(agent), "left": (state.hands > 0).sum()}'),
    ),
    # shared memory
    (
        "shared memory",
        "observations are one array",
        OBSERVED,
        f"{OBSERVED}\n        self.__dict__.setdefault('_seen', seen)[:] = seen\n        seen = self._seen",
    ),
    ("shared memory", "observation and info share their mask", MASK_OF, MASK_OF.removesuffix(".copy()")),
    # side effects
    ("side effects", "observing draws from the generator", *before(OBSERVED, "state.seeds += np.uint64(1)")),
    (
        "side effects",
        "rendering clears what is owed",
        *after(
            "        text = self.game.text(state)",
            "self._cumulative_rewards = dict.fromkeys(self.possible_agents, 0.0)",
        ),
    ),
    # illegal input
    (
        "illegal input",
        "illegal moves are replaced by others",
        REFUSAL,
        "            return self._play(state, agent, int(np.argmax(self._mask)))",
    ),
    (
        "illegal input",
        "a refused move costs what is owed",
        *before(RANGE, "self._cumulative_rewards[agent] = 0.0"),
    ),
    ("illegal input", "numbers wrap around", *before(RANGE, "action %= self.game.num_actions")),
    # life cycle
    (
        "life cycle",
        "finished agents stay",
        DEAD,
        "            self.agent_selection = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]",
    ),
    (
        "life cycle",
        "a reset amid the last steps leaves a trace",
        "        self.agents = self.possible_agents.copy()",
        "        self.agents = self.agents or self.possible_agents.copy()",
    ),
    ("life cycle", "the end is a truncation", "truncated = bool(state.truncated[0])", "truncated = True"),
    # options
    (
        "options",
        "options are lost on a seeded reset",
        *after(SEEDED, "self.game = type(self.game)(num_seats=self.game.num_seats)"),
    ),
    # copies
    (
        "copies",
        "a deep copy shares its state",
        *before(CLOSE, "def __deepcopy__(self, memo):", f"    {SHARED_COPY}", ""),
    ),
    (
        "copies",
        "a copy loses the match",
        *before(CLOSE, "def __reduce__(self):", "    return type(self), (self.game,)", ""),
    ),
    (
        "copies",
        "a copy loses the seed of later episodes",
        *before(CLOSE, "def __getstate__(self):", "    return {**self.__dict__, '_seed': None}", ""),
    ),
]
FAULTS = [Fault(kind, what, AEC, old, new) for kind, what, old, new in _FAULTS]
FAULTS.append(
    Fault(
        "options",
        "the seat count is ignored",
        V0,
        'make("poison-v0", **options)',
        'make("poison-v0", **options | {"num_seats": 4})',
    )
)
