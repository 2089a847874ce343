"""What the ledger owns beside the session's folder, by kind and name, noted before it exists.

System V objects are named by their key; a private one, without a key, cannot be found again and so
cannot be owned.
"""

import ctypes
import json
import os
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ipclab.spawn import names, scratch
from ipclab.store.files import PART

FILE = "owned"  # `<number>-owned` in the session's folder: what launch number so-and-so owns
IPC_RMID = 0
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class OwnedKind:
    """How a thing is found by its name and removed; `remove` tells whether there was one."""

    exists: Callable[[str], bool]
    remove: Callable[[str], bool]


def _queue(name: str, unlink: bool) -> bool:
    import posix_ipc

    try:
        posix_ipc.unlink_message_queue(name) if unlink else posix_ipc.MessageQueue(name).close()
    except (posix_ipc.ExistentialError, posix_ipc.PermissionsError):
        return False
    return True


def _remove_part(name: str) -> bool:
    """Remove what a killed process was writing; nothing else has such a name."""
    path = Path(name)
    if not re.fullmatch(rf".+\.[0-9]+{re.escape(PART)}", path.name) or path.is_symlink():
        return False
    if not path.is_file() or path.stat().st_uid != os.geteuid():
        return False
    path.unlink()
    return True


def _system_v(get: str, control: str, sizes: tuple[int, ...], number: tuple[int, ...]) -> OwnedKind:
    def identifier(key: str) -> int:  # -1 where there is none
        return int(getattr(_libc, get)(int(key), *sizes, 0))

    def remove(key: str) -> bool:
        owned_id = identifier(key)
        return owned_id >= 0 and getattr(_libc, control)(owned_id, *number, IPC_RMID, None) == 0

    return OwnedKind(lambda key: identifier(key) >= 0, remove)


KINDS = {
    "file": OwnedKind(os.path.lexists, _remove_part),
    # A folder that is there already is used again.
    "scratch": OwnedKind(lambda name: False, lambda name: scratch.remove_subfolder(Path(name))),
    "posix-queue": OwnedKind(lambda name: _queue(name, False), lambda name: _queue(name, True)),
    "system-v-memory": _system_v("shmget", "shmctl", (0,), ()),
    "system-v-semaphore": _system_v("semget", "semctl", (0,), (0,)),
    "system-v-queue": _system_v("msgget", "msgctl", (), ()),
}


def own(file: Path, kind: str, name: str) -> None:
    """Note in `file` that what `kind` calls `name` is about to be made.

    Raises `KeyError` for an unknown kind and `TakenError` when it is there already, for then it is
    not ours.
    """
    if KINDS[kind].exists(name):
        raise names.taken(f"{kind} {name}")
    flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(file, flags, 0o600)
    with os.fdopen(descriptor, "wb") as lines:
        lines.write(json.dumps([kind, name]).encode() + b"\n")


# What a ledger file in a data folder may name: it may have been unpacked from an archive. All else is
# named in the session's private folder, which no archive and no other user can make.
NAMED_ANYWHERE = ("file", "scratch")


def owned(text: bytes, kinds: Collection[str] = tuple(KINDS)) -> list[tuple[str, str]]:
    """Return kind and name of what the lines of `text` own, of these `kinds`.

    A torn line, or one of another version, owns nothing.
    """
    entries = []
    for line in text.splitlines():
        with suppress(ValueError, TypeError):
            kind, name = json.loads(line)
            if kind in kinds and isinstance(name, str):
                entries.append((kind, name))
    return entries


def remove_owned(text: bytes, kinds: Collection[str] = tuple(KINDS)) -> list[str]:
    """Remove what the lines of `text` own of these `kinds`, and return what there was."""
    removed = []
    for kind, name in owned(text, kinds):
        with suppress(OSError, ValueError):
            if KINDS[kind].remove(name):
                removed.append(f"{kind} {name}")
    return removed
