"""Bundles that somebody made to harm, that broke on the way, or that meet what is there: refused,
nothing left.
"""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ipclab.commands.bundles import unpack, write_archive
from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.store import archive
from ipclab.store.bundle import verify
from ipclab.store.files import LOCK, unsealed
from ipclab.store.record import reopened, sealed
from tests.support.bundled import tree

Member = tuple[str, bytes]


def members(bundle: Path) -> list[Member]:
    return [(member.name, b"".join(member.chunks)) for member in archive.read_members(bundle)]


def index(found: list[Member]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(found[0][1])
    return told


def rewritten(found: list[Member], told: dict[str, Any]) -> list[Member]:
    return [(found[0][0], json.dumps(told).encode()), *found[1:]]


def listed(found: list[Member], changes: dict[str, bytes], name: str | None = None) -> list[Member]:
    """Return the archive with files replaced (or added) and its own index made to agree."""
    top = found[0][0].partition("/")[0]
    content = {key.partition("/")[2]: value for key, value in found[1:]} | changes
    told = index(found)
    told["files"] = [
        {"name": key, "size": len(value), "sha256": hashlib.sha256(value).hexdigest()}
        for key, value in content.items()
    ]
    return rewritten(
        [found[0], *((f"{name or top}/{key}", value) for key, value in content.items())], told
    )


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
    "two names but for case": (
        lambda found: named(found, "raw/engine/TRACE.json"),
        "two files have one name",
    ),
    "not in the run's index": (
        lambda found: named(found, "raw/more"),
        "do not agree on 'raw/more'",
    ),
    "one too many": (
        lambda found: [*found, (f"{found[0][0].partition('/')[0]}/raw/more", b"x")],
        "a file too many",
    ),
    "one missing": (lambda found: found[:-1], "is missing"),
    "another order": (
        lambda found: [found[0], *reversed(found[1:])],
        "is not the file that belongs here",
    ),
    "another top": (
        lambda found: [(f"../{name}", content) for name, content in found],
        "is not the file that belongs",
    ),
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
    "run without seed": (
        lambda found: listed(found, {"run.json": b'{"schema": 1}'}),
        "run.json cannot be read",
    ),
    "newer format": (
        lambda found: rewritten(found, {**index(found), "format": 2}),
        "use a newer ipclab",
    ),
    "format 0": (lambda found: rewritten(found, {**index(found), "format": 0}), "its format is 0"),
    "no number of a format": (
        lambda found: rewritten(found, {**index(found), "format": True}),
        "cannot be read",
    ),
    "size true": (lambda found: rewritten(found, with_size(found, True)), "cannot be read"),
    "size below nothing": (lambda found: rewritten(found, with_size(found, -5)), "cannot be read"),
    "newer schema": (
        lambda found: run_json(found, schema=99),
        "its schema is 99.*use a newer ipclab",
    ),
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
        lambda found: listed(
            found, {"run.json": dict(found)[found[1][0]].replace(b'"seed": 1', b'"seed": 2')}
        ),
        "it was altered",
    ),
    "unfinished": (lambda found: run_json(found, finished=None), "not finished"),
    "nothing": (lambda found: [], "does not begin with"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_bundle_is_refused_and_leaves_nothing(
    kind: str, bundle: Path, paths: Paths, tmp_path: Path
) -> None:
    change, says = HOSTILE[kind]
    bad = tmp_path / "bad.ipclab"
    with bad.open("wb") as file:
        write_archive(file, change(members(bundle)))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(LabError, match=says) as caught:
        unpack(paths, bad)
    assert "\n" not in str(caught.value)
    assert (
        sorted({*tmp_path.rglob("*")} - {paths.data, paths.imported, paths.imported / LOCK})
        == before
    )
    assert not Path("/tmp/escaped").exists()


def packed(content: bytes, to: Path) -> None:
    with pa.CompressedOutputStream(pa.OSFile(str(to), "wb"), "zstd") as out:
        out.write(content)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_refused(
    kind: bytes, bundle: Path, paths: Paths, tmp_path: Path
) -> None:
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


BEHIND = {
    "in the stream": (lambda archive: archive + b"more", b""),
    "in place of the end": (lambda archive: archive[:-512] + b"x" * 512, b""),
    "a second archive": (lambda archive: archive + archive, b""),
    "zeros": (lambda archive: archive + bytes(512), b""),
    "between files": (lambda archive: archive.replace(b"}\n\0", b"}\nx", 1), b""),
    "behind the stream": (lambda archive: archive, b"more"),
}


@pytest.mark.parametrize("kind", BEHIND)
def test_bytes_that_belong_to_no_file_are_refused(
    kind: str, bundle: Path, paths: Paths, tmp_path: Path
) -> None:
    change, behind = BEHIND[kind]
    with pa.CompressedInputStream(pa.OSFile(str(bundle)), "zstd") as stream:
        content = stream.read()
    bad = tmp_path / "bad.ipclab"
    packed(content, bad)
    verify(bad)
    packed(change(content), bad)
    bad.write_bytes(bad.read_bytes() + behind)
    with pytest.raises(
        LabError, match=r"bytes lie behind the archive's end|is no complete archive"
    ):
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


def test_bombs_are_refused_before_they_are_unpacked(
    bundle: Path, paths: Paths, tmp_path: Path
) -> None:
    found = members(bundle)
    bad = tmp_path / "bad.ipclab"
    with bad.open("wb") as file:
        write_archive(file, listed(found, {"raw/zeros": bytes(100_000_000)}))
    assert bad.stat().st_size < 100_000
    with pytest.raises(LabError, match="bytes in a file of"):
        unpack(paths, bad)
    with bad.open("wb") as file:
        write_archive(file, [(found[0][0], bytes(65 << 20))])
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


def test_a_flipped_bit_is_refused_or_changes_nothing(
    bundle: Path, paths: Paths, tmp_path: Path
) -> None:
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
    placed = reopened(unpack(paths, bundle).path)
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
