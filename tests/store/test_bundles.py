"""Bundles: a run there and back to the byte, imports that are killed or meet each other, the crate."""

import hashlib
import io
import json
import shutil
import signal
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ipclab.commands.bundles import clean_placed, crate, pack, unpack
from ipclab.errors import LabError, UsageError
from ipclab.frames.metrics import summary
from ipclab.frames.points import point_rows
from ipclab.paths import Paths
from ipclab.report.appendix.thin import spread_thin, thinned
from ipclab.store import run as folder
from ipclab.store.archive import CRATE, INDEX_OF_BUNDLE
from ipclab.store.bundle import held_folder, opened, verify
from ipclab.store.files import sha256
from ipclab.store.record import Record
from ipclab.store.samples import decode
from ipclab.store.schema import parse_run
from tests.support.bundled import CALIBRATION, make_run, tree
from tests.support.commands import ROOT, environment, ran

MOST_BYTES = 12_000_000


def test_a_run_goes_there_and_back_to_the_byte(
    elsewhere: Record, bundle: Path, paths: Paths, tmp_path: Path
) -> None:
    held, _ = verify(bundle)
    files = {"run.json", *elsewhere.about["files"], CRATE, "calibration.json"}
    assert {each.name for each in held.files} == files
    placed = unpack(paths, bundle)
    assert placed.path == paths.imported.resolve() / elsewhere.machine / elsewhere.id
    assert tree(placed.path) == tree(elsewhere.path) | {"calibration.json": CALIBRATION}
    assert len(list(placed.point_files())) == 3
    for run in (elsewhere, placed):
        pack(run, again := tmp_path / f"{run.path.parent.parent.name}.ipclab")
        assert again.read_bytes() == bundle.read_bytes()
    assert unpack(paths, bundle).path == placed.path  # a second time changes nothing
    assert not list(tmp_path.rglob("*.part"))


def test_an_imported_run_is_never_taken_for_ones_own(bundle: Path, paths: Paths) -> None:
    unpack(paths, bundle)
    assert folder.newest(paths.runs, lambda _: True) is None
    own = make_run(paths.runs)
    found = folder.newest(paths.runs, lambda _: True)
    assert found is not None and found.id == own.id


def test_nothing_derived_is_bundled(tmp_path: Path, paths: Paths) -> None:
    run = make_run(tmp_path / "elsewhere")
    pack(run, tmp_path / "new.ipclab")
    for name in ("facts.json", "tables/points.csv"):
        (run.path / name).parent.mkdir(exist_ok=True)
        (run.path / name).write_bytes(b"old")
        run.about["files"][name] = hashlib.sha256(b"old").hexdigest()
    run.save()
    pack(run, tmp_path / "old.ipclab")
    assert (tmp_path / "old.ipclab").read_bytes() == (tmp_path / "new.ipclab").read_bytes()
    shutil.copytree(run.path, paths.runs / run.machine / run.id)
    # it is there: the same run
    assert unpack(paths, tmp_path / "new.ipclab").path.is_relative_to(paths.runs.resolve())


