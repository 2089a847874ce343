"""Backends in Python that do one thing wrong, each told by `ipclab conform`."""

from ipclab.backends.interface import Backend, Data
from ipclab.backends.sockets import _UnixChannel as Right


class Cut(Right):
    def recv(self, timeout_ns: int) -> bytes:
        data: bytes = super().recv(timeout_ns)
        return data[:-1] if len(data) == 4097 else data


class Hasty(Right):
    def recv(self, timeout_ns: int) -> bytes:
        data: bytes = super().recv(min(timeout_ns, 10_000_000))
        return data


class Endless(Right):
    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) <= self.capacity:
            super().send(data, timeout_ns)


class Quiet(Right):
    def recv(self, timeout_ns: int) -> bytes:
        try:
            data: bytes = super().recv(timeout_ns)
        except BrokenPipeError as error:
            raise TimeoutError from error
        return data


cut, hasty, endless, quiet = (
    Backend(kind.__name__.lower(), channel=kind) for kind in (Cut, Hasty, Endless, Quiet)
)
