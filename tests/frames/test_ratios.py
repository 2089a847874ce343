"""Ratios of rows, rows as text, and levels in their usual order."""

from typing import Any

import pandas as pd
import pytest

from ipclab.errors import LabError
from ipclab.lab.lab import Lab
from ipclab.paths import Paths
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder
from ipclab.words import labels
from ipclab.words.words import Words
from tests.support.commands import ROOT

RUN = RunFolder(ROOT, {"questions": {}})
DATA = Lab(RUN, Words("en"), Paths(ROOT))


def points(rows: list[tuple[str, int, float]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["backend", "size_bytes", "value"])
    told: dict[str, Any] = {"study": "payload", "op": "write", "metric": "mean", "unit": "ns"}
    told |= {"launches": 5, "samples": 10}
    ends = {"low": frame.value * 0.9, "high": frame.value * 1.1}
    return frame.assign(**told, **ends, point=[f"{backend}-{size}" for backend, size, _ in rows])


def test_each_row_is_divided_by_the_one_with_the_same_levels() -> None:
    rows = points([("tcp", 84, 10.0), ("unix", 84, 5.0), ("unix", 100, 3.0)])
    found = (
        DATA.over(rows, rows[rows.backend == "tcp"], ["size_bytes"])
        .set_index(["backend", "size_bytes"])
        .cell
    )
    assert found["tcp", 84] == Quantity(1.0, n="5 x 10", kind="computed")
    half = found["unix", 84]
    assert (half.value, half.unit) == (0.5, "1")
    assert half.low is not None and half.high is not None and half.low < 0.45 and half.high > 0.55
    assert found["unix", 100].value is None


def test_a_ratio_needs_one_row_to_divide_by() -> None:
    rows = points([("tcp", 84, 10.0), ("unix", 84, 5.0)])
    with pytest.raises(LabError, match="several rows share size_bytes"):
        DATA.over(rows, rows, ["size_bytes"])


def test_sorted_rows_get_the_usual_order_and_others_keep_theirs() -> None:
    index = pd.MultiIndex.from_product(
        [[84, 100], ["cross", "free", "same"]], names=["size_bytes", "placement"]
    )
    frame = pd.DataFrame({"cell": range(6)}, index=index)
    assert list(labels.in_order(frame).index.get_level_values(1)) == ["same", "cross", "free"] * 2
    assert list(labels.in_order(frame).cell) == [2, 0, 1, 5, 3, 4]
    turned = frame.iloc[::-1]
    assert labels.in_order(turned).equals(turned)
    assert labels.in_order(frame.iloc[:0]).empty


@pytest.mark.parametrize(
    ("factor", "level", "spec"),
    [
        ("size_bytes", 84, ""),
        ("size_bytes", 1024, "KiB,int"),
        ("chunk", 1 << 20, "MiB,int"),
        ("streams", 1024, ""),
    ],
)
def test_powers_of_two_are_written_in_binary_units(factor: str, level: int, spec: str) -> None:
    assert labels.spec(factor, level) == spec
    assert labels.spec("size_bytes", 1_382_400) == ""
