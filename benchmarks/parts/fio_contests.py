"""What is read by fio and by the engine: the sets of files, and each contest over them."""

import json
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipclab.errors import LabError

SECONDS = 120.0  # the deadline of every child and of every run of the engine
KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Set:
    """Files of one size in a folder of their own."""

    folder: Path
    size: int
    count: int

    @property
    def sizes(self) -> bytes:
        """The sizes as the engine takes them."""
        return struct.pack("<Q", self.size) * self.count


@dataclass(frozen=True)
class Contest:
    """One way to read one set, by both. `held` is whether the ratio must be at least `LEAST`."""

    name: str
    files: Set
    cold: bool
    fio: Sequence[str]
    plan: dict[str, Any]
    held: bool = True


def native() -> Any:
    """Return the native package; raises `LabError` without it."""
    try:
        import ipclab_native
    except ImportError as error:
        raise LabError(
            "the native package is not installed", "", "install cargo and run make setup"
        ) from error
    return ipclab_native


def engine(files: Set, **plan: Any) -> dict[str, Any]:
    """Return what the engine says of one run; raises `LabError` when a file was not read."""
    common = {"folder": str(files.folder), "sizes": files.sizes, "deadline_ns": int(SECONDS * 1e9)}
    done: dict[str, Any] = native().read_files({**common, **plan})
    if done["errors"]:
        raise LabError("the engine could not read every file", str(done["errors"][0]))
    return done


def ours(contest: Contest) -> float:
    """Return the engine's ns for one file."""
    return float(engine(contest.files, **contest.plan)["elapsed_ns"]) / contest.files.count


def theirs(contest: Contest) -> float:
    """Return fio's ns for one file; raises `LabError` when it fails or read anything else than the
    set once.
    """
    files = contest.files
    fixed = [
        "--name=set",
        "--rw=read",
        "--thread",
        "--invalidate=0",
        "--fadvise_hint=0",
        "--output-format=json",
        "--eta=never",
    ]
    command = [
        "fio",
        *fixed,
        f"--opendir={files.folder}",
        "--file_service_type=sequential",
        *contest.fio,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise LabError("fio", f"did not end within {SECONDS:g} s") from error
    if done.returncode:
        raise LabError("fio", (done.stderr or done.stdout).strip()[-200:])
    read = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]  # notes come before
    if read["io_bytes"] != files.size * files.count:
        raise LabError(
            "fio",
            f"read {read['io_bytes']:,} bytes and not the {files.size * files.count:,} of the set",
        )
    return float(read["runtime"]) * 1e6 / files.count


def contests(small: Set, large: Set) -> list[Contest]:
    """Return all contests on the two sets."""
    common = {"buffer": "prefaulted", "repeat_order": "shuffled"}
    whole, one = [f"--bs={small.size}"], {"roles": ["both"], "in_flight": 1, **common}
    queue = {"method": "overlapped", "roles": ["read-then-compute"], "direct": True, **common}
    pread, mapped = ([*whole, f"--ioengine={name}", "--openfiles=1"] for name in ("psync", "mmap"))
    found = [
        Contest("4 KiB cached pread", small, False, pread, {"method": "sync", **one}),
        Contest(
            "4 KiB cached mmap, maps kept",
            small,
            False,
            mapped,
            {"method": "mmap", "keep_maps": True, **one},
        ),
        Contest(
            "4 KiB cached mmap, we unmap",
            small,
            False,
            mapped,
            {"method": "mmap", **one},
            held=False,
        ),
    ]
    for depth in (1, 4, 16):
        more = ["--ioengine=io_uring", "--direct=1", f"--iodepth={depth}", f"--openfiles={depth}"]
        plan = {**queue, "depth": depth, "in_flight": depth}
        found.append(
            Contest(f"4 KiB cold O_DIRECT, depth {depth}", small, True, [*whole, *more], plan)
        )
    same = [f"--bs={large.size}", "--ioengine=psync"]
    found.append(
        Contest("512 MiB cold pread, one call", large, True, same, {"method": "sync", **one})
    )
    chunks = [f"--bs={MIB}", "--ioengine=psync"]
    found.append(
        Contest(
            "512 MiB cold pread, fio by 1 MiB",
            large,
            True,
            chunks,
            {"method": "sync", **one},
            held=False,
        )
    )
    return found


def missing(contest: Contest) -> str | None:
    """Return why a contest cannot be held here."""
    if shutil.which("fio") is None:
        return "fio is not installed"
    plan = contest.plan
    why: str | None = native().io_uring_missing() if plan["method"] == "overlapped" else None
    return why or (native().direct_missing(str(contest.files.folder)) if contest.cold else None)
