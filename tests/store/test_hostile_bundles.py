"""Bundles that somebody made to harm, that broke on the way, or that meet what is there: refused,
nothing left.
"""

import hashlib
import io
import json
import tarfile
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard

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


def listed(found: list[Member], changes: dict[str, bytes]) -> list[Member]:
    """Return the archive with files replaced (or added) and its own index made to agree."""
    top = found[0][0].partition("/")[0]
    content = {key.partition("/")[2]: value for key, value in found[1:]} | changes
    told = index(found)
    told["files"] = [
        {"name": key, "size": len(value), "sha256": hashlib.sha256(value).hexdigest()}
        for key, value in content.items()
    ]
    files = ((f"{top}/{key}", value) for key, value in content.items())
    return rewritten([found[0], *files], told)


def run_json(found: list[Member], **changes: Any) -> list[Member]:
    about = unsealed(json.loads(dict(found)[f"{found[0][0].partition('/')[0]}/run.json"]))
    return listed(found, {"run.json": sealed({**about, **changes})})


def point_file(found: list[Member], content: bytes) -> list[Member]:
    """Return the archive with another content of a point, whose digest all of its indexes know."""
    about = unsealed(json.loads(dict(found)[f"{found[0][0].partition('/')[0]}/run.json"]))
    name = next(name for name in about["files"] if name.startswith("points/"))
    about["files"][name] = hashlib.sha256(content).hexdigest()
    return listed(found, {"run.json": sealed(about), name: content})


def first_size(found: list[Member], change: Callable[[int], int]) -> list[Member]:
    """Return the archive whose index gives the first file another size."""
    told = index(found)
    told["files"][0]["size"] = change(told["files"][0]["size"])
    return rewritten(found, told)


def renamed(found: list[Member], **names: Any) -> list[Member]:
    return rewritten(found, {**index(found), **names})


def named(found: list[Member], name: str) -> list[Member]:
    """Return the archive with a file of that name in it, which its index names too."""
    return listed(found, {name: b"hostile"})


def flipped(found: list[Member]) -> list[Member]:
    name, content = found[-1]
    return [*found[:-1], (name, bytes([content[0] ^ 1]) + content[1:])]


def altered(found: list[Member]) -> list[Member]:
    return listed(found, {"run.json": dict(found)[found[1][0]].replace(b'"seed": 1', b'"seed": 2')})


