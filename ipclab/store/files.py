"""Files that appear whole or not at all, and their digests."""

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ipclab.errors import LabError

PART = ".part"


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, content: bytes, before_rename: Callable[[Path], None] | None = None) -> None:
    """Write `content` beside `path` and rename, so that a reader sees the old file or the new one.

    `before_rename` is called with the complete temporary file. Raises `LabError` when the folder cannot be written.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if before_rename:
            before_rename(part)
        part.replace(path)
    except OSError as error:
        fix = "free some room, or choose a folder that can be written (IPCLAB_DATA, --out)"
        raise LabError(f"cannot write {path}", error.strerror or "", fix) from error
    finally:
        with suppress(OSError):  # gone after the rename; on a file system that is read-only it never was
            part.unlink()


def dump_json(value: Any) -> bytes:
    """Return `value` as JSON that is the same for equal values."""
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def sealed(about: dict[str, Any]) -> bytes:
    """Return `about` as JSON whose first field `digest` is the SHA-256 of `dump_json` of all others."""
    content = dump_json(about)
    return b'{\n "digest": "%s",%s' % (hashlib.sha256(content).hexdigest().encode(), content[1:])


def unsealed(about: dict[str, Any]) -> dict[str, Any]:
    """Return what `sealed` wrote, without its digest; raises `ValueError` when that is not the content's."""
    content = {name: value for name, value in about.items() if name != "digest"}
    if about.get("digest") != hashlib.sha256(dump_json(content)).hexdigest():
        raise ValueError("it was altered: its digest is not that of its content")
    return content
