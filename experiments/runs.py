"""Run directories: what was run, its metrics, its checkpoints. All safetensors or JSON: nothing loaded runs code.

runs/NAME/config.json            the configuration
          manifest.json          versions, commit, machine, command of every start
          metrics.jsonl          one line an iteration
          tensorboard/
          checkpoint-000123/     after iteration 123: network.safetensors, optimizer.safetensors, state.json,
                                 and what else the learner needs to go on, learner.safetensors
          snapshots/000100/      a policy of the past: network.safetensors, state.json
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from agents.neural import newest_checkpoint
from poison_env.core.errors import CheckpointError
from poison_env.core.files import write_whole

PACKAGES = (
    "poison_env",
    "numpy",
    "torch",
    "gymnasium",
    "pettingzoo",
    "safetensors",
    "stable_baselines3",
    "sb3_contrib",
)
KEPT_CHECKPOINTS = 2


def manifest() -> dict[str, Any]:
    """Return what a reader needs to repeat a run: time, command, commit, versions, machine."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "commit": _commit(),
        "python": platform.python_version(),
        "versions": versions,
        "machine": platform.machine(),
        "processor": _processor(),
        "threads": torch.get_num_threads(),
    }


def _commit() -> str:
    root = Path(__file__).resolve().parent.parent
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
        ).stdout.strip()
        changed = subprocess.run(
            ["git", "status", "--porcelain", "-uno"], cwd=root, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head} with changes" if changed else head


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


class Run:
    """One run directory, being written."""

    def __init__(self, path: Path, config: Mapping[str, Any], *, resume: bool) -> None:
        """Begin a run, or go on with it.

        Raises:
            FileExistsError: there is a run of that name and `resume` was not asked for.
            CheckpointError: the run that is there has another configuration.
        """
        self.path = path
        existing = path / "config.json"
        if existing.exists():
            if not resume:
                raise FileExistsError(
                    f"{path} holds a run already: go on with it by --resume, or choose another --name"
                )
            before = json.loads(existing.read_text(encoding="utf-8"))
            now = json.loads(json.dumps(config))
            changed = [
                f"{key} {before.get(key)!r} → {now.get(key)!r}"
                for key in sorted({*before, *now})
                if before.get(key) != now.get(key)
            ]
            if changed:
                raise CheckpointError(
                    f"{path} was begun with another configuration ({', '.join(changed)}); choose another --name"
                )
        path.mkdir(parents=True, exist_ok=True)
        for leftover in path.glob(".partial-*"):  # of a checkpoint that was being written when the run was killed
            shutil.rmtree(leftover)
        write_whole(existing, json.dumps(config, indent=2) + "\n")
        starts = (
            json.loads((path / "manifest.json").read_text(encoding="utf-8"))
            if (path / "manifest.json").exists()
            else []
        )
        write_whole(path / "manifest.json", json.dumps([*starts, manifest()], indent=2) + "\n")

    def save(
        self,
        iteration: int,
        network: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        about: Mapping[str, Any],
        *,
        learner: torch.nn.Module | None = None,
    ) -> Path:
        """Write a checkpoint, whole or not at all, and forget the oldest ones.

        Args:
            network: what plays.
            learner: what the optimizer trains, if that is more than what plays.
        """
        tensors = {"network": _tensors(network), "optimizer": _optimizer_tensors(optimizer)}
        if learner is not None:
            tensors["learner"] = _tensors(learner)
        final = self.path / f"checkpoint-{iteration:06d}"
        self._write(final, tensors, {**about, "iteration": iteration})
        for old in sorted(self.path.glob("checkpoint-*"))[:-KEPT_CHECKPOINTS]:
            shutil.rmtree(old)
        return final

    def restore(self, learner: torch.nn.Module, optimizer: torch.optim.Optimizer) -> int:
        """Load the newest checkpoint into optimizer and what it trains; return its iteration, 0 without one."""
        found = newest_checkpoint(self.path)
        if found is None:
            return 0
        whole = found / "learner.safetensors"
        learner.load_state_dict(load_file(whole if whole.exists() else found / "network.safetensors"))
        _restore_optimizer(optimizer, load_file(found / "optimizer.safetensors"))
        iteration: int = json.loads((found / "state.json").read_text(encoding="utf-8"))["iteration"]
        return iteration

    def snapshot(self, iteration: int) -> Path:
        """Return where the policy after an iteration is kept, if it was."""
        return self.path / "snapshots" / f"{iteration:06d}"

    def save_snapshot(self, iteration: int, network: torch.nn.Module, about: Mapping[str, Any]) -> None:
        """Keep what plays for good, to be loaded like a checkpoint; does nothing where it is there already."""
        if not self.snapshot(iteration).exists():
            self.snapshot(iteration).parent.mkdir(exist_ok=True)
            self._write(self.snapshot(iteration), {"network": _tensors(network)}, {**about, "iteration": iteration})

    def _write(self, final: Path, files: Mapping[str, Mapping[str, torch.Tensor]], about: Mapping[str, Any]) -> None:
        partial = self.path / f".partial-{final.name}"
        partial.mkdir()
        for name, tensors in files.items():
            save_file(dict(tensors), partial / f"{name}.safetensors")
        (partial / "state.json").write_text(json.dumps(dict(about), indent=2) + "\n", encoding="utf-8")
        for entry in (*partial.iterdir(), partial):
            _sync(entry)
        partial.rename(final)
        _sync(final.parent)

    def log(self, metrics: Mapping[str, Any]) -> None:
        """Append a line of metrics."""
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(metrics) + "\n")

    def cut_log(self, iteration: int) -> None:
        """Drop metrics of iterations after `iteration`: a run that was killed plays them again."""
        path = self.path / "metrics.jsonl"
        if path.exists():
            kept = [line for line in path.read_text(encoding="utf-8").splitlines() if _iteration_of(line) <= iteration]
            write_whole(path, "".join(line + "\n" for line in kept))

    def logged(self, iteration: int) -> dict[str, float]:
        """Return the metrics of that iteration; nothing where none were logged."""
        path = self.path / "metrics.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found: list[dict[str, float]] = [json.loads(line) for line in lines if _iteration_of(line) == iteration]
        return found[-1] if found else {}


def _iteration_of(line: str) -> float:
    try:
        return float(json.loads(line)["iteration"])
    except (ValueError, KeyError, TypeError):
        return float("inf")  # the line that was being written when the run was killed


def _tensors(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.contiguous() for name, tensor in network.state_dict().items()}


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    state = optimizer.state_dict()["state"]
    return {
        f"{index}.{name}": torch.as_tensor(value).contiguous()
        for index, values in state.items()
        for name, value in values.items()
    }


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]) -> None:
    whole = optimizer.state_dict()
    whole["state"] = {}
    for key, tensor in tensors.items():
        index, _, name = key.partition(".")
        whole["state"].setdefault(int(index), {})[name] = tensor
    optimizer.load_state_dict(whole)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
