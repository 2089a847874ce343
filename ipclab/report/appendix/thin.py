"""A run with few samples of each launch, small enough for a repository, that prints the same."""

import shutil
from pathlib import Path

import numpy as np

from ipclab.calibrated import calibration_file
from ipclab.frames.metrics import POOLED, THIN_VERSION, quantiles, summary
from ipclab.store.launch import Samples, turn_name
from ipclab.store.record import Record
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, decode, encode

DIGITS = 7  # that are kept of each number, so that counts are whole
THINNED = "thinned"  # in `run.json`: how many samples were kept of a launch at most


def thinned(run: RunFolder, most: int, top: Path) -> RunFolder:
    """Make `run` in folder `top` with at most `most` samples of each launch.

    Where one loses samples, each launch of that point and op keeps the `summary` of all to
    `DIGITS` digits.

    Raises `LabError` when a file of the run is not what was measured.
    """
    made = Record(top / run.id, {**run.about, "files": {}, THINNED: most})
    files = run.checked().items()
    made.place((name, _thin(name, path, most)) for name, path in files)
    if (calibration := calibration_file(run)).is_file():
        shutil.copy(calibration, made.path)
    return made


def _thin(name: str, path: Path, most: int) -> bytes:
    """Return the content of a file, of a point's with `most` samples of each launch."""
    if not name.startswith("points/"):
        return path.read_bytes()
    measured = decode(path)
    for op in measured.op_names():
        if any(op in each.whole or len(each.samples[op]) > most for each in measured.launches):
            _thin_op(measured, op, most)
    return encode(measured)


def _thin_op(measured: Measured, op: str, most: int) -> None:
    tails = kept_quantiles(measured, op)
    for launch in measured.launches:
        turns = {turn_name(number): value for number, value in enumerate(launch.turn_medians(op))}
        kept = {**summary(launch, op), **turns, **tails}
        launch.whole[op] = {name: float(f"{value:.{DIGITS}g}") for name, value in kept.items()}
        launch.samples[op] = spread_thin(launch.samples[op], most)
        tails = {}  # the first launch keeps them for all


def spread_thin(values: Samples, most: int) -> Samples:
    """Return at most `most` of `values`, ascending: the middles of equal shares of ranks."""
    count = min(len(values), most)
    ranks = (np.arange(count) + 0.5) * len(values) / count
    kept: Samples = np.sort(values)[ranks.astype(int)]
    return kept


def kept_quantiles(measured: Measured, op: str) -> dict[str, float]:
    """Return `quantiles` as a thinned point's first launch keeps them, finite ends only."""
    kept = {THIN_VERSION: 1.0}
    for metric, quantile in quantiles(measured, op).items():
        if quantile is not None:
            name = f"{POOLED}{metric}"
            ends = {"": quantile.value, "-low": quantile.low, "-high": quantile.high}
            kept |= {f"{name}{end}": value for end, value in ends.items() if np.isfinite(value)}
    return kept
