"""What every registered backend with a channel must do, over real processes: add a backend, and it
is tested here.
"""

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
import zmq

from ipclab.backends import memfd
from ipclab.backends.installed import backends, ready
from ipclab.backends.interface import Backend, Channel, PeerAddress, Place
from ipclab.backends.stream import StreamChannel
from ipclab.backends.waiting import Peer, start_ticks
from ipclab.session.request import Request
from ipclab.spawn.failures import LaunchError
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.ledger import Session
from ipclab.spawn.owned import KINDS
from ipclab.spawn.proof import digest
from ipclab.spawn.rank_bench import RankBench
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Outcome
from ipclab.store.point import Point
from tests.support.commands import files_of, names_of
from tests.support.measured import CPUS
from tests.support.payloads import payload

SIZES = (1, 0, 7, 4097, 65_537, 500_000, 100)
CHANNELS = [backend for backend in backends().values() if backend.channel]
EVERY = [(backend, wait) for backend in CHANNELS for wait in backend.waits]
WINDOWED = ("posix-shm", "shm-eventfd", "shm-futex", "shm-ring", "unix")  # spin, then sleep
EVERY += [(backends()[name], "20000") for name in WINDOWED]
WAITS = [pytest.param(backend, wait, id=f"{backend.name}-{wait}") for backend, wait in EVERY]
VICTIMS = ("server", "client")
# Either end dies with the usual wait, the server with every other one, too, which `make test-all`
# tries; ranks die together.
DEATHS = [
    pytest.param(
        backend,
        wait,
        victim,
        id=f"{backend.name}-{wait}-{victim}",
        marks=() if wait == backend.waits[0] else pytest.mark.matrix,
    )
    for backend, wait in EVERY
    for victim in VICTIMS
    if not backend.ranks and (victim == "server" or wait == backend.waits[0])
]


def possible(backend: Backend) -> list[int]:
    """Return the lengths that the system lets a message of `backend` have, and the largest of all
    if it sets one.
    """
    most, _ = backend.longest() or (max(SIZES), "")
    return [size for size in SIZES if size <= most] + [most] * (most < max(SIZES))


def talk(launcher: Launcher, target: str, backend: Backend, **arguments: Any) -> dict[str, Outcome]:
    """Launch both ends of a channel of `backend`, or skip with the reason why it is not there."""
    if why := backend.missing():
        pytest.skip(why)
    every = {"backend": backend.name, **arguments}
    roles = [
        Role(name, f"tests.support.channel_targets:{target}", every, CPUS)
        for name in ("server", "client")
    ]
    return launch(launcher, backend, roles)


def launch(launcher: Launcher, backend: Backend, roles: list[Role]) -> dict[str, Outcome]:
    """Run `roles` where the ends of `backend` have to be: on ranks, or in any processes."""
    if not backend.ranks:
        return launcher.launch(roles, 60)
    with RankBench(launcher, len(roles)) as bench:
        return launch_alone(bench, Point("test", backend.name, 1, "free", {}), roles, 60)


@pytest.mark.parametrize(("backend", "wait"), WAITS)
def test_messages_of_every_length_come_whole_and_a_wait_without_one_ends_in_time(
    launcher: Launcher, backend: Backend, wait: str
) -> None:
    sizes = possible(backend)
    ends = talk(launcher, "echo", backend, wait=wait, sizes=sizes)
    expected = [digest(payload(1, sequence, size)) for sequence, size in enumerate(sizes)] * len(
        backend.receives
    )
    for end in ends.values():
        facts = dict(end.facts)
        assert facts.pop("seen") == expected
        assert facts == {
            "too_long": "ValueError",
            "left": [],
            "late": "TimeoutError",
            "waited": True,
        }


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "wait", "victim"), DEATHS)
def test_a_killed_peer_is_noticed_while_waiting_and_nothing_of_it_is_left(
    launcher: Launcher, backend: Backend, wait: str, victim: str
) -> None:
    ends = talk(launcher, "bereft", backend, wait=wait, victim=victim)
    survivor = ends["client" if victim == "server" else "server"]
    assert survivor.facts == {"first": "first", "error": "BrokenPipeError"}
    session = launcher.session
    assert names_of(session.id) == files_of(session.folder) == []
    assert queues_of(session, launcher.started) == []


