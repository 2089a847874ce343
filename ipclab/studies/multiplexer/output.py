"""What the Go program says, read exactly: of `go test -bench` a result, of a heat a line a turn."""

import re
from array import array
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Annotated

import msgspec
from msgspec import Meta

from ipclab.spawn.failures import LaunchError
from ipclab.spawn.proof import PROVED
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
Whole = Annotated[int, Meta(ge=0)]
Some = Annotated[int, Meta(ge=1)]
# counted where the sender is, to which the receiver's are added
BOTH_ENDS = "allocations", "bytes_allocated"
FAIRNESS = "fairness"  # of a turn, not of an operation
FIGURES = (*BOTH_ENDS, "receiver_allocations", "receiver_bytes_allocated", FAIRNESS)


class CellTurn(msgspec.Struct, tag_field="kind", tag="turn", forbid_unknown_fields=True):
    """One turn of cell number `cell` of a heat: its operations, and those of its receiver.

    Where there is a receiver every message is numbered, and so many were `compared` whole.
    """

    cell: Whole
    turn: Some
    operations: Some
    ns: Some
    allocations: Whole
    bytes_allocated: Whole
    receiver_allocations: Whole | None = None
    receiver_bytes_allocated: Whole | None = None
    fairness: Annotated[float, Meta(ge=1)] | None = None
    compared: Whole | None = None


class Failure(msgspec.Struct, tag_field="kind", tag="failure", forbid_unknown_fields=True):
    """Why cell number `cell` of a heat takes no further part."""

    cell: Whole
    why: str


LINES = msgspec.json.Decoder(CellTurn | Failure)


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
    counted = dict(zip(BOTH_ENDS, map(float, result.group("allocations", "bytes")), strict=True))
    samples = array("q", [round(nanoseconds * PER)])
    return Outcome({op: samples}, {op: counted}, facts={"operations": int(result["operations"])})


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


def cell_ends(said: str, ops: Sequence[str], turns: int) -> list[Outcome | str]:
    """Return how each cell of a heat ended, in the order of `ops`: measurements, or failure.

    Raises `LaunchError` when a cell that did not fail has not said exactly what it took in each of
    its `turns`.
    """
    taken = [list[CellTurn]() for _ in ops]
    why: dict[int, str] = {}
    for line in said.splitlines():
        try:
            parsed = LINES.decode(line)
        except msgspec.DecodeError as error:
            raise wrong(f"{error}: {line[:LENGTH]!r}") from error
        if parsed.cell >= len(ops):
            raise wrong(f"cell {parsed.cell} of {len(ops)}")
        if isinstance(parsed, Failure):
            why.setdefault(parsed.cell, parsed.why)
        else:
            taken[parsed.cell].append(parsed)
    for number, of_cell in enumerate(taken):
        numbers = [turn.turn for turn in of_cell]
        if number not in why and numbers != [*range(1, turns + 1)]:
            raise wrong(f"turns {numbers} of cell {number} where {turns} were asked for")
    return [
        why[number] if number in why else _joined(taken[number], op)
        for number, op in enumerate(ops)
    ]


def failures(said: str) -> dict[int, str]:
    """Return why cells of a heat failed, by number, in what a program `said` that then ended."""
    reasons = {}
    for line in said.splitlines():
        with suppress(msgspec.DecodeError):
            parsed = LINES.decode(line)
            if isinstance(parsed, Failure):
                reasons[parsed.cell] = parsed.why
    return reasons


def _joined(taken: Sequence[CellTurn], op: str) -> Outcome:
    """Return the turns of a cell as one sample each, and what its ends allocated in all."""
    operations = sum(turn.operations for turn in taken)
    counted = dict[str, float]()
    for name in FIGURES:
        values = [value for turn in taken if (value := getattr(turn, name)) is not None]
        if len(values) == len(taken):
            counted[name] = sum(values) / (len(taken) if name == FAIRNESS else operations)
        elif values:
            raise wrong("figures that are missing in some turns")
    for name in BOTH_ENDS:
        counted[name] += counted.get(f"receiver_{name}", 0.0)
    samples = array("q", [round(turn.ns * PER / turn.operations) for turn in taken])
    facts = {"operations": operations}
    compared = [turn.compared for turn in taken if turn.compared is not None]
    if compared:
        facts |= dict(zip(PROVED, (operations, sum(compared)), strict=True))
    return Outcome({op: samples}, {op: counted}, facts=facts, turns={op: [1] * len(taken)})
