"""Training on a Ray cluster of two nodes on this machine, while a worker process and then a whole node are killed."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from ray.cluster_utils import Cluster

import agents
from experiments import evaluation
from experiments.intervals import Estimate
from experiments.train_rllib import OBJECT_STORE, Config, Place, main
from poison_env import make

NODE = {"num_cpus": 1, "object_store_memory": OBJECT_STORE, "include_dashboard": False}  # room for one worker


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    # its hooks at exit want the main thread, and a node is added by another
    there = Cluster(initialize_head=True, head_node_args=NODE, shutdown_at_exit=False)
    there.add_node(**NODE)
    there.wait_for_nodes()
    ray.init(address=there.address, log_to_driver=False)
    yield there
    ray.shutdown()
    there.shutdown()


def workers(node: Any) -> list[int]:
    """Return the processes that play matches on a node of this machine (Linux)."""
    (raylet,) = node.all_processes["raylet"]
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            name = (process / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended meanwhile
        if parent == raylet.process.pid and name.startswith(b"ray::MultiAgentEnvRunner"):
            found.append(int(process.name))
    return found


def logged(run: Path) -> list[dict[str, Any]]:
    file = run / "metrics.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


class Calamity(threading.Thread):
    """Does things to a cluster, each when that many iterations have been logged: "kill", "remove", "add"."""

    def __init__(self, cluster: Cluster, run: Path, plan: Mapping[str, int]) -> None:
        super().__init__(daemon=True)
        self.cluster, self.directory, self.plan = cluster, run, plan
        self.done: list[str] = []

    def run(self) -> None:
        for name, iteration in self.plan.items():
            while len(logged(self.directory)) < iteration:
                time.sleep(0.1)
            time.sleep(0.3)  # into the middle of the next one
            getattr(self, name)()
            self.done.append(name)

    def kill(self) -> None:
        """Kill the worker on the first node."""
        (process,) = workers(self.cluster.head_node)
        os.kill(process, signal.SIGKILL)

    def remove(self) -> None:
        """Kill the second node, with all that runs on it."""
        (node,) = self.cluster.worker_nodes
        self.cluster.remove_node(node, allow_graceful=False)

    def add(self) -> None:
        """Let another node join, with room for the worker that was lost."""
        self.cluster.add_node(wait=False, **NODE)


def train_amid(cluster: Cluster, run: Path, config: Config, plan: Mapping[str, int]) -> list[dict[str, Any]]:
    """Train while the plan happens; return the metrics, after checking that no iteration is missing or short."""
    calamity = Calamity(cluster, run, plan)
    calamity.start()
    main(config, Place(num_env_runners=2, envs_per_runner=8), path=run)
    assert calamity.done == list(plan)
    metrics = logged(run)
    assert [line["iteration"] for line in metrics] == list(range(1, config.iterations + 1))
    assert min(line["played"] for line in metrics) >= config.batch
    return metrics


def against_random(run: Path, deals: int) -> Estimate:
    """Return the policy's points less the mean of three random players', with its interval; negative is good."""
    game = make("poison-v0", num_seats=4, num_rounds=1)
    policy, random = agents.load(run), agents.load("random")
    (match_up,) = evaluation.evaluate(game, {"policy": policy}, {"random": random}, deals=deals)
    return match_up.summary().total["diff"]


def test_a_run_survives_a_killed_worker_and_a_lost_node(cluster: Cluster, tmp_path: Path) -> None:
    config = Config(iterations=8, batch=2048, minibatch=256, hidden=(64,), evaluate_every=0, checkpoint_every=4)
    metrics = train_amid(cluster, tmp_path / "run", config, {"kill": 1, "remove": 3})
    assert np.isfinite([line["loss"] for line in metrics]).all()
    assert metrics[0]["runners"] == 2
    assert metrics[-1]["restarts"] >= 1
    assert against_random(tmp_path / "run", 300).high < 0


@pytest.mark.slow
def test_a_run_that_lost_workers_and_a_node_learns_to_beat_random_clearly(cluster: Cluster, tmp_path: Path) -> None:
    config = Config(iterations=24, batch=4096, evaluate_every=8, checkpoint_every=8)
    metrics = train_amid(cluster, tmp_path / "run", config, {"kill": 3, "remove": 8, "add": 10})
    assert metrics[-1]["restarts"] >= 2
    assert metrics[-1]["runners"] == 2
    found = against_random(tmp_path / "run", 2000)
    seconds = sum(line["seconds"] for line in metrics)
    print(f"against random {found} after {metrics[-1]['decisions']} decisions in {seconds:.0f} s")
    assert found.high < -6
