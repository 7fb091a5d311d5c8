"""A plug-in for pytest: each check of an environment as a test of its own.

`pytest -p poison_env.testing.plugin --conformance package.module:env`, with `--conformance-kind`, `--conformance-hooks`
and `--conformance-seats` as the command line of `python -m poison_env.testing` has them. Or the fixture `conformance`:
in a test, `conformance(check_aec(make_env, referee=referee))` fails with all findings. The plug-in is loaded where it
is asked for (`-p`, or `pytest_plugins` in a conftest.py), so that other test runs do not import the environments.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from poison_env.testing.command import Misuse, check, find
from poison_env.testing.report import Report


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this plug-in."""
    group = parser.getgroup("conformance", "conformance of environments")
    group.addoption("--conformance", metavar="MODULE:NAME", action="append", default=[], help="an environment to check")
    group.addoption("--conformance-kind", choices=("aec", "vector", "game"), help="what it is")
    group.addoption("--conformance-hooks", metavar="MODULE:NAME", help="a mapping of hooks by name")
    group.addoption("--conformance-seats", metavar="N,N", default="", help="seat counts, given as num_seats")


class Conformance(pytest.Collector):
    """The checks of one environment."""

    def collect(self) -> Iterator[pytest.Item]:
        """Run the checks, and return one test for each."""
        config = self.config
        hooks = config.getoption("--conformance-hooks")
        try:
            seats = [int(part) for part in str(config.getoption("--conformance-seats")).split(",") if part]
            report = check(
                self.name,
                kind=config.getoption("--conformance-kind"),
                seats=seats,
                hooks=find(str(hooks)) if hooks else None,
            )
        except (Misuse, ValueError) as error:
            raise pytest.UsageError(f"--conformance {self.name}: {error}") from error
        for name in (*report.checks, *report.skipped):
            yield Check.from_parent(self, name=name, report=report)


class Check(pytest.Item):
    """One check of one environment."""

    def __init__(self, *, report: Report, **rest: Any) -> None:
        super().__init__(**rest)
        self.report = report

    def runtest(self) -> None:
        """Fail with the findings of this check, if there are any."""
        if self.name in self.report.skipped:
            pytest.skip(self.report.skipped[self.name])
        found = [str(finding) for finding in self.report.findings if finding.check == self.name]
        if found:
            pytest.fail("\n\n".join(found), pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Say which check of which environment it is."""
        return self.path, None, f"{self.parent.name if self.parent else ''}: {self.name}"


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the checks of the environments named on the command line."""
    for target in session.config.getoption("--conformance"):
        collector = Conformance.from_parent(session, name=target, path=session.path, nodeid=f"conformance::{target}")
        items.extend(collector.collect())


@pytest.fixture(scope="session")
def conformance() -> Callable[[Report], Report]:
    """Return a function that fails the test with all findings of a report, and returns it otherwise."""

    def require(report: Report) -> Report:
        if not report.ok:
            pytest.fail(str(report), pytrace=False)
        return report

    return require
