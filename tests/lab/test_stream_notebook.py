"""The notebook of streams, executed on a run that holds no stream; frames/test_recomputed.py has
one that does.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from ipclab.paths import checkout
from ipclab.report.notebooks.execute import Kernel, execute
from tests.support.commands import ROOT

NOTEBOOK = ROOT / "notebooks" / "06_stream.ipynb"


@pytest.mark.slow
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


def test_the_table_that_is_cited_for_many_messages_in_a_call_holds_them() -> None:
    sources = ["".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"]]
    (finding,) = (text for text in sources if "? gain_batch" in text and "among many" in text)
    assert "among many and {one} alone. [](#stream-batch)" in finding
    (table,) = (text for text in sources if 'name="stream-batch"' in text)
    columns = ["arm", "backend", "batch", "cell"]
    rows = [
        ("main", "ring", 1, 170),
        ("batch", "ring", 256, 11.8),
        ("main", "unix", 1, 9),
        ("window", "ring", 1, 5),
    ]
    shown = []
    names = {
        "here": pd.DataFrame(rows, columns=columns),
        "many_at_once": pd.DataFrame(rows[1:2], columns=columns),
        "lab": SimpleNamespace(table=lambda wide, *_, **__: shown.append(wide)),
    }
    exec(table, names)
    assert shown[0].to_dict("index") == {"ring": {1: 170, 256: 11.8}}
