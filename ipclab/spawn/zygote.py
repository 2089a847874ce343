"""The fork server: it has imported what workers need and makes a fresh process in milliseconds.

It ends with the process that started it, kills its workers first, and then removes what the session owned, so that a
measuring process killed with SIGKILL leaves nothing behind.
"""

import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
REQUEST_BYTES = 1 << 16
ENVIRONMENT = dict(os.environ)  # as it was given to us: a fresh interpreter gets this


def die_with_parent(parent: int, sign: int = signal.SIGKILL) -> None:
    """Have the kernel send `sign` to this process when its parent (pid `parent`) ends (prctl(2))."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, sign)
    if os.getppid() != parent:
        os.kill(os.getpid(), sign)


def run_worker(request: dict[str, Any], control: int, stderr: int, parent: int) -> None:
    """Become the worker that `request` describes, forked as we are or in a fresh interpreter; never returns."""
    code = 1
    try:
        die_with_parent(parent)
        os.dup2(stderr, 1)
        os.dup2(stderr, 2)
        os.sched_setaffinity(0, request["cpus"])
        os.set_inheritable(control, True)  # its other end sees the end of what is executed
        if request["command"]:
            os.setsid()
            env = ENVIRONMENT | request["env"]
            env = {name: value for name, value in env.items() if value is not None}
            os.execve(request["command"][0], request["command"], env)
        if request["fresh"]:
            command = [sys.executable, "-m", "ipclab.spawn.life", str(control), json.dumps(request)]
            os.execve(sys.executable, command, ENVIRONMENT)
        from ipclab.spawn.life import live

        gc.disable()
        code = live(request, control)
    except BaseException as error:  # the worker's last words belong into its stderr
        if request["command"]:
            print(error, file=sys.stderr)
        else:
            traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def end(pid: int) -> None:
    """Kill the child `pid`, which was not waited for yet, with its process group if it has one of its own."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


class Zygote:
    """The server's loop over its socket and its children's pidfds."""

    def __init__(self, sock: socket.socket) -> None:
        """Serve requests that arrive on the SOCK_SEQPACKET socket `sock`."""
        self.sock = sock
        self.selector = selectors.DefaultSelector()
        self.selector.register(sock, selectors.EVENT_READ)
        self.children: dict[int, int] = {}  # pidfd -> pid

    def serve(self) -> None:
        """Answer requests until the other end is gone, then kill all children."""
        serving = True
        while serving:
            for key, _ in self.selector.select():
                if key.fileobj is self.sock:
                    serving = self._request()
                else:
                    self._reap(int(key.fd))
        for pid in self.children.values():
            end(pid)
            os.waitpid(pid, 0)

    def _request(self) -> bool:
        try:
            data, fds, _, _ = socket.recv_fds(self.sock, REQUEST_BYTES, 2)
        except ConnectionError:  # the owner was killed before it read all that we told it
            return False
        if not data:
            return False
        request = json.loads(data)
        if "kill" in request:
            if request["kill"] in self.children.values():
                end(request["kill"])
        else:
            self._fork(request, fds)
        return True

    def _fork(self, request: dict[str, Any], fds: list[int]) -> None:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self.sock.close()
            self.selector.close()
            run_worker(request, fds[0], fds[1], parent)
        for fd in fds:
            os.close(fd)
        pidfd = os.pidfd_open(pid)
        self.children[pidfd] = pid
        self.selector.register(pidfd, selectors.EVENT_READ)
        self._tell({"pid": pid})

    def _reap(self, pidfd: int) -> None:
        pid = self.children.pop(pidfd)
        end(pid)  # what a program has started ends with it
        _, status = os.waitpid(pid, 0)
        self.selector.unregister(pidfd)
        os.close(pidfd)
        self._tell({"exited": pid, "code": os.waitstatus_to_exitcode(status)})

    def _tell(self, message: dict[str, int]) -> None:
        with suppress(OSError):  # the other end is gone: the loop sees its end of file next
            self.sock.send(json.dumps(message).encode())


def main() -> None:
    """Run the fork server: arguments are the socket's descriptor, the ledger folder, the session's id, what to load."""
    descriptor, ledger, session_id = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    module, _, preload = sys.argv[4].partition(":")
    # One BLAS thread: a forked child must not inherit a thread pool, and none may share the CPUs measured.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the measuring process's to handle
    from ipclab.spawn.ledger import close_session, file_of, read_session

    getattr(importlib.import_module(module), preload)()
    gc.collect()
    gc.freeze()  # collected once here: a collection in each child would copy every page it touches
    session = read_session(file_of(ledger, session_id))
    Zygote(socket.socket(fileno=descriptor)).serve()
    # Once more even when its file is gone: the owner was killed, and another session cleaned before our workers ended.
    if session is not None:
        close_session(ledger, session)


if __name__ == "__main__":
    main()
