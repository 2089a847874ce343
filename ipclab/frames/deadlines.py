"""What a run says of deadlines: a tolerance limit of the launches' p99.9, for each point measured for one."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.frames.derived import measured
from ipclab.frames.points import QUANTILES, Row, frame
from ipclab.stats.intervals import rank
from ipclab.stats.tolerance import Deadline, statement
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, decode
from ipclab.studies.installed import ALWAYS

METRIC = "p99.9"
LEAST_SAMPLES = round(1 / (1 - QUANTILES[METRIC]))  # of fewer the p99.9 is the largest
VALUES = ("op", "metric", "unit", "value", "state", "launches", "samples", "drift", "follows")


def asked(run: RunFolder) -> Deadline | None:
    """Return what `run` was measured to state, None when it was measured for something else."""
    text = run.about["parameters"].get("deadline", "")
    try:
        return Deadline.of(text) if text else None
    except ValueError as error:
        raise LabError(f"{run.id} asks for deadline {text!r}", str(error), "measure anew") from error


def deadlines(run: RunFolder) -> pd.DataFrame:
    """Return one row for each point and main op that `run` was measured for; empty when it was for something else.

    `value` is the p99.9 (ns) below which the launches asked for lie, missing where none is stated: `state` says why
    (`ipclab.stats.tolerance`). `samples` are those of the launch with the fewest; `drift` and `follows` are p values.
    """
    wanted = asked(run)
    studies = [name for name in measured(run) if name not in ALWAYS] if wanted else []
    files = [file for name in studies for file in run.point_files() if file.parent.name == name]
    return frame([row for file in files for row in _rows(decode(file), wanted)] if wanted else [], VALUES)


def _rows(found: Measured, wanted: Deadline) -> Iterator[Row]:
    head = {"study": found.point.study, "point": found.point.id, **found.point.key()}
    launches = sorted(found.launches, key=lambda launch: launch.order)
    for op in (op for op in found.point.primary if op in found.op_names() and launches[0].per.get(op, 1) == 1):
        times = [np.sort(launch.samples[op]) for launch in launches]
        tails = [float(each[rank(len(each), QUANTILES[METRIC])]) for each in times]
        told = statement(tails, wanted, len(found.failures))
        counted = told.launches, min(map(len, times))
        values = (op, METRIC, "ns", told.bound, told.state, *counted, told.drift, told.follows)
        yield {**head, **dict(zip(VALUES, values, strict=True))}
