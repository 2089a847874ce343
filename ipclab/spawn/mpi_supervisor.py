"""The parent of `mpiexec`: it ends with the measuring process, takes every rank with it, and leaves nothing behind.

It is the reaper of all that `mpiexec` starts, so that it can kill and wait for ranks whose own parent has died.
"""

import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from ipclab.spawn.ledger import Session, close_session, is_alive
from ipclab.spawn.zygote import die_with_parent

PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1  # netdevice(7)


def leave_network() -> None:
    """Move this process into a network of its own that has loopback only; raises `OSError` where that is refused.

    Open MPI's daemon listens on every address of the host, and nothing tells it otherwise.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
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
    """Run a command until stdin ends: arguments are the ledger folder, the session's id, and the command."""
    ledger, session_id, command = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the measuring process's to handle
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1)
    session = Session(**json.loads((ledger / f"{session_id}.json").read_text()))
    if may_leave_network():
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
    if not is_alive(session):
        close_session(ledger, session)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
