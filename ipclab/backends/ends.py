"""What the ends of channels and stores have in common, whatever the mechanism: made by one side, found by the other."""

from typing import ClassVar, Self

from ipclab.backends.interface import Address, Place, StorePlace
from ipclab.backends.waiting import Peer


class ChannelEnd:
    """One end of a channel: `__init__` makes or finds what the mechanism needs, `accept` joins the other end."""

    def __init__(self, place: Place, create: bool) -> None:
        """Be the end that listens (`create`), or the other one."""
        self.address: Address = {}
        self.place, self.create = place, create
        self.capacity, self.strategy = place.capacity, place.wait
        self.peer: Peer | None = None

    @classmethod
    def listen(cls, place: Place) -> Self:
        """Make what the mechanism needs."""
        return cls(place, True)

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Note whose end to look at while waiting: the first message says that it is there."""
        self.peer = peer

    @classmethod
    def connect(cls, place: Place, address: Address, peer: Peer, timeout_ns: int) -> Self:
        """Find what was made, and join."""
        channel = cls(place, False)
        channel.address = address
        channel.accept(peer, timeout_ns)
        return channel


def too_long(size: int, capacity: int) -> ValueError:
    """Return the error of a message of `size` bytes."""
    return ValueError(f"{size} bytes are above the capacity of {capacity}")


def closed() -> BrokenPipeError:
    """Return the error of a peer that is gone."""
    return BrokenPipeError("the process at the other end has closed it")


class StoreEnd:
    """One end of a store; as it stands, what is written stays for readers that come later."""

    keeps: ClassVar[bool] = True
    fans_out: ClassVar[bool] = True

    def __init__(self, place: StorePlace, create: bool) -> None:
        """Be the writer's end (`create`), or a reader's."""
        self.address: Address = {}
        self.place, self.writer = place, create

    @classmethod
    def create(cls, place: StorePlace) -> Self:
        """Be the writer's end."""
        return cls(place, True)

    def accept(self, timeout_ns: int) -> None:
        """Return at once: nobody has to be there for a write."""

    @classmethod
    def attach(cls, place: StorePlace, address: Address, timeout_ns: int) -> Self:
        """Be a reader's end."""
        return cls(place, False)
