"""How many messages of a run were proved, as reports tell it."""

import pandas as pd
import pytest

from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.store.bundle import opened
from ipclab_report.appendix.about import proved
from ipclab_report.lab import lab_of


def test_runs_tell_how_many_messages_were_numbered_and_compared_and_earlier_ones_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = lab_of(opened(checkout(), checkout().reference), checkout(), "en")
    assert not any(map(bool, proved(lab, "round_trip")))
    rows = [
        {"op": "launch", "metric": metric, "by_heat": counts}
        for metric, counts in (
            ("numbered", (100.0, 200.0)),
            ("compared", (10.0, 20.0)),
            ("numbered", (7.0,)),
            ("compared", (3.0,)),
        )
    ]
    monkeypatch.setattr(Lab, "points", lambda self, study: pd.DataFrame(rows))
    assert [count.value for count in proved(lab, "stream")] == [307, 33]
