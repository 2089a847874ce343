"""What the index of many bundles takes from each: who measured, and the ops of one study."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ipclab.errors import LabError
from ipclab.frames.limits import TOLERANCE
from ipclab.frames.metrics import summary
from ipclab.stats.intervals import statistic_estimate
from ipclab.store.archive import Contents, HostileError, Member, parse, read
from ipclab.store.launch import Launch
from ipclab.store.run import INDEX
from ipclab.store.samples import Measured, decode_opened
from ipclab.store.schema import parse_run
from ipclab.store.validity import together
from ipclab.studies.installed import study as study_of
from ipclab.studies.limits.floors import COPYING, IN_PLACE, WAKING, Floors, Key

HEAD = ("backend", "size_bytes", "placement")
PLAINEST = {"arm": "main", "gap_ns": 0, "touch": "full", "receive": "bytes"}
LARGEST, MOST = 64 << 20, 1 << 24  # bytes and rows of one point that is read
NOT_OURS = (LabError, OSError, ValueError, LookupError, TypeError, ArithmeticError)
DISTURBED = "disturbed_share"  # of the launches
Row = dict[str, Any]


def key_of(file: Path, name: str) -> Row:
    """Return what tells a bundle, called `name`, from one that replaces it."""
    about = file.stat()
    times = {"mtime_ns": about.st_mtime_ns, "ctime_ns": about.st_ctime_ns}
    return {"file": name, "bytes": about.st_size, **times}


def taken(file: Path, name: str, study: str) -> list[Row]:
    """Return the rows of bundle `file`, called `name`: its head, then one for each op of `study`.

    Of a bundle that cannot be taken the head alone says `why`; another made it.
    """
    head = key_of(file, name)
    try:
        about, rows = _read(file, study)
    except NOT_OURS as error:
        why = getattr(error, "why", "") or str(error) or type(error).__name__
        return [head | {"why": why}]
    return [head | about, *({"file": name, **row} for row in rows)]


def _read(file: Path, study: str) -> tuple[Row, list[Row]]:
    """Return what a bundle says; what is read agrees with its digests.

    The archive is read to its end, but points that are not asked for are not looked at.
    """
    members = read(file)  # held: a generator that is let go closes its file
    contents = parse(next(members, None), file.stat().st_size)
    index, points = b"", _Points(study)
    for name, content in _wanted(members, contents, study):
        if name == INDEX:
            index = content
        else:
            points.add(name, content)
    about, rows = parse_run(index, f"the bundle's {INDEX}"), points.rows()
    if not rows:
        raise LabError(f"{file.name} is left out", f"it holds no {study}", "")
    facts, sessions = about["machine"]["facts"], about["sessions"]
    conditions = sessions[-1]["conditions"] if sessions else {}
    head = {
        "run": contents.run,
        "begun": about["begun"],
        "machine": contents.machine,
        "label": about["parameters"].get("label", ""),
        "profile": about["parameters"]["profile"],
        "facts": json.dumps(facts, sort_keys=True, default=str),
        "conditions": json.dumps({**conditions, DISTURBED: points.disturbed}),
        "why": "",
    }
    return head, rows


def _wanted(
    members: Iterator[Member], contents: Contents, study: str
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file that is needed.

    Raises `HostileError` for what is not as named.
    """
    limits = "|".join(map(re.escape, sorted(_kinds(study))))
    needed = re.compile(rf"run\.json|points/({study}/|limits/({limits}))[^/]*\.parquet")
    listed, count = contents.by_name(), 0
    for member in members:
        count += 1
        name = member.name.removeprefix(f"{contents.run}/")
        entry = listed.get(name)
        if entry is None or member.size != entry.size:
            raise HostileError(f"{member.name!r} is not the file that belongs here")
        if needed.fullmatch(name) and member.size <= LARGEST:
            content = b"".join(member.chunks)
            if hashlib.sha256(content).hexdigest() != entry.sha256:
                raise HostileError(f"{name} has another digest")
            yield name, content
    if count < len(listed):
        raise HostileError(f"{len(listed) - count} files are missing")


