"""The checks of batched rules, one function each."""

import pickle
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from poison_env.core import chance
from poison_env.core.errors import IllegalActionError
from poison_env.core.protocol import HasOverflow, HasReturns
from poison_env.testing.compare import GlobalRandomness, arrays_in, difference, snapshot
from poison_env.testing.game_case import ROWS, GameCase

Found = Iterator[tuple[str, str]]


def declarations(case: GameCase) -> Found:
    """Counts and layouts that fit each other; a game made from its own options, or unpickled, is the same game."""
    game = case.game
    if min(game.num_seats, game.num_actions, game.max_moves) < 1 or game.points_sign not in (1, -1):
        yield "expected num_seats, num_actions, max_moves of at least 1 and points_sign of 1 or -1", ""
    for how, twin in (("options", type(game)(**game.options)), ("pickle", pickle.loads(pickle.dumps(game)))):
        if dict(twin.options) != dict(game.options) or twin.layout != game.layout or twin.id != game.id:
            yield f"the game made again from its {how} is another", ""
    unknown = {name: value for name, value in game.rules_options.items() if game.options.get(name) != value}
    if unknown:
        yield f"rules_options are not among options: {unknown}", ""
    labels = [game.action_label(action) for action in range(game.num_actions)]
    if len(set(labels)) != len(labels):
        yield "two actions have the same label", ""


def batches(case: GameCase) -> Found:
    """A match is the same alone, in any row of any batch, and whatever else is in it; chance is the seed's alone."""
    game, shared = case.game, GlobalRandomness()
    before = shared.fingerprint()
    order = np.random.default_rng(0).permutation(ROWS)
    shuffled, single = game.deal(case.seeds[order]), game.deal(case.seeds[:1])
    for state, actions in case.walk():
        if (why := _states_differ(state[order], shuffled)) is not None:
            yield f"in another order of rows the matches differ: {why}", ""
            return
        if (why := _states_differ(state[[0]], single)) is not None:
            yield f"alone the match differs: {why}", "row 0"
            return
        for name, each in (("observe", game.observe), ("resample", game.resample)):
            movers = (state.to_move,) if name == "observe" else (state.to_move, case.seeds)
            whole, part = each(state, *movers), each(single, *(column[:1] for column in movers))
            if (why := _states_differ(whole[[0]], part)) is not None:
                yield f"{name}: alone the row differs: {why}", "row 0"
        paid = game.step(shuffled, actions[order]), game.step(single, actions[:1])
        again = game.step(state.copy(), actions)
        if not (np.array_equal(again[order], paid[0]) and np.array_equal(again[:1], paid[1])):
            yield "rewards depend on the batch", ""
    if shared.fingerprint() != before:
        yield "draws from Python's or NumPy's global generator", ""


def _states_differ(one: Any, two: Any) -> str | None:
    if isinstance(one, np.ndarray):
        return difference(one, two)
    return difference(_arrays(one), _arrays(two))


def _arrays(state: Any) -> dict[str, Any]:
    return {entry.name: getattr(state, entry.name) for entry in fields(state)}


def legality(case: GameCase) -> Found:
    """Each action of the mask is accepted, any other refused with nothing changed; finished rows stay as they are."""
    game, rng = case.game, np.random.default_rng(0)
    for move, (state, actions) in enumerate(case.walk()):
        mask, done = game.action_mask(state), state.done
        if mask.dtype != np.bool_ or mask.shape != (ROWS, game.num_actions):
            yield f"action_mask: expected bool ({ROWS}, {game.num_actions}), got {mask.dtype} {mask.shape}", ""
        if mask[done].any() or not mask[~done].any(axis=1).all():
            yield "action_mask: expected some action in each live row and none in finished ones", f"move {move}"
        if move % 7 and not done.all():
            continue
        before = snapshot(_arrays(state))
        for row in rng.permutation(np.flatnonzero(~done))[:4].tolist():
            tried = np.arange(-1, game.num_actions + 1)
            for action in tried[~np.isin(tried, np.flatnonzero(mask[row]))].tolist():
                wrong = np.where(np.arange(ROWS) == row, action, actions)
                try:
                    game.step(state, wrong)
                except IllegalActionError:
                    if (why := difference(before, _arrays(state))) is not None:
                        yield f"refuses an illegal action but has changed something: {why}", f"move {move}, row {row}"
                else:
                    yield f"accepts action {action}, which the mask forbids", f"move {move}, row {row}"
                    return
            legal = np.flatnonzero(mask[row])
            copies = state[np.full(len(legal), row)]
            game.step(copies, legal)
            if (copies.moves != state.moves[row] + 1).any():
                yield "an action that the mask allows is not counted as a move", f"move {move}, row {row}"
        ended = state.copy()
        paid = game.step(ended, np.where(done, -1, actions))
        if paid[done].any() or _states_differ(ended[done], state[done]) is not None:
            yield "a finished row is paid or changes when the others go on", f"move {move}"
    if not state.done.all():
        yield f"matches are not over after max_moves = {game.max_moves} moves", ""


