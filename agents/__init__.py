"""Policies: the scripted reference opponents by name, trained networks by run directory, and wrappers for one's own."""

from pathlib import Path

from agents.wrapped import FunctionAgent, SB3Agent
from poison_env import scripted
from poison_env.core.errors import UnknownNameError
from poison_env.core.protocol import Agent

__all__ = ["FunctionAgent", "SB3Agent", "load"]


def load(spec: str | Path) -> Agent:
    """Return a scripted agent by name ("random", "cautious", "greedy"), or the trained one of a run directory.

    A checkpoint directory inside a run will do as well.

    Raises:
        UnknownNameError: neither a name nor a directory.
        CheckpointError: the directory holds no checkpoint that can be read.
    """
    if str(spec) in scripted.POLICIES:
        return scripted.load(str(spec))
    if Path(spec).is_dir():
        from agents import neural  # torch is loaded when a network is

        return neural.load(spec)
    raise UnknownNameError(f"no agent {str(spec)!r}: neither a directory nor one of {', '.join(scripted.POLICIES)}")
