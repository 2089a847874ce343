"""The first round trips of two processes, by time since both were there: before warm turns."""

from itertools import pairwise
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.backends.interface import Channel
from ipclab.spawn.answered import Proof
from ipclab.spawn.loops import keep
from ipclab.spawn.proof import recorded
from ipclab.spawn.worker import Worker, zeros
from ipclab.studies.joining import WAIT_NS

SINCE = "since-start"  # an op for each part of the time: this and its begin in ms
BEGINS_MS = (0, 10, 20, 30, 40, 60, 80, 120, 160)
END_MS = 200
BLOCK = 64  # round trips, one in eight of which is looked at whole
MOST = 200_000  # round trips, more than the quickest makes in that time


def echo_from_start(channel: Channel, proof: Proof) -> None:
    """Send back what comes, up to the message that comes twice.

    No other does: the numbers of two that follow one another differ, however short they are.
    """
    width, last = proof.messages.width, b""
    while True:
        for look in proof.plan(BLOCK):
            data = channel.recv(WAIT_NS)
            before, last = last, bytes(data[:width])
            channel.send(proof.answer(data, look), WAIT_NS)
            if last == before:
                return


def ask_from_start(worker: Worker, channel: Channel, proof: Proof) -> None:
    """Make round trips for `END_MS`; keep each by the part of that time that it lasts for."""
    begins, ends, plan, count = zeros(MOST), zeros(MOST), list[bool](), 0
    end_ns = clock() + END_MS * 1_000_000
    with proof.going():
        while not count or (ends[count - 1] < end_ns and count < MOST):
            plan += [] if count < len(plan) else proof.plan(BLOCK)
            asked = proof.next()
            begins[count] = clock()
            channel.send(asked, WAIT_NS)
            answer = proof.arrive(channel.recv(WAIT_NS))
            ends[count] = clock()
            proof.check(answer, plan[count])
            count += 1
        channel.send(asked, WAIT_NS)  # once more, which ends the other end
        channel.recv(WAIT_NS)
    clocks = np.array([begins[:count], ends[:count]])
    _keep(worker, clocks, end_ns - END_MS * 1_000_000, recorded(plan[:count], 0))


def _keep(worker: Worker, clocks: Any, start_ns: int, recorded: Any) -> None:
    """Keep the round trips with `clocks` (rows of begins and ends, ns) by parts of the time.

    They are those that are `recorded`, where a part has any.
    """
    times, ended = clocks[1] - clocks[0], (clocks[1] - start_ns) / 1e6
    begun = np.concatenate([[0], ended[:-1]])  # what is between two belongs to the later one
    for begin_ms, end_ms in pairwise((*BEGINS_MS, END_MS)):
        inside = (begun < end_ms) & (ended > begin_ms)
        part = inside & recorded
        keep(worker, f"{SINCE}.{begin_ms}", times[part if part.any() else inside])
