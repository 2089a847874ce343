"""What a bundle holds: `bundle.json` first, which names every other file with its size and digest, then those files."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ipclab.store.bundle.archive import HostileError
from ipclab.errors import LabError
from ipclab.store.run import INDEX
from ipclab.store.migration import SCHEMA

FORMAT = 1
INDEX_OF_BUNDLE = "bundle.json"
CRATE = "ro-crate-metadata.json"
CALIBRATION = "calibration.json"
EXTRA = (CRATE, CALIBRATION)  # beside what the run's own index names
FOLDERS = ("points", "machine", "raw", "tables")
LARGEST_INDEX = 64 << 20
BOMB_RATIO, BOMB_SLACK = 200, 64 << 20  # samples hardly shrink; a machine's texts shrink some twenty times
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+=,-]{0,199}", re.ASCII)
_RUN = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}", re.ASCII)
_MACHINE = re.compile(r"[0-9a-z]{1,64}", re.ASCII)


@dataclass(frozen=True)
class Entry:
    """One file of a bundle: its size in bytes and its SHA-256."""

    size: int
    digest: str


@dataclass(frozen=True)
class Contents:
    """A bundle's own index: the run's name and machine, and its files in their order in the archive."""

    run: str
    machine: str
    files: Mapping[str, Entry]

    def as_json(self) -> dict[str, Any]:
        """Return what `bundle.json` says."""
        files = [{"name": name, "size": entry.size, "sha256": entry.digest} for name, entry in self.files.items()]
        return {"format": FORMAT, "run": self.run, "machine": self.machine, "files": files}


def parse(text: bytes, packed: int) -> Contents:
    """Return what `bundle.json` says; `packed` is the size of the whole bundle in bytes.

    Raises `LabError` for a newer format and `HostileError` for names, sizes or digests that no bundle has.
    """
    try:
        told = json.loads(text)
        if told["format"] != FORMAT:
            fix = "use a newer ipclab"
            raise LabError(f"the bundle has format {told['format']}", f"this ipclab knows {FORMAT}", fix)
        files = {str(each["name"]): Entry(each["size"], str(each["sha256"])) for each in told["files"]}
        run, machine = str(told["run"]), str(told["machine"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise HostileError(f"{INDEX_OF_BUNDLE} cannot be read ({error})") from error
    if not _RUN.fullmatch(run) or not _MACHINE.fullmatch(machine):
        raise HostileError(f"{run!r} of {machine!r} is no run's name")
    if len(files) < len(told["files"]) or len({name.lower() for name in files}) < len(files):
        raise HostileError("two files have one name")
    for name, entry in files.items():
        _check(name, entry)
    total = sum(entry.size for entry in files.values())
    if total > BOMB_RATIO * packed + BOMB_SLACK:
        raise HostileError(f"{total:,} bytes in a file of {packed:,}")
    return Contents(run, machine, files)


def _check(name: str, entry: Entry) -> None:
    first, *more = parts = name.split("/")
    inside = (first in FOLDERS and more) or name in (INDEX, "facts.json", *EXTRA)
    if not inside or not all(map(_PART.fullmatch, parts)):
        raise HostileError(f"{name!r} is no file of a run")
    if not isinstance(entry.size, int) or isinstance(entry.size, bool) or entry.size < 0:
        raise HostileError(f"{name!r} has no size")
    if not re.fullmatch("[0-9a-f]{64}", entry.digest):
        raise HostileError(f"{name!r} has no digest")


def check_run(contents: Contents, text: bytes) -> None:
    """Raise `LabError` unless `text`, the run's index, is of a schema known here, complete, and names these files."""
    try:
        about = json.loads(text)
        schema, files, machine = about["schema"], dict(about["files"]), about["machine"]["digest"]
        finished = about["finished"]
        _ = about["begun"], about["seed"], about["parameters"]["profile"], about["sessions"], about["failures"]
        _ = about["machine"]["facts"].items()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise HostileError(f"{INDEX} cannot be read ({error})") from error
    if not isinstance(schema, int) or schema > SCHEMA:
        raise LabError(f"the run has schema {schema}", f"this ipclab knows {SCHEMA}", "use a newer ipclab")
    if machine != contents.machine or not finished:
        raise HostileError(f"{INDEX} is of another machine, or of a run that is not finished")
    listed = {name: entry.digest for name, entry in contents.files.items() if name not in (INDEX, *EXTRA)}
    if listed != files:
        odd = sorted(listed.items() ^ files.items())[0][0]
        raise HostileError(f"{INDEX} and {INDEX_OF_BUNDLE} do not agree on {odd!r}")
