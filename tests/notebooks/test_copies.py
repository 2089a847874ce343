"""Working copies of the notebooks: with what they show, and never over what a reader changed."""

import json
import platform
from pathlib import Path

import pytest

from ipclab.errors import UsageError
from ipclab.paths import Paths
from ipclab.report.copies import NOTED, refresh
from tests.report.conftest import write_notebook


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))  # where trust is kept
    (tmp_path / "notebooks").mkdir()
    write_notebook(tmp_path / "notebooks" / "demo.ipynb", "1 + 1")
    return Paths(tmp_path)


def executed(paths: Paths) -> Path:
    """Write the notebook as papermill leaves it: with a cell of its own, and an output."""
    notebook = json.loads((paths.notebooks / "demo.ipynb").read_text())
    injected = {**notebook["cells"][0], "id": "more", "metadata": {"tags": ["injected-parameters"]}}
    notebook["cells"].insert(1, injected)
    notebook["cells"][-1]["outputs"] = [
        {"output_type": "display_data", "data": {"text/markdown": "two"}, "metadata": {}}
    ]
    file = paths.root / "executed.ipynb"
    file.write_text(json.dumps(notebook))
    return file


def test_a_copy_shows_what_the_executed_notebook_shows(paths: Paths) -> None:
    assert refresh(paths, {"demo": executed(paths)}) == []
    copy = json.loads((paths.notebooks / "work" / "demo.ipynb").read_text())
    source = json.loads((paths.notebooks / "demo.ipynb").read_text())
    assert copy["cells"][-1]["outputs"][0]["data"] == {"text/markdown": ["two"]}
    assert [cell["source"] for cell in copy["cells"]] == [
        cell["source"] for cell in source["cells"]
    ]


def saved_by_jupyterlab(copy: Path) -> None:
    """Save a copy as JupyterLab does when it was opened: other metadata, blanks and outputs."""
    notebook = json.loads(copy.read_text())
    notebook["metadata"]["language_info"]["version"] = "3.99"
    notebook["cells"][-1] |= {"execution_count": 1, "outputs": []}
    copy.write_text(json.dumps(notebook, indent=2))


def test_a_copy_that_was_only_opened_and_run_follows_its_source(paths: Paths) -> None:
    refresh(paths, {})
    copy = paths.notebooks / "work" / "demo.ipynb"
    saved_by_jupyterlab(copy)
    write_notebook(paths.notebooks / "demo.ipynb", "1 + 3")
    assert refresh(paths, {}, "ko") == []
    assert "1 + 3" in copy.read_text() and 'lang: str = \\"ko\\"' in copy.read_text()
    # whoever made it: what a reader did not change is no reader's own
    saved_by_jupyterlab(copy)
    (copy.parent / NOTED).unlink()
    assert refresh(paths, {"demo": executed(paths)}, "ko") == []
    assert "two" in copy.read_text()


def test_a_copy_holds_what_jupyterlab_writes_when_it_opens_it(paths: Paths) -> None:
    refresh(paths, {})
    about = json.loads((paths.notebooks / "work" / "demo.ipynb").read_text())["metadata"]
    assert about["kernelspec"] == {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    }
    assert about["language_info"]["version"] == platform.python_version()


def test_a_changed_copy_stays_and_is_named(paths: Paths) -> None:
    refresh(paths, {})
    copy = paths.notebooks / "work" / "demo.ipynb"
    copy.write_text(copy.read_text().replace("1 + 1", "1 + 2"))
    assert refresh(paths, {"demo": executed(paths)}) == ["demo.ipynb"]
    write_notebook(paths.notebooks / "demo.ipynb", "3")
    assert refresh(paths, {}) == ["demo.ipynb"]
    assert "1 + 2" in copy.read_text()


def test_a_copy_is_in_the_language_of_its_reader(paths: Paths) -> None:
    notebook = json.loads((paths.notebooks / "demo.ipynb").read_text())
    told = {"cell_type": "markdown", "id": "told", "metadata": {}}
    notebook["cells"].append({**told, "source": "## The claims of the text"})
    (paths.notebooks / "demo.ipynb").write_text(json.dumps(notebook))
    refresh(paths, {}, "ko")
    copy = json.loads((paths.notebooks / "work" / "demo.ipynb").read_text())
    assert "".join(copy["cells"][-1]["source"]) == "## 원문의 주장"
    assert 'lang: str = "ko"' in "".join(copy["cells"][0]["source"])
    with pytest.raises(UsageError, match="'kr'"):
        refresh(paths, {}, "kr")
