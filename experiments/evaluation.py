"""Evaluation of agents: the same deals with the candidate in every seat, against tables of copies of one other agent.

Every deal is played P times, the candidate once in each seat, P - 1 copies of the other agent in the rest. The deal is
the unit of every interval: its P matches are averaged first. Agents draw their randomness from the deal's number, the
move and the seat, so an agent at a table of its own copies plays one match P times and differs from them by exactly 0,
and all match-ups of an evaluation share luck as well as deals.

Deals are `fold(seed, 0, k)`; training folds its seeds with other numbers, so no deal of training is among them,
whatever the two seeds are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from experiments.intervals import CONFIDENCE, RESAMPLES, Estimate, mean_estimates, ratio_estimates
from experiments.overflow_counts import OverflowCounts
from poison_env import play
from poison_env.core import chance
from poison_env.core.protocol import Agent, FloatArray, Game, HasOverflow, decisions

EVALUATION = 0  # what a seed is folded with
CHUNK = 4096  # matches played side by side

# Measures are averaged over deals ...
MEANS = {
    "diff": "own points less the others' mean, per round",
    "points": "own points per round",
    "others": "the others' mean points per round",
    "wins": "share of matches won; k winners share a win",
    "placement": "mean place in a match, 0 = best",
}
OVERFLOW_MEANS = {
    "overflows": "overflows per round",
    "deliberate": "deliberate overflows per round: one without was legal",
}
# ... or are the sum of one column over the sum of another.
OVERFLOW_RATIOS = {
    "of_chances": ("deliberate", "chances", "share of the moves with both kinds legal at which an overflow was chosen"),
    "immune": ("immune", "deliberate", "share of deliberate overflows that ended in immunity in a class taken"),
}


@dataclass(frozen=True, eq=False)
class MatchUp:
    """What became of a candidate at tables of another agent, deal by deal.

    A column is kept as whole numbers where the rules count in them and divided after averaging, so that equal results
    differ by exactly 0.
    """

    candidate: str
    table: str
    columns: Mapping[str, FloatArray]  # by name, (D, P): by deal and the candidate's seat
    divisors: Mapping[str, float]

    @property
    def deals(self) -> int:
        """D."""
        return len(self.columns["diff"])

    def per_deal(self, name: str, seat: int | None = None) -> FloatArray:
        """Return a measure (or `chances`) deal by deal, (D,): averaged over the seats, or with the candidate in one.

        Candidates of one evaluation are paired by it: they have played the same deals.
        """
        column = self.columns[name]
        result: FloatArray = (column.mean(axis=1) if seat is None else column[:, seat]) / self.divisors[name]
        return result

    def summary(self, *, seed: int = 0, resamples: int = RESAMPLES, confidence: float = CONFIDENCE) -> "Summary":
        """Estimate every measure over all deals, and with the candidate in each seat alone; `seed` is the bootstrap's.

        Raises:
            ValueError: there is only one deal.
        """
        how: dict[str, Any] = {"seed": seed, "resamples": resamples, "confidence": confidence}
        scopes = [None, *range(self.columns["diff"].shape[1])]  # all seats together, then each alone
        means = [name for name in (*MEANS, *OVERFLOW_MEANS) if name in self.columns]
        estimates = iter(mean_estimates([self.per_deal(name, seat) for seat in scopes for name in means], **how))
        found = [{name: next(estimates) for name in means} for _ in scopes]
        if "deliberate" in self.columns:
            above, below, _ = zip(*OVERFLOW_RATIOS.values(), strict=True)
            ratios = iter(
                ratio_estimates(
                    [self.per_deal(name, seat) for seat in scopes for name in above],
                    [self.per_deal(name, seat) for seat in scopes for name in below],
                    **how,
                )
            )
            for values in found:
                values.update({name: next(ratios) for name in OVERFLOW_RATIOS})
        return Summary(self.candidate, self.table, self.deals, found[0], tuple(found[1:]))


@dataclass(frozen=True)
class Summary:
    """Estimates of a match-up's measures by name."""

    candidate: str
    table: str
    deals: int
    total: Mapping[str, Estimate]  # the candidate in every seat
    seats: tuple[Mapping[str, Estimate], ...]  # in each seat alone


def deal_seeds(seed: int, start: int, stop: int) -> chance.KeyArray:
    """Return the match seeds of the evaluation deals `start` to `stop` - 1 of an evaluation seed."""
    return chance.fold(seed, EVALUATION, np.arange(start, stop))


def rounds_of(game: Game[Any]) -> int:
    """Return how many rounds a match has: what the game's option `num_rounds` says; 1 where there is no such thing."""
    return int(game.options.get("num_rounds") or 1)


