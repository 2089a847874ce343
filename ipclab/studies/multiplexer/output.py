"""The result of `go test -bench`, read exactly; whatever else is said is an error."""

import re
from array import array
from decimal import Decimal

from ipclab.spawn.failures import LaunchError
from ipclab.spawn.worker import Outcome

HEADER = ("goos: ", "goarch: ", "pkg: ", "cpu: ")
# what failed says something else
FRAME = "goos:", "goarch:", "pkg:", "cpu:", "--- FAIL", "exit status", "{"
NUMBER = r"[0-9.]+(?:e[+-]?\d+)?"
LINE = re.compile(
    r"BenchmarkCell/(?P<cell>\S+?)(?:-\d+)?\s+(?P<operations>[1-9]\d*)"
    rf"\s+(?P<ns>{NUMBER}) ns/op(?:\s+{NUMBER} MB/s)?"
    rf"\s+(?P<bytes>{NUMBER}) B/op\s+(?P<allocations>{NUMBER}) allocs/op\s*"
)
LENGTH = 200
PER = 1000  # operations that one sample stands for


def cell_outcome(said: str, cell: str, op: str) -> Outcome:
    """Return samples and counters of `cell` in what the binary `said`.

    Raises `LaunchError` for all but its one line, and that it passed.
    """
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith(HEADER)]
    result = LINE.fullmatch(lines[0]) if lines[1:] == ["PASS"] else None
    if result is None or result["cell"] != cell:
        raise wrong(f"{' '.join(lines)[-LENGTH:]!r} where a result of {cell!r} was asked for")
    nanoseconds = Decimal(result["ns"])
    if nanoseconds <= 0:
        raise wrong(f"nothing was timed in {lines[0][:LENGTH]!r}")
    counted = {
        "allocations": float(result["allocations"]),
        "bytes_allocated": float(result["bytes"]),
    }
    samples = array("q", [round(nanoseconds * PER)])
    facts = {"operations": int(result["operations"])}
    return Outcome({op: samples}, {op: counted}, facts=facts)


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
