"""The cost of a step with `last()`, as a multiple of a few small NumPy calls in the same process."""

import time

import numpy as np
import pytest

from poison_env import poison_v0
from tests.conformance.aec_support import legal

# About 7; 10 to 14 when the observation, 21 to 31 when nothing of a single match is made of plain look-ups.
MOST_CALIBRATIONS_PER_STEP = 11
ROUNDS, REPEATS, MOVES = 5, 100, 12
PIECES = [np.zeros((1, size), np.int16) for size in (3, 16, 4, 5)]


def calibrate() -> float:
    """Return the time of some small work of the same kind, in seconds."""
    start = time.perf_counter()
    for _ in range(10):
        np.concatenate([piece.reshape(1, -1) for piece in PIECES], axis=1).take([1, 2], axis=1)
        _ = {piece.ndim: piece.copy() for piece in PIECES}
    return (time.perf_counter() - start) / 10


@pytest.mark.slow  # a noisy machine must not fail a change: the normal suite asserts no times, not even ratios
def test_a_step_costs_no_more_than_so_many_small_calls():
    env = poison_v0.env()
    env.reset(seed=1)
    moves = []
    for _ in range(MOVES):
        moves.append(int(legal(env)[0]))
        env.step(moves[-1])

    def step() -> float:
        env.reset(seed=1)
        start = time.perf_counter()
        for move in moves:
            env.last()
            env.step(move)
        return (time.perf_counter() - start) / MOVES

    ratios = []
    for _ in range(ROUNDS):
        times = [(step(), calibrate()) for _ in range(REPEATS)]
        ratios.append(min(taken for taken, _ in times) / min(taken for _, taken in times))
        if ratios[-1] < MOST_CALIBRATIONS_PER_STEP:
            return
    raise AssertionError(
        f"expected fewer than {MOST_CALIBRATIONS_PER_STEP} calibrations in a step, got {min(ratios):.1f}"
    )