def _kinds(study: str) -> set[str]:
    """Return how the names of the limits begin that may bound `study`, or check it."""
    kinds = {COPYING, WAKING}
    for bound in study_of(study).limits.values():
        by_arm = bound.native
        templates = [by_arm] if isinstance(by_arm, str) else list(by_arm.values())
        kinds |= {template.partition("{")[0] for template in [*templates, bound.older]}
    return kinds - {""}


@dataclass
class _Points:
    """What the points of one bundle tell by limit and by op of `study`, without their samples."""

    study: str
    limits: dict[Key, list[float]] = field(default_factory=dict)
    ops: list[tuple[Row, str, str, list[float]]] = field(default_factory=list)
    copies: dict[int, float] = field(default_factory=dict)  # the fastest by bytes, ns
    flagged: list[bool] = field(default_factory=list)
    rows_read: int = 0
    bytes_read: int = 0

    @property
    def disturbed(self) -> float:
        """Return which share of the launches was disturbed."""
        return sum(self.flagged) / max(1, len(self.flagged))

    def add(self, name: str, content: bytes) -> None:
        """Take what is needed of one file; raises `LabError` when all hold too much."""
        stem = name.removesuffix(".parquet").removeprefix("points/")
        measured = decode_opened(pa.BufferReader(content), stem, MOST)
        for launch in measured.launches:
            self.rows_read += sum(map(len, launch.samples.values()))
            self.flagged.append(bool(launch.flags))
        self.bytes_read += len(content)
        together(self.rows_read, self.bytes_read)
        point = measured.point
        if point.study == self.study:
            for op in measured.op_names():
                if "." not in op:
                    medians = _medians(measured, op)
                    self.ops.append((point.key(), stem.partition("/")[2], op, medians))
        elif point.backend == COPYING and "copy" in measured.op_names():
            fastest = [_least(launch, "copy") for launch in measured.launches]
            self.copies[point.size_bytes] = min(fastest)
        elif point.study == "limits":
            limit = point.backend, point.size_bytes, point.placement
            self.limits[limit] = _medians(measured, measured.op_names()[0])

    def rows(self) -> list[Row]:
        """Return a row for each op, with its median time and how much that is of the limit.

        Raises `LabError` for one that is faster than its copies can be, and for a mechanism that
        stands twice at its plainest.
        """
        floors, rows = Floors(self.limits), []
        for key, name, op, medians in self.ops:
            time = statistic_estimate(medians, 0).for_sessions()
            self._check(key, op, time.value)
            floor = floors.under(self.study, op, key)
            levels = {factor: level for factor, level in key.items() if factor not in HEAD}
            row = {factor: key[factor] for factor in HEAD}
            row |= {"study": self.study, "point": name, "op": op}
            row |= {"levels": json.dumps(levels, sort_keys=True), "plain": _plain(key)}
            row |= {"ns": time.value, "low": time.low, "high": time.high}
            row |= {"launches": len(medians)}
            rows.append(row | {"over_limit": time.value / floor.ns if floor else None})
        plain = Counter((*map(row.get, HEAD), row["op"]) for row in rows if row["plain"])
        if self.study == "round_trip" and max(plain.values(), default=1) > 1:
            raise LabError("left out", "it holds a mechanism twice", "")
        return rows

    def _check(self, key: Row, op: str, ns: float) -> None:
        """Raise `LabError` for what is faster than memcpy, as frames are judged."""
        bound = study_of(self.study).bound(op, key)
        copied = [time for size, time in self.copies.items() if size <= key["size_bytes"]]
        if not bound or not copied or key.get("receive") == IN_PLACE:
            return
        if ns < bound.copies * max(copied) * TOLERANCE:
            passes = f"{bound.copies} passes of its memcpy can take"
            why = f"a {op.replace('-', ' ')} of {ns:.0f} ns is less than {passes}"
            raise LabError(f"{key['backend']} is left out", why, "")


def _plain(key: Row) -> bool:
    return all(key.get(factor, level) == level for factor, level in PLAINEST.items())


def _medians(measured: Measured, op: str) -> list[float]:
    return [launch.median(op) for launch in measured.launches]


def _least(launch: Launch, op: str) -> float:
    """Return the least time of `op` (ns), without the other numbers of its summary."""
    if op in launch.whole:
        return summary(launch, op)["min"]
    return float(launch.times(op).min())
