"""Run folders: digests, crashes, locks, versions, and which of them is the newest."""

import datetime as dt
import errno
import json
import os
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from ipclab.errors import LabError, UsageError
from ipclab.lab.lab import Lab
from ipclab.lab.runs import best, choose, runs_called
from ipclab.machine import origin
from ipclab.machine.facts import collect
from ipclab.machine.origin import origin_lines
from ipclab.paths import Paths
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure_run
from ipclab.spawn.ledger import clean_parts
from ipclab.store import run as folder
from ipclab.store.files import dump_json, private_cache, sha256, write_whole
from ipclab.store.point import Point
from ipclab.store.record import Record, create, reopened, sealed, settle_parts
from tests.support.bundled import make_run
from tests.support.made import ASKED

NOW = dt.datetime(2026, 11, 21, 3, 4, 5, tzinfo=dt.UTC)
PARAMETERS: dict[str, object] = {
    "profile": "smoke",
    "studies": ["payload"],
    "sizes": None,
    "backends": None,
    "levels": {},
}


@pytest.fixture
def run(tmp_path: Path) -> Record:
    return made(tmp_path)


def made(runs: Path, machine: str = "abc", seed: int = 1, now: dt.datetime = NOW) -> Record:
    about = {
        "seed": seed,
        "parameters": PARAMETERS,
        "machine": {"digest": machine, "facts": {}, "reasons": {}},
        "questions": ASKED,
    }
    return create(runs, machine, about, now)


def warnings(run: Record, point: Point) -> tuple[bool, list[str]]:
    """Return whether the run has the point, read anew from disk, and what it warned of."""
    said: list[str] = []
    return reopened(run.path).has(point, said.append), said


def files(path: Path) -> set[str]:
    return {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}


def test_a_finished_point_is_one_file_whose_digest_the_run_knows(run: Record, point: Point) -> None:
    assert run.path.parent.name == "abc"
    assert run.id.startswith("20261121T030405Z-")
    assert warnings(run, point) == (False, [])
    run.place([(point, b"samples")])
    name = f"points/payload/{point.id}.parquet"
    assert files(run.path) == {"run.json", name}
    again = reopened(run.path)
    assert again.about["files"] == {name: sha256(run.path / name)}
    assert list(again.point_files()) == [again.path / name]
    assert (again.date, again.finished) == (NOW, False)
    assert warnings(run, point) == (True, [])


