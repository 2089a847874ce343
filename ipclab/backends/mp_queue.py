"""`multiprocessing.Queue` each way: its own code with its pickling, its locks and its feeder thread.

A `Queue` is inherited or given to a child; two workers that are nobody's child to the other join theirs by named pipes
instead of an unnamed one. What is unpickled comes from a pipe in the session's private folder, which no other user can
write to. One thing is cheaper than usual and without weight: the locks have one process each.
"""

import multiprocessing
import os
import select
from multiprocessing import process
from multiprocessing.connection import Connection
from multiprocessing.queues import Queue
from typing import Any

from ipclab.backends.ends import ChannelEnd, closed, too_long
from ipclab.backends.interface import Backend, Data, Place
from ipclab.backends.pipe import Pipes
from ipclab.backends.waiting import BLOCK, Peer, wait


def queue(place: Place, reading: int | None, writing: int | None) -> "Queue[bytes]":
    """Return a `Queue` whose pipe has the descriptors given; the end that this process lacks is /dev/null."""
    # Semaphores lose their name as soon as they are made; were we killed in between, it must be known as ours.
    vars(process.current_process())["_config"]["semprefix"] = f"/{place.prefix}"
    made: Any = multiprocessing.get_context("fork").Queue()
    made._reader.close()
    made._writer.close()
    ends = [os.open(os.devnull, os.O_RDWR) if end is None else end for end in (reading, writing)]
    made._reader, made._writer = (Connection(end) for end in ends)
    for end in ends:
        os.set_blocking(end, True)
    if writing is None:  # taking gives back what the peer's `put` took, which is another process's semaphore here
        made._sem = multiprocessing.get_context("fork").Semaphore(0)
    made._ignore_epipe = True  # the feeder is silent about a dead peer: `recv` notices
    made._reset()
    result: Queue[bytes] = made
    return result


class MpQueueChannel(ChannelEnd):
    """A queue each way."""

    incoming: "Queue[bytes] | None" = None
    fed = False

    def __init__(self, place: Place, create: bool) -> None:
        """Make or find the pipes."""
        super().__init__(place, create)
        self.pipes = Pipes(place, create)

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Make both queues once the other end has opened its pipes."""
        writing = self.pipes.open_writing(timeout_ns)
        self.outgoing = queue(self.place, None, writing)
        self.incoming = queue(self.place, self.pipes.reading, None)
        self.poller = select.poll()
        self.poller.register(self.pipes.reading, select.POLLIN)

    def send(self, data: Data, timeout_ns: int) -> None:
        """Put `data`: the feeder thread pickles and writes it."""
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        self.fed = True
        self.outgoing.put(data if isinstance(data, bytes) else bytes(data))

    def recv(self, timeout_ns: int) -> bytes:
        """Wait for a message, then get it."""
        if self.incoming is None:
            raise ValueError("the channel is not connected")
        poll = self.poller.poll
        wait(BLOCK, lambda: False, lambda left_ns: poll(left_ns / 1e6), timeout_ns)
        try:
            return self.incoming.get()
        except (EOFError, OSError) as error:
            raise closed() from error

    def close(self) -> None:
        """Close both queues and remove the pipes where they were made."""
        self.pipes.unlink()
        if self.incoming is None:
            return
        for each, fed in ((self.outgoing, self.fed), (self.incoming, False)):
            each.close()
            if not fed:  # else the feeder closes them when it has written all
                for end in (vars(each)["_reader"], vars(each)["_writer"]):
                    end.close()
        self.incoming = None


backend = Backend("mp-queue", channel=MpQueueChannel, limit="echo-pipe", look=("#8A6B00", "s"))
