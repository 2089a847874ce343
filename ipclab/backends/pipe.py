"""Two named pipes in the session's private folder, one each way."""

import os
import time
from pathlib import Path

from ipclab.backends.interface import INTO, Backend, Place
from ipclab.backends.stream import StreamChannel
from ipclab.backends.waiting import WAITS, Peer

POLL_SECONDS = 0.0005


class Pipes:
    """The two named pipes of a launch: `request` is read by the end that made them, `answer` by the other."""

    def __init__(self, place: Place, create: bool) -> None:
        """Make both pipes, or find them, and open the one that this end reads."""
        paths = [place.path("request"), place.path("answer")]
        self.made: list[Path] = []
        for path in paths if create else []:
            os.mkfifo(path, 0o600)
            self.made.append(path)
        inward, self.outward = paths if create else paths[::-1]
        self.reading = os.open(inward, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def open_writing(self, timeout_ns: int) -> int:
        """Open the other one, which the kernel allows once its reader is there (fifo(7))."""
        end = time.monotonic_ns() + timeout_ns
        while True:
            try:
                return os.open(self.outward, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError as error:
                if time.monotonic_ns() >= end:
                    raise TimeoutError("the other end did not connect in time") from error
                time.sleep(POLL_SECONDS)

    def unlink(self) -> None:
        """Remove the names that were made here."""
        for path in self.made:
            path.unlink(missing_ok=True)


class PipeChannel(StreamChannel):
    """A pipe each way."""

    def __init__(self, place: Place, create: bool) -> None:
        """Make or find the pipes."""
        super().__init__(place, create)
        self.pipes = Pipes(place, create)
        self.reading = self.pipes.reading

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Open the way out once the other end reads from it."""
        self.adopt(self.reading, self.pipes.open_writing(timeout_ns))

    def close(self) -> None:
        """Close both pipes and remove them where they were made."""
        super().close()
        self.pipes.unlink()


backend = Backend("pipe", channel=PipeChannel, waits=WAITS, receives=INTO, limit="echo-pipe", look=("#CC79A7", "o"))
