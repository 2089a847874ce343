"""Which runs are of one machine, and which of them a person has blessed: their steps are accepted, with a reason."""

import datetime as dt
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.lab.runs import choose
from ipclab.machine import FACTS
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.files import write_whole
from ipclab.store.run import INDEX, RunFolder

BLESSED = "blessed.toml"  # beside the runs of a machine
UPDATED = "kernel_release"  # tells machines apart where two are compared; over time it is what may have changed
IDENTITY = tuple(fact.name for fact in FACTS if fact.identifies and fact.name != UPDATED)
LEAST = 2


def same_machine(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether two runs' facts are of one machine: all that identify it but the kernel, where both have it."""
    known = (name for name in IDENTITY if one.get(name) is not None and other.get(name) is not None)
    return all(one[name] == other[name] for name in known)


def chosen(paths: Paths, names: Sequence[str] = ()) -> list[RunFolder]:
    """Return the runs in folders (or bundles) `names`, oldest first; when empty the finished ones of one machine.

    That is the machine of the newest run here. Raises `UsageError` unless they are two or more and of one machine.
    """
    found = {run.id: run for run in (choose(paths, name) for name in names)} if names else _here(paths)
    runs = sorted(found.values(), key=lambda run: (run.date, run.id))
    if len(runs) < LEAST:
        fix = "measure again, later or after a change: make measure"
        raise UsageError("a history needs two runs of one machine", f"there is {len(runs) or 'none'}", fix)
    facts = [run.about["machine"]["facts"] for run in runs]
    if strange := [run.id for run, own in zip(runs, facts, strict=True) if not same_machine(own, facts[-1])]:
        why = f"{strange[0]} and {runs[-1].id} are of different ones"
        raise UsageError("a history is of one machine", why, "compare two machines: ipclab compare")
    return runs


def _here(paths: Paths) -> dict[str, RunFolder]:
    runs = []
    for file in [*paths.runs.glob(f"*/*/{INDEX}"), *paths.imported.glob(f"*/*/{INDEX}")]:
        with suppress(LabError):  # naming it says why it cannot be read
            runs.append(folder.read(file.parent))
    made = [run for run in runs if run.path.is_relative_to(paths.runs.resolve()) and run.finished]
    if not made:
        return {}
    newest = max(made, key=lambda run: (run.date, run.id)).about["machine"]["facts"]
    return {run.id: run for run in runs if run.finished and same_machine(run.about["machine"]["facts"], newest)}


def bless(run: RunFolder, reason: str, now: dt.datetime) -> Path:
    """Note beside the runs of its machine that what steps at `run` is accepted, and why; return the file.

    Raises `UsageError` without a reason, and `LabError` when the file cannot be read or written.
    """
    if not reason.strip():
        raise UsageError("a step is accepted for a reason", "none is given", 'say it: --reason "..."')
    file, text = run.path.parent / BLESSED, " ".join(reason.split())
    known = {**_read(file), run.id: {"reason": text, "at": now.isoformat(timespec="seconds")}}
    tables = []
    for name, each in known.items():
        lines = [f"{key} = {_quoted(str(value))}\n" for key, value in each.items()]
        tables.append(f"[{_quoted(name)}]\n{''.join(lines)}")
    write_whole(file, "\n".join(tables).encode(errors="replace"))
    return file


def blessed(runs: Iterable[RunFolder]) -> dict[str, str]:
    """Return the reason why what steps at a run is accepted, by the run's name; raises `LabError` for a broken file."""
    files = {run.path.parent / BLESSED for run in runs}
    return {name: str(each["reason"]) for file in sorted(files) for name, each in _read(file).items()}


def _quoted(text: str) -> str:
    """Return a string of TOML: JSON's without escapes, since its surrogates are none of TOML's, and without DEL."""
    return json.dumps(text.replace("\x7f", ""), ensure_ascii=False)


def _read(file: Path) -> dict[str, dict[str, Any]]:
    try:
        told = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
        if wrong := [name for name, each in told.items() if not (isinstance(each, dict) and each.get("reason"))]:
            raise ValueError(f"{wrong[0]} has no reason")
    except (OSError, ValueError) as error:
        raise LabError(f"{file} cannot be read", str(error), "correct it, or move it away") from error
    return told
