"""What the checks found: findings with their reproduction, as text, JSON and JUnit."""

import json
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar
from xml.etree import ElementTree

import numpy as np

IMPORTS = {  # what reproductions may need
    "np.": "import numpy as np",
    "copy.deepcopy(": "import copy",
    "pickle.loads(": "import pickle",
    "AutoresetMode.": "from gymnasium.vector import AutoresetMode",
}
NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MOST = 3  # findings kept of one check on one case: the first ones tell the story


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong."""

    check: str  # the check's short name, "seeding"
    what: str  # expected and got
    where: str  # which environment, agent, move
    reproduce: str  # Python lines that lead there

    def __str__(self) -> str:
        lines = "".join(f"\n    {line}" for line in self.reproduce.splitlines())
        return f"{self.check}: {self.what}\n  where: {self.where}\n  reproduce:{lines}"


@dataclass(frozen=True)
class Report:
    """The result of a conformance check; `ok` is true where there are no findings."""

    subject: str
    seconds: Mapping[str, float]  # of each check that ran
    skipped: Mapping[str, str]  # checks that did not run, and why
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of the checks that ran."""
        return tuple(self.seconds)

    def __str__(self) -> str:
        lines = [f"{self.subject}: {len(self.findings)} findings in {len(self.checks)} checks"]
        for check in self.checks:
            count = sum(finding.check == check for finding in self.findings)
            lines.append(f"  {check:<20} {'ok' if not count else f'{count} findings'}")
        lines += [f"  {check:<20} not run: {why}" for check, why in self.skipped.items()]
        return "\n".join([*lines, *(f"\n{finding}" for finding in self.findings)])

    def to_json(self) -> str:
        """Return the report as JSON text."""
        whole = {
            "subject": self.subject,
            "ok": self.ok,
            "checks": dict(self.seconds),
            "skipped": dict(self.skipped),
            "findings": [asdict(finding) for finding in self.findings],
        }
        return json.dumps(whole, indent=2) + "\n"

    def to_junit(self) -> str:
        """Return the report as JUnit XML text: one test case a check."""
        subject = _printable(self.subject)
        suite = ElementTree.Element(
            "testsuite",
            name=subject,
            tests=str(len(self.seconds) + len(self.skipped)),
            failures=str(len({finding.check for finding in self.findings})),
            errors="0",
            skipped=str(len(self.skipped)),
            time=f"{sum(self.seconds.values()):.3f}",
        )
        for check, seconds in self.seconds.items():
            case = ElementTree.SubElement(suite, "testcase", classname=subject, name=check, time=f"{seconds:.3f}")
            found = [finding for finding in self.findings if finding.check == check]
            if found:
                failure = ElementTree.SubElement(case, "failure", message=_printable(found[0].what))
                failure.text = _printable("\n\n".join(map(str, found)))
        for check, why in self.skipped.items():
            case = ElementTree.SubElement(suite, "testcase", classname=subject, name=check, time="0")
            ElementTree.SubElement(case, "skipped", message=why)
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    return NOT_XML.sub("?", text)  # XML has no way to write these


def literal(value: Any) -> str:
    """Return what one can paste into Python, with NumPy as np, to get a value of actions or options again."""
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r}, {value.dtype.str!r})"
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({value.item()!r})" if value.dtype.kind in "iuf" else repr(value.item())
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {literal(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        inner = ", ".join(map(literal, value))
        one = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{one})"
    return repr(value)


def check_numbers(seed: int, hooks: Mapping[str, Any], **counts: int) -> None:
    """Check the arguments that all checks have.

    Raises:
        ValueError: a seed below 0, a count below 1, or a hook that cannot be called.
    """
    if seed < 0:
        raise ValueError(f"seed: expected 0 or more, got {seed}")
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name}: expected 1 or more, got {count}")
    for name, hook in hooks.items():
        if hook is not None and not callable(hook):
            raise ValueError(f"{name}: expected a hook that can be called, got {hook!r}")


def with_arguments(call: str, arguments: str) -> str:
    """Return a call with more arguments: of `env` or, where it names a module, of `module:env(num_rounds=1)`."""
    target, bracket, given = call.partition("(")
    if ":" in target and bracket:
        return f"{target}({', '.join(part for part in (given[:-1], arguments) if part)})"
    return f"{call}({arguments})"


def construction(call: str, variable: str) -> str:
    """Return Python lines that put into a variable what a call such as `package.module:env(num_seats=3)` makes."""
    module, colon, _ = call.partition("(")[0].rpartition(":")
    if not colon:
        return f"{variable} = {call}"
    made = call[len(module) + 1 :]
    return f"from {module} import {made.partition('(')[0].partition('.')[0]}\n{variable} = {made}"


class Log:
    """What was done to the subject under check so far, as Python lines."""

    def __init__(self, call: str, variable: str = "env") -> None:
        self._lines = [construction(call, variable)]
        self._steps: list[Any] = []

    def add(self, line: str) -> None:
        """Remember a line."""
        self._flush()
        self._lines.append(line)

    def step(self, action: Any) -> None:
        """Remember a step of the environment."""
        self._steps.append(action)

    def _flush(self) -> None:
        if self._steps:
            self._lines.append(f"for action in {literal(self._steps)}:\n    env.step(action)")
            self._steps = []

    def __str__(self) -> str:
        self._flush()
        lines = "\n".join(self._lines)
        needed = [text for name, text in IMPORTS.items() if name in lines]
        return "\n".join([*needed, lines])


Case = TypeVar("Case", bound="HasWhere")


class HasWhere:
    """One environment under check: its name, and the log of what was done last."""

    def __init__(self, name: str, variable: str = "env") -> None:
        self.name = name
        self.log = Log(name, variable)

    def finding(self, check: str, what: str, where: str = "", log: Log | None = None) -> Finding:
        """Return a finding at this point of the log."""
        return Finding(check, what, f"{self.name}, {where}" if where else self.name, str(log or self.log))


def run_checks(
    subject: str,
    cases: Sequence[Case],
    checks: Mapping[str, Callable[[Case], Iterator[tuple[str, str]]]],
    skipped: Mapping[str, str],
) -> Report:
    """Run every check on every case; what a check raises is a finding of its own.

    Args:
        checks: generators of (what, where) by name; the case's log says how to get there.
        skipped: checks that cannot run, and why.
    """
    findings: list[Finding] = []
    seconds = dict.fromkeys((name for name in checks if name not in skipped), 0.0)
    for case in cases:
        for name in seconds:
            begun = time.perf_counter()
            findings += _run(case, name, checks[name])
            seconds[name] += time.perf_counter() - begun
    return Report(subject, seconds, dict(skipped), tuple(findings))


def _run(case: Case, name: str, check: Callable[[Case], Iterator[tuple[str, str]]]) -> list[Finding]:
    found: dict[str, Finding] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # illegal moves make environments warn, and many are tried
        try:
            for what, where in check(case):
                found.setdefault(what, case.finding(name, what, where))
                if len(found) == MOST:
                    break
        except Exception as error:
            what = f"raised {type(error).__name__}: {error}"
            found[what] = case.finding(name, what)
    return list(found.values())