def queues_of(session: Session, launch: int) -> list[str]:
    """Return the message queues that a launch has left, where no folder shows them."""
    place = Place(session.prefix(launch), session.folder, 1)
    tags = ("request", "answer")
    named = [("posix-queue", f"/{place.name(tag)}") for tag in tags]
    named += [("system-v-queue", str(place.key(tag))) for tag in tags]
    return [name for kind, name in named if KINDS[kind].exists(name)]


def test_shared_memory_that_the_peer_cuts_short_is_told(launcher: Launcher) -> None:
    told = (
        r"was killed by SIGBUS, as happens when /dev/shm is full \([\d,]+ bytes are .*"
        " or when another process cuts shared memory short that is mapped here"
    )
    with pytest.raises(LaunchError, match=told):
        talk(launcher, "cut", backends()["posix-shm"], wait="block")


def joined(name: str, folder: Path, capacity: int = 100) -> tuple[Any, Any]:
    """Return both ends of a channel of a backend, joined in this process."""
    if why := backends()[name].missing():
        pytest.skip(why)
    kind, place = backends()[name].channel, Place("test-1", str(folder), capacity)
    assert kind
    ends = [kind(place, create) for create in (True, False)]
    ends[1].address = ends[0].address
    threads = [threading.Thread(target=end.accept, args=(Peer.me(), 10**10)) for end in ends]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends[0], ends[1]


def test_a_sealed_message_stays_and_one_that_is_not_sealed_is_refused(tmp_path: Path) -> None:
    server, client = joined("memfd", tmp_path)
    client.send(b"first", 10**10)
    first = server.recv_view(10**10)
    client.send(b"other", 10**10)
    other = server.recv_view(10**10)
    # both in place, as long as they are held
    assert (bytes(first), bytes(other)) == (b"first", b"other")
    descriptor = memfd.sealed_file(b"sealed")
    with pytest.raises(PermissionError):
        os.write(descriptor, b"x")
    with pytest.raises(PermissionError):
        os.ftruncate(descriptor, 1)
    os.close(descriptor)
    loose = os.memfd_create("loose")
    client.send_note(b"message", 10**10, [loose])
    os.close(loose)
    with pytest.raises(ValueError, match="not sealed"):
        server.recv(10**10)
    client.close()
    with pytest.raises(BrokenPipeError):
        server.recv(10**10)
    server.close()


def test_a_grpc_round_trip_is_one_call_that_its_peer_can_refuse(tmp_path: Path) -> None:
    server, client = joined("grpc-unix", tmp_path)
    with pytest.raises(ValueError, match="takes a question"):
        client.recv(10**9)
    client.send(b"question", 10**9)
    echo = threading.Thread(target=lambda: server.send(server.recv(10**10) + b"?", 10**10))
    echo.start()
    assert client.recv(10**10) == b"question?"
    echo.join()
    client.send(b"nobody answers", 10**9)
    with pytest.raises(TimeoutError):
        client.recv(10**7)
    server.close()
    client.send(b"nobody is there", 10**9)
    with pytest.raises(BrokenPipeError):
        client.recv(10**10)
    client.close()


def test_what_lies_in_a_ring_is_received_after_its_sender_is_gone(tmp_path: Path) -> None:
    server, client = joined("shm-eventfd", tmp_path)
    numbers = range(server.places)
    for number in numbers:
        client.send(b"%d" % number, 10**9)
    with pytest.raises(TimeoutError):
        client.send(b"no room", 10**6)
    client.close()
    assert [server.recv(10**9) for _ in numbers] == [b"%d" % number for number in numbers]
    with pytest.raises(BrokenPipeError):
        server.recv(10**9)
    server.close()