def check_agents(game: Game[Any], agents: Mapping[str, Agent]) -> None:
    """Ask every agent for one decision, so that one that cannot play this game is found before anything long runs.

    Raises:
        PoisonEnvError: what the agent has to say about it.
    """
    state = game.deal(deal_seeds(0, 0, 1))
    for agent in agents.values():
        agent.act(decisions(game, state, np.arange(1)))


def evaluate(
    game: Game[Any],
    candidates: Mapping[str, Agent],
    tables: Mapping[str, Agent],
    *,
    deals: int,
    seed: int = 0,
    chunk: int = CHUNK,
    progress: bool = False,
) -> list[MatchUp]:
    """Play every candidate against tables of every other agent, all on the same deals; candidate-major.

    Args:
        candidates: agents by name; one that is also in `tables` meets its own copies there.
        tables: agents by name, P - 1 copies of one at a time.
        deals: D; each is played P times.
        seed: decides deals and agents' luck. Numbers do not depend on `chunk`, nor on who else is evaluated (unless a
            network adds up otherwise in another batch and so turns a tie; none was seen to).
        chunk: matches played side by side, which is what bounds the memory.
        progress: show a progress bar.

    Raises:
        ValueError: no deals, or a game for one seat.
    """
    if deals < 1 or game.num_seats < 2:
        raise ValueError(f"expected deals and other seats to play against, got {deals} deals of {game.num_seats} seats")
    check_agents(game, {**tables, **candidates})
    found = []
    total = len(candidates) * len(tables) * deals * game.num_seats
    with tqdm(total=total, unit="match", unit_scale=True, desc="evaluate", disable=not progress) as bar:
        for name, candidate in candidates.items():
            for table, other in tables.items():
                parts = []
                step = max(1, chunk // game.num_seats)
                for start in range(0, deals, step):
                    stop = min(start + step, deals)
                    parts.append(_Rotations(game, candidate, other, seed, start, stop).columns)
                    bar.update((stop - start) * game.num_seats)
                columns = {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}
                found.append(MatchUp(name, table, columns, _divisors(game)))
    return found


def _divisors(game: Game[Any]) -> dict[str, float]:
    rounds = rounds_of(game)
    opponents = rounds * (game.num_seats - 1)
    by_match = {"wins": 1, "placement": 1}
    counts = dict.fromkeys((*OVERFLOW_MEANS, "chances", "immune"), rounds)
    return {"diff": opponents, "points": rounds, "others": opponents, **by_match, **counts}


class _Rotations:
    """Deals `start` to `stop` - 1, each with the candidate in every seat: row = deal * P + seat."""

    def __init__(self, game: Game[Any], candidate: Agent, other: Agent, seed: int, start: int, stop: int) -> None:
        seats = game.num_seats
        self.shape = (stop - start, seats)
        self.seat = np.tile(np.arange(seats), stop - start)
        self.rows = np.arange(len(self.seat))
        seeds = np.repeat(deal_seeds(seed, start, stop), seats)
        self.counts = OverflowCounts(game, len(seeds)) if isinstance(game, HasOverflow) else None
        self.start = game.points(game.deal(seeds))
        self.pays_wins = game.options.get("reward") == "win"
        self.record = play(
            game,
            [candidate, other],
            seeds,
            seating=np.where(np.arange(seats) == self.seat[:, None], 0, 1),
            seed=int(chance.fold(seed, EVALUATION)[0]),
            matches=np.repeat(np.arange(start, stop), seats),  # rotations of a deal share their luck
            recorder=self.counts,
        )

    @cached_property
    def columns(self) -> dict[str, FloatArray]:
        """The candidate's numbers, (deals, P)."""
        points = self.record.points - self.start
        own = self._own(points)
        others = points.sum(axis=1).reshape(self.shape) - own
        first = self.record.placements == 0
        # What a match pays tells, placements do not, that nobody has won.
        won = self.record.returns if self.pays_wins else first / first.sum(axis=1, keepdims=True)
        found = {
            "diff": (self.shape[1] - 1) * own - others,
            "points": own,
            "others": others,
            "wins": self._own(won),
            "placement": self._own(self.record.placements),
        }
        if self.counts:
            found["overflows"] = self._own(self.counts.overflows)
            found["deliberate"] = self._own(self.counts.deliberate)
            found["chances"] = self._own(self.counts.chances)
            found["immune"] = self._own(self.counts.immune())
        return found

    def _own(self, by_seat: npt.NDArray[Any]) -> FloatArray:
        return by_seat[self.rows, self.seat].reshape(self.shape).astype(np.float64)
