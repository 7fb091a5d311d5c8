"""What an environment does when it is tried: seeds, illegal actions, copies, re-dealing, writing into its returns."""

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo.utils.env_logger import EnvLogger

from poison_env.testing.aec_case import AECCase, Env, Moment, Session, Trace, everything, seen, state_of
from poison_env.testing.compare import GlobalRandomness, arrays_in, difference, overwrite, snapshot

Found = Iterator[tuple[str, str]]
TRIES = 8  # actions tried at one position


def seeding(case: AECCase) -> Found:
    """The same seed gives the same episodes: in two instances, in one after any half-played episode, in sequence."""
    seed, other = case.seeds[0], case.seeds[0] + 1
    shared = GlobalRandomness()
    try:
        shared.disturb(1)
        before = shared.fingerprint()
        expected = case.start(seed).trace(seed)
        if shared.fingerprint() != before:
            yield "draws from Python's or NumPy's global generator", ""
        shared.disturb(2)
        if (why := expected.differs(case.start(seed).trace(seed))) is not None:
            yield f"two instances with the same seed differ: {why}", ""
    finally:
        shared.restore()
    for first, steps in ((seed, expected.live // 2), (other, expected.live // 3), (other, None)):
        session = case.start(first)
        session.trace(seed, steps=steps)
        if steps is None:
            session.reset()
        session.reset(seed)
        if (why := expected.differs(session.trace(seed))) is not None:
            after = "a whole episode and a reset without a seed" if steps is None else f"{steps} moves of an episode"
            yield f"re-seeded after {after}, an instance differs from a fresh one: {why}", ""
    yield from _sequences(case, seed)
    yield from _variety(case)


def _sequences(case: AECCase, seed: int) -> Found:
    first, second = case.start(seed), case.start(seed)
    for episode in range(3):
        if (why := first.trace(episode).differs(second.trace(episode))) is not None:
            yield f"after reset(seed) the unseeded episode {episode + 1} differs between instances: {why}", ""
            return
        first.reset()
        second.reset()


def _variety(case: AECCase) -> Found:
    """Different seeds, and the episodes that follow a seed, are different where chance matters at all."""
    dealt = [everything(case.start(seed).env) for seed in range(case.seeds.start, case.seeds.start + 8)]
    distinct = _distinct(dealt)
    if case.redeal is not None and distinct == 1 and _same_matches(case):
        yield "eight seeds give the same deal", ""
    if distinct < 5:  # little chance, or none: repeats mean nothing
        return
    session, following = case.start(case.seeds[0]), []
    for _ in range(4):
        following.append(everything(session.env))
        session.reset()
    if _distinct(following) == 1:
        yield "reset() without a seed deals the seeded episode again and again", ""
    unseeded = []
    for _ in range(4):
        session = Session(case)
        session.reset()
        unseeded.append(everything(session.env))
    if _distinct(unseeded) == 1:
        yield "instances that were never seeded all deal the same episode", ""


def _same_matches(case: AECCase) -> bool:
    """Tell whether eight seeds play alike to the end: chance may show later than in the first position."""
    seed = case.seeds[0]
    first = case.start(seed).trace(0)
    return all(first.differs(case.start(seed + more).trace(0)) is None for more in range(1, 8))


def _distinct(shown: list[dict[str, Any]]) -> int:
    kept: list[dict[str, Any]] = []
    for one in shown:
        if all(difference(one, known) for known in kept):
            kept.append(one)
    return len(kept)


def legality(case: AECCase) -> Found:
    """Each action that the mask allows is accepted; each other one is refused, and nothing has changed."""
    EnvLogger.suppress_output()
    try:
        for seed in case.seeds:
            whole = case.start(seed).trace(seed)
            rng = np.random.default_rng(seed)
            for depth in case.depths(whole, rng):
                moment = whole.moments[depth]
                space = case.make_env().action_space(moment.agent)
                if isinstance(space, spaces.Discrete):
                    yield from _try_actions(case, seed, whole, depth, space, rng)
    finally:
        EnvLogger.unsuppress_output()


def _try_actions(
    case: AECCase, seed: int, whole: Trace, depth: int, space: spaces.Discrete, rng: np.random.Generator
) -> Found:
    moment, start = whole.moments[depth], int(space.start)
    mask = np.ones(int(space.n), bool) if moment.mask is None else np.asarray(moment.mask, bool)
    legal, illegal = (rng.permutation(np.flatnonzero(part))[:TRIES] + start for part in (mask, ~mask))
    where = f"move {depth}, {moment.agent} to move"
    for number in legal.tolist():
        session = case.start(seed).play(whole.actions[:depth])
        try:
            session.step(np.int64(number))
        except Exception as error:
            yield (
                f"refuses an action that the mask allows: {type(error).__name__}: {error}",
                f"{where}, action {number}",
            )
            continue
        if _as_illegal(session.env) and _ends_alike(case, seed, whole, depth, number, [*illegal.tolist(), None]):
            yield "ends the match as if an action that the mask allows were illegal", f"{where}, action {number}"
    outside: list[Any] = [start - 1, start + int(space.n), None, *(legal[:1] + 0.5).tolist()]
    for action in [*illegal.tolist(), *outside]:
        what = "an action that the mask forbids" if action not in outside else f"{action!r}, which is no action"
        session = case.start(seed).play(whole.actions[:depth])
        before = everything(session.env)
        try:
            session.step(action)
        except Exception:
            if (why := difference(before, everything(session.env))) is not None:
                yield f"refuses {what} but has changed something: {why}", f"{where}, action {action}"
            elif action in (outside[0], illegal[0] if len(illegal) else None):
                yield from _goes_on(session, whole, depth, what, where)
        else:
            ended = session.env.terminations.get(moment.agent) or session.env.truncations.get(moment.agent)
            if not ended or action is None:
                yield f"accepts {what}", f"{where}, action {action}"
            elif action in illegal[:1]:
                yield from _starts_afresh(session, case, what, where)


def _as_illegal(env: Env) -> bool:
    return all(env.terminations.values()) and all(env.truncations.values())


def _ends_alike(case: AECCase, seed: int, whole: Trace, depth: int, legal: int, illegal: list[Any]) -> bool:
    """Tell whether an action ends the match as an illegal one does: a rule and a limit may end it at the same move."""
    ended = case.start(seed).play([*whole.actions[:depth], legal])
    shown, log = everything(ended.env), ended.log
    for action in illegal:
        session = case.start(seed).play(whole.actions[:depth])
        try:
            session.step(action)
        except Exception:
            continue
        if difference(shown, everything(session.env)) is None:
            case.log = log
            return True
    case.log = log
    return False


def _goes_on(session: Session, whole: Trace, depth: int, what: str, where: str) -> Found:
    for at, action in enumerate(whole.actions[depth:], depth):
        if (why := whole.moments[at].differs(session.ask(at))) is not None:
            yield f"after refusing {what} the match goes on otherwise: {why}", where
            return
        session.step(action)


def _starts_afresh(session: Session, case: AECCase, what: str, where: str) -> Found:
    expected = case.start(case.seeds[0]).trace(0)
    session.reset(case.seeds[0])
    if (why := expected.differs(session.trace(0))) is not None:
        yield f"after {what} ended an episode, the next one differs from a fresh one: {why}", where


def aliasing(case: AECCase) -> Found:
    """Returned arrays are new, share no memory, do not change later, and writing into them changes nothing."""
    seed = case.seeds[0]
    session = case.start(seed)
    env = session.env
    kept: list[tuple[int, str, npt.NDArray[Any], npt.NDArray[Any]]] = []
    for moment, _ in session.moments(np.random.default_rng(seed)):
        now = list(_returned(env, moment.index))
        for (name, array), (other_name, other) in _pairs(now):
            if np.shares_memory(array, other):
                yield f"{name} and {other_name} share memory", f"move {moment.index}"
        for index, name, array, copied in kept[-4 * len(now) :]:
            for other_name, other in now:
                if np.shares_memory(array, other):
                    yield f"{name} and {other_name} of a later call share memory", f"moves {index} and {moment.index}"
            if difference(copied, array) is not None:
                yield f"{name} has changed after it was returned", f"returned at move {index}, by {moment.index}"
        kept += [(moment.index, name, array, snapshot(array)) for name, array in now]
    expected, session = case.start(seed).trace(seed), case.start(seed)
    for moment, _ in session.moments(np.random.default_rng(seed)):
        if (why := expected.moments[moment.index].differs(moment)) is not None:
            yield f"writing into returned arrays has changed the environment: {why}", f"move {moment.index}"
            return
        for _, array in _returned(session.env, moment.index):
            overwrite(array)


def _returned(env: Env, index: int) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    observation, *_, info = env.last()
    yield from arrays_in(observation, "last() observation")
    yield from arrays_in(info, "last() info")
    for agent in env.agents:
        yield from arrays_in(env.observe(agent), f"observe({agent!r})")
        if agent != env.agent_selection:
            yield from arrays_in(env.infos.get(agent), f"infos[{agent!r}]")
    state = state_of(env)
    if state is not None:
        yield from arrays_in(state, "state()")


def _pairs(arrays: list[tuple[str, npt.NDArray[Any]]]) -> Iterator[tuple[Any, Any]]:
    for at, one in enumerate(arrays):
        for other in arrays[at + 1 :]:
            yield one, other


def purity(case: AECCase) -> Found:
    """Looking changes nothing: `observe`, `last`, `state` and `render` as often as one likes."""
    seed = case.seeds[0]
    expected, session = case.start(seed).trace(seed), case.start(seed)
    env = session.env
    for moment, _ in session.moments(np.random.default_rng(seed)):
        if (why := expected.moments[moment.index].differs(moment)) is not None:
            yield f"looking at the environment has changed it: {why}", f"move {moment.index}"
            return
        session.log.add("env.last(); [env.observe(agent) for agent in env.agents]")
        before = everything(env)
        if getattr(env, "render_mode", None) in ("ansi", "rgb_array"):
            yield from _picture(env)
        if (why := difference(before, everything(env))) is not None:
            yield f"two looks at the same position differ: {why}", f"move {moment.index}"


def _picture(env: Any) -> Found:
    shown = env.render()
    if env.render_mode == "ansi" and not isinstance(shown, str):
        yield f"render: expected text for 'ansi', got {type(shown).__name__}", ""
    if env.render_mode == "rgb_array" and not (
        isinstance(shown, np.ndarray) and shown.dtype == np.uint8 and shown.ndim == 3 and shown.shape[2] == 3
    ):
        yield "render: expected a uint8 array (height, width, 3) for 'rgb_array'", ""


def hidden_information(case: AECCase) -> Found:
    """What an agent sees is unchanged when everything that it cannot know is dealt anew."""
    if case.redeal is None:
        return
    tried = moved = 0
    for seed in case.seeds:
        whole = case.start(seed).trace(seed)
        rng = np.random.default_rng(seed)
        for depth in case.depths(whole, rng, 6):
            for agent in list(case.start(seed).play(whole.actions[:depth]).env.agents):
                session = case.start(seed).play(whole.actions[:depth])
                env = session.env
                before, all_before = _own_view(env, agent), everything(env)
                number = int(rng.integers(2**31))
                session.log.add(f"redeal(env, {agent!r}, {number})")
                env = case.redeal(env, agent, number) or env
                tried += 1
                moved += difference(all_before, everything(env)) is not None
                if (why := difference(before, _own_view(env, agent))) is not None:
                    yield f"what {agent} sees depends on what it cannot know: {why}", f"move {depth}"
    if tried and not moved:
        yield f"the redeal hook has changed nothing that is visible to anyone in {tried} positions", ""


def _own_view(env: Env, agent: Any) -> dict[str, Any]:
    moment: Moment = seen(env, agent)
    view = {"observation": moment.observation, "info": moment.info, "to_move": env.agent_selection}
    return view | ({"last": snapshot(env.last())} if env.agent_selection == agent else {})


def deepcopy(case: AECCase) -> Found:
    """`copy.deepcopy` keeps the match: same future, chance included, and the original is left alone."""
    yield from _copies(case, "copy.deepcopy(env)", copy.deepcopy)


def pickling(case: AECCase) -> Found:
    """`pickle` keeps the match: same future, chance included, and the original is left alone."""
    yield from _copies(case, "pickle.loads(pickle.dumps(env))", lambda env: pickle.loads(pickle.dumps(env)))


def _copies(case: AECCase, how: str, branch: Callable[[Env], Env]) -> Found:
    seed = case.seeds[0]
    whole = case.start(seed).trace(seed)
    after = case.start(seed)
    after.trace(seed)
    after.reset()
    following = after.trace(seed)
    for depth in [*case.depths(whole, np.random.default_rng(seed)), len(whole.actions) - 1]:
        session = case.start(seed).play(whole.actions[:depth])
        session.log.add(f"env = {how}")
        where = f"at move {depth}"
        twin = copy.copy(session)
        try:
            twin.env = branch(session.env)
            found = _same_future(twin, whole, depth)
        except Exception as error:
            yield f"{how} loses the match: {type(error).__name__}: {error}", where
            return
        if found:
            yield f"a copy by {how} goes on otherwise: {found}", where
        twin.reset()
        if not found and (why := following.differs(twin.trace(seed))) is not None:
            yield f"the episode after a copy by {how} is another: {why}", where
        if (found := _same_future(session, whole, depth)) is not None:
            yield f"playing a copy by {how} has changed the original: {found}", where


def _same_future(session: Session, whole: Trace, depth: int) -> str | None:
    for at, action in enumerate(whole.actions[depth:], depth):
        found = whole.moments[at].differs(session.ask(at))
        if found:
            return found
        session.env.step(action)
    return None
