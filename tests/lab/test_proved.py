"""How many messages of a run were proved, as reports tell it."""

from pathlib import Path

from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.report.appendix.about import proved
from ipclab.store.samples import decode
from tests.support.bundled import make_run
from tests.support.told import reference


def test_runs_tell_how_many_messages_were_numbered_and_compared() -> None:
    lab = Lab.of(reference(), checkout(), "en")
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
    lab = Lab.of(make_run(tmp_path), checkout(), "en")
    assert not any(map(bool, proved(lab, "round_trip")))
