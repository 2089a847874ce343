"""No interval of a time begins below the limit of its operation: it is cut there, and flagged."""

from pathlib import Path

import pandas as pd
import pytest

from ipclab.bounds.limits import with_limits
from ipclab.bounds.points import BANDWIDTH, CUT, TIMES, cut_points
from ipclab.frames import derived
from ipclab.paths import checkout
from ipclab.store.bundle import opened
from ipclab.store.run import RunFolder
from tests.frames.test_limits_again import made


def beyond(points: pd.DataFrame, limits: pd.DataFrame, run: RunFolder) -> pd.DataFrame:
    """Return the rows that lie above their limit, and whose interval does not."""
    known = with_limits(points, limits, run.questions)
    fastest = known.size_bytes * 1e9 / known.limit
    low = known.metric.isin(TIMES) & (known.value >= known.limit) & (known.low < known.limit)
    high = (known.metric == BANDWIDTH) & (known.value <= fastest) & (known.high > fastest)
    return known[low | high]


@pytest.mark.parametrize("bundle", ["reference.ipclab", "compared.ipclab"])
def test_no_interval_of_a_bundle_begins_below_its_limit(bundle: str) -> None:
    run = opened(checkout(), checkout().data / bundle)
    limits = derived.read_frame(run, "limits", "launches")
    count = 0
    for study in derived.studies_measured(run):
        if not run.questions.of(study).bounds:
            continue
        points = cut_points(run, study)
        assert len(beyond(points, limits, run)) == 0, study
        count += len(beyond(derived.read_frame(run, study, "points"), limits, run))
        assert points.value.equals(derived.read_frame(run, study, "points").value)
    assert count > 0  # there is something to cut


def test_what_begins_below_its_limit_is_cut_and_what_beats_it_is_not(tmp_path: Path) -> None:
    """The limit is 53 ns, in the middle of its launches."""
    for asked, low, flagged in (
        ([57, 53, 70, 58, 61], 53.0, True),
        ([157, 158, 159], None, False),
        ([50, 51, 52], None, False),
    ):
        run = made(tmp_path / str(asked[0]), pipe=[53, 52, 54], unix=[40, 41], asked=asked)
        points, before = (
            cut_points(run, "round_trip"),
            derived.read_frame(run, "round_trip", "points"),
        )
        row, own = (frame[frame.metric == "p50"].iloc[0] for frame in (points, before))
        assert row.low == (low or own.low)
        assert (own.low < 53 <= own.value) == flagged == (CUT in row["flags"].split(";"))
        rate = points[points.metric == BANDWIDTH].iloc[0]
        assert (rate.high == pytest.approx(100 * 1e9 / 53)) == flagged
