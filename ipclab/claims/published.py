"""The texts' own tables: as they were printed, and as facts under the names that the run's facts have."""

import csv
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from ipclab.claims.claim import Quantity
from ipclab.claims.file_io_text import file_io_facts
from ipclab.claims.multiplexer import multiplexer_facts
from ipclab.claims.shared_dict import shared_dict_facts
from ipclab.facts.fact import Fact
from ipclab.facts.named import published
from ipclab.facts.payload import OPS, SIZE_NAMES
from ipclab.facts.round_trip import SIZE_NAMES as ROUND_TRIP_SIZES
from ipclab.paths import Paths
from ipclab.studies.payload import FLOAT

Row = dict[str, str]
TCP = ("tcp_bandwidth_low", "tcp_bandwidth_high")
CELLS = ("mean", "sd", "min", "max", "bandwidth")
EXACT_UNITS = ("count", "B")  # whole things and bytes are not rounded
PERCENT = 0.01


def read_table(path: Path) -> list[Row]:
    """Return the rows of a transcribed table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def books(paths: Paths) -> dict[str, "Book"]:
    """Return every transcribed text by its seed."""
    return {file.name[:3]: Book(read_table(file)) for file in sorted(paths.published.glob("*.csv"))}


def texts(paths: Paths) -> dict[str, Fact]:
    """Return the facts of every transcribed text."""
    found: dict[str, Fact] = {}
    for seed, book in books(paths).items():
        if seed in FACTS:
            found |= FACTS[seed](book.rows)
    return found


class Book:
    """One text's printed numbers, asked for by their columns."""

    def __init__(self, rows: list[Row]) -> None:
        """Hold the rows of a transcribed table."""
        self.rows = rows

    def row(self, quantity: str, **columns: str | int) -> Row:
        """Return the row of `quantity` with these columns; where it is printed several times alike, the first.

        Raises `LookupError` when there is none, or when it is printed with different values.
        """
        wanted = {name: str(value) for name, value in columns.items()}
        found = [r for r in self.rows if r["quantity"] == quantity and wanted.items() <= r.items()]
        if len({each["value_si"] for each in found}) != 1:
            raise LookupError(f"{len(found)} rows have {quantity} {wanted}")
        return found[0]

    def printed(self, quantity: str, **columns: str | int) -> Quantity:
        """Return the number in SI units with the interval of its rounding; see `rounding`."""
        return rounding(self.row(quantity, **columns))

    def __call__(self, quantity: str, **columns: str | int) -> Quantity:
        """Return `printed`."""
        return self.printed(quantity, **columns)


def rounding(row: Row) -> Quantity:
    """Return a printed number in SI units with the interval that rounds to it: half a unit of its last digit."""
    value, text = float(row["value_si"]), Decimal(row["value"])
    if row["unit"] in EXACT_UNITS:
        return Quantity(value, value, value)
    step = abs(value / float(text)) if text else PERCENT if row["unit"] == "%" else 1.0
    half = step * 10.0 ** int(text.as_tuple().exponent) / 2
    return Quantity(value, value - half, value + half)


def round_trip_facts(rows: list[Row]) -> dict[str, Fact]:
    """Return the round-trip text's facts; it does not say where its processes ran, so both placements carry them."""
    found: dict[str, Fact] = {}
    for row in rows:
        if row["section"] != "Results":
            continue
        stem = f"round_trip.published.{row['backend']}"
        size, source = ROUND_TRIP_SIZES[int(row["size_bytes"])], f"seed 003, {row['section']}"
        tail = "" if row["quantity"] == "mean" else f".{row['quantity']}"
        for name in (f"{stem}.{size}", f"{stem}.same.{size}", f"{stem}.cross.{size}"):
            found[f"{name}{tail}"] = published(f"{name}{tail}", float(row["value_si"]), row["unit_si"], source)
    return found


def payload_facts(rows: list[Row]) -> dict[str, Fact]:
    """Return the payload text's facts; the bytes moved follow from its count of floats."""
    found: dict[str, Fact] = {}

    def add(name: str, value: float, row: Row) -> None:
        found[name] = published(name, value, row["unit_si"], f"seed 000, {row['section']}")

    for row in rows:
        value, quantity, op = float(row["value_si"]), row["quantity"], row["op"]
        size = SIZE_NAMES[int(row["size_bytes"])] if row["size_bytes"] else ""
        if quantity == "floats":
            add(f"payload.moved.{size}", value * FLOAT, {**row, "unit_si": "B"})
        elif row["section"] == "3.1" and op in OPS and quantity in CELLS:
            add(f"payload.published.{op}.{size}.{quantity}", value, row)
        elif op == "transfer" and f"payload.{quantity}" not in found:
            add(f"payload.{quantity}", value, row)
    moved = found["payload.moved.large"].value
    speeds = [found[f"payload.{name}"].value for name in TCP]
    slow, fast = sorted(float(moved) / float(speed) * 1e9 for speed in speeds if moved and speed)[::-1]
    middle = (slow + fast) / 2
    for name in ("payload.tcp.v09.off.cross.large", "payload.tcp_time"):
        found[name] = Fact(name, middle, "ns", low=fast, high=slow, kind="estimate", source="seed 000, 4.2")
    return found


FACTS: dict[str, Callable[[list[Row]], dict[str, Fact]]] = {
    "000": payload_facts,
    "001": shared_dict_facts,
    "002": multiplexer_facts,
    "003": round_trip_facts,
    "004": file_io_facts,
}
