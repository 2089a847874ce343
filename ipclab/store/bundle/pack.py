"""Writing a bundle: every file of a finished run, its digests checked."""

import hashlib
import os
from pathlib import Path

from ipclab.store.bundle.archive import write
from ipclab.store.bundle.contents import CALIBRATION, CRATE, INDEX_OF_BUNDLE, Contents, Entry
from ipclab.store.bundle.crate import crate
from ipclab.calibration.facts import FILE
from ipclab.errors import LabError, UsageError
from ipclab.store.files import PART, dump_json, sha256
from ipclab.store.run import INDEX, RunFolder


def pack(run: RunFolder, file: Path) -> Contents:
    """Write `run` as one compressed file, whole or not at all; equal runs give equal bytes. Return what it holds.

    Raises `UsageError` for a run that is not finished or a file that is there, and `LabError` when a file of the run is
    not what was measured or the bundle cannot be written.
    """
    if not run.finished:
        raise UsageError(f"{run.id} is not finished", "", f"finish it: make measure RUN={run.path}")
    if file.exists():
        raise UsageError(f"{file} is there already", "", "name another file, or remove it")
    sources = _sources(run)
    files = {name: Entry(path.stat().st_size, sha256(path)) for name, path in sources.items()}
    for name, digest in run.about["files"].items():
        if files[name].digest != digest:
            raise LabError(
                f"{run.path / name} is not what was measured", "it was altered", "restore it, or measure anew"
            )
    described = crate(run.id, run.about, files)
    files[CRATE] = Entry(len(described), hashlib.sha256(described).hexdigest())
    contents = Contents(run.id, run.about["machine"]["digest"], files)
    members: list[tuple[str, bytes | Path]] = [(INDEX_OF_BUNDLE, dump_json(contents.as_json()))]
    members += [(name, described if name == CRATE else sources[name]) for name in files]
    part = file.with_name(f"{file.name}.{os.getpid()}{PART}")
    try:
        with part.open("xb") as out:
            write(out, [(f"{run.id}/{name}", content) for name, content in members])
        part.rename(file)
    except OSError as error:
        raise LabError(f"cannot write {file}", error.strerror or str(error), "choose a folder with room") from error
    finally:
        part.unlink(missing_ok=True)
    return contents


def _sources(run: RunFolder) -> dict[str, Path]:
    """Return every file of a run by its name in the bundle, the run's index first."""
    found = {INDEX: run.path / INDEX}
    for name in sorted(run.about["files"]):
        found[name] = run.path / name
        if not found[name].is_file():
            raise LabError(f"{found[name]} is missing", "", "restore it, or measure the run anew")
    calibration = run.path.parent / FILE
    return found | ({CALIBRATION: calibration} if calibration.is_file() else {})
