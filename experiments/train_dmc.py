"""Deep Monte-Carlo in self-play: a network regresses the return of each legal action; all seats of all matches learn.

The method of DouZero (Zha et al., "DouZero: Mastering DouDizhu with Self-Play Deep Reinforcement Learning", ICML 2021,
arXiv 2106.06135), on a batched core instead of many actor processes: each iteration plays a batch of matches with the
present network, mostly greedily, and then makes one pass over all decisions in it. The target is the return that
followed, in part replaced by what the network itself expected at the mover's next decisions (`trace`), which is less
noisy: the return of Q(lambda) of Peng and Williams (Machine Learning 22, 1996). `--trace 1` is Monte-Carlo alone.

Run `python -m experiments.train_dmc --help` for the options. The run can be killed at any moment; with `--resume` it
goes on from its last checkpoint and ends with the same weights, bit for bit, as one that was never interrupted (on the
same machine and versions).
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import tyro

from agents import features
from agents.neural import NeuralAgent, ValueNetwork, describe
from experiments.judging import conclude, quick_look
from experiments.options import Task, run_program
from experiments.runs import Run
from experiments.training import iterate
from poison_env.core import chance
from poison_env.core.choice import best_legal, uniform_legal
from poison_env.core.errors import OptionError
from poison_env.core.protocol import Game, decisions

DEALS, ACTIONS, SHUFFLE = 1, 2, 3  # what a run's seed is folded with; evaluation folds with 0, so its deals are others
ERROR_SCALE = 5.0  # points: about the standard deviation of a round's result, so that the loss is about 1


@dataclass(frozen=True, kw_only=True)
class Config(Task):
    """What a run is; saved as config.json."""

    iterations: int = 100
    matches: int = 1024  # played side by side in an iteration
    minibatch: int = 2048  # decisions
    hidden: tuple[int, ...] = (256, 256)
    learning_rate: float = 1e-3  # falls linearly to a twentieth
    epsilon: float = 0.05  # share of random moves; falls linearly to a fifth
    trace: float = 0.6  # weight of what was earned against what the network expected on the way; 1 is Monte-Carlo
    checkpoint_every: int = 10  # iterations
    threads: int = 1  # of torch; more rarely pays for small networks
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be trained with.

        Raises:
            OptionError: the message names the field.
        """
        super().__post_init__()
        self.at_least(1, "iterations", "matches", "minibatch", "checkpoint_every", "threads")
        self.above_zero("learning_rate")
        self.layers("hidden")
        for name in ("epsilon", "trace"):
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"{name}: expected 0 to 1, got {getattr(self, name)}")


class Experience(NamedTuple):
    """The decisions of a batch of matches."""

    inputs: npt.NDArray[np.float32]  # (n, D)
    outputs: npt.NDArray[np.int64]  # (n,) the network's number of the chosen action
    returns: npt.NDArray[np.float32]  # (n,) what the mover earned from there on, or what takes its place


def self_play(
    game: Game[Any], agent: NeuralAgent, seeds: npt.NDArray[np.uint64], *, epsilon: float, seed: int, trace: float = 1.0
) -> tuple[Experience, npt.NDArray[np.float64]]:
    """Play a match for each seed with one agent in all seats; return its decisions and the matches' returns (B, P).

    With probability `epsilon` a move is drawn uniformly from the legal ones. Where one move alone is legal there is
    nothing to learn: more than half of Potio's decisions are so.
    """
    state = game.deal(seeds)
    earned = np.zeros((len(seeds), game.num_seats))
    actions = np.zeros(len(seeds), np.int64)
    log: list[tuple[npt.NDArray[Any], ...]] = []
    while not state.done.all():
        live = np.flatnonzero(~state.done)
        question = decisions(game, state, live, seed)
        actions[live] = question.action_mask.argmax(axis=1)
        free = np.flatnonzero(np.count_nonzero(question.action_mask, axis=1) > 1)
        if len(free):
            rows, seats, keys = live[free], question.seats[free], question.keys[free]
            encoded = agent.encoder.encode(question.observation[free], question.action_mask[free])
            values = agent.forward(encoded.inputs)
            best = best_legal(values, encoded.mask)
            random = uniform_legal(encoded.mask, chance.fold(keys, 1))
            explores = chance.uniform(chance.fold(keys, 2)) < epsilon
            chosen = np.where(explores, random, best)
            actions[rows] = encoded.actions(chosen)
            expected = values[np.arange(len(free)), best]
            log.append((encoded.inputs, chosen, rows, seats, earned[rows, seats], expected))
        earned += game.step(state, actions)
    inputs, outputs, *steps = zip(*log, strict=True)
    targets = returns_of(list(zip(*steps, strict=True)), earned, trace)
    return Experience(np.concatenate(inputs), np.concatenate(outputs), np.concatenate(targets)), earned


