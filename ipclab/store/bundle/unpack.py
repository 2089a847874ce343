"""Reading a bundle: all of it is verified before a byte is placed, and it appears whole or not at all."""

import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.bundle.archive import HostileError, read
from ipclab.store.bundle.contents import BESIDE, CALIBRATION, INDEX_OF_BUNDLE, RUN_NAME, Contents, check_run, parse
from ipclab.store.bundle.pack import run_index
from ipclab.store.files import PART, locked, write_whole
from ipclab.store.run import INDEX, RunFolder
from ipclab.store.samples import decode

PATIENCE = 120.0  # seconds; placing the largest run takes a few
OURS = re.compile(rf"{RUN_NAME}(\.[0-9]+)?{re.escape(PART)}", re.ASCII)


def unpack(paths: Paths, file: Path) -> RunFolder:
    """Place the run of bundle `file` in `data/imported`/<machine> and return it; one that is there already is kept.

    Raises `UsageError` when there is no such file, and `LabError` for a bundle that is damaged, hostile or newer, or
    whose run's name is that of another run here; nothing is then placed.
    """
    contents, index = verify(file)
    if there := _present(paths, contents.run, index):
        return there
    home = paths.imported / contents.machine
    with held(paths.imported):
        place(file, contents, home)
    return folder.read(home / contents.run)


def verify(file: Path) -> tuple[Contents, bytes]:
    """Return what bundle `file` holds and its `run.json`, all digests checked, nothing written; raises as `unpack`."""
    if not file.is_file():
        raise UsageError(f"{file} is no file", "", "give what 'ipclab bundle' wrote")
    members = read(file)  # held: a generator that is let go closes its file
    contents = parse(next(members, None), file.stat().st_size)
    index = b"".join([chunk for name, chunk in _walk(file, contents) if name == INDEX])
    check_run(contents, index)
    return contents, index


def place(file: Path, contents: Contents, home: Path) -> None:
    """Write the run's own files to `home`/<run>, verified again, and the calibration to `home` when it has none.

    The caller holds the folder around `home`. Nothing is left after a `LabError`, for points that cannot be read or a
    folder that cannot be written.
    """
    total, calibration = sum(entry.size for entry in contents.files), bytearray()
    with _part_of(home.parent, contents.run) as part:
        if shutil.disk_usage(part).free < total:
            raise LabError("no room for the run", f"it takes {total:,} bytes", "free some, or move data by IPCLAB_DATA")
        for name, chunk in _walk(file, contents):
            if name in BESIDE and name != INDEX:
                calibration += chunk if name == CALIBRATION else b""
                continue
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            with (part / name).open("ab") as out:
                out.write(chunk)
        for path in folder.read(part).point_files():
            try:
                decode(path)
            except LabError as error:
                raise HostileError(f"{path.name} is not a point's file ({error.why})") from error
        home.mkdir(exist_ok=True)
        if calibration and not (home / CALIBRATION).exists():
            write_whole(home / CALIBRATION, bytes(calibration))
        part.rename(home / contents.run)


def _walk(file: Path, contents: Contents) -> Iterator[tuple[str, bytes]]:
    """Yield the content of every file in pieces (one at least); raises `HostileError` for anything not as named."""
    members = read(file)
    for name, entry in [(INDEX_OF_BUNDLE, None), *contents.by_name().items()]:
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


def _present(paths: Paths, run: str, index: bytes) -> RunFolder | None:
    """Return the run when it is here already; raises `LabError` when another one has its name."""
    for top in (paths.imported, paths.runs):
        for found in top.glob(f"*/{run}/{INDEX}"):
            there = folder.read(found.parent)
            if index not in (found.read_bytes(), run_index(there.about)):
                why = f"{found.parent} has its name and is not it"
                raise LabError(f"{run} cannot be imported", why, "move that one away first")
            return there
    return None


@contextmanager
def held(top: Path, patience: float = PATIENCE) -> Iterator[list[Path]]:
    """Hold folder `top` (made when missing) for this process; gives the leftovers of killed ones, which are removed.

    Raises `LabError` when another process holds it for longer than `patience` seconds, or it cannot be written.
    """
    taken = LabError(f"{top} is held by another process", "", "wait for it or end it")
    with ExitStack() as stack:
        try:
            top.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(top, taken, patience=patience))
        except OSError as error:
            raise _unwritable(top, error) from error
        left = [path for path in (*top.glob(f"*{PART}"), *top.glob(f"*/*{PART}")) if OURS.fullmatch(path.name)]
        for path in left:
            shutil.rmtree(path, ignore_errors=True)
        yield left


@contextmanager
def _part_of(top: Path, run: str) -> Iterator[Path]:
    part = top / f"{run}{PART}"  # where no run is looked for
    try:
        part.mkdir()
        yield part
    except OSError as error:
        raise _unwritable(top, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def clean(paths: Paths) -> list[str]:
    """Remove what killed processes left where runs are placed; return the names. A folder in use is left alone."""
    removed: list[str] = []
    for top in (paths.imported, paths.opened):
        with suppress(LabError):  # another process places a run there, and removes the leftovers itself
            if top.is_dir():
                with held(top, patience=0) as left:
                    removed += [str(path) for path in left]
    return removed


def _unwritable(top: Path, error: OSError) -> LabError:
    return LabError(f"cannot write {top}", error.strerror or str(error), "choose another IPCLAB_DATA")