NO_FILE, OTHER_FILE = "is no file of a run", "is not the file that belongs here"
HOSTILE: dict[str, tuple[Callable[[list[Member]], Iterable[Member]], str]] = {
    "traversal": (lambda found: named(found, "raw/../../../escaped"), NO_FILE),
    "backslash": (lambda found: named(found, "raw/..\\x"), NO_FILE),
    "another folder": (lambda found: named(found, "/tmp/escaped"), NO_FILE),
    "line feed": (lambda found: named(found, "raw/a\nb"), NO_FILE),
    "one name but for case": (lambda found: named(found, "raw/engine/TRACE.json"), "two files have one name"),
    "not in the run's index": (lambda found: named(found, "raw/more"), "do not agree on 'raw/more'"),
    "one too many": (lambda found: [*found, (f"{found[0][0].partition('/')[0]}/raw/more", b"x")], "a file too many"),
    "one missing": (lambda found: found[:-1], "is missing"),
    "another order": (lambda found: [found[0], *reversed(found[1:])], OTHER_FILE),
    "another top": (lambda found: [(f"../{name}", content) for name, content in found], OTHER_FILE),
    "another size": (lambda found: first_size(found, lambda size: size + 1), OTHER_FILE),
    "a size below nothing": (lambda found: first_size(found, lambda _: -5), "cannot be read"),
    "another content": (flipped, "has another digest"),
    "run's name": (lambda found: renamed(found, run="../../x"), r"at `\$.run`"),
    "machine's name": (lambda found: renamed(found, machine="../x"), r"at `\$.machine`"),
    "another machine": (lambda found: renamed(found, machine="ffff"), "is of another machine"),
    "newer format": (lambda found: renamed(found, format=2), "use a newer ipclab"),
    "format 0": (lambda found: renamed(found, format=0), "its format is 0"),
    "nothing": (lambda found: [], "does not begin with bundle.json"),
    "no index": (lambda found: found[1:], "does not begin with bundle.json"),
    "index no json": (lambda found: [(found[0][0], b"{"), *found[1:]], "cannot be read"),
    "deep json": (lambda found: [(found[0][0], b"[" * 100_000), *found[1:]], "cannot be read"),
    "run no json": (lambda found: listed(found, {"run.json": b"{"}), "run.json cannot be read"),
    "run altered": (altered, "it was altered"),
    "run of a newer schema": (lambda found: run_json(found, schema=99), "its schema is 99.*use a newer ipclab"),
    "run unfinished": (lambda found: run_json(found, finished=None), "not finished"),
    "not a number": (lambda found: run_json(found, notes={"x": float("nan")}), "cannot be read"),
    "a point that is none": (lambda found: point_file(found, b"PAR1"), "is not a point's file"),
}  # fmt: skip


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


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE])
def test_links_and_folders_are_refused(
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


AMONG = {
    "behind the end": lambda archive: archive + b"more",
    "in place of the end": lambda archive: archive[:-512] + b"x" * 512,
    "between files": lambda archive: archive.replace(b"}\n\0", b"}\nx", 1),
}


@pytest.mark.parametrize("kind", AMONG)
def test_bytes_that_belong_to_no_file_are_refused(
    kind: str, bundle: Path, paths: Paths, tmp_path: Path
) -> None:
    """Within the stream; what lies behind it is tried in `test_contradictions.py`."""
    with pa.CompressedInputStream(pa.OSFile(str(bundle)), "zstd") as stream:
        content = stream.read()
    bad = tmp_path / "bad.ipclab"
    packed(content, bad)
    verify(bad)
    packed(AMONG[kind](content), bad)
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


@pytest.mark.parametrize(("window_log", "taken"), [(27, True), (28, False)])
def test_a_window_beyond_128_mib_is_refused(
    bundle: Path, paths: Paths, tmp_path: Path, window_log: int, taken: bool
) -> None:
    with pa.CompressedInputStream(pa.OSFile(str(bundle)), "zstd") as stream:
        content = stream.read()
    how = zstandard.ZstdCompressionParameters(window_log=window_log)
    packer = zstandard.ZstdCompressor(compression_params=how).compressobj()
    (tmp_path / "wide.ipclab").write_bytes(packer.compress(content) + packer.flush())
    if taken:
        assert unpack(paths, tmp_path / "wide.ipclab").path.is_dir()
    else:
        with pytest.raises(LabError, match="the bundle is refused"):
            unpack(paths, tmp_path / "wide.ipclab")


def test_what_lies_behind_the_end_is_not_decoded(
    bundle: Path, paths: Paths, tmp_path: Path
) -> None:
    with pa.CompressedInputStream(pa.OSFile(str(bundle)), "zstd") as stream:
        content = stream.read()
    bad = tmp_path / "bad.ipclab"
    packed(content + bytes(256 << 20), bad)
    tracemalloc.start()
    with pytest.raises(LabError, match="bytes lie behind the archive's end"):
        unpack(paths, bad)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 128 << 20


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


def test_a_bundle_that_was_cut_is_refused(bundle: Path, paths: Paths) -> None:
    whole = bundle.read_bytes()
    for keep in (0, 1, 100, *range(1000, len(whole), len(whole) // 10), -30, -1):
        bundle.write_bytes(whole[:keep])
        with pytest.raises(LabError, match="refused"):
            unpack(paths, bundle)
    assert not paths.imported.exists()


def test_a_bit_that_flipped_is_refused_but_in_what_nobody_reads(bundle: Path) -> None:
    whole = bundle.read_bytes()
    refused = 0
    for place in range(3, len(whole), len(whole) // 30):
        bundle.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            verify(bundle)
        except LabError:
            refused += 1
    assert refused >= 28


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
