"""The writing side of a run: what a measuring session stores, whole or not at all."""

import datetime as dt
import hashlib
import secrets
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any

from ipclab.errors import LabError
from ipclab.store.files import PART, dump_json, locked_folder, sha256, write_whole, written
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.run import INDEX, RunFolder, read_run
from ipclab.store.schema import SCHEMA, STAMP
from ipclab.store.validity import check_launch


class Record(RunFolder):
    """A run that a session measures into, or that is altered."""

    def save(self) -> None:
        """Write `run.json` whole, with a digest of its own."""
        write_whole(self.path / INDEX, sealed(self.about))

    def place(self, files: Iterable[tuple[Point | str, bytes]]) -> None:
        """Store points, and other files by name.

        `run.json` has their digests before they appear; no file is unknown to it.
        """
        with ExitStack() as parts:
            for what, content in files:
                name = self.file(what) if isinstance(what, Point) else what
                part = parts.enter_context(written(self.path / name, content))
                self.about["files"][name] = sha256(part)
                if isinstance(what, Point):
                    self.about["failures"].pop(what.id, None)
            self.save()

    def fail(self, point: Point, reason: str) -> None:
        """Note that `point` was given up.

        What an earlier session left of it is no longer part of the run.
        """
        name = self.file(point)
        self.about["files"].pop(name, None)
        self.about["failures"][point.id] = reason
        self.save()
        (self.path / name).unlink(missing_ok=True)

    def keep(self, name: str, content: bytes) -> None:
        """Keep a raw file as `raw/` + `name`, with its digest; one of that name is replaced."""
        self.place([(f"raw/{name}", content)])

    def note(self, name: str, value: Any) -> None:
        """Put an entry of a study into `run.json`, below `notes`."""
        self.about["notes"][name] = value
        self.save()

    def has(self, point: Point, warn: Callable[[str], object]) -> bool:
        """Tell whether `point` is on disk and unaltered.

        An altered file is reported through `warn`.
        """
        name = self.file(point)
        intact = self.intact(name)
        if not intact and (self.path / name).is_file():
            warn(f"{name} is not what was measured (truncated or altered): it is measured again")
        return intact

    def held(self) -> AbstractContextManager[None]:
        """Hold the run for this process.

        Raises `LabError` when another process is measuring into it.
        """
        what = f"{self.id} is being measured by another process"
        return locked_folder(self.path, LabError(what, "", "wait for it or end it"))

    def remove_parts(self) -> None:
        """Place the files of a killed process that `run.json` awaits, and remove the others."""
        for part in self.path.rglob(f"*{PART}"):
            target = part.with_name(part.name.removesuffix(PART).rpartition(".")[0])
            if sha256(part) == self.about["files"].get(str(target.relative_to(self.path))):
                part.replace(target)
            else:
                part.unlink()


def settle_parts(top: Path) -> list[str]:
    """Settle what killed processes were writing into runs below `top`; return the names.

    A run that is measured into, or cannot be read, is left alone.
    """
    settled: list[str] = []
    for index in sorted(top.glob(f"*/*/{INDEX}")):
        if parts := sorted(index.parent.rglob(f"*{PART}")):
            with suppress(LabError):
                run = reopened(index.parent)
                with run.held():
                    run.remove_parts()
                settled += map(str, parts)
    return settled


def create(machines: Path, machine: str, about: dict[str, Any], now: dt.datetime) -> Record:
    """Make a new run below `machines`/`machine`; raises `LabError` when that cannot be written."""
    path = machines / machine / f"{now:{STAMP}}-{secrets.token_hex(3)}"
    head = {"schema": SCHEMA, "begun": now.isoformat(timespec="seconds"), "finished": None}
    empty: dict[str, Any] = {"files": {}, "failures": {}, "points": {}, "notes": {}, "sessions": []}
    run = Record(path, {**head, **empty, **about})
    try:
        run.save()
    except BaseException:  # a full disk, say: no empty folder is left
        for made in (path, path.parent):
            with suppress(OSError):
                made.rmdir()
        raise
    return run


def check_measured(launch: Launch) -> None:
    """Raise `LabError` for a launch, just measured, that nobody could read once stored."""
    try:
        check_launch(launch)
    except ValueError as error:
        raise LabError("what was measured cannot be", str(error)) from error


def reopened(path: Path) -> Record:
    """Open the run in `path` to write into it; raises as `ipclab.store.run.read_run` does."""
    return Record(**vars(read_run(path)))


def sealed(about: dict[str, Any]) -> bytes:
    """Return `about` as JSON, first the SHA-256 `digest` of all else as `dump_json` writes it."""
    content = dump_json(about)
    return b'{\n "digest": "%s",%s' % (hashlib.sha256(content).hexdigest().encode(), content[1:])
