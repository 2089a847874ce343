"""The fork server: it has imported what workers need and makes a fresh process in milliseconds.

It ends with the process that started it, kills its workers first, and then removes what the session owned, so that a
measuring process killed with SIGKILL leaves nothing behind.
"""

import ctypes
import gc
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
        if request["fresh"]:
            os.set_inheritable(control, True)
            command = [sys.executable, "-m", "ipclab.spawn.life", str(control), json.dumps(request)]
            os.execve(sys.executable, command, ENVIRONMENT)
        from ipclab.spawn.life import live

        gc.disable()
        code = live(request, control)
    except BaseException:  # the worker's last words belong into its stderr
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


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
        for pidfd, pid in self.children.items():
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
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
            self._kill(request["kill"])
        else:
            self._fork(request, fds)
        return True

    def _kill(self, pid: int) -> None:
        for pidfd, child in self.children.items():
            if child == pid:
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)

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
        _, status = os.waitpid(pid, 0)
        self.selector.unregister(pidfd)
        os.close(pidfd)
        self._tell({"exited": pid, "code": os.waitstatus_to_exitcode(status)})

    def _tell(self, message: dict[str, int]) -> None:
        with suppress(OSError):  # the other end is gone: the loop sees its end of file next
            self.sock.send(json.dumps(message).encode())


def main() -> None:
    """Run the fork server: arguments are the socket's descriptor, the ledger folder and the session's id."""
    descriptor, ledger, session_id = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    # One BLAS thread: a forked child must not inherit a thread pool, and none may share the CPUs measured.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the measuring process's to handle
    from ipclab.backends import installed as registry
    from ipclab.spawn.ledger import Session, close_session

    registry.preload()
    gc.collect()
    gc.freeze()  # collected once here: a collection in each child would copy every page it touches
    file = ledger / f"{session_id}.json"
    session = Session(**json.loads(file.read_text()))
    Zygote(socket.socket(fileno=descriptor)).serve()
    # Once more even when its file is gone: the owner was killed, and another session cleaned before our workers ended.
    close_session(ledger, session)


if __name__ == "__main__":
    main()
