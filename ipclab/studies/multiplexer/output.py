"""The lines of `go test -bench`, read exactly; whatever is not one of them is an error."""

import re
from array import array
from decimal import Decimal

from ipclab.spawn.failures import LaunchError
from ipclab.spawn.worker import Outcome

PREFIX = "BenchmarkCell/"
HEADER = ("goos: ", "goarch: ", "pkg: ", "cpu: ")
# what failed says something else
FRAME = "goos:", "goarch:", "pkg:", "cpu:", "--- FAIL", "exit status", "{"
TIME = "ns/op"
COUNTED = {"allocations": "allocs/op", "bytes_allocated": "B/op"}  # counter -> its unit
UNITS = (TIME, "MB/s", *COUNTED.values())
METRIC = rf"([0-9.]+(?:e[+-]?\d+)?) ({'|'.join(UNITS)})"
LINE = re.compile(rf"(\S+?)(?:-\d+)?\s+(\d+)((?:\s+{METRIC})+)\s*")
LENGTH = 200
PER = 1000  # operations that one sample stands for


def cell_outcome(said: str, cell: str, op: str) -> Outcome:
    """Return samples and counters of `cell` in what the binary `said`.

    Raises `LaunchError` for all but its one line.
    """
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith(HEADER)]
    results = [line for line in lines if line.startswith(PREFIX)]
    if unknown := [line for line in lines if line not in ("PASS", *results)]:
        raise wrong(f"an unknown line {unknown[0][:LENGTH]!r}")
    if "PASS" not in lines:
        raise wrong("it did not pass")
    if len(results) != 1:
        raise wrong(f"{len(results)} results of {cell} where one was asked for")
    match = LINE.fullmatch(results[0])
    if match is None:
        raise wrong(f"a line that is no result {results[0][:LENGTH]!r}")
    if match[1] != PREFIX + cell:
        raise wrong(f"a result of {match[1]!r} where {cell!r} was asked for")
    pairs = re.findall(METRIC, match[3])
    operations = int(match[2])
    metrics = {unit: Decimal(value) for value, unit in pairs}
    if len(metrics) != len(pairs) or not metrics.keys() >= {TIME, *COUNTED.values()}:
        raise wrong(f"metrics that are missing or there twice in {results[0][:LENGTH]!r}")
    if operations <= 0 or metrics[TIME] <= 0:
        raise wrong(f"nothing was timed in {results[0][:LENGTH]!r}")
    counted = {name: float(metrics[unit]) for name, unit in COUNTED.items()}
    nanoseconds = round(metrics[TIME] * PER)
    return Outcome({op: array("q", [nanoseconds])}, {op: counted}, facts={"operations": operations})


def wrong(what: str) -> LaunchError:
    """Return the error of output that is not as it must be, which `what` tells."""
    return LaunchError("the Go benchmark's output cannot be used", what, "measure again")


def failure_reason(text: str) -> str:
    """Return why a test binary failed: its panic or its first message, in one line."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    said = [
        line for line in lines if line not in ("", "PASS", "FAIL") and not line.startswith(FRAME)
    ]
    panics = [line for line in said if line.startswith(("panic:", "fatal error:"))]
    return [*panics, *said, "nothing was said"][0][:LENGTH]
