"""No interval of a time begins below the limit of its operation: it is cut there, and flagged."""

from pathlib import Path

import pandas as pd
import pytest

from ipclab.bounds.limits import with_limits
from ipclab.bounds.points import BANDWIDTH, CUT, TIMES, cut_points
from ipclab.frames import derived
from ipclab.store.run import RunFolder
from tests.frames.test_limits_again import made
from tests.support.told import reference


def beyond(points: pd.DataFrame, limits: pd.DataFrame, run: RunFolder) -> pd.DataFrame:
    """Return the rows that lie above their limit, and whose interval does not."""
    known = with_limits(points, limits, run.questions)
    fastest = known.size_bytes * 1e9 / known.limit
    low = known.metric.isin(TIMES) & (known.value >= known.limit) & (known.low < known.limit)
    high = (known.metric == BANDWIDTH) & (known.value <= fastest) & (known.high > fastest)
    return known[low | high]


def test_no_interval_of_the_reference_run_begins_below_its_limit() -> None:
    run = reference()
    limits = derived.read_frame(run, "limits", "launches")
    to_cut = 0
    for study in derived.studies_measured(run):
        if run.questions.of(study).bounds:
            points, before = cut_points(run, study), derived.read_frame(run, study, "points")
            assert len(beyond(points, limits, run)) == 0, study
            assert points.value.equals(before.value)
            to_cut += len(beyond(before, limits, run))
    assert to_cut > 0


def test_what_begins_below_its_limit_is_cut_and_what_beats_it_is_not(tmp_path: Path) -> None:
    """The limit is 53 ns, in the middle of its launches."""
    for asked, low, flagged in (
        ([57, 53, 70, 58, 61], 53.0, True),
        ([157, 158, 159], None, False),
        ([50, 51, 52], None, False),
    ):
        run = made(tmp_path / str(asked[0]), pipe=[53, 52, 54], unix=[40, 41], asked=asked)
        points = cut_points(run, "round_trip")
        before = derived.read_frame(run, "round_trip", "points")
        row, own = (frame[frame.metric == "p50"].iloc[0] for frame in (points, before))
        assert row.low == (low or own.low)
        assert (own.low < 53 <= own.value) == flagged == (CUT in row["flags"].split(";"))
        rate = points[points.metric == BANDWIDTH].iloc[0]
        assert (rate.high == pytest.approx(100 * 1e9 / 53)) == flagged
