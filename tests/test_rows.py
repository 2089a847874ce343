"""The tidy table and the facts of hand-made points, to the last byte."""

import csv
import datetime as dt
import io
import json
import math
from itertools import pairwise
from pathlib import Path

import pytest

from ipclab.facts import payload
from ipclab.facts.derive import points_csv, rows_of, write_derived
from ipclab.facts.rows import COLUMNS, Rows, read_row, tidy
from ipclab.paths import Paths
from ipclab.store.point import Point
from ipclab.store import run as folder
from ipclab.store.files import sha256
from ipclab.store.samples import Measured, encode
from tests.made import make_launch

HEADER = "study,point,backend,op,size_bytes,placement,levels,metric,unit,value,low,high,launches,samples,flags"
FLAGS = "budget;disturbed:1/2;steal;failed-launches:1"


def cells(rows: Rows, op: str, metric: str) -> dict[str, str | int | float]:
    found = [dict(zip(COLUMNS, row.cells(), strict=True)) for row in rows.all(op, metric)]
    assert len(found) == 1
    return found[0]


def test_one_row_for_each_op_and_metric(measured: Measured) -> None:
    rows = tidy([measured])
    times = ["p50", "p90", "p99", "p99.9", "min", "max", "mean", "sd"]
    ours = [(op, metric) for op in ("write", "read", "write.copy") for metric in times]
    ours += [("write", metric) for metric in ("bandwidth", "minor_faults", "cpu_ns")] + [("read", "bandwidth")]
    assert sorted((row.op, row.metric) for row in rows) == sorted(ours)


def test_values_are_exact(measured: Measured) -> None:
    rows = tidy([measured])
    values = {metric: cells(rows, "write", metric)["value"] for metric in ("p50", "p90", "p99.9", "min", "max", "mean")}
    assert values == {"p50": 25, "p90": 35, "p99.9": 35, "min": 10, "max": 40, "mean": 25}
    assert cells(rows, "write", "sd")["value"] == float(f"{math.sqrt(200 / 3):.9g}")
    assert cells(rows, "write", "bandwidth")["value"] == 88e9 / 25
    assert cells(rows, "write", "minor_faults")["value"] == 2
    assert cells(rows, "read", "p50")["value"] == 6  # the lower of two samples, then the median of 7 and 5
    assert cells(rows, "write.copy", "p50")["value"] == 5
    units = {
        metric: cells(rows, "write", metric)["unit"] for metric in ("p50", "sd", "bandwidth", "minor_faults", "cpu_ns")
    }
    assert units == {"p50": "ns", "sd": "ns", "bandwidth": "B/s", "minor_faults": "1/op", "cpu_ns": "ns"}
    counts = {op: (cells(rows, op, "p50")["launches"], cells(rows, op, "p50")["samples"]) for op in ("write", "read")}
    assert counts == {"write": (2, 6), "read": (2, 3)}
    for row in rows:
        assert row.estimate.low <= row.estimate.value <= row.estimate.high


def test_flags_say_what_was_not_as_it_should_be(measured: Measured, point: Point) -> None:
    rows = tidy([measured])
    assert cells(rows, "write", "p50")["flags"] == FLAGS
    assert cells(rows, "write", "p99")["flags"] == f"{FLAGS};few-samples"
    many = [make_launch(op=list(range(1, 2001))) for _ in range(5)]
    clean = tidy([Measured(point, many, "precise")])
    flags = {metric: cells(clean, "op", metric)["flags"] for metric in ("p50", "p90", "p99", "p99.9")}
    assert flags == {"p50": "precise", "p90": "precise", "p99": "precise", "p99.9": "precise"}
    fewer = tidy([Measured(point, many[:4], "precise")])
    assert cells(fewer, "op", "p99.9")["flags"] == "precise;few-samples"  # 8 samples above it


