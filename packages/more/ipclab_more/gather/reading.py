"""What the index of many bundles takes from each: who measured, and the ops of one study."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ipclab.bounds.floors import COPYING, IN_PLACE, WAKING, Floors, Key
from ipclab.bounds.limits import TOLERANCE
from ipclab.bounds.named import bound_of
from ipclab.errors import LabError
from ipclab.frames.metrics import Metric, summary
from ipclab.frames.points import between_heats, heats_of
from ipclab.frames.run_table import PLACE, Row, op_row, told_of_run
from ipclab.stats.intervals import Estimate, statistic_estimate
from ipclab.store.archive import Contents, HostileError, Member, contents_told, read_members
from ipclab.store.contradictions import more_than
from ipclab.store.launch import Launch
from ipclab.store.questions import Question, Questions, questions_told
from ipclab.store.run import INDEX
from ipclab.store.samples import Measured, Part, contents_of, measured_of
from ipclab.store.schema import parse_run

PLAINEST = {"arm": "main", "gap_ns": 0, "touch": "full", "receive": "bytes"}
LARGEST = 64 << 20  # bytes of one point that is read
WAITING = 1 << 18  # rows that are decoded before they are looked at
NOT_OURS = (LabError, OSError, ValueError, LookupError, TypeError, ArithmeticError)
DISTURBED = "disturbed_share"  # of the launches


def key_of(file: Path, name: str) -> Row:
    """Return what tells a bundle, called `name`, from one that replaces it."""
    about = file.stat()
    times = {"mtime_ns": about.st_mtime_ns, "ctime_ns": about.st_ctime_ns}
    return {"file": name, "bytes": about.st_size, **times}


def bundle_rows(file: Path, name: str, study: str) -> list[Row]:
    """Return the rows of bundle `file`, called `name`: its head, then one for each op of `study`.

    Of a bundle that cannot be taken the head alone says `why`; another made it.
    """
    head = key_of(file, name)
    try:
        about, rows = _read(file, study)
    except NOT_OURS as error:
        why = getattr(error, "why", "") or str(error) or type(error).__name__
        return [head | {"why": why}]
    for row in rows:
        row["file"] = name
    return [head | about, *rows]


def _read(file: Path, study: str) -> tuple[Row, list[Row]]:
    """Return what a bundle says; what is read agrees with its digests.

    The archive is read to its end, but points that are not asked for are not looked at.
    """
    members = read_members(file)  # held: a generator that is let go closes its file
    contents = contents_told(next(members, None), file.stat().st_size)
    about: dict[str, Any] = {}
    points = _Points(study)
    for name, content in _wanted(members, contents, points.needs):
        if name == INDEX:
            about = parse_run(content, f"the bundle's {INDEX}")
            points.questions = questions_told(about)
        else:
            points.add(name, content)
    if not about:
        raise HostileError(f"it holds no {INDEX}")
    rows = points.rows()
    if not rows:
        raise LabError(f"{file.name} is left out", f"it holds no {study}", "")
    sessions = about["sessions"]
    conditions = sessions[-1]["conditions"] if sessions else {}
    head = {
        **told_of_run(contents.run, about),
        "facts": json.dumps(about["machine"]["facts"], sort_keys=True, default=str),
        "conditions": json.dumps({**conditions, DISTURBED: points.disturbed}),
        "why": "",
    }
    return head, rows


def _wanted(
    members: Iterator[Member], contents: Contents, needs: Callable[[str], bool]
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file that is needed, the run's index before its points.

    Raises `HostileError` for what is not as named.
    """
    listed = contents.by_name()
    count = 0
    for member in members:
        count += 1
        name = member.name.removeprefix(f"{contents.run}/")
        entry = listed.get(name)
        if entry is None or member.size != entry.size:
            raise HostileError(f"{member.name!r} is not the file that belongs here")
        if (name == INDEX or needs(name)) and member.size <= LARGEST:
            content = b"".join(member.chunks)
            if hashlib.sha256(content).hexdigest() != entry.sha256:
                raise HostileError(f"{name} has another digest")
            yield name, content
    if count < len(listed):
        raise HostileError(f"{len(listed) - count} files are missing")


def _kinds(question: Question) -> set[str]:
    """Return how the names of the limits begin that may bound a study, or check it."""
    kinds = {COPYING, WAKING}
    for bound in question.bounds:
        by_arm = bound.native
        natives = [by_arm] if isinstance(by_arm, str) else by_arm.values()
        for template in (*natives, bound.older):
            kinds.add(template.partition("{")[0])
    return kinds - {""}


class _Op(NamedTuple):
    key: Row  # all levels of its point
    point: str
    op: str
    time: Estimate  # ns
    launches: int


class _Decoded(NamedTuple):
    """A point's file before it is looked at: study/point, and what `contents_of` gives."""

    named: str
    metadata: bytes
    parts: list[Part]


