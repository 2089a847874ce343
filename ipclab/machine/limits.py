"""Facts about what this process may use: descriptors, memory, queues, its control groups' share."""

import resource

from ipclab.machine import cgroup
from ipclab.machine.registry import Group
from ipclab.machine.source import AbsentError, Source

GROUP = Group("limits", "Limits")
LARGEST = 2**63 - 1  # a limit above it is none, and fits no column of a table


def _bounded(text: str) -> int:
    if int(text) > LARGEST:
        raise AbsentError("unlimited")
    return int(text)


def _limit(name: str, label: str, kind: int, hard: bool = False, unit: str = "") -> None:
    def read(source: Source) -> int:
        value = source.system.limit(kind)[hard]
        if value == resource.RLIM_INFINITY:
            raise AbsentError("unlimited")
        return value

    GROUP.add(name, label, int, read, unit=unit)


_limit("open_files_soft", "Open files, soft limit", resource.RLIMIT_NOFILE)
_limit("open_files_hard", "Open files, hard limit", resource.RLIMIT_NOFILE, hard=True)
_limit("locked_memory", "Locked memory, soft limit", resource.RLIMIT_MEMLOCK, unit="bytes")
_limit("file_size", "File size, soft limit", resource.RLIMIT_FSIZE, unit="bytes")
_limit("processes_limit", "Processes of this user, soft limit", resource.RLIMIT_NPROC)
_limit("realtime_priority", "Real-time priority, soft limit", resource.RLIMIT_RTPRIO)
GROUP.file("threads_max", "Threads, system-wide", "/proc/sys/kernel/threads-max")
GROUP.file("pid_max", "Largest process number", "/proc/sys/kernel/pid_max")
GROUP.file("file_max", "Open files, system-wide", "/proc/sys/fs/file-max")
GROUP.file("map_count_max", "Mappings of a process", "/proc/sys/vm/max_map_count")
GROUP.file("pipe_size_max", "Largest pipe buffer", "/proc/sys/fs/pipe-max-size", unit="bytes")
GROUP.file("pipe_pages_soft", "Pipe pages of a user, soft limit", "/proc/sys/fs/pipe-user-pages-soft")
GROUP.file("shm_segment_max", "Largest shared memory segment", "/proc/sys/kernel/shmmax", _bounded, unit="bytes")
GROUP.file("shm_segments_max", "Shared memory segments", "/proc/sys/kernel/shmmni")
GROUP.file(
    "semaphores",
    "Semaphore limits",
    "/proc/sys/kernel/sem",
    lambda text: [int(word) for word in text.split()],
    list,
)
GROUP.file("message_max", "Largest queued message", "/proc/sys/fs/mqueue/msgsize_max", unit="bytes")
GROUP.file("message_queue_max", "Messages in a queue", "/proc/sys/fs/mqueue/msg_max")
GROUP.file("aio_max", "Asynchronous requests, system-wide", "/proc/sys/fs/aio-max-nr")


@GROUP.fact("Asynchronous rings allowed", bool)
def _io_uring(source: Source) -> bool:
    """Tell whether io_uring may be used; older kernels have it without the switch, and tell nothing."""
    switch = source.text("/proc/sys/kernel/io_uring_disabled").strip()
    return switch == "0" or (switch == "1" and source.system.superuser())


GROUP.add("cpu_quota", "CPU time of this group, in CPUs", float, cgroup.cpu_quota)
GROUP.add("memory_limit", "Memory limit of this group", int, cgroup.memory_limit, unit="bytes")
