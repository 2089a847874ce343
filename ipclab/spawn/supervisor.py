"""The parent of a foreign program: it ends with the measuring process, takes all that it started along, and cleans up.

It is the reaper of all that the program starts, so that it can kill and wait for processes whose own parent has died.
"""

import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ipclab.spawn.ledger import Session, close_session, file_of, is_alive, read_session
from ipclab.spawn.zygote import die_with_parent

PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1  # netdevice(7)
END_SECONDS = 10.0


def supervised(
    ledger: Path, session: Session, command: Sequence[str], alone: bool = False, **more: Any
) -> "subprocess.Popen[bytes]":
    """Start `command` below a supervisor, in a network of its own if `alone` and permitted; `end` is to follow."""
    about = [str(ledger.resolve()), session.id, "alone" if alone else "-"]
    python = [sys.executable, "-m", "ipclab.spawn.supervisor"]
    return subprocess.Popen([*python, *about, *command], stdin=subprocess.PIPE, start_new_session=True, **more)


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a supervisor with all that it started."""
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def network() -> str:
    """Return what tells this process's network from others."""
    return str(Path("/proc/self/ns/net").readlink())


def leave_network() -> None:
    """Move this process into a network of its own that has loopback only; raises `OSError` where that is refused.

    Open MPI's daemon listens on every address of the host, and nothing tells it otherwise. Without privileges, this
    takes a user namespace too, in which this process has the ids that it had.
    """
    libc, ids = ctypes.CDLL(None, use_errno=True), {"uid": os.geteuid(), "gid": os.getegid()}
    if libc.unshare(CLONE_NEWNET):
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "unshare")
        Path("/proc/self/setgroups").write_text("deny")
        for kind, number in ids.items():
            Path(f"/proc/self/{kind}_map").write_text(f"{number} {number} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        flags = struct.unpack_from("16xH", fcntl.ioctl(sock, SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0)))[0]
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def may_leave_network() -> bool:
    """Try it in a child, since half of it would leave a process without any network."""
    pid = os.fork()
    if pid == 0:
        code = 1
        with suppress(OSError):
            leave_network()
            code = 0
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def children() -> list[int]:
    """Return the processes whose parent is this one."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            found += [int(pid) for pid in (task / "children").read_text().split()]
    return found


def end_all() -> None:
    """Kill every child, and those that thereby become ours, until there are none."""
    while True:
        for pid in children():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def main() -> None:
    """Run a command until stdin ends: arguments are the ledger folder, the session's id, `alone`, and the command."""
    ledger, session_id, alone, *command = Path(sys.argv[1]), *sys.argv[2:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the measuring process's to handle
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1)
    session = read_session(file_of(ledger, session_id))
    if alone == "alone" and may_leave_network():
        leave_network()
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=partial(die_with_parent, os.getpid()),  # noqa: PLW1509  one thread only
    )
    pidfd = os.pidfd_open(child.pid)
    ready, _, _ = select.select([0, pidfd], [], [])
    code = child.wait() if pidfd in ready else 0
    end_all()
    if session is not None and not is_alive(ledger, session):
        close_session(ledger, session)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
