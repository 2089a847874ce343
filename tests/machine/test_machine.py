"""The facts of a machine, on made-up machines below a temporary root."""

import gzip
import json
import re
from pathlib import Path

import pytest

from ipclab.machine.answers import CLOCKSOURCES, CPUINFO, DMI, memory_sold, virtualisation
from ipclab.machine.conditions import conditions, disturbance
from ipclab.machine.facts import FACTS, KINDS, Fact, Machine, collect, take_fact
from ipclab.machine.origin import processor
from ipclab.machine.parse import cpu_list, size
from ipclab.machine.placement import cross_missing, placements
from ipclab.machine.readers import READERS
from ipclab.machine.source import AbsentError, Source, System
from ipclab.machine.topology import Topology
from ipclab.report.facts import TOPICS, shown_facts
from ipclab.store.identity import NAMES, cpus_listed
from ipclab.store.questions import PLACED_TOO, PLACEMENTS
from ipclab.store.run import RunFolder
from tests.support.made_up import GIB, HOST, Fake, arm, made, server, write


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[Source, Machine]:
    source = server(tmp_path_factory.mktemp("server"))
    return source, collect(source)


def test_the_table_is_well_formed() -> None:
    names = [fact.name for fact in FACTS]
    assert len(names) == len(set(names))
    for fact in FACTS:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", fact.name)
        assert fact.label and not re.search(r"\d", fact.label)
        assert fact.unit in {"", "bytes", "ns", "Hz", "%"} and fact.affects in {"", *TOPICS}
    assert {fact.name for fact in FACTS if not fact.file} == set(READERS)
    assert {fact.kind for fact in FACTS if fact.file} == set(KINDS)


def test_what_identifies_a_machine_is_what_names_its_runs() -> None:
    identifying = {fact.name for fact in FACTS if fact.identifies}
    assert identifying == set(NAMES)
    # neither a serial number, nor what an update or another day changes
    assert not identifying & {"product_uuid", "hostname", "memory_total", "cpu_microcode"}
    assert not [name for name in identifying if "frequency" in name]


def test_what_reports_show_of_a_machine() -> None:
    rows = shown_facts(
        {"cores": 2, "git_dirty": False}, {"cpu_quota": "unlimited", "memory_limit": "denied"}
    )
    found = {
        fact.label: (fact.group, value, reason, fact.identifies) for fact, value, reason in rows
    }
    assert found["Cores"] == ("Processor", 2, "", True)
    assert found["Checkout altered since"] == ("Software", False, "", False)
    assert found["CPU time of this group, in CPUs"] == ("Limits", None, "no limit", False)
    assert found["Memory limit of this group"][2] == "may not be read"
    assert found["Page"][2] == "not offered by this machine"


def test_this_machine_is_read_twice_alike() -> None:
    first, second = collect(), collect()
    assert first.digest == second.digest and re.fullmatch("[0-9a-f]{12}", first.digest)
    known = {"absent", "denied", "unreadable", "unlimited", "timed out", "failed"}
    assert {name: why for name, why in first.reasons.items() if why not in known} == {}
    assert all((value is None) == (name in first.reasons) for name, value in first.facts.items())
    json.dumps(first.facts, allow_nan=False)
    assert list(first.facts) == [fact.name for fact in FACTS]
    assert max(map(len, first.raw.values())) <= 64 * 1024
    for fact in FACTS:
        assert type(first.facts[fact.name]) in {bool, int, float, str, list, dict, type(None)}
        assert fact.unit == "" or type(first.facts[fact.name]) in {int, float, list, type(None)}


