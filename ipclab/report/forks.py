"""The kernels' fork server: it has imported what every notebook imports, so that a kernel starts in milliseconds."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from threading import Lock

from ipclab.errors import LabError
from ipclab.workers.zygote import die_with_parent

DERIVED = "IPCLAB_DERIVED"  # set while a report is made: the folder of what was derived from its run
START_SECONDS = 60.0
REQUEST_BYTES = 1 << 20
STARTING = Lock()  # two threads must not start a server each


@dataclass(frozen=True)
class Request:
    """A kernel to start: its connection file, its folder, its environment, and the file for its own stderr."""

    connection_file: str
    folder: str
    env: dict[str, str]
    log: str


class Forked:
    """A kernel's process as seen from outside, by a descriptor that no other process can come to stand for."""

    stdin = stdout = stderr = None

    def __init__(self, descriptor: int, pid: int) -> None:
        """Hold process `pid` by its pidfd."""
        self.descriptor, self.pid = descriptor, pid

    def __del__(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)

    def poll(self) -> int | None:
        """Return None while the process runs, then 0: its exit code belongs to the fork server."""
        return 0 if select.select([self.descriptor], [], [], 0)[0] else None

    def wait(self) -> int:
        """Wait until the process has ended."""
        select.select([self.descriptor], [], [])
        return 0

    def send_signal(self, sign: int) -> None:
        """Send a signal; one that has ended does not get it."""
        try:
            signal.pidfd_send_signal(self.descriptor, sign)
        except ProcessLookupError:
            return

    def kill(self) -> None:
        """End the process at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask the process to end."""
        self.send_signal(signal.SIGTERM)


class ForkServer:
    """The server's client side; the server and its kernels end with this process."""

    def __init__(self) -> None:
        """Start the server; it imports while the caller goes on."""
        self.lock = Lock()
        self.sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, REQUEST_BYTES)
        with theirs:
            command = [sys.executable, "-m", "ipclab.report.forks", str(theirs.fileno())]
            keep = [theirs.fileno()]
            self.process = subprocess.Popen(command, pass_fds=keep, stdin=subprocess.DEVNULL, start_new_session=True)

    def fork(self, request: Request) -> Forked:
        """Start a kernel; raises `LabError` when the server does not answer."""
        with self.lock:
            self.sock.settimeout(START_SECONDS)
            try:
                self.sock.send(json.dumps(asdict(request)).encode())
                data, descriptors, _, _ = socket.recv_fds(self.sock, 64, 1)
            except (TimeoutError, OSError) as error:
                raise LabError("the kernels' fork server does not answer", str(error), "try again") from error
        if not data:
            raise LabError("the kernels' fork server does not answer", "it was killed or could not start", "try again")
        return Forked(descriptors[0], int(data))


def fork(request: Request) -> Forked:
    """Start a kernel by this process's fork server, which starts when it is first needed.

    Raises `LabError` when the server does not answer.
    """
    with STARTING:
        server = _server()
    return server.fork(request)


@cache
def _server() -> ForkServer:
    return ForkServer()


def serve(control: int) -> None:
    """Fork a kernel for each request that comes over socket `control`, until its other end is closed."""
    from ipclab.report import warm

    warm.draw()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks for exit codes
    parent = os.getpid()
    with socket.socket(fileno=control) as sock:
        while data := sock.recv(REQUEST_BYTES):
            request = Request(**json.loads(data))
            if folder := request.env.get(DERIVED):
                warm.read(Path(folder))
            pid = os.fork()
            if pid == 0:
                sock.close()
                become_kernel(request, parent)
            descriptor = os.pidfd_open(pid)
            socket.send_fds(sock, [str(pid).encode()], [descriptor])
            os.close(descriptor)


def become_kernel(request: Request, parent: int) -> None:
    """Be the kernel of `request` until it is shut down; never returns."""
    from ipykernel.kernelapp import IPKernelApp

    code = 1
    try:
        die_with_parent(parent)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        said = os.open(request.log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.chdir(request.folder)
        os.environ.clear()
        os.environ.update(request.env)
        IPKernelApp.launch_instance(["-f", request.connection_file])
        code = 0
    except SystemExit as done:
        code = int(done.code or 0) if isinstance(done.code, int | None) else 1
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
