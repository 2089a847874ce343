"""The wire between a launch and its workers: torn messages and deadlines."""

import socket
import time
from array import array

import numpy as np
import pytest

from ipclab_measure.spawn.wire import LENGTH, Wire
from ipclab_measure.spawn.worker import Meeting, Outcome, Said


def test_the_wire_puts_torn_messages_together() -> None:
    middle, end = socket.socketpair()
    sent = Outcome(
        {"ops": array("q", [1, -2, 3]), "none": array("q")},
        facts={"text": "빛", "mean": np.float64(1.5)},
    )
    for message in (sent, Meeting({})):
        Wire(middle).send(message)
    middle.close()
    left, right = socket.socketpair()
    for byte in end.recv(1 << 16):  # the worst case: one byte a packet
        left.sendall(bytes([byte]))
    assert Wire(right).receive(Said) == sent
    assert Wire(right).receive(Said) == Meeting({})
    left.close()
    with pytest.raises(EOFError):
        Wire(right).receive(Said)


def test_the_wire_keeps_its_deadline_in_the_midst_of_a_message() -> None:
    left, right = socket.socketpair()
    left.sendall(LENGTH.pack(800) + bytes(80))
    for late in (0.05, -1):
        with pytest.raises(TimeoutError):
            Wire(right).receive(Said, time.monotonic() + late)