@dataclass
class _Points:
    """What the points of one bundle tell by limit and by op of `study`, without their samples."""

    study: str
    questions: Questions = field(default_factory=Questions)  # of its run
    limits: dict[Key, list[float]] = field(default_factory=dict)
    ops: list[_Op] = field(default_factory=list)
    copies: dict[int, float] = field(default_factory=dict)  # the fastest by bytes, ns
    flagged: list[bool] = field(default_factory=list)
    decoded: list[_Decoded] = field(default_factory=list)
    rows_waiting: int = 0  # of what is decoded
    rows_read: int = 0
    bytes_read: int = 0

    @property
    def disturbed(self) -> float:
        """Return which share of the launches was disturbed."""
        return sum(self.flagged) / max(1, len(self.flagged))

    @cached_property
    def _needed(self) -> re.Pattern[str]:
        limits = "|".join(map(re.escape, sorted(_kinds(self.questions.of(self.study)))))
        return re.compile(rf"points/({self.study}/|limits/({limits}))[^/]*\.parquet")

    def needs(self, name: str) -> bool:
        """Tell whether the file `name` is of a point that is asked for, or of what may bound it."""
        return bool(self._needed.fullmatch(name))

    def add(self, name: str, content: bytes) -> None:
        """Take what is needed of one file; raises `LabError` when all hold too much.

        Some files are decoded, then all of them looked at: both by turns take half as long again,
        since each drives the other's code out of the processor's caches.
        """
        named = name.removesuffix(".parquet").removeprefix("points/")
        metadata, parts = contents_of(pa.BufferReader(content), named)
        rows = sum(len(times) for _, times in parts)
        self.rows_read += rows
        self.bytes_read += len(content)
        if why := more_than(self.bytes_read, self.rows_read):
            raise LabError("left out", why, "")
        self.decoded.append(_Decoded(named, metadata, parts))
        self.rows_waiting += rows
        if self.rows_waiting > WAITING:
            self._look()

    def _look(self) -> None:
        for file in self.decoded:
            self._take(file.named.partition("/")[2], measured_of(*file))
        self.decoded.clear()
        self.rows_waiting = 0

    def _take(self, name: str, measured: Measured) -> None:
        self.flagged += [bool(launch.flags) for launch in measured.launches]
        point = measured.point
        ops = measured.op_names()
        if point.study == self.study:
            key = point.key()
            for op in ops:
                if "." not in op:
                    time = _time(measured, op)
                    self.ops.append(_Op(key, name, op, time, len(measured.launches)))
        elif point.backend == COPYING and "copy" in ops:
            fastest = [_least(launch, "copy") for launch in measured.launches]
            self.copies[point.size_bytes] = min(fastest)
        elif point.study == "limits":
            limit = point.backend, point.size_bytes, point.placement
            self.limits[limit] = _medians(measured, ops[0])

    def rows(self) -> list[Row]:
        """Return a row for each op, with its median time and how much that is of the limit.

        Raises `LabError` for one that is faster than its copies can be, and for a mechanism that
        stands twice at its plainest.
        """
        self._look()
        floors = Floors(self.limits, self.questions)
        rows: list[Row] = []
        for key, point, op, time, launches in self.ops:
            self._check(key, op, time.value)
            floor = floors.under(self.study, op, key)
            row = op_row(self.study, point, op, key)
            row |= {
                "levels": json.dumps(row["levels"], sort_keys=True),
                "ns": time.value,
                "low": time.low,
                "high": time.high,
                "over_limit": time.value / floor.ns if floor else None,
                "launches": launches,
                "plain": _is_plain(key),
            }
            rows.append(row)
        mechanism = itemgetter(*PLACE, "op")
        plain = [mechanism(row) for row in rows if row["plain"]]
        if self.study == "round_trip" and len(set(plain)) < len(plain):
            raise LabError("left out", "it holds a mechanism twice", "")
        return rows

    def _check(self, key: Row, op: str, ns: float) -> None:
        """Raise `LabError` for what is faster than memcpy, as frames are judged."""
        bound = bound_of(self.questions, self.study, op, key)
        most = key["size_bytes"]
        copied = [time for size, time in self.copies.items() if size <= most]
        if not bound or not copied or key.get("receive") == IN_PLACE:
            return
        if ns < bound.copies * max(copied) * TOLERANCE:
            passes = f"{bound.copies} passes of its memcpy can take"
            why = f"a {op.replace('-', ' ')} of {ns:.0f} ns is less than {passes}"
            raise LabError(f"{key['backend']} is left out", why, "")


def _is_plain(key: Row) -> bool:
    return all(key.get(factor, level) == level for factor, level in PLAINEST.items())


def _medians(measured: Measured, op: str) -> list[float]:
    return [launch.median(op) for launch in measured.launches]


def _time(measured: Measured, op: str) -> Estimate:
    """Return the time of `op` as the run's frames have it: of launches, or of its sessions."""
    medians = _medians(measured, op)
    row = Metric(op, "p50", "ns", statistic_estimate(medians, 0), [], medians)
    estimate, _, _ = between_heats(row, heats_of(measured.launches))
    return estimate


def _least(launch: Launch, op: str) -> float:
    """Return the least time of `op` (ns), without the other numbers of its summary."""
    if op in launch.whole:
        return summary(launch, op)["min"]
    return float(launch.times(op).min())
