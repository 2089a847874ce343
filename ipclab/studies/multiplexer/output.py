"""The lines of `go test -bench`, read exactly; whatever is not one of them is an error."""

import re
from dataclasses import dataclass
from decimal import Decimal

from ipclab.errors import LabError

PREFIX = "BenchmarkCell/"
HEADER = ("goos: ", "goarch: ", "pkg: ", "cpu: ")
FRAME = ("goos:", "goarch:", "pkg:", "cpu:", "--- FAIL", "exit status")  # of what failed, so that it says nothing
TIME, BYTES, ALLOCATIONS = "ns/op", "B/op", "allocs/op"
NEEDED = (TIME, BYTES, ALLOCATIONS)
FAR_BYTES, FAR_ALLOCATIONS, FAIRNESS = "recv-B/op", "recv-allocs/op", "fairness"
UNITS = (*NEEDED, "MB/s", FAR_BYTES, FAR_ALLOCATIONS, FAIRNESS)
LINE = re.compile(r"(\S+?)(?:-\d+)?\s+(\d+)((?:\s+\S+ \S+)+)\s*")
METRIC = re.compile(r"([0-9.]+(?:e[+-]?\d+)?) (\S+)")
LENGTH = 200


@dataclass(frozen=True)
class Count:
    """One line: how many operations were timed, and its metrics by unit, as printed."""

    operations: int
    metrics: dict[str, Decimal]


def read(text: str, cell: str) -> Count:
    """Return the one line of `cell` in the output `text` of a test binary.

    Raises `LabError` for a line that is not known, for another cell, a failure, and another number of lines.
    """
    found, passed = [], False
    for line in text.splitlines():
        if line.startswith(PREFIX):
            found.append(_count(line, cell))
        elif line == "PASS":
            passed = True
        elif line.strip() and not line.startswith(HEADER):
            raise _wrong(f"an unknown line {line[:LENGTH]!r}")
    if not passed:
        raise _wrong("it did not pass")
    if len(found) != 1:
        raise _wrong(f"{len(found)} results of {cell} where one was asked for")
    return found[0]


def _count(line: str, cell: str) -> Count:
    match = LINE.fullmatch(line)
    if match is None:
        raise _wrong(f"a line that is no result {line[:LENGTH]!r}")
    if match[1] != PREFIX + cell:
        raise _wrong(f"a result of {match[1]!r} where {cell!r} was asked for")
    pairs = METRIC.findall(match[3])
    metrics = {unit: Decimal(value) for value, unit in pairs}
    unknown = [unit for unit in metrics if unit not in UNITS]
    if unknown or len(metrics) != len(pairs) or " ".join(match[3].split()) != " ".join(f"{v} {u}" for v, u in pairs):
        raise _wrong(f"metrics that are not known {line[:LENGTH]!r}")
    if missing := [unit for unit in NEEDED if unit not in metrics]:
        raise _wrong(f"no {missing[0]} in {line[:LENGTH]!r}")
    if int(match[2]) <= 0 or metrics[TIME] <= 0:
        raise _wrong(f"nothing was timed in {line[:LENGTH]!r}")
    return Count(int(match[2]), metrics)


def _wrong(what: str) -> LabError:
    return LabError("the Go benchmark's output cannot be used", what, "measure again")


def reason(text: str) -> str:
    """Return why a test binary failed: its panic or its first message, in one line."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    said = [line for line in lines if line not in ("", "PASS", "FAIL") and not line.startswith(FRAME)]
    panics = [line for line in said if line.startswith(("panic:", "fatal error:"))]
    return next(iter([*panics, *said]), "nothing was said")[:LENGTH]
