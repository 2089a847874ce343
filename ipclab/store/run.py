"""One run: a folder whose `run.json` says what was measured, on what, and the digest of every file."""

import datetime as dt
import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.store.point import Point
from ipclab.store.files import PART, dump_json, sha256, write_whole
from ipclab.store.migration import RUN_STEPS, SCHEMA, migrated

INDEX = "run.json"
Warn = Callable[[str], None]


@dataclass
class RunFolder:
    """A run on disk; `about` is the content of its `run.json`."""

    path: Path
    about: dict[str, Any]

    @property
    def id(self) -> str:
        """Return the run's name."""
        return self.path.name

    @property
    def date(self) -> dt.datetime:
        """Return when the run was begun (UTC)."""
        return dt.datetime.fromisoformat(self.about["begun"])

    @property
    def finished(self) -> bool:
        """Tell whether every point was measured or given up with a reason."""
        return bool(self.about.get("finished"))

    def save(self) -> None:
        """Write `run.json` whole."""
        write_whole(self.path / INDEX, dump_json(self.about))

    def file(self, point: Point) -> str:
        """Return the name of a point's file inside the run."""
        return f"points/{point.study}/{point.id}.parquet"

    def add(self, point: Point, content: bytes) -> None:
        """Store a finished point: its digest is in `run.json` before the file appears, so no file is unknown."""
        name = self.file(point)

        def note(part: Path) -> None:
            self.about["files"][name] = sha256(part)
            self.about["failures"].pop(point.id, None)
            self.save()

        write_whole(self.path / name, content, note)

    def fail(self, point: Point, reason: str) -> None:
        """Note that `point` was given up; what an earlier session left of it is no longer part of the run."""
        name = self.file(point)
        self.about["files"].pop(name, None)
        self.about["failures"][point.id] = reason
        self.save()
        (self.path / name).unlink(missing_ok=True)

    def keep(self, name: str, content: bytes) -> None:
        """Keep a raw file as `raw/` + `name`, with its digest; one of that name is replaced."""
        path = f"raw/{name}"
        self.about["files"][path] = hashlib.sha256(content).hexdigest()
        self.save()
        write_whole(self.path / path, content)

    def note(self, name: str, value: Any) -> None:
        """Put an entry of a study into `run.json`, below `notes`."""
        self.about.setdefault("notes", {})[name] = value
        self.save()

    def has(self, point: Point, warn: Warn) -> bool:
        """Tell whether `point` is on disk and unaltered; an altered file is reported through `warn`."""
        name = self.file(point)
        path = self.path / name
        if not path.is_file():
            return False
        if sha256(path) == self.about["files"].get(name):
            return True
        warn(f"{name} is not what was measured (truncated or altered): it is measured again")
        return False

    def point_files(self) -> Iterator[Path]:
        """Yield the files of the points in a fixed order.

        Raises `LabError` when one is missing or not what was measured.
        """
        for name, digest in sorted(self.about["files"].items()):
            path = self.path / name
            if not name.startswith("points/"):
                continue
            if not path.is_file() or sha256(path) != digest:
                fix = f"measure it again: make measure RUN={self.path}"
                raise LabError(f"{path} is not what was measured", "it is missing, truncated or altered", fix)
            yield path

    def lock(self) -> int:
        """Hold the run for this process and return the lock's descriptor.

        Raises `LabError` when another process is measuring into it. The lock ends with the process.
        """
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise LabError(f"{self.id} is being measured by another process", "", "wait for it or end it") from error
        return descriptor

    def remove_parts(self) -> None:
        """Remove half-written files that a killed process left."""
        for part in self.path.rglob(f"*{PART}"):
            part.unlink(missing_ok=True)


def create(machines: Path, machine: str, about: dict[str, Any], now: dt.datetime) -> RunFolder:
    """Make a new run below `machines`/`machine`; raises `LabError` when that cannot be written."""
    path = machines / machine / f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    head = {"schema": SCHEMA, "begun": now.isoformat(timespec="seconds"), "finished": None}
    run = RunFolder(path, {**head, "files": {}, "failures": {}, **about})
    run.save()
    return run


def read(path: Path) -> RunFolder:
    """Open the run in folder `path`.

    Raises `UsageError` when there is none and `LabError` when its `run.json` cannot be understood.
    """
    file = path / INDEX
    if not file.is_file():
        raise UsageError(f"{path} is no run", f"it has no {INDEX}", "give a folder below data/runs or data/reference")
    try:
        about = json.loads(file.read_text())
        if about["schema"] > SCHEMA:
            raise LabError(f"{path} has schema {about['schema']}", f"this ipclab knows {SCHEMA}", "use a newer ipclab")
        about = migrated(about, RUN_STEPS)
        if not isinstance(about["files"], dict):
            raise TypeError("its files are no table")
    except (ValueError, KeyError, TypeError) as error:
        raise LabError(f"{file} cannot be read", str(error), "restore it, or measure a new run") from error
    return RunFolder(path.resolve(), about)


def newest(runs: Path, wanted: Callable[[RunFolder], bool]) -> RunFolder | None:
    """Return the newest run below `runs` (one folder a machine) that is `wanted`."""
    for file in sorted(runs.glob(f"*/*/{INDEX}"), key=lambda file: file.parent.name, reverse=True):
        try:
            run = read(file.parent)
        except LabError:
            continue  # a run that cannot be read is not a candidate; naming it says why
        if wanted(run):
            return run
    return None
