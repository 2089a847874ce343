"""POSIX message queues through `posix_ipc`: one each way, whole messages, kept by the kernel (mq_overview(7))."""

import errno
from pathlib import Path

import posix_ipc

from ipclab.backends.interface import Backend, Channel, Data, Place, too_long
from ipclab.backends.waiting import until
from ipclab.errors import LabError

LIMITS = Path("/proc/sys/fs/mqueue")
DEPTH = 10  # the kernel's usual msg_default


def _limit(name: str) -> int:
    return int((LIMITS / name).read_text())


class _QueueChannel(Channel):
    """Two queues, whose names the ledger knows."""

    shares = True

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        queues = [self._opened(f"/{place.name(tag)}") for tag in ("request", "answer")]
        self.inbox, self.outbox = queues if create else queues[::-1]

    def _opened(self, name: str) -> posix_ipc.MessageQueue:
        queue = self._made(name) if self.create else posix_ipc.MessageQueue(name)
        self.held.callback(queue.close)
        if self.create:
            self.held.callback(queue.unlink)
        return queue

    def _made(self, name: str) -> posix_ipc.MessageQueue:
        self.place.own("posix-queue", name)
        sizes = {"max_messages": min(DEPTH, _limit("msg_max")), "max_message_size": max(1, self.capacity)}
        try:
            return posix_ipc.MessageQueue(name, posix_ipc.O_CREX, mode=0o600, **sizes)
        except ValueError as error:
            raise too_long(self.capacity, _limit("msgsize_max")) from error
        except OSError as error:
            if error.errno != errno.EMFILE:
                raise
            full = f"this user's queues would take more than RLIMIT_MSGQUEUE for {self.capacity} bytes a message"
            raise LabError("no room for a POSIX message queue", full, "raise it (ulimit -q)") from error

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        send = self.outbox.send
        until(lambda left_ns: send(data, left_ns / 1e9), posix_ipc.BusyError, timeout_ns, self.peer)

    def recv(self, timeout_ns: int) -> bytes:
        receive = self.inbox.receive
        data, _ = until(lambda left_ns: receive(left_ns / 1e9), posix_ipc.BusyError, timeout_ns, self.peer)
        return bytes(data)


def _missing() -> str | None:
    return None if LIMITS.is_dir() else "this kernel has no POSIX message queues (CONFIG_POSIX_MQUEUE)"


backend = Backend(
    "posix-mq",
    channel=_QueueChannel,
    missing=_missing,
    longest=lambda: (_limit("msgsize_max"), "sysctl fs.mqueue.msgsize_max"),
    limit="echo-pipe",
    look=("#D55E00", "s"),
)
