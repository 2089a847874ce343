"""The first round trips of two processes, by time since both were there: before warm turns."""

from itertools import pairwise
from time import perf_counter_ns as clock

import numpy as np

from ipclab.backends.interface import Channel
from ipclab.spawn.loops import keep
from ipclab.spawn.worker import Worker, zeros
from ipclab.studies.joining import WAIT_NS

SINCE = "since-start"  # an op for each part of the time: this and its begin in ms
BEGINS_MS = (0, 10, 20, 30, 40, 60, 80, 120, 160)
END_MS = 200
MOST = 200_000  # round trips, more than the quickest makes in that time


def stop(content: bytes) -> bytes:
    """Return the message that follows the last of `content`: as long, and no byte the same."""
    return bytes(255 - byte for byte in content)


def echo(channel: Channel, content: bytes) -> None:
    """Send back what comes, the message that follows the last one of `content` as well."""
    last, data = stop(content), b""
    while data != last:
        data = channel.recv(WAIT_NS)
        channel.send(data, WAIT_NS)


def ask(worker: Worker, channel: Channel, content: bytes) -> None:
    """Make round trips for `END_MS`; keep each by the part of that time that it lasts for."""
    stamps, count = zeros(MOST + 1), 0
    stamps[0] = clock()
    end_ns = stamps[0] + END_MS * 1_000_000
    while stamps[count] < end_ns and count < MOST:
        channel.send(content, WAIT_NS)
        channel.recv(WAIT_NS)
        count += 1
        stamps[count] = clock()
    channel.send(stop(content), WAIT_NS)
    channel.recv(WAIT_NS)
    clocks = np.frombuffer(stamps, np.int64)[: count + 1]
    times, since_ms = np.diff(clocks), (clocks - clocks[0]) / 1e6
    for begin_ms, end_ms in pairwise((*BEGINS_MS, END_MS)):
        inside = (since_ms[:-1] < end_ms) & (since_ms[1:] > begin_ms)
        keep(worker, f"{SINCE}.{begin_ms}", times[inside])
