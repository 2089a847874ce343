"""A document to sign: who signs it, its number on every page, and the mark of what is preliminary."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ipclab.claims.file import Control, Revision
from ipclab.lab.audit import with_own
from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.lab.table import Table
from ipclab.lab.tabulation import tabulated
from ipclab.studies.profile import PROFILES

MIME = "application/vnd.ipclab.page+json"
LEAST = "standard"  # the profile from which on values are not preliminary
PRELIMINARY = N_("PRELIMINARY (profile {profile}): not to be signed")
SIGNING = (
    (N_("Author"), "author"),
    (N_("Reviewer"), "reviewer"),
    (N_("Approver"), "approver"),
)


@dataclass(frozen=True)
class Marks:
    """What stands on every page: the document's number (empty: a line to write it on), and a mark,
    empty for none.
    """

    number: str
    mark: str

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        told = {"number": self.number, "mark": self.mark}
        return {MIME: told, "text/plain": " · ".join(filter(None, told.values()))}


def is_preliminary(lab: Data) -> bool:
    """Tell whether the run's profile is below `standard`."""
    names = list(PROFILES)
    return names.index(lab.run.about["parameters"]["profile"]) < names.index(LEAST)


def signed_by(lab: Data) -> Control:
    """Return what `report.toml` says of the document; raises `UsageError` for what it cannot say."""
    told = with_own(lab, str(lab.paths.control))._own
    return (told and told.document) or Control()


def page_marks(lab: Data) -> Marks:
    """Return what every page of a signed document bears: its number, and a mark while the run is
    preliminary.

    >>> page_marks(lab)         # as the last line of a cell on the first page
    """
    profile = lab.level("profile", lab.run.about["parameters"]["profile"])
    mark = lab.say(PRELIMINARY, profile=profile) if is_preliminary(lab) else ""
    return Marks(signed_by(lab).number, mark)


def title_block(lab: Data) -> Table:
    """Return number, revision and date, for each who signs a name and cells for signature and date,
    and the history.

    Where `report.toml` names no earlier revision, the history is a line to write on.
    """
    control = signed_by(lab)
    heads = [N_("Document number"), N_("Revision"), N_("Date")]
    rows: list[Sequence[str]] = [
        _fields(lab, heads, [control.number, control.revision, control.date])
    ]
    for who, name in SIGNING:
        heads = [who, N_("Signature"), N_("Date")]
        rows.append(_fields(lab, heads, [getattr(control, name), "", ""]))
    heads = [N_("History: revision"), N_("Date"), N_("What changed")]
    for each in control.history or [Revision()]:
        rows.append(_fields(lab, heads, [each.revision, each.date, each.change]))
    frame = pd.DataFrame(rows, columns=[""] * 6)
    return tabulated(lab, frame, "", name="control")


def _fields(lab: Data, heads: Sequence[str], values: Sequence[str]) -> list[str]:
    said = []
    for head, value in zip(heads, values, strict=True):
        said += [lab.say(head), value]
    return said