def test_facts_of_the_server(big: tuple[Source, Machine]) -> None:
    facts = big[1].facts
    expected = {
        "sockets": 2, "cores": 64, "threads": 128, "threads_per_core": 2, "numa_nodes": 2, "cache_line": 64,
        "cache_l2": 2 * 2**20, "memory_installed": 512 * GIB, "thp_enabled": "madvise", "cpu_quota": 1.5,
        "tcp_receive": [4096, 131072, 6291456], "kernel_options": ["mitigations=off"],
        "virtualisation": "none", "open_files_soft": 1024,
        "cpu_features": ["avx2", "erms"], "product": "Rack 5 on <host>",
    }  # fmt: skip
    assert {name: facts[name] for name in expected} == expected
    now = conditions(big[0])
    found = now["steal_ns"], now["pressure_cpu_ns"], now["throttled_ns"]
    assert found == (70_000_000, 5_000_000, 3000)
    reasons = big[1].reasons
    assert reasons["boost"] == reasons["swap_total"] == "absent"
    assert (reasons["memory_limit"], reasons["git_commit"]) == ("unlimited", "timed out")


def test_nothing_names_the_host(big: tuple[Source, Machine]) -> None:
    raw = json.dumps(big[1].raw)
    for secret in (HOST, "quartz", "10.1.2.3", "9b1c7a3e", "root=", "/pod/abc"):
        assert secret not in raw
    assert big[1].raw["/proc/cmdline"] == "mitigations=off"
    assert "quartz" not in json.dumps(big[1].facts)
    assert len(big[1].raw["/proc/cpuinfo"]) > 10_000


CONFINED = {
    "/sys/kernel/security/lsm": "lockdown,capability,landlock,yama,apparmor",
    "/sys/module/apparmor/parameters/enabled": "Y\n",
    "/proc/self/attr/current": "docker-default (enforce)\n",
    "/proc/self/status": "Name:\tpython\nSeccomp:\t2\n",
}


def test_what_looks_at_system_calls_is_a_fact_that_varies(big: tuple[Source, Machine]) -> None:
    """It is shown where runs are compared, and the same machine stays the same with and without it."""
    source, bare = big
    write(source.root, CONFINED)
    try:
        confined = collect(source)
    finally:
        for name in CONFINED:
            source.path(name).unlink()
    assert confined.facts["security"] == {
        "modules": "lockdown,capability,landlock,yama,apparmor",
        "apparmor": "Y",
        "label": "docker-default (enforce)",
        "seccomp": "filter",
    }
    assert confined.digest == bare.digest


