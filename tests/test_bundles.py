"""Bundles: a run there and back to the byte, and every archive that is not one refused with nothing left."""

import datetime as dt
import hashlib
import io
import json
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import pyarrow as pa
import pytest

from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.bundle import archive
from ipclab.store.bundle.contents import CRATE, INDEX_OF_BUNDLE
from ipclab.store.bundle.opened import opened
from ipclab.store.bundle.pack import crate, pack
from ipclab.store.bundle.unpack import clean, held, unpack, verify
from ipclab.store.files import sealed, unsealed
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, decode, encode
from tests.commands import ROOT, environment

NOW = dt.datetime(2026, 11, 20, 10, tzinfo=dt.UTC)
MOST_BYTES = 12_000_000
CALIBRATION = b'{"made": "2026-11-21"}\n'
Member = tuple[str, bytes]


def make_run(runs: Path, machine: str = "0123456789ab", factor: float = 1.0, finished: bool = True) -> RunFolder:
    """Write a small run of the round-trip study with its limits, some raw files and a calibration beside it."""
    facts = {"cpu_model": f"Example {machine}", "kernel_release": "6.1.0", "ipclab": "0.1.0", "page_size": 4096}
    about = {
        "parameters": {
            "profile": "quick",
            "studies": ["limits", "round_trip"],
            "sizes": None,
            "backends": None,
            "levels": {},
        },
        "seed": 1,
        "machine": {"digest": machine, "facts": facts, "reasons": {}},
    }
    run = folder.create(runs, machine, about, NOW)
    random = np.random.default_rng(int(factor * 1000))
    levels: dict[str, Any] = {"arm": "main", "wait": "block", "gap_ns": 0, "touch": "full", "receive": "bytes"}
    for backend, study, made in (
        ("unix", "round_trip", levels),
        ("tcp", "round_trip", levels),
        ("echo-unix", "limits", {}),
    ):
        point = Point(study, backend, 100, "cross", made, "", ("round-trip",))
        launches = []
        for order in range(6):
            times = (1e4 * factor * np.exp(random.normal(0, 0.02, 30))).astype(np.int64)
            launches.append(Launch({"round-trip": times}, {}, order, facts={"relation": "l3"}))
        run.add(point, encode(Measured(point, launches, "budget")))
    run.keep("engine/trace.json", b"{}")
    (run.path / "machine").mkdir()
    (run.path / "machine/sys-devices-pci0000:00-x").write_text("kept\n")
    run.about["files"]["machine/sys-devices-pci0000:00-x"] = hashlib.sha256(b"kept\n").hexdigest()
    (run.path.parent / "calibration.json").write_bytes(CALIBRATION)
    run.about["finished"] = "2026-11-20T10:01:00+00:00" if finished else None
    run.save()
    return run


