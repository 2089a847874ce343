"""The border: what a `run.json` and a point's metadata must be, checked once before use.

Content from a disk or a bundle is not trusted. What passes here has today's schema and these types;
fields that are not named are kept as they are. What studies noted, and a machine's facts, are any
JSON. A change of schema adds a step to each chain and a stored run of the schema before to
`tests/data`; a run on disk is never rewritten.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from ipclab.errors import LabError, plain
from ipclab.store.files import unsealed
from ipclab.store.questions import Questions
from ipclab.text import Text

SCHEMA = 4
SEALED = 3  # the first schema whose run.json has a digest of its own
PART_OF_NAME = "[A-Za-z0-9][A-Za-z0-9._:@+=,-]{0,199}"
# `tables` and facts.json: what runs of schema 1 and 2 may hold
FOLDERS = "points", "machine", "raw", "tables"
LARGEST = (1 << 63) - 1
MOST_VALUES = 1 << 21  # of a file's JSON, each of which takes some 90 bytes of memory
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Whole = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
MachineName = Annotated[str, Meta(pattern=r"\A[0-9a-z]{1,64}\Z")]
StudyName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]  # it names files
RUN_NAME = "[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}"
STAMP = "%Y%m%dT%H%M%SZ"  # how such a name begins: when the run was begun (UTC)
RunName = Annotated[str, Meta(pattern=rf"\A{RUN_NAME}\Z")]
LABEL = r"\A([A-Za-z0-9][A-Za-z0-9._-]{0,63})?\Z"
# of a run: the name of its node, empty where it has none
Label = Annotated[str, Meta(pattern=LABEL)]
FileName = Annotated[
    str, Meta(pattern=rf"\A(facts\.json|({'|'.join(FOLDERS)})(/{PART_OF_NAME})+)\Z")
]
Time = Annotated[datetime, Meta(tz=True)]
Conditions = dict[str, Annotated[float, Meta(ge=0)] | None]
Kind = TypeVar("Kind")


class _Parameters(Struct):
    profile: str
    studies: list[str]
    sizes: list[int] | None
    backends: list[str] | None
    levels: dict[str, list[int | str]]
    launches: int = 0
    label: Label = ""


class _Machine(Struct):
    digest: MachineName
    facts: dict[str, Any]
    reasons: dict[str, str]


class _Session(Struct):
    begun: Time
    conditions: Conditions
    ended: Time | None = None
    conditions_end: Conditions = {}
    number: Annotated[int, Meta(ge=1, le=100)] = 1


class About(Struct):
    """A `run.json`; `points`: id -> why not measurable, `failures`: id -> why given up."""

    begun: str
    finished: str | None
    seed: int
    parameters: _Parameters
    machine: _Machine
    sessions: list[_Session]
    files: dict[FileName, Digest]
    failures: dict[str, str]
    points: dict[str, str]
    notes: dict[str, Any]
    questions: Questions
    # how many samples were kept of a launch at most
    thinned: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None

    def __post_init__(self) -> None:
        """Refuse what only one of two readers of dates takes, such as a small z, and no zone."""
        for time in (self.begun, self.finished):
            if datetime.fromisoformat(time or self.begun).tzinfo is None:
                raise ValueError(f"{time} has no zone")


def _before_4(profile: str) -> dict[str, Any]:
    """Return what a run of `profile` asked when its `run.json` did not say so."""
    file = Path(__file__).with_name("questions_before_4.json")
    known = json.loads(file.read_text("utf-8"))
    return {**known["questions"], **known["profiles"][profile]}


Step = Callable[[dict[str, Any]], dict[str, Any]]
RUN_STEPS: Mapping[int, Step] = {
    # Schema 2 says which points cannot be measured and what studies noted, even when there is
    # nothing to say.
    1: lambda about: {"points": {}, "notes": {}, **about},
    # Schema 3 says which levels were asked for, and nothing that is derived; its content has a
    # digest of its own.
    2: lambda about: {
        "notes": {},
        **{
            name: value for name, value in about.items() if name not in ("impossible", "derived_by")
        },
        "parameters": {**about["parameters"], "levels": {}},
    },
    # Schema 4 says what the run asks; before, the installed studies were asked whenever it was read.
    3: lambda about: {"questions": _before_4(about["parameters"]["profile"]), **about},
}
POINT_STEPS: Mapping[int, Step] = {
    # Schema 2 says with each launch for how many operations a sample stands; before, it was one.
    1: lambda about: {**about, "launches": [{"per": {}, **each} for each in about["launches"]]}
}


def migrated(about: dict[str, Any], steps: Mapping[int, Step]) -> dict[str, Any]:
    """Return `about` as today's schema has it.

    Raises `ValueError`, `KeyError` or `TypeError` for what has none.
    """
    schema = about["schema"]
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        raise ValueError(f"its schema is {schema}, this ipclab knows 1 to {SCHEMA}")
    for number in range(schema, SCHEMA):
        about = {**steps.get(number, dict)(about), "schema": number + 1}
    return about


def parse(
    text: bytes, named: str, steps: Mapping[int, Step], kind: Callable[[dict[str, Any]], Kind]
) -> Kind:
    """Return a `run.json` or a point's metadata as today's schema and `kind` make of it.

    Raises `LabError` that calls it `named`.
    """
    try:
        if sum(map(text.count, (b"[", b"{", b","))) > MOST_VALUES:  # before each is one
            raise ValueError(f"it has more than {MOST_VALUES:,} values")
        json.loads(text, object_pairs_hook=_once)
        about = msgspec.json.decode(text, type=dict[str, Any])
        if steps is RUN_STEPS and about["schema"] >= SEALED:
            about = unsealed(about)
        return kind(_plain(migrated(about, steps)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise LabError(
            f"{named} cannot be read", why, "restore it, use a newer ipclab, or measure anew"
        ) from error


def _once(pairs: list[tuple[str, Any]]) -> None:
    """Raise `ValueError` for a name that an object has twice: readers differ in which they take."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"a name is there twice among {', '.join(dict(pairs))}"[:200])


def _plain(told: Any) -> Any:
    """Return JSON whose texts are `Text`: names from elsewhere reach terminals and pages."""
    if isinstance(told, str):
        return Text(told)
    if isinstance(told, list):
        return [_plain(each) for each in told]
    if isinstance(told, dict):
        return {_name(name): _plain(each) for name, each in told.items()}
    return told


@lru_cache(1 << 12)  # launches of a point have the same names
def _name(name: str) -> str:
    return plain(name)


def parse_run(text: bytes, named: str) -> dict[str, Any]:
    """Return a `run.json` as today's schema has it, with the fields that are not named.

    Raises as `parse` does.
    """

    def whole(about: dict[str, Any]) -> dict[str, Any]:
        msgspec.convert(about, About)
        return about

    return parse(text, named, RUN_STEPS, whole)
