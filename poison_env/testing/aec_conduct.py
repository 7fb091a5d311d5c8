"""What an environment shows and pays while whole episodes are played."""

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from gymnasium import spaces

from poison_env.testing.aec_case import AECCase, Env, Moment, mask_in, state_of
from poison_env.testing.compare import difference, misfit, snapshot

Found = Iterator[tuple[str, str]]


def interface(case: AECCase) -> Found:
    """Names, spaces and dictionaries, before an episode and after `reset`; what calls return."""
    session = case.start(case.seeds[0])
    env, fresh = session.env, case.make_env()
    agents = list(env.possible_agents)
    if list(fresh.possible_agents) != agents:
        yield f"possible_agents: {list(fresh.possible_agents)} before reset, {agents} after", ""
    if len(set(agents)) != len(agents) or not agents:
        yield f"possible_agents: expected some agents, each once, got {agents}", ""
    if case.num_seats is not None and len(agents) != case.num_seats:
        yield f"possible_agents: expected {case.num_seats} for num_seats={case.num_seats}, got {len(agents)}", ""
    for agent in agents:
        for method in (env.observation_space, env.action_space):
            if method(agent) is not method(agent):
                yield f"{method.__name__}: another object at each call", f"agent {agent}"
    before = {agent: (snapshot_of_space(env, agent)) for agent in agents}
    for round_ in (0, 1):
        yield from _dictionaries(env, after=f"reset {round_ + 1}")
        for moment, _ in session.moments(np.random.default_rng(round_)):
            if env.agent_selection not in env.agents:
                yield "agent_selection is none of the agents", _where(moment)
            if list(env.agents) != [agent for agent in agents if agent in env.agents]:
                yield f"agents: {list(env.agents)} is not in the order of possible_agents", _where(moment)
        session.reset()
    for agent in agents:
        if (found := difference(before[agent], snapshot_of_space(env, agent))) is not None:
            yield f"the spaces change during play: {found}", f"agent {agent}"
    raw: Any = case.start(case.seeds[0]).env.unwrapped
    if (returned := raw.reset(seed=0)) is not None:
        yield f"reset: expected to return None, got {type(returned).__name__}", "unwrapped"
    for index in range(8):
        if not raw.agents:
            break
        observation, reward, terminated, truncated, info = raw.last()
        if terminated or truncated:
            break
        moment = Moment(index, raw.agent_selection, observation, reward, terminated, truncated, info, rewards={})
        action = None if moment.dead else case.choose(raw, moment, np.random.default_rng(index))
        if (returned := raw.step(action)) is not None:
            yield f"step: expected to return None, got {type(returned).__name__}", "unwrapped"
            break


def snapshot_of_space(env: Env, agent: Any) -> list[str]:
    """Return an agent's spaces as text."""
    return [str(env.observation_space(agent)), str(env.action_space(agent))]


def _dictionaries(env: Env, after: str) -> Found:
    if list(env.agents) != [agent for agent in env.possible_agents if agent in env.agents] or not env.agents:
        yield f"agents: expected some of possible_agents in their order, got {list(env.agents)}", f"after {after}"
    for name in ("rewards", "terminations", "truncations", "infos"):
        missing = set(env.agents) - set(getattr(env, name))
        if missing:
            yield f"{name}: no entry for {sorted(map(str, missing))}", f"after {after}"
    for name, value in (("rewards", 0), ("terminations", False), ("truncations", False)):
        wrong = {agent: given for agent, given in getattr(env, name).items() if given != value}
        if wrong:
            yield f"{name}: expected {value} for every agent, got {wrong}", f"after {after}"


