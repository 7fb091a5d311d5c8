"""The conformance suite takes any environment: no findings in right ones, those of the fault in wrong ones."""

from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv
from pettingzoo import AECEnv

from poison_env.testing import check_aec, check_vector, command
from poison_env.testing.report import Finding, Report


class Table(AECEnv):
    """Agents with some moves each, who drop out one by one while the others go on."""

    metadata = {"name": "table_v0"}  # noqa: RUF012  # as PettingZoo has it
    render_mode = None
    names = ("a", "b", "c")
    limit = 99
    drops_out = True
    masked = False
    actions = spaces.Discrete(4, start=2)

    def __init__(self):
        self.possible_agents, self.agents, self.rng = list(self.names), [], None
        self._actions = dict.fromkeys(self.names, self.actions)
        seen = spaces.Tuple((spaces.Box(-99, 99, (2,), np.float32), spaces.Discrete(99)))
        self._seen = dict.fromkeys(self.names, seen)

    def observation_space(self, agent):
        return self._seen[agent]

    def action_space(self, agent):
        return self._actions[agent]

    def observe(self, agent):
        if agent not in self.agents:
            raise KeyError(agent)
        at = self.names.index(agent)
        return np.array([self.left[at], self.score[at]], np.float32), self.moves

    def state(self):
        raise NotImplementedError

    def reset(self, seed=None, options=None):
        if seed is not None or self.rng is None:
            self.rng = np.random.default_rng(seed)
        self.agents = list(self.names)
        self.left = self.rng.integers(2, 5, len(self.names)) if self.drops_out else np.full(len(self.names), 2)
        self.score, self.moves = np.zeros(len(self.names)), 0
        self.rewards = dict.fromkeys(self.names, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.names, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.names, False), dict.fromkeys(self.names, False)
        self.agent_selection = self.names[0]
        self.tell()

    def mask(self, agent):
        on_turn = agent == self.agent_selection and not (self.terminations[agent] or self.truncations[agent])
        return np.array([on_turn, on_turn, False, on_turn], np.int8)

    def tell(self):
        self.infos = {name: {"action_mask": self.mask(name)} if self.masked else self.odd() for name in self.agents}

    def odd(self):
        return {1: {2, (3,)}, "nan": np.array([np.nan]), "when": np.array(["NaT"], "M8[s]"), "text": np.array(["x"])}

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
        else:
            if not self.action_space(agent).contains(action):
                raise ValueError(f"{action} is no action")
            if self.masked and not self.mask(agent)[action - 2]:
                raise ValueError(f"{action} is illegal")
            self.play(agent, action)
        self.tell()

    def play(self, agent, action):
        at, live = self.names.index(agent), [name for name in self.agents if not self.terminations[name]]
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {name: float(np.sum(action)) if name == agent else -1.0 for name in self.agents}
        self.left[at] -= 1
        self.score[at] = np.sum(action)
        self.moves += 1
        self.agent_selection = live[(live.index(agent) + 1) % len(live)]
        if self.left[at] == 0:
            self.terminations |= {agent: True} if self.drops_out else dict.fromkeys(self.agents, True)
        if self.moves >= self.limit:
            self.truncations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._deads_step_first()


class Masked(Table):
    masked = True


class Alone(Table):
    names = (7,)


class Vectors(Table):
    actions = spaces.Box(-1, 1, (2,), np.float32)


class Multi(Table):
    actions = spaces.MultiDiscrete([2, 3])


class OneMove(Table):
    names, limit, drops_out = ("a",), 1, False


class BothAtOnce(Masked):  # the fourth move ends the match, by the rules and by the limit
    limit, drops_out = 4, False


@pytest.mark.parametrize("make_env", [Table, Masked, Alone, Vectors, Multi, OneMove, BothAtOnce])
def test_right_environments_have_no_findings(make_env):
    assert check_aec(make_env, episodes=2).findings == ()


def test_a_redeal_is_asked_about_agents_that_are_there():
    def redeal(env, agent, seed):  # only the others' moves are hidden
        hidden = [at for at, name in enumerate(env.names) if name != agent]
        env.score[hidden] = seed % 50

    assert check_aec(Table, redeal=redeal, episodes=2).findings == ()


class Forgetful(Vectors):
    """Pays something that `rewards` does not hold."""

    def play(self, agent, action):
        super().play(agent, action)
        self._cumulative_rewards[agent] += self.moves == 4