def test_the_table_is_tidy_csv_and_the_same_bytes_every_time(measured: Measured, point: Point) -> None:
    text = points_csv(tidy([measured])).decode()
    assert text == points_csv(tidy([measured])).decode()
    assert text.splitlines()[0] == HEADER == ",".join(COLUMNS)
    assert "\r" not in text
    table = list(csv.DictReader(io.StringIO(text)))
    assert len(table) == 28
    assert table[0] == {
        "study": "payload",
        "point": point.id,
        "backend": "shm-mmap",
        "op": "write",
        "size_bytes": "88",
        "placement": "free",
        "levels": '{"arm": "published"}',
        "metric": "p50",
        "unit": "ns",
        "value": "25",
        "low": table[0]["low"],
        "high": table[0]["high"],
        "launches": "2",
        "samples": "6",
        "flags": FLAGS,
    }
    for row in table:
        assert json.loads(row["levels"]) == point.levels
        assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
        assert len(row["value"].replace(".", "").lstrip("0")) <= 11
        assert read_row(row).cells() == tuple(
            type(cell)(row[name]) for name, cell in zip(COLUMNS, read_row(row).cells(), strict=True)
        )


def test_quantiles_are_in_order(point: Point) -> None:
    launches = [make_launch(op=[(7919 * i) % 1009 + 1 for i in range(1, 900 + n)]) for n in range(3)]
    rows = tidy([Measured(point, launches, "precise")])
    values = [
        row.estimate.value for metric in ("min", "p50", "p90", "p99", "p99.9", "max") for row in rows.all("op", metric)
    ]
    assert len(values) == 6
    assert all(low <= high for low, high in pairwise(values))


def test_intervals_do_not_depend_on_what_else_was_measured(measured: Measured) -> None:
    other = Measured(Point("payload", "file", 84, "same", {"arm": "file"}), measured.launches, "budget")
    alone, together = points_csv(tidy([measured])), points_csv(tidy([other, measured]))
    assert together.endswith(alone.split(b"\n", 1)[1])


def test_rows_are_found_by_level(measured: Measured) -> None:
    other = Measured(Point("payload", "shm-mmap", 84, "same", {"arm": "mapping"}), measured.launches, "budget")
    rows = tidy([measured, other])
    found = rows.find("write", arm="mapping")
    assert found is not None
    assert found.point is other.point
    assert rows.find("write", arm="tcp") is None
    assert rows.find("nothing") is None
    assert len(rows.all("write", "max", backend="shm-mmap")) == 2
    with pytest.raises(LookupError, match="2 points have"):
        rows.find("write", backend="shm-mmap")


def test_a_clock_too_coarse_gives_no_bandwidth(point: Point) -> None:
    rows = tidy([Measured(point, [make_launch(op=[0, 0, 10])] * 2, "precise")])
    assert rows.find("op", "bandwidth") is None
    assert rows.find("op", "p50") is not None


def test_facts_have_unique_names_and_no_invented_value(measured: Measured) -> None:
    empty = list(payload.facts(Rows()))
    names = [fact.name for fact in empty]
    assert len(set(names)) == len(names)
    assert {fact.kind for fact in empty if fact.value is not None} <= {"computed", "published"}
    moved = {fact.name: fact.value for fact in empty if fact.name.startswith("payload.moved.")}
    assert moved == {"payload.moved.small": 88, "payload.moved.medium": 14_152, "payload.moved.large": 1_384_120}
    full = {fact.name: fact for fact in payload.facts(tidy([measured]))}
    write = full["payload.published.write.small"]
    assert (write.value, write.unit, write.n, write.kind) == (25.0, "ns", "2 x 6", "measured")
    assert full["payload.published.transfer.small"].value == 31.0
    assert full["payload.published.write.large"].value is None
    assert set(names) == set(full)


def test_derived_files_are_in_the_run_with_their_digests(measured: Measured, tmp_path: Path, paths: Paths) -> None:
    about = {
        "parameters": {"profile": "smoke"},
        "seed": 1,
        "machine": {"digest": "m", "facts": {}, "reasons": {}},
        "sessions": [],
        "points": {},
    }
    run = folder.create(tmp_path, "m", about, dt.datetime.now(dt.UTC))
    run.add(measured.point, encode(measured))
    write_derived(run, paths)
    names = {"facts.json", "tables/points.csv"}
    assert names < set(run.about["files"])
    digests = {name: run.about["files"][name] for name in names}
    assert digests == {name: sha256(run.path / name) for name in names}
    table = (run.path / "tables/points.csv").read_bytes()
    assert table == points_csv(rows_of(run)[0])
    assert sorted(table.splitlines()) == sorted(points_csv(tidy([measured])).splitlines())
    assert json.loads((run.path / "facts.json").read_text())["payload.published.write.small"]["value"] == 25.0
    write_derived(run, paths)
    assert digests == {name: sha256(run.path / name) for name in names}
