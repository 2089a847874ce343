"""Our own shared memory channels, in native code: a slot or a ring each way, spun or futex."""

import os
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, ClassVar

from ipclab.backends.interface import INTO, Backend, Channel, Data, Place, variant
from ipclab.backends.shm_mmap import MmapSegment
from ipclab.backends.waiting import BLOCK, SPIN, SPIN_THEN_BLOCK
from ipclab.paths import SHIPPED


def native_missing() -> str | None:
    """Return why native code is missing here, with the fix; None when it is not."""
    fix = "install Rust, then: make setup" + (" in a checkout" if SHIPPED.is_dir() else "")
    return None if find_spec("ipclab_native") else f"the native package is not there; {fix}"


class _NativeChannel(Channel):
    """A segment in /dev/shm and the native code's two slots in it; its methods are the native ones.

    `kind` is the native class: with `RingChannel` it is two rings, many messages are on their way,
    and many of one size are sent or received by one call.
    """

    kind: ClassVar = "Channel"
    send: Callable[[Data, int], None]
    recv: Callable[[int], bytes]

    def __init__(self, place: Place, create: bool) -> None:
        import ipclab_native

        super().__init__(place, create)
        kind: Any = getattr(ipclab_native, self.kind)
        segment = MmapSegment(place.name("channel"), kind.segment_size(place.capacity), create)
        if create:
            self.held.callback(segment.unlink)
        segment.close()  # the native code maps it itself
        descriptor = segment.open(False)
        try:
            with self.whole():
                native: Any = kind(descriptor, place.capacity, 0 if create else 1, place.wait)
        finally:
            os.close(descriptor)
        self.held.callback(native.close)
        for name in ("send", "recv", "recv_into", "send_many", "recv_many"):
            if hasattr(native, name):
                setattr(self, name, getattr(native, name))


futex = Backend(
    "shm-futex",
    channel=_NativeChannel,
    waits=(BLOCK, SPIN_THEN_BLOCK),
    receives=INTO,
    missing=native_missing,
    limit="shm-futex",
    look=("#0072B2", "v"),
)
spin = replace(futex, name="shm-spin", waits=(SPIN,), limit="shm-spin", look=("#000000", "o"))
ring = replace(
    futex,
    name="shm-ring",
    channel=variant(_NativeChannel, kind="RingChannel"),
    waits=(SPIN_THEN_BLOCK, BLOCK),
    look=("#882255", "s"),
)
