"""The loop over iterations that training programs share: progress, metrics, looks on the way, checkpoints."""

import math
import time
from collections.abc import Callable
from typing import Protocol

from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from experiments.judging import postfix
from experiments.runs import Run


class Schedule(Protocol):
    """What a training configuration says about the course of a run, in iterations."""

    @property
    def iterations(self) -> int:
        """Of the whole run."""

    @property
    def checkpoint_every(self) -> int:
        """From one checkpoint to the next."""

    @property
    def evaluate_every(self) -> int:
        """From one look to the next; 0 for never."""


def iterate(
    config: Schedule,
    run: Run,
    done: int,
    *,
    once: Callable[[int], dict[str, float]],
    look: Callable[[], dict[str, float]],
    save: Callable[[int], object],
    minutes: float = math.inf,
) -> None:
    """Go through a run's iterations with a progress bar: metrics to metrics.jsonl and TensorBoard, looks, checkpoints.

    Args:
        done: iterations that the newest checkpoint has behind it; what was logged after it is dropped.
        once: plays and learns iteration i, counted from 0; returns its metrics.
        look: judges the policy as it is.
        save: writes a checkpoint, given how many iterations are done.
        minutes: stop at the first checkpoint after so long.
    """
    run.cut_log(done)
    begun = time.monotonic()
    with SummaryWriter(str(run.path / "tensorboard"), purge_step=done) as board, tqdm(
        total=config.iterations, initial=done, desc=run.path.name, unit="iteration"
    ) as bar:  # fmt: skip
        for iteration in range(done, config.iterations):
            metrics = once(iteration)
            last = iteration + 1 == config.iterations
            if config.evaluate_every and ((iteration + 1) % config.evaluate_every == 0 or last):
                metrics |= look()
            run.log(metrics)
            saved = last or (iteration + 1) % config.checkpoint_every == 0
            if saved:
                save(iteration + 1)
            for name, value in metrics.items():
                board.add_scalar(name, value, iteration + 1)
            bar.update()
            bar.set_postfix(postfix(metrics))
            if saved and time.monotonic() - begun > 60 * minutes:
                break
