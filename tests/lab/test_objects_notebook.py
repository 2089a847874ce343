"""What the notebook of objects calls the fastest, where launches were too few to tell."""

import json
from types import SimpleNamespace
from typing import Any

import pandas as pd

from ipclab.stats.quantity import Quantity, missing
from tests.support.commands import ROOT

CELLS = json.loads((ROOT / "notebooks" / "08_objects.ipynb").read_text())["cells"]


def chosen(*contests: tuple[int, list[str], Quantity]) -> SimpleNamespace:
    """Execute the lines that look up what was shown, of (size, tied, factor) of arrays."""
    rows = [
        ("arm=main object=array", size, tied[0], tied, within) for size, tied, within in contests
    ]
    columns = ["question", "size_bytes", "fastest", "tied", "within"]
    (cell,) = (cell for cell in CELLS if "choices = ipclab.alike" in "".join(cell["source"]))
    _, begins, rest = "".join(cell["source"]).partition("choices = choices.assign(object")
    names: dict[str, Any] = {"choices": pd.DataFrame(rows, columns=columns)}
    names |= {"small": Quantity(1000, "B"), "large": Quantity(10**7, "B")}
    exec(begins + rest, names)
    return SimpleNamespace(**names)


def test_of_too_few_launches_nothing_is_called_the_fastest() -> None:
    told = chosen((1000, ["a"], missing()), (10**7, ["a", "b"], missing()))
    assert list(told.at_small.fastest) == ["a"]  # alone: all others are slower
    assert told.at_large.empty
    assert len(told.choices) == 2  # the table has both


def test_what_is_alike_or_was_not_told_apart_is_told() -> None:
    told = chosen((1000, ["a", "b"], Quantity(1.04)), (10**7, ["b", "a"], Quantity(7.0)))
    assert [*told.at_small.others, *told.at_large.others] == [1, 1]
