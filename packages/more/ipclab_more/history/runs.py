"""Which runs are of one machine, and which of them a person has blessed: their steps are fine."""

import datetime as dt
import json
import tomllib
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.lab.named import run_named
from ipclab.machine.here import same_machine
from ipclab.paths import Paths, typed
from ipclab.store import run as folder
from ipclab.store.files import write_whole
from ipclab.store.run import RunFolder

BLESSED = "blessed.toml"  # beside the runs of a machine
LEAST = 2


def runs_in_order(paths: Paths, names: Sequence[str] = ()) -> list[RunFolder]:
    """Return the runs in folders (or bundles) `names`, oldest first.

    When empty the finished ones of the machine of the newest run here. Raises `UsageError` unless
    they are two or more and of one machine.
    """
    named = [run_named(paths, name) for name in names] if names else _here(paths)
    by_id = {run.id: run for run in named}
    runs = sorted(by_id.values(), key=_age)
    if len(runs) < LEAST:
        what = "a history needs two runs of one machine"
        fix = f"measure again, later or after a change: {typed('measure')}"
        raise UsageError(what, f"there is {len(runs) or 'none'}", fix)
    newest = runs[-1]
    for run in runs:
        if not _alike(run, newest):
            why = f"{run.id} and {newest.id} are of different ones"
            fix = "compare two machines: ipclab compare"
            raise UsageError("a history is of one machine", why, fix)
    return runs


def _age(run: RunFolder) -> tuple[Any, str]:
    return run.date, run.id


def _alike(one: RunFolder, other: RunFolder) -> bool:
    return same_machine(one.facts, other.facts)


def _here(paths: Paths) -> list[RunFolder]:
    """Return the finished runs of the machine of the newest one that was made here."""
    every = chain(folder.every(paths.runs), folder.every(paths.imported))
    runs = [run for run in every if run.finished]
    here = paths.runs.resolve()
    made = [run for run in runs if run.path.is_relative_to(here)]
    if not made:
        return []
    newest = max(made, key=_age)
    return [run for run in runs if _alike(run, newest)]


def bless(run: RunFolder, reason: str, now: dt.datetime) -> Path:
    """Note beside the runs of its machine that what steps at `run` is accepted; return the file.

    Raises `UsageError` without a reason, and `LabError` when the file cannot be read or written.
    """
    if not reason.strip():
        fix = 'say it: --reason "..."'
        raise UsageError("a step is accepted for a reason", "none is given", fix)
    file = run.path.parent / BLESSED
    tables = []
    accepted = _read(file)
    at = now.isoformat(timespec="seconds")
    one_line = " ".join(reason.split())
    accepted[run.id] = {"reason": one_line, "at": at}
    for name, entry in accepted.items():
        lines = [f"{key} = {_quoted(str(value))}\n" for key, value in entry.items()]
        tables.append(f"[{_quoted(name)}]\n{''.join(lines)}")
    write_whole(file, "\n".join(tables).encode(errors="replace"))
    return file


def blessed(runs: Iterable[RunFolder]) -> dict[str, str]:
    """Return the reason why what steps at a run is accepted, by the run's name.

    Raises `LabError` for a broken file.
    """
    reasons = {}
    for file in sorted({run.path.parent / BLESSED for run in runs}):
        for name, entry in _read(file).items():
            reasons[name] = str(entry["reason"])
    return reasons


def _quoted(text: str) -> str:
    """Return a string of TOML: JSON's, but without DEL and escapes (surrogates are none)."""
    return json.dumps(text.replace("\x7f", ""), ensure_ascii=False)


def _read(file: Path) -> dict[str, dict[str, Any]]:
    try:
        accepted = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
        for name, entry in accepted.items():
            if not (isinstance(entry, dict) and entry.get("reason")):
                raise ValueError(f"{name} has no reason")
    except (OSError, ValueError, RecursionError) as error:
        fix = "correct it, or move it away"
        raise LabError(f"{file} cannot be read", str(error), fix) from error
    return accepted
