"""Is there room for what is to be measured, in shared memory and on disk, and how long does it take?"""

import os
import shutil
from pathlib import Path

from ipclab.errors import LabError, blamed
from ipclab.machine.mounts import existing
from ipclab.session.request import Request
from ipclab.spawn import ledger
from ipclab.studies.profile import Profile, profile

SHARED_MEMORY_SLACK = 1 << 20
LARGE = 10_000_000_000  # bytes on disk that nobody is surprised with


def minutes_of(profile: Profile) -> str:
    """Return in how many minutes at most measuring under `profile` ends, in words."""
    return f"{(profile.seconds + profile.more_seconds) / 60:.0f} minutes"


def told_before(request: Request, files: Path) -> str:
    """Return what a request takes of time and disk, or "" where that is little."""
    need = sum(study.disk(points) for study, points in request.points())
    chosen = profile(request.profile)
    if need < LARGE and not chosen.as_texts:
        return ""
    place = existing(files)
    free = shutil.disk_usage(place).free
    long = f"takes up to {minutes_of(chosen)}"
    if chosen.as_texts:
        long = (
            "measures each experiment once, however long that takes, and again until"
            f" {minutes_of(chosen)} have passed"
        )
    lacks = "" if need < free else " What does not fit is left out."
    return (
        f"Profile {chosen.name} {long}; its files take {need / 1e9:.1f} GB on the disk of {place},"
        f" where {free / 1e9:.1f} GB are free, and are deleted afterwards.{lacks}"
    )


def check_shared_memory(largest: int) -> None:
    """Raise `LabError` before anything is measured when /dev/shm cannot hold `largest` bytes."""
    enlarge = "docker run --shm-size=1g; mount -o remount,size=1G /dev/shm"
    with blamed("no /dev/shm", "mount one: mount -t tmpfs tmpfs /dev/shm"):
        where = os.statvfs(ledger.SHARED_MEMORY)
    if where.f_flag & os.ST_RDONLY or not os.access(ledger.SHARED_MEMORY, os.W_OK):
        raise LabError(
            "/dev/shm cannot be written", "", "mount it for writing: mount -o remount,rw /dev/shm"
        )
    free = ledger.free_shared_memory()
    need = largest + SHARED_MEMORY_SLACK
    if free < need:
        why = f"{free:,} bytes are free and {need:,} are needed"
        fix = f"free some, enlarge it ({enlarge}) or give a smaller --size"
        raise LabError("no room in /dev/shm", why, fix)
