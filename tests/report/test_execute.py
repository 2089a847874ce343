import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from ipclab.errors import LabError, UsageError
from ipclab.lab.finding import Finding
from ipclab.report.notebooks.execute import Kernel, execute
from ipclab.report.pages.document import read_document
from ipclab.report.pages.localised import localised
from tests.report.conftest import write_notebook
from tests.support.commands import eventually


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, so that what is left behind shows."""
    folder = tmp_path / "t"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_kernel_gives_the_same_bytes_again_forgets_what_was_and_leaves_nothing(
    tmp_path: Path, temp: Path
) -> None:
    cells = "import os\nprint('same')", "sizes, os.getcwd()"
    notebook = write_notebook(tmp_path / "n.ipynb", *cells)
    asks = write_notebook(tmp_path / "asks.ipynb", "'os' in globals()")
    outputs = [tmp_path / "out" / f"{i}.ipynb" for i in range(2)]
    with Kernel() as kernel:
        for out in outputs:
            execute(notebook, {"sizes": [1, 2]}, out, timeout_s=60, kernel=kernel)
        execute(asks, {}, tmp_path / "asked.ipynb", timeout_s=60, kernel=kernel)
    first, second = (out.read_bytes() for out in outputs)
    assert first == second
    (known,) = json.loads((tmp_path / "asked.ipynb").read_text())["cells"][-1]["outputs"]
    assert known["data"]["text/plain"] == ["False"]
    cells = json.loads(first)["cells"]
    assert cells[-1]["outputs"][0]["data"]["text/plain"] == [f"([1, 2], '{tmp_path}')"]
    assert cells[-2]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["same\n"]}]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["0.ipynb", "1.ipynb"]
    assert list(temp.iterdir()) == []


def test_narrative_is_in_the_language_of_the_reader(tmp_path: Path) -> None:
    """Where a notebook is executed for it, and where an exporter finds it in English."""
    notebook = write_notebook(tmp_path / "n.ipynb", "lang")
    content = json.loads(notebook.read_text())
    told = {"cell_type": "markdown", "id": "told", "metadata": {}}
    content["cells"].append({**told, "source": "# Mine\n\n## The claims of the text"})
    verse = "One line  \nand one that is broken on purpose"
    content["cells"].append({**told, "id": "verse", "source": verse})
    notebook.write_text(json.dumps(content))
    told_again = localised(nbformat.read(notebook, as_version=4), "ko")
    assert told_again.cells[-1].source == verse
    assert told_again.cells[-2].source == "# Mine\n\n## 원문의 주장"
    assert told_again.cells[1].source == "How to use this"
    for english in (told_again, nbformat.read(notebook, as_version=4)):
        english.metadata["ipclab"] = {"lang": "ko"}
        assert read_document(english, tmp_path).headings == [(1, "s-원문의-주장", "원문의 주장")]


def test_a_finding_is_in_the_language_of_the_reader() -> None:
    found = Finding("value", "told", topic={"op": "round-trip"}, values={"value": [100.0, "ns"]})
    shown = v4.new_output("display_data", found._repr_mimebundle_())
    read = localised(v4.new_notebook(cells=[v4.new_code_cell(outputs=[shown])]), "ko")
    assert read.cells[0].outputs[0].data["text/markdown"] == "왕복은 100\u00a0ns 걸린다."
    assert shown.data["text/markdown"] == "A round trip takes 100\u00a0ns."


def test_wrong_parameters_are_refused_before_a_kernel_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "papermill.execute_notebook", lambda *_, **__: pytest.fail("a kernel started")
    )
    with pytest.raises(UsageError, match="did you mean 'sizes'"):
        execute(
            write_notebook(tmp_path / "n.ipynb"), {"size": 1}, tmp_path / "out.ipynb", timeout_s=60
        )


CELLS = {
    "lab": "from ipclab.errors import LabError\n"
    "raise LabError('no room', 'it is full', 'make room')",
    "python": "x = 1\n1 / 0",
    "endless": "while True: pass",
    "dead": "import os\nos._exit(3)",
}


@pytest.mark.slow
def test_a_failing_notebook_is_one_line_and_the_next_one_runs(tmp_path: Path, temp: Path) -> None:
    said = {}
    with Kernel() as kernel:
        for name, cell in CELLS.items():
            notebook = write_notebook(tmp_path / f"{name}.ipynb", cell)
            with pytest.raises(LabError) as caught:
                timeout_s = 2 if name == "endless" else 60
                execute(notebook, {}, tmp_path / "out" / name, timeout_s=timeout_s, kernel=kernel)
            said[name] = str(caught.value)
        with pytest.raises(LabError, match=r"^sized.ipynb, cell 3, which begins 'x = 2'"):
            sized = write_notebook(tmp_path / "sized.ipynb", "x = 2\n1 / 0")
            execute(sized, {"sizes": [1]}, tmp_path / "out" / "sized", timeout_s=60, kernel=kernel)
        fine = write_notebook(tmp_path / "fine.ipynb", "1")
        execute(fine, {}, tmp_path / "out" / "fine", timeout_s=60, kernel=kernel)
    assert said["lab"].startswith("lab.ipynb, cell 3, which begins ")
    assert said["lab"].endswith(": no room: it is full; make room")
    assert (
        said["python"]
        == "python.ipynb, cell 3, which begins 'x = 1': ZeroDivisionError: division by zero"
    )
    assert said["endless"] == "endless.ipynb did not end: 2 s are over; give it more time"
    assert said["dead"].startswith("the kernel of dead.ipynb died")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["fine"]
    assert list(temp.iterdir()) == []


@pytest.mark.slow
def test_an_interrupt_ends_the_kernel(tmp_path: Path) -> None:
    started = tmp_path / "started"
    cell = f"import os, time\nopen({str(started)!r}, 'w').write(str(os.getpid()))\ntime.sleep(100)"
    notebook = write_notebook(tmp_path / "n.ipynb", cell)
    code = "import sys; from pathlib import Path; from ipclab.report.notebooks.execute import execute; "
    code += "execute(Path(sys.argv[1]), {}, Path(sys.argv[2]), timeout_s=120)"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(notebook), str(tmp_path / "out")],
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert eventually(lambda: started.exists() and started.read_text())
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    assert not Path("/proc", started.read_text()).exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["n.ipynb", "started"]
