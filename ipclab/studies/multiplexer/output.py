"""The lines of `go test -bench`, read exactly; whatever is not one of them is an error."""

import re
from dataclasses import dataclass
from decimal import Decimal

from ipclab.errors import LabError

PREFIX = "BenchmarkCell/"
HEADER = ("goos: ", "goarch: ", "pkg: ", "cpu: ")
FRAME = ("goos:", "goarch:", "pkg:", "cpu:", "--- FAIL", "exit status")  # of what failed, so that it says nothing
TIME, BYTES, ALLOCATIONS = "ns/op", "B/op", "allocs/op"
FAR_BYTES, FAR_ALLOCATIONS, FAIRNESS = "recv-B/op", "recv-allocs/op", "fairness"
UNITS = (TIME, BYTES, ALLOCATIONS, "MB/s", FAR_BYTES, FAR_ALLOCATIONS, FAIRNESS)
METRIC = rf"([0-9.]+(?:e[+-]?\d+)?) ({'|'.join(UNITS)})"
LINE = re.compile(rf"(\S+?)(?:-\d+)?\s+(\d+)((?:\s+{METRIC})+)\s*")
LENGTH = 200


@dataclass(frozen=True)
class Count:
    """One line: how many operations were timed, and its metrics by unit, as printed."""

    operations: int
    metrics: dict[str, Decimal]


def read(text: str, cell: str) -> Count:
    """Return the one line of `cell` in the output `text` of a test binary; raises `LabError` for anything else."""
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
    pairs = re.findall(METRIC, match[3])
    metrics = {unit: Decimal(value) for value, unit in pairs}
    if len(metrics) != len(pairs) or not metrics.keys() >= {TIME, BYTES, ALLOCATIONS}:
        raise _wrong(f"metrics that are missing or there twice in {line[:LENGTH]!r}")
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