def observations(case: GameCase) -> Found:
    """Observations: int16 within their layout's bounds, fresh arrays, for every seat; looking changes nothing."""
    game = case.game
    for move, (state, _) in enumerate(case.walk()):
        before = snapshot(_arrays(state))
        found = {seat: game.observe(state, np.full(ROWS, seat)) for seat in range(game.num_seats)}
        for what, given, layout in (
            *((f"observe, seat {seat}", seen, game.layout) for seat, seen in found.items()),
            ("observe_all", game.observe_all(state), game.full_layout),
        ):
            if given.dtype != np.int16 or given.shape != (ROWS, layout.size):
                yield f"{what}: expected int16 ({ROWS}, {layout.size}), got {given.dtype} {given.shape}", f"move {move}"
            elif (given < 0).any() or (given > layout.high).any():
                yield f"{what}: outside the layout's bounds", f"move {move}"
        shown: dict[str, npt.NDArray[Any]] = {
            "mask": game.action_mask(state),
            "points": game.points(state),
            "placements": game.placements(state),
            "history": game.history(state),
            "observation": found[0],
        }
        for name, array in arrays_in(_arrays(state), "state"):
            for what, given in shown.items():
                if np.shares_memory(array, given):
                    yield f"{what} shares memory with {name}", f"move {move}"
            if any(np.shares_memory(array, other) for _, other in arrays_in(_arrays(state[np.arange(ROWS)]))):
                yield f"state[rows] shares memory with {name}: expected a copy", f"move {move}"
        if (why := difference(before, _arrays(state))) is not None:
            yield f"looking has changed the state: {why}", f"move {move}"
        places: Any = shown["placements"]
        fits = places.shape == (ROWS, game.num_seats) and bool((places < game.num_seats).all())
        if not fits or (places.min(axis=1) != 0).any():
            yield "placements: expected 0 for the best and less than num_seats for all", f"move {move}"


def hidden_information(case: GameCase) -> Found:
    """What a seat sees and may do is the same in every world that `resample` draws for it, and so are the worlds."""
    game, moved = case.game, 0
    for move, (state, _) in enumerate(case.walk()):
        if move % 5:
            continue
        before = snapshot(_arrays(state))
        for seat in range(game.num_seats):
            seats = np.full(ROWS, seat)
            seeds = chance.fold(move, seat, np.arange(ROWS))
            world = game.resample(state, seats, seeds)
            moved += _states_differ(state, world) is not None
            if (why := _states_differ(world, game.resample(world, seats, seeds))) is not None:
                yield f"seat {seat}: the world of a seed depends on what the seat cannot know: {why}", f"move {move}"
            own = state.to_move == seat
            for what, one, two in (
                ("observation", game.observe(state, seats), game.observe(world, seats)),
                ("history", game.history(state), game.history(world)),
                ("points", game.points(state), game.points(world)),
                ("turn", state.to_move, world.to_move),
                ("end", state.done, world.done),
                ("mask", game.action_mask(state)[own], game.action_mask(world)[own]),
            ):
                if (why := difference(np.asarray(one), np.asarray(two))) is not None:
                    yield f"seat {seat}: {what} depends on what the seat cannot know: {why}", f"move {move}"
        if (why := difference(before, _arrays(state))) is not None:
            yield f"resample has changed its argument: {why}", f"move {move}"
    if not moved:
        yield "resample never changes anything", ""