VARIES = {
    "/proc/loadavg": ("1.50", "99.0"),
    "/proc/meminfo": ("MemAvailable: 4", "MemAvailable: 1"),
    "/proc/cpuinfo": ("cpu MHz\t\t: 2", "cpu MHz\t\t: 3"),
    "/proc/sys/kernel/hostname": ("quartz", "topaz"),
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": ("powersave", "performance"),
}
CHANGES = {
    "what varies": VARIES,
    "memory": {"/proc/meminfo": ("MemTotal: 5", "MemTotal: 51")},
    "kernel": {"/proc/sys/kernel/osrelease": ("6.12.5", "6.12.6")},
    "cache": {"/sys/devices/system/cpu/cpu0/cache/index2/size": ("32768K", "16384K")},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_digest_follows_what_identifies(
    big: tuple[Source, Machine], changes: dict[str, tuple[str, str]]
) -> None:
    source, before = big
    texts = {name: source.path(name).read_text() for name in changes}
    for name, (old, new) in changes.items():
        assert old in texts[name]
        source.path(name).write_text(texts[name].replace(old, new))
    try:
        assert (collect(source).digest == before.digest) is (changes is VARIES)
    finally:
        for name, text in texts.items():
            source.path(name).write_text(text)


def test_memory_is_rounded_to_what_is_sold() -> None:
    for told, sold in ((3.75, 4), (7.5, 8), (15.45, 16), (15.6, 16), (23.54, 24), (503.1, 512)):
        for moved in (-0.02, 0, 0.02):
            assert memory_sold(f"{int((told + moved) * 2**20)} kB") == sold * GIB


def pairs(topology: Topology) -> dict[str, tuple[int, ...]]:
    """Return the CPUs of the first two roles of each placement on single CPUs."""
    placed = {name: found for name, found in placements(topology).items() if name != "free"}
    return {name: (*found.role(0), *found.role(1)) for name, found in placed.items()}


def test_pairs_and_placements_of_the_server(big: tuple[Source, Machine]) -> None:
    topology = Topology.read(big[0])
    assert pairs(topology) == {
        "same": (0, 0), "cross": (0, 1), "cross-smt": (0, 64), "cross-numa": (0, 8), "cross-remote": (0, 32),
    }  # fmt: skip
    near = [topology.relation(0, cpu) for cpu in (0, 64, 65, 8, 40)]
    assert near == ["same", "smt", "l3", "numa", "remote"]
    chosen = placements(topology)
    assert list(chosen) == ["same", "cross", "cross-smt", "cross-numa", "cross-remote", "free"]
    assert {*chosen} <= {*PLACEMENTS, *PLACED_TOO}  # else no run with it could be read
    assert [chosen["cross"].role(i) for i in (0, 1, 7, 8, 64)] == [{0}, {1}, {7}, {8}, {0}]
    assert len(chosen["cross"].cpus) == 64
    assert [chosen["cross-smt"].role(i) for i in range(3)] == [{0}, {64}, {0}]
    assert chosen["free"].role(5) == set(range(128)) and cross_missing(topology) == {}


def test_affinity_is_respected(big: tuple[Source, Machine]) -> None:
    source, machine = big
    few, siblings, one = (
        Source(source.root, Fake(cpus), source.paths) for cpus in ({5, 69, 127}, {3, 67}, {3})
    )
    topology = Topology.read(few)
    assert pairs(topology) == {"same": (5, 5), "cross": (5, 127), "cross-smt": (5, 69)}
    assert placements(topology)["cross"].cpus == (frozenset({5}), frozenset({127}))
    assert (collect(few).digest, collect(few).facts["cpus_allowed"]) == (machine.digest, "5,69,127")
    assert pairs(Topology.read(siblings)) == {"same": (3, 3), "cross": (3, 67)}
    assert placements(Topology.read(siblings))["cross"].relation == "smt"
    assert list(placements(Topology.read(one))) == ["same", "free"]
    assert "127 more are online" in cross_missing(Topology.read(one))["cross"]


def test_arm_without_frequencies(tmp_path: Path) -> None:
    source = arm(tmp_path)
    machine = collect(source)
    assert machine.facts["cpu_model"] == "ARM 0xd0c" and machine.facts["cpu_vendor"] == "ARM"
    assert machine.facts["cpu_features"] == ["asimd", "atomics"]
    for name in ("frequency_governor", "frequency_driver", "cache_l2", "fault_around"):
        assert (machine.facts[name], machine.reasons[name]) == (None, "absent")
    assert "abcdef01" not in json.dumps(machine.raw)
    assert pairs(Topology.read(source)) == {"same": (0, 0), "cross": (0, 1)}
    assert Topology.read(source).relation(0, 3) == "l2"


def test_an_empty_root_gives_reasons_not_errors(tmp_path: Path) -> None:
    source = made(tmp_path, {}, {0, 2})
    machine = collect(source)
    assert set(machine.reasons.values()) <= {"absent", "unlimited", "timed out"}
    assert pairs(Topology.read(source)) == {"same": (0, 0), "cross": (0, 2)}
    assert conditions(source)["steal_ns"] is None
    assert disturbance(conditions(source), conditions(source), 10**9) == []


def test_wrong_values_become_reasons(tmp_path: Path) -> None:
    source = made(tmp_path, {"/proc/sys/net/core/busy_poll": "many\n"}, {0})
    assert collect(source).reasons["busy_polling"] == "unparsable"
    fact = Fact("G", "x", "/proc/sys/net/core/busy_poll", "text", "", False, False, "", "X")
    assert take_fact(fact, source) == ("many", "")


CMDLINE, BUILT = "/proc/cmdline", {"/proc/config.gz": gzip.compress(b"CONFIG_PREEMPT=y")}
LAZY = {"/sys/kernel/debug/sched/preempt": "none (lazy) full", CMDLINE: "preempt=full"}


@pytest.mark.parametrize(
    ("files", "name", "value"),
    [
        ({"/sys/devices/system/cpu/cpufreq/boost": "0"}, "boost", False),
        ({"/sys/devices/system/cpu/intel_pstate/no_turbo": "0"}, "boost", True),
        (LAZY, "preemption", "lazy"),
        ({CMDLINE: "preempt=none preempt=full"}, "preemption", "full"),
        (BUILT, "preemption", None),  # it may be asked otherwise
        ({CMDLINE: "", **BUILT}, "preemption", "full"),
    ],
)
def test_another_source_is_asked_where_the_first_has_nothing(
    files, name, value, tmp_path: Path
) -> None:
    assert collect(made(tmp_path, files, {0})).facts[name] == value


@pytest.mark.parametrize(
    ("change", "flags"),
    [
        ({}, []),
        ({"steal_ns": 20_000_000}, ["steal"]),
        ({"steal_ns": 10_000_000}, []),  # one tick is rounding
        ({"throttled_ns": 1}, ["throttled"]),
        ({"clock_throttles": 1}, ["clock-throttled"]),
        ({"pressure_cpu_ns": 900_000_000}, []),  # starting our own workers makes it
        ({"pressure_memory_ns": 9_999_999, "pressure_io_ns": 49_999_999}, []),
        (
            {"pressure_memory_ns": 10_000_001, "pressure_io_ns": 50_000_001},
            ["pressure-memory", "pressure-io"],
        ),
        ({"steal_ns": None, "running": None, "cpus": None}, []),
    ],
)
def test_disturbance_thresholds(change: dict[str, int | None], flags: list[str]) -> None:
    pressures = [f"pressure_{of}_ns" for of in ("cpu", "memory", "io")]
    before: dict[str, int | None] = {
        **dict.fromkeys(("steal_ns", "throttled_ns", "clock_throttles", *pressures), 0),
        **{"running": 1, "cpus": 4, "tick_ns": 10_000_000},
    }
    assert disturbance(before, before | change, 10**9) == flags
    assert disturbance(before, before | change, 10**9, queued_share=0.05) == flags
    assert disturbance(before, before | change, 10**9, queued_share=0.0501) == [*flags, "run-queue"]


def test_a_launch_during_which_a_clock_was_lowered_for_heat_is_flagged(tmp_path: Path) -> None:
    counts = "/sys/devices/system/cpu/cpu{}/thermal_throttle/{}_throttle_count"
    parts = ("core", "package")
    files = {counts.format(cpu, part): "4\n" for cpu in range(3) for part in parts}
    source = made(tmp_path, files, {0, 1})
    before = conditions(source)
    assert before["clock_throttles"] == 16
    write(tmp_path, {counts.format(2, "core"): "5\n"})  # of a CPU that is not ours
    assert disturbance(before, conditions(source), 10**9) == []
    write(tmp_path, {counts.format(1, "package"): "5\n"})
    assert disturbance(before, conditions(source), 10**9) == ["clock-throttled"]


def test_groups_of_the_first_version(tmp_path: Path) -> None:
    top, unlimited = "/sys/fs/cgroup", (1 << 63) - 4096
    files = {
        "/proc/self/cgroup": "4:cpu,cpuacct:/a\n5:memory:/a",
        f"{top}/memory/a/memory.limit_in_bytes": unlimited,
        f"{top}/memory/memory.limit_in_bytes": 1 << 20,
        f"{top}/cpu,cpuacct/a/cpu.cfs_quota_us": 50_000,
        f"{top}/cpu,cpuacct/a/cpu.cfs_period_us": 100_000,
        f"{top}/cpu,cpuacct/a/cpu.stat": "throttled_time 7",
        f"{top}/cpu,cpuacct/cpu.stat": "throttled_time 2",
        f"{top}/cpu/a/cpu.stat": "throttled_time 7",  # the same, by a link
    }
    source = made(tmp_path, {name: f"{text}\n" for name, text in files.items()}, {0})
    facts = collect(source).facts
    assert (facts["cpu_quota"], facts["memory_limit"]) == (0.5, 1 << 20)
    assert conditions(source)["throttled_ns"] == 9
    (tmp_path / f"{top}/memory/memory.limit_in_bytes".lstrip("/")).write_text(f"{unlimited}\n")
    assert collect(made(tmp_path, {}, {0})).facts["memory_limit"] is None


FLAGS, BARE = "flags\t: hypervisor sse2\n", "flags\t: sse2\n"
FIRMWARE, CLOCKS = f"{DMI}/sys_vendor", CLOCKSOURCES


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"/sys/hypervisor/type": "xen\n", CPUINFO: BARE}, "xen"),
        ({CPUINFO: FLAGS, FIRMWARE: "QEMU\n"}, "kvm"),
        ({CPUINFO: FLAGS, CLOCKS: "tsc kvm-clock acpi_pm\n"}, "kvm"),
        ({CPUINFO: FLAGS, FIRMWARE: "VMware, Inc.\n", CLOCKS: "kvm-clock\n"}, "vmware"),
        ({CPUINFO: FLAGS, FIRMWARE: "Example\n", CLOCKS: "tsc\n"}, "unnamed"),
        ({CPUINFO: BARE, FIRMWARE: "Amazon EC2\n"}, "none"),  # a whole machine of a cloud
        ({CPUINFO: "Features\t: fp\n", FIRMWARE: "QEMU\n"}, "kvm"),  # ARM has no such flag
        ({CPUINFO: "Features\t: fp\n"}, "none"),
    ],
)
def test_a_virtual_machine_is_told_by_its_processor_then_named(
    tmp_path: Path, files: dict[str, str], kind: str
) -> None:
    assert virtualisation(made(tmp_path, files, {0})) == kind


