"""The facts of a machine, on made-up machines below a temporary root."""

import json
import re
import resource
from pathlib import Path

import pytest

from ipclab.errors import UsageError
from ipclab.machine import (
    FACTS,
    AbsentError,
    Machine,
    Source,
    System,
    Topology,
    collect,
    conditions,
    describe,
    disturbance,
    label,
    pairs,
)
from ipclab.machine.memory import installed
from ipclab.machine.parse import cpu_list, cpu_set, size
from ipclab.machine.registry import FactSpec, fits
from ipclab.paths import Paths
from ipclab.machine.placement import missing, placements

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

    def package(self, name: str) -> str:
        raise AbsentError

    def run(self, *command: str, cwd: Path | None = None) -> str:
        raise AbsentError("timed out")


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def cpu_files(cpu: int, core: str, package: str, caches: dict[int, tuple[str, str]]) -> dict[str, str]:
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
    """Make 2 sockets x 32 cores x 2 threads = 128 CPUs, an L3 for every 8 cores, SMT sibling of c: c + 64."""
    cpu = "/sys/devices/system/cpu"
    block = (
        "processor\t: {0}\nvendor_id\t: GenuineIntel\nmodel name\t: Example 8000 @ 2.00GHz\ncpu family\t: 6\n"
        "model\t\t: 143\nstepping\t: 8\nmicrocode\t: 0x2b\ncpu MHz\t\t: {1}\nbogomips\t: 4000.{0}\n"
        "flags\t\t: erms avx2\n\n"
    )
    stat = "cpu  100 0 50 900 0 0 5 7 0 0\n" + "".join(f"cpu{i} 1 0 0 9 0 0 0 0 0 0\n" for i in range(128))
    files = {
        "/proc/cpuinfo": "".join(block.format(i, 2000 + i) for i in range(128)),
        "/proc/meminfo": f"MemTotal: {int(503.1 * 2**20)} kB\nMemAvailable: 400000000 kB\n",
        "/proc/stat": stat + "ctxt 12345\nprocesses 678\nprocs_running 3\n",
        "/proc/loadavg": "1.50 1.00 0.50 3/900 4242\n",
        "/proc/uptime": "5000.25 1.0\n",
        "/proc/pressure/cpu": "some avg10=1.25 avg60=0.00 avg300=0.00 total=5000\nfull avg10=0 total=0\n",
        "/proc/sys/kernel/osrelease": "6.12.5-generic\n",
        "/proc/sys/kernel/hostname": f"{HOST}\n",
        "/proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
        "/proc/cmdline": f"root=UUID=9b1c7a3e-1111-4222-8333-abcdefabcdef ip=10.1.2.3::{HOST} mitigations=off quiet\n",
        "/proc/self/cgroup": "0::/pod/abc\n",
        "/sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
        "/sys/fs/cgroup/pod/cpu.max": "150000 100000\n",
        "/sys/fs/cgroup/pod/abc/cpu.max": "max 100000\n",
        "/sys/fs/cgroup/pod/abc/cpu.stat": "usage_usec 9\nthrottled_usec 3\n",
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
    write(root, files)
    return Source(root, Fake(set(range(128))), Paths(root / "checkout"))


def arm(root: Path) -> Source:
    """Make an ARM machine: 4 CPUs with a common L2 of untold size, no cpufreq, no nodes, no pressure."""
    block = "processor\t: {}\nBogoMIPS\t: 50.00\nFeatures\t: asimd atomics\nCPU implementer\t: 0x41\n"
    block += "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
    text = "".join(map(block.format, range(4))) + "Serial\t\t: 10000000abcdef01\n"
    files = {"/proc/cpuinfo": text, "/sys/devices/system/cpu/online": "0-3\n"}
    for i in range(4):
        files |= cpu_files(i, f"{i}", "0-3", {1: ("", f"{i}"), 2: ("", "0-3")})
    write(root, files)
    return Source(root, Fake({0, 1, 2, 3}, "aarch64"), Paths(root / "checkout"))


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[Source, Machine]:
    source = server(tmp_path_factory.mktemp("server"))
    return source, collect(source)


def test_registry_is_large_and_well_formed() -> None:
    names = [spec.name for spec in FACTS]
    assert len(names) == len(set(names)) >= 60
    for spec in FACTS:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", spec.name)
        assert spec.label and not re.search(r"\d", spec.label)
        assert spec.type in {str, int, float, bool, list, dict}
    assert label("cpu_model") == "Processor model"
    with pytest.raises(UsageError, match="bogomips"):
        label("bogomips")


def test_this_machine_is_read_twice_alike() -> None:
    first, second = collect(), collect()
    assert first.digest == second.digest and re.fullmatch("[0-9a-f]{12}", first.digest)
    known = {"absent", "denied", "unreadable", "unlimited", "timed out", "failed"}
    assert {name: why for name, why in first.reasons.items() if why not in known} == {}
    assert all((value is None) == (name in first.reasons) for name, value in first.facts.items())
    json.dumps(first.facts, allow_nan=False)
    assert [row.name for row in describe(first)] == [spec.name for spec in FACTS]
    assert {len(text) <= 64 * 1024 for text in first.raw.values()} == {True}
    for spec in FACTS:
        assert first.facts[spec.name] is None or fits(first.facts[spec.name], spec.type)


def test_facts_of_the_server(big: tuple[Source, Machine]) -> None:
    facts = big[1].facts
    expected = {
        "sockets": 2, "cores": 64, "threads": 128, "threads_per_core": 2, "numa_nodes": 2, "cache_line": 64,
        "cache_l2": 2 * 2**20, "memory_installed": 512 * GIB, "thp_enabled": "madvise", "cpu_quota": 1.5,
        "uptime": 5000250000000, "tcp_receive": [4096, 131072, 6291456], "steal": 70_000_000,
        "pressure_cpu_total": 5_000_000, "throttled": 3000, "kernel_options": ["mitigations=off"],
        "virtualisation": "none", "frequency_now": 2_000_000_000, "open_files_soft": 1024,
        "cpu_features": ["avx2", "erms"], "product": "Rack 5 on <host>",
    }  # fmt: skip
    assert {name: facts[name] for name in expected} == expected
    reasons = big[1].reasons
    assert reasons["boost"] == "absent" and reasons["memory_limit"] == "unlimited"
    assert reasons["git_commit"] == "timed out" and reasons["open_files_hard"] == "unlimited"


def test_nothing_names_the_host(big: tuple[Source, Machine]) -> None:
    raw = json.dumps(big[1].raw)
    for secret in (HOST, "quartz", "10.1.2.3", "9b1c7a3e", "root=", "/pod/abc"):
        assert secret not in raw
    assert big[1].raw["/proc/cmdline"] == "mitigations=off"
    assert "quartz" not in json.dumps(big[1].facts)
    assert len(big[1].raw["/proc/cpuinfo"]) > 10_000


@pytest.mark.parametrize(
    ("name", "old", "new", "same"),
    [
        ("/proc/loadavg", "1.50", "99.0", True),
        ("/proc/uptime", "5000", "12", True),
        ("/proc/meminfo", "MemAvailable: 4", "MemAvailable: 1", True),
        ("/proc/meminfo", "MemTotal: 5", "MemTotal: 51", False),
        ("/proc/cpuinfo", "cpu MHz\t\t: 2", "cpu MHz\t\t: 3", True),
        ("/proc/cpuinfo", "bogomips\t: 4000", "bogomips\t: 4001", True),
        ("/proc/sys/kernel/hostname", "quartz", "topaz", True),
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave", "performance", True),
        ("/proc/cpuinfo", "Example 8000", "Example 9000", False),
        ("/proc/sys/kernel/osrelease", "6.12.5", "6.12.6", False),
        ("/sys/devices/system/cpu/cpu0/cache/index2/size", "32768K", "16384K", False),
    ],
)
def test_digest_follows_what_identifies(big: tuple[Source, Machine], name: str, old: str, new: str, same: bool) -> None:
    source, before = big
    path = source.path(name)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    try:
        assert (collect(source).digest == before.digest) is same
    finally:
        path.write_text(text)


@pytest.mark.parametrize(
    ("shown", "sold"), [(3.75, 4), (7.5, 8), (15.45, 16), (15.6, 16), (23.54, 24), (31.2, 32), (503.1, 512)]
)
def test_memory_is_rounded_to_what_is_sold(shown: float, sold: int) -> None:
    for moved in (-0.02, 0, 0.02):
        assert installed(int((shown + moved) * GIB)) == sold * GIB


def test_pairs_and_placements_of_the_server(big: tuple[Source, Machine]) -> None:
    topology = Topology.read(big[0])
    assert pairs(topology) == {
        "same": (0, 0), "cross": (0, 1), "cross-smt": (0, 64), "cross-numa": (0, 8), "cross-remote": (0, 32),
    }  # fmt: skip
    assert [topology.relation(0, cpu) for cpu in (0, 64, 65, 8, 40)] == [
        "same",
        "smt",
        "l3",
        "numa",
        "remote",
    ]
    chosen = placements(topology)
    assert list(chosen) == ["same", "cross", "cross-smt", "cross-numa", "cross-remote", "free"]
    assert [chosen["cross"].role(i) for i in (0, 1, 7, 8, 64)] == [{0}, {1}, {7}, {8}, {0}]
    assert len(chosen["cross"].cpus) == 64
    assert [chosen["cross-smt"].role(i) for i in range(3)] == [{0}, {64}, {0}]
    assert chosen["free"].role(5) == set(range(128)) and missing(topology) == {}


def test_affinity_is_respected(big: tuple[Source, Machine]) -> None:
    source, machine = big
    few = Source(source.root, Fake({5, 69, 127}), source.paths)
    topology = Topology.read(few)
    assert pairs(topology) == {"same": (5, 5), "cross": (5, 127), "cross-smt": (5, 69)}
    assert placements(topology)["cross"].cpus == (frozenset({5}), frozenset({127}))
    assert collect(few).digest == machine.digest
    assert collect(few).facts["cpus_allowed"] == "5,69,127"


def test_siblings_alone_are_the_cross(big: tuple[Source, Machine]) -> None:
    only = Topology.read(Source(big[0].root, Fake({3, 67}), big[0].paths))
    assert pairs(only) == {"same": (3, 3), "cross": (3, 67)}
    assert placements(only)["cross"].relation == "smt"


def test_one_cpu_has_no_cross(big: tuple[Source, Machine]) -> None:
    one = Topology.read(Source(big[0].root, Fake({3}), big[0].paths))
    assert pairs(one) == {"same": (3, 3)} and list(placements(one)) == ["same", "free"]
    assert "127 more are online" in missing(one)["cross"]


def test_arm_without_frequencies(tmp_path: Path) -> None:
    source = arm(tmp_path)
    machine = collect(source)
    assert machine.facts["cpu_model"] == "ARM 0xd0c" and machine.facts["cpu_vendor"] == "ARM"
    assert machine.facts["cpu_features"] == ["asimd", "atomics"]
    for name in ("frequency_governor", "frequency_driver", "cache_l2", "pressure_io", "fault_around"):
        assert (machine.facts[name], machine.reasons[name]) == (None, "absent")
    assert "abcdef01" not in json.dumps(machine.raw)
    assert pairs(Topology.read(source)) == {"same": (0, 0), "cross": (0, 1)}
    assert Topology.read(source).relation(0, 3) == "l2"


def test_an_empty_root_gives_reasons_not_errors(tmp_path: Path) -> None:
    source = Source(tmp_path, Fake({0, 2}), Paths(tmp_path))
    machine = collect(source)
    assert set(machine.reasons.values()) <= {"absent", "unlimited", "timed out"}
    assert pairs(Topology.read(source)) == {"same": (0, 0), "cross": (0, 2)}
    assert conditions(source)["steal_ns"] is None
    assert disturbance(conditions(source), conditions(source), 10**9) == []


def test_wrong_values_become_reasons(tmp_path: Path) -> None:
    write(tmp_path, {"/proc/sys/kernel/pid_max": "many\n"})
    source = Source(tmp_path, Fake({0}), Paths(tmp_path))
    assert collect(source).reasons["pid_max"] == "unparsable"
    spec = FactSpec("x", "g", "X", int, "", "integer", False, lambda _: True)
    assert spec.take(source) == (None, "mistyped: bool")


@pytest.mark.parametrize(
    ("change", "flags"),
    [
        ({}, []),
        ({"steal_ns": 20_000_000}, ["steal"]),
        ({"steal_ns": 10_000_000}, []),  # one tick is rounding
        ({"throttled_ns": 1}, ["throttled"]),
        ({"pressure_cpu_ns": 900_000_000}, []),  # starting our own workers makes it
        (
            {"pressure_memory_ns": 10_000_001, "pressure_io_ns": 50_000_001},
            ["pressure-memory", "pressure-io"],
        ),
        ({"steal_ns": None, "running": None, "cpus": None}, []),
    ],
)
def test_disturbance_thresholds(change: dict[str, int | None], flags: list[str]) -> None:
    keys = ("steal_ns", "throttled_ns", "pressure_cpu_ns", "pressure_memory_ns", "pressure_io_ns")
    before: dict[str, int | None] = {**dict.fromkeys(keys, 0), "running": 1, "cpus": 4, "tick_ns": 10_000_000}
    assert disturbance(before, before | change, 10**9) == flags
    assert disturbance(before, before | change, 10**9, queued_share=0.05) == flags
    assert disturbance(before, before | change, 10**9, queued_share=0.0501) == [*flags, "run-queue"]


def test_disk_is_found_through_layers(tmp_path: Path) -> None:
    disk = "/sys/devices/pci0/nvme0/nvme0n1"
    files = {f"{disk}/queue/rotational": "0\n", f"{disk}/queue/scheduler": "[none] kyber\n"}
    files |= {f"{disk}/nvme0n1p2/partition": "2\n", "/sys/devices/virtual/block/dm-0/queue/rotational": "0\n"}
    data = tmp_path / "checkout" / "data"
    files["/proc/self/mountinfo"] = (
        "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"2 1 253:0 / {tmp_path} rw,noatime,addr=10.0.0.9 - ext4 /dev/mapper/root rw,data=ordered\n"
    )
    write(tmp_path, files)
    links = {"sys/dev/block/253:0": "sys/devices/virtual/block/dm-0"}
    links["sys/devices/virtual/block/dm-0/slaves/nvme0n1p2"] = f"{disk[1:]}/nvme0n1p2"
    for link, target in links.items():
        (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / link).symlink_to(tmp_path / target)
    facts = collect(Source(tmp_path, Fake({0}), Paths(data.parent))).facts
    assert (facts["scratch_disk"], facts["scratch_scheduler"]) == ("nvme", "none")
    assert facts["scratch_options"] == ["rw", "noatime", "data=ordered"]


def test_parsers() -> None:
    assert cpu_set("0-2,5\n") == {0, 1, 2, 5} and cpu_list({5, 1, 0, 2}) == "0-2,5" and cpu_list(()) == ""
    assert [size(text) for text in ("32K", "8M", "64", "24684096 kB")] == [
        32768,
        8388608,
        64,
        24684096 * 1024,
    ]
    with pytest.raises(ValueError, match="lots"):
        size("lots")
