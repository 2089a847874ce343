"""The shared dictionary's results as the three tables that users of the published program know, in seconds."""

from collections.abc import Sequence

from ipclab.facts.rows import Row, Rows
from ipclab.facts.shared_dict_levels import READS, STUDY, getter, scenario_messages
from ipclab.stats.intervals import Estimate, inverse, scale

Cells = tuple[str | int | float | None, ...]
HEAD = ("backend", "data_size", "readers")
WRITE = (
    *(*HEAD, "write_time_s", "low", "high", "messages", "write_time_per_message_s"),
    *("later_write_time_s", "later_low", "later_high", "launches"),
)
READ = (*HEAD, "avg_read_time_s", "low", "high", "median_read_time_s", "read_count", "launches")
THROUGHPUT = (*HEAD, "reads_per_second", "low", "high", "reads_per_second_all_readers", "launches")
NAMES = ("write_summary", "read_summary", "throughput")
SUMMARIES = tuple(f"tables/{name}.csv" for name in NAMES)


def summaries(rows: Rows) -> dict[str, tuple[Sequence[str], list[Cells]]]:
    """Return columns and rows of each of `SUMMARIES`, by entries, mechanism and readers of the published scenario.

    Times are seconds, `data_size` is entries, `low` and `high` an interval between launches. The write time is that of
    the whole scenario, as published; a later write is one that is not the first.
    """
    found = rows.all("read", study=STUDY, arm="published")
    cells = [_cells(rows, row) for row in sorted(found, key=_order)]
    makers = (WRITE, READ, THROUGHPUT)
    return {
        name: (head, [each[i] for each in cells]) for i, (name, head) in enumerate(zip(SUMMARIES, makers, strict=True))
    }


def _order(row: Row) -> tuple[int, str, int, str]:
    levels = row.point.levels
    return int(levels["entries"]), row.point.backend, int(levels["readers"]), row.point.id


def _cells(rows: Rows, row: Row) -> tuple[Cells, Cells, Cells]:
    """Return one point's row in each of the three tables."""
    point = row.point
    get, at = getter(rows), {"study": STUDY, **point.key()}
    readers = int(point.levels["readers"])
    head = (point.backend, int(point.levels["entries"]), readers)
    total, messages = get("write-total", **at), scenario_messages(point.backend, readers)
    each = total.value / messages if total else None
    made, long = get("launch", "reads", **at), get("read-total", **at)
    speed = inverse(long, READS * 1e9) if long else None
    tail = (row.estimate.launches,)
    return (
        (*head, *_seconds(total), messages, _short(each, 1e-9), *_seconds(get("write", **at)), *tail),
        (*head, *_seconds(get("read", "mean", **at)), _short(row.estimate.value, 1e-9), _value(made), *tail),
        (*head, *_three(speed), _short(speed.value * readers if speed else None), *tail),
    )


def _seconds(found: Estimate | None) -> tuple[float | None, ...]:
    return _three(scale(found, 1e-9) if found else None)


def _three(found: Estimate | None) -> tuple[float | None, ...]:
    return (None, None, None) if found is None else tuple(_short(x) for x in (found.value, found.low, found.high))


def _value(found: Estimate | None) -> float | None:
    return None if found is None else _short(found.value)


def _short(value: float | None, factor: float = 1.0) -> float | None:
    if value is None:
        return None
    short = float(f"{value * factor:.9g}")
    return int(short) if short.is_integer() else short
