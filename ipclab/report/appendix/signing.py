"""A document to sign: what identifies it, who signs it, and its number on every page."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ipclab.claims.audit import with_own
from ipclab.claims.file import Control, Revision
from ipclab.lab import head
from ipclab.lab.data import Data
from ipclab.report.appendix.uncertainty import apart
from ipclab.tables.table import Column, Table
from ipclab.words.catalogue import N_

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

MIME = "application/vnd.ipclab.page+json"
SIGNING = N_("Author"), N_("Reviewer"), N_("Assessor"), N_("Approver")
# What `report.toml` says, by what the document calls it: a line each.
IDENTIFYING = [
    [(N_("Document number"), "number"), (N_("Revision"), "revision"), (N_("Date"), "date")],
    [(N_("Laboratory"), "laboratory"), (N_("Place"), "place"), (N_("Customer"), "customer")],
    [
        (N_("Test item"), "item"),
        (N_("Version of the item"), "item_version"),
        (N_("Plan and criteria, dated"), "plan"),
    ],
]
SESSIONS = N_("{count:int} ({apart:int} apart at least)")


@dataclass(frozen=True)
class Marks:
    """What stands on every page of a document to sign: its number, or a line to write it on."""

    number: str

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: {"number": self.number}, "text/plain": self.number}


def is_preliminary(lab: Data, *studies: str) -> bool:
    """Tell whether the run's profile is below `standard`, and with `studies` whether one is, too.

    A briefer profile may measure one as deep as `standard` does.
    """
    if studies:
        return any(head.study_is_preliminary(lab.run, study) for study in studies)
    return head.profile_is_preliminary(lab.run.profile)


def control_of(lab: "Lab") -> Control:
    """Return what `report.toml` says of the document; `UsageError` for what it cannot say."""
    own = with_own(lab)._own
    return (own and own.document) or Control()


def page_marks(lab: "Lab") -> Marks:
    """Return a signed document's number.

    >>> page_marks(lab)         # as the last line of a cell on the first page
    """
    return Marks(control_of(lab).number)


def title_block(lab: "Lab") -> Table:
    """Return what identifies the document, when was measured, the signers' cells, and the history.

    Where `report.toml` names no earlier revision, the history is a line to write on. What a person
    typed stands as it is: a version may be called what a level is.
    """
    control = control_of(lab)
    others = {other.words.lang: _block(other, control) for other in lab.others}
    return replace(_block(lab, control), others=others)


def _block(lab: Data, control: Control) -> Table:
    about = lab.run.about
    count, gap = lab.run.last_session, apart(lab)
    sessions = lab.say(SESSIONS, count=count, apart=gap) if gap else str(count)
    lines = [[(head, getattr(control, name)) for head, name in each] for each in IDENTIFYING]
    lines.append(
        [
            (N_("Measured from"), minute(about.get("begun"))),
            (N_("Measured until"), minute(about.get("finished"))),
            (N_("Sessions"), sessions),
        ]
    )
    for who in SIGNING:
        signer = getattr(control, who.lower())
        lines.append([(who, signer), (N_("Signature"), ""), (N_("Date"), "")])
    for entry in control.history or [Revision()]:
        lines.append(
            [
                (N_("History: revision"), entry.revision),
                (N_("Date"), entry.date),
                (N_("What changed"), entry.change),
            ]
        )
    rows = [[text for head, value in line for text in (lab.say(head), value)] for line in lines]
    return Table("", [Column("")] * 6, rows, name="control", lang=lab.words.lang)


def minute(moment: str | None) -> str:
    """Return a moment (ISO 8601, UTC) to the minute; "" for none."""
    return f"{moment[:10]} {moment[11:16]} UTC" if moment else ""
