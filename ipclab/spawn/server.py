"""A fork server as its session sees it: started, asked for workers, ended."""

import os
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

END_SECONDS = 10.0


@dataclass(frozen=True)
class ForkServer:
    """A running fork server (`ipclab.spawn.zygote`); it ends, and its workers with it, when `sock`
    is closed.
    """

    process: subprocess.Popen[bytes]
    sock: socket.socket

    def ask(self, request: bytes, fds: list[int]) -> None:
        """Send a `Start`; that the server is dead is noticed when its answer does not come."""
        with suppress(OSError):
            socket.send_fds(self.sock, [request], fds)

    def end(self) -> None:
        """Have it end, with all that it has started, and wait for that."""
        self.sock.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill it; its workers die with it."""
        self.process.kill()
        self.process.wait(END_SECONDS)
        self.sock.close()


def serve(ledger: Path, session: str, preload: str, after: ForkServer | None = None) -> ForkServer:
    """Start a fork server that first calls `preload` (`module:function`).

    One with `after` ends after that one, and removes what the session owned when the session cannot
    do it any more.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fds = [theirs.fileno(), *([os.pidfd_open(after.process.pid)] if after else [])]
    about = [str(ledger), session, preload, *map(str, fds)]
    command = [sys.executable, "-m", "ipclab.spawn.zygote", *about]
    process = subprocess.Popen(
        command, pass_fds=fds, stdin=subprocess.DEVNULL, start_new_session=True
    )
    theirs.close()
    for fd in fds[1:]:
        os.close(fd)
    return ForkServer(process, ours)
