"""The committed runs: bundles in the checkout, opened into an ignored folder on first use."""

import shutil
from pathlib import Path

from ipclab.errors import UsageError
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.bundle.unpack import held, place, verify
from ipclab.store.files import sha256
from ipclab.store.run import INDEX, RunFolder


def opened(paths: Paths, bundle: Path) -> RunFolder:
    """Return the run of `bundle`, placed in `data/opened`/<its name and digest> when it is not there yet.

    Several processes may ask at once. Raises as `unpack` does.
    """
    if not bundle.is_file():
        raise UsageError(f"{bundle} is no file", "", "get it from the repository again: git checkout data")
    home = paths.opened / f"{bundle.name}-{sha256(bundle)[:16]}"
    if not (there := [*home.glob(f"*/{INDEX}")]):
        with held(paths.opened):
            if not [*home.glob(f"*/{INDEX}")]:  # another process may have been first
                contents, _ = verify(bundle)
                for old in [each for each in paths.opened.iterdir() if each.name.startswith(f"{bundle.name}-")]:
                    shutil.rmtree(old)
                place(bundle, contents, home)
        there = [*home.glob(f"*/{INDEX}")]
    return folder.read(there[0].parent)
