"""The documents are true: their programs run, their links lead somewhere, their tables are the code's own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from poison_env import make

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
PROGRAMS = [
    pytest.param(document, code, id=f"{document.name}-{number}")
    for document in DOCUMENTS
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL))
]


@pytest.mark.parametrize(("document", "code"), PROGRAMS)
def test_a_program_in_a_document_runs_as_it_stands(document, code, tmp_path):
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_learning_algorithm_of_thirty_lines_learns():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    assert code in (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for line in code.splitlines() if line.strip() and not line.startswith(("import", "from"))]
    assert len(lines) <= 30
    names: dict = {}
    exec(code, names)
    points = names["record"].points
    assert points[:, 0].mean() < points[:, 1:].mean() - 1.5


def test_documents_hold_programs():
    assert len(PROGRAMS) >= 4


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files_of_the_project(document):
    for target in re.findall(r"\]\(([^)#]+)", document.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_named_modules_and_make_targets_exist(document):
    text = document.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for module in re.findall(r"python -m ((?:experiments|poison_env|tests)[\w.]*)", text):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
    for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize(("game", "document"), [("poison-v0", "rules.md"), ("arsenic-v0", "arsenic.md")])
def test_the_observation_table_is_the_layouts_own(game, document):
    assert make(game).layout.table() in (ROOT / "docs" / document).read_text(encoding="utf-8")
