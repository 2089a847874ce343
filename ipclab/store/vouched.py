"""Which runs were found to be what can have been measured, kept in the user's cache folder.

A file there is named by a digest of what it vouches for: the run, the state of each of its files,
and the code of the checks. Whoever can write it can write the package.
"""

import hashlib
import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

from ipclab.store.files import dump_json, sha256, state_of
from ipclab.store.run import RunFolder

MOST = 4_096  # runs, of which those go that were asked for longest ago
_here: set[str] = set()  # by this process


def voucher(run: RunFolder) -> str:
    """Return the name under which `run`, as it lies there now, is vouched for."""
    states = [state_of(f"{run.path}/{name}") for name in sorted(run.about["files"])]
    told = hashlib.sha256(dump_json(run.about)).hexdigest()
    return hashlib.sha256(f"{checks()} {told} {states}".encode()).hexdigest()


def is_vouched(name: str) -> bool:
    """Tell whether what `name` stands for was found to be whole before."""
    if name in _here:
        return True
    with suppress(OSError):
        os.utime(private_cache("vouched") / name)
        _here.add(name)
    return name in _here


def vouch(name: str) -> None:
    """Keep that what `name` stands for was found to be whole, where that can be kept."""
    _here.add(name)
    with suppress(OSError):
        folder = private_cache("vouched")
        (folder / name).touch(0o600)
        found = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        for old in found[:-MOST]:
            old.unlink(missing_ok=True)


def private_cache(name: str) -> Path:
    """Return a folder of the user's cache, made when missing; `PermissionError` for another's."""
    folder = user_cache_path("ipclab", appauthor=False) / name
    folder.mkdir(0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
    if not private or status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} is not this user's alone")
    return folder


@cache
def checks() -> str:
    """Return a digest of the code that checks runs: this package, and nothing else."""
    files = sorted(file for file in Path(__file__).parent.iterdir() if file.is_file())
    return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()
