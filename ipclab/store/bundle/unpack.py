"""Reading a bundle: all of it is verified before a byte is placed, and it appears whole or not at all."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ipclab.store.bundle.archive import HostileError, Member, read
from ipclab.store.bundle.contents import (
    CALIBRATION,
    EXTRA,
    INDEX_OF_BUNDLE,
    LARGEST_INDEX,
    Contents,
    check_run,
    parse,
)
from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.files import PART, sha256, write_whole
from ipclab.store.run import INDEX, RunFolder


def unpack(paths: Paths, file: Path) -> RunFolder:
    """Place the run of bundle `file` in `data/imported`/<machine> and return it; one that is there already is kept.

    Raises `UsageError` when there is no such file, and `LabError` for a bundle that is damaged, hostile or newer, or
    whose run's name is that of another run here; nothing is then placed.
    """
    if not file.is_file():
        raise UsageError(f"{file} is no file", "", "give what 'ipclab bundle' wrote")
    contents = verify(file)
    if there := _present(paths, contents):
        return there
    target = paths.imported / contents.machine / contents.run
    part = target.with_name(f"{target.name}.{os.getpid()}{PART}")
    total = sum(entry.size for entry in contents.files.values())
    try:
        part.mkdir(parents=True)
        if shutil.disk_usage(part).free < total:
            raise LabError("no room for the run", f"it takes {total:,} bytes", "free some, or move data by IPCLAB_DATA")
        kept = _place(file, contents, part)
        part.rename(target)
    except OSError as error:
        raise LabError(f"cannot write {target}", error.strerror or str(error), "choose another IPCLAB_DATA") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
        for empty in (target.parent, paths.imported):
            with suppress(OSError):
                empty.rmdir()  # only when nothing is in it
    if kept and not (target.parent / CALIBRATION).exists():
        write_whole(target.parent / CALIBRATION, kept)
    return folder.read(target)


def verify(file: Path) -> Contents:
    """Return what bundle `file` holds, every digest checked and nothing written; raises as `unpack` does."""
    index = b""
    contents = _contents(file)
    for name, chunk in _walk(file, contents):
        if name == INDEX:
            index += chunk
    check_run(contents, index)
    return contents


def _contents(file: Path) -> Contents:
    members = read(file)  # held: a generator that is let go closes its file
    first = next(members, None)
    if first is None or first.name.rpartition("/")[2] != INDEX_OF_BUNDLE:
        raise HostileError(f"it does not begin with {INDEX_OF_BUNDLE}")
    if first.size > LARGEST_INDEX:
        raise HostileError(f"its index has {first.size:,} bytes")
    return parse(b"".join(first.chunks), file.stat().st_size)


def _walk(file: Path, contents: Contents) -> Iterator[tuple[str, bytes]]:
    """Yield the content of every file in pieces (one at least); raises `HostileError` for anything not as named."""
    members = read(file)
    wanted = [(INDEX_OF_BUNDLE, None), *contents.files.items()]
    for name, entry in wanted:
        member: Member | None = next(members, None)
        if member is None:
            raise HostileError(f"{name} is missing")
        if member.name != f"{contents.run}/{name}" or (entry and member.size != entry.size):
            raise HostileError(f"{member.name!r} is not the file that belongs here")
        if entry is None:
            continue
        digest = hashlib.sha256()
        yield name, b""
        for chunk in member.chunks:
            digest.update(chunk)
            yield name, chunk
        if digest.hexdigest() != entry.digest:
            raise HostileError(f"{name} has another digest")
    if (more := next(members, None)) is not None:
        raise HostileError(f"{more.name!r} is a file too many")


def _present(paths: Paths, contents: Contents) -> RunFolder | None:
    """Return the run when it is here already; raises `LabError` when another one has its name."""
    for top in (paths.imported, paths.runs):
        for index in top.glob(f"*/{contents.run}/{INDEX}"):
            if sha256(index) == contents.files[INDEX].digest:
                return folder.read(index.parent)
            why = f"{index.parent} has its name and is not it"
            raise LabError(f"{contents.run} cannot be imported", why, "move that one away first")
    return None


def _place(file: Path, contents: Contents, part: Path) -> bytes:
    """Write the run's own files below `part`, verified again; return the calibration, empty when there is none."""
    kept = b""
    for name, chunk in _walk(file, contents):
        if name == CALIBRATION:
            kept += chunk
        if name in EXTRA:
            continue
        path = part / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as out:
            out.write(chunk)
    return kept
