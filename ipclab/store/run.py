"""One run: a folder whose `run.json` says what was measured, on what, with all digests."""

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipclab.errors import LabError, UsageError, blamed
from ipclab.paths import typed
from ipclab.store.files import sha256
from ipclab.store.point import Point
from ipclab.store.questions import Questions, questions_told
from ipclab.store.schema import parse_run

INDEX = "run.json"


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
    def profile(self) -> str:
        """Return the name of the profile that it was measured under."""
        return str(self.about["parameters"]["profile"])

    @property
    def machine(self) -> str:
        """Return the digest of the machine that it was measured on."""
        return str(self.about["machine"]["digest"])

    @property
    def facts(self) -> dict[str, Any]:
        """Return the facts of the machine that it was measured on, by name."""
        return dict(self.about["machine"]["facts"])

    @property
    def questions(self) -> Questions:
        """Return what the run asks: its levels, contests and bounds."""
        return questions_told(self.about)

    @property
    def date(self) -> dt.datetime:
        """Return when the run was begun (UTC)."""
        return dt.datetime.fromisoformat(self.about["begun"])

    @property
    def last_session(self) -> int:
        """Return the number of the session that is going on, or was the last; 1 where none began.

        One that goes on has the number of the one before.
        """
        numbers = (session.get("number", 1) for session in self.about.get("sessions", ()))
        return max(numbers, default=1)

    @property
    def finished(self) -> bool:
        """Tell whether every point was measured or given up with a reason."""
        return bool(self.about["finished"])

    @property
    def complete(self) -> bool:
        """Tell whether the run is finished and no point of it failed.

        The same command measures again what failed.
        """
        return self.finished and not self.about["failures"]

    def file(self, point: Point) -> str:
        """Return the name of a point's file inside the run."""
        return f"points/{point.study}/{point.id}.parquet"

    def points(self, study: str = "") -> list[str]:
        """Return the names of the files of its points, of all or of those of `study`."""
        return [name for name in self.about["files"] if name.startswith(_points(study))]

    def intact(self, name: str) -> bool:
        """Tell whether a file of the run is there and what was measured."""
        path = self.path / name
        return path.is_file() and sha256(path) == self.about["files"].get(name)

    def checked(self, *folders: str) -> dict[str, Path]:
        """Return name -> file of all (or of `folders`), in a fixed order.

        Raises `LabError` for one that was altered.
        """
        names = [name for name in sorted(self.about["files"]) if name.startswith(folders or "")]
        files = {name: self.path / name for name in names}
        for name, path in files.items():
            if not self.intact(name):
                why = "it is missing, truncated or altered"
                fix = f"restore it, or measure it again: {typed('measure', self.path)}"
                raise LabError(f"{path} is not what was measured", why, fix)
        return files

    def point_files(self, study: str = "") -> list[Path]:
        """Return the files of its points, or of those of `study`, in a fixed order.

        Raises as `checked` does.
        """
        return list(self.checked(_points(study)).values())


def _points(study: str) -> str:
    """Return the folder of the points of `study`, or of all of them, inside a run."""
    return f"points/{study}/" if study else "points/"


def read_run(path: Path) -> RunFolder:
    """Open the run in `path`.

    Raises `UsageError` when there is none, `LabError` when its `run.json` cannot be understood.
    """
    file = path / INDEX
    if not file.is_file():
        why = f"it has no {INDEX}" if path.exists() else "there is no such file or folder"
        fix = "give a folder below data/runs, or a bundle"
        raise UsageError(f"{path} is no run", why, fix)
    with blamed(f"{file} cannot be read", "make it readable, or measure anew"):
        text = file.read_bytes()
    return RunFolder(path.resolve(), parse_run(text, str(file)))


def every(runs: Path) -> Iterator[RunFolder]:
    """Yield the runs below `runs` (one folder a machine), the newest first.

    What cannot be read is left out.
    """
    for file in sorted(runs.glob(f"*/*/{INDEX}"), key=lambda file: file.parent.name, reverse=True):
        with suppress(LabError):
            yield read_run(file.parent)


def newest(runs: Path, wanted: Callable[[RunFolder], bool]) -> RunFolder | None:
    """Return the newest run below `runs` that is `wanted`."""
    return next(filter(wanted, every(runs)), None)
