"""Forge a run with all digests made to fit, in every way of the tests and by so much as chance says.

    .venv/bin/python benchmarks/forgeries.py 300 [SEED]

Each forgery is imported, opened and read; one that none of these refuses is printed with what was
changed. Scaling within what a launch had time for is no part of it (docs/limitations.md).
"""

import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))
from ipclab.commands import bundles
from ipclab.commands.bundles import pack, unpack
from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.bundle import opened
from ipclab.store.record import Record
from ipclab.store.samples import Measured
from tests.store import test_forged
from tests.store.test_contradictions import (
    BEHIND,
    CONTRADICTIONS,
    OP,
    UNREADABLE,
    forge,
    launches,
    session,
    told,
)
from tests.support.bundled import make_run

Change = Callable[[Record, list[Measured]], object]
Forgery = Callable[[Record, Path], object]


def made_by(chance: random.Random) -> tuple[str, Forgery]:
    """Return a forgery and what it is called: one of the tests', or by how much chance says.

    It changes a run, then packs it into a file.
    """
    index = {name: _index(content) for name, (content, _) in UNREADABLE.items()}
    point = {name: _point(change) for name, (change, _) in test_forged.FORGED.items()}
    archive = {f"{name} behind": _behind(content) for name, content in BEHIND.items()}
    kinds = _contradictions(chance), index, point, archive
    return chance.choice([*chance.choices(kinds, (6, 1, 3, 1))[0].items()])


def _contradictions(chance: random.Random) -> dict[str, Forgery]:
    below = f"2026-11-20T0{chance.randint(0, 9)}:{chance.randint(0, 59):02}:00+00:00"
    kept = chance.randint(1, 29)  # of 30 samples
    factor = 10 ** chance.uniform(5.5, 9)
    span = chance.randint(121 * 10**9, 1 << 62)
    lasting = chance.randint(11 * 10**9, 1 << 61)
    order = chance.randint(0, 1 << 40)
    late = f"{chance.randint(2028, 2200)}-01-01T00:00:00+00:00"
    early = f"{chance.randint(1970, 2025)}-{chance.randint(1, 12):02}-01T00:00:00+00:00"
    kinds: dict[str, Change] = {
        f"times by {factor:.3g}": launches(
            lambda each: each.samples.update({OP: (each.samples[OP] * factor).astype("int64")})
        ),
        f"started at {span}": launches(lambda each: setattr(each, "started_ns", span)),
        f"lasted {lasting}": launches(lambda each: setattr(each, "elapsed_ns", lasting)),
        f"order {order}": launches(lambda each: setattr(each, "order", order)),
        f"begun {early}": told(begun=early),
        f"finished {late}": told(finished=late),
        f"session begun {below}": session(below, "2026-11-20T10:00:30+00:00"),
        f"thinned to {kept}": told(thinned=kept),
        "one point's samples in another": _another,
        "launch 0 in place of another": _repeated(chance),
    }
    known = {name: change for name, (change, _) in CONTRADICTIONS.items()}
    return {name: _contradiction(change) for name, change in (kinds | known).items()}


def _contradiction(change: Change) -> Forgery:
    return lambda run, file: (forge(run, change), pack(run, file))


def _point(change: test_forged.Change) -> Forgery:
    return lambda run, file: (test_forged.forge(run, change), pack(run, file))


def _index(content: Callable[[Record], bytes]) -> Forgery:
    """Return a forgery of `run.json`, which a bundle holds in its place."""

    def forged(run: Record, file: Path) -> None:
        (run.path / "run.json").write_bytes(content(run))
        with mock.patch.object(bundles, "run_index", lambda about: content(run)):
            pack(run, file)

    return forged


def _behind(content: bytes) -> Forgery:
    def forged(run: Record, file: Path) -> None:
        pack(run, file)
        file.write_bytes(file.read_bytes() + content)

    return forged


def _another(_: Record, points: list[Measured]) -> None:
    one, other = (point for point in points if point.point.study == "round_trip")
    for into, of in zip(one.launches, other.launches, strict=True):
        into.samples = of.samples


def _repeated(chance: random.Random) -> Change:
    at = chance.randint(1, 5)

    def change(_: Record, points: list[Measured]) -> None:
        points[-1].launches[at].samples = points[-1].launches[0].samples

    return change


def readings(run: Record, file: Path, archive: bool) -> list[Callable[[], object]]:
    """Return the ways in which a run is read: its bundle imported and opened, its frames derived.

    Of an `archive` that is forged the run is whole.
    """
    paths = Paths(Path(__file__).parents[1])
    studies = "round_trip", "limits"
    ways: list[Callable[[], object]] = [lambda: unpack(paths, file), lambda: opened(paths, file)]
    if not archive:
        ways += [
            lambda: [
                derived.read_frame(folder.read_run(run.path), study, "points") for study in studies
            ]
        ]
    return ways


def main(count: int, seed: int) -> int:
    """Make `count` forgeries, print those that were taken, and return the exit code."""
    chance, refused, taken = random.Random(seed), 0, 0
    for number in range(count):
        with tempfile.TemporaryDirectory(prefix="ipclab-forged-") as top:
            os.environ |= {"IPCLAB_DATA": f"{top}/data", "XDG_CACHE_HOME": f"{top}/cache"}
            run = make_run(Path(top, "elsewhere"), factor=1 + number)
            file = Path(top, "x.ipclab")
            name, forged = made_by(chance)
            forged(run, file)
            for read in readings(run, file, name.endswith(" behind")):
                try:
                    read()
                except LabError:
                    refused += 1
                else:
                    taken += 1
                    print(f"taken: {name}", flush=True)
    print(f"{count} forgeries, read in up to three ways: {refused} refused, {taken} taken")
    return 1 if taken else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 1))
