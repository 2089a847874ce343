"""The border: what a `run.json` and a point's metadata must be, checked once before anything uses them.

Content from a disk or a bundle is not trusted. What passes here has today's schema and these types; fields that are not
named are kept as they are. What studies noted, and a machine's facts, are any JSON.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ipclab.errors import LabError
from ipclab.store.files import unsealed
from ipclab.store.migration import POINT_STEPS, RUN_STEPS, SEALED, Step, migrated

PART_OF_NAME = "[A-Za-z0-9][A-Za-z0-9._:@+=,-]{0,199}"
FOLDERS = ("points", "machine", "raw", "tables")  # `tables` and facts.json: what runs of schema 1 and 2 may hold
LARGEST = (1 << 63) - 1
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Whole = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
MachineName = Annotated[str, Meta(pattern=r"\A[0-9a-z]{1,64}\Z")]
StudyName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]  # it names files
FileName = Annotated[str, Meta(pattern=rf"\A(facts\.json|({'|'.join(FOLDERS)})(/{PART_OF_NAME})+)\Z")]
Time = Annotated[datetime, Meta(tz=True)]


class Parameters(Struct):
    """What makes two runs continue each other."""

    profile: str
    studies: list[str]
    sizes: list[int] | None
    backends: list[str] | None
    levels: dict[str, list[int | str]]


class Machine(Struct):
    """The facts of the machine, and why some of them are missing."""

    digest: MachineName
    facts: dict[str, Any]
    reasons: dict[str, str]


class Session(Struct):
    """One session of measuring, with the conditions at its start and end."""

    begun: Time
    conditions: dict[str, float | None]
    ended: Time | None = None
    conditions_end: dict[str, float | None] = {}


class About(Struct):
    """A `run.json`. `points`: id -> why it cannot be measured here; `failures`: id -> why it was given up."""

    begun: str
    finished: str | None
    seed: int
    parameters: Parameters
    machine: Machine
    sessions: list[Session]
    files: dict[FileName, Digest]
    failures: dict[str, str]
    points: dict[str, str]
    notes: dict[str, Any]

    def __post_init__(self) -> None:
        """Refuse what only one of two readers of dates takes, such as a small z."""
        for time in (self.begun, self.finished):
            datetime.fromisoformat(time or self.begun)


class PointLevels(Struct):
    """A point as its file names it."""

    study: StudyName
    backend: str
    size_bytes: Count
    placement: str
    levels: dict[str, str | Whole]
    block: str
    primary: list[str]


class LaunchAbout(Struct):
    """All of a launch but its samples."""

    counters: dict[str, dict[str, float]]
    order: Whole
    started_ns: Whole
    elapsed_ns: Whole
    flags: list[str]
    cpus: dict[str, list[Count]]
    facts: dict[str, Any]
    per: dict[str, Annotated[int, Meta(ge=1, le=LARGEST)]]

    def counted(self) -> set[str]:
        """Return the names of what was counted."""
        counters = {f"{op} {name}" for op, counted in self.counters.items() for name in counted}
        return counters | {name for name, value in self.facts.items() if isinstance(value, int | float)}


class PointAbout(Struct):
    """The metadata of a point's file."""

    point: PointLevels
    stop: str
    failures: list[str]
    launches: Annotated[list[LaunchAbout], Meta(min_length=1)]

    def __post_init__(self) -> None:
        """Refuse launches over which no median can be taken."""
        if any(launch.counted() != self.launches[0].counted() for launch in self.launches):
            raise ValueError("its launches did not count the same")


STEPS: Mapping[type[Struct], Mapping[int, Step]] = {About: RUN_STEPS, PointAbout: POINT_STEPS}


def checked(text: bytes, named: str, kind: type[About] | type[PointAbout]) -> dict[str, Any]:
    """Return the content of a `run.json`, or a point's metadata, as today's schema has it.

    Raises `LabError`, which calls it `named`.
    """
    try:
        about = msgspec.json.decode(text, type=dict[str, Any])
        if kind is About and about["schema"] >= SEALED:
            about = unsealed(about)
        about = migrated(about, STEPS[kind])
        msgspec.convert(about, kind)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise LabError(f"{named} cannot be read", why, "restore it, use a newer ipclab, or measure anew") from error
    return about
