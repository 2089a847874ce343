"""Made-up histories of one machine: what happened, and at which run, is known."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ipclab.report.compare.held import ComparedRun
from tests.support.simulated import Machine, limits, points, run

KINDS = ("none", "step", "drift", "outlier", "profile", "machine")


@dataclass(frozen=True)
class Made:
    """A history: its runs, the run that its step begins with (None: no step), and the run that
    stands alone.
    """

    kind: str
    runs: list[ComparedRun] = field(repr=False)
    step: int | None = None
    alone: int | None = None


def history(kind: str, seed: int, luck: float = 0.02) -> Made:
    """Return 8 to 16 runs; `luck` is the deviation of the log that all of a session share."""
    random = np.random.default_rng(seed)
    count = int(random.integers(8, 17))
    at, size = int(random.integers(2, count - 1)), float(random.choice([0.75, 1.25, 1.35]))
    runs = []
    for number in range(count):
        ratio = size if kind in ("step", "machine") and number >= at else 1.0
        ratio = 1.4 if kind == "outlier" and number == at else ratio
        ratio = 1.04**number if kind == "drift" else ratio
        standard = kind == "profile" and number >= at
        machine = Machine(
            ratio, ratio if kind == "machine" else 1.0, 0.05, luck, 16 if standard else 8
        )
        measured = [*points(sizes=(100, 50_000) if standard else (100, 10_000)), *limits()]
        about: dict[str, Any] = {"parameters": {"profile": "standard" if standard else "quick"}}
        about["begun"] = f"2026-11-{number + 1:02}T10:00:00+00:00"
        runs.append(run(f"{number:02}", machine, 1000 * seed + number, measured, **about))
    return Made(
        kind, runs, at if kind in ("step", "machine") else None, at if kind == "outlier" else None
    )
