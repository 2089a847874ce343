"""The worker: brings the page cache into a state, proves it, has the native engine read files."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from ipclab.errors import LabError
from ipclab.spawn.loops import keep
from ipclab.spawn.proof import PayloadError
from ipclab.spawn.worker import Worker
from ipclab.studies.file_io.sets import FileSet, Whole

OP = "elapsed"  # of one launch: from the start of the threads until the last file is done
SINGLE = {
    OP: "elapsed_ns",
    "elapsed.first-compute": "first_compute_ns",
    "elapsed.read-end": "read_end_ns",
}
# of one file: the op `file.open` ...
TASKS = "open", "submit", "read", "fault", "compute", "close", "latency"
# of the set's pages: not cold above the first, not warm below the second
MOST_RESIDENT, LEAST_RESIDENT = 0.01, 0.99
TRIES = 3  # pages that were on their way to the disk may stay for a moment
MOST_SPANS = 4_000
STATES = ("execution", "io_wait", "work_wait", "preempted")
COUNTS = ("minor_faults", "major_faults", "voluntary_switches", "involuntary_switches")
Arguments = dict[str, Any]
FACTS = ("files", "bytes", "peak_rss_bytes", "max_open_files")


def read_file_set(
    worker: Worker,
    folder: str,
    files: Arguments,
    cache: str,
    plan: Arguments,
    most: int,
    timeline: bool,
    verify: bool,
) -> None:
    """Read the `FileSet` in `folder` by `plan`, its pages `cold` or `warm` before.

    At most `most` files' times are kept, evenly sampled; with `timeline` the spans and the threads
    too. Where the work is no checksum, `verify` reads all once more in the same way for one, after
    the timed reading. Raises `LabError` when the cache is not in the wanted state or a file could
    not be read, `PayloadError` when not every file was read once and whole.
    """
    import ipclab_native as native

    file_set = msgspec.convert(files, FileSet)
    before = prepare(native, folder, file_set.native_sizes, cache)
    times = file_set.compute_ns.astype("<u8").tobytes()
    whole = {**plan, "folder": folder, "sizes": file_set.native_sizes, "compute_ns": times}
    result = native.read_files({**whole, "spans": MOST_SPANS if timeline else 0})
    check_reads(result, file_set)
    after = resident(native, folder, file_set.native_sizes)
    facts = worker.outcome.facts
    facts |= {"resident_share_before": before, "resident_share_after": after}
    facts |= {name: result[name] for name in FACTS}
    if timeline:
        facts |= {"spans": [list(span) for span in result["spans"]], "threads": result["threads"]}
    proof = result
    if verify and not plan["checksum_rounds"]:
        proof = native.read_files({**whole, "compute_ns": b"", "checksum_rounds": 1})
        check_reads(proof, file_set)
    if verify or plan["checksum_rounds"]:
        facts["checksum"] = str(proof["checksum"])
    worker.outcome.counters[OP] = counters(result["threads"], file_set.count)
    for name, values in samples(result, most).items():
        keep(worker, name, values)


def prepare(native: Any, folder: str, sizes: bytes, cache: str) -> float:
    """Make the files' pages `cold` or `warm`; return the resident share as the proof.

    Raises `LabError` when they are neither.
    """
    change = native.drop_files if cache == "cold" else native.warm_files
    for _ in range(TRIES):
        change(folder, sizes, os.cpu_count() or 1)
        share = resident(native, folder, sizes)
        if share <= MOST_RESIDENT if cache == "cold" else share >= LEAST_RESIDENT:
            return share
        os.sync()
    if cache == "cold":
        fix = "this file system keeps them: name another place: --scratch DIR"
    else:
        fix = "free some memory, or take a smaller profile"
    why = f"{share:.1%} of the pages are in memory"
    raise LabError(f"the files are not {cache}", why, fix)


def resident(native: Any, folder: str, sizes: bytes) -> float:
    """Return the share of the files' pages that are in the page cache."""
    there, pages = native.cache_state(folder, sizes)
    return float(there) / pages if pages else 0.0


def check_reads(result: Mapping[str, Any], file_set: FileSet) -> None:
    """Raise `LabError` for unreadable files, `PayloadError` unless each was read once and whole."""
    if result["errors"]:
        index, number, phase = result["errors"][0]
        what = f"{len(result['errors'])} of {file_set.count} files could not be read"
        why = f"{os.strerror(number)} during {phase} of file {index}"
        raise LabError(what, why, "measure it again")
    if (result["files"], result["bytes"]) != (file_set.count, file_set.bytes):
        got = f"{result['files']} files and {result['bytes']} bytes were read"
        raise PayloadError(got, f"there are {file_set.count} files of {file_set.bytes} bytes")


def counters(threads: Sequence[Mapping[str, Any]], files: int) -> dict[str, float]:
    """Return shares of all threads' time by state, faults and switches, and bytes a file."""
    sums: Counter[str] = Counter()
    for thread in threads:
        sums.update({name: value for name, value in thread.items() if isinstance(value, int)})
    whole = max(1, sums["elapsed_ns"])
    shares = {f"{state}_share": sums[f"{state}_ns"] / whole for state in STATES}
    counted = {name: float(sums[name]) for name in COUNTS}
    return {**shares, **counted, "bytes_per_file": sums["bytes"] / files}


def samples(result: Mapping[str, Any], most: int) -> dict[str, Whole]:
    """Return the launch's times and `most` of each part of the work on its files, taken evenly."""
    kept: dict[str, Whole] = {
        op: np.array([result[name]], np.int64) for op, name in SINGLE.items() if result.get(name)
    }
    for task in TASKS:
        values = np.frombuffer(result["tasks"].get(f"{task}_ns", b""), np.int64)
        if values.any():
            places = (
                np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(np.int64)
            )
            kept[f"file.{task}"] = values[places]
    return kept
