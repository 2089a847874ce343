"""What a file states: claims, requirements, derived numbers, corrections, a document's fields."""

from typing import Literal

import msgspec

from ipclab.claims.claim import OWN, Claim, Text
from ipclab.claims.expression import Term
from ipclab.claims.requirement import Requirement

NO_TABLE = "the file gives no table for it"
Terms = dict[str, Term]


class Derivation(msgspec.Struct, forbid_unknown_fields=True):
    """Numbers that a text derives from its own: where they are printed, what they should be.

    `by` is a msgid that says how; `sense` what the printed number claims to be: equal to the
    computed one, the lowest or the highest of them, or equal with its further digits cut off.
    """

    printed: Text
    computed: Term
    by: Text
    sense: Literal["equal", "lowest", "highest", "truncated"] = "equal"


class Correction(msgspec.Struct, forbid_unknown_fields=True):
    """What can stand in place of the words of some claims, or of `quote` (in section `source`).

    `own` is a msgid whose numbers follow from the text's own table, `here` one whose numbers are
    this run's; either may be empty. The values of their placeholders are expressions, `values`
    those of both.
    """

    claims: tuple[str, ...] = ()
    own: str = ""
    here: str = ""
    quote: str = ""
    source: str = ""
    values: Terms = {}
    own_values: Terms = {}
    here_values: Terms = {}

    def __post_init__(self) -> None:
        self.own_values = self.values | self.own_values
        self.here_values = self.values | self.here_values


class Revision(msgspec.Struct, forbid_unknown_fields=True):
    """One revision of a signed document: its name, its date and what changed."""

    revision: str = ""
    date: str = ""
    change: str = ""


class Control(msgspec.Struct, forbid_unknown_fields=True):
    """What stands on the first page of a signed document: empty fields are lines to write on."""

    number: str = ""
    revision: str = ""
    date: str = ""
    author: str = ""
    reviewer: str = ""
    approver: str = ""
    history: list[Revision] = []

    @property
    def printed(self) -> list[msgspec.Struct]:
        """What is printed as it is: the document's own fields, and each revision's."""
        return [self, *self.history]


class _Names(msgspec.Struct):
    names: dict[str, str] = {}


class File(_Names, forbid_unknown_fields=True, kw_only=True):
    """What a file of claims states.

    `printed` gives the op and metric of a run for quantities of a text's table, `levels` the levels
    of its factors.
    """

    claims: list[Claim] = msgspec.field(default_factory=list, name="claim")
    requirements: list[Requirement] = msgspec.field(default_factory=list, name="requirement")
    document: Control | None = None
    derived: list[Derivation] = []
    corrections: list[Correction] = msgspec.field(default_factory=list, name="correction")
    seed: str = OWN
    study: str = ""
    title: str = ""
    language: str = ""
    printed: dict[str, str] = {}
    levels: dict[str, dict[str, int]] = {}

    def __post_init__(self) -> None:
        for requirement in self.requirements:
            requirement.language = requirement.language or self.language
        for claim in self.claims:
            claim.language = claim.language or self.language
            claim.meaning = claim.meaning or claim.text
            claim.section = claim.section or claim.source
            if self.seed == OWN and not claim.published:
                claim.unstated = NO_TABLE
