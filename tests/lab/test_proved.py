"""How many messages of a run were proved, as reports tell it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ipclab.paths import checkout
from ipclab.prose import prose
from ipclab.prose.teller import Teller
from ipclab.report.appendix.about import proved
from ipclab.report.lab import lab_of
from ipclab.stats.quantity import Quantity, missing, of
from ipclab.store.samples import decode
from tests.support.bundled import make_run
from tests.support.commands import ROOT
from tests.support.questions import NOTEBOOKS, cells
from tests.support.told import reference


def test_runs_tell_how_many_messages_were_numbered_and_compared() -> None:
    lab = lab_of(reference(), checkout(), "en")
    told = [count.value for count in proved(lab, "round_trip")]
    launches = [
        launch.facts
        for file in lab.run.point_files("round_trip")
        for launch in decode(file).launches
    ]
    assert told == [
        sum(int(str(facts.get(name, 0))) for facts in launches) for name in ("numbered", "compared")
    ]
    assert told[0] > told[1] > 0


def test_runs_of_before_messages_had_numbers_tell_of_none(tmp_path: Path) -> None:
    lab = lab_of(make_run(tmp_path), checkout(), "en")
    assert not any(map(bool, proved(lab, "round_trip")))


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
    lab = lab_of(reference(), checkout(), lang)
    teller = Teller(replace(lab, _names=lambda: {"numbered": numbered, "compared": numbered}))
    assert len(PROVED) == 2
    assert ["307" in prose.render(text, teller) for text in PROVED] == [says, says]
    assert says or not any(prose.render(text, teller).strip() for text in PROVED)


def test_nothing_says_that_all_bytes_were_looked_at_where_a_share_was() -> None:
    """Of messages and payloads a share is compared whole (`spawn/proof.py`)."""
    said = [path.read_text() for path in (*NOTEBOOKS, *(ROOT / "data/published").glob("*.toml"))]
    assert not re.search(r"every (byte|message) (is |was )?verified", " ".join(said), re.IGNORECASE)
