"""The doctor on made-up machines: no real clock, no real noise; every diagnosis has its effect,
source and fix.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ipclab.errors import LabError
from ipclab.machine import AbsentError, Conditions, Source
from ipclab.machine.diagnoses import FIT, NOTE, RESERVATION, Diagnosis, Noise, Observed, examine
from ipclab.machine.doctor import check_fit, conditions_now, diagnosis_lines, visit, watch
from ipclab.machine.facts import FACTS, Value
from ipclab.paths import Paths
from tests.support.made_up import Fake, write

QUIET: Noise = {"steal": 0.0, "queue": 0.01, "busy": 0.02, "interrupts": 300, "throttled": 0.0}
MIB, GIB = 1 << 20, 1 << 30
SOUND: dict[str, Value] = {
    "frequency_governor": "performance",
    "boost": False,
    "threads_per_core": 1,
    "cpus_allowed": "0-3",
    "virtualisation": "none",
    "clocksource": "tsc",
    "clocksources": ["tsc", "hpet"],
    "shm_free": GIB,
    "scratch_free": 10 * GIB,
    "open_files_soft": 4096,
    "locked_memory": 64 * MIB,
    "container": "none",
    "io_uring": True,
}
READY = dict.fromkeys(("native", "MPI", "Go", "fonts"), True)
TIMES = {
    "futex-wake same": 3_500.0,
    "futex-wake cross": 41_000.0,
    "clock same": 24.0,
    "syscall same": 170.0,
}


def found(
    facts: Mapping[str, Value] | None = None,
    noise: Noise = QUIET,
    present: Mapping[str, bool] = READY,
    shm_fault: str = "",
    alone: bool | None = True,
) -> dict[str, Diagnosis]:
    facts = {**SOUND, **(facts or {})}
    seen = Observed(facts, noise, present, 16 * MIB, shm_fault, alone, TIMES, "run R")
    return {each.name: each for each in examine(seen)}


def test_a_sound_machine_is_fit() -> None:
    every = found()
    assert {each.state for each in every.values()} == {FIT}
    assert len(every) == 22
    check_fit(list(every.values()))


def noisy(**numbers: float) -> Noise:
    return {**QUIET, **numbers}


WRONG: dict[str, tuple[dict[str, Value], Noise, str, str, str]] = {
    "steal": ({}, noisy(steal=0.02), RESERVATION, "flagged and repeated", "quiet"),
    "run queue": ({}, noisy(queue=0.5), RESERVATION, "5.2 us on a busy machine", "top"),
    "interrupts": ({}, noisy(interrupts=20_000), RESERVATION, "4.0% of a CPU", "smp_affinity_list"),
    "governor": (
        {"frequency_governor": "powersave", "frequency_min": 10**9, "frequency_max": 32 * 10**8},
        *(QUIET, RESERVATION, "3.2 times slower", "cpupower frequency-set -g performance"),
    ),
    "turbo": ({"boost": True}, QUIET, NOTE, "heat", "no_turbo"),
    "SMT": ({"threads_per_core": 2}, QUIET, NOTE, "cross-smt", "smt/control"),
    "CPUs": ({"cpus_allowed": "3"}, QUIET, RESERVATION, "two CPUs", "cpuset"),
    "virtual machine": (
        {"virtualisation": "kvm"},
        QUIET,
        RESERVATION,
        "3.5 us on one CPU, 41.0 us on two",
        "haltpoll",
    ),
    "clock": ({"clocksource": "hpet"}, QUIET, RESERVATION, "170 ns instead of 24 ns", "echo tsc"),
    "CPU quota": ({"cpu_quota": 1.5}, noisy(throttled=0.3), RESERVATION, "stands still", "--cpus"),
    "memory limit": ({"memory_limit": GIB}, QUIET, RESERVATION, "killed", "--memory"),
    "/dev/shm": ({"shm_free": MIB}, QUIET, RESERVATION, "nothing is measured", "--shm-size"),
    "data folder": ({"scratch_free": MIB}, QUIET, RESERVATION, "may not fit", "IPCLAB_DATA"),
    "open files": ({"open_files_soft": 256}, QUIET, RESERVATION, "descriptors", "ulimit -n"),
    "locked memory": ({"locked_memory": 64 * 1024}, QUIET, NOTE, "io_uring", "ulimit -l"),
    "container": ({"container": "docker"}, QUIET, NOTE, "none on time", "seccomp"),
    "io_uring": (
        {"io_uring": False},
        QUIET,
        RESERVATION,
        "not testable here",
        "kernel.io_uring_disabled=0",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_effect_source_and_fix(name: str) -> None:
    facts, noise, state, effect, fix = WRONG[name]
    every = found(facts, noise)
    one = every[name]
    assert one.state == state
    assert effect in one.effect and fix in one.fix and one.source
    assert [each.name for each in every.values() if each.state != FIT] == [name]
    text = "\n".join(diagnosis_lines(list(every.values())))
    assert one.effect in text and f"[{one.source}]" in text and one.fix in text
    if state == RESERVATION:
        with pytest.raises(LabError, match=f"one reservation: {name};"):
            check_fit(list(every.values()))
    else:
        check_fit(list(every.values()))


def test_an_amount_of_memory_is_told_in_its_unit() -> None:
    assert found({"locked_memory": 12 * MIB})["locked memory"].seen == "12.0 MiB"


def test_absent_software_is_a_reservation() -> None:
    for name in READY:
        every = found(present={**READY, name: False})
        assert every[name].state == RESERVATION and "make setup" in every[name].fix
        assert ("MPI network" in every) is (name != "MPI")  # no daemon, nothing listens


def test_shared_memory_that_cannot_be_used_is_never_fit() -> None:
    for free in (None, GIB):
        one = found({"shm_free": free}, shm_fault="there is none")["/dev/shm"]
        assert (one.state, one.seen) == (RESERVATION, "there is none, 16.0 MiB needed")
        assert "mount" in one.fix


def test_a_daemon_that_listens_on_all_addresses_is_noted() -> None:
    one = found(alone=False)["MPI network"]
    assert one.state == NOTE and "all addresses" in one.effect and "max_user_namespaces" in one.fix
    assert "MPI network" not in found(alone=None)


def test_a_virtual_machine_that_polls_is_fit() -> None:
    polls: dict[str, Value] = {"virtualisation": "kvm", "idle_governor": "haltpoll"}
    assert found(polls)["virtual machine"].state == FIT


def test_what_a_machine_does_not_tell_is_not_judged() -> None:
    seen = Observed(dict.fromkeys(SOUND), dict.fromkeys(QUIET), {})
    assert {each.name for each in examine(seen)} == {"CPU quota", "memory limit"}
    assert {each.state for each in examine(seen)} == {FIT}


def test_every_fact_that_is_looked_at_exists() -> None:
    names = {spec.name for spec in FACTS}
    assert set(SOUND) <= names
    assert {key for facts, *_ in WRONG.values() for key in facts} <= names


def ticking(
    readings: list[Conditions],
) -> tuple[Callable[[], Conditions], Callable[[], int], Callable[[float], None]]:
    """Return a reader, a clock and a sleep that share a made-up time; the last reading repeats."""
    now = [0.0]
    left = iter(readings)
    last: list[Conditions] = [{}]

    def read() -> Conditions:
        last[0] = next(left, last[0])
        return last[0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    return read, lambda: int(now[0] * 1e9), sleep


def test_noise_is_what_grew_between_the_readings() -> None:
    names = ("steal_ns", "busy_ns", "throttled_ns", "interrupts", "running")
    first: Conditions = {"cpus": 2, **dict(zip(names, (0, 0, 0, 100, 1), strict=True))}
    after = (10**8, 5 * 10**9, 10**9, 10_100, 3)
    last: Conditions = {**first, **dict(zip(names, after, strict=True))}
    assert watch(*ticking([first, last]), 5.0) == pytest.approx(
        {"steal": 0.01, "busy": 0.5, "throttled": 0.2, "interrupts": 1_000, "queue": 50 / 51}
    )
    assert watch(*ticking([{}]), 5.0) == dict.fromkeys(QUIET)


class Refusing(Fake):
    """A system whose /dev/shm is read-only, and on which no command does what it is asked."""

    def writable(self, folder: str) -> bool:
        return False

    def run(self, *command: str, cwd: Path | None = None, seconds: float = 0) -> str:
        if command[0] == "mpiexec":
            return "mpiexec (made up) 1\n"
        raise AbsentError("failed")


@pytest.mark.slow
@pytest.mark.usefixtures("opened_before")
def test_a_made_up_machine_is_visited(tmp_path: Path, paths: Paths) -> None:
    stat = (
        "cpu  100 0 50 900 0 0 5 7 0 0\ncpu0 1 0 0 9 0 0 0 0 0 0\nintr 77 1 2\nctxt"
        " 5\nprocs_running 1\n"
    )
    write(
        tmp_path,
        {"/proc/stat": stat, "/proc/cpuinfo": "flags\t: hypervisor\n", "/dev/shm/file": ""},
    )
    source = Source(tmp_path, Refusing({0}), Paths(tmp_path))
    assert conditions_now(source)["interrupts"] == 77
    every = {each.name: each for each in visit(paths, source, 16 * MIB, 0.01)}
    assert every["steal"].state == every["interrupts"].state == FIT
    assert every["CPUs"].state == RESERVATION
    shm, network = every["/dev/shm"], every["MPI network"]
    assert (shm.state, shm.seen) == (RESERVATION, "it cannot be written, 16.0 MiB needed")
    assert (network.state, network.seen) == (NOTE, "the host's")
    assert every["virtual machine"].state == RESERVATION
    assert "the reference run" in every["virtual machine"].source
    assert "unknown" not in every["virtual machine"].effect


@pytest.mark.slow
@pytest.mark.usefixtures("opened_before")
def test_the_command_names_its_reservations(ipclab) -> None:
    done = ipclab("doctor", "--seconds", "0.1")
    states = [
        line.split()[0]
        for line in done.stdout.splitlines()
        if line.startswith((FIT, NOTE, RESERVATION))
    ]
    assert states.count(FIT) > 5
    assert done.returncode == (1 if RESERVATION in states else 0)
    assert done.stderr.count("\n") == done.returncode
