"""The command line: `python -m poison_env.testing package.module:env`."""

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gymnasium.vector import AutoresetMode, VectorEnv
from pettingzoo import AECEnv

from poison_env.core.files import write_whole
from poison_env.testing.aec import check_aec
from poison_env.testing.game import check_game
from poison_env.testing.report import Report, with_arguments
from poison_env.testing.vector import check_vector

KINDS = ("aec", "vector", "game")
FOUND, MISUSE = 1, 2  # exit codes


class Misuse(Exception):
    """The command line asks for something that is not there."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m poison_env.testing",
        description="Check an environment, any one: PettingZoo AEC, Gymnasium vector, or batched rules of poison_env.",
        epilog="Exit code: 0 nothing found, 1 findings, 2 the environment cannot be made or the options make no sense.",
    )
    made.add_argument("target", help="package.module:callable that returns the environment or the game")
    made.add_argument("--kind", choices=KINDS, help="what it is; seen from what it returns unless given")
    made.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="for the callable; JSON or text"
    )
    made.add_argument("--seats", nargs="+", type=int, default=[], help="seat counts, given to it as num_seats")
    made.add_argument(
        "--hooks",
        metavar="MODULE:NAME",
        help="hooks by name, a mapping: redeal, referee, conserved (aec); scalar, returns (vector); referee, conserved",
    )
    made.add_argument("--seed", type=int, default=0, help="of the first episode")
    made.add_argument("--episodes", type=int, help="seeds that most checks look at")
    made.add_argument("--skip", nargs="+", default=[], metavar="CHECK", help="checks to leave out")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON")
    made.add_argument("--junit", type=Path, metavar="FILE", help="write the report as JUnit XML")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what the command line names, print the report, write it where asked; return the exit code."""
    given = parser().parse_args(arguments)
    try:
        _check_files(given.json, given.junit)
        report = check(
            given.target,
            kind=given.kind,
            options=_options(given.option),
            seats=given.seats,
            hooks=find(given.hooks) if given.hooks else {},
            seed=given.seed,
            skip=given.skip,
            **({} if given.episodes is None else {"episodes": given.episodes}),
        )
    except Misuse as error:
        print(f"poison_env.testing: {error}", file=sys.stderr)
        return MISUSE
    print(report)
    try:
        if given.json:
            write_whole(given.json, report.to_json())
        if given.junit:
            write_whole(given.junit, report.to_junit())
    except OSError as error:
        print(f"poison_env.testing: the report cannot be written: {error}", file=sys.stderr)
        return MISUSE
    return 0 if report.ok else FOUND


def check(
    target: str,
    *,
    kind: str | None = None,
    options: dict[str, Any] | None = None,
    seats: Sequence[int] = (),
    hooks: Any = None,
    **rest: Any,
) -> Report:
    """Check what `package.module:callable` returns, by the check of its kind.

    Raises:
        Misuse: it cannot be imported or made, is of no kind, or the arguments do not fit the check.
    """
    make = partial(find(target), **(options or {}))
    if not isinstance(hooks or {}, Mapping):
        raise Misuse(f"hooks: expected a mapping of hooks by name, got {type(hooks).__name__}")
    given = ", ".join(f"{option}={value!r}" for option, value in (options or {}).items())
    name = f"{target}({given})" if given else target
    kind = kind or kind_of(make, seats)
    try:
        if kind == "aec":
            return check_aec(make, seats=seats, name=name, **(hooks or {}), **rest)
        if len(seats) > 1:
            raise Misuse(f"--seats: a {kind} is checked with one number of seats at a time")
        if seats:
            make, name = partial(make, num_seats=seats[0]), with_arguments(name, f"num_seats={seats[0]}")
        if kind == "vector":
            return check_vector(make, name=name, **(hooks or {}), **rest)
        return check_game(make(), name=name if name.endswith(")") else f"{name}()", **(hooks or {}), **rest)
    except Misuse:
        raise
    except Exception as error:  # what checks find does not raise: this cannot be made, or the arguments are wrong
        raise Misuse(f"{name}: {type(error).__name__}: {error}") from error


def _check_files(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise Misuse(f"{path}: expected the name of a file in a folder that exists")


def find(target: str) -> Any:
    """Return what `package.module:name` names.

    Raises:
        Misuse: there is no such thing; the message says which part is missing.
    """
    module, colon, attribute = target.partition(":")
    if not colon or not attribute:
        raise Misuse(f"expected package.module:name, got {target!r}")
    if "" not in sys.path:
        sys.path.insert(0, "")  # what stands in the present folder, as `python -c` finds it
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:  # a module may raise anything when it is imported
        raise Misuse(f"{target}: {type(error).__name__}: {error}") from error
    return found


def kind_of(make: Callable[..., Any], seats: Sequence[int] = ()) -> str:
    """Return which of `KINDS` a callable makes: it is called once.

    Raises:
        Misuse: none of them, or it cannot be called.
    """
    given = {"num_seats": seats[0]} if seats else {}
    wrong: Exception | None = None
    made: Any = None
    for more in ({}, {"num_envs": 1, "autoreset_mode": AutoresetMode.NEXT_STEP}):
        try:
            made = make(**given, **more)
        except Exception as error:
            wrong = wrong or error
            continue
        if isinstance(made, AECEnv):
            return "aec"
        if isinstance(made, VectorEnv):
            return "vector"
        if hasattr(made, "deal") and hasattr(made, "action_mask"):
            return "game"
    if made is None:
        raise Misuse(f"cannot be made: {wrong!r}") from wrong
    raise Misuse(f"expected an AECEnv, a VectorEnv or a game, got {type(made).__name__}; say --kind")


def _options(words: Sequence[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name or name in options:
            raise Misuse(f"--option: expected NAME=VALUE, each name once, got {word!r}")
        try:
            options[name] = json.loads(text)
        except ValueError:
            options[name] = text
    return options
