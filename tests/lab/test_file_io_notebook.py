"""What the notebook of files says beside reads that go past the cache, as published."""

import json
from typing import Any

import pandas as pd

from ipclab.stats.quantity import Quantity, missing
from tests.support.commands import ROOT

CELLS = json.loads((ROOT / "notebooks" / "05_file_io.ipynb").read_text())["cells"]
SOURCES = ["".join(cell["source"]) for cell in CELLS]


class Files:
    def value(self, rows: pd.DataFrame, **levels: str) -> Quantity:
        held = rows[(rows[[*levels]] == pd.Series(levels)).all(axis="columns")]
        return Quantity(float(held.value.iloc[0]), "ns") if len(held) else missing("ns")


def test_the_best_read_through_the_cache_is_told_beside_a_map() -> None:
    rows = [
        ("small", 40.5, "yes"),
        ("small", 54.2, "no"),
        ("small", 37.1, "no"),
        ("large", 1.0, "yes"),
    ]
    elapsed = pd.DataFrame(rows, columns=["set", "value", "direct"])
    elapsed = elapsed.assign(cache="cold", backend="sync", advice="none")
    (cell,) = (text for text in SOURCES if "through_cache = " in text)
    names: dict[str, Any] = {"elapsed": elapsed, "lab": Files()}
    names["of_kind"] = {"small": "small", "large": "large"}
    exec(cell[cell.index("published = ") :], names)
    assert names["through_cache"]["small"].value == 37.1
    assert not names["through_cache"]["large"]
    (finding,) = (text for text in SOURCES if "mapping beats reading past the cache" in text)
    assert "Read through the cache they take {through_cache.small}." in finding
