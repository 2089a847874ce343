"""What a run holds beside its points: files of the machine, of referees, of calibration, a crate."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ipclab.errors import LabError
from ipclab.store.archive import CALIBRATION, CRATE
from ipclab.store.calibration import known_runs
from ipclab.store.run import RunFolder

REFEREES = "raw/referees.json"
MOST_BYTES = 4 << 20  # of one of them; the raw text of a file of /proc has 64 KiB at most
# facts of /proc/cpuinfo, by the names that architectures have for them
CPUINFO = {
    "cpu_vendor": ("vendor_id",),
    "cpu_model": ("model name",),
    "cpu_family": ("cpu family",),
    "cpu_model_number": ("model",),
    "cpu_stepping": ("stepping",),
}
# facts that are the text of one file
FILES = {
    "kernel_release": "proc-sys-kernel-osrelease",
    "maker": "sys-class-dmi-id-sys_vendor",
    "product": "sys-class-dmi-id-product_name",
}


class Referee(Struct, frozen=True):
    """One comparison: the limit's time over the referee's, and its tolerance, or why skipped."""

    name: str
    program: str
    placement: str
    bound: float
    ratio: float | None = None
    skipped: str = ""


class RefereesTold(Struct, frozen=True):
    """All comparisons of one time."""

    made: str
    found: list[Referee]
    schema: int


class _File(Struct, frozen=True, rename={"id": "@id", "type": "@type"}):
    id: str
    type: Any = None


class _Crate(Struct, frozen=True, rename={"graph": "@graph", "context": "@context"}):
    context: Any
    graph: list[_File]


def wrong_beside(run: RunFolder) -> Iterator[str]:
    """Yield what cannot be of the files beside the points of `run`."""
    yield from _of_machine(run)
    if REFEREES in run.about["files"]:
        try:
            told = _text(run.path / REFEREES)
            if (schema := msgspec.json.decode(told, type=RefereesTold).schema) != 1:
                yield f"{REFEREES} has schema {schema}"
        except (OSError, ValueError, RecursionError) as error:
            yield f"{REFEREES} cannot be read ({error})"
    try:
        known_runs(run.path / CALIBRATION)
    except LabError as error:
        yield f"{CALIBRATION} cannot be read ({error.why})"


def crate_wrong(text: bytes, files: set[str]) -> str:
    """Return why `text` is not the description of a bundle with these `files`, or ""."""
    try:
        crate = msgspec.json.decode(text, type=_Crate)
    except (ValueError, RecursionError) as error:
        return f"{CRATE} cannot be read ({error})"
    named = {entry.id for entry in crate.graph}
    lacking = files - named - {CRATE}
    return f"{CRATE} does not name {min(lacking)}" if lacking else ""


def _of_machine(run: RunFolder) -> Iterator[str]:
    """Yield facts that the files which they were read from do not have."""
    if text := _raw(run, "proc-cpuinfo"):
        told = dict(re.findall(r"^([^:\n]+?)\s*:\s*(.*?)\s*$", text, re.MULTILINE)[::-1])
        for fact, keys in CPUINFO.items():
            values = [" ".join(told[key].split()) for key in keys if told.get(key)]
            if values and run.facts.get(fact) is not None and str(run.facts[fact]) not in values:
                yield f"its {fact} is {run.facts[fact]!r}, and machine/proc-cpuinfo has {values[0]!r}"
    for fact, name in FILES.items():
        text = _raw(run, name).strip()
        if text and run.facts.get(fact) is not None and run.facts[fact] != text:
            yield f"its {fact} is {run.facts[fact]!r}, and machine/{name} has {text[:80]!r}"


def _raw(run: RunFolder, name: str) -> str:
    """Return the text of a file that facts were read from, "" where it was not kept."""
    name = f"machine/{name}"
    if name not in run.about["files"]:
        return ""
    return _text(run.path / name).decode(errors="replace")


def _text(path: Path) -> bytes:
    """Return the content of a file; raises `ValueError` for a large one."""
    with path.open("rb") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    return text