def test_a_thinned_run_has_few_samples_and_the_figures_of_all(
    elsewhere: Record, tmp_path: Path, paths: Paths
) -> None:
    run, file = elsewhere, tmp_path / "thin.ipclab"
    pack(thinned(run, 9, tmp_path), file)
    placed = unpack(paths, file)
    assert (placed.about["thinned"], placed.id) == (9, run.id)
    assert placed.about["seed"] == run.about["seed"]
    for whole, few in zip(
        map(decode, run.point_files()), map(decode, placed.point_files()), strict=True
    ):
        assert (few.point, few.stop) == (whole.point, whole.stop)
        for before, after in zip(whole.launches, few.launches, strict=True):
            (every,), (kept,) = before.samples.values(), after.samples.values()
            assert kept.tolist() == np.sort(every)[[1, 5, 8, 11, 15, 18, 21, 25, 28]].tolist()
            assert vars(after) == {**vars(before), "samples": after.samples, "whole": after.whole}
            known, told = summary(before, "round-trip"), summary(after, "round-trip")
            assert {name: told[name] for name in known} == pytest.approx(known, rel=1e-5)
        rows, fewer = (pd.DataFrame(point_rows(each)) for each in (whole, few))
        # what reports print is that of all samples
        pd.testing.assert_frame_equal(fewer, rows, rtol=1e-4)
        del few.launches[0].whole["round-trip"]["sd"]
        with pytest.raises(LabError, match="a launch lacks the sd of round-trip"):
            summary(few.launches[0], "round-trip")
    assert spread_thin(np.array([3, 1, 2]), 3).tolist() == [1, 2, 3]
    unchanged = thinned(run, 30, tmp_path / "all")
    # nothing is lost: they are kept in the order taken
    for taken, again in zip(run.point_files(), unchanged.point_files(), strict=True):
        assert again.read_bytes() == taken.read_bytes()
    pack(run, file, replace=True)
    with pytest.raises(LabError, match="has its name and is not it"):
        unpack(paths, file)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reference", "compared"])
def test_a_committed_run_is_small_whole_and_holds_nothing_derived(name: str) -> None:
    bundle = ROOT / f"data/{name}.ipclab"
    assert bundle.stat().st_size < MOST_BYTES
    held, index = verify(bundle)
    tops = {each.name.partition("/")[0] for each in held.files}
    assert tops - {"raw", "calibration.json"} == {"points", "machine", "run.json", CRATE}
    about = parse_run(index, name)
    assert about["finished"] and not about["failures"]


def opened_runs(paths: Paths) -> list[str]:
    assert not list(paths.opened.rglob("*.part"))
    return [file.parent.name for file in paths.opened.glob("*/*/run.json")]


def test_a_committed_run_is_opened_once_and_again_when_its_bundle_changed(
    bundle: Path, paths: Paths
) -> None:
    first = opened(paths, bundle)
    assert first.path == paths.opened.resolve() / f"{bundle.name}-{sha256(bundle)[:16]}" / first.id
    kept = (first.path / "run.json").stat().st_ino
    assert (opened(paths, bundle).path / "run.json").stat().st_ino == kept
    assert (first.path / "calibration.json").read_bytes() == CALIBRATION
    (first.path / "run.json").unlink()  # half done
    assert opened(paths, bundle).about == first.about
    pack(make_run(bundle.parent / "anew", factor=2.0), bundle, replace=True)
    second = opened(paths, bundle)
    assert second.id != first.id and len(list(second.point_files())) == 3
    assert not first.path.exists()
    bundle.write_bytes(bundle.read_bytes()[:-30])
    with pytest.raises(LabError, match="refused"):
        opened(paths, bundle)
    assert opened_runs(paths) == [second.id]
    with pytest.raises(UsageError, match="is no file"):
        opened(paths, bundle.with_name("absent"))


def test_a_bundle_that_is_opened_at_once_is_placed_once(bundle: Path, paths: Paths) -> None:
    """By threads, which hold a folder as processes do: each by a descriptor of its own."""
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(opened, paths, bundle) for _ in range(4)]
        assert [len(list(run.result().point_files())) for run in runs] == [3] * 4
    assert len(opened_runs(paths)) == 1


def test_what_a_killed_import_left_is_removed_by_its_name(bundle: Path, paths: Paths) -> None:
    left = [
        paths.imported / "20261120T100000Z-abcdef.part",
        paths.imported / "m/20261120T100000Z-abcdef.7.part",
    ]
    foreign = [paths.imported / "mine.part", paths.imported / "m/20261120T100000Z-abcdef"]
    for path in (*left, *foreign):
        (path / "points").mkdir(parents=True)
    with held_folder(paths.imported):
        assert not any(path.exists() for path in left) and all(path.exists() for path in foreign)
        left[0].mkdir()
        assert clean_placed(paths) == []  # held: another process is placing a run
        with (
            pytest.raises(LabError, match="is held by another process"),
            held_folder(paths.imported, patience=0),
        ):
            pass
    assert clean_placed(paths) == [str(left[0])] and clean_placed(paths) == []
    left[0].mkdir()
    unpack(paths, bundle)
    assert not left[0].exists() and all(path.exists() for path in foreign)


