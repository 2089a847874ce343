"""Points that cannot have been measured, all digests made to fit: refused where a point is read, in
one line.
"""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ipclab.commands.bundles import unpack
from ipclab.errors import LabError
from ipclab.paths import Paths
from ipclab.store import door, samples, validity
from ipclab.store import run as folder
from ipclab.store.files import sha256
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.record import Record, check_measured
from ipclab.store.samples import METADATA, Measured, decode, encode

Change = Callable[[pa.Table, dict[str, Any]], pa.Table]


def column(name: str, change: Callable[[Any], Any]) -> Change:
    """Return a change of one column: what becomes of its values."""

    def changed(table: pa.Table, about: dict[str, Any]) -> pa.Table:
        return table.set_column(table.column_names.index(name), name, change(table[name]))

    return changed


def told(change: Callable[[dict[str, Any]], object]) -> Change:
    """Return a change of what the metadata tells."""

    def changed(table: pa.Table, about: dict[str, Any]) -> pa.Table:
        change(about)
        return table

    return changed


def launch(**fields: Any) -> Change:
    return told(lambda about: about["launches"][0].update(fields))


def point(**fields: Any) -> Change:
    return told(lambda about: about["point"].update(fields))


def times(change: Callable[[Any], Any]) -> Change:
    return column("ns", lambda values: pa.array(change(values.to_numpy()), pa.int64()))


def every_launch(**fields: Any) -> Change:
    return told(lambda about: [each.update(fields) for each in about["launches"]])


