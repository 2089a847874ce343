"""Made-up machines below a temporary root: a server of 128 CPUs, and an ARM board."""

import resource
from collections.abc import Mapping
from pathlib import Path

from ipclab.machine import AbsentError, Source, System
from ipclab.paths import Paths

GIB = 2**30
HOST = "quartz-7f.example.org"


class Fake(System):
    """A system without this machine behind it."""

    def __init__(self, cpus: set[int], architecture: str = "x86_64") -> None:
        self.cpus, self.architecture = cpus, architecture

    def affinity(self) -> set[int]:
        return self.cpus

    def uname(self) -> tuple[str, str]:
        return HOST, self.architecture

    def sysconf(self, name: str) -> int:
        return {"SC_PAGE_SIZE": 4096, "SC_CLK_TCK": 100}[name]

    def limit(self, kind: int) -> tuple[int, int]:
        return 1024, resource.RLIM_INFINITY

    def space(self, path: str) -> tuple[int, int]:
        return 64 * GIB, 60 * GIB

    def writable(self, folder: str) -> bool:
        return True

    def package(self, name: str) -> str:
        raise AbsentError

    def run(self, *command: str, cwd: Path | None = None, seconds: float = 0) -> str:
        raise AbsentError("timed out")


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)


def made(
    root: Path, files: Mapping[str, str | bytes], cpus: set[int], architecture: str = "x86_64"
) -> Source:
    """Return a machine of these files, which are written below `root`, and CPUs."""
    write(root, files)
    return Source(root, Fake(cpus, architecture), Paths(root / "checkout"))


def cpu_files(
    cpu: int, core: str, package: str, caches: dict[int, tuple[str, str]]
) -> dict[str, str]:
    """Return the /sys files of one CPU; `caches`: level -> (size, CPUs)."""
    folder = f"/sys/devices/system/cpu/cpu{cpu}"
    files = {
        f"{folder}/topology/thread_siblings_list": f"{core}\n",
        f"{folder}/topology/core_siblings_list": f"{package}\n",
    }
    for index, (level, (bytes_, cpus)) in enumerate(caches.items()):
        told = {"level": level, "type": "Unified", "size": bytes_, "shared_cpu_list": cpus}
        told["coherency_line_size"] = "64"
        files |= {f"{folder}/cache/index{index}/{key}": f"{value}\n" for key, value in told.items()}
    return files


def server(root: Path) -> Source:
    """Make 2 sockets x 32 cores x 2 threads = 128 CPUs, an L3 for every 8 cores, SMT sibling of c:
    c + 64.
    """
    cpu = "/sys/devices/system/cpu"
    block = (
        "processor\t: {0}\nvendor_id\t: GenuineIntel\nmodel name\t: Example 8000 @ 2.00GHz\ncpu"
        " family\t: 6\nmodel\t\t: 143\nstepping\t: 8\nmicrocode\t: 0x2b\ncpu MHz\t\t:"
        " {1}\nbogomips\t: 4000.{0}\nflags\t\t: erms avx2\n\n"
    )
    stat = "cpu  100 0 50 900 0 0 5 7 0 0\n" + "".join(
        f"cpu{i} 1 0 0 9 0 0 0 0 0 0\n" for i in range(128)
    )
    files = {
        "/proc/cpuinfo": "".join(block.format(i, 2000 + i) for i in range(128)),
        "/proc/meminfo": f"MemTotal: {int(503.1 * 2**20)} kB\nMemAvailable: 400000000 kB\n",
        "/proc/stat": stat + "ctxt 12345\nprocesses 678\nprocs_running 3\n",
        "/proc/loadavg": "1.50 1.00 0.50 3/900 4242\n",
        "/proc/uptime": "5000.25 1.0\n",
        "/proc/pressure/cpu": (
            "some avg10=1.25 avg60=0.00 avg300=0.00 total=5000\nfull avg10=0 total=0\n"
        ),
        "/proc/sys/kernel/osrelease": "6.12.5-generic\n",
        "/proc/sys/kernel/hostname": f"{HOST}\n",
        "/proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
        "/proc/cmdline": (
            f"root=UUID=9b1c7a3e-1111-4222-8333-abcdefabcdef ip=10.1.2.3::{HOST} mitigations=off"
            " quiet\n"
        ),
        "/proc/self/cgroup": "0::/pod/abc\n",
        "/sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
        "/sys/fs/cgroup/pod/cpu.max": "150000 100000\n",
        "/sys/fs/cgroup/pod/abc/cpu.max": "max 100000\n",
        "/sys/fs/cgroup/pod/cpu.stat": "usage_usec 9\nthrottled_usec 3\n",
        "/sys/fs/cgroup/pod/abc/cpu.stat": "usage_usec 9\nthrottled_usec 0\n",
        "/sys/fs/cgroup/pod/abc/memory.max": "max\n",
        "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "/sys/class/net/lo/mtu": "65536\n",
        "/sys/class/dmi/id/product_name": f"Rack 5 on {HOST}\n",
        "/sys/class/dmi/id/sys_vendor": "Example\n",
        f"{cpu}/online": "0-127\n",
        f"{cpu}/cpu0/cpufreq/scaling_cur_freq": "2000000\n",
        f"{cpu}/cpu0/cpufreq/scaling_governor": "powersave\n",
        "/sys/devices/system/node/node0/cpulist": "0-31,64-95\n",
        "/sys/devices/system/node/node1/cpulist": "32-63,96-127\n",
    }
    for i in range(128):
        core = i % 64
        first, package = core // 8 * 8, core // 32 * 32
        own = f"{core},{core + 64}"
        l3 = f"{first}-{first + 7},{first + 64}-{first + 71}"
        socket = f"{package}-{package + 31},{package + 64}-{package + 95}"
        files |= cpu_files(i, own, socket, {1: ("48K", own), 2: ("2048K", own), 3: ("32768K", l3)})
    return made(root, files, set(range(128)))


def arm(root: Path) -> Source:
    """Make an ARM machine: 4 CPUs with a common L2 of untold size, no cpufreq, no nodes, no
    pressure.
    """
    block = (
        "processor\t: {}\nBogoMIPS\t: 50.00\nFeatures\t: asimd atomics\nCPU implementer\t: 0x41\n"
    )
    block += "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
    text = "".join(map(block.format, range(4))) + "Serial\t\t: 10000000abcdef01\n"
    files = {"/proc/cpuinfo": text, "/sys/devices/system/cpu/online": "0-3\n"}
    for i in range(4):
        files |= cpu_files(i, f"{i}", "0-3", {1: ("", f"{i}"), 2: ("", "0-3")})
    return made(root, files, {0, 1, 2, 3}, "aarch64")
