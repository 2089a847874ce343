"""Points that cannot have been measured, all digests made to fit: refused where a point is read, in
one line.
"""

import copy
import datetime as dt
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ipclab.commands.bundles import pack, unpack
from ipclab.errors import LabError
from ipclab.paths import Paths
from ipclab.store import samples, validity
from ipclab.store.files import sha256
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.record import Record, check_measured, encode
from ipclab.store.samples import METADATA, Measured, decode
from tests.support.bundled import make_run

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


def days(values: Any) -> Any:
    return pa.array([dt.datetime(2026, 11, 20, tzinfo=dt.UTC)] * len(values))


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
    "one negative time": (times(lambda ns: np.where(np.arange(len(ns)) == 7, -1, ns)), "took -1 ns"),
    "no time at all": (times(lambda ns: ns * 0), "took 0 ns"),
    "mostly no time": (times(lambda ns: np.where(np.arange(len(ns)) % 3, 0, ns)), "took 0 ns"),
    "292 years": (times(lambda ns: np.where(np.arange(len(ns)) == 7, 2**63 - 1, ns)), "took 9223372036854775807"),
    "times as floats": (column("ns", lambda ns: ns.cast(pa.float64())), "its ns is double"),
    "times as text": (column("ns", lambda ns: ns.cast(pa.string())), "its ns is string"),
    "times as dates": (column("ns", days), "its ns is timestamp"),
    "times as lists": (column("ns", lambda ns: pa.array([[1]] * len(ns))), "its ns is list"),
    "times as bool": (column("ns", lambda ns: pa.array([True] * len(ns))), "its ns is bool"),
    "short times": (column("ns", lambda ns: ns.cast(pa.int32())), "its ns is int32"),
    "times that are null": (column("ns", lambda ns: pa.array([None] * len(ns), pa.int64())), "lacks"),
    "ops as numbers": (column("op", lambda op: pa.array([1] * len(op))), "its op is int64"),
    "ops as lists": (column("op", lambda op: pa.array([["x"]] * len(op))), "it has no b'op'"),
    "ops that are null": (column("op", lambda op: pa.array([None] * len(op), pa.string())), "lacks"),
    "an op without a name": (column("op", lambda op: pa.array([""] * len(op))), "an op is called ''"),
    "an op with a long name": (column("op", lambda op: pa.array(["x" * 101] * len(op))), "an op is called 'xxx"),
    "more ops than a point has": (column("op", lambda op: pa.array(map(str, range(len(op))))), "do not follow"),
    "launches as text": (column("launch", lambda number: number.cast(pa.string())), "its launch is string"),
    "launches below 0": (column("launch", lambda number: pa.array(number.to_numpy() - 1)), "in their order"),
    "launches out of order": (column("launch", lambda number: pa.array(number.to_numpy()[::-1])), "in their order"),
    "one launch too many": (column("launch", lambda number: pa.array(number.to_numpy() + 1)), "in their order"),
    "a column too many": (lambda table, _: table.append_column("more", table["ns"]), "its columns are not"),
    "a column too few": (lambda table, _: table.drop_columns(["ns"]), "its columns are not"),
    "a column twice": (lambda table, _: table.append_column("ns", table["ns"]), "its columns are not"),
    "no rows": (lambda table, _: table.slice(0, 0), "0 rows"),
    "rows of half the launches": (lambda table, _: table.slice(0, table.num_rows // 2), "lacks samples"),
    "another study": (point(study="payload"), "it is of payload/"),
    "another backend": (point(backend="shm-spin"), "it is of round_trip/shm-spin"),
    "no backend": (point(backend=""), "backend"),
    "another size": (point(size_bytes=101), "it is of round_trip/"),
    "a size below 0": (point(size_bytes=-1), "size_bytes"),
    "a factor called value": (point(levels={"value": 1}), "not of round_trip/"),
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
    "a median below 0": (launch(whole={"round-trip": {**WHOLE, "median": -1e4}}), "cannot have"),
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


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return make_run(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture
def run(elsewhere: Record, tmp_path: Path) -> Record:
    path = tmp_path / elsewhere.id
    for name in [*elsewhere.about["files"], "run.json"]:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes((elsewhere.path / name).read_bytes())
    return Record(path, copy.deepcopy(elsewhere.about))


@pytest.mark.parametrize("kind", FORGED)
def test_a_point_that_cannot_be_is_refused(kind: str, run: Record) -> None:
    change, says = FORGED[kind]
    path = forge(run, change)
    with pytest.raises(LabError, match="is not a point's file") as caught:
        decode(path)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_a_forged_point_is_not_imported(run: Record, paths: Paths, tmp_path: Path) -> None:
    forge(run, FORGED["negative times"][0])
    pack(run, tmp_path / "forged.ipclab")
    with pytest.raises(
        LabError, match=r"the bundle is refused: points/round_trip/unix-main.* took -"
    ):
        unpack(paths, tmp_path / "forged.ipclab")
    assert not [*paths.imported.rglob("*.parquet")]


def test_a_file_under_the_name_of_another_point_is_refused(run: Record) -> None:
    unix, tcp = (next(run.path.glob(f"points/round_trip/{name}-main*")) for name in ("unix", "tcp"))
    unix.write_bytes(tcp.read_bytes())
    with pytest.raises(
        LabError, match=r"it is of round_trip/tcp-main.*, not of round_trip/unix-main"
    ):
        decode(unix)


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


def test_more_samples_than_a_bundle_holds_are_refused(
    run: Record, paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(1_000_000, run)
    monkeypatch.setattr("ipclab.store.contradictions.MORE_SAMPLES", 0)
    monkeypatch.setattr("ipclab.store.contradictions.SAMPLES_PER_BYTE", 10)
    pack(run, tmp_path / "large.ipclab")
    size = (tmp_path / "large.ipclab").stat().st_size
    assert size < 1 << 16
    with pytest.raises(LabError, match=rf"its points hold 1,000,\d+ samples in {size:,} bytes"):
        unpack(paths, tmp_path / "large.ipclab")
    assert not [*paths.imported.rglob("*.parquet")]


def test_more_values_than_a_bundle_holds_are_refused(
    run: Record, paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(run, tmp_path / "small.ipclab")
    size = (tmp_path / "small.ipclab").stat().st_size
    # of each of the three points: 4 rows of each launch, 9 of the op, a fact
    monkeypatch.setattr("ipclab.store.contradictions.MORE_VALUES", 101)
    monkeypatch.setattr("ipclab.store.contradictions.VALUES_PER_BYTE", 0)
    with pytest.raises(LabError, match=rf"its points hold 102 values in {size:,} bytes"):
        unpack(paths, tmp_path / "small.ipclab")
    assert not [*paths.imported.rglob("*.parquet")]
    monkeypatch.setattr("ipclab.store.contradictions.MORE_VALUES", 102)
    assert unpack(paths, tmp_path / "small.ipclab").id == run.id


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
