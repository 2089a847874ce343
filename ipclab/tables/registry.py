"""Every table of the reports by name."""

from collections.abc import Callable, Mapping, Sequence

from ipclab.claims import file_io as file_io_claims
from ipclab.claims import multiplexer as multiplexer_claims
from ipclab.claims import payload as payload_claims
from ipclab.claims import round_trip as round_trip_claims
from ipclab.claims import shared_dict as shared_dict_claims
from ipclab.claims.claim import Claim
from ipclab.claims.published import texts
from ipclab.errors import UsageError
from ipclab.paths import checkout
from ipclab.report.table import Table
from ipclab.tables import (
    calibration,
    environment,
    file_io,
    file_io_ways,
    limits,
    multiplexer,
    multiplexer_choice,
    payload,
    round_trip,
    shared_dict,
    shared_dict_choice,
)
from ipclab.tables import claims as audit
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
    "claims-summary": audit.summary,
    "claims-derived": audit.derived,
    "claims-corrected": audit.corrected,
    "claims-own": audit.own,
    "limits": limits.limits,
    "calibration": calibration.calibration,
    "multiplexer-published": multiplexer.published,
    "multiplexer-sides": multiplexer.sides,
    "multiplexer-memory": multiplexer.memory,
    "multiplexer-placement": multiplexer.placement,
    "multiplexer-streams": multiplexer.streams,
    "multiplexer-threshold": multiplexer.threshold,
    "multiplexer-factorial": multiplexer.factorial,
    "multiplexer-adaptive": multiplexer_choice.adaptive,
    "multiplexer-choice": multiplexer_choice.choice,
    "multiplexer-roadmap": multiplexer_choice.roadmap,
    "multiplexer-claims": _judged(multiplexer_claims.CLAIMS),
    "round-trip-published": round_trip.published,
    "round-trip-main": round_trip.main,
    "round-trip-waiting": round_trip.waiting,
    "round-trip-gaps": round_trip.gaps,
    "round-trip-touching": round_trip.touching,
    "round-trip-choice": round_trip.choice,
    "round-trip-claims": _judged(round_trip_claims.CLAIMS),
    "shared-dict-write": shared_dict.write,
    "shared-dict-read": shared_dict.read,
    "shared-dict-throughput": shared_dict.throughput,
    "shared-dict-main": shared_dict.main,
    "shared-dict-readers": shared_dict.readers,
    "shared-dict-shares": shared_dict.shares,
    "shared-dict-codecs": shared_dict.codecs,
    "shared-dict-stream": shared_dict.stream,
    "shared-dict-live": shared_dict.live,
    "shared-dict-lmdb": shared_dict.lmdb,
    "shared-dict-choice": shared_dict_choice.choice,
    "shared-dict-claims": _judged(shared_dict_claims.CLAIMS),
    "file-io-sets": file_io.sets,
    "file-io-overlap": file_io.overlap,
    "file-io-serial": file_io.serial,
    "file-io-states": file_io.states,
    "file-io-calls": file_io.calls,
    "file-io-flight": file_io.flight,
    "file-io-soon": file_io.soon,
    "file-io-roles": file_io_ways.roles,
    "file-io-maps": file_io_ways.maps,
    "file-io-faults": file_io_ways.faults,
    "file-io-massive": file_io_ways.massive,
    "file-io-general": file_io_ways.general,
    "file-io-choice": file_io_ways.choice,
    "file-io-contradictions": file_io_ways.contradictions,
    "file-io-claims": _judged(file_io_claims.CLAIMS),
}


def make(view: View, name: str, tables: Mapping[str, Callable[[View], Table]] = TABLES) -> Table:
    """Return the table `name`; raises `UsageError` for an unknown one."""
    if name not in tables:
        raise UsageError(f"no table {name!r}", "", f"did you mean {nearest(name, tables)!r}?")
    return tables[name](view)
