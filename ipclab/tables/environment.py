"""The tables of the machine and of the run."""

from collections.abc import Sequence
from typing import Any

from ipclab.facts.rows import Row
from ipclab.machine import FACTS
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.view import View

# What a reader needs to compare two machines; all facts are in the run's run.json.
SHOWN = (
    *("cpu_model", "sockets", "cores", "threads_per_core", "numa_nodes", "cpus_allowed"),
    *("cache_l1d", "cache_l2", "cache_l3", "cache_line"),
    *("frequency_governor", "frequency_max", "boost", "idle_governor", "halt_polling_guest", "halt_polling_host"),
    *("memory_installed", "page_size", "thp_enabled", "thp_shmem", "fault_around", "swap_total"),
    *("kernel_release", "architecture", "preemption", "timer_frequency", "clocksource", "clock_resolution"),
    *("virtualisation", "container", "cpu_quota", "memory_limit"),
    *("shm_filesystem", "shm_size", "scratch_filesystem", "scratch_disk", "open_files_soft"),
    *("tcp_congestion", "loopback_mtu", "os_name", "libc", "python", "numpy", "posix_ipc", "ipclab", "lock_digest"),
    *("git_commit", "git_dirty"),
)
REASONS = {
    "absent": N_("not offered by this machine"),
    "denied": N_("may not be read"),
    "unlimited": N_("no limit"),
}
WORDS = {True: N_("yes"), False: N_("no")}
GIB = 1 << 30


def machine(view: View) -> Table:
    """Return the facts of the machine that was measured, with those that identify it marked."""
    _ = view.say
    facts, reasons = view.about["machine"]["facts"], view.about["machine"]["reasons"]
    specs = {spec.name: spec for spec in FACTS}
    rows = [
        [
            _(specs[name].label) + (" *" if specs[name].identifies else ""),
            text(view, name, facts.get(name), reasons.get(name, "absent")),
        ]
        for name in SHOWN
    ]
    note = _("A star marks what identifies the machine; its digest is {run.machine}.")
    return Table(_("The machine that was measured"), [Column(_("Fact")), Column(_("Value"))], rows, [note])


def text(view: View, name: str, value: Any, reason: str) -> str:
    """Return a fact of the machine as a cell; for a value that is None, what `reason` means."""
    spec = next(spec for spec in FACTS if spec.name == name)
    if value is None or isinstance(value, bool):
        return view.say(REASONS.get(reason, REASONS["absent"]) if value is None else WORDS[value])
    if not isinstance(value, int | float):
        return str(value) or "–"
    if spec.format == "bytes":
        return view.value(value, "B", "GiB" if value >= GIB else "")
    if spec.format == "frequency":
        return f"{view.numbers.number(value, 0)}\u00a0Hz"
    if spec.format == "duration":
        return view.value(value, "ns")
    return view.numbers.number(value, 0 if isinstance(value, int) else None)


def _flagged(rows: Sequence[Row], flag: str) -> int:
    return len({row.point.id for row in rows if any(name.startswith(f"{flag}:") for name in row.flags)})


def run(view: View) -> Table:
    """Return how much was measured: profile, points, launches, samples, failures, disturbed launches."""
    _ = view.say
    times = [row for row in view.rows if row.metric == "p50" and "." not in row.op]
    points = {row.point.id: row for row in times}
    disturbed = sum(any(flag.startswith("disturbed") for flag in row.flags) for row in points.values())
    ended = {stop: sum(stop in row.flags for row in points.values()) for stop in ("precise", "settled", "budget")}
    rows = [
        [_("Run"), str(view.about["id"])],
        [_("Begun"), view.fact("run.date")],
        [_("Profile"), view.fact("run.profile")],
        [_("Seed of all orders and intervals"), view.fact("run.seed")],
        [_("Points measured"), view.fact("run.points")],
        [_("Launches"), view.value(sum(row.estimate.launches for row in points.values()), "count")],
        [_("Timed operations"), view.value(sum(row.estimate.samples for row in times), "count")],
        [_("Points ended as precise, as settled, by the budget"), ", ".join(str(count) for count in ended.values())],
        [_("Points with disturbed launches (flagged, repeated, kept)"), view.value(disturbed, "count")],
        [_("Points whose launches drift"), view.value(_flagged(times, "drift"), "count")],
        [_("Points with more than one mode"), view.value(_flagged(times, "modes"), "count")],
        [_("Points that failed"), view.fact("run.failures")],
    ]
    return Table(_("The run behind this report"), [Column(_("Item")), Column(_("Value"), "right")], rows)
