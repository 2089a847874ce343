"""Frames that were derived before, in the user's cache folder: what they follow from names them.

A file is `<digest>-<kind>-<SHA-256 of its bytes>.parquet`. Whoever can write it can write the
package: it is read when it is whole, and no more is proved. What cannot be kept is derived again.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from ipclab.errors import LabError
from ipclab.store.files import once, private_cache, whole

MOST_BYTES = 256 << 20  # above which the frames that were not used for longest go
SUFFIX = ".parquet"


def kept_frame(digest: str, kind: str) -> bytes | None:
    """Return the Parquet file of the frame `kind` that follows from `digest`, if it is kept."""
    with suppress(OSError):
        folder = private_cache("frames")
        for file in folder.glob(f"{digest}-{kind}-*{SUFFIX}"):
            content = file.read_bytes()
            if file.stem.endswith(hashlib.sha256(content).hexdigest()):
                os.utime(file)
                return content
            file.unlink(missing_ok=True)
    return None


def kept_or_derived(digest: str, kind: str, derive: Callable[[], Mapping[str, bytes]]) -> bytes:
    """Return the Parquet file of the frame `kind` that follows from `digest`.

    Where it is not kept, one process makes what `derive` gives, by kind, while others wait for it.
    """
    if (found := kept_frame(digest, kind)) is not None:
        return found
    with once(digest):
        if (found := kept_frame(digest, kind)) is not None:
            return found
        derived = derive()
        keep_frames(digest, derived)
        return derived[kind]


def keep_frames(digest: str, content: Mapping[str, bytes]) -> None:
    """Keep the Parquet files that follow from `digest`, by kind, where that can be done."""
    with suppress(OSError, LabError):
        folder = private_cache("frames")
        for kind, parquet in content.items():
            own = hashlib.sha256(parquet).hexdigest()
            with whole(folder / f"{digest}-{kind}-{own}{SUFFIX}", 0o600) as part:
                part.write_bytes(parquet)
        _make_room(folder)


def _make_room(folder: Path) -> None:
    """Remove the files that were not used for longest, until the others are `MOST_BYTES` or less."""
    room = MOST_BYTES
    found = [(file.stat(), file) for file in folder.iterdir()]
    for status, file in sorted(found, key=lambda each: each[0].st_mtime_ns, reverse=True):
        room -= status.st_size
        if room < 0:
            file.unlink(missing_ok=True)
