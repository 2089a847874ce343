"""The wire between a launch and its workers: torn messages and deadlines."""

import socket
import threading
import time
from array import array

import numpy as np
import pytest

from ipclab.spawn.wire import LENGTH, Wire
from ipclab.spawn.worker import Meeting, Outcome, Said


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


def test_whether_an_end_is_gone_is_told_without_waiting() -> None:
    ours, theirs = socket.socketpair()
    wire = Wire(ours)
    with pytest.raises(TimeoutError):
        wire.receive(Meeting, time.monotonic() + 0.01)
    ours.settimeout(60)  # as after a wait with a late deadline
    asked: list[bool] = []
    thread = threading.Thread(target=lambda: asked.append(wire.ended()), daemon=True)
    thread.start()
    thread.join(60)
    assert asked == [False]
    theirs.close()
    assert wire.ended()