def types(case: AECCase) -> Found:
    """Observations in their spaces, for agents that wait too; flags and rewards of Python's own types; `state()`."""
    for seed in case.seeds:
        session = case.start(seed)
        env = session.env
        for moment, _ in session.moments(np.random.default_rng(seed)):
            for flag in ("terminated", "truncated"):
                if type(getattr(moment, flag)) is not bool:
                    yield f"{flag}: expected bool, got {type(getattr(moment, flag))}", _where(moment)
            reward: Any
            for agent, reward in {**moment.rewards, moment.agent: moment.reward}.items():
                if not isinstance(reward, Real) or not np.isfinite(float(reward)):
                    yield f"reward: expected a finite number, got {reward!r} for {agent}", _where(moment)
            if not isinstance(moment.info, dict):
                yield f"info: expected a dict, got {type(moment.info).__name__}", _where(moment)
            for agent in env.agents:
                why = misfit(env.observation_space(agent), env.observe(agent))
                if why:
                    yield f"observation of {agent}: {why}", _where(moment)
            if (why := difference(snapshot(env.observe(moment.agent)), moment.observation)) is not None:
                yield f"observe and last disagree: {why}", _where(moment)
            if (why := difference(snapshot(env.infos[moment.agent]), moment.info)) is not None:
                yield f"infos and last disagree: {why}", _where(moment)
            space, state = getattr(env, "state_space", None), state_of(env)
            if space is not None and state is not None and (why := misfit(space, state)) is not None:
                yield f"state: {why}", _where(moment)


def masks(case: AECCase) -> Found:
    """The mask: int8, in the same places from reset on, equal in all, some action on turn and none off turn."""
    places: set[str] | None = None
    for seed in case.seeds:
        session = case.start(seed)
        env: Any = session.env
        if not all(isinstance(env.action_space(agent), spaces.Discrete) for agent in env.agents):
            return
        for moment, _ in session.moments(np.random.default_rng(seed)):
            found = {
                name: place["action_mask"]
                for name, place in (("observation", moment.observation), ("info", moment.info))
                if isinstance(place, dict) and "action_mask" in place
            }
            if not moment.dead:
                places = set(found) if places is None else places
                if set(found) != places:
                    before, now = sorted(places) or ["nowhere"], sorted(found) or ["nowhere"]
                    yield f"mask: in {before} at first, now in {now}", _where(moment)
                    places = set(found)
            if len(found) == 2 and (why := difference(*found.values())) is not None:
                yield f"mask: observation and info disagree: {why}", _where(moment)
            size = int(env.action_space(moment.agent).n)
            for name, mask in found.items():
                yield from _one_mask(name, mask, size, moment)
            for agent in env.agents:
                off_turn = agent != moment.agent or moment.dead
                mask = mask_in(env.observe(agent), env.infos.get(agent))
                both = [mask, mask_in(None, env.infos.get(agent))]
                if off_turn and any(part is not None and np.any(part) for part in both):
                    why = "has finished" if moment.dead else "is not to move"
                    yield f"mask: allows actions to {agent}, which {why}", _where(moment)


def _one_mask(name: str, mask: Any, size: int, moment: Moment) -> Found:
    if not isinstance(mask, np.ndarray) or mask.dtype != np.int8 or mask.shape != (size,):
        got = f"{mask.dtype} {mask.shape}" if isinstance(mask, np.ndarray) else type(mask).__name__
        yield f"mask in {name}: expected an int8 array ({size},), as Discrete.sample asks, got {got}", _where(moment)
    if not np.isin(np.asarray(mask), (0, 1)).all():
        yield f"mask in {name}: expected 0 and 1, got {np.unique(mask).tolist()}", _where(moment)
    if not moment.dead and not np.any(mask):
        yield f"mask in {name}: allows no action to {moment.agent}, which is to move", _where(moment)


def rewards(case: AECCase) -> Found:
    """`last()` pays each agent exactly what `rewards` held for it since its own last action, up to the end."""
    for seed in case.seeds:
        session = case.start(seed)
        env = session.env
        for episode in range(2):
            owed, after_last_step = dict.fromkeys(env.agents, 0.0), True
            for moment, action in session.moments(np.random.default_rng(seed + episode)):
                if not after_last_step:
                    for agent, reward in moment.rewards.items():
                        owed[agent] = owed.get(agent, 0.0) + float(reward)
                if not np.isclose(owed[moment.agent], float(moment.reward), rtol=0, atol=1e-9):
                    what = f"last() pays {moment.agent} {moment.reward}, but rewards since its last action sum to"
                    yield f"{what} {owed[moment.agent]}", _where(moment)
                after_last_step = moment.dead
                if action is not None:
                    owed[moment.agent] = 0.0
            session.reset()


