"""A busy loopback: nobody's bytes but the peer's are taken, and nobody keeps the peer waiting."""

import os
import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from ipclab.backends.installed import backends
from ipclab.backends.interface import Place
from ipclab.backends.sockets import MOST_WAITING, TOKEN_BYTES
from ipclab.backends.waiting import Peer
from ipclab.spawn.ledger import SHARED_MEMORY
from tests.support.strangers import knock

WAIT_NS = 4 * 10**9


@pytest.mark.parametrize("name", ["tcp", "zmq-tcp"])
def test_strangers_neither_hold_the_wait_nor_are_heard(name: str, tmp_path: Path) -> None:
    """More of them than may wait, silent or with half a token, or who say nonsense, hang up or
    reset; the peer comes last.
    """
    kind = backends()[name].channel
    assert kind
    place = Place("test-1", str(tmp_path), 100)
    server, client = kind(place, True), kind(place, False)
    client.address = server.address
    where = "127.0.0.1", int(server.address["port"])
    with ExitStack() as held:
        held.callback(server.close)
        held.callback(client.close)
        taking = threading.Thread(target=server.accept, args=(Peer.me(), WAIT_NS))
        taking.start()
        silent: list[socket.socket] = []

        def hang_up() -> None:
            for each in silent:
                each.close()

        held.callback(hang_up)
        for number in range(MOST_WAITING + 8):
            stranger = held.enter_context(socket.create_connection(where, 5))
            stranger.sendall(b"x" * (TOKEN_BYTES // 2) * (number % 2))
            knock(where[1], number, silent)
        client.accept(Peer.me(), WAIT_NS)
        taking.join()
        for text in (b"one", b"two"):
            client.send(text, WAIT_NS)
            assert server.recv(WAIT_NS) == text
            server.send(text * 2, WAIT_NS)
            assert client.recv(WAIT_NS) == text * 2


def test_a_part_of_the_token_tells_a_stranger_nothing(tmp_path: Path) -> None:
    """A right beginning and a wrong one are left alike, and neither is let in."""
    kind = backends()["tcp"].channel
    assert kind
    server = kind(Place("test-1", str(tmp_path), 100), True)
    token = bytes.fromhex(str(server.address["token"]))
    where = "127.0.0.1", int(server.address["port"])
    with ExitStack() as held:
        held.callback(server.close)
        for part in (token[:-1], bytes(TOKEN_BYTES - 1)):
            stranger = held.enter_context(socket.create_connection(where, 5))
            stranger.settimeout(5)
            stranger.sendall(part)
            with pytest.raises(TimeoutError):
                server.accept(Peer.me(), 50_000_000)
            assert stranger.recv(1) == b""


def test_no_file_of_iceoryx2_is_open_to_others(tmp_path: Path) -> None:
    """It makes one writable by all itself, which is replaced before the node is used."""
    if why := backends()["iceoryx2"].missing():
        pytest.skip(why)
    kind = backends()["iceoryx2"].channel
    assert kind
    place = Place(f"ipclab-{os.getpid()}-aa-1", str(tmp_path), 100)
    ends = [kind(place, create) for create in (True, False)]
    for end in ends:
        end.accept(Peer.me(), WAIT_NS)
    ends[1].send(b"ours", WAIT_NS)
    assert ends[0].recv(WAIT_NS) == b"ours"
    found = list(SHARED_MEMORY.glob(f"{place.prefix}-*"))
    assert [path.name for path in found if path.stat().st_mode & 0o077] == []
    (counters,) = (path for path in found if path.suffix == ".global_mgmt")
    assert counters.stat().st_mode & 0o777 == 0o600
    for end in ends:
        end.close()
    assert list(SHARED_MEMORY.glob(f"{place.prefix}-*")) == []
