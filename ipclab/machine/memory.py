"""Facts about memory: how much, in which pages, and how they are mapped."""

from ipclab.machine.parse import chosen, fields, size
from ipclab.machine.registry import Group
from ipclab.machine.source import Source

GROUP = Group("memory", "Memory")
THP = "/sys/kernel/mm/transparent_hugepage"


def _meminfo(source: Source, key: str) -> str:
    return source.once("meminfo fields", lambda: fields(source.text("/proc/meminfo")))[key]


def installed(total: int) -> int:
    """Return `total` bytes rounded up to the next quarter of a power of two, as memory is sold.

    MemTotal is what firmware and kernel leave, typically 1 to 6 % below the modules, and moves by some MiB
    between boots. With steps of a sixteenth, 16 GiB that show as 15.5 would sit on an edge; here an edge is
    an eighth or more below every size sold.
    """
    step = max(1, (1 << max(total - 1, 0).bit_length()) >> 3)
    return -(-total // step) * step


@GROUP.fact("Memory, as installed", int, unit="bytes", identifies=True)
def _memory_installed(source: Source) -> int:
    return installed(size(_meminfo(source, "MemTotal")))


def _amount(name: str, label: str, key: str) -> None:
    GROUP.add(name, label, int, lambda source: size(_meminfo(source, key)), unit="bytes")


_amount("memory_total", "Memory the kernel manages", "MemTotal")
_amount("memory_available", "Memory available", "MemAvailable")
_amount("memory_shared", "Memory in shared segments and memory file systems", "Shmem")
_amount("swap_total", "Swap space", "SwapTotal")
_amount("swap_free", "Swap space free", "SwapFree")
_amount("hugepage_size", "Huge page", "Hugepagesize")
GROUP.add("hugepages_total", "Huge pages reserved", int, lambda s: int(_meminfo(s, "HugePages_Total")))
GROUP.add("hugepages_free", "Huge pages free", int, lambda s: int(_meminfo(s, "HugePages_Free")))
GROUP.add("page_size", "Page", int, lambda s: s.system.sysconf("SC_PAGE_SIZE"), unit="bytes", identifies=True)
GROUP.file("thp_enabled", "Transparent huge pages", f"{THP}/enabled", chosen, str)
GROUP.file("thp_defrag", "Transparent huge page defragmentation", f"{THP}/defrag", chosen, str)
GROUP.file("thp_shmem", "Transparent huge pages in shared memory", f"{THP}/shmem_enabled", chosen, str)
GROUP.file("thp_size", "Transparent huge page", f"{THP}/hpage_pmd_size", unit="bytes")
GROUP.file("fault_around", "Bytes mapped around a read fault", "/sys/kernel/debug/fault_around_bytes", unit="bytes")
GROUP.file("overcommit_mode", "Overcommit mode", "/proc/sys/vm/overcommit_memory")
GROUP.file("overcommit_ratio", "Overcommit ratio", "/proc/sys/vm/overcommit_ratio", unit="%")
GROUP.file("swappiness", "Swappiness", "/proc/sys/vm/swappiness")
GROUP.file("dirty_ratio", "Dirty page limit", "/proc/sys/vm/dirty_ratio", unit="%")
GROUP.file("zone_reclaim", "Reclaim within a memory node first", "/proc/sys/vm/zone_reclaim_mode")
GROUP.file("numa_balancing", "Automatic memory node balancing", "/proc/sys/kernel/numa_balancing")
GROUP.file("same_page_merging", "Same-page merging", "/sys/kernel/mm/ksm/run")
