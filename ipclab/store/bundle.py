"""A run as one file that carries it to another machine or into an archive, and back.

A bundle holds every file of a finished run that was measured, and nothing derived. It is verified
as a whole before a byte is placed, and appears whole or not at all.
"""

import datetime as dt
import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ipclab.errors import LabError, UsageError, blamed
from ipclab.paths import Paths, typed
from ipclab.store import archive, validity
from ipclab.store import run as folder
from ipclab.store.archive import (
    BESIDE,
    CALIBRATION,
    CRATE,
    INDEX_OF_BUNDLE,
    RUN_NAME,
    Contents,
    Entry,
    HostileError,
)
from ipclab.store.files import (
    PART,
    dump_json,
    locked,
    sealed,
    sha256,
    whole,
    write_whole,
)
from ipclab.store.run import INDEX, RunFolder
from ipclab.store.samples import decode, row_count

T = TypeVar("T")
MEASURED = ("points/", "machine/", "raw/")  # earlier versions kept beside them what they derived
SHOWN_IN_CRATE = (
    "cpu_model",
    "cores",
    "threads",
    "memory_installed",
    "kernel_release",
    "architecture",
    "virtualisation",
)
ANOTHER = "choose another IPCLAB_DATA"
PATIENCE = 120.0  # seconds; placing the largest run takes a few
OURS = re.compile(rf"{RUN_NAME}(\.[0-9]+)?{re.escape(PART)}", re.ASCII)


def pack(run: RunFolder, file: Path, replace: bool = False) -> Contents:
    """Write `run` as one compressed file, whole or not at all; return what it holds.

    Equal runs give equal bytes.

    Raises `UsageError` for a run that is not finished or, unless `replace`, a file that is there,
    and `LabError` when a file of the run is not what was measured or the bundle cannot be written.
    """
    if not run.finished:
        raise UsageError(
            f"{run.id} is not finished", "", f"finish it: {typed('measure', run.path)}"
        )
    if not replace:
        check_new(file)
    sources: dict[str, bytes | Path] = {INDEX: run_index(run.about), **run.checked(*MEASURED)}
    if (calibration := run.path.parent / CALIBRATION).is_file():
        sources[CALIBRATION] = calibration
    entries = [_entry(name, content) for name, content in sources.items()]
    sources[CRATE] = crate(run.id, run.about, entries)
    entries.append(_entry(CRATE, sources[CRATE]))
    contents = Contents(run=run.id, machine=run.machine, files=entries)
    members = {INDEX_OF_BUNDLE: dump_json(msgspec.to_builtins(contents)), **sources}
    with whole(file) as part, part.open("wb") as out:
        archive.write(out, [(f"{run.id}/{name}", content) for name, content in members.items()])
    return contents


def check_new(file: Path) -> None:
    """Raise `UsageError` when `file` is there already, or cannot be made in its folder."""
    if file.exists():
        raise UsageError(f"{file} is there already", "", "name another file, or remove it")
    if not os.access(file.absolute().parent, os.W_OK | os.X_OK):
        raise UsageError(
            f"cannot write {file}", "its folder is not there, or closed", "make it, or name another"
        )


def crate(run: str, about: Mapping[str, Any], files: Iterable[Entry]) -> bytes:
    """Return `ro-crate-metadata.json` of `run`, the same bytes each time.

    `rocrate` stamps times and random names.
    """
    from jinja2 import Environment  # which takes long, and only those who pack need

    text = Path(__file__).with_name("crate.jinja").read_text(encoding="utf-8")
    facts = about["machine"]["facts"]
    begun = dt.datetime.fromisoformat(about["begun"])
    shown = [(name, facts[name]) for name in SHOWN_IN_CRATE if facts.get(name) is not None]
    template = Environment(autoescape=False).from_string(text)
    entries = sorted(files, key=lambda entry: entry.name)
    return dump_json(
        json.loads(template.render(run=run, about=about, begun=begun, files=entries, shown=shown))
    )


def run_index(about: dict[str, Any]) -> bytes:
    """Return the `run.json` of a bundled run: what `about` says of what was measured."""
    files = {name: digest for name, digest in about["files"].items() if name.startswith(MEASURED)}
    return sealed({**about, "files": files})


def _entry(name: str, content: bytes | Path) -> Entry:
    if isinstance(content, Path):
        return Entry(name, content.stat().st_size, sha256(content))
    return Entry(name, len(content), hashlib.sha256(content).hexdigest())


def unpack(paths: Paths, file: Path) -> RunFolder:
    """Place the run of bundle `file` in `data/imported`/<machine> and return it.

    One that is there already is kept. Raises `UsageError` when there is no such file, and
    `LabError` for a bundle that is damaged, hostile or newer, or whose run's name is that of
    another run here; nothing is then placed.
    """
    contents, index = verify(file)
    if there := _present(paths, contents.run, index):
        return there
    home = paths.imported / contents.machine
    with held(paths.imported):
        if there := _present(paths, contents.run, index):  # another process may have been first
            return there
        place(file, contents, home)
    return folder.read(home / contents.run)


