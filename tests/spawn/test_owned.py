"""What a session owns outside shared memory: removed by kind and name, never while another holds
it.
"""

import os
import signal
import sys
from pathlib import Path

import pytest

from ipclab.errors import LabError
from ipclab.spawn import owned, scratch
from ipclab.spawn.ledger import close_dead_sessions, close_session, open_session
from tests.spawn.test_ledger import names
from tests.support.commands import environment, kernel_objects, left_of, ran

KEY = 0x1BC0000 + os.getpid()
# Of each kind a name, and what makes it
OWNED = {
    "posix-queue": (
        f"/ipclab-test-{os.getpid()}",
        "posix_ipc.MessageQueue(name, posix_ipc.O_CREX)",
    ),
    "system-v-memory": (str(KEY), "made(libc.shmget(int(name), 100, 0o3600))"),
    "system-v-semaphore": (str(KEY), "made(libc.semget(int(name), 1, 0o3600))"),
    "system-v-queue": (str(KEY), "made(libc.msgget(int(name), 0o3600))"),
}
MAKE = """
import ctypes, os, sys
from pathlib import Path
import posix_ipc
from ipclab.backends.interface import Place
from ipclab.spawn.ledger import open_session
libc = ctypes.CDLL(None, use_errno=True)
def made(number):
    if number < 0:
        raise OSError(ctypes.get_errno(), "not made")
session = open_session(Path(sys.argv[1]))
for kind, (name, create) in OWNED.items():
    Place(session.prefix(1), session.folder, 1).own(kind, name)
    eval(create)
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_session_owned_elsewhere_is_removed_by_kind_and_name(tmp_path: Path) -> None:
    before, ledger = kernel_objects(), tmp_path / "ledger"
    command = [sys.executable, "-c", f"OWNED = {OWNED}\n{MAKE}", str(ledger)]
    done = ran(command, env=environment(tmp_path))
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    try:
        # as the conformance suite would see it
        left = left_of("ipclab-none-1", str(tmp_path / "tmp"), before, 0.0)
        for kind, (name, _) in OWNED.items():
            assert owned.KINDS[kind].exists(name)
            if kind != "posix-queue" or Path("/dev/mqueue").is_mount():
                assert [line for line in left if line.endswith(name)]
            with pytest.raises(FileExistsError):
                owned.own(tmp_path / "note", kind, name)  # made by another: never ours
        removed = close_dead_sessions(ledger)
        for kind, (name, _) in OWNED.items():
            assert f"{kind} {name}" in removed and not owned.KINDS[kind].exists(name)
    finally:
        for kind, (name, _) in OWNED.items():
            owned.KINDS[kind].remove(name)
    assert names(tmp_path / "tmp") == set()


def test_lines_that_own_nothing(tmp_path: Path) -> None:
    file = tmp_path / "owned"
    owned.own(file, "scratch", "/nowhere")
    text = file.read_bytes()
    assert owned.owned(text + b'["posix-queue", 7]\n["unknown", "x"]\n[]\n7\n["scratch", "/to') == [
        ("scratch", "/nowhere")
    ]
    assert owned.remove_owned(text) == []
    with pytest.raises(KeyError):
        owned.own(file, "unknown", "x")


def test_a_scratch_folder_that_is_held_survives_and_then_goes(tmp_path: Path) -> None:
    scratch_folder, ledger = tmp_path / "scratch", tmp_path / "ledger"
    session = open_session(ledger)
    lines = ledger / f"{session.id}.json"
    with scratch.held_subfolder(
        scratch_folder, "files", lambda path: owned.own(lines, "scratch", str(path))
    ) as path:
        (path / "data").write_bytes(b"x")
        (tmp_path / "precious").mkdir()
        (scratch_folder / "ipclab-scratch-not-ours").mkdir()
        with (
            pytest.raises(
                LabError, match="is in use: another process reads files there; wait for it, or name"
            ),
            scratch.held_subfolder(scratch_folder, "files", lambda path: None),
        ):
            pass
        assert not scratch.remove_subfolder(path)
        # as another session would that used it before
        assert close_session(ledger, session) == [session.folder]
        assert (path / "data").exists()
    assert scratch.remove_subfolder(path)
    assert names(scratch_folder) == {"ipclab-scratch-not-ours"}
