"""The study of tasks: where work runs, and what handing it over costs, by interpreter.

What is measured runs in the interpreter that is asked for (`program`), which may have nothing but
its standard library; it tells of a launch in one line of JSON (`report`).
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from ipclab.studies.interface import Launch, Outcome, Placement, Point, Profile, Role, Study, Sweep
from ipclab_more.studies.tasks import interpreters, report
from ipclab_more.studies.tasks.program.work import KINDS

STARTS = ("fork", "forkserver", "spawn")
WAYS = (
    "thread",
    "pool-thread",
    "interpreter",
    "pool-interpreter",
    *(f"{kind}-{start}" for kind in ("process", "pool", "mp-pool") for start in STARTS),
    "pool-loky",
)
SINCE = {"interpreter": 13, "pool-interpreter": 14}  # of Python 3
SIZES = 1_000, 100_000, 10_000_000
PROGRAM = "program"  # the role
COMMAND = ("-P", "-W", "ignore", "-m", "program.measure")


class TasksStudy(Study):
    """A program hands tasks to two workers: threads, interpreters or processes, or a pool."""

    name = "tasks"
    mechanisms = WAYS
    factors: ClassVar = {"python": interpreters.KNOWN, "object": KINDS}
    named_only = ("smoke", "quick", "published")
    payloads_shared = 0  # what a worker gets is copied, or the same

    def effort(self, profile: Profile) -> Profile:
        """Return the profile with a fixed number of launches: each starts all anew."""
        return super().effort(profile).exactly(profile.least_values)

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        own = interpreters.this_python()
        pythons = sweep.levels.get("python", interpreters.KNOWN)
        sizes = sorted(set(sweep.sizes or SIZES))
        points = self.of_arms(
            sweep.of(WAYS),
            own=[name for name in pythons if name == own],
            others=[name for name in pythons if name != own],
            pythons=pythons,
            objects=sweep.levels.get("object", KINDS),
            small=sizes[:1],
            sizes=sizes,
        )
        minor = interpreters.minor  # those of which a Python of that name has the way at all
        return [p for p in points if minor(str(p.levels["python"])) >= SINCE.get(p.backend, 0)]

    def brief(self, points: Sequence[Point]) -> list[Point]:
        """Return what a quick run measures: the interpreter that runs it."""
        own = interpreters.this_python()
        return [point for point in super().brief(points) if point.levels["python"] == own]

    def missing(self, point: Point, scratch: Path) -> str | None:
        return interpreters.python_missing(str(point.levels["python"]))

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        levels, own = point.levels, self.own(effort)
        asked = {
            "way": point.backend,
            "queue": levels["queue"],
            "kind": levels["object"],
            "size": point.size_bytes,
            "seed": seed,
            **effort.samples,
            "budget_ns": effort.budget_ns,
            "batches": own["batches"] if levels["arm"] == "main" else 0,
            "deadline_ns": own["deadline_ns"],
        }
        command = (interpreters.python_file(str(levels["python"])), *COMMAND, json.dumps(asked))
        # A person's settings of Python would make it another one.
        env: dict[str, str | None] = {name: None for name in os.environ if name[:6] == "PYTHON"}
        env["PYTHONPATH"] = str(Path(__file__).parent)
        return [Role(PROGRAM, "", {}, placement.role(0), command=command, env=env)]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        return report.launch(str(outcomes[PROGRAM].facts["said"]))
