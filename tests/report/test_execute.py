import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ipclab.errors import LabError, UsageError
from ipclab.lab.execute import Job, execute, execute_all
from tests.report.conftest import write_notebook


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, so that what is left behind shows."""
    folder = tmp_path / "t"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_same_run_gives_the_same_bytes_and_leaves_nothing(tmp_path: Path, temp: Path) -> None:
    notebook = write_notebook(tmp_path / "n.ipynb", "import os, sys\nprint(id(sys))", "sizes, os.getcwd()")
    outputs = [tmp_path / "out" / f"{i}.ipynb" for i in range(2)]
    execute_all([Job(notebook, {"sizes": [1, 2]}, out, 60.0, {"lang": "en"}) for out in outputs], 2)
    first, second = (out.read_bytes() for out in outputs)
    assert first == second
    cells = json.loads(first)["cells"]
    assert cells[-1]["outputs"][0]["data"]["text/plain"] == [f"([1, 2], '{tmp_path}')"]
    assert cells[-2]["outputs"] == []
    assert json.loads(first)["metadata"]["ipclab"] == {"lang": "en"}
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["0.ipynb", "1.ipynb"]
    assert list(temp.iterdir()) == []


def test_wrong_parameters_are_refused_before_a_kernel_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("papermill.execute_notebook", lambda *_, **__: pytest.fail("a kernel started"))
    with pytest.raises(UsageError, match="did you mean 'sizes'"):
        execute(write_notebook(tmp_path / "n.ipynb"), {"size": 1}, tmp_path / "out.ipynb", timeout_s=60)


def test_failing_jobs_do_not_stop_the_others(tmp_path: Path, temp: Path) -> None:
    cells = {
        "fine": "1",
        "lab": "from ipclab.report import magic\nfrom ipclab.errors import LabError\n"
        "magic.register(get_ipython(), str, str)\nraise LabError('no room', 'it is full', 'make room')",
        "python": "x = 1\n1 / 0",
        "magic": "%%prose\n# Title",
        "endless": "while True: pass",
        "dead": "import os\nos._exit(3)",
    }
    jobs = [
        Job(write_notebook(tmp_path / f"{name}.ipynb", cell), {}, tmp_path / "out" / name, 4.0)
        for name, cell in cells.items()
    ]
    with pytest.raises(LabError) as caught:
        execute_all(jobs, 3)
    lines = str(caught.value).split(" | ")
    assert lines[0] == "5 of 6 notebooks failed: lab: no room: it is full; make room"
    assert lines[1].endswith("python.ipynb, cell 2, which begins 'x = 1': ZeroDivisionError: division by zero")
    assert lines[2].endswith("begins '%%prose': UsageError: Cell magic `%%prose` not found.")
    assert lines[3] == "endless: endless.ipynb did not end: 4 s are over; give it more time"
    assert lines[4].startswith("dead: the kernel of dead.ipynb died")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["fine"]
    assert list(temp.iterdir()) == []


def test_an_interrupt_ends_the_kernels(tmp_path: Path) -> None:
    started = tmp_path / "started"
    cell = f"import os, time\nopen({str(started)!r}, 'w').write(str(os.getpid()))\ntime.sleep(100)"
    notebook = write_notebook(tmp_path / "n.ipynb", cell)
    code = "import sys; from pathlib import Path; from ipclab.lab.execute import *; "
    code += "execute_all([Job(Path(sys.argv[1]), {}, Path(sys.argv[2]))], 1)"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(notebook), str(tmp_path / "out")],
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    deadline = time.monotonic() + 60
    while not (started.exists() and started.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(150) != 0
    assert not Path("/proc", started.read_text()).exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["n.ipynb", "started"]
