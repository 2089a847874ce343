"""What a process holds: descriptors and memory."""

from pathlib import Path

MEMORY = "proportional_bytes"


def held() -> dict[str, int]:
    """Return the descriptors that this process holds, and its proportional set size in bytes (proc(5), smaps_rollup).

    A page that n processes share counts as a part of n, so it is compared only while no process begins or ends.
    """
    return {"descriptors": len([*Path("/proc/self/fd").iterdir()]), MEMORY: memory("Pss")}


def memory(kind: str = "Rss") -> int:
    """Return this process's memory of `kind` in bytes: `Rss`, all that is resident, or another line of smaps_rollup."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:"))