WHOLE = {
    "samples": 40.0,
    "sd": 1.0,
    **dict.fromkeys(("p50", "p90", "p99", "p99.9", "median", "mean"), 1e4),
}
WHOLE |= {"min": 5e3, "max": 2e4}
FORGED: dict[str, tuple[Change, str]] = {
    "negative times": (times(lambda ns: -ns), "took -"),
    "mostly no time": (times(lambda ns: np.where(np.arange(len(ns)) % 3, 0, ns)), "took 0 ns"),
    "292 years": (times(lambda ns: np.where(np.arange(len(ns)) == 7, 2**63 - 1, ns)), "took 9223372036854775807"),
    "short times": (column("ns", lambda ns: ns.cast(pa.int32())), "its ns is int32"),
    "times that are null": (column("ns", lambda ns: pa.array([None] * len(ns), pa.int64())), "lacks"),
    "ops as lists": (column("op", lambda op: pa.array([["x"]] * len(op))), "it has no b'op'"),
    "ops that are null": (column("op", lambda op: pa.array([None] * len(op), pa.string())), "lacks"),
    "an op without a name": (column("op", lambda op: pa.array([""] * len(op))), "an op is called ''"),
    "an op with a long name": (column("op", lambda op: pa.array(["x" * 101] * len(op))), "an op is called 'xxx"),
    "more ops than a point has": (column("op", lambda op: pa.array(map(str, range(len(op))))), "do not follow"),
    "launches below 0": (column("launch", lambda number: pa.array(number.to_numpy() - 1)), "in their order"),
    "one launch too many": (column("launch", lambda number: pa.array(number.to_numpy() + 1)), "in their order"),
    "a column twice": (lambda table, _: table.append_column("ns", table["ns"]), "its columns are not"),
    "no rows": (lambda table, _: table.slice(0, 0), "0 rows"),
    "rows of half the launches": (lambda table, _: table.slice(0, table.num_rows // 2), "lacks samples"),
    "another backend": (point(backend="shm-spin"), "it is of round_trip/shm-spin"),
    "no backend": (point(backend=""), "backend"),
    "a size below 0": (point(size_bytes=-1), "size_bytes"),
    "a factor called value": (point(levels={"value": 1}), "a factor is called 'value'"),
    "counts below 0": (every_launch(counters={"round-trip": {"bytes": -1.0}}), "counted -1"),
    "counts of an unknown kind": (every_launch(counters={"round-trip": {"bytes": "x"}}), "counters"),
    "a sample of 0 operations": (every_launch(per={"round-trip": 0}), "per"),
    "an operation nobody timed": (every_launch(per={"other": 2}), "'other' has no samples"),
    "batches of one launch": (launch(per={"round-trip": 2}), "equally many operations"),
    "a round of 1.5": (every_launch(facts={"round": 1.5}), "its round is 1.5"),
    "a round below 0": (every_launch(facts={"round": -1}), "its round is -1"),
    "before the run": (launch(elapsed_ns=-1), "before the run"),
    "turns of others": (launch(turns={"round-trip": [10, 10]}), "turns of 20 samples and 30 samples"),
    "values without bounds": (launch(facts={"x": [[]] * 1_050_000}), "more than 2,097,152 values"),
    "an empty turn": (launch(turns={"round-trip": [30, 0]}), "turns of 30"),
    "fewer than are kept": (launch(whole={"round-trip": {**WHOLE, "samples": 3.0}}), "not among all of them"),
    "quantiles out of order": (launch(whole={"round-trip": {**WHOLE, "p90": 6e3}}), "not in order"),
    "a median beyond the ends": (launch(whole={"round-trip": {**WHOLE, "median": 1.0}}), "cannot have"),
}  # fmt: skip


def forge(run: Record, change: Change) -> Path:
    """Change a point of `run`, and the digests that know it; return its file."""
    path = next(file for file in run.point_files() if file.name.startswith("unix-main"))
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[METADATA])
    changed = change(table, about)
    pq.write_table(changed.replace_schema_metadata({METADATA: json.dumps(about)}), path)
    run.about["files"][str(path.relative_to(run.path))] = sha256(path)
    run.save()
    return path


@pytest.mark.parametrize("kind", FORGED)
def test_a_point_that_cannot_be_is_refused(kind: str, run: Record) -> None:
    change, says = FORGED[kind]
    path = forge(run, change)
    with pytest.raises(LabError, match="is not a point's file") as caught:
        decode(path)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def many(rows: int, run: Record) -> Path:
    """Give `run` a point of so many equal times, which take next to nothing on disk."""
    made = Point("round_trip", "pipe", 100, "cross", {"arm": "main"}, "", ("round-trip",))
    launches = [Launch({"round-trip": np.full(rows, 1000)}, {})]
    run.place([(made, encode(Measured(made, launches, "budget")))])
    return run.path / run.file(made)


def test_more_rows_than_a_point_has_are_not_read(
    run: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "_fill", None)
    monkeypatch.setattr(validity, "MOST_BYTES", 1000)
    with pytest.raises(LabError, match=r"is said to have 1,000,000 rows in [0-9,]+ bytes"):
        decode(many(1_000_000, run))


def test_a_point_is_read_in_the_memory_of_its_samples(run: Record) -> None:
    rows = 1 << 21
    path = many(rows, run)
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(pool)
    tracemalloc.start()
    (launch,) = decode(path).launches
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    pa.set_memory_pool(usual)
    assert len(launch.samples["round-trip"]) == rows
    assert 8 * rows <= most < 9 * rows
    assert pool.bytes_allocated() == 0 and 0 < pool.max_memory() < 8 * rows


def test_more_than_its_bytes_can_hold_is_refused(
    run: Record, bundle: Path, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = bundle.stat().st_size
    for what, count in (("SAMPLES", 540), ("VALUES", 102)):
        with monkeypatch.context() as patch:
            patch.setattr(f"ipclab.store.contradictions.{what}_PER_BYTE", 0)
            patch.setattr(f"ipclab.store.contradictions.MORE_{what}", count - 1)
            told = rf"its points hold {count} {what.lower()} in {size:,} bytes"
            with pytest.raises(LabError, match=told):
                unpack(paths, bundle)
            assert not [*paths.imported.rglob("*.parquet")]
            patch.setattr(f"ipclab.store.contradictions.MORE_{what}", count)
            door.check(folder.read_run(run.path), size)


def test_a_description_without_bounds_is_not_read(run: Record) -> None:
    path = next(iter(run.point_files()))
    content = path.read_bytes()
    path.write_bytes(content[:-8] + (1 << 30).to_bytes(4, "little") + content[-4:])
    with pytest.raises(LabError, match="its description is said to have 1,073,741,824 bytes"):
        decode(path)


def test_a_launch_that_cannot_be_is_lost_before_it_is_stored() -> None:
    check_measured(Launch({"write": np.array([5, 6])}, {}))
    with pytest.raises(LabError, match="what was measured cannot be: write took -1 ns"):
        check_measured(Launch({"write": np.array([5, -1])}, {}))