def life_cycle(case: AECCase) -> Found:
    """Each agent finishes once, is asked once more, and is gone; the next episode knows nothing of it."""
    for seed in case.seeds:
        session = case.start(seed)
        env = session.env
        finished: list[Any] = []
        everybody = list(env.agents)
        for moment, _ in session.moments(np.random.default_rng(seed)):
            if moment.agent in finished:
                yield f"{moment.agent} is asked again after its last step", _where(moment)
            if moment.dead:
                finished.append(moment.agent)
                yield from _refuses_a_dead_action(env, moment)
        if set(finished) != set(everybody):
            yield f"expected a last step of each of {everybody}, got {finished}", "at the end"
        if env.agents:
            yield f"agents: expected [] after the last step, got {list(env.agents)}", "at the end"
    seed = case.seeds[0]
    expected = case.start(seed + 1).trace(seed)
    session = case.start(seed)
    dead = 0
    for moment, _ in session.moments(np.random.default_rng(seed)):
        dead += moment.dead
        if dead == 2:  # amid the last steps
            break
    session.reset(seed + 1)
    if (why := expected.differs(session.trace(seed))) is not None:
        yield f"an episode that begins amid the last steps of another differs from a fresh one: {why}", ""


def _refuses_a_dead_action(env: Env, moment: Moment) -> Found:
    if not isinstance(env.action_space(moment.agent), spaces.Discrete):
        return
    agents = list(env.agents)
    try:
        env.step(0)
    except Exception:
        if list(env.agents) == agents and env.agent_selection == moment.agent:
            return
        yield f"an action of {moment.agent}, which has finished, is refused but changes something", _where(moment)
        return
    yield f"an action of {moment.agent}, which has finished, is accepted: expected only None", _where(moment)


def referee(case: AECCase) -> Found:
    """Turn, legal actions, rewards and end as an independent account of the rules has them, seed after seed."""
    if case.referee is None:
        return
    for seed in range(case.seeds.start, case.seeds.start + 4 * len(case.seeds)):
        session = case.start(seed)
        env = session.env
        judge = case.referee(env)
        paid: dict[Any, float] | None = None
        for moment, action in session.moments(np.random.default_rng(seed)):
            if paid is not None:
                wrong = {a: (r, moment.rewards.get(a)) for a, r in paid.items() if not _close(r, moment.rewards.get(a))}
                if wrong:
                    yield f"rewards: (referee, environment) {wrong}", _where(moment)
            paid, mover = None, judge.to_move()
            if mover is None or moment.dead:
                if mover is not None or not moment.dead:
                    over = "over" if mover is None else f"{mover} to move"
                    yield f"the referee says {over}, the environment {'over' if moment.dead else 'not'}", _where(moment)
                elif moment.truncated and not getattr(judge, "truncated", False):
                    yield "the match is over by the rules, and truncated", _where(moment)
                break
            if mover != moment.agent:
                yield f"turn: the referee says {mover}, the environment {moment.agent}", _where(moment)
                break
            mask = moment.mask
            if mask is not None:
                start = int(getattr(env.action_space(mover), "start", 0))
                legal, allowed = sorted(judge.legal()), (np.flatnonzero(mask) + start).tolist()
                if legal != allowed:
                    missing, extra = sorted({*legal} - {*allowed}), sorted({*allowed} - {*legal})
                    yield f"mask: legal but not allowed {missing}, allowed but not legal {extra}", _where(moment)
            if action not in judge.legal():
                break
            paid = dict(judge.step(action))


def _close(one: Any, other: Any) -> bool:
    return other is not None and bool(np.isclose(float(one), float(other), rtol=1e-9, atol=1e-9))


def conservation(case: AECCase) -> Found:
    """What the hook says is conserved is the same at all times, in all episodes."""
    if case.conserved is None:
        return
    first: Any = None
    for seed in range(case.seeds.start, case.seeds.start + 4 * len(case.seeds)):
        session = case.start(seed)
        first = snapshot(case.conserved(session.env)) if first is None else first
        for moment, _ in session.moments(np.random.default_rng(seed)):
            if moment.dead:
                break
            if (why := difference(first, snapshot(case.conserved(session.env)))) is not None:
                yield f"not conserved: {why}", _where(moment)
                break


def _where(moment: Moment) -> str:
    return f"move {moment.index}, {moment.agent} to move"
