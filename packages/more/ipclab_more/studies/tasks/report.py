"""What the program tells of a launch, read exactly: whatever is no such line is an error."""

from typing import Annotated, Literal

import numpy as np
from msgspec import Meta, MsgspecError, Struct, json

from ipclab.spawn.failures import LaunchError
from ipclab.store.launch import Launch
from ipclab.store.schema import LARGEST
from ipclab_more.studies.tasks.program.measure import BATCH

MOST = 10_000  # samples of an op
LENGTH = 200
Op = Literal["first-result", "task", "hundred", "computed"]
Time = Annotated[int, Meta(ge=1, le=LARGEST)]
Times = Annotated[list[Time], Meta(min_length=1, max_length=MOST)]
Kind = Annotated[str, Meta(pattern="^[A-Za-z]{1,40}$")]


class Killed(Struct, forbid_unknown_fields=True):
    """What was seen of a killed worker, after `ns`, and of the `next` task."""

    kind: Kind
    ns: Time
    next: Kind


class TaskReport(Struct, forbid_unknown_fields=True):
    """One launch: times (ns), CPU time of a task, memory of all workers, and what a kill did.

    Times are of a task from nothing, of each when warm, and of all of a batch. The kernel may not
    tell CPU time and memory: they are 0 then, and no values.
    """

    samples: dict[Op, Times]
    cpu_ns: Annotated[float, Meta(ge=0, le=LARGEST)]
    held_bytes: Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
    killed: Killed | None

    def __post_init__(self) -> None:
        """Raise `ValueError` unless the first result and warm tasks were timed."""
        if lacking := {"first-result", "task"} - self.samples.keys():
            raise ValueError(f"it has no times of {min(lacking)}")


def launch(text: str) -> Launch:
    """Return the launch that the program told of in its one line; `LaunchError` for others."""
    lines = [line for line in text.splitlines() if line.startswith("{")]
    try:
        (line,) = lines
        report = json.decode(line, type=TaskReport)
    except (ValueError, MsgspecError) as error:
        what = "what the program of tasks said cannot be used"
        why = str(error)[:LENGTH] if len(lines) == 1 else f"{len(lines)} results where one is due"
        raise LaunchError(what, why, "measure again") from error
    made = Launch({op: np.array(times, np.int64) for op, times in report.samples.items()}, {})
    made.per = {op: BATCH for op in ("hundred", "computed") if op in made.samples}
    if report.cpu_ns:
        made.counters["task"] = {"cpu_ns": report.cpu_ns}
    if report.held_bytes:
        made.facts["held_bytes"] = report.held_bytes
    if killed := report.killed:
        made.samples["noticed"] = np.array([killed.ns], np.int64)
        made.counters |= {"noticed": {killed.kind: 1.0}, "again": {killed.next: 1.0}}
    return made
