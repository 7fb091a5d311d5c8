"""Notebooks are stored without results, and one that fails is seen."""

from pathlib import Path

import nbformat
import pytest

from experiments.run_notebooks import NotebookError, check_stored_clean, main, run_notebook

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def write_notebook(folder: Path, source: str, **fields: object) -> Path:
    folder.mkdir(exist_ok=True)
    cell = nbformat.v4.new_code_cell(source, **fields)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), folder / "it.ipynb")
    return folder / "it.ipynb"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_results(path: Path) -> None:
    check_stored_clean(path)


@pytest.mark.parametrize(
    "fields",
    [{"execution_count": 1}, {"outputs": [nbformat.v4.new_output("stream", text="1\n")]}],
    ids=["execution count", "outputs"],
)
def test_notebook_stored_with_results_is_refused(tmp_path: Path, fields: dict[str, object]) -> None:
    path = write_notebook(tmp_path, "print(1)", **fields)
    with pytest.raises(NotebookError, match=r"it\.ipynb: cell 1 is stored with its results"):
        check_stored_clean(path)
    assert main([str(path)]) == 1


def test_notebook_that_fails_is_named_with_its_error(tmp_path: Path) -> None:
    with pytest.raises(NotebookError, match=r"(?s)it\.ipynb: .*ZeroDivisionError"):
        run_notebook(write_notebook(tmp_path, "1 / 0"), timeout=60)


def test_notebook_runs_in_a_copy_of_its_folder(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "notebooks", "open('it.ipynb').close()\nopen('written', 'w').close()")
    run_notebook(path, timeout=60)
    assert [file.name for file in path.parent.iterdir()] == ["it.ipynb"]