def verify(file: Path) -> tuple[Contents, bytes]:
    """Return what bundle `file` holds and its `run.json`, all digests checked, nothing written.

    Raises as `unpack`.
    """
    if not file.is_file():
        raise UsageError(f"{file} is no file", "", "give what 'ipclab bundle' wrote")
    members = archive.read(file)  # held: a generator that is let go closes its file
    contents = archive.parse(next(members, None), file.stat().st_size)
    index = b"".join([chunk for name, chunk in _walk(file, contents) if name == INDEX])
    archive.check_run(contents, index)
    return contents, index


def place(file: Path, contents: Contents, home: Path) -> None:
    """Write the run's files to `home`/<run>, verified again, and to `home` a missing calibration.

    The caller holds the folder around `home`. Nothing is left after a `LabError`, for points that
    cannot be read or a folder that cannot be written.
    """
    total = sum(entry.size for entry in contents.files)
    calibration = bytearray()
    part = home.parent / f"{contents.run}{PART}"  # where no run is looked for
    try:
        with blamed(f"cannot write {home.parent}", ANOTHER):
            part.mkdir()
            if shutil.disk_usage(part).free < total:
                why = f"it takes {total:,} bytes"
                raise LabError("no room for the run", why, "free some, or move data by IPCLAB_DATA")
            for name, chunk in _walk(file, contents):
                if name in BESIDE and name != INDEX:
                    calibration += chunk if name == CALIBRATION else b""
                    continue
                (part / name).parent.mkdir(parents=True, exist_ok=True)
                with (part / name).open("ab") as out:
                    out.write(chunk)
            check_points(folder.read(part).point_files())
            home.mkdir(exist_ok=True)
            if calibration and not (home / CALIBRATION).exists():
                write_whole(home / CALIBRATION, bytes(calibration))
            part.rename(home / contents.run)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def check_points(files: Sequence[Path]) -> None:
    """Raise `HostileError` for points that were not measured, before they take memory or time."""
    count = sum(_asked(row_count, path) for path in files)
    try:
        validity.together(count, sum(path.stat().st_size for path in files))
    except ValueError as error:
        raise HostileError(str(error)) from error
    for path in files:
        _asked(decode, path)


def _asked(reader: Callable[[Path], T], path: Path) -> T:
    try:
        return reader(path)
    except LabError as error:
        raise HostileError(f"{path.name} is not a point's file ({error.why})") from error


def _walk(file: Path, contents: Contents) -> Iterator[tuple[str, bytes]]:
    """Yield the content of every file in pieces (one at least).

    Raises `HostileError` for anything not as named.
    """
    members = archive.read(file)
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
        for index_there in top.glob(f"*/{run}/{INDEX}"):
            there = folder.read(index_there.parent)
            if index not in (index_there.read_bytes(), run_index(there.about)):
                why = f"{index_there.parent} has its name and is not it"
                raise LabError(f"{run} cannot be imported", why, "move that one away first")
            return there
    return None


@contextmanager
def held(top: Path, patience: float = PATIENCE) -> Iterator[list[Path]]:
    """Hold folder `top` (made when missing) for this process; gives what killed ones left.

    Raises `LabError` when another process holds it for longer than `patience` seconds, or it cannot
    be written.
    """
    taken = LabError(f"{top} is held by another process", "", "wait for it or end it")
    with ExitStack() as stack:
        with blamed(f"cannot write {top}", ANOTHER):
            top.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(top, taken, patience=patience))
        parts = [*top.glob(f"*{PART}"), *top.glob(f"*/*{PART}")]
        left = [path for path in parts if OURS.fullmatch(path.name)]
        for path in left:
            shutil.rmtree(path, ignore_errors=True)
        yield left


def clean(paths: Paths) -> list[str]:
    """Remove what killed processes left where runs are placed; return the names.

    A folder in use is left alone.
    """
    removed: list[str] = []
    for top in filter(Path.is_dir, (paths.imported, paths.opened)):
        # in use, another process places a run there, and removes the leftovers itself
        with suppress(LabError), held(top, patience=0) as left:
            removed += map(str, left)
    return removed


def opened(paths: Paths, bundle: Path) -> RunFolder:
    """Return the run of `bundle`, placed in `data/opened`/<its name and digest> if not there yet.

    Several processes may ask at once. Raises as `unpack` does.
    """
    if not bundle.is_file():
        raise UsageError(
            f"{bundle} is no file", "", "get it from the repository again: git checkout data"
        )
    home = paths.opened / f"{bundle.name}-{sha256(bundle)[:16]}"
    index = f"*/{INDEX}"
    if not any(home.glob(index)):
        with held(paths.opened):
            if not any(home.glob(index)):  # another process may have been first
                contents, _ = verify(bundle)
                for old in [*paths.opened.glob(f"{glob.escape(bundle.name)}-*")]:
                    shutil.rmtree(old)
                place(bundle, contents, home)
    return folder.read(next(home.glob(index)).parent)
