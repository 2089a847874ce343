"""The file of a point: equal bytes for equal points, whole and plain, refused when broken; its
name.
"""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ipclab.errors import LabError
from ipclab.store.point import Point
from ipclab.store.samples import Measured, decode, encode


def placed(measured: Measured, top: Path) -> Path:
    """Write a point's file where a run has it."""
    path = top / measured.point.study / f"{measured.point.id}.parquet"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(encode(measured))
    return path


def test_equal_points_are_equal_bytes_and_come_back_whole(
    measured: Measured, tmp_path: Path
) -> None:
    content = encode(measured)
    path = placed(measured, tmp_path)
    back = decode(path)
    assert encode(measured) == content == encode(back)
    assert (back.point, back.stop, back.failures) == (
        measured.point,
        measured.stop,
        measured.failures,
    )
    assert back.point.id == measured.point.id
    for got, want in zip(back.launches, measured.launches, strict=True):
        assert {op: values.tolist() for op, values in got.samples.items()} == {
            op: values.tolist() for op, values in want.samples.items()
        }
        assert (got.counters, got.flags, got.order) == (want.counters, want.flags, want.order)
        assert {values.dtype for values in got.samples.values()} == {np.dtype(np.int64)}
    assert back.op_names() == ["write", "read", "write.copy"]


def test_the_file_is_a_plain_table_for_others(measured: Measured, tmp_path: Path) -> None:
    path = placed(measured, tmp_path)
    table = pq.read_table(path)
    assert table.column_names == ["launch", "op", "ns"]
    rows = list(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
    assert rows[:5] == [
        (0, "write", 30),
        (0, "write", 10),
        (0, "write", 20),
        (0, "read", 9),
        (0, "read", 7),
    ]
    assert len(rows) == 11
    about = json.loads(table.schema.metadata[b"ipclab"])
    assert about["point"]["levels"] == {"arm": "published"}


def test_ops_whose_rows_come_in_turn_are_read_in_the_order_of_each(
    measured: Measured, tmp_path: Path
) -> None:
    path = placed(measured, tmp_path)
    table = pq.read_table(path)
    whole = {op: values.tolist() for op, values in decode(path).launches[0].samples.items()}
    # of the first launch three writes, two reads and a copy, then the second one
    pq.write_table(table.take([0, 3, 5, 1, 4, 2, *range(6, table.num_rows)]), path)
    back = decode(path).launches[0].samples
    assert {op: values.tolist() for op, values in back.items()} == whole


def test_what_is_no_point_file_is_refused(measured: Measured, tmp_path: Path) -> None:
    path = placed(measured, tmp_path)
    content = path.read_bytes()
    pq.write_table(pa.table({"launch": [0], "op": ["x"], "ns": [1]}), tmp_path / "foreign")
    for broken in (b"", content[:-9], (tmp_path / "foreign").read_bytes()):
        path.write_bytes(broken)
        with pytest.raises(LabError, match="is not a point's file"):
            decode(path)
    with pytest.raises(LabError, match="is not a point's file"):
        decode(tmp_path / "absent")


def test_a_points_name_follows_from_its_levels(point: Point) -> None:
    def named(**changed: object) -> str:
        return Point(**{**point.__dict__, **changed}).id

    assert named() == point.id == named(block="another", primary=())
    assert point.id.startswith("shm-mmap-published-free-88-")
    others = {
        named(study="other"),
        named(backend="posix-shm"),
        named(size_bytes=89),
        named(placement="same"),
        named(levels={"arm": "mapping"}),
        named(levels={"arm": "published", "more": 1}),
        named(levels={"Arm": "published"}),
    }
    assert len(others | {point.id}) == 8
    assert named(levels={"a": "1", "b": "2"}) == named(levels={"b": "2", "a": "1"})
    long = named(levels={"arm": "A.b_c+1" * 14})
    assert set(long) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(long) <= 89
    for wild in ("../../etc/passwd", "빛", "$\\frac{$", "<b>", "a" * 101):
        with pytest.raises(ValueError, match="is no name"):
            named(levels={"arm": wild})
        with pytest.raises(ValueError, match="is no name"):
            named(backend=wild)
