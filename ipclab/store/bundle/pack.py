"""Writing a bundle: every file of a finished run that was measured, its digest checked, and nothing derived."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment

from ipclab.errors import UsageError
from ipclab.store.bundle.archive import write
from ipclab.store.bundle.contents import CALIBRATION, CRATE, INDEX_OF_BUNDLE, Contents, Entry
from ipclab.store.files import dump_json, sealed, sha256, whole
from ipclab.store.run import INDEX, RunFolder

MEASURED = ("points/", "machine/", "raw/")  # earlier versions kept beside them what they derived
SHOWN_IN_CRATE = (
    "cpu_model", "cores", "threads", "memory_installed", "kernel_release", "architecture", "virtualisation"
)  # fmt: skip


def pack(run: RunFolder, file: Path, replace: bool = False) -> Contents:
    """Write `run` as one compressed file, whole or not at all; equal runs give equal bytes. Return what it holds.

    Raises `UsageError` for a run that is not finished or, unless `replace`, a file that is there, and `LabError` when a
    file of the run is not what was measured or the bundle cannot be written.
    """
    if not run.finished:
        raise UsageError(f"{run.id} is not finished", "", f"finish it: make measure RUN={run.path}")
    if file.exists() and not replace:
        raise UsageError(f"{file} is there already", "", "name another file, or remove it")
    sources: dict[str, bytes | Path] = {INDEX: run_index(run.about), **run.checked(*MEASURED)}
    if (calibration := run.path.parent / CALIBRATION).is_file():
        sources[CALIBRATION] = calibration
    entries = [_entry(name, content) for name, content in sources.items()]
    sources[CRATE] = crate(run.id, run.about, entries)
    entries.append(_entry(CRATE, sources[CRATE]))
    contents = Contents(run=run.id, machine=run.about["machine"]["digest"], files=entries)
    members = {INDEX_OF_BUNDLE: dump_json(msgspec.to_builtins(contents)), **sources}
    with whole(file) as part, part.open("xb") as out:
        write(out, [(f"{run.id}/{name}", content) for name, content in members.items()])
    return contents


def crate(run: str, about: Mapping[str, Any], files: Iterable[Entry]) -> bytes:
    """Return `ro-crate-metadata.json` of `run`, the same bytes each time (`rocrate` stamps times and random names)."""
    text = Path(__file__).with_name("crate.jinja").read_text(encoding="utf-8")
    facts, begun = about["machine"]["facts"], dt.datetime.fromisoformat(about["begun"])
    shown = [(name, facts[name]) for name in SHOWN_IN_CRATE if facts.get(name) is not None]
    template = Environment(autoescape=False).from_string(text)
    entries = sorted(files, key=lambda entry: entry.name)
    return dump_json(json.loads(template.render(run=run, about=about, begun=begun, files=entries, shown=shown)))


def run_index(about: dict[str, Any]) -> bytes:
    """Return the `run.json` of a bundled run: what `about` says of what was measured."""
    files = {name: digest for name, digest in about["files"].items() if name.startswith(MEASURED)}
    return sealed({**about, "files": files})


def _entry(name: str, content: bytes | Path) -> Entry:
    if isinstance(content, Path):
        return Entry(name, content.stat().st_size, sha256(content))
    return Entry(name, len(content), hashlib.sha256(content).hexdigest())
