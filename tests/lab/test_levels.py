"""What a page asks of a run that lacks it is known: no row, and no error."""

import re
from pathlib import Path

import pytest

from ipclab.errors import UsageError
from ipclab.frames import derived
from ipclab.lab.lab import Lab
from ipclab.paths import Paths
from ipclab.words import labels
from tests.support.bundled import make_run
from tests.support.commands import ROOT
from tests.support.told import measured, reference


def test_a_study_that_was_not_measured_has_no_rows_whatever_is_asked_of_it(tmp_path: Path) -> None:
    lab = Lab.of(make_run(tmp_path), Paths(ROOT), "en")
    asked = {"op": ["write", "read"], "metric": "mean", "arm": "published"}
    assert lab.points("payload", **asked).empty
    with pytest.raises(UsageError, match=r"round_trip has no metric 'meann'.*did you mean 'mean'"):
        lab.points("round_trip", metric="meann")


@pytest.mark.parametrize("column", ["op", "metric"])
def test_each_operation_and_metric_of_the_reference_run_is_known(column: str) -> None:
    words = {
        word
        for study in derived.studies_measured(reference())
        for word in measured(study, "points")[column].dropna()
        if not re.search(r"\d", word)  # of which there are as many as a study likes
    }
    assert not words - labels.KNOWN


def test_no_level_is_called_as_a_factor_of_its_name() -> None:
    """An object that came by a `queue` came by "Tasks come by", as a factor is called."""
    untold = ["arm", "op", "metric"]  # an arm is told in a notebook's own words
    called = {name for name, label in labels.NAMES.items() if label != name}
    for study in derived.studies_measured(reference()):
        texts = measured(study, "points").select_dtypes(exclude="number")
        for factor in texts.columns.difference(untold):
            assert not {*texts[factor].dropna()} & called - labels.LEVELS.keys(), (study, factor)
