"""The notebook of streams, executed on a run that holds no stream; frames/test_recomputed.py has
one that does.
"""

import json
from pathlib import Path

import pytest

from ipclab.paths import checkout
from ipclab_report.notebooks.execute import Kernel, execute
from tests.support.commands import ROOT

pytestmark = pytest.mark.slow
NOTEBOOK = ROOT / "notebooks" / "06_stream.ipynb"


def test_a_run_without_streams_is_shown_as_such(tmp_path: Path) -> None:
    file, values = (
        tmp_path / "out.ipynb",
        {"run": str(checkout().root / "data/compared.ipclab"), "lang": "en"},
    )
    with Kernel() as kernel:
        execute(NOTEBOOK, values, file, timeout_s=200, metadata={"lang": "en"}, kernel=kernel)
    made = [
        each for cell in json.loads(file.read_text())["cells"] for each in cell.get("outputs", [])
    ]
    assert not [each for each in made if each.get("output_type") == "error"]
    assert "No message was lost" not in json.dumps(made)
