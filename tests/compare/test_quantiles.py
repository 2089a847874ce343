"""Another quantile than the median compared: of each launch, and refused where too few samples lie
beyond it.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ipclab.errors import LabError
from ipclab.frames import tails
from ipclab.quantile import MEDIAN
from ipclab.report.compare import shared
from ipclab.report.compare.held import BOUNDS, compared_run
from ipclab.stats.intervals import pooled
from ipclab.stats.quantity import FEW_SAMPLES
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode
from tests.support.bundled import make_run
from tests.support.commands import Run


@pytest.fixture
def runs(tmp_path: Path) -> list[RunFolder]:
    """Return two runs whose points have 6 launches of 30 samples each."""
    return [
        make_run(tmp_path / name, factor=factor) for name, factor in (("one", 1.0), ("two", 1.5))
    ]


def test_the_quantile_of_each_launch_stands_for_its_median(runs: list[RunFolder]) -> None:
    compared = compared_run(runs[0], 0.6)
    (row,) = compared.points[compared.points.backend == "tcp"].to_dict("records")
    (file,) = (file for file in runs[0].point_files() if file.name.startswith("tcp"))
    launches = [np.sort(launch.samples["round-trip"]) for launch in decode(file).launches]
    assert row["medians"] == [samples[17] for samples in launches]  # the 18th of 30
    assert compared.points[[*BOUNDS]].isna().all(axis=None)  # limits bound medians
    medians = compared_run(runs[0]).points.medians
    assert medians.map(max).lt(compared.points.medians.map(max)).all()


def test_a_quantile_is_judged_as_a_median_is(runs: list[RunFolder]) -> None:
    found = shared.shared_points([compared_run(run, 0.6) for run in runs])
    assert set(found.verdict) == {"slower"}
    assert found.ratio.astype(float).between(1.4, 1.6).all()


def test_a_point_with_too_few_samples_is_not_tested_and_says_so(runs: list[RunFolder]) -> None:
    sides = [compared_run(run, 0.6) for run in runs]
    side = sides[1].points
    side["medians"] = side.medians.where(side.backend != "tcp", None).map(
        lambda medians: medians or []
    )
    found = shared.shared_points(sides).set_index("backend")
    assert (found.verdict["tcp"], found.reason["tcp"]) == ("not tested", FEW_SAMPLES)
    assert found.verdict["unix"] == "slower"


def test_samples_are_enough_where_a_quantile_of_them_is_known() -> None:
    counts = pd.Series([11, 20, 21, 99, 100, 101, 999, 1000])
    for quantile in (0.6, 0.9, 0.99):
        known = [pooled([np.arange(count)], quantile) is not None for count in counts]
        assert tails.enough(counts, quantile).tolist() == known
    assert tails.enough(counts, 0.9).tolist() == [False] * 4 + [True] * 4
    assert tails.enough(counts, MEDIAN).all()


def test_where_no_launch_has_samples_enough_the_quantile_is_refused(runs: list[RunFolder]) -> None:
    with pytest.raises(LabError, match="10 samples must lie beyond it"):
        compared_run(runs[0], 0.7)  # of 30, 9 lie beyond
    assert compared_run(runs[0], MEDIAN).points.medians.map(bool).all()


def test_wrong_quantiles_are_one_line(ipclab: Run, runs: list[RunFolder]) -> None:
    folders = [str(run.path) for run in runs]
    for quantile, code, said in (
        ("0.99", 1, "p99 is not known"),
        ("1.5", 2, "quantile 1.5"),
        ("0.2", 2, "0.2"),
    ):
        done = ipclab("compare", *folders, "--quantile", quantile, "--table-only")
        assert done.returncode == code, done.stderr
        assert done.stderr.count("\n") == 1 and said in done.stderr
