"""Bundles: a run there and back to the byte, and every archive that is not one refused with nothing left."""

import datetime as dt
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ipclab.store.bundle import archive
from ipclab.store.bundle.contents import CRATE, INDEX_OF_BUNDLE
from ipclab.store.bundle.crate import crate
from ipclab.store.bundle.pack import pack
from ipclab.store.bundle.unpack import unpack, verify
from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.store.point import Point
from ipclab.store import run as folder
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, encode
from ipclab.store.launch import Launch
from tests.commands import ROOT, environment

NOW = dt.datetime(2026, 11, 20, 10, tzinfo=dt.UTC)
MOST_BYTES = 10_000_000
CALIBRATION = (ROOT / "data/reference/calibration.json").read_bytes()
Member = tuple[str, bytes]


def make_run(runs: Path, machine: str = "0123456789ab", factor: float = 1.0, finished: bool = True) -> RunFolder:
    """Write a small run of the round-trip study with its limits, some raw files and a calibration beside it."""
    facts = {"cpu_model": f"Example {machine}", "kernel_release": "6.1.0", "ipclab": "0.1.0", "page_size": 4096}
    about = {
        "parameters": {"profile": "quick", "studies": ["limits", "round_trip"], "sizes": None, "backends": None},
        "seed": 1,
        "machine": {"digest": machine, "facts": facts, "reasons": {}},
        "sessions": [],
        "points": {},
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
    file = tmp_path / "run.tar.zst"
    pack(make_run(tmp_path / "elsewhere"), file)
    return file


def test_a_run_goes_there_and_back_to_the_byte(tmp_path: Path, paths: Paths) -> None:
    run = make_run(tmp_path / "elsewhere")
    file, again = tmp_path / "a.tar.zst", tmp_path / "b.tar.zst"
    held = pack(run, file)
    assert set(held.files) == {"run.json", *run.about["files"], CRATE, "calibration.json"}
    pack(run, again)
    assert file.read_bytes() == again.read_bytes()
    placed = unpack(paths, file)
    assert placed.path == paths.imported.resolve() / "0123456789ab" / run.id
    assert tree(placed.path) == tree(run.path)
    assert (placed.path.parent / "calibration.json").read_bytes() == CALIBRATION
    assert len(list(placed.point_files())) == 3
    third = tmp_path / "c.tar.zst"
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


def test_the_reference_run_fits_into_ten_megabytes(tmp_path: Path) -> None:
    run = folder.read(next((ROOT / "data/reference").glob("*/run.json")).parent)
    file = tmp_path / "reference.tar.zst"
    pack(run, file)
    assert file.stat().st_size < MOST_BYTES
    assert set(verify(file).files) >= set(run.about["files"])


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
    with pytest.raises(LabError, match="is missing"):
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
    about = json.loads(dict(found)[f"{found[0][0].partition('/')[0]}/run.json"])
    return listed(found, {"run.json": json.dumps({**about, **changes}).encode()})


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
    "two names but for case": (lambda found: named(found, "RUN.json"), "two files have one name"),
    "not in the run's index": (lambda found: named(found, "raw/more"), "do not agree on 'raw/more'"),
    "one too many": (lambda found: [*found, (f"{found[0][0].partition('/')[0]}/raw/more", b"x")], "a file too many"),
    "one missing": (lambda found: found[:-1], "is missing"),
    "another order": (lambda found: [found[0], *reversed(found[1:])], "is not the file that belongs here"),
    "another top": (lambda found: [(f"../{name}", content) for name, content in found], "is not the file that belongs"),
    "wrong digest": (swap_digest, "has another digest"),
    "altered": (flipped, "has another digest"),
    "wrong size": (grown, "is not the file that belongs here"),
    "run's name": (lambda found: renamed(found, run="../../x"), "is no run's name"),
    "machine's name": (lambda found: renamed(found, machine="../x"), "is no run's name"),
    "another machine": (lambda found: renamed(found, machine="ffff"), "is of another machine"),
    "no index": (lambda found: found[1:], "does not begin with bundle.json"),
    "index no json": (lambda found: [(found[0][0], b"{"), *found[1:]], "cannot be read"),
    "index a list": (lambda found: [(found[0][0], b"[]"), *found[1:]], "cannot be read"),
    "deep json": (lambda found: [(found[0][0], b"[" * 100_000), *found[1:]], "cannot be read"),
    "run no json": (lambda found: listed(found, {"run.json": b"{"}), "run.json cannot be read"),
    "run without seed": (lambda found: listed(found, {"run.json": b'{"schema": 1}'}), "run.json cannot be read"),
    "newer format": (lambda found: rewritten(found, {**index(found), "format": 2}), "use a newer ipclab"),
    "newer schema": (lambda found: run_json(found, schema=99), "the run has schema 99"),
    "unfinished": (lambda found: run_json(found, finished=None), "not finished"),
    "nothing": (lambda found: [], "does not begin with"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_bundle_is_refused_and_leaves_nothing(kind: str, bundle: Path, paths: Paths, tmp_path: Path) -> None:
    change, says = HOSTILE[kind]
    bad = tmp_path / "bad.tar.zst"
    with bad.open("wb") as file:
        archive.write(file, change(members(bundle)))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(LabError, match=says) as caught:
        unpack(paths, bad)
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before
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
    bad = tmp_path / "bad.tar.zst"
    packed(text.getvalue(), bad)
    with pytest.raises(LabError, match="is no plain file"):
        unpack(paths, bad)
    assert not paths.imported.exists()


def test_headers_that_ask_for_memory_are_not_followed(paths: Paths, tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 32  # an extended header of 4 GB
    bad = tmp_path / "bad.tar.zst"
    packed(info.tobuf(tarfile.USTAR_FORMAT) + bytes(1024), bad)
    with pytest.raises(LabError, match="is no plain file"):
        unpack(paths, bad)
    info.type, info.size = tarfile.REGTYPE, -512
    packed(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024), bad)
    with pytest.raises(LabError, match="is no plain file"):
        unpack(paths, bad)


def test_bombs_are_refused_before_they_are_unpacked(bundle: Path, paths: Paths, tmp_path: Path) -> None:
    found = members(bundle)
    bad = tmp_path / "bad.tar.zst"
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


@pytest.mark.parametrize("keep", [0, 1, 100, -1, -30])
def test_a_cut_bundle_is_refused(keep: int, bundle: Path, paths: Paths, tmp_path: Path) -> None:
    bad = tmp_path / "bad.tar.zst"
    bad.write_bytes(bundle.read_bytes()[:keep])
    with pytest.raises(LabError, match="refused"):
        unpack(paths, bad)
    assert not paths.imported.exists()


def test_anything_else_is_refused(paths: Paths, tmp_path: Path) -> None:
    bad = tmp_path / "bad.tar.zst"
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
    (placed.path / "run.json").write_text((placed.path / "run.json").read_text() + "\n")
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
    held = pack(run, tmp_path / "a.tar.zst")
    files = {name: entry for name, entry in held.files.items() if name != CRATE}
    told = json.loads(crate(run.id, run.about, files))
    assert told["@context"] == "https://w3id.org/ro/crate/1.1/context"
    graph = {each["@id"]: each for each in told["@graph"]}
    assert len(graph) == len(told["@graph"])
    head, root = graph["ro-crate-metadata.json"], graph["./"]
    assert head["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"} and head["about"] == {"@id": "./"}
    assert root["@type"] == "Dataset" and root["datePublished"] == "2026-11-20"
    assert all(root[key] for key in ("name", "description", "license"))
    assert {each["@id"] for each in root["hasPart"]} == set(files)
    for name, entry in files.items():
        assert (graph[name]["sha256"], graph[name]["contentSize"]) == (entry.digest, str(entry.size))
    for each in told["@graph"]:  # every reference leads somewhere
        for value in each.values():
            for reference in value if isinstance(value, list) else [value]:
                if isinstance(reference, dict) and reference["@id"] != head["conformsTo"]["@id"]:
                    assert reference["@id"] in graph
    assert crate(run.id, run.about, files) == crate(run.id, run.about, dict(reversed(files.items())))


ELSEWHERE = """
import sys
for name in ("ipclab_native", "mpi4py", "iceoryx2"):
    sys.modules[name] = None
from pathlib import Path
from shutil import which
assert not [tool for tool in ("go", "mpiexec", "cargo") if which(tool)]
from ipclab.store.bundle.unpack import unpack
from ipclab.compare.reporting import report, summary
from ipclab.notebook import Lab
from ipclab.paths import checkout
from ipclab.measure.progress import Silent
from ipclab.render.staleness import stale
runs = [unpack(checkout(), Path(file)) for file in sys.argv[1:3]]
print(len(Lab.open(str(runs[0].path), "en").table("run").rows))
compared, made = report(checkout(), runs, ["en"], ["html", "pdf"], Path(sys.argv[3]), Silent())
print(summary(compared)[0])
print(stale(checkout(), Path(sys.argv[3])))
next((runs[1].path / "points").rglob("*.parquet")).unlink()
print(stale(checkout(), Path(sys.argv[3]))[0])
"""


@pytest.mark.slow
def test_a_machine_without_go_mpi_and_cargo_renders_and_compares(tmp_path: Path) -> None:
    files = [tmp_path / "a.tar.zst", tmp_path / "b.tar.zst"]
    for file, machine, factor in zip(files, ("aaaa", "bbbb"), (1.0, 2.0), strict=True):
        pack(make_run(tmp_path / machine, machine, factor), file)
    env = {**environment(tmp_path), "PATH": "/nowhere"}
    command = [sys.executable, "-c", ELSEWHERE, *map(str, files), str(tmp_path / "out")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert "2 slower" in said[1]
    assert said[2] == "[]"  # the manifest knows both runs
    assert said[3].startswith("data: bbbb/") and said[3].endswith(".parquet was removed since the report")
    page = (tmp_path / "out/en/07_machines.html").read_text()
    assert "bbbb" in page and page.count('role="img"') == 3
    book = (tmp_path / "out/en/07_machines.pdf").read_bytes()
    assert book.startswith(b"%PDF-") and b"comparison.csv" in book
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == [".derived", "imported"]
