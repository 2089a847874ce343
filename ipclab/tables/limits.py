"""The limits of the hardware, and results over the limit that matches them."""

from ipclab.facts.limits import PASSES
from ipclab.facts.rows import Row
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.studies.limits import MEMCPY_SIZES
from ipclab.view import View

# The native echo that does the same system work as a mechanism does.
FLOORS = {
    **dict.fromkeys(("posix-shm", "shm-futex", "iceoryx2"), "echo-shm-futex"),
    "shm-spin": "echo-shm-spin",
    **dict.fromkeys(("unix", "zmq-ipc", "mp-pipe"), "echo-unix"),
    **dict.fromkeys(("tcp", "zmq-tcp"), "echo-tcp"),
    **dict.fromkeys(("pipe", "mp-queue"), "echo-pipe"),
}
SPINNING = "echo-shm-spin"
LIMIT_NAMES = (
    ("clock", "read", N_("clock read")),
    ("syscall", "call", N_("system call")),
    ("cache-line", "round-trip", N_("cache line, there and back (two lines, store and load)")),
    ("cache-line-cas", "round-trip", N_("cache line, there and back (one line, compare and swap)")),
    ("futex-wake", "wake", N_("waking a sleeping process (futex)")),
)
ECHO_NAMES = {
    "shm-spin": N_("native echo, shared memory, spinning"),
    "shm-futex": N_("native echo, shared memory, futex"),
    "pipe": N_("native echo, pipe"),
    "unix": N_("native echo, Unix socket"),
    "tcp": N_("native echo, TCP on loopback"),
}


def over_limit(view: View, row: Row | None) -> str:
    """Return a time over its copies at memcpy's speed, for a handover after a futex wake; a dash without either.

    A limit is the lower end of its interval: what disturbed it must not make a mechanism look better.
    """
    if row is None:
        return "–"
    passes = PASSES[row.point.study, row.op]
    limit = view.rows.find("copy", study="limits", backend="memcpy", size_bytes=row.point.size_bytes)
    if limit is None:
        return "–"
    wake = view.rows.find("wake", study="limits", backend="futex-wake", placement=row.point.placement)
    # Who waits asleep must first be woken: between processes, that is a part of the limit.
    asleep = wake.estimate.low if wake and row.op == "handover" else 0.0
    return view.value(row.estimate.value / (passes * limit.estimate.low + asleep), "1")


def over_floor(view: View, row: Row | None) -> str:
    """Return a round trip over the native echo that does the same work at the same size and placement; or a dash."""
    if row is None:
        return "–"
    point = row.point
    floor = SPINNING if str(point.levels["wait"]).startswith("spin") else FLOORS.get(point.backend)
    found = floor and view.rows.find(
        "round-trip", study="limits", backend=floor, size_bytes=point.size_bytes, placement=point.placement
    )
    return view.value(row.estimate.value / found.estimate.low, "1") if found else "–"


def limits(view: View) -> Table:
    """Return what the hardware allows, in both placements, and memcpy by size."""
    _ = view.say
    rows = []
    for backend, op, label in LIMIT_NAMES:
        rows.append([_(label), *_placed(view, backend, op)])
    for kind, label in ECHO_NAMES.items():
        sizes = sorted({row.point.size_bytes for row in view.rows.all("round-trip", backend=f"echo-{kind}")})
        rows += [
            [
                _(N_("{what}, {size}"), what=_(label), size=view.value(size, "B")),
                *_placed(view, f"echo-{kind}", "round-trip", size),
            ]
            for size in (sizes[:1] + sizes[-1:])
        ]
    copies = view.rows.all("copy", "bandwidth", study="limits", backend="memcpy")
    shown = [row for row in copies if row.point.size_bytes in MEMCPY_SIZES]
    for row in sorted(shown, key=lambda row: row.point.size_bytes):
        size = view.value(row.point.size_bytes, "B")
        rows.append([_(N_("memcpy of {size}"), size=size), view.cell(row, "interval"), "–"])
    columns = [Column(_("Limit")), Column(_("same CPU"), "right"), Column(_("two CPUs"), "right")]
    absent = _("The native package was not there, so limits were not testable here; install Rust, then: make setup.")
    notes = [] if shown else [absent]
    return Table(_("What the hardware allows, measured natively in the same run"), columns, rows, notes)


def _placed(view: View, backend: str, op: str, size: int = 0) -> list[str]:
    found = view.rows.all(op, study="limits", backend=backend, size_bytes=size)
    return [view.cell(found.find(op, placement=placement)) for placement in ("same", "cross")]
