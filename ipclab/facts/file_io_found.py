"""What the facts of the file-reading study are made from: its rows of one run, asked for by level."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ipclab.facts.comparisons import ALL, Contest
from ipclab.facts.rows import Row, Rows
from ipclab.points import Level
from ipclab.stats.intervals import Estimate, estimate, ratio, scale
from ipclab.studies.file_io import KIB, MIB, OP
from ipclab.studies.file_io.experiments import COLD, LONG, LONGEST, SHORT, Sweeps

STUDY = "file_io"
CASES = {"base": ("mixed", SHORT), "big": ("mixed-big", SHORT), "long": ("mixed", LONG), "longest": ("mixed", LONGEST)}
STATES = ("execution", "io_wait", "work_wait", "preempted")
BUFFERS = ("fresh", "prefaulted", "registered")
FACTORS = {"x1": 1, "x2": 2, "x4": 4}
KINDS = {"small": "exp-small", "large": "exp-large"}
PUBLISHED_THREADS = (5, 6, 7, 8)
NEAR, FAR, PAGE = 8 * MIB, 32 * MIB, 4 * KIB
PUBLISHED_FILES = 1_000_000
SHORTS = {"4k": PAGE, "64k": 64 * KIB, "256k": 256 * KIB, "1m": MIB, "8m": NEAR, "32m": FAR}


@dataclass(frozen=True)
class Found:
    """The study's rows of one run, and the CPUs it had (0 when it was not measured)."""

    rows: Rows
    cores: int
    profile: str

    def get(self, op: str, metric: str = "p50", /, **levels: Level) -> Estimate | None:
        """Return what was measured at a point; levels that are not named are the usual ones."""
        row = self.row(op, metric, **levels)
        return row.estimate if row else None

    def row(self, op: str, metric: str = "p50", /, **levels: Level) -> Row | None:
        """Return the row of a point; levels that are not named are the usual ones."""
        past = levels.get("cache") == COLD and levels.get("backend") != "mmap"
        usual: dict[str, Level] = {"placement": "free", "advice": "none", "direct": "yes" if past else "no"}
        if levels.get("backend") != "mmap":
            usual["buffer"] = "fresh"
        return self.rows.find(op, metric, **{**usual, **levels})

    @property
    def sweeps(self) -> Sweeps:
        """Return the sweeps that the run's points come from."""
        return Sweeps(self.profile, max(1, self.cores))


def found(rows: Rows, about: Mapping[str, Any]) -> Found:
    """Return the study's rows of the run that `about` (its run.json) describes."""
    noted = about.get("notes", {}).get(STUDY, {})
    mine = Rows(row for row in rows if row.point.study == STUDY)
    return Found(mine, noted.get("cores", 0), noted.get("profile", about["parameters"]["profile"]))


def pair_of(
    run: Found, case: str, cache: str, threads: int, metric: str = "p50", placement: str = "free"
) -> tuple[Estimate | None, Estimate | None]:
    """Return a metric of serial and of overlapped reading with equally many threads."""
    name, draw = CASES[case]
    where: dict[str, Level] = {"arm": "serial", "set": name, "compute_ns": draw.mean, "cache": cache}
    where |= {"threads": threads, "placement": placement}
    return run.get(OP, metric, backend="sync", **where), run.get(OP, metric, backend="overlapped", **where)


def contest(contests: Sequence[Contest], question: str) -> Contest | None:
    """Return the contest of this study that `question` names, or None when it was not measured."""
    mine = (each for each in contests if each.study == STUDY and each.among == ALL)
    return next((each for each in mine if each.question == question and each.placement == "free"), None)


def gain(serial: Estimate, overlapped: Estimate) -> Estimate:
    """Return the share of its time that serial reading would save."""
    part = scale(ratio(overlapped, serial), -1.0)
    return estimate(part.value + 1, part.draws + 1, part.launches, part.samples)


def of(make: Callable[..., Estimate], *parts: Estimate | None) -> Estimate | None:
    """Return `make` of the parts, or None when one of them was not measured."""
    there = [part for part in parts if part is not None]
    return make(*there) if parts and len(there) == len(parts) else None
