"""The fork server: it has imported what workers need and makes a fresh process in milliseconds.

It ends with the process that started it and kills its workers first. The last of a session's then
removes what the session owned, so that a measuring process killed with SIGKILL leaves nothing
behind. It is the reaper of all that workers and programs start, so that it can end what has lost
its own parent.
"""

import ctypes
import gc
import importlib
import os
import select
import selectors
import signal
import socket
import sys
import time
import traceback
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import msgspec

from ipclab.spawn import names
from ipclab.spawn.apart import leave_network, permitted
from ipclab.spawn.exits import die_with_parent
from ipclab.spawn.ledger import close_session, ledger_file, read_session
from ipclab.spawn.processes import children
from ipclab.spawn.started import END_SECONDS, Start
from ipclab.spawn.worker import Worker, confessing, perform

PR_SET_CHILD_SUBREAPER = 36
REQUEST_BYTES = 1 << 16
FRESH = "import sys; from ipclab.spawn.zygote import fresh; fresh(*sys.argv[1:])"
ENVIRONMENT = dict(os.environ)  # as it was given to us: a fresh interpreter gets this


def live(start: Start, control: int) -> None:
    """Be the worker that `start` describes over the socket with descriptor `control`."""
    worker = Worker(socket.socket(fileno=control), start.role.name, start.prefix, start.folder)
    worker.name("")  # reads the key of names, lest a study times that
    with confessing(worker.wire.send):
        perform(worker, start.role.target, start.role.arguments, worker.wire.send)


def fresh(request: str, control: str) -> None:
    """Be that worker in an interpreter of its own."""
    live(msgspec.json.decode(request, type=Start), int(control))
    os._exit(0)


def _execute(start: Start, control: int) -> None:
    """Become the role's own program, or a fresh interpreter; return where it asks for neither."""
    role = start.role
    if role.command:
        os.setsid()
        changed = {**ENVIRONMENT, **role.env}
        env = {name: value for name, value in changed.items() if value is not None}
        os.execve(role.command[0], role.command, env)
    if role.fresh:
        request = msgspec.json.encode(start).decode()
        command = [sys.executable, "-c", FRESH, request, str(control)]
        os.execve(sys.executable, command, ENVIRONMENT)


def run_worker(start: Start, control: int, stderr: int, parent: int) -> None:
    """Become the worker that `start` describes, forked or in a fresh interpreter; never returns."""
    code = 1
    try:
        if start.role.own_network and permitted(leave_network):
            leave_network()  # before the next line, since it makes the kernel forget whom we die with
        die_with_parent(parent)
        os.dup2(stderr, 1)
        os.dup2(stderr, 2)
        os.sched_setaffinity(0, start.role.cpus)
        os.set_inheritable(control, True)  # its other end sees the end of what is executed
        _execute(start, control)
        gc.disable()
        live(start, control)
        code = 0
    except BaseException as error:  # the worker's last words belong into its stderr
        if start.role.command:
            print(error, file=sys.stderr)
        else:
            traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def end(pids: Collection[int]) -> None:
    """Kill children that were not waited for yet, and wait for them."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    for pid in pids:
        os.waitpid(pid, 0)


class Zygote:
    """The server's loop over its socket and its children's pidfds."""

    def __init__(self, sock: socket.socket) -> None:
        """Serve requests that arrive on the SOCK_SEQPACKET socket `sock`."""
        self.sock = sock
        self.selector = selectors.DefaultSelector()
        self.selector.register(sock, selectors.EVENT_READ)
        # pidfd -> pid, and where to tell of it
        self.children: dict[int, tuple[int, socket.socket]] = {}

    def serve(self) -> None:
        """Answer requests until the other end is gone, then kill all children."""
        serving = True
        while serving:
            for key, _ in self.selector.select():
                if key.fileobj is self.sock:
                    serving = self._request()
                else:
                    self._reap(key.fd)
        end([pid for pid, _ in self.children.values()])
        while strays := children():
            end(strays)

    def _request(self) -> bool:
        try:
            data, fds, _, _ = socket.recv_fds(self.sock, REQUEST_BYTES, 3)
        except ConnectionError:  # the owner was killed before it read all that we told it
            return False
        if data:
            self._fork(msgspec.json.decode(data, type=Start), *fds)
        return bool(data)

    def _fork(self, start: Start, control: int, stderr: int, owner: int) -> None:
        parent = os.getpid()
        with suppress(Exception):  # what is wrong the worker tells
            names.shared("", start.folder, "")  # read once here, its key is not read by each
        try:
            pid = os.fork()
        except OSError as error:  # `ulimit -u`, say: that worker cannot start, the others live on
            os.write(stderr, f"no process can be started: {error.strerror}\n".encode())
            for fd in (control, stderr, owner):
                os.close(fd)
            return
        if pid == 0:
            self.sock.close()
            self.selector.close()
            for fd in (owner, *(owner_end.fileno() for _, owner_end in self.children.values())):
                os.close(fd)
            run_worker(start, control, stderr, parent)
        os.close(control)
        os.close(stderr)
        owner_end, pidfd = socket.socket(fileno=owner), os.pidfd_open(pid)
        self.children[pidfd] = pid, owner_end
        self.selector.register(pidfd, selectors.EVENT_READ)
        with suppress(OSError):  # the other end is gone: the loop sees the end of its requests next
            socket.send_fds(owner_end, [b"started"], [pidfd])

    def _reap(self, pidfd: int) -> None:
        pid, owner = self.children.pop(pidfd)
        _, status = os.waitpid(pid, 0)
        others = {pid for pid, _ in self.children.values()}
        while strays := children() - others:  # what it has started is ours
            end(strays)
        self.selector.unregister(pidfd)
        os.close(pidfd)
        with owner, suppress(OSError):
            owner.send(str(os.waitstatus_to_exitcode(status)).encode())


def main() -> None:
    """Run the fork server.

    Arguments are the ledger folder, the session's id, what to load, the socket's descriptor, and
    for a session's last server those of the processes (pidfd) which end before it.
    """
    ledger, session_id, loaded, *descriptors = sys.argv[1:]
    module, _, preload = loaded.partition(":")
    sock, *before = map(int, descriptors)
    for fd in before:
        os.set_inheritable(fd, False)
    # One BLAS thread: a forked child must not inherit a thread pool, and none may share the CPUs
    # measured.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the measuring process's to handle
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        session = read_session(ledger_file(Path(ledger), session_id))
    except FileNotFoundError:  # its owner was interrupted while it started us, and has closed it
        return
    getattr(importlib.import_module(module), preload)()
    gc.collect()
    gc.freeze()  # collected once here: a collection in each child would copy every page it touches
    Zygote(socket.socket(fileno=sock)).serve()
    # Once more even when its file is gone: the owner was killed, and another session cleaned before
    # our workers ended.
    if session is not None and before:
        deadline = time.monotonic() + END_SECONDS
        for other in before:
            select.select([other], [], [], max(0.0, deadline - time.monotonic()))
        close_session(Path(ledger), session)


if __name__ == "__main__":
    main()
