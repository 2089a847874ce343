"""A run as one file that carries it elsewhere, and back: written, and placed among what was imported."""

import datetime as dt
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec
import zstandard

from ipclab.calibrated import calibration_file
from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths, typed
from ipclab.store import run as folder
from ipclab.store.archive import CALIBRATION, CRATE, INDEX_OF_BUNDLE, Contents, Entry
from ipclab.store.bundle import held_folder, place, verify
from ipclab.store.calibration import known_runs
from ipclab.store.files import dump_json, sha256, whole
from ipclab.store.record import sealed
from ipclab.store.run import INDEX, RunFolder

FAST = 3  # zstd's usual level
SMALL = 19  # its last level for which readers need no more memory
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


def pack(run: RunFolder, file: Path, replace: bool = False, level: int = FAST) -> Contents:
    """Write `run` as one compressed file, whole or not at all; return what it holds.

    Equal runs give equal bytes, at the same `level` of zstd.

    Raises `UsageError` for a run that is not finished or, unless `replace`, a file that is there,
    and `LabError` when a file of the run is not what was measured or the bundle cannot be written.
    """
    if not run.finished:
        fix = f"finish it: {typed('measure', run.path)}"
        raise UsageError(f"{run.id} is not finished", "", fix)
    if not replace:
        check_new(file)
    sources: dict[str, bytes | Path] = {INDEX: run_index(run.about), **run.checked(*MEASURED)}
    if (calibration := calibration_file(run)).is_file():
        known_runs(calibration)  # what cannot be read here would be refused elsewhere
        sources[CALIBRATION] = calibration
    entries = [_entry(name, content) for name, content in sources.items()]
    sources[CRATE] = crate(run.id, run.about, entries)
    entries.append(_entry(CRATE, sources[CRATE]))
    contents = Contents(run=run.id, machine=run.machine, files=entries)
    members = {INDEX_OF_BUNDLE: dump_json(msgspec.to_builtins(contents)), **sources}
    with whole(file) as part, part.open("wb") as out:
        named = [(f"{run.id}/{name}", content) for name, content in members.items()]
        write_archive(out, named, level)
    return contents


def check_new(file: Path) -> None:
    """Raise `UsageError` when `file` is there already, or cannot be made in its folder."""
    if file.exists():
        raise UsageError(f"{file} is there already", "", "name another file, or remove it")
    if not os.access(file.absolute().parent, os.W_OK | os.X_OK):
        why = "its folder is not there, or closed"
        raise UsageError(f"cannot write {file}", why, "make it, or name another")


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
    with held_folder(paths.imported):
        if there := _present(paths, contents.run, index):  # another process may have been first
            return there
        place(file, contents, home)
    return folder.read_run(home / contents.run)


def _present(paths: Paths, run: str, index: bytes) -> RunFolder | None:
    """Return the run when it is here already; raises `LabError` when another one has its name."""
    for top in (paths.imported, paths.runs):
        for index_there in top.glob(f"*/{run}/{INDEX}"):
            there = folder.read_run(index_there.parent)
            if index not in (index_there.read_bytes(), run_index(there.about)):
                why = f"{index_there.parent} has its name and is not it"
                raise LabError(f"{run} cannot be imported", why, "move that one away first")
            return there
    return None


def clean_placed(paths: Paths) -> list[str]:
    """Remove what killed processes left where runs are placed; return the names.

    A folder in use is left alone.
    """
    removed: list[str] = []
    for top in filter(Path.is_dir, (paths.imported, paths.opened)):
        # in use, another process places a run there, and removes the leftovers itself
        with suppress(LabError), held_folder(top, patience=0) as left:
            removed += map(str, left)
    return removed


def write_archive(
    file: IO[bytes], members: Iterable[tuple[str, bytes | Path]], level: int = FAST
) -> None:
    """Write `members` (name and content, or the file that holds it) compressed into `file`.

    Raises `LabError` for a name that is too long for the format.
    """
    with zstandard.ZstdCompressor(level=level).stream_writer(file, closefd=False) as out:
        archive = tarfile.TarFile(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT)
        for name, content in members:
            about = tarfile.TarInfo(name)
            with (
                io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as source
            ):
                about.size = source.seek(0, os.SEEK_END)
                source.seek(0)
                try:
                    archive.addfile(about, source)
                except ValueError as error:
                    fix = "its name is too long for the archive"
                    raise LabError(f"{name} cannot be bundled", str(error), fix) from error
        out.write(bytes(2 * tarfile.BLOCKSIZE))  # no more, as closing it would