def returns_of(
    steps: Sequence[tuple[npt.NDArray[Any], ...]], earned: npt.NDArray[np.float64], trace: float
) -> list[npt.NDArray[np.float32]]:
    """Return for each decision what its mover earned from there on, mixed with what the network expected on the way.

    With weight `trace` a decision's return goes on to that of the mover's next decision, with the rest it ends there in
    the value of the best action: the lambda-return of Q(lambda). With 1 it is what was earned.

    Args:
        steps: in order of time: rows, seats, what the seat had earned before, the value of its best action, (n,) each.
        earned: (B, P) in the whole match.
        trace: 0 to 1.
    """
    had, later, values = earned.copy(), np.zeros_like(earned), np.zeros_like(earned)  # of each seat's next decision
    targets = []
    for rows, seats, before, expected in reversed(steps):
        at = rows, seats
        later[at] = had[at] - before + trace * later[at] + (1 - trace) * values[at]
        had[at], values[at] = before, expected
        targets.append(later[at].astype(np.float32))
    return targets[::-1]


def loss_of(values: torch.Tensor, outputs: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    """Return the mean squared error of the chosen actions' values against their returns, in ERROR_SCALE squared.

    Args:
        values: (n, A) of all actions.
        outputs: (n,) which of them was chosen.
        returns: (n,)
    """
    chosen = values.gather(1, outputs[:, None])[:, 0]
    return torch.mean(((chosen - returns) / ERROR_SCALE) ** 2)


def learn(
    network: ValueNetwork,
    optimizer: torch.optim.Optimizer,
    experience: Experience,
    *,
    minibatch: int,
    seed: int,
    device: str,
) -> float:
    """Make one pass over the decisions in an order drawn from `seed`; return the mean loss."""
    order = np.random.default_rng(seed).permutation(len(experience.outputs))
    inputs, outputs, returns = (torch.from_numpy(column) for column in experience)
    losses = []
    for part in torch.from_numpy(order).split(minibatch):
        loss = loss_of(network(inputs[part].to(device)), outputs[part].to(device), returns[part].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return float(np.mean(losses))


def main(config: Config, *, path: Path, resume: bool = False) -> Path:
    """Train as `config` says, in the run directory `path`; return it.

    Raises:
        FileExistsError: there is a run at `path` and `resume` is off.
        CheckpointError: the run at `path` has another configuration.
    """
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    game = config.make(reward=config.reward)
    encoder = features.for_game(game)
    network = ValueNetwork(encoder.size, game.num_actions, config.hidden).to(config.device)
    optimizer = torch.optim.Adam(network.parameters(), lr=config.learning_rate)
    agent = NeuralAgent(game, network, encoder)
    run = Run(path, asdict(config), resume=resume)
    about = describe(game, encoder, config.hidden)
    done = run.restore(network, optimizer)
    decided = int(run.logged(done).get("decisions", 0))  # matches of some games differ in length

    def once(iteration: int) -> dict[str, float]:
        nonlocal decided
        metrics = train_once(config, game, agent, optimizer, iteration)
        decided += int(metrics["decisions"])
        return {**metrics, "decisions": decided}

    iterate(
        config,
        run,
        done,
        once=once,
        look=lambda: quick_look(config, game, agent),
        save=lambda iteration: run.save(iteration, network, optimizer, about),
    )
    return path


def train_once(
    config: Config, game: Game[Any], agent: NeuralAgent, optimizer: torch.optim.Optimizer, iteration: int
) -> dict[str, float]:
    """Play and learn one iteration; return its metrics, `decisions` being its own."""
    left = 1 - iteration / config.iterations
    for group in optimizer.param_groups:
        group["lr"] = config.learning_rate * max(left, 0.05)
    begun, cpu = time.perf_counter(), time.process_time()
    experience, returns = self_play(
        game,
        agent,
        chance.fold(config.seed, DEALS, iteration, np.arange(config.matches)),
        epsilon=config.epsilon * max(left, 0.2),
        seed=int(chance.fold(config.seed, ACTIONS, iteration)[0]),
        trace=config.trace,
    )
    played = time.perf_counter()
    shuffle = int(chance.fold(config.seed, SHUFFLE, iteration)[0])
    loss = learn(agent.network, optimizer, experience, minibatch=config.minibatch, seed=shuffle, device=config.device)
    ended = time.perf_counter()
    return {
        "iteration": iteration + 1,
        "decisions": len(experience.outputs),
        "loss": loss,
        "return_spread": float(returns.std()),
        "play_seconds": played - begun,
        "learn_seconds": ended - played,
        "decisions_per_cpu_second": len(experience.outputs) / (time.process_time() - cpu),
    }


def command(
    config: tyro.conf.OmitArgPrefixes[Config],
    *,
    name: str = "",
    runs: Path = Path("runs"),
    resume: bool = False,
    deals: int = 5000,
) -> None:
    """Train a policy by Deep Monte-Carlo in self-play, then judge it against the scripted agents.

    Args:
        config: what to learn and how.
        name: of the run directory; made of game, seats and seed unless given.
        runs: where run directories stand.
        resume: go on with the run of that name, if there is one, from its last checkpoint.
        deals: how many deals the final evaluation plays, each with the policy in every seat; 0 for none.
    """
    seats = config.make().num_seats
    path = main(config, path=runs / (name or f"{config.game}-{seats}p-dmc-{config.seed}"), resume=resume)
    conclude(config, path, deals=deals)


if __name__ == "__main__":
    run_program("train_dmc", command)
