"""What users install: the wheel holds poison_env alone, and plays with its base dependencies only."""

import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

PLAY_A_MATCH = """
import sys
import poison_env

unwanted = {"torch", "pygame", "numba", "stable_baselines3", "pyspiel", "matplotlib"} & set(sys.modules)
assert not unwanted, f"import poison_env loads {unwanted}"

import numpy as np
from poison_env import scripted
from poison_env.play import play

game = poison_env.make("poison-v0", num_seats=4)
record = play(game, [scripted.load("random")] * 4, seeds=np.arange(3, dtype=np.uint64))
assert record.points.shape == (3, 4), record.points.shape

from importlib.metadata import version
from importlib.util import find_spec

assert poison_env.__version__ == version("poison_env")
assert find_spec("agents") is None and find_spec("experiments") is None
print("played with", poison_env.__file__)
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Return what a command printed; fail with all of it when the command fails."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    [wheel] = dist.glob("*.whl")
    return wheel


def lowest_versions() -> list[str]:
    """Return the base dependencies, each pinned to the lowest version that pyproject.toml allows."""
    pairs = [re.match(r"([\w-]+)>=([\w.]+)", dependency) for dependency in PROJECT["dependencies"]]
    assert all(pairs), PROJECT["dependencies"]
    return [f"{pair[1]}=={pair[2]}" for pair in pairs if pair]


def test_wheel_holds_poison_env_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"poison_env", f"poison_env-{PROJECT['version']}.dist-info"}


def test_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("poison_env/")}
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "poison_env").rglob("*") if path.is_file()}
    assert names == {file for file in files if "__pycache__" not in file}
    assert "poison_env/py.typed" in names


def test_sdist_holds_what_is_needed_to_check_it(dist: Path) -> None:
    [sdist] = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
        "LICENSE",
        "tests/meta/test_distribution.py",
        "experiments/__init__.py",
    }
    assert wanted <= names


@pytest.mark.parametrize("versions", ["locked", "lowest"])
def test_a_match_is_played_with_base_dependencies_only(wheel: Path, tmp_path: Path, versions: str) -> None:
    if versions == "lowest" and sys.version_info >= (3, 13):
        pytest.skip("numpy 2.0 has no wheel for Python 3.13")
    venv.create(tmp_path / "fresh")  # without pip: this environment's own pip installs into it
    python = tmp_path / "fresh" / "bin" / "python"
    pins = ["-c", ROOT / "constraints.txt"] if versions == "locked" else lowest_versions()
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", wheel, *pins, cwd=tmp_path)
    assert str(tmp_path) in run(python, "-I", "-c", PLAY_A_MATCH, cwd=tmp_path)