KILLED = """
import os, sys
from pathlib import Path
from ipclab.paths import checkout
from ipclab.store import bundle
from ipclab.commands.bundles import unpack
def killed(*_):
    os.kill(os.getpid(), 9)
bundle.door.check = killed
unpack(checkout(), Path(sys.argv[1]))
"""


def test_a_killed_import_is_done_by_the_next(bundle: Path, paths: Paths, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(bundle)]
    done = ran(command, env=environment(tmp_path))
    assert done.returncode == -signal.SIGKILL
    assert len(list(paths.imported.glob("*.part/run.json"))) == 1
    assert folder.newest(paths.imported, lambda _: True) is None
    placed = unpack(paths, bundle)
    assert not list(paths.imported.rglob("*.part")) and len(list(placed.point_files())) == 3


def test_plain_tar_tools_read_a_bundle(bundle: Path) -> None:
    with pa.CompressedInputStream(pa.OSFile(str(bundle)), "zstd") as stream:
        content = stream.read()
    with tarfile.open(fileobj=io.BytesIO(content)) as plain:
        names = plain.getnames()
        member = plain.extractfile(names[0])
        assert member is not None and json.load(member)["format"] == 1
    assert names[0].endswith(f"/{INDEX_OF_BUNDLE}")
    assert {name.partition("/")[0] for name in names} == {names[0].partition("/")[0]}


def test_what_cannot_be_bundled(run: Record, tmp_path: Path) -> None:
    before = {*tmp_path.iterdir()}
    with pytest.raises(LabError, match="cannot write"):
        pack(run, tmp_path / "no" / "such" / "folder")
    with pytest.raises(UsageError, match="is there already"):
        pack(run, run.path / "run.json")
    victim = next(run.path.rglob("*.parquet"))
    victim.write_bytes(victim.read_bytes()[:-1])
    with pytest.raises(LabError, match="is not what was measured"):
        pack(run, tmp_path / "x")
    victim.unlink()
    with pytest.raises(LabError, match="it is missing"):
        pack(run, tmp_path / "x")
    run.about["finished"] = None
    with pytest.raises(UsageError, match="is not finished"):
        pack(run, tmp_path / "x")
    assert {*tmp_path.iterdir()} == before


def test_a_crate_that_describes_something_else_is_refused(
    run: Record, paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, told in enumerate((b"\x00\xff" * 50_000, b'{"@context": "", "@graph": []}')):
        monkeypatch.setattr("ipclab.commands.bundles.crate", lambda *_, told=told: told)
        pack(run, file := tmp_path / f"{number}.ipclab")
        with pytest.raises(LabError, match=CRATE):
            unpack(paths, file)


def test_the_crate_describes_every_file(elsewhere: Record, bundle: Path) -> None:
    held, _ = verify(bundle)
    entries = [entry for entry in held.files if entry.name != CRATE]
    told = json.loads(crate(elsewhere.id, elsewhere.about, entries))
    graph = {each["@id"]: each for each in told["@graph"]}
    assert len(graph) == len(told["@graph"])
    head, root = graph[CRATE], graph["./"]
    assert head["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert root["@type"] == "Dataset" and root["datePublished"] == "2026-11-20"
    assert all(root[key] for key in ("name", "description", "license"))
    assert {each["@id"] for each in root["hasPart"]} == {entry.name for entry in entries}
    for entry in entries:
        file = graph[entry.name]
        assert (file["sha256"], file["contentSize"]) == (entry.sha256, str(entry.size))
    for each in told["@graph"]:  # every reference leads somewhere
        for value in each.values():
            for reference in value if isinstance(value, list) else [value]:
                if isinstance(reference, dict) and reference != head["conformsTo"]:
                    assert reference["@id"] in graph