def rewards(case: GameCase) -> Found:
    """Rewards follow from the points, in the scheme that the options name; history grows by each move."""
    game, scheme = case.game, case.game.options.get("reward")
    total, known = np.zeros((ROWS, game.num_seats)), np.full((ROWS, 0), -1)
    state = game.deal(case.seeds)
    start = game.points(state).astype(float)
    for move, (state, _) in enumerate(case.walk()):
        if move:
            total += case.rewards
            if case.rewards.shape != (ROWS, game.num_seats) or not np.isfinite(case.rewards).all():
                yield f"rewards: expected finite numbers ({ROWS}, {game.num_seats})", f"move {move}"
        events = np.asarray(game.history(state), np.int64)
        if not ((events[:, : known.shape[1]] == known) | (known == -1)).all():
            yield "history: a move has changed an earlier event", f"move {move}"
        known = events
    earned = game.points_sign * (game.points(state) - start)
    expected = None
    if scheme == "points":
        expected = earned
    elif scheme == "relative":
        expected = earned - (earned.sum(axis=1, keepdims=True) - earned) / (game.num_seats - 1)
    elif scheme == "win":
        best = game.placements(state) == 0
        expected = best / best.sum(axis=1, keepdims=True)
        if isinstance(game, HasReturns) and game.return_sum is None:
            expected[~total.any(axis=1)] = 0  # a match that nobody wins pays nobody
    if expected is not None and not np.allclose(total, expected, rtol=0, atol=1e-9):
        row = int(np.argmax((np.abs(total - expected) > 1e-9).any(axis=1)))
        yield f"rewards sum to {total[row].tolist()}, {scheme} are {expected[row].tolist()}", f"row {row}, at the end"


def overflow(case: GameCase) -> Found:
    """Where the game can tell them, overflows are legal actions, and exactly those by which the mover takes cards."""
    game = case.game
    if not isinstance(game, HasOverflow):
        return
    for move, (state, actions) in enumerate(case.walk()):
        marked = game.overflows(state)
        if (marked & ~game.action_mask(state)).any():
            yield "overflows: marks an illegal action", f"move {move}"
        live = np.flatnonzero(~state.done)
        takes = game.cards_taken(state, actions).sum(axis=1) > 0
        if (takes[live] != marked[live, actions[live]]).any():
            yield "cards_taken and overflows disagree", f"move {move}"


def referee(case: GameCase) -> Found:
    """Turn, legal actions, rewards and end as an independent account of the rules has them, match by match."""
    assert case.referee is not None
    game = case.game
    judges = [case.referee(game.deal(case.seeds[row : row + 1])) for row in range(ROWS)]
    paid: dict[int, npt.NDArray[Any]] = {}
    for move, (state, actions) in enumerate(case.walk()):
        mask = game.action_mask(state)
        for row, judge in enumerate(judges):
            where = f"move {move}, row {row}"
            if row in paid and not np.allclose(paid[row], case.rewards[row], rtol=0, atol=1e-9):
                yield f"rewards: the referee pays {paid[row].tolist()}, the game {case.rewards[row].tolist()}", where
            mover = judge.to_move()
            paid.pop(row, None)
            if (mover is None) != bool(state.done[row]):
                yield f"the referee says {'over' if mover is None else 'not over'}, the game the contrary", where
                return
            if mover is None:
                continue
            if mover != state.to_move[row]:
                yield f"turn: the referee says seat {mover}, the game seat {state.to_move[row]}", where
                return
            legal, allowed = {*judge.legal()}, {*np.flatnonzero(mask[row]).tolist()}
            if legal != allowed:
                yield f"mask: legal but not allowed {legal - allowed}, allowed but not legal {allowed - legal}", where
                return
            paid[row] = np.asarray(judge.step(int(actions[row])), float)


def conservation(case: GameCase) -> Found:
    """What the hook says is conserved is the same in every row at all times."""
    assert case.conserved is not None
    first = None
    for move, (state, _) in enumerate(case.walk()):
        now = np.asarray(case.conserved(state))
        first = now[:1].copy() if first is None else first
        wrong = np.flatnonzero((now != first).reshape(ROWS, -1).any(axis=1))
        if len(wrong):
            what = f"not conserved: {first[0].tolist()} at first, now {now[wrong[0]].tolist()}"
            yield what, f"move {move}, row {wrong[0]}"
