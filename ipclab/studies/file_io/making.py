"""Making file sets on disk: reused when they are the same files, space looked at before, with words of progress."""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ipclab.errors import LabError
from ipclab.spawn.scratch import held, path_of
from ipclab.store.files import dump_json, write_whole
from ipclab.studies.file_io.sets import FileSet

TAG, ABOUT, DIGEST = "file-io", "set.json", "digest"
SLACK = 64 << 20  # kept free on the disk, for the file system's own use
ELSEWHERE = "free some or name another place: --scratch DIR"
SAY_EVERY_NS = 2_000_000_000


@dataclass
class Made:
    """The sets that are on disk: folder and digest by name; `refused` says why one is not."""

    folders: dict[str, Path] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def folder(self, name: str) -> Path:
        """Return the folder of the set `name`; raises `LabError` when it could not be made."""
        if name in self.refused:
            raise LabError(f"file set {name!r} is not there", self.refused[name], ELSEWHERE)
        return self.folders[name]


def free_bytes(folder: Path) -> int:
    """Return how many bytes may be written where `folder` is, or would be made."""
    return shutil.disk_usage(nearest(folder)).free


def nearest(folder: Path) -> Path:
    """Return `folder`, or its nearest parent that is there already."""
    return next(place for place in (folder, *folder.parents) if place.is_dir())


def no_room(each: FileSet, scratch: Path) -> str | None:
    """Return why the disk below `scratch` cannot hold the set, with the fix; None when it can or already does."""
    have, need = free_bytes(scratch), each.on_disk + SLACK
    if have >= need or _same(path_of(scratch, TAG) / each.name, each):
        return None
    return f"{have:,} bytes are free in {scratch} and {need:,} are needed; {ELSEWHERE}"


@contextmanager
def made(
    scratch: Path,
    sets: Iterable[FileSet],
    engine: Any,
    say: Callable[[str], None],
    own: Callable[[Path], None] = lambda path: None,
) -> Iterator[Made]:
    """Make every set below `scratch` that is not there yet, in the order given, and hold the folder.

    `own` is told of the folder before it is made. A set that does not fit is refused and the others are made. Raises
    `LabError` when the folder cannot be made or another process reads files in it.
    """
    with held(scratch, TAG, own) as home:
        found = Made()
        for each in sets:
            try:
                found.folders[each.name], found.digests[each.name] = _make(home, each, engine, say)
            except (OSError, LabError) as error:
                shutil.rmtree(home / each.name, ignore_errors=True)  # what is not whole gives its room back
                found.refused[each.name] = error.why if isinstance(error, LabError) else str(error)
                say(f"file set {each.name}: {found.refused[each.name]}")
        yield found


def _make(home: Path, each: FileSet, engine: Any, say: Callable[[str], None]) -> tuple[Path, str]:
    folder = home / each.name
    known = (folder / DIGEST).read_text() if _same(folder, each) and (folder / DIGEST).is_file() else ""
    digest = _fill(folder, each, engine, say)
    if known and digest != known:  # somebody wrote into it since
        shutil.rmtree(folder)
        digest = _fill(folder, each, engine, say)
    write_whole(folder / DIGEST, digest.encode())
    return folder, digest


def _fill(folder: Path, each: FileSet, engine: Any, say: Callable[[str], None]) -> str:
    """Make the files that are not there; return the digest of all."""
    if not _same(folder, each):
        shutil.rmtree(folder, ignore_errors=True)  # files of another description
        have, need = free_bytes(folder.parent), each.on_disk + SLACK
        if have < need:
            raise LabError("no room", f"{have:,} bytes are free and {need:,} are needed")
        folder.mkdir(mode=0o700)
        write_whole(folder / ABOUT, dump_json(each.files()))
    say(f"file set {each.name}: {each.count:,} files, {each.bytes:,} bytes")
    last, threads = time.monotonic_ns(), os.cpu_count() or 1

    def tell(done: int) -> None:
        nonlocal last
        if time.monotonic_ns() - last >= SAY_EVERY_NS:
            last = time.monotonic_ns()
            say(f"file set {each.name}: {done:,} of {each.count:,} files")

    engine.make_files(str(folder), 0, each.native_sizes, each.content_seed, threads, tell)
    digest: str = engine.digest_files(str(folder), each.native_sizes, threads)
    return digest


def _same(folder: Path, each: FileSet) -> bool:
    """Tell whether the folder holds these very files, or the beginning of them."""
    try:
        return (folder / ABOUT).read_bytes() == dump_json(each.files())
    except OSError:
        return False


def about(sets: Iterable[FileSet], found: Made) -> dict[str, Any]:
    """Return what the run keeps of its sets: what they are, how much they hold, the digest of their contents."""
    return {
        each.name: {**each.files(), "bytes": each.bytes, "digest": found.digests[each.name]}
        for each in sets
        if each.name in found.digests
    }
