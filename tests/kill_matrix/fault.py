"""What a fault is: a text that stands once in a file, and what is put in its place."""

from typing import NamedTuple

FOREIGN, AEC, V0 = "tests/kill_matrix/foreign.py", "poison_env/adapters/aec.py", "poison_env/poison_v0.py"
SOLO, TABLE, VECTOR = (f"poison_env/adapters/{name}.py" for name in ("solo", "table", "vector"))
GAME, SINGLE, DEALING, TABLES, LAYOUTS, OPTIONS = (
    f"poison_env/games/poison/{name}.py" for name in ("game", "single", "dealing", "tables", "layouts", "options")
)
PROTOCOL = "poison_env/core/protocol.py"


class Fault(NamedTuple):
    """One fault in one place; the same words for the same fault in several places."""

    kind: str  # "seeding", "masks", ...
    what: str
    file: str
    old: str
    new: str

    @property
    def name(self) -> str:
        """Where and what, "aec: the seed is ignored"."""
        return f"{self.file.rpartition('/')[2].removesuffix('.py')}: {self.what}"


def before(text: str, *lines: str) -> tuple[str, str]:
    """Put lines before a text, with its indentation."""
    return text, "".join(f"{_indent(text)}{line}\n" for line in lines) + text


def after(text: str, *lines: str) -> tuple[str, str]:
    """Put lines after a text, with its indentation."""
    return text, text + "".join(f"\n{_indent(text)}{line}" for line in lines)


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]
