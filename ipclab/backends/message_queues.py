"""Message queues of the kernel, one each way: POSIX (mq_overview(7)), System V (svipc(7))."""

import errno
import os
import resource
import secrets
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import posix_ipc

from ipclab.backends.calls import refusal
from ipclab.backends.interface import Backend, Channel, Data, Place, too_long
from ipclab.backends.library import Library
from ipclab.backends.waiting import SLICE_NS, closed, until
from ipclab.errors import LabError
from ipclab.spawn import names

LIMITS, SYSTEM_V_LIMIT = Path("/proc/sys/fs/mqueue"), Path("/proc/sys/kernel/msgmax")
DEPTH = 10  # the kernel's usual msg_default
# mq_overview(7): what the kernel counts of two queues of one short message, at least
LEAST_QUEUES = 2 * 128
sysv_ipc = Library("sysv-ipc", "sysv_ipc")


def _limit(name: str) -> int:
    return int((LIMITS / name).read_text())


class _QueueChannel(Channel):
    """Two queues, which the ledger knows before they are made."""

    shares = True

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        with self.whole():
            self.inbox, self.outbox = self.opened(self.tag_in), self.opened(self.tag_out)

    def opened(self, tag: str) -> Any:
        """Return the queue for `tag`, made or found, which is given back by `close`."""
        raise NotImplementedError


class _PosixChannel(_QueueChannel):
    """Queues by name."""

    def opened(self, tag: str) -> posix_ipc.MessageQueue:
        name = f"/{self.place.name(tag)}"
        queue = self._made(name) if self.create else posix_ipc.MessageQueue(name)
        self.held.callback(queue.close)
        names.check_owner(name, os.fstat(queue.mqd).st_uid)
        if self.create:
            self.held.callback(queue.unlink)
        return queue

    def _made(self, name: str) -> posix_ipc.MessageQueue:
        self.place.own("posix-queue", name)
        sizes = {
            "max_messages": min(DEPTH, _limit("msg_max")),
            "max_message_size": max(1, self.capacity),
        }
        try:
            with names.exclusively(name, posix_ipc.ExistentialError):
                return posix_ipc.MessageQueue(name, posix_ipc.O_CREX, mode=0o600, **sizes)
        except ValueError as error:
            raise too_long(self.capacity, _limit("msgsize_max")) from error
        except OSError as error:
            if error.errno not in (None, errno.EMFILE):  # posix_ipc tells limits without a number
                raise
            why = f"mq_open says {error} for {self.capacity:,} bytes a message"
            fix = "raise RLIMIT_MSGQUEUE (ulimit -q) or sysctl fs.mqueue.queues_max"
            raise LabError("no room for a POSIX message queue", why, fix) from error

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        send = self.outbox.send
        until(lambda left_ns: send(data, left_ns / 1e9), timeout_ns, self.peer, posix_ipc.BusyError)

    def recv(self, timeout_ns: int) -> bytes:
        receive = self.inbox.receive
        data, _ = until(
            lambda left_ns: receive(left_ns / 1e9), timeout_ns, self.peer, posix_ipc.BusyError
        )
        return bytes(data)


class _SystemVChannel(_QueueChannel):
    """Queues by key.

    msgrcv(2) and msgsnd(2) know no deadline: a timer's signal ends them every slice of a wait, for
    as long as a channel of this process is open, so that this end looks at its clock and its peer.
    """

    users = 0  # of the timer

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        _SystemVChannel.users += 1
        # the system call that it came into has ended
        signal.signal(signal.SIGALRM, lambda number, frame: None)
        signal.setitimer(signal.ITIMER_REAL, SLICE_NS / 1e9, SLICE_NS / 1e9)
        self.held.callback(self._stop)

    @staticmethod
    def _stop() -> None:
        _SystemVChannel.users -= 1
        if not _SystemVChannel.users:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def opened(self, tag: str) -> Any:
        key, size = self.place.key(tag), max(1, self.capacity)
        if not self.create:
            queue = sysv_ipc.MessageQueue(key, max_message_size=size)
            names.check_owner(f"System V queue {key}", queue.uid)
            return queue
        self.place.own("system-v-queue", str(key))
        with names.exclusively(f"System V queue {key}", sysv_ipc.ExistentialError):
            queue = sysv_ipc.MessageQueue(key, sysv_ipc.IPC_CREX, mode=0o600, max_message_size=size)
        self.held.enter_context(suppress(sysv_ipc.ExistentialError))
        self.held.callback(queue.remove)
        return queue

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        send = self.outbox.send
        self._until(lambda blocks: send(data, blocks), timeout_ns)

    def recv(self, timeout_ns: int) -> bytes:
        data, _ = self._until(self.inbox.receive, timeout_ns)
        return bytes(data)

    def _until(self, call: Callable[[bool], Any], timeout_ns: int) -> Any:
        def attempt(left_ns: int) -> Any:
            try:
                return call(left_ns > 0)
            except sysv_ipc.ExistentialError as error:
                raise closed() from error

        # Full, empty, or ended by the timer, whose next tick may come at once: a slice more makes
        # up for that.
        return until(attempt, timeout_ns + SLICE_NS, self.peer, sysv_ipc.Error)


def posix_missing() -> str | None:
    """Return why no POSIX queue can be made here, with the fix; None where nothing forbids it.

    A queue that nobody has made is asked for, so that nothing is left of it.
    """
    if not LIMITS.is_dir():
        return "this kernel has no POSIX message queues; take one with CONFIG_POSIX_MQUEUE"
    name = f"/ipclab-{secrets.token_hex(16)}"
    with suppress(posix_ipc.ExistentialError, posix_ipc.PermissionsError):
        if why := refusal("mq_open", lambda: posix_ipc.MessageQueue(name).close()):
            return why
    most, _ = resource.getrlimit(resource.RLIMIT_MSGQUEUE)
    if 0 <= most < LEAST_QUEUES:
        return (
            f"RLIMIT_MSGQUEUE gives this user's queues {most:,} bytes, and mq_open needs"
            f" {LEAST_QUEUES:,} of two short ones; raise it: ulimit -q, or docker run --ulimit"
            " msgqueue=819200"
        )
    return None


def system_v_missing() -> str | None:
    """Return why no System V queue can be had here, with the fix; None where one can.

    A queue that nobody has made is asked for, so that nothing is left of it.
    """
    if why := sysv_ipc.missing():
        return why
    key = secrets.randbits(31) | 1
    with suppress(sysv_ipc.ExistentialError, sysv_ipc.PermissionsError):
        return refusal("msgget", lambda: sysv_ipc.MessageQueue(key))
    return None


posix = Backend(
    "posix-mq",
    channel=_PosixChannel,
    missing=posix_missing,
    longest=lambda: (_limit("msgsize_max"), "sysctl fs.mqueue.msgsize_max"),
    limit="mq",
    look=("#D55E00", "s"),
)
system_v = Backend(
    "sysv-mq",
    channel=_SystemVChannel,
    missing=system_v_missing,
    longest=lambda: (int(SYSTEM_V_LIMIT.read_text()), "sysctl kernel.msgmax and kernel.msgmnb"),
    limit="mq",
    look=("#D55E00", "D"),
)
