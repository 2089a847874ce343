"""A run as one file that carries it to another machine or into an archive, and back.

A bundle holds every file of a finished run that was measured, and nothing derived. It is verified
as a whole before a byte is placed, and appears whole or not at all.
"""

import glob
import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ipclab.errors import LabError, UsageError, blamed
from ipclab.paths import Paths
from ipclab.store import archive, door
from ipclab.store import run as folder
from ipclab.store.archive import CRATE, INDEX_OF_BUNDLE, Contents, HostileError
from ipclab.store.files import PART, locked_folder, sha256
from ipclab.store.run import INDEX, RunFolder
from ipclab.store.schema import RUN_NAME

ANOTHER = "choose another IPCLAB_DATA"
PATIENCE = 120.0  # seconds; placing the largest run takes a few
OURS = re.compile(rf"{RUN_NAME}(\.[0-9]+)?{re.escape(PART)}", re.ASCII)


def verify(file: Path) -> tuple[Contents, bytes]:
    """Return what bundle `file` holds and its `run.json`, all digests checked, nothing written.

    Raises `UsageError` when there is no such file, and `LabError` for a bundle that is damaged,
    hostile or newer.
    """
    if not file.is_file():
        raise UsageError(f"{file} is no file", "", "give what 'ipclab bundle' wrote")
    members = archive.read_members(file)  # held: a generator that is let go closes its file
    contents = archive.contents_told(next(members, None), file.stat().st_size)
    read = {INDEX: b"", CRATE: b""}
    for name, chunk in _walk(file, contents):
        if name in read:
            read[name] += chunk
    archive.check_run(contents, read[INDEX])
    names = {entry.name for entry in contents.files}
    if CRATE in names:
        archive.check_crate(read[CRATE], names)
    return contents, read[INDEX]


def place(file: Path, contents: Contents, home: Path) -> None:
    """Write the run's files to `home`/<run>, verified again, with its machine's calibration.

    The caller holds the folder around `home`. Nothing is left after a `LabError`, for points that
    cannot be read or a folder that cannot be written.
    """
    total = sum(entry.size for entry in contents.files)
    part = home.parent / f"{contents.run}{PART}"  # where no run is looked for
    try:
        with blamed(f"cannot write {home.parent}", ANOTHER):
            part.mkdir()
            if shutil.disk_usage(part).free < total:
                why = f"it takes {total:,} bytes"
                raise LabError("no room for the run", why, "free some, or move data by IPCLAB_DATA")
            for name, chunk in _walk(file, contents):
                if name == CRATE:
                    continue
                (part / name).parent.mkdir(parents=True, exist_ok=True)
                with (part / name).open("ab") as out:
                    out.write(chunk)
            run = folder.read_run(part)
            try:
                door.check(run, file.stat().st_size)  # before anybody else can look at it
            except LabError as error:
                what = error.what.replace(f"{run.path}/", "")
                raise HostileError(f"{what} ({error.why})") from error
            home.mkdir(exist_ok=True)
            part.rename(home / contents.run)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _walk(file: Path, contents: Contents) -> Iterator[tuple[str, bytes]]:
    """Yield the content of every file in pieces (one at least).

    Raises `HostileError` for anything not as named.
    """
    members = archive.read_members(file)
    for entry in (None, *contents.files):
        name = entry.name if entry else INDEX_OF_BUNDLE
        if (member := next(members, None)) is None:
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
        if digest.hexdigest() != entry.sha256:
            raise HostileError(f"{name} has another digest")
    if (more := next(members, None)) is not None:
        raise HostileError(f"{more.name!r} is a file too many")


@contextmanager
def held_folder(top: Path, patience: float = PATIENCE) -> Iterator[list[Path]]:
    """Hold folder `top` (made when missing) for this process; gives what killed ones left.

    Raises `LabError` when another process holds it for longer than `patience` seconds, or it cannot
    be written.
    """
    taken = LabError(f"{top} is held by another process", "", "wait for it or end it")
    with ExitStack() as stack:
        with blamed(f"cannot write {top}", ANOTHER):
            top.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked_folder(top, taken, patience))
        parts = [*top.glob(f"*{PART}"), *top.glob(f"*/*{PART}")]
        left = [path for path in parts if OURS.fullmatch(path.name)]
        for path in left:
            shutil.rmtree(path, ignore_errors=True)
        yield left


def opened(paths: Paths, bundle: Path) -> RunFolder:
    """Return the run of `bundle`, placed in `data/opened`/<its name and digest> if not there yet.

    Several processes may ask at once. Raises as `verify` and `place` do.
    """
    if not bundle.is_file():
        raise UsageError(
            f"{bundle} is no file", "", "get it from the repository again: git checkout data"
        )
    home = paths.opened / f"{bundle.name}-{sha256(bundle)[:16]}"
    index = f"*/{INDEX}"
    if not any(home.glob(index)):
        with held_folder(paths.opened):
            if not any(home.glob(index)):  # another process may have been first
                contents, _ = verify(bundle)
                for old in [*paths.opened.glob(f"{glob.escape(bundle.name)}-*")]:
                    shutil.rmtree(old)
                place(bundle, contents, home)
    return folder.read_run(next(home.glob(index)).parent)
