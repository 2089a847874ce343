"""The simulation by which the test of heats was chosen, in brief: it holds its rate of errors and needs the fewest."""

import runpy

import pytest

from tests.commands import ROOT

PAIRED = runpy.run_path(str(ROOT / "benchmarks/paired.py"))
CONTESTS, ALARMS, MECHANISMS = 300, 0.05, 6


@pytest.mark.slow
def test_students_t_errs_seldom_and_decides_with_the_fewest_heats() -> None:
    rows = [row for row in PAIRED["weighed"](CONTESTS, sizes=(MECHANISMS,)) if row["scatter"] != "bimodal"]
    for shape in ("normal", "heavy", "contaminated"):
        by_test = {row["test"]: row for row in rows if row["scatter"] == shape}
        assert max(row["false alarms"] for row in by_test.values()) <= ALARMS, by_test
        assert min(by_test, key=lambda test: by_test[test]["heats"]) == "t", by_test