def tree(top: Path) -> dict[str, bytes]:
    return {str(file.relative_to(top)): file.read_bytes() for file in sorted(top.rglob("*")) if file.is_file()}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle of a run that was made elsewhere."""
    file = tmp_path / "run.ipclab"
    pack(make_run(tmp_path / "elsewhere"), file)
    return file


def test_a_run_goes_there_and_back_to_the_byte(tmp_path: Path, paths: Paths) -> None:
    run = make_run(tmp_path / "elsewhere")
    file, again = tmp_path / "a.ipclab", tmp_path / "b.ipclab"
    contents = pack(run, file)
    assert set(contents.by_name()) == {"run.json", *run.about["files"], CRATE, "calibration.json"}
    pack(run, again)
    assert file.read_bytes() == again.read_bytes()
    placed = unpack(paths, file)
    assert placed.path == paths.imported.resolve() / "0123456789ab" / run.id
    assert tree(placed.path) == tree(run.path)
    assert (placed.path.parent / "calibration.json").read_bytes() == CALIBRATION
    assert len(list(placed.point_files())) == 3
    third = tmp_path / "c.ipclab"
    pack(placed, third)
    assert third.read_bytes() == file.read_bytes()
    assert unpack(paths, file).path == placed.path  # a second time changes nothing
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
    shutil.copytree(run.path, paths.runs / "0123456789ab" / run.id)
    assert unpack(paths, tmp_path / "new.ipclab").path.is_relative_to(paths.runs.resolve())  # it is there: the same run


@pytest.mark.parametrize("name", ["reference", "compared"])
def test_a_committed_run_is_small_whole_and_holds_nothing_derived(name: str, paths: Paths) -> None:
    bundle = ROOT / f"data/{name}.ipclab"
    assert bundle.stat().st_size < MOST_BYTES
    held, _ = verify(bundle)
    assert {each.name.partition("/")[0] for each in held.files} - {"raw"} == {
        *("points", "machine", "run.json", CRATE, "calibration.json")
    }
    run = opened(paths, bundle)
    assert set(run.about["files"]) == {each.name for each in held.files} - {"run.json", CRATE, "calibration.json"}
    assert run.complete


def test_a_committed_run_is_opened_once_and_again_when_its_bundle_changed(bundle: Path, paths: Paths) -> None:
    first = opened(paths, bundle)
    assert first.path == paths.opened.resolve() / "0123456789ab" / first.id
    kept = (first.path / "run.json").stat().st_ino
    assert (opened(paths, bundle).path / "run.json").stat().st_ino == kept
    assert (first.path.parent / "calibration.json").read_bytes() == CALIBRATION
    (first.path / "run.json").unlink()  # half done
    assert opened(paths, bundle).about == first.about
    pack(make_run(bundle.parent / "anew", factor=2.0), bundle, replace=True)
    second = opened(paths, bundle)
    assert second.id != first.id and len(list(second.point_files())) == 3
    assert [path.name for path in first.path.parent.iterdir() if path.is_dir()] == [second.id]
    bundle.write_bytes(bundle.read_bytes()[:-30])
    with pytest.raises(LabError, match="refused"):
        opened(paths, bundle)
    assert opened_runs(paths) == [second.id]
    with pytest.raises(UsageError, match="is no file"):
        opened(paths, bundle.with_name("absent"))


OPEN = """
import sys
from pathlib import Path
from ipclab.paths import checkout
from ipclab.store.bundle.opened import opened
sys.stdin.readline()
print(len(list(opened(checkout(), Path(sys.argv[1])).point_files())))
"""


@pytest.mark.slow
def test_several_processes_open_a_bundle_at_once(bundle: Path, paths: Paths, tmp_path: Path) -> None:
    command, env = [sys.executable, "-c", OPEN, str(bundle)], environment(tmp_path)
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with ExitStack() as stack:
        started = [stack.enter_context(subprocess.Popen(command, env=env, **pipes)) for _ in range(4)]
        for each in started:
            each.stdin.write("go\n")  # type: ignore[union-attr]
            each.stdin.flush()  # type: ignore[union-attr]
        assert [each.communicate(timeout=60) for each in started] == [("3\n", "")] * 4
    assert len(opened_runs(paths)) == 1


def opened_runs(paths: Paths) -> list[str]:
    assert not list(paths.opened.rglob("*.part"))
    return [stamp.parent.name for stamp in paths.opened.glob("*/*/.bundle")]


def test_what_a_killed_import_left_is_removed_by_its_name(bundle: Path, paths: Paths) -> None:
    left = [paths.imported / "20261120T100000Z-abcdef.part", paths.imported / "m/20261120T100000Z-abcdef.7.part"]
    foreign = [paths.imported / "mine.part", paths.imported / "m/20261120T100000Z-abcdef"]
    for path in (*left, *foreign):
        (path / "points").mkdir(parents=True)
    with held(paths.imported):
        assert not any(path.exists() for path in left) and all(path.exists() for path in foreign)
        left[0].mkdir()
        assert clean(paths) == []  # held: another process is placing a run
        with pytest.raises(LabError, match="is held by another process"), held(paths.imported, patience=0):
            pass
    assert clean(paths) == [str(left[0])] and clean(paths) == []
    left[0].mkdir()
    unpack(paths, bundle)
    assert not left[0].exists() and all(path.exists() for path in foreign)


def test_a_killed_import_is_done_by_the_next(bundle: Path, paths: Paths, tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from ipclab.paths import checkout
from ipclab.store.bundle import unpack
def killed(path):
    os.kill(os.getpid(), 9)
unpack.decode = killed
unpack.unpack(checkout(), Path(sys.argv[1]))
"""
    done = subprocess.run([sys.executable, "-c", code, str(bundle)], env=environment(tmp_path), timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(paths.imported.glob("*.part/run.json"))) == 1
    assert folder.newest(paths.imported, lambda _: True) is None
    placed = unpack(paths, bundle)
    assert not list(paths.imported.rglob("*.part")) and len(list(placed.point_files())) == 3


