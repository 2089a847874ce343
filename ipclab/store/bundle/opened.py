"""The committed runs: bundles in the checkout, opened into an ignored folder on first use."""

import shutil
from contextlib import suppress
from pathlib import Path

from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.bundle.contents import CALIBRATION
from ipclab.store.bundle.unpack import held, place, verify
from ipclab.store.files import sha256, write_whole
from ipclab.store.run import RunFolder

STAMP = ".bundle"  # in the opened run: the name and digest of the bundle that it came from


def opened(paths: Paths, bundle: Path) -> RunFolder:
    """Return the run of `bundle`, placed in `data/opened`/<machine>/<run> when it is not there yet or has changed.

    Several processes may ask at once. Raises as `unpack` does.
    """
    if not bundle.is_file():
        raise UsageError(f"{bundle} is no file", "", "get it from the repository again: git checkout data")
    stamp = f"{bundle.name} {sha256(bundle)}\n".encode()
    if there := _present(paths, stamp):
        return there
    with held(paths.opened):
        if there := _present(paths, stamp):  # another process was first
            return there
        contents, _ = verify(bundle)
        calibration = place(bundle, contents, paths.opened, (STAMP, stamp))
        target = paths.opened / contents.machine / contents.run
        if calibration:
            write_whole(target.parent / CALIBRATION, calibration)
        for other in paths.opened.glob(f"*/*/{STAMP}"):
            if other.parent != target and other.read_bytes().split()[:1] == [bundle.name.encode()]:
                shutil.rmtree(other.parent, ignore_errors=True)
    return folder.read(target)


def _present(paths: Paths, stamp: bytes) -> RunFolder | None:
    for found in paths.opened.glob(f"*/*/{STAMP}"):
        with suppress(LabError, OSError):
            if found.read_bytes() == stamp:
                return folder.read(found.parent)
    return None
