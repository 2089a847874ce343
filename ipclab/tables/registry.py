"""Every table of the reports by name."""

from collections.abc import Callable, Sequence

from ipclab.claims import payload as payload_claims
from ipclab.claims import round_trip as round_trip_claims
from ipclab.claims.claim import Claim
from ipclab.claims.published import texts
from ipclab.errors import UsageError
from ipclab.paths import checkout
from ipclab.report.table import Table
from ipclab.tables import calibration, environment, limits, payload, round_trip
from ipclab.tables.claims import claims
from ipclab.view import View
from ipclab.words import nearest


def _judged(stated: Sequence[Claim]) -> Callable[[View], Table]:
    return lambda view: claims(view, stated, texts(checkout()))


TABLES: dict[str, Callable[[View], Table]] = {
    "machine": environment.machine,
    "run": environment.run,
    "payload-published": payload.published,
    "payload-phases": payload.phases,
    "payload-handover": payload.handover,
    "payload-past": payload.past,
    "payload-polling": payload.polling,
    "payload-claims": _judged(payload_claims.CLAIMS),
    "limits": limits.limits,
    "calibration": calibration.calibration,
    "round-trip-published": round_trip.published,
    "round-trip-main": round_trip.main,
    "round-trip-waiting": round_trip.waiting,
    "round-trip-gaps": round_trip.gaps,
    "round-trip-touching": round_trip.touching,
    "round-trip-choice": round_trip.choice,
    "round-trip-claims": _judged(round_trip_claims.CLAIMS),
}


def make(view: View, name: str) -> Table:
    """Return the table `name`; raises `UsageError` for an unknown one."""
    if name not in TABLES:
        raise UsageError(f"no table {name!r}", "", f"did you mean {nearest(name, TABLES)!r}?")
    return TABLES[name](view)