def test_a_fault_is_found_and_its_lines_lead_there():
    report = check_aec(Forgetful, episodes=1)
    assert {finding.check for finding in report.findings} == {"rewards"}
    names = {"Forgetful": Forgetful}
    exec(report.findings[0].reproduce, names)
    env = names["env"]
    assert f"last() pays {env.agent_selection} {env.last()[1]}" in report.findings[0].what


class Lenient(Masked):
    def step(self, action):
        if action == 4 and not self.terminations[self.agent_selection]:
            action = 5
        super().step(action)


def test_a_forbidden_action_is_found_where_actions_begin_at_two():
    report = check_aec(Lenient, episodes=1)
    assert [finding.what for finding in report.findings] == ["accepts an action that the mask forbids"]
    assert report.findings[0].where.endswith("action 4")


class TooNarrow(Table):
    def observe(self, agent):
        numbers, moves = super().observe(agent)
        return numbers.astype(np.float16), moves


def test_arrays_in_tuples_have_the_declared_type():
    report = check_aec(TooNarrow, episodes=1)
    assert "[0]: expected float32 (2,), got float16 (2,)" in report.findings[0].what


class Five(gymnasium.Env):
    """Five moves with a mask in the info, few different beginnings."""

    observation_space = spaces.Tuple((spaces.Discrete(9), spaces.Discrete(9)))

    def __init__(self):
        self.action_space = spaces.Discrete(4, start=5)

    def shown(self):
        mask = np.ones(4, np.int8)
        mask[(self.moves + self.card) % 4] = 0
        return (self.moves, self.card), {"action_mask": mask}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.moves, self.card = 0, int(self.np_random.integers(9))
        return self.shown()

    def step(self, action):
        observation, info = self.shown()
        if not (0 <= action - 5 < 4 and info["action_mask"][action - 5]):
            return observation, -1.0, True, False, {}
        self.moves += 1
        observation, info = self.shown()
        return observation, float(action), self.moves == 5, False, {} if self.moves == 5 else info


class Bandit(gymnasium.Env):
    """One move, nothing to see."""

    observation_space, action_space = spaces.Discrete(1), spaces.Discrete(1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, 1.0, True, False, {}


@pytest.mark.parametrize("one", [Five, Bandit, lambda: gymnasium.make("Blackjack-v1")])
def test_gymnasiums_own_vectors_have_no_findings(one):
    def make_env(num_envs, autoreset_mode):
        return SyncVectorEnv([one] * num_envs, autoreset_mode=autoreset_mode)

    shared = ["interface"] if gymnasium.__version__ < "1.4" else []  # its SyncVectorEnv shares the mode
    assert check_vector(make_env, scalar=one, episodes=2, skip=shared).findings == ()


not_a_mapping, not_callable = [1], {"conserved": 3}


def broken(num_seats=3):
    raise KeyError(num_seats)


HERE = "tests.conformance.test_suite_anything"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([f"{HERE}:Table", "--hooks", f"{HERE}:not_a_mapping"], "expected a mapping"),
        ([f"{HERE}:Table", "--hooks", f"{HERE}:not_callable"], "conserved: expected a hook"),
        ([f"{HERE}:Table", "--episodes", "0"], "episodes: expected 1 or more"),
        ([f"{HERE}:Table", "--seed", "-1"], "seed: expected 0 or more"),
        ([f"{HERE}:Table", "--seats", "3"], "num_seats"),
        ([f"{HERE}:broken", "--kind", "aec"], "KeyError"),
        ([f"{HERE}:Table", "--json", "/no/such/folder/r.json"], "folder that exists"),
        ([":Table"], "ValueError"),
        (["poison_env.poison_v0:env", "--seats", "3", "99"], "num_seats"),
    ],
)
def test_misuse_is_said_before_anything_runs(arguments, said, capsys):
    assert command.main(arguments) == command.MISUSE
    assert said in capsys.readouterr().err


def test_junit_is_xml_whatever_agents_are_called():
    finding = Finding("masks", "agent \x01 \ud800", "at \x00", "env")
    text = Report("odd\x02", {"masks": 0.0}, {}, (finding,)).to_junit()
    assert ElementTree.fromstring(text).find("testcase/failure").get("message") == "agent ? ?"