def test_datagrams_that_are_lost_are_counted_and_strangers_are_not_heard(tmp_path: Path) -> None:
    """Nobody reads while more is sent than a socket's buffer holds."""
    server, client = joined("udp", tmp_path, 8_000)
    sent = 1_000
    for number in range(sent):
        client.send(b"%d" % number + bytes(7_000), 10**9)
    came = []
    with pytest.raises(TimeoutError):
        while True:
            came.append(int(server.recv(10**8).rstrip(b"\0")))
    assert came == sorted(set(came))
    assert 0 < len(came) < sent
    # The room that is free again takes one more: what was lost before it is known now.
    client.send(b"1000", 10**9)
    assert server.recv(10**10) == b"1000"
    assert server.lost == sent - len(came)
    with socket.socket(type=socket.SOCK_DGRAM) as stranger:
        stranger.sendto(server.token + bytes(8) + b"forged", server.sock.getsockname())
    with pytest.raises(TimeoutError):
        server.recv(10**7)
    for end in (client, server):
        end.close()


def test_a_message_whose_sender_is_gone_is_never_read_from_other_memory(tmp_path: Path) -> None:
    server, client = joined("process-vm", tmp_path)
    client.send(b"first", 10**9)
    assert server.recv(10**9) == b"first"
    client.send(b"second", 10**9)
    client.close()
    with pytest.raises(BrokenPipeError):
        server.recv(10**9)
    server.close()


def test_a_pipe_that_looks_readable_and_holds_nothing_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """poll(2) tells of a hang-up in the moment in which the writing end of a named pipe is opened."""
    tries, read, (there, here) = list[int](), os.readv, os.pipe()
    channel = StreamChannel(Place("test", "", 100), True)
    channel.adopt(there, here)
    channel.send(b"message", 10**9)

    def readv(descriptor: int, buffers: Any) -> int:
        tries.append(descriptor)
        if len(tries) == 1:
            raise BlockingIOError
        return read(descriptor, buffers)

    monkeypatch.setattr(os, "readv", readv)
    assert (channel.recv(10**9), len(tries)) == (b"message", 2)
    with pytest.raises(TimeoutError):
        channel.recv(10**6)
    for end in (there, here):
        os.close(end)


def measured(profile: str) -> set[str]:
    every = Request(("round_trip", "stream"), profile).points()
    return {point.backend for _, points in every for point in points}


def test_a_quick_run_leaves_out_what_is_not_brief() -> None:
    left_out = {
        name for name, backend in ready(lambda each: each.channel).items() if not backend.brief
    }
    assert {"memfd", "shm-eventfd"} <= left_out <= measured("standard")
    assert not left_out & measured("quick")


def test_zeromq_over_tcp_answers_nobody_else(tmp_path: Path) -> None:
    """Strangers without a secret, with a wrong one and with garbage, before and after the one who
    knows it.
    """
    place, me = Place("ipclab-1-2-aa-1", str(tmp_path), 100), Peer.me()
    kind = backends()["zmq-tcp"].channel
    assert kind
    server = kind(place, True)
    endpoint = f"tcp://127.0.0.1:{server.address['port']}"
    context = zmq.Context()

    def stranger(**options: bytes) -> "zmq.Socket[bytes]":
        sock = context.socket(zmq.REQ)
        for name, value in options.items():
            setattr(sock, name, value)
        sock.connect(endpoint)
        sock.send(b"stranger")
        return sock

    wrong = {"plain_username": b"ipclab", "plain_password": b"guess"}
    strangers = [stranger(), stranger(**wrong)]

    def end(address: PeerAddress) -> Channel:
        channel = kind(place, False)
        channel.address = address
        channel.accept(me, 10**9)
        return channel

    try:
        end({**server.address, "secret": "none"}).close()
        with socket.create_connection(("127.0.0.1", int(server.address["port"]))) as garbage:
            garbage.sendall(bytes(4096))
            with pytest.raises(TimeoutError):
                server.accept(me, 100_000_000)
            client = end(server.address)
            server.accept(me, 10**10)
        strangers += [stranger(), stranger(**wrong)]
        for number in range(8):
            client.send(b"%d" % number, 10**9)
            assert server.recv(10**10) == b"%d" % number
            server.send(b"answer", 10**9)
            assert client.recv(10**10) == b"answer"
        with pytest.raises(TimeoutError):
            server.recv(100_000_000)
        assert [sock.poll(0) for sock in strangers] == [0] * 4
        client.close()
    finally:
        server.close()
        context.destroy(linger=0)


def test_the_dead_and_the_absent_have_no_start_time() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{child}").exists()  # a zombie
    assert start_ticks(child) is None
    os.waitpid(child, 0)
    assert start_ticks(child) is None
