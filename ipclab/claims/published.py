"""The texts' own tables as facts, under the names that the run's facts have."""

import csv
from pathlib import Path

from ipclab.facts.fact import Fact
from ipclab.facts.named import published
from ipclab.facts.payload import SIZE_NAMES
from ipclab.facts.round_trip import SIZE_NAMES as ROUND_TRIP_SIZES
from ipclab.paths import Paths
from ipclab.studies.payload import FLOAT

TCP = ("tcp_bandwidth_low", "tcp_bandwidth_high")


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a transcribed table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def texts(paths: Paths) -> dict[str, Fact]:
    """Return the facts of every transcribed text."""
    payload, round_trip = (read_table(paths.published / name) for name in ("000_payload.csv", "003_round_trip.csv"))
    return payload_facts(payload) | round_trip_facts(round_trip)


def round_trip_facts(rows: list[dict[str, str]]) -> dict[str, Fact]:
    """Return the round-trip text's facts; it does not say where its processes ran, so both placements carry them."""
    found: dict[str, Fact] = {}
    for row in rows:
        stem = f"round_trip.published.{row['backend']}"
        size, source = ROUND_TRIP_SIZES[int(row["size_bytes"])], f"seed 003, {row['section']}"
        tail = "" if row["quantity"] == "mean" else f".{row['quantity']}"
        for name in (f"{stem}.{size}", f"{stem}.same.{size}", f"{stem}.cross.{size}"):
            found[f"{name}{tail}"] = published(f"{name}{tail}", float(row["value_si"]), row["unit_si"], source)
    return found


def payload_facts(rows: list[dict[str, str]]) -> dict[str, Fact]:
    """Return the payload text's facts; the bytes moved follow from its count of floats."""
    found: dict[str, Fact] = {}

    def add(name: str, value: float, unit: str, section: str) -> None:
        found[name] = published(name, value, unit, f"seed 000, {section}")

    for row in rows:
        value, size, section = float(row["value_si"]), SIZE_NAMES[int(row["size_bytes"])], row["section"]
        if row["quantity"] == "floats":
            add(f"payload.moved.{size}", value * FLOAT, "B", section)
        elif row["op"] in ("write", "read"):
            add(f"payload.published.{row['op']}.{size}.{row['quantity']}", value, row["unit_si"], section)
        else:
            add(f"payload.{row['quantity']}", value, row["unit_si"], section)
    moved = found["payload.moved.large"].value
    speeds = [found[f"payload.{name}"].value for name in TCP]
    slow, fast = sorted(float(moved) / float(speed) * 1e9 for speed in speeds if moved and speed)[::-1]
    middle = (slow + fast) / 2
    for name in ("payload.tcp.v09.off.cross.large", "payload.tcp_time"):
        found[name] = Fact(name, middle, "ns", low=fast, high=slow, kind="estimate", source="seed 000, 4.2")
    return found
