"""How many messages of a run were proved, as reports tell it."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.stats.quantity import Quantity, missing, of
from ipclab.store.bundle import opened
from ipclab_report.appendix.about import proved
from ipclab_report.lab import lab_of
from ipclab_report.prose import prose
from ipclab_report.prose.teller import Teller
from tests.support.commands import ROOT
from tests.support.questions import NOTEBOOKS, cells


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


PROVED = [
    text
    for notebook in NOTEBOOKS
    for is_prose, text in cells(notebook)
    if is_prose and "{numbered:int}" in text
]


@pytest.mark.parametrize(("numbered", "says"), [(missing("count"), False), (of(307), True)])
@pytest.mark.parametrize("lang", ["en", "ko", "zh"])
def test_of_a_run_without_numbers_nothing_is_told_of_proof(
    numbered: Quantity, says: bool, lang: str
) -> None:
    lab = lab_of(opened(checkout(), checkout().reference), checkout(), lang)
    teller = Teller(replace(lab, _names=lambda: {"numbered": numbered, "compared": numbered}))
    assert len(PROVED) == 2
    assert ["307" in prose.render(text, teller) for text in PROVED] == [says, says]
    assert says or not any(prose.render(text, teller).strip() for text in PROVED)


def test_nothing_says_that_all_bytes_were_looked_at_where_a_share_was() -> None:
    """Of messages and payloads a share is compared whole (`spawn/proof.py`)."""
    said = [path.read_text() for path in (*NOTEBOOKS, *(ROOT / "data/published").glob("*.toml"))]
    assert not re.search(r"every (byte|message) (is |was )?verified", " ".join(said), re.IGNORECASE)