def test_disk_is_found_through_layers(tmp_path: Path) -> None:
    disk = "/sys/devices/pci0/nvme0/nvme0n1"
    files = {f"{disk}/queue/rotational": "0\n", f"{disk}/queue/scheduler": "[none] kyber\n"}
    files |= {
        f"{disk}/nvme0n1p2/partition": "2\n",
        "/sys/devices/virtual/block/dm-0/queue/rotational": "0\n",
    }
    files["/proc/self/mountinfo"] = (
        "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"2 1 253:0 / {tmp_path} rw,noatime,addr=10.0.0.9 - ext4 /dev/mapper/root rw,data=ordered\n"
    )
    source = made(tmp_path, files, {0})
    links = {"sys/dev/block/253:0": "sys/devices/virtual/block/dm-0"}
    links["sys/devices/virtual/block/dm-0/slaves/nvme0n1p2"] = f"{disk[1:]}/nvme0n1p2"
    for link, target in links.items():
        (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / link).symlink_to(tmp_path / target)
    facts = collect(source).facts
    assert (facts["scratch_disk"], facts["scratch_scheduler"]) == ("nvme", "none")
    assert facts["scratch_options"] == ["rw", "noatime", "data=ordered"]


def test_a_tool_is_asked_in_plain_words_and_what_it_prints_is_told_whole(tmp_path: Path) -> None:
    said = System().run("sh", "-c", 'echo "$LC_ALL"; pwd -P; echo >&2 aside', cwd=tmp_path)
    assert said == f"C\n{tmp_path.resolve()}\n"
    for tool in (("sh", "-c", "exit 3"), ("ipclab-has-no-such-tool",)):
        with pytest.raises(AbsentError):
            System().run(*tool)


def test_a_long_name_of_a_processor_is_cut() -> None:
    run = RunFolder(Path(), {"machine": {"facts": {"cpu_model": "x  y" * 40}}})
    assert processor(run) == ("x y" * 40)[:80]


def test_parsers() -> None:
    assert cpus_listed("0-2,5\n") == {0, 1, 2, 5}
    assert (cpu_list({5, 1, 0, 2}), cpu_list(())) == ("0-2,5", "")
    assert [size(text) for text in ("32K", "8M", "64", "2 kB")] == [32768, 8388608, 64, 2048]
    with pytest.raises(ValueError, match="lots"):
        size("lots")
