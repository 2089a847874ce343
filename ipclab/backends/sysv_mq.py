"""System V message queues through `sysv_ipc`: one each way, whole messages, kept by the kernel (svipc(7)).

msgrcv(2) and msgsnd(2) know no deadline: a timer's signal ends them, so that this end looks at its clock and its peer.
"""

import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from ipclab.backends.interface import Backend, Channel, Data, Place, closed, needs, optional, too_long
from ipclab.backends.waiting import SLICE_NS, until

LIMIT = Path("/proc/sys/kernel/msgmax")
sysv_ipc = optional("sysv_ipc")


def _look(number: int, frame: FrameType | None) -> None:
    """Do nothing: the system call that the signal came into has ended."""


class _Timer:
    """A signal every slice of a wait, for as long as a channel of this process is open."""

    users = 0

    @classmethod
    def start(cls) -> None:
        cls.users += 1
        signal.signal(signal.SIGALRM, _look)
        signal.setitimer(signal.ITIMER_REAL, SLICE_NS / 1e9, SLICE_NS / 1e9)

    @classmethod
    def stop(cls) -> None:
        cls.users -= 1
        if not cls.users:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


class _QueueChannel(Channel):
    """Two queues, whose keys the ledger knows."""

    shares = True

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.held.enter_context(suppress(sysv_ipc.ExistentialError))
        queues = [self._opened(place.key(tag)) for tag in ("request", "answer")]
        self.inbox, self.outbox = queues if create else queues[::-1]
        _Timer.start()
        self.held.callback(_Timer.stop)

    def _opened(self, key: int) -> Any:
        size = max(1, self.capacity)
        if not self.create:
            return sysv_ipc.MessageQueue(key, max_message_size=size)
        self.place.own("system-v-queue", str(key))
        queue = sysv_ipc.MessageQueue(key, sysv_ipc.IPC_CREX, mode=0o600, max_message_size=size)
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

        # Full, empty, or ended by the timer, whose next tick may come at once: a slice more makes up for that.
        return until(attempt, sysv_ipc.Error, timeout_ns + SLICE_NS, self.peer)


backend = Backend(
    "sysv-mq",
    channel=_QueueChannel,
    missing=needs("sysv-ipc", sysv_ipc),
    longest=lambda: (int(LIMIT.read_text()), "sysctl kernel.msgmax and kernel.msgmnb"),
    limit="echo-pipe",
    look=("#D55E00", "D"),
)