def test_no_lmdb_file_of_a_bundle_is_ever_opened(tmp_path: Path, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a database was opened")

    for name in ("open", "Environment"):
        monkeypatch.setattr(lmdb, name, refuse)
    run = make_run(tmp_path / "elsewhere")
    for name in ("data.mdb", "lock.mdb"):
        run.keep(f"store/{name}", b"\xff" * 8192)
    pack(run, tmp_path / "hostile.ipclab")
    for placed in (unpack(paths, tmp_path / "hostile.ipclab"), opened(paths, tmp_path / "hostile.ipclab")):
        assert len([decode(path) for path in placed.point_files()]) == 3
        assert (placed.path / "raw/store/data.mdb").stat().st_size == 8192


def test_plain_tar_tools_read_a_bundle(bundle: Path) -> None:
    with pa.CompressedInputStream(pa.OSFile(str(bundle)), "zstd") as stream:
        content = stream.read()
    with tarfile.open(fileobj=io.BytesIO(content)) as plain:
        names = plain.getnames()
        member = plain.extractfile(names[0])
        assert member is not None and json.load(member)["format"] == 1
    assert names[0].endswith(f"/{INDEX_OF_BUNDLE}")
    assert {name.partition("/")[0] for name in names} == {names[0].partition("/")[0]}


def test_what_cannot_be_bundled(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not finished"):
        pack(make_run(tmp_path / "a", finished=False), tmp_path / "x")
    run = make_run(tmp_path / "b")
    (tmp_path / "there").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        pack(run, tmp_path / "there")
    victim = next(run.path.rglob("*.parquet"))
    victim.write_bytes(victim.read_bytes()[:-1])
    with pytest.raises(LabError, match="is not what was measured"):
        pack(run, tmp_path / "x")
    victim.unlink()
    with pytest.raises(LabError, match="it is missing"):
        pack(run, tmp_path / "x")
    with pytest.raises(LabError, match="cannot write"):
        pack(make_run(tmp_path / "c"), tmp_path / "no" / "such" / "folder")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "b", "c", "there"]


def members(bundle: Path) -> list[Member]:
    return [(member.name, b"".join(member.chunks)) for member in archive.read(bundle)]


def index(found: list[Member]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(found[0][1])
    return told


def rewritten(found: list[Member], told: dict[str, Any]) -> list[Member]:
    return [(found[0][0], json.dumps(told).encode()), *found[1:]]


def listed(found: list[Member], changes: dict[str, bytes], name: str | None = None) -> list[Member]:
    """Return the archive with files replaced (or added) and its own index mended to agree."""
    top = found[0][0].partition("/")[0]
    content = {key.partition("/")[2]: value for key, value in found[1:]} | changes
    told = index(found)
    told["files"] = [
        {"name": key, "size": len(value), "sha256": hashlib.sha256(value).hexdigest()} for key, value in content.items()
    ]
    return rewritten([found[0], *((f"{name or top}/{key}", value) for key, value in content.items())], told)


def run_json(found: list[Member], **changes: Any) -> list[Member]:
    about = unsealed(json.loads(dict(found)[f"{found[0][0].partition('/')[0]}/run.json"]))
    return listed(found, {"run.json": sealed({**about, **changes})})


def point_file(found: list[Member], content: bytes) -> list[Member]:
    """Return the archive with another content of a point, whose digest all of its indexes know."""
    about = unsealed(json.loads(dict(found)[f"{found[0][0].partition('/')[0]}/run.json"]))
    name = next(name for name in about["files"] if name.startswith("points/"))
    about["files"][name] = hashlib.sha256(content).hexdigest()
    return listed(found, {"run.json": sealed(about), name: content})


def with_size(found: list[Member], size: object) -> dict[str, Any]:
    told = index(found)
    told["files"][0]["size"] = size
    return told


def swap_digest(found: list[Member]) -> list[Member]:
    told = index(found)
    told["files"][-1]["sha256"] = "0" * 64
    return rewritten(found, told)


def grown(found: list[Member]) -> list[Member]:
    told = index(found)
    told["files"][0]["size"] += 1
    return rewritten(found, told)


def renamed(found: list[Member], **names: str) -> list[Member]:
    return rewritten(found, {**index(found), **names})


def named(found: list[Member], name: str) -> list[Member]:
    """Return the archive with a file of that name in it, which its index names too."""
    return listed(found, {name: b"hostile"})


def flipped(found: list[Member]) -> list[Member]:
    name, content = found[-1]
    return [*found[:-1], (name, bytes([content[0] ^ 1]) + content[1:])]


HOSTILE: dict[str, tuple[Callable[[list[Member]], Iterable[Member]], str]] = {
    "traversal": (lambda found: named(found, "raw/../../../escaped"), "is no file of a run"),
    "dots": (lambda found: named(found, "points/.."), "is no file of a run"),
    "absolute": (lambda found: named(found, "/tmp/escaped"), "is no file of a run"),
    "hidden": (lambda found: named(found, "raw/.profile"), "is no file of a run"),
    "backslash": (lambda found: named(found, "raw/..\\x"), "is no file of a run"),
    "another folder": (lambda found: named(found, "bin/sh"), "is no file of a run"),
    "line feed": (lambda found: named(found, "raw/a\nb"), "is no file of a run"),
    "two names but for case": (lambda found: named(found, "raw/engine/TRACE.json"), "two files have one name"),
    "not in the run's index": (lambda found: named(found, "raw/more"), "do not agree on 'raw/more'"),
    "one too many": (lambda found: [*found, (f"{found[0][0].partition('/')[0]}/raw/more", b"x")], "a file too many"),
    "one missing": (lambda found: found[:-1], "is missing"),
    "another order": (lambda found: [found[0], *reversed(found[1:])], "is not the file that belongs here"),
    "another top": (lambda found: [(f"../{name}", content) for name, content in found], "is not the file that belongs"),
    "wrong digest": (swap_digest, "has another digest"),
    "altered": (flipped, "has another digest"),
    "wrong size": (grown, "is not the file that belongs here"),
    "run's name": (lambda found: renamed(found, run="../../x"), r"at `\$.run`"),
    "machine's name": (lambda found: renamed(found, machine="../x"), r"at `\$.machine`"),
    "another machine": (lambda found: renamed(found, machine="ffff"), "is of another machine"),
    "no index": (lambda found: found[1:], "does not begin with bundle.json"),
    "index no json": (lambda found: [(found[0][0], b"{"), *found[1:]], "cannot be read"),
    "index a list": (lambda found: [(found[0][0], b"[]"), *found[1:]], "cannot be read"),
    "deep json": (lambda found: [(found[0][0], b"[" * 100_000), *found[1:]], "cannot be read"),
    "run no json": (lambda found: listed(found, {"run.json": b"{"}), "run.json cannot be read"),
    "run without seed": (lambda found: listed(found, {"run.json": b'{"schema": 1}'}), "run.json cannot be read"),
    "newer format": (lambda found: rewritten(found, {**index(found), "format": 2}), "use a newer ipclab"),
    "format 0": (lambda found: rewritten(found, {**index(found), "format": 0}), "its format is 0"),
    "no number of a format": (lambda found: rewritten(found, {**index(found), "format": True}), "cannot be read"),
    "size true": (lambda found: rewritten(found, with_size(found, True)), "cannot be read"),
    "size below nothing": (lambda found: rewritten(found, with_size(found, -5)), "cannot be read"),
    "newer schema": (lambda found: run_json(found, schema=99), "its schema is 99.*use a newer ipclab"),
    "schema true": (lambda found: run_json(found, schema=True), "cannot be read"),
    "schema 0": (lambda found: run_json(found, schema=0), "cannot be read"),
    "schema -5": (lambda found: run_json(found, schema=-5), "cannot be read"),
    "not a number": (lambda found: run_json(found, notes={"x": float("nan")}), "cannot be read"),
    "begun a number": (lambda found: run_json(found, begun=7), "begun"),
    "begun no time": (lambda found: run_json(found, begun="yesterday"), "cannot be read"),
    "sessions a number": (lambda found: run_json(found, sessions=7), "sessions"),
    "failures a list": (lambda found: run_json(found, failures=[]), "failures"),
    "seed a text": (lambda found: run_json(found, seed="1"), "seed"),
    "a point that is none": (lambda found: point_file(found, b"PAR1"), "is not a point's file"),
    "an index altered": (
        lambda found: listed(found, {"run.json": dict(found)[found[1][0]].replace(b'"seed": 1', b'"seed": 2')}),
        "it was altered",
    ),
    "unfinished": (lambda found: run_json(found, finished=None), "not finished"),
    "nothing": (lambda found: [], "does not begin with"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_bundle_is_refused_and_leaves_nothing(kind: str, bundle: Path, paths: Paths, tmp_path: Path) -> None:
    change, says = HOSTILE[kind]
    bad = tmp_path / "bad.ipclab"
    with bad.open("wb") as file:
        archive.write(file, change(members(bundle)))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(LabError, match=says) as caught:
        unpack(paths, bad)
    assert "\n" not in str(caught.value)
    assert sorted({*tmp_path.rglob("*")} - {paths.data, paths.imported}) == before
    assert not Path("/tmp/escaped").exists()


def packed(content: bytes, to: Path) -> None:
    with pa.CompressedOutputStream(pa.OSFile(str(to), "wb"), "zstd") as out:
        out.write(content)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(kind: bytes, bundle: Path, paths: Paths, tmp_path: Path) -> None:
    text = io.BytesIO()
    with tarfile.open(fileobj=text, mode="w", format=tarfile.USTAR_FORMAT) as made:
        for number, (name, content) in enumerate(members(bundle)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if number == 1:
                info.type, info.size, info.linkname = kind, 0, "/etc/passwd"
            made.addfile(info, io.BytesIO(content) if info.size else None)
    bad = tmp_path / "bad.ipclab"
    packed(text.getvalue(), bad)
    with pytest.raises(LabError, match="is no plain file"):
        unpack(paths, bad)
    assert not paths.imported.exists()


def test_headers_that_ask_for_memory_are_not_followed(paths: Paths, tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 32  # an extended header of 4 GB
    bad = tmp_path / "bad.ipclab"
    packed(info.tobuf(tarfile.USTAR_FORMAT) + bytes(1024), bad)
    with pytest.raises(LabError, match="is no plain file"):
        unpack(paths, bad)
    info.type, info.size = tarfile.REGTYPE, -512
    packed(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024), bad)
    with pytest.raises(LabError, match="is no plain file"):
        unpack(paths, bad)


def test_bombs_are_refused_before_they_are_unpacked(bundle: Path, paths: Paths, tmp_path: Path) -> None:
    found = members(bundle)
    bad = tmp_path / "bad.ipclab"
    with bad.open("wb") as file:
        archive.write(file, listed(found, {"raw/zeros": bytes(100_000_000)}))
    assert bad.stat().st_size < 100_000
    with pytest.raises(LabError, match="bytes in a file of"):
        unpack(paths, bad)
    with bad.open("wb") as file:
        archive.write(file, [(found[0][0], bytes(65 << 20))])
    with pytest.raises(LabError, match="its index has"):
        unpack(paths, bad)
    assert not paths.imported.exists()


def test_a_cut_bundle_is_refused(bundle: Path, paths: Paths, tmp_path: Path) -> None:
    whole, bad = bundle.read_bytes(), tmp_path / "bad.ipclab"
    for keep in (0, 1, 100, *range(1000, len(whole), len(whole) // 40), -30, -1):
        bad.write_bytes(whole[:keep])
        with pytest.raises(LabError, match="refused"):
            unpack(paths, bad)
    assert not paths.imported.exists()


def test_a_flipped_bit_is_refused_or_changes_nothing(bundle: Path, paths: Paths, tmp_path: Path) -> None:
    whole, bad = bundle.read_bytes(), tmp_path / "bad.ipclab"
    refused = 0
    for place in range(3, len(whole), len(whole) // 60):
        bad.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            verify(bad)
        except LabError:
            refused += 1
    assert refused >= 55
    assert not paths.imported.exists()


def test_anything_else_is_refused(paths: Paths, tmp_path: Path) -> None:
    bad = tmp_path / "bad.ipclab"
    for content in (b"PK\3\4" + bytes(100), b"text", bytes(5000)):
        bad.write_bytes(content)
        with pytest.raises(LabError, match="refused"):
            unpack(paths, bad)
    with pytest.raises(UsageError, match="is no file"):
        unpack(paths, tmp_path / "absent")
    with pytest.raises(UsageError, match="is no file"):
        unpack(paths, tmp_path)


def test_another_run_of_the_same_name_is_not_replaced(bundle: Path, paths: Paths) -> None:
    placed = unpack(paths, bundle)
    placed.about["seed"] += 1
    placed.save()
    before = tree(paths.data)
    with pytest.raises(LabError, match="has its name and is not it"):
        unpack(paths, bundle)
    assert tree(paths.data) == before


def test_an_unwritable_place_is_one_line(bundle: Path, paths: Paths) -> None:
    paths.data.mkdir()
    (paths.data / "imported").write_text("a file where the folder should be")
    with pytest.raises(LabError, match="IPCLAB_DATA"):
        unpack(paths, bundle)


def test_the_crate_describes_every_file(tmp_path: Path) -> None:
    run = make_run(tmp_path / "elsewhere")
    entries = [entry for entry in pack(run, tmp_path / "a.ipclab").files if entry.name != CRATE]
    files = {entry.name: entry for entry in entries}
    told = json.loads(crate(run.id, run.about, entries))
    assert told["@context"] == "https://w3id.org/ro/crate/1.1/context"
    graph = {each["@id"]: each for each in told["@graph"]}
    assert len(graph) == len(told["@graph"])
    head, root = graph["ro-crate-metadata.json"], graph["./"]
    assert head["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"} and head["about"] == {"@id": "./"}
    assert root["@type"] == "Dataset" and root["datePublished"] == "2026-11-20"
    assert all(root[key] for key in ("name", "description", "license"))
    assert {each["@id"] for each in root["hasPart"]} == set(files)
    for name, entry in files.items():
        assert (graph[name]["sha256"], graph[name]["contentSize"]) == (entry.sha256, str(entry.size))
    for each in told["@graph"]:  # every reference leads somewhere
        for value in each.values():
            for reference in value if isinstance(value, list) else [value]:
                if isinstance(reference, dict) and reference["@id"] != head["conformsTo"]["@id"]:
                    assert reference["@id"] in graph
    assert crate(run.id, run.about, entries) == crate(run.id, run.about, reversed(entries))


ELSEWHERE = """
import sys
for name in ("ipclab_native", "mpi4py", "iceoryx2"):
    sys.modules[name] = None
from pathlib import Path
from shutil import which
assert not [tool for tool in ("go", "mpiexec", "cargo") if which(tool)]
from ipclab.store.bundle.unpack import unpack
from ipclab.compare.reporting import report
from ipclab.lab import Lab
from ipclab.paths import checkout
from ipclab.measure.progress import Progress
from ipclab.render.staleness import stale
runs = [unpack(checkout(), Path(file)) for file in sys.argv[1:3]]
print(len(Lab.of(runs[0], checkout(), "en").points("round_trip", metric="p50")))
compared, made = report(checkout(), runs, ["en"], ["html", "pdf"], Path(sys.argv[3]), Progress())
print(compared[0])
print(stale(checkout(), Path(sys.argv[3])))
next((runs[1].path / "points").rglob("*.parquet")).unlink()
print(stale(checkout(), Path(sys.argv[3]))[0])
"""


@pytest.mark.slow
def test_a_machine_without_go_mpi_and_cargo_renders_and_compares(tmp_path: Path) -> None:
    files = [tmp_path / "a.ipclab", tmp_path / "b.ipclab"]
    for file, machine, factor in zip(files, ("aaaa", "bbbb"), (1.0, 2.0), strict=True):
        pack(make_run(tmp_path / machine, machine, factor), file)
    env = {**environment(tmp_path), "PATH": "/nowhere"}
    command = [sys.executable, "-c", ELSEWHERE, *map(str, files), str(tmp_path / "out")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0] == "2"
    assert "2 slower" in said[1]
    assert said[2] == "[]"  # the manifest knows both runs
    assert said[3].startswith("data: bbbb/") and said[3].endswith(".parquet was removed since the report")
    page = (tmp_path / "out/en/machines.html").read_text()
    assert "bbbb" in page and page.count('role="img"') == 3
    book = (tmp_path / "out/en/machines.pdf").read_bytes()
    assert book.startswith(b"%PDF-") and b"comparison.csv" in book
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["executed", "imported", "runs"]
    assert list((tmp_path / "data/runs").rglob("*.json")) == []  # no run, and no session that is left
