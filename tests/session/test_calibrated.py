"""What all runs of a machine showed of the judge: one file, bounded, private, whole or refused."""

import json
import shutil
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from ipclab import calibrated
from ipclab.commands.bundles import pack, unpack
from ipclab.commands.calibrate import asked_of
from ipclab.errors import LabError
from ipclab.paths import Paths
from ipclab.store.archive import HostileError
from ipclab.store.calibration import MOST_BYTES, Counted, known_runs
from ipclab.store.files import LOCK
from ipclab.store.launch import Launch
from ipclab.store.record import Record
from ipclab.store.run import RunFolder, read_run
from ipclab.store.samples import Measured, encode
from ipclab.studies.calibration import OP, CalibrationStudy
from ipclab.studies.profile import PROFILES
from ipclab.studies.questions import questions_of, questions_plain
from tests.support.commands import Run
from tests.support.made import LAUNCH_NS, begun

PLANTED = {"0.10": 1, "0.20": 1, "0.40": 1}
FOUND = {"cross": Counted(3, 0, PLANTED, PLANTED), "same": Counted(3, 0, PLANTED, PLANTED)}
STAMP = "0" * 64


def calibrated_run(runs: Path, seed: int = 1, profile: str = "standard") -> Record:
    """Return a finished run with three pairs in each placement, measured on a quiet machine."""
    asked = questions_plain(questions_of(PROFILES[profile]))
    run = begun(runs, asked, profile=profile, studies=["limits", "round_trip"])
    random, orders = np.random.default_rng(seed), count(1)
    for point in CalibrationStudy().pairs(3, ("same", "cross")):
        launches = []
        for number in range(1, 13):
            medians = 1e4 * int(point.levels["exchanges"]) * np.exp(random.normal(0, 0.01))
            facts: dict[str, object] = {"round": number, "heat": number}
            times = np.full(8, int(medians))
            launches.append(
                Launch({OP: times}, {}, next(orders), number * 10**9, LAUNCH_NS, facts=facts)
            )
        run.place([(point, encode(Measured(point, launches, "enough")))])
    run.about["finished"] = "2026-11-20T10:01:00+00:00"
    run.save()
    return run


def gathered(run: RunFolder) -> Path:
    said: list[str] = []
    calibrated.count_new_runs(run, said.append)
    assert not said
    return run.path.parent / "calibration.json"


def test_runs_of_a_machine_are_counted_together_also_when_they_are_gone(paths: Paths) -> None:
    one, other = (calibrated_run(paths.runs, seed) for seed in (1, 2))
    quick = calibrated_run(paths.runs, 3, "quick")
    file = gathered(one)
    assert file.stat().st_mode & 0o777 == 0o600
    assert known_runs(file).keys() == {one.id, other.id, quick.id}
    # judged with another bound, it says nothing of these
    assert calibrated.judged_alike(one) == {one.id: FOUND, other.id: FOUND}
    shutil.rmtree(other.path)
    before = file.read_bytes()
    assert gathered(one).read_bytes() == before
    assert calibrated.judged_alike(one).keys() == {one.id, other.id}
    assert sorted(path.name for path in file.parent.iterdir()) == sorted(
        [one.id, quick.id, "calibration.json", LOCK]
    )


def test_what_follows_from_other_samples_is_counted_again(paths: Paths) -> None:
    run = calibrated_run(paths.runs)
    file = gathered(run)
    told = json.loads(file.read_text())
    told["runs"][run.id] |= {"stamp": STAMP, "placements": {}}
    file.write_text(json.dumps(told))
    gathered(run)
    assert known_runs(file)[run.id].placements == FOUND


def test_only_the_newest_runs_are_kept(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    first, last = sorted(calibrated_run(paths.runs, seed).path for seed in (1, 2))
    monkeypatch.setattr(calibrated, "MOST_RUNS", 1)
    assert known_runs(gathered(read_run(first))).keys() == {last.name}


RUN = b'{"format": 2, "runs": {"20261120T100000Z-000001": {"stamp": "%s", "same": 0.1, "placements": %s}}}'
ALARMS = b'{"same": {"twins": 1, "alarms": 2}}'
NEVER_PLANTED = b'{"same": {"found": {"0.10": 1}}}'
WRONG = {
    "no json": b"{",
    "a list": b"[]",
    "a field too many": b'{"format": 2, "runs": {}, "more": 1}',
    "more alarms than twins": RUN % (STAMP.encode(), ALARMS),
    "found and never planted": RUN % (STAMP.encode(), NEVER_PLANTED),
    "large": b" " * MOST_BYTES + b"{}",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("told", WRONG.values(), ids=WRONG)
def test_a_file_that_nobody_wrote_cannot_be_read(tmp_path: Path, told: bytes) -> None:
    (tmp_path / "calibration.json").write_bytes(told)
    with pytest.raises(LabError, match="cannot be read"):
        known_runs(tmp_path / "calibration.json")


def test_a_file_that_cannot_be_read_is_left_alone_and_goes_nowhere(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = calibrated_run(paths.runs)
    file = run.path.parent / "calibration.json"
    file.write_bytes(b"{")
    said: list[str] = []
    calibrated.count_new_runs(run, said.append)
    assert len(said) == 1 and "remove it" in said[0] and file.read_bytes() == b"{"
    bundle = paths.data / "a.ipclab"
    with pytest.raises(LabError, match="cannot be read"):
        pack(run, bundle)
    monkeypatch.setattr("ipclab.commands.bundles.known_runs", lambda file: {})
    pack(run, bundle)
    shutil.rmtree(run.path)
    with pytest.raises(HostileError, match=r"calibration\.json cannot be read"):
        unpack(paths, bundle)
    assert not [*paths.imported.glob("*/*")]


def test_a_calibration_of_an_older_version_says_nothing(paths: Paths) -> None:
    run = calibrated_run(paths.runs)
    file = run.path.parent / "calibration.json"
    file.write_text('{"made": "2026-11-21T04:34:02+00:00"}')
    assert known_runs(file) == {}
    assert known_runs(gathered(run)).keys() == {run.id}


def test_a_bundle_carries_what_its_machine_showed_and_changes_nothing_here(paths: Paths) -> None:
    here = [calibrated_run(paths.runs, seed) for seed in (1, 2)]
    gathered(here[0])
    bundle = paths.data / "a.ipclab"
    pack(here[0], bundle)
    own = (here[0].path.parent / "calibration.json").read_bytes()
    shutil.rmtree(here[0].path)
    placed = unpack(paths, bundle)
    assert calibrated.judged_alike(placed) == {run.id: FOUND for run in here}
    assert (here[1].path.parent / "calibration.json").read_bytes() == own
    again = paths.data / "b.ipclab"
    pack(placed, again)
    assert again.read_bytes() == bundle.read_bytes()


def test_the_command_plants_as_many_of_each_size_as_tell() -> None:
    ((_, points),) = asked_of("quick", 59).points()
    twins = [point for point in points if point.backend == "echo-a"]
    assert len(twins) == 60
    slower = [point.levels["exchanges"] for point in points if point.backend == "echo-slower"]
    assert {each: slower.count(each) for each in slower} == {11: 20, 12: 20, 14: 20}


def test_a_command_makes_twins_and_says_what_they_show(ipclab: Run, tmp_path: Path) -> None:
    done = ipclab("calibrate", "--profile", "smoke", "--twins", "2")
    assert done.returncode == 0, done.stderr
    assert "identical code called different: 0 of 0" in done.stdout
    (file,) = tmp_path.rglob("calibration.json")
    assert len(known_runs(file)) == 1
