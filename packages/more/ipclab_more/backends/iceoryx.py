"""iceoryx2: publish and subscribe each way over its shared memory, and an event each way.

The prefix of its names is the launch's, so that the session's ledger removes what a killed process
leaves in /dev/shm; its root is the session's folder, given through a descriptor, as the paths of
its Unix sockets would else be too long.
"""

import ctypes
import os
import time
from typing import Any, ClassVar

from ipclab.backends.interface import VIEW, Backend, Channel, Data, Place, too_long
from ipclab.backends.library import Library
from ipclab.backends.waiting import BLOCK, SPIN, WAITS, Peer, there, wait
from ipclab.spawn import names
from ipclab.spawn.ledger import SHARED_MEMORY

MICROSECOND = 1_000
ASK_SECONDS = 20e-6
INTERRUPTED = "InterruptSignal"  # as by SIGCONT: a wait of a stopped process ends when it goes on
iceoryx2 = Library("iceoryx2", "iceoryx2")


def _node_of(config: Any) -> Any:
    builder = iceoryx2.NodeBuilder.new().config(config)
    builder = builder.signal_handling_mode(iceoryx2.SignalHandlingMode.Disabled)
    return builder.create(iceoryx2.ServiceType.Ipc)


class _IceoryxChannel(Channel):
    """A publisher, a subscriber, a notifier and a listener, each of a service of its own."""

    depth: ClassVar = 1  # messages on their way

    def __init__(self, place: Place, create: bool) -> None:
        iceoryx2.set_log_level(iceoryx2.LogLevel.Fatal)  # what goes wrong is raised
        super().__init__(place, create)
        self.root = os.open(place.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.held.callback(os.close, self.root)
        self.node = self._node()
        self.held.callback(self._let_go)
        publisher = self._data(self.tag_out).publisher_builder()
        publisher = publisher.initial_max_slice_len(max(1, self.capacity))
        if self.depth > 1:  # the sender waits for room by itself
            discards = iceoryx2.BackpressureStrategy.DiscardData
            publisher = publisher.backpressure_strategy(discards)
        self.ports: dict[str, Any] = {
            "publisher": publisher.create(),
            "subscriber": self._data(self.tag_in).subscriber_builder().create(),
            "notifier": self._event(self.tag_out).notifier_builder().create(),
            "listener": self._event(self.tag_in).listener_builder().create(),
        }
        self.loan = self.ports["publisher"].loan_slice_uninit
        self.notify = self.ports["notifier"].notify if place.wait != SPIN else lambda: None
        self.sample: Any = None

    def _node(self) -> Any:
        config = iceoryx2.config.default()
        config.global_cfg.root_path = iceoryx2.Path.new(f"/proc/self/fd/{self.root}/")
        config.global_cfg.prefix = iceoryx2.FileName.new(self.place.name(""))
        config.global_cfg.node.cleanup_dead_nodes_on_creation = False
        config.global_cfg.node.cleanup_dead_nodes_on_destruction = False
        if self.create:
            _node_of(config)
            self._close_to_others()
        return _node_of(config)

    def _close_to_others(self) -> None:
        """Replace the file that a first node keeps beyond its end by one of this user alone.

        iceoryx2 makes it writable by all, whatever the umask is: who opened that has another one.
        """
        (path,) = SHARED_MEMORY.glob(f"{self.place.name('')}*.global_mgmt")
        content = path.read_bytes()
        path.unlink()
        with os.fdopen(names.make(path), "wb") as file:
            file.write(content)
        self.held.callback(path.unlink, missing_ok=True)

    def _data(self, tag: str) -> Any:
        service = self.node.service_builder(iceoryx2.ServiceName.new(tag))
        service = service.publish_subscribe(iceoryx2.Slice[ctypes.c_uint8])
        service = service.max_publishers(1).max_subscribers(1).max_nodes(2)
        service = service.subscriber_max_buffer_size(self.depth).enable_safe_overflow(False)
        return service.open_or_create()

    def _event(self, tag: str) -> Any:
        service = self.node.service_builder(iceoryx2.ServiceName.new(f"{tag}-event"))
        return service.event().open_or_create()

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Wait until the other end's subscriber is there: earlier messages would be lost."""
        self.peer, services = peer, [self._data("request"), self._data("answer")]

        def ready() -> bool:
            return all(service.dynamic_config.number_of_subscribers == 1 for service in services)

        there(ready, timeout_ns, peer)

    def send(self, data: Data, timeout_ns: int) -> None:
        self._offer(data)
        self.notify()

    def _offer(self, data: Data) -> int:
        """Publish `data` and return to how many it went."""
        size = len(data)
        if size > self.capacity:
            raise too_long(size, self.capacity)
        sample = self.loan(size)
        memoryview((ctypes.c_uint8 * size).from_address(sample.payload_ptr)).cast("B")[:] = data
        return int(sample.assume_init().send())

    def recv(self, timeout_ns: int) -> bytes:
        wait(self.strategy, self._ready, self._block, timeout_ns, self.peer)
        return self._copied()

    def _copied(self) -> bytes:
        data = ctypes.string_at(self.sample.payload_ptr, self.sample.payload().len())
        self._give_back()
        return data

    def recv_view(self, timeout_ns: int) -> memoryview:
        """Return the next sample where it lies; it is given back at the next receive."""
        self._give_back()
        wait(self.strategy, self._ready, self._block, timeout_ns, self.peer)
        view: memoryview = self.sample.payload().as_memory_view()
        return view.cast("B")

    def _ready(self) -> bool:
        self.sample = self.ports["subscriber"].receive()
        return self.sample is not None

    def _block(self, left_ns: int) -> bool:
        # A time of 0 would mean for ever: it becomes a socket's option (socket(7), SO_RCVTIMEO).
        wait_at_most = iceoryx2.Duration.from_nanos(max(MICROSECOND, left_ns))
        try:
            self.ports["listener"].timed_wait(wait_at_most)
        except iceoryx2.ListenerWaitError as error:
            if str(error) != INTERRUPTED:
                raise
        return self._ready()

    def _give_back(self) -> None:
        if self.sample is not None:
            self.sample.delete()
            self.sample = None

    def _let_go(self) -> None:
        self._give_back()
        for port in self.ports.values():
            port.delete()
        self.ports.clear()
        del self.loan, self.notify, self.node


class _IceoryxStream(_IceoryxChannel):
    """The same with a buffer of many messages.

    iceoryx2 tells nobody that there is room, so that a sender asks again; one event may stand for
    several messages.
    """

    depth = 64

    def send(self, data: Data, timeout_ns: int) -> None:
        def later(left_ns: int) -> bool:
            time.sleep(ASK_SECONDS)
            return bool(self._offer(data))

        if not self._offer(data):
            wait(BLOCK, lambda: bool(self._offer(data)), later, timeout_ns, self.peer)
        self.notify()

    def recv(self, timeout_ns: int) -> bytes:
        if not self._ready():
            wait(self.strategy, self._ready, self._block, timeout_ns, self.peer)
        return self._copied()


backend = Backend(
    "iceoryx2",
    channel=_IceoryxChannel,
    waits=WAITS,
    receives=VIEW,
    stream=_IceoryxStream,
    missing=iceoryx2.missing,
    limit="shm-futex",
    look=("#009E73", "P"),
)
