"""A small made-up run, as bundles hold it."""

import hashlib
from itertools import count
from pathlib import Path

import numpy as np

from ipclab.store.launch import Launch, Samples
from ipclab.store.point import Point
from ipclab.store.record import Record
from ipclab.store.samples import Measured, encode
from tests.support.made import MAIN, begun

LAUNCH_NS = 50_000_000  # how long each launch takes
CALIBRATION = b'{"format": 2, "runs": {}}\n'


def launched(samples: dict[str, Samples], order: int) -> Launch:
    """Return the launch that took `samples` as the `order`-th of its run, one after the other."""
    return Launch(samples, {}, order, order * LAUNCH_NS, LAUNCH_NS, facts={"relation": "l3"})


def make_run(
    runs: Path, machine: str = "0123456789ab", factor: float = 1.0, finished: bool = True
) -> Record:
    """Write a small run of the round-trip study with its limits, some raw files and a calibration
    beside it.
    """
    run = begun(runs, machine=machine, studies=["limits", "round_trip"])
    orders = count(1)
    random = np.random.default_rng(int(factor * 1000))
    for backend, study, made in (
        ("unix", "round_trip", MAIN),
        ("tcp", "round_trip", MAIN),
        ("echo-unix", "limits", {}),
    ):
        point = Point(study, backend, 100, "cross", made, "", ("round-trip",))
        launches = []
        for _ in range(6):
            times = (1e4 * factor * np.exp(random.normal(0, 0.02, 30))).astype(np.int64)
            launches.append(launched({"round-trip": times}, next(orders)))
        run.place([(point, encode(Measured(point, launches, "budget")))])
    run.keep("engine/trace.json", b"{}")
    (run.path / "machine").mkdir()
    (run.path / "machine/sys-devices-pci0000:00-x").write_text("kept\n")
    run.about["files"]["machine/sys-devices-pci0000:00-x"] = hashlib.sha256(b"kept\n").hexdigest()
    (run.path.parent / "calibration.json").write_bytes(CALIBRATION)
    run.about["finished"] = "2026-11-20T10:01:00+00:00" if finished else None
    run.save()
    return run


def too_fast(run: Record) -> None:
    """Give `run` a memcpy that takes longer than its round trips, which copy more than once."""
    point = Point("limits", "memcpy", 100, "cross", {}, "", ("copy",))
    launches = [launched({"copy": np.full(30, 1_000_000)}, order) for order in range(101, 107)]
    run.place([(point, encode(Measured(point, launches, "budget")))])


def tree(top: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(top)): file.read_bytes()
        for file in sorted(top.rglob("*"))
        if file.is_file()
    }
