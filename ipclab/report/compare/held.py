"""What a comparison needs of a run: each point's ops with launch medians, levels and limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from ipclab.bounds import cpu_pairs
from ipclab.bounds.limits import floors
from ipclab.calibrated import STUDY
from ipclab.errors import UsageError
from ipclab.frames import derived, tails
from ipclab.frames.run_table import medians_table, told_of_run
from ipclab.lab.runs import run_named
from ipclab.paths import Paths
from ipclab.quantile import MEDIAN, checked_quantile
from ipclab.report.compare import LIMITS
from ipclab.store.questions import Questions, questions_told
from ipclab.store.run import RunFolder

LEAST = 2
OTHER = "data/compared.ipclab"  # a run of another machine, to compare in a fresh clone
BOUNDS = ("bound", "bound_low", "bound_high")
UNBOUNDED = dict.fromkeys(BOUNDS, float("nan"))


@dataclass(frozen=True)
class ComparedRun:
    """One run: its `run.json`, its launch frames (medians) by study, and its points.

    `points` has a row for each op of each point: the columns `MEDIANS` of the table of runs, and
    `BOUNDS`, what the hardware allows (ns, from the least launch to the most; NaN where
    nothing is known). Where another quantile is compared, it stands for the median, of launches
    with samples enough.
    """

    id: str
    about: Mapping[str, Any]
    launches: Mapping[str, pd.DataFrame]
    points: pd.DataFrame
    questions: Questions

    @classmethod
    def of(
        cls, name: str, about: Mapping[str, Any], launches: Mapping[str, pd.DataFrame]
    ) -> "ComparedRun":
        """Return what is held: `launches` are launch frames by study."""
        whole = {
            study: frame[(frame.metric == "p50") & ~frame.op.str.contains(".", regex=False)]
            for study, frame in launches.items()
        }
        medians = {study: frame[frame.value.notna()] for study, frame in whole.items()}
        questions = questions_told(about)
        points = medians_table(told_of_run(name, about), whole.values(), derived.LAUNCH_VALUES)
        points = _bounded(points, medians.get(LIMITS), questions)
        return cls(name, about, medians, points, questions)


def compared_run(run: RunFolder, quantile: float = MEDIAN) -> ComparedRun:
    """Return what a comparison of a `quantile` of each launch needs of `run`.

    Raises `LabError` when it is not what was measured, and where no launch has samples enough for
    the quantile.
    """
    checked_quantile(quantile)
    run.checked()
    # which tells nothing of two machines
    studies = [study for study in derived.studies_measured(run) if study != STUDY]
    launches = {study: tails.quantiles_by_launch(run, study, quantile) for study in studies}
    if LIMITS in launches:  # thousands of pairs of CPUs would take the others' levels of error
        limits = launches[LIMITS]
        launches[LIMITS] = limits[limits.backend != cpu_pairs.NAME]
    compared = ComparedRun.of(run.id, run.about, launches)
    if quantile == MEDIAN:
        return compared
    if all(frame.value.isna().all() for frame in launches.values()):
        raise tails.too_few(quantile)
    # limits bound medians
    return replace(compared, points=compared.points.assign(**UNBOUNDED))


def runs_to_compare(paths: Paths, runs: Sequence[str]) -> list[RunFolder]:
    """Return the runs in folders (or bundles) `runs`; when empty the two that are committed.

    Raises `UsageError` unless they are two or more, each once.
    """
    asked = [run_named(paths, str(run)) for run in runs or (paths.reference, paths.root / OTHER)]
    if len(asked) < LEAST:
        why = f"there are {len(asked)}"
        raise UsageError("a comparison needs two runs", why, "give the folders of two or more")
    if len({run.id for run in asked}) < len(asked):
        raise UsageError("a run cannot be compared with itself", "", "give each run once")
    return asked


def _bounded(
    points: pd.DataFrame, limits: pd.DataFrame | None, questions: Questions
) -> pd.DataFrame:
    if limits is None:
        return points.assign(**UNBOUNDED)
    known = floors(limits, questions)
    bounds = []
    for row in points.to_dict("records"):
        floor = known.under(row["study"], row["op"], {**row["levels"], **row})
        bounds.append((floor.ns, floor.low, floor.high) if floor else UNBOUNDED.values())
    return points.join(pd.DataFrame(bounds, points.index, list(BOUNDS), dtype=float))