@pytest.mark.parametrize("content", [b"sampleS", b"sample"], ids=["altered", "cut"])
def test_an_altered_file_is_found_and_measured_again(
    run: Record, point: Point, content: bytes
) -> None:
    run.place([(point, b"samples")])
    (run.path / run.file(point)).write_bytes(content)
    assert warnings(run, point) == (
        False,
        [
            f"{run.file(point)} is not what was measured (truncated or altered): it is measured again"
        ],
    )
    told = r"is not what was measured.*; restore it, or measure it again: make measure RUN="
    with pytest.raises(LabError, match=told):
        list(folder.read_run(run.path).point_files())
    run.place([(point, b"samples")])
    assert warnings(run, point) == (True, [])


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it."""


@pytest.mark.parametrize("earlier", [b"", b"launches"])
def test_killed_between_digest_and_rename(
    run: Record, point: Point, earlier: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, name = Path.replace, run.file(point)
    if earlier:
        run.place([(point, earlier)])

    def die(part: Path, target: Path) -> Path:
        if target.suffix == ".parquet":
            raise Killed
        return replace(part, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", die)
        patch.setattr(Path, "unlink", lambda *_, **__: None)  # the dead do not tidy up
        with pytest.raises(Killed):
            run.place([(point, b"launches and more")])
    part = f"{name}.{os.getpid()}.part"
    assert files(run.path) == {"run.json", part, *([name] if earlier else [])}
    again = reopened(run.path)
    assert list(again.about["files"]) == [name]
    (run.path / "half.parquet.1.part").write_bytes(b"launches and")
    again.remove_parts()
    assert files(run.path) == {"run.json", name}
    assert warnings(again, point) == (True, [])
    assert (run.path / name).read_bytes() == b"launches and more"


def test_what_a_killed_process_wrote_is_settled_unless_the_run_is_in_use(run: Record) -> None:
    part = run.path / "half.parquet.1.part"
    part.write_bytes(b"launches and")
    top = run.path.parents[1]
    with run.held():
        assert settle_parts(top) == [] and part.exists()
    assert settle_parts(top) == [str(part)] and not part.exists()


def test_a_point_given_up_takes_its_earlier_file_along(run: Record, point: Point) -> None:
    run.place([(point, b"samples")])
    (run.path / run.file(point)).write_bytes(b"altered")
    run.fail(point, "worker died")
    again = reopened(run.path)
    assert again.about["failures"] == {point.id: "worker died"}
    assert list(again.point_files()) == []
    assert files(run.path) == {"run.json"}
    again.place([(point, b"samples")])
    assert folder.read_run(run.path).about["failures"] == {}


def test_a_full_disk_leaves_the_old_file_and_no_empty_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    told = r"cannot write .*: No space left on device; free some room"
    with pytest.raises(LabError, match=told):
        write_whole(path, b"new")
    assert files(tmp_path) == {"file"} and path.read_bytes() == b"old"
    with pytest.raises(LabError, match="cannot write"):
        write_whole(path / "below", b"")
    with pytest.raises(LabError, match=told):
        made(tmp_path / "runs")
    assert list((tmp_path / "runs").iterdir()) == []


def test_only_the_parts_of_processes_that_ended_are_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    names = [f"page.pdf.{pid}.part" for pid in (os.getpid(), ended.pid)]
    for name in (*names, "mine.part"):
        (tmp_path / name).touch()
    assert clean_parts([tmp_path, tmp_path / "nothing"]) == [str(tmp_path / names[1])]
    assert files(tmp_path) == {names[0], "mine.part"}


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is no run: it has no run\.json; give a folder below"):
        folder.read_run(tmp_path)
    for text in ('{"schema": 1', '{"schema": 1}', "[]"):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(LabError, match=r"run\.json cannot be read") as caught:
            folder.read_run(tmp_path)
        assert type(caught.value) is LabError


def test_a_run_knows_its_own_content(run: Record, point: Point) -> None:
    run.place([(point, b"samples")])
    index, text = run.path / "run.json", (run.path / "run.json").read_text()
    assert folder.read_run(run.path).about == run.about
    index.write_text(json.dumps(json.loads(text)))  # the same content, written otherwise
    assert folder.read_run(run.path).about == run.about
    for old, new in (('"seed": 1', '"seed": 2'), ("payload/", "payl0ad/")):
        assert old in text
        index.write_text(text.replace(old, new, 1))
        told = r"run\.json cannot be read: it was altered: its digest"
        with pytest.raises(LabError, match=told) as caught:
            folder.read_run(run.path)
        assert "restore it" in caught.value.fix


WRONG: tuple[object, ...] = (None, -1, "x", [1], {"x": 1}, "2026-11-21")


@pytest.mark.parametrize("digested", [False, True], ids=["schema 2", "sealed"])
def test_no_mutation_of_the_index_is_more_than_one_line(run: Record, digested: bool) -> None:
    """Every field, of every wrong type, with and without a seal that fits: read, or refused."""
    run.about["sessions"] = [{"begun": NOW.isoformat(), "conditions": {"load_1": 0.5}}]
    refused = 0
    for field, value in product(
        [*run.about, "parameters.profile", "machine.facts", "machine.digest"], WRONG
    ):
        about = json.loads(json.dumps(run.about))
        *outer, name = field.split(".")
        (about[outer[0]] if outer else about)[name] = value
        if not digested and field != "schema":
            about |= {"schema": 2}
        (run.path / "run.json").write_bytes(sealed(about) if digested else dump_json(about))
        try:
            read = folder.read_run(run.path)
            assert read.date and read.finished in (True, False) and list(read.point_files()) == []
        except LabError as error:
            refused += 1
            assert "\n" not in str(error) and "run.json cannot be read" in str(error)
    assert refused > 50


def test_the_newest_run_that_can_be_read_is_found(tmp_path: Path) -> None:
    runs = [made(tmp_path, name, i, NOW + dt.timedelta(days=i)) for i, name in enumerate("bca")]
    newer = made(tmp_path, "a", now=NOW + dt.timedelta(days=9))
    (newer.path / "run.json").write_text('{"schema": 99, "files": {}}')
    found = [
        folder.newest(tmp_path, wanted)
        for wanted in (lambda _: True, lambda run: run.about["seed"] < 2)
    ]
    assert [run.id for run in found if run] == [runs[2].id, runs[1].id]
    assert folder.newest(tmp_path, lambda _: False) is None
    assert folder.newest(tmp_path / "absent", lambda _: True) is None


def test_a_clock_that_was_set_back_makes_no_run(paths: Paths) -> None:
    newer = made(paths.runs, now=dt.datetime.now(dt.UTC) + dt.timedelta(hours=1))
    told = f"the clock was set back: it is .* and the run {newer.id} is newer; set it, or"
    with pytest.raises(LabError, match=told):
        measure_run(paths, Request(("payload",), "smoke"), Progress())
    assert list(paths.runs.glob("*/*")) == [newer.path]


def test_a_run_is_found_by_its_folder_and_by_its_id(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    mine = made(paths.runs, "a")
    for name in (str(mine.path), mine.id, str(mine.path.relative_to(tmp_path))):
        assert choose(paths, name).path == mine.path
    with pytest.raises(UsageError, match="no run"):
        choose(paths, "20990101T000000Z-abcdef")


def holding(paths: Paths, day: int, profile: str, count: int, machine: str = "a") -> Record:
    """Return a finished run of so many points of round trips, which nobody reads here."""
    run = made(paths.runs, machine, now=NOW + dt.timedelta(days=day))
    names = [
        f"points/round_trip/p-cross-{size}-0123abcd.parquet" for size in range(100, 100 + count)
    ]
    run.about["files"] = dict.fromkeys(names, "0" * 64)
    run.about["parameters"] = {**PARAMETERS, "profile": profile}
    run.about["finished"] = NOW.isoformat()
    run.save()
    return run


def test_the_run_that_answers_most_is_opened_and_not_the_newest(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    assert best(paths, "round_trip") == []
    quick = holding(paths, 1, "quick", 11)
    smoke, one = holding(paths, 2, "smoke", 20), holding(paths, 3, "full", 1)
    assert [run.id for run in best(paths, "round_trip")] == [quick.id, one.id, smoke.id]
    assert choose(paths, study="round_trip").id == quick.id
    assert best(paths, "round_trip", lambda run: run.id == one.id)[0].id == one.id
    assert (
        runs_called(best(paths, "round_trip"))
        == f"{quick.id} (quick, 2026-11-22); the newest, {one.id} (full, 2026-11-24), tells less"
    )
    again, standard = holding(paths, 4, "quick", 11), holding(paths, 0, "standard", 11)
    assert [run.id for run in best(paths, "round_trip")][:3] == [standard.id, again.id, quick.id]
    assert best(paths, "payload") == []


def test_a_run_of_this_machine_is_better_than_anothers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = Paths(tmp_path)
    mine, other = holding(paths, 0, "quick", 1), holding(paths, 1, "full", 9, "b")
    other.about["machine"]["facts"] = {"cpu_model": "Another"}
    other.save()
    monkeypatch.setattr(origin, "_facts", lambda: {"cpu_model": "Mine"})
    assert [run.id for run in best(paths, "round_trip")] == [mine.id, other.id]
    (line,) = origin_lines([mine, other])
    assert line == f"not measured here, but on Another (machine b) on 2026-11-22: {other.id}"


def test_a_study_that_no_run_holds_is_an_error(packed: Path, tmp_path: Path, paths: Paths) -> None:
    with pytest.raises(UsageError, match=r"unknown study 'nope'"):
        choose(paths, study="nope")
    with pytest.raises(UsageError, match="there is no run yet"):
        choose(Paths(tmp_path), study="faults")
    (tmp_path / "data").mkdir(exist_ok=True)
    shutil.copy(packed, tmp_path / "data/reference.ipclab")
    told = "no run holds faults; measure it: ipclab measure --study faults"
    with pytest.raises(UsageError, match=told):
        choose(Paths(tmp_path), study="faults")
    assert choose(Paths(tmp_path), study="round_trip").path.is_relative_to(tmp_path / "data/opened")


def test_whoever_opens_anothers_run_is_told_first(
    elsewhere: Record, paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {}
    for lang in ("en", "ko", "zh"):
        Lab.open(run=str(elsewhere.path), lang=lang)
        said[lang] = capsys.readouterr().err.splitlines()[0]
    told = f"**Not measured here, but on Example 0123456789ab (machine {elsewhere.machine}) on "
    assert said["en"].startswith(told)
    assert all("Example 0123456789ab" in line for line in said.values())
    assert len({*said.values()}) == 3
    here = make_run(paths.data / "here")
    machine = collect()
    here.about["machine"] = {"digest": machine.digest, "facts": machine.facts, "reasons": {}}
    here.save()
    Lab.open(run=str(here.path))
    assert capsys.readouterr().err.splitlines()[0].startswith("run 2026")


def test_a_cache_is_made_for_this_user_alone_and_no_other_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = private_cache("frames")
    assert folder == tmp_path / "cache/ipclab/frames"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert private_cache("frames") == folder
    folder.chmod(0o750)
    with pytest.raises(PermissionError, match="is not this user's alone"):
        private_cache("frames")
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(PermissionError, match="is not this user's alone"):
        private_cache("frames")
