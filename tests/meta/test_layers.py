"""Imports point one way, `poison_env` needs little, and generic code knows no game.

core <- games <- play, registry, record, draw, scripted, testing
     <- adapters, <game>_v0 <- agents <- experiments <- notebooks
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("poison_env", "agents", "experiments")

LAYERS = (  # earliest first; a module may import its own layer and earlier ones
    r"poison_env\.core",
    r"poison_env\.games",
    r"poison_env\.(play|registry|record|draw|scripted|testing)",
    r"poison_env\.(adapters|\w+_v\d+)",
    r"poison_env",  # the package itself, which shows what the modules above hold
    r"agents",
    r"experiments",
    r"notebooks|tests",
)
GENERIC = r"poison_env\.(core|play|record|testing|adapters)"  # these ask for abilities, not for a game

BASE = {"numpy", "gymnasium", "pettingzoo"}
EXTRAS = {  # modules that stand for an extra: they may load it, and nobody may load them at import time
    "poison_env.adapters.sb3": {"stable_baselines3", "sb3_contrib"},
    "poison_env.adapters.openspiel": {"pyspiel", "open_spiel"},
    "poison_env.adapters.rllib": {"ray"},
    "poison_env.testing.plugin": {"pytest"},
}
NEVER = {"torch", "agents", "experiments", "notebooks", "tests"}  # in poison_env, not even inside a function


def inside(module: str, pattern: str) -> bool:
    """Tell whether a module is one that the pattern names, or lies in it."""
    return re.fullmatch(rf"({pattern})(\..*)?", module) is not None


def layer(module: str) -> int | None:
    """Return the place of a module in `LAYERS`; None for one that has none yet."""
    if inside(module, "poison_env") and module != "poison_env":
        return next((place for place, pattern in enumerate(LAYERS[:4]) if inside(module, pattern)), None)
    return next((place for place, pattern in enumerate(LAYERS) if inside(module, pattern)), None)


@dataclass(frozen=True)
class Import:
    """A module named in an import."""

    line: int
    target: str
    at_import_time: bool  # not in a function, nor under TYPE_CHECKING


@dataclass(frozen=True)
class Tree:
    """The modules below a folder, by dotted name."""

    root: Path

    @cached_property
    def modules(self) -> dict[str, Path]:
        files = (path for package in PACKAGES for path in sorted((self.root / package).rglob("*.py")))
        return {
            ".".join(path.relative_to(self.root).with_suffix("").parts).removesuffix(".__init__"): path
            for path in files
        }

    @cached_property
    def games(self) -> set[str]:
        names = {module.split(".")[2] for module in self.modules if module.startswith("poison_env.games.")}
        return {name for name in names if not name.startswith("_")}

    def parse(self, module: str) -> ast.Module:
        return ast.parse(self.modules[module].read_text(encoding="utf-8"))

    def imports(self, module: str) -> list[Import]:
        """Return what a module imports; `from package import submodule` counts as an import of the submodule."""
        package = module if self.modules[module].name == "__init__.py" else module.rpartition(".")[0]

        def resolve(node: ast.AST) -> Iterator[str]:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:
                    yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in self.modules else base
            elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = ast.unparse(node.func).rpartition(".")[2]
                if name in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                    yield node.args[0].value

        def walk(node: ast.AST, at_import_time: bool) -> Iterator[Import]:
            for target in resolve(node):
                yield Import(getattr(node, "lineno", 0), target, at_import_time)
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
                for child in node.body:
                    yield from walk(child, False)
                for child in node.orelse:
                    yield from walk(child, at_import_time)
                return
            later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from walk(child, at_import_time and not later)

        return list(walk(self.parse(module), True))


def violations(tree: Tree) -> list[str]:
    """Return every breach of the rules of this file as "module:line: what"."""
    return [f"{module}:{what}" for module in tree.modules for what in check_module(tree, module)]


def check_module(tree: Tree, module: str) -> Iterator[str]:
    place = layer(module)
    if place is None:
        yield "0: has no layer; give it one in tests/meta/test_layers.py"
        return
    for item in tree.imports(module):
        yield from (f"{item.line}: {what}" for what in check_import(tree, module, place, item))
    if inside(module, GENERIC):
        yield from (f"{line}: compares with the name of a game" for line in lines_that_name_a_game(tree, module))


def check_import(tree: Tree, module: str, place: int, item: Import) -> Iterator[str]:
    target, package = item.target, item.target.split(".")[0]
    target_place = layer(target)
    if target_place is not None and target_place > place:
        yield f"imports {target}, a later layer"
    if inside(target, r"poison_env\.games\.\w+"):
        game = target.split(".")[2]
        if inside(module, GENERIC):
            yield f"generic, imports the game {game}"
        if module == "poison_env.games" or (
            inside(module, r"poison_env\.games") and game in tree.games - {module.split(".")[2]}
        ):
            yield f"imports another game, {game}"
    if not inside(module, "poison_env"):
        return
    if package in NEVER:
        yield f"imports {package}"
    if item.at_import_time:
        allowed = {"poison_env", *BASE, *sys.stdlib_module_names, *EXTRAS.get(module, ())}
        if package not in allowed | NEVER:
            yield f"imports {package} at import time"
        if target in EXTRAS and target != module:
            yield f"imports {target} at import time, and with it an extra"


def lines_that_name_a_game(tree: Tree, module: str) -> Iterator[int]:
    """Return the lines where a decision hangs on the name of a game: comparison, `case`, startswith or endswith."""
    name = re.compile(rf"(poison_env/)?({'|'.join(sorted(tree.games))})([-_]?v\d+|-)?", re.IGNORECASE)
    for node in ast.walk(tree.parse(module)):
        asks = isinstance(node, ast.Compare | ast.MatchValue) or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("startswith", "endswith")
        )
        strings = (
            part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )
        if asks and any(name.fullmatch(string) for string in strings):
            yield node.lineno


def test_every_module_keeps_to_its_layer() -> None:
    assert violations(Tree(ROOT)) == []


def test_the_rules_look_at_the_real_modules() -> None:
    tree = Tree(ROOT)
    assert {"poison_env", "poison_env.core.chance", "poison_env.registry", "experiments.run_notebooks"} <= set(
        tree.modules
    )
    assert "poison" in tree.games


SOUND = {  # nothing in this tree breaks a rule
    "poison_env/__init__.py": "from poison_env.registry import make",
    "poison_env/core/__init__.py": "",
    "poison_env/core/errors.py": "import numpy",
    "poison_env/games/__init__.py": "",
    "poison_env/games/poison/__init__.py": "from poison_env.games.poison.game import Poison",
    "poison_env/games/poison/game.py": "from poison_env.core import errors\nfrom . import deck",
    "poison_env/games/poison/deck.py": "from ...core.errors import X",
    "poison_env/games/potio.py": "",
    "poison_env/registry.py": "from poison_env.games.poison import Poison",
    "poison_env/play.py": "from poison_env.core import errors\nif kind == 'poisonous': pass",
    "poison_env/adapters/__init__.py": "",
    "poison_env/adapters/sb3.py": "import stable_baselines3",
    "poison_env/adapters/fast.py": "def f():\n    import numba",
    "poison_env/poison_v0.py": "from poison_env.registry import make\nimport pettingzoo.utils",
    "agents/__init__.py": "import torch, poison_env\nfrom poison_env.games.poison import Poison",
    "experiments/__init__.py": "import agents",
}

PLANTED = [  # file, its text, what must be said about it
    (
        "poison_env/core/errors.py",
        "import poison_env.games.potio",
        "core.errors:1: imports poison_env.games.potio, a later layer",
    ),
    ("poison_env/core/errors.py", "from poison_env import registry", "imports poison_env.registry, a later layer"),
    ("poison_env/core/errors.py", "from poison_env import make", "imports poison_env, a later layer"),
    ("poison_env/core/errors.py", "from .. import play", "imports poison_env.play, a later layer"),
    (
        "poison_env/play.py",
        "def f():\n    from poison_env.adapters import fast",
        "play:2: imports poison_env.adapters.fast, a later layer",
    ),
    ("agents/__init__.py", "import experiments", "agents:1: imports experiments, a later layer"),
    ("experiments/__init__.py", "from tests.x import y", "imports tests.x, a later layer"),
    ("poison_env/registry.py", "def f():\n    import torch.nn", "registry:2: imports torch"),
    ("poison_env/registry.py", "import importlib\nimportlib.import_module('torch')", "registry:2: imports torch"),
    (
        "poison_env/registry.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import agents",
        "registry:3: imports agents",
    ),
    ("poison_env/registry.py", "import experiments.x", "registry:1: imports experiments"),
    (
        "poison_env/registry.py",
        "try:\n    import numba\nexcept ImportError:\n    pass",
        "registry:2: imports numba at import time",
    ),
    ("poison_env/registry.py", "class A:\n    import scipy", "registry:2: imports scipy at import time"),
    (
        "poison_env/poison_v0.py",
        "from poison_env.adapters import sb3",
        "imports poison_env.adapters.sb3 at import time",
    ),
    (
        "poison_env/games/potio.py",
        "from poison_env.games.poison.deck import X",
        "games.potio:1: imports another game, poison",
    ),
    ("poison_env/games/poison/deck.py", "from .. import potio", "games.poison.deck:1: imports another game, potio"),
    ("poison_env/games/__init__.py", "from poison_env.games import potio", "games:1: imports another game, potio"),
    ("poison_env/play.py", "from poison_env.games.poison import Poison", "play:1: generic, imports the game poison"),
    ("poison_env/play.py", "def f():\n    import poison_env.games.potio", "play:2: generic, imports the game potio"),
    ("poison_env/play.py", "if game.id == 'poison-v0':\n    pass", "play:1: compares with the name of a game"),
    (
        "poison_env/play.py",
        "x = 1 if type(game).__name__ != 'Potio' else 2",
        "play:1: compares with the name of a game",
    ),
    ("poison_env/play.py", "while name in ('potio', 'x'):\n    pass", "play:1: compares with the name of a game"),
    (
        "poison_env/play.py",
        "match game.id:\n    case 'poison-v0':\n        pass",
        "play:2: compares with the name of a game",
    ),
    ("poison_env/play.py", "if game.id.startswith('poison-'):\n    pass", "play:1: compares with the name of a game"),
    ("poison_env/brews.py", "", "poison_env.brews:0: has no layer"),
]


def plant(root: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return Tree(root)


def test_a_sound_tree_has_no_violations(tmp_path: Path) -> None:
    assert violations(plant(tmp_path, SOUND)) == []


@pytest.mark.parametrize(("file", "text", "complaint"), PLANTED)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, text: str, complaint: str) -> None:
    found = violations(plant(tmp_path, {**SOUND, file: text}))
    assert any(complaint in violation for violation in found), found
