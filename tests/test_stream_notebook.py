"""The notebook of streams, executed on a run of its own and on one that holds no stream."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ipclab.lab import canvas, table
from ipclab.lab.execute import Kernel, execute
from ipclab.measure.progress import Progress
from ipclab.measure.request import Request
from ipclab.measure.session import measure
from ipclab.paths import Paths, checkout
from ipclab.studies.interface import Sweep
from tests.commands import ROOT

pytestmark = pytest.mark.slow
NOTEBOOK = ROOT / "notebooks" / "06_stream.ipynb"
BACKENDS = ("posix-mq", "shm-ring", "unix", "zmq-ipc", "zmq-push")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPCLAB_DATA", str(tmp_path_factory.mktemp("data")))
        yield str(measure(Paths(ROOT), Request(("stream",), "smoke", sweep=Sweep(None, BACKENDS)), Progress()).path)


def outputs(run: str, lang: str, folder: Path) -> list[dict[str, Any]]:
    file = folder / "out.ipynb"
    with Kernel() as kernel:
        execute(NOTEBOOK, {"run": run, "lang": lang}, file, timeout_s=200, metadata={"lang": lang}, kernel=kernel)
    return [each for cell in json.loads(file.read_text())["cells"] for each in cell.get("outputs", [])]


@pytest.mark.parametrize("lang", ["en", "ko", "zh"])
def test_every_figure_and_table_is_filled(run: str, lang: str, tmp_path: Path) -> None:
    made = outputs(run, lang, tmp_path)
    figures = [each["metadata"][canvas.MIME] for each in made if canvas.MIME in each.get("data", {})]
    tables = [each["data"][table.MIME] for each in made if table.MIME in each.get("data", {})]
    assert len(figures) >= 4
    assert all(each["drawn"].get("stream", 0) > 0 for each in figures)
    named = {each["name"]: each["rows"] for each in tables}
    expected = ("main", "choice", "switches", "full", "window", "consumers", "open", "life")
    assert {f"stream-{name}" for name in expected} <= named.keys()
    assert all(named.values())
    if lang == "en":
        full = {row[0]: row[-1] for row in named["stream-full"]}
        assert full["posix-mq"] == full["shm-ring"] == "blocks"


def test_a_run_without_streams_is_shown_as_such(tmp_path: Path) -> None:
    made = outputs(str(checkout().root / "data/compared.ipclab"), "en", tmp_path)
    assert not [each for each in made if each.get("output_type") == "error"]
    assert "No message was lost" not in json.dumps(made)
