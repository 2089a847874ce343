"""What the multiplexer's notebook compares when it says that longer chunks save memory."""

import json
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from ipclab.stats.quantity import Quantity, missing
from tests.support.commands import ROOT

CELLS = json.loads((ROOT / "notebooks" / "03_multiplexer.ipynb").read_text())["cells"]
BYTES = {1024: 16416, 4096: 4128, 16_384: 1056, 65_536: 288}


class Factorial:
    """A lab that holds the bytes allocated for each chunk size that was measured."""

    def value(self, frame: pd.DataFrame, *, chunk: int | None, pool: str, metric: str) -> Quantity:
        held = frame[(frame.chunk == chunk) & (frame.pool == pool) & (frame.metric == metric)]
        return Quantity(float(held.value.iloc[0]), "B") if len(held) else missing()

    def level(self, _: str, level: int | None) -> int | None:
        return level


def compared(*chunks: int) -> SimpleNamespace:
    """Execute the cell that compares chunk sizes with what was measured at `chunks`."""
    rows = [
        (chunk, pool, "bytes_allocated", BYTES[chunk]) for chunk in chunks for pool in ("no", "yes")
    ]
    writing = pd.DataFrame(rows, columns=["chunk", "pool", "metric", "value"])
    (cell,) = (cell for cell in CELLS if "chunks = sorted" in "".join(cell["source"]))
    _, begins, rest = "".join(cell["source"]).partition("chunks = sorted")
    names: dict[str, Any] = {"writing": writing, "lab": Factorial(), "both": "bytes_allocated"}
    exec(begins + rest, names)
    return SimpleNamespace(**names)


@pytest.mark.parametrize(
    ("chunks", "long"),
    [
        ((1024, 4096, 16_384, 65_536), 16_384),  # Hybrid's
        ((1024, 16_384), 16_384),
        ((1024, 65_536), 65_536),  # an older quick run
        ((4096, 65_536), 65_536),
    ],
)
def test_longer_chunks_are_longer_than_the_short_ones(chunks: tuple[int, ...], long: int) -> None:
    told = compared(*chunks)
    assert (told.short_chunk, told.long_chunk) == (min(chunks), long)
    assert told.over_chunk.value == pytest.approx(BYTES[long] / BYTES[min(chunks)])
    assert told.over_chunk.value < 1


@pytest.mark.parametrize("chunks", [(), (1024,), (16_384,)])
def test_one_chunk_size_is_compared_with_no_other(chunks: tuple[int, ...]) -> None:
    told = compared(*chunks)
    assert told.long_chunk is None
    assert not told.over_chunk
