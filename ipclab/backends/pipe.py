"""Two named pipes in the session's private folder, one each way."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from ipclab.backends.interface import Address, Backend, Place
from ipclab.backends.stream import RECEIVES, WAITS, StreamChannel, until
from ipclab.backends.waiting import Peer


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
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor: int = until(lambda: os.open(self.outward, flags), timeout_ns, (OSError,))
        return descriptor

    def unlink(self) -> None:
        """Remove the names that were made here."""
        for path in self.made:
            with suppress(FileNotFoundError):
                path.unlink()


class PipeChannel(StreamChannel):
    """A pipe each way."""

    def __init__(self, place: Place, create: bool) -> None:
        """Make or find the pipes."""
        super().__init__(place)
        self.pipes = Pipes(place, create)
        self.reading = self.pipes.reading

    @classmethod
    def listen(cls, place: Place) -> Self:
        """Make both pipes."""
        return cls(place, True)

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Open the way out once the other end reads from it."""
        self.adopt(self.reading, self.pipes.open_writing(timeout_ns))

    @classmethod
    def connect(cls, place: Place, address: Address, peer: Peer, timeout_ns: int) -> Self:
        """Open both pipes."""
        channel = cls(place, False)
        channel.accept(peer, timeout_ns)
        return channel

    def close(self) -> None:
        """Close both pipes and remove them where they were made."""
        super().close()
        self.pipes.unlink()


backend = Backend("pipe", channel=PipeChannel, waits=WAITS, receives=RECEIVES, limit="echo-pipe", look=("#CC79A7", "o"))
