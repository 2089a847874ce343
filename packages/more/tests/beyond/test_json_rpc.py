"""What JSON-RPC lines are on the wire: requests with numbers, their answers, notifications."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ipclab.backends.interface import Place
from ipclab.backends.waiting import Peer
from ipclab_more.backends.json_rpc import backend

WAIT_NS = 10_000_000_000


@pytest.fixture
def ends(tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    """Both ends of a channel for 100 bytes, in one process."""
    assert backend.channel
    place = Place("test-1", str(tmp_path), 100)
    server, client = (backend.channel(place, create) for create in (True, False))
    joining = threading.Thread(target=server.accept, args=(Peer.me(), WAIT_NS))
    joining.start()
    client.accept(Peer.me(), WAIT_NS)
    joining.join()
    yield server, client
    client.close()
    server.close()


def read(descriptor: int) -> dict[str, Any]:
    """Return the line that lies in a pipe."""
    line = os.read(descriptor, 1 << 16)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_request_has_a_number_and_its_answer_the_same(ends: tuple[Any, Any]) -> None:
    server, client = ends
    for number in (1, 2):
        client.send(b"ask\n", WAIT_NS)
        assert server.recv(WAIT_NS) == b"ask\n"
        server.send(b"answer", WAIT_NS)
        assert read(client.reading) == {"jsonrpc": "2.0", "id": number, "result": "YW5zd2Vy"}


def test_what_nobody_asked_for_is_a_notification(ends: tuple[Any, Any]) -> None:
    server, client = ends
    server.send(b"news", WAIT_NS)
    assert read(client.reading) == {"jsonrpc": "2.0", "method": "hand-over", "params": ["bmV3cw=="]}


def test_a_line_without_an_end_is_refused(ends: tuple[Any, Any]) -> None:
    server, client = ends
    os.write(client.writing, b"x" * (server.longest + 1))
    with pytest.raises(ValueError, match="above the capacity of 100"):
        server.recv(WAIT_NS)
