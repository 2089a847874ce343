"""What a run holds beside its points: files of the machine, of referees, of calibration, a crate."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from ipclab.errors import LabError
from ipclab.store.archive import CALIBRATION, CRATE
from ipclab.store.calibration import known_runs
from ipclab.store.files import bounded
from ipclab.store.referees import KEPT, referees_told
from ipclab.store.run import RunFolder

MOST_BYTES = 4 << 20  # of a file of the machine; the raw text of one of /proc has 64 KiB at most
# facts of /proc/cpuinfo, by their names there
CPUINFO = {
    "cpu_vendor": "vendor_id",
    "cpu_model": "model name",
    "cpu_family": "cpu family",
    "cpu_model_number": "model",
    "cpu_stepping": "stepping",
}
# facts that are the text of one file
FILES = {
    "kernel_release": "proc-sys-kernel-osrelease",
    "maker": "sys-class-dmi-id-sys_vendor",
    "product": "sys-class-dmi-id-product_name",
}


class _File(Struct, frozen=True, rename={"id": "@id", "type": "@type"}):
    id: str
    type: Any = None


class _Crate(Struct, frozen=True, rename={"graph": "@graph", "context": "@context"}):
    context: Any
    graph: list[_File]


def wrong_beside(run: RunFolder) -> Iterator[str]:
    """Yield what cannot be of the files beside the points of `run`."""
    yield from _of_machine(run)
    if KEPT in run.about["files"]:
        try:
            referees_told(run.path / KEPT)
        except LabError as error:
            yield f"{KEPT} cannot be read ({error.why})"
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
    lines = re.findall(r"^([^:\n]+?)\s*:\s*(.*?)\s*$", _raw(run, "proc-cpuinfo"), re.MULTILINE)
    cpuinfo = dict(lines[::-1])  # the first of equal names counts
    told = {}
    for fact, key in CPUINFO.items():
        told[fact] = "proc-cpuinfo", " ".join(cpuinfo.get(key, "").split())
    for fact, name in FILES.items():
        told[fact] = name, _raw(run, name).strip()
    for fact, (name, text) in told.items():
        known = run.facts.get(fact)
        if text and known is not None and str(known) != text:
            yield f"its {fact} is {known!r}, and machine/{name} has {text[:80]!r}"


def _raw(run: RunFolder, name: str) -> str:
    """Return the text of a file that facts were read from, "" where it was not kept."""
    name = f"machine/{name}"
    if name not in run.about["files"]:
        return ""
    return bounded(run.path / name, MOST_BYTES).decode(errors="replace")
