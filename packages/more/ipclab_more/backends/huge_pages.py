"""Shared memory in huge pages: reserved ones, and those that the kernel makes of a file's pages.

Either end refuses memory of which smaps (proc(5)) does not show every byte in a huge page.
"""

import ctypes
import mmap
import os
import re
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from ipclab.backends.calls import memfd_missing
from ipclab.backends.interface import Backend
from ipclab.backends.shm_mmap import MmapSegment
from ipclab.errors import LabError, blamed

NAME = "ipclab"  # what /proc calls a file in memory
MEMINFO, SMAPS = Path("/proc/meminfo"), Path("/proc/self/smaps")
MADE = Path("/sys/kernel/mm/transparent_hugepage")
IN_HUGE = "ShmemPmdMapped", "Shared_Hugetlb", "Private_Hugetlb"  # of smaps
RESERVE = "sysctl vm.nr_hugepages=64 reserves some"
ALLOW = f"Linux 6.1 does, after: echo advise > {MADE}/shmem_enabled"
COLLAPSE = 25  # MADV_COLLAPSE: huge pages at once, whatever is set but `deny`
REMAP_TO = 3  # MREMAP_MAYMOVE | MREMAP_FIXED
KIB = 1024
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mremap.restype, _libc.mremap.argtypes = ctypes.c_void_p, (ctypes.c_size_t,) * 5


class NotHugeError(LabError, OSError):
    """Memory does not lie in huge pages."""


def _number(text: str, name: str) -> int:
    """Return the number of the first line `name` of a text; 0 without one."""
    found = re.search(rf"^{name}: +(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0


def _address(region: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(region))


def huge_bytes(address: int) -> int:
    """Return how many bytes of the mapping that begins at `address` lie in huge pages."""
    _, _, ours = SMAPS.read_text().partition(f"\n{address:08x}-")
    return KIB * sum(_number(ours, name) for name in IN_HUGE)


def collapsed(plain: mmap.mmap, page: int) -> tuple[mmap.mmap, int]:
    """Move a shared mapping to where a huge page begins, and have huge pages made of its own.

    Returns a mapping with the place in it where the other one is now. Raises `NotHugeError`.
    """
    whole = len(plain)
    room = mmap.mmap(-1, whole + page, flags=mmap.MAP_PRIVATE)
    start = -_address(room) % page
    place = _address(room) + start
    with blamed("the kernel makes no huge pages of shared memory", ALLOW, NotHugeError):
        # a length of 0: the pages are mapped there as well (mremap(2))
        if _libc.mremap(_address(plain), 0, whole, REMAP_TO, place) != place:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        plain.close()
        room.madvise(COLLAPSE, start, whole)
    return room, start


class _HugeSegment(MmapSegment):
    """A segment of whole huge pages, all of them there."""

    def __init__(self, name: str, size: int, create: bool) -> None:
        page = self.page()
        self.whole = -(-size // page) * page
        with ExitStack() as opened:
            self.held = opened
            super().__init__(name, self.whole, create)
            opened.callback(super().close)
            try:
                self._lie_in_huge(page, size)
            except NotHugeError:
                if create:
                    self.unlink()
                raise
            self.held = opened.pop_all()

    def _lie_in_huge(self, page: int, size: int) -> None:
        """Have every page a huge one, and give the first `size` bytes of them as the buffer."""
        start = self.placed(page)
        self.buffer = memoryview(self.map)[start : start + size]
        bytes(self.buffer[::page])  # a page that nobody touched is not counted
        huge = huge_bytes(_address(self.map) + start)
        if huge != self.whole:
            what = f"{huge} of {self.whole} bytes are in huge pages"
            raise NotHugeError(what, "smaps tells so", "free memory, and start again")
        self.facts = {"huge_bytes": huge}

    @staticmethod
    def page() -> int:
        """Return the bytes of a huge page."""
        raise NotImplementedError

    def placed(self, page: int) -> int:
        """Return where in `map` the segment begins, which is where a huge page does."""
        return 0

    def close(self) -> None:
        """Unmap, and give back what has no name; closing twice does nothing."""
        self.held.close()


class ReservedSegment(_HugeSegment):
    """A file in memory, of reserved pages; one in /dev/shm says where /proc has it."""

    @staticmethod
    def page() -> int:
        return KIB * _number(MEMINFO.read_text(), "Hugepagesize")

    def open(self, create: bool) -> int:
        if create:
            with blamed("there are too few huge pages", RESERVE, NotHugeError):
                memory = os.memfd_create(NAME, os.MFD_CLOEXEC | os.MFD_HUGETLB)
                self.held.callback(os.close, memory)
                os.posix_fallocate(memory, 0, self.whole)
        with os.fdopen(super().open(create), "r+") as note:
            if not create:
                return os.open(note.read(), os.O_RDWR | os.O_CLOEXEC)
            note.write(f"/proc/{os.getpid()}/fd/{memory}")
        return os.dup(memory)


class MadeSegment(_HugeSegment):
    """A file in /dev/shm, of which the kernel makes huge pages."""

    @staticmethod
    def page() -> int:
        return int((MADE / "hpage_pmd_size").read_text())

    def placed(self, page: int) -> int:
        self.buffer.release()
        self.map, start = collapsed(self.map, page)
        return start


def none_reserved() -> str | None:
    """Return why there is no reserved huge page, and the fix, or None."""
    free = _number(MEMINFO.read_text(), "HugePages_Free")
    return memfd_missing() if free else f"no huge page is free; {RESERVE}"


@cache
def none_made() -> str | None:
    """Return why the kernel makes no huge page of shared memory, and the fix, or None."""
    if not MADE.exists():
        return "the kernel has no transparent huge pages; boot one that has"
    page = MadeSegment.page()
    try:
        probe = mmap.mmap(-1, page)
        probe.write(bytes(page))  # what is not there yet is not made huge
        collapsed(probe, page)
    except NotHugeError as error:
        return str(error)
    return None


reserved = Backend(
    "shm-hugetlb", ReservedSegment, missing=none_reserved, look=("#0072B2", "D"), brief=False
)
made = Backend("shm-thp", MadeSegment, missing=none_made, look=("#0072B2", "v"), brief=False)
