"""Every table of the reports by name."""

from collections.abc import Callable

from ipclab.claims.payload import CLAIMS
from ipclab.claims.published import payload_facts, read_table
from ipclab.errors import UsageError
from ipclab.paths import checkout
from ipclab.report.table import Table
from ipclab.tables import environment, payload
from ipclab.tables.claims import claims
from ipclab.view import View
from ipclab.words import nearest


def payload_claims(view: View) -> Table:
    """Return the payload text's claims with their verdicts."""
    return claims(view, CLAIMS, payload_facts(read_table(checkout().published / "000_payload.csv")))


TABLES: dict[str, Callable[[View], Table]] = {
    "machine": environment.machine,
    "run": environment.run,
    "payload-published": payload.published,
    "payload-phases": payload.phases,
    "payload-handover": payload.handover,
    "payload-past": payload.past,
    "payload-polling": payload.polling,
    "payload-claims": payload_claims,
}


def make(view: View, name: str) -> Table:
    """Return the table `name`; raises `UsageError` for an unknown one."""
    if name not in TABLES:
        raise UsageError(f"no table {name!r}", "", f"did you mean {nearest(name, TABLES)!r}?")
    return TABLES[name](view)
