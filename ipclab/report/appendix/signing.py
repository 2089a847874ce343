"""A document to sign: who signs it, its number on every page, and its configuration.

The configuration is what the run was measured with, beside what the lock file pins.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ipclab.claims.audit import with_own
from ipclab.claims.file import Control, Revision
from ipclab.lab import head
from ipclab.lab.data import Data
from ipclab.tables.table import Table
from ipclab.tables.tabulation import tabulated
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

if TYPE_CHECKING:
    from ipclab.report.lab import ReportLab

MIME = "application/vnd.ipclab.page+json"
SIGNING = N_("Author"), N_("Reviewer"), N_("Approver")
# The facts of a run by what reports call them; packages have their versions in the lock file, too.
SOFTWARE = {
    "ipclab": "ipclab",
    "git_commit": N_("commit"),
    "lock_digest": N_("lock file (SHA-256, its beginning)"),
    "python": "Python",
    "numpy": "NumPy",
    "pyarrow": "PyArrow",
    "posix_ipc": "posix_ipc",
    "pyzmq": "pyzmq",
    "lmdb": "lmdb",
    "native_digest": N_("native package (SHA-256, its beginning)"),
    "cargo": N_("compiler of the native package"),
    "kernel_release": N_("kernel"),
    "libc": N_("C library"),
}
CHANGED = N_("{commit}, with changes that no commit holds")
UNRECORDED = N_("not recorded in this run")
_PIN = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Marks:
    """What stands on every page of a document to sign: its number, or a line to write it on."""

    number: str

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: {"number": self.number}, "text/plain": self.number}


def is_preliminary(lab: Data, study: str = "") -> bool:
    """Tell whether the run's profile is below `standard`, and with a `study` whether that is, too.

    A briefer profile may measure one as deep as `standard` does.
    """
    if study:
        return head.study_is_preliminary(lab.run, study)
    return head.profile_is_preliminary(lab.run.profile)


def control_of(lab: "ReportLab") -> Control:
    """Return what `report.toml` says of the document; `UsageError` for what it cannot say."""
    own = with_own(lab)._own
    return (own and own.document) or Control()


def page_marks(lab: "ReportLab") -> Marks:
    """Return a signed document's number.

    >>> page_marks(lab)         # as the last line of a cell on the first page
    """
    return Marks(control_of(lab).number)


def title_block(lab: "ReportLab") -> Table:
    """Return number, revision and date, the signers' names and cells, and the history.

    Where `report.toml` names no earlier revision, the history is a line to write on.
    """
    control = control_of(lab)
    number = (N_("Document number"), control.number)
    revision = (N_("Revision"), control.revision)
    rows = [_fields(lab, number, revision, (N_("Date"), control.date))]
    for who in SIGNING:
        name = getattr(control, who.lower())
        rows.append(
            _fields(
                lab,
                (who, name),
                (N_("Signature"), ""),
                (N_("Date"), ""),
            )
        )
    for entry in control.history or [Revision()]:
        revision = (N_("History: revision"), entry.revision)
        changed = (N_("What changed"), entry.change)
        rows.append(
            _fields(
                lab,
                revision,
                (N_("Date"), entry.date),
                changed,
            )
        )
    return tabulated(
        lab,
        pd.DataFrame(rows, columns=[""] * 6),
        "",
        name="control",
    )


def _fields(lab: Data, *fields: tuple[str, str]) -> list[str]:
    return [text for head, value in fields for text in (lab.say(head), value)]


def about_configuration(lab: Data) -> pd.DataFrame:
    """Return what the run was measured with (item, measured), and its pins (locked)."""
    facts = lab.run.facts
    pins = _pins(lab)
    rows = []
    for fact, what in SOFTWARE.items():
        said = str(facts.get(fact) or lab.say(UNRECORDED))
        if fact == "git_commit" and facts.get(fact):
            said = said[:12]
            if facts.get("git_dirty"):
                said = lab.say(CHANGED, commit=said)
        locked = lab.words.joined(pins.get(fact.replace("_", "-"), [DASH]))
        rows.append((lab.say(what), said, locked))
    return pd.DataFrame(rows, columns=["item", "measured", "locked"])


def _pins(lab: Data) -> dict[str, list[str]]:
    """Return the versions that the lock file pins, several where Python's version decides."""
    pins: dict[str, list[str]] = {}
    if lab.paths.lock.is_file():
        for package, version in _PIN.findall(lab.paths.lock.read_text("utf-8")):
            pins.setdefault(package, []).append(version)
    return pins
