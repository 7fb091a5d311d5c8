"""Faults in the environments of one learner: alone, in vectors, and the table that both share."""

from tests.kill_matrix.fault import SOLO, TABLE, VECTOR, Fault, after, before

ADVANCED = "            self._asked[rows, mover[rows]] = True\n            self._step(rows, actions)"
OWED = "        paid = self._owed[rows]\n        self._owed[rows] = 0\n"
EARNED = "rewards[np.arange(len(rows)), self.seats[rows]]"
BEGUN = "chance.fold(self.seeds[rows], self.episodes[rows])"
NEXT = "        self._table.begin(np.flatnonzero(resets))  # NEXT_STEP"
LIVE = "        resets, live = self._over.copy(), ~self._over"
AGAIN = "            observation, infos = self._begin_again(ended, observation, infos)"
LOOK = "        return self._present(seen, self._mask), _only(infos, rows, self.num_envs)"
ILLEGAL = 'if illegal.any() and self.on_illegal == "raise":'
SEEDED = "        if seed is not None or not self._seeded:"

_TABLE: list[tuple[str, str, str, str]] = [
    (
        "rewards",
        "what is earned on others' moves is dropped",
        ADVANCED,
        ADVANCED.replace("self._step(", "kept = self._owed.copy(); self._step(") + "; self._owed = kept",
    ),
    ("rewards", "a reward is paid again at the next step", OWED, "        paid = self._owed[rows]\n"),
    (
        "rewards",
        "what others cause is paid a step late",
        "        self._advance(rows)\n" + OWED,
        OWED + "        self._advance(rows)\n",
    ),
    ("rewards", "the rewards of all seats are paid", EARNED, "rewards.sum(axis=1)"),
    ("rewards", "the reward of the first seat is paid", EARNED, "rewards[:, 0]"),
    ("seeding", "slots share their chance", BEGUN, "chance.fold(self.seeds[:1], self.episodes[rows])"),
    ("seeding", "the next episode has the same seed", "            self.episodes[rows] += 1\n", ""),
    ("seeding", "chance comes from the shared generator", "chance.fold(keys, _LUCK)", "np.random.randint(9999)"),
    (
        "life cycle",
        "the end is a truncation",
        "return paid, self._state.done[rows] & ~truncated, truncated",
        "return paid, truncated, self._state.done[rows]",
    ),
    (
        "hidden information",
        "the learner sees as the seat to move",
        "self.game.observe(part, self.seats[rows])",
        "self.game.observe(part, part.to_move)",
    ),
]
_VECTOR: list[tuple[str, str, str, str]] = [
    ("autoreset", "the last reward is lost", *after(AGAIN, "rewards[ended] = 0")),
    (
        "autoreset",
        "the last observation is the next episode's first",
        "        return observation, infos | final",
        "        for slot in ended:\n"
        "            final['final_obs'][slot] = {name: part[slot].copy() for name, part in observation.items()}\n"
        "        return observation, infos | final",
    ),
    (
        "autoreset",
        "the last info is missing",
        '{"final_obs": final_obs, "final_info": final_info}',
        '{"final_obs": final_obs}',
    ),
    (
        "autoreset",
        "the action to be ignored is played",
        *before(
            LIVE, "self._table.begin(np.flatnonzero(self._over)); self._over[:] = False; self._look(self._everyone)"
        ),
    ),
    (
        "autoreset",
        "an ended episode begins again a step late",
        NEXT,
        "        self._table.begin(np.flatnonzero(resets)[1:])",
    ),
    ("autoreset", "no episode begins in the same step", "is AutoresetMode.SAME_STEP and", "is None and"),
    (
        "autoreset",
        "ended slots are reset unasked",
        "if self.autoreset_mode is AutoresetMode.DISABLED and",
        "if self.autoreset_mode is None and",
    ),
    ("autoreset", "the mask of slots to reset is ignored", "return np.flatnonzero(mask)", "return self._everyone"),
    (
        "autoreset",
        "the metadata name another mode",
        '"autoreset_mode": self.autoreset_mode}',
        '"autoreset_mode": AutoresetMode.NEXT_STEP}',
    ),
    (
        "autoreset",
        "the metadata are shared by all instances",
        'self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}',
        'type(self).metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}',
    ),
    ("seeding", "slots get the same seed", "int(seed) + slot for", "int(seed) for"),
    (
        "types and spaces",
        "rewards are whole numbers",
        "rewards, terminated, truncated = np.zeros(self.num_envs),",
        "rewards, terminated, truncated = np.zeros(self.num_envs, np.int64),",
    ),
    (
        "types and spaces",
        "terminations are numbers",
        "return observation, rewards, terminated, truncated, infos",
        "return observation, rewards, terminated.astype(np.int8), truncated, infos",
    ),
    (
        "shared memory",
        "observations are one array",
        LOOK,
        "        shown = self._present(seen, self._mask)\n"
        "        for name, kept in self.__dict__.setdefault('_shown', shown).items():\n"
        "            kept[...] = shown[name]\n" + LOOK.replace("self._present(seen, self._mask)", "self._shown"),
    ),
    ("masks", "infos claim slots that they do not have", "    has[rows] = True", "    has[:] = True"),
    ("masks", "the mask in the info is stale", '"action_mask": self._mask.astype', '"action_mask": last.astype'),
    ("illegal input", "illegal moves are accepted", ILLEGAL, "if False:"),
    (
        "illegal input",
        "illegal moves are replaced by others",
        *before(
            "        illegal = live & ~legal",
            "chosen = np.where(live & ~legal, self._mask.argmax(axis=1), chosen)",
            "legal = legal | live",
        ),
    ),
    (
        "illegal input",
        "a refused batch has been played in part",
        *before(
            "            slot = int(np.argmax(illegal))",
            "self._table.act(np.flatnonzero(live & legal), chosen[live & legal])",
        ),
    ),
]
_SOLO: list[tuple[str, str, str, str]] = [
    ("seeding", "the seed is ignored", "is None else seed\n", "is None else np.random.default_rng().integers(2**63)\n"),
    ("seeding", "a second reset with the seed goes on", SEEDED, "        if not self._seeded:"),
    ("seeding", "the generator is not seeded", "        super().reset(seed=seed)\n", ""),
    ("types and spaces", "terminations are NumPy's", "bool(terminated[0]), bool", "terminated[0], bool"),
    (
        "types and spaces",
        "rewards are NumPy's",
        "return observation, float(reward[0])",
        "return observation, np.float32(reward[0])",
    ),
    (
        "types and spaces",
        "the mask is of int64",
        '"action_mask": mask.astype(np.int8)}',
        '"action_mask": mask.astype(np.int64)}',
    ),
    (
        "types and spaces",
        "the mask is of bool",
        '"action_mask": mask.astype(np.int8)}',
        '"action_mask": mask.astype(bool)}',
    ),
    (
        "shared memory",
        "the info's mask is the environment's",
        'self._mask.astype(np.int8), "seat"',
        'self._mask.view(np.int8), "seat"',
    ),
    (
        "life cycle",
        "the episode never ends",
        "self._running = not (terminated[0] or truncated[0])",
        "self._running = True",
    ),
    (
        "illegal input",
        "an illegal move does not end the episode",
        "return observation, 0.0, False, True, info",
        "return observation, 0.0, False, False, info",
    ),
    (
        "illegal input",
        "illegal moves are replaced by others",
        "            self._running = False\n",
        "            return self.step(int(self._mask.argmax()))\n",
    ),
    (
        "side effects",
        "rendering begins another episode",
        *before("        return self._table.text(0)", "self._table.begin(self._row)"),
    ),
    (
        "rewards",
        "every reward is one point off",
        "return observation, float(reward[0])",
        "return observation, float(reward[0] + 1)",
    ),
    (
        "masks",
        "the info has no mask at reset",
        "        return self._look({})",
        '        observation, info = self._look({})\n        return observation, {"seat": info["seat"]}',
    ),
]
FAULTS = [
    Fault(kind, what, file, old, new)
    for file, faults in ((TABLE, _TABLE), (VECTOR, _VECTOR), (SOLO, _SOLO))
    for kind, what, old, new in faults
]
