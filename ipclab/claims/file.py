"""What a person's own file states: claims, requirements, a document's fields."""

from math import inf

import msgspec

from ipclab.claims.amounts import RuleError, amount, named
from ipclab.claims.claim import NEEDS, Claim
from ipclab.claims.comparison import Rule
from ipclab.claims.requirement import Amounts, NonEmpty, Requirement
from ipclab.claims.verdicts import in_unit
from ipclab.errors import hint
from ipclab.stats.quantity import Quantity
from ipclab.words.catalogue import N_

NO_TABLE = N_("the file gives no number of its own for it")
OWN = "own"  # in place of the study of a text: claims of a person


class OwnClaim(msgspec.Struct, forbid_unknown_fields=True):
    """One claim as a person's file states it: `rule` is an address, a comparison and an amount.

    `fair` is an address whose value a fair method compares with the same bound; `published` the
    amount that the claim's own source gives.
    """

    id: NonEmpty
    text: NonEmpty
    rule: Rule
    language: str = ""
    source: str = ""
    fair: str = ""
    adds: str = ""
    published: str | float = ""
    untestable: str = ""
    needs: dict[str, float] = {}
    translations: dict[str, str] = {}
    figures: Amounts = msgspec.field(default_factory=Amounts)

    def __post_init__(self) -> None:
        """Raise `RuleError` for needs that cannot be known of a run, or an amount that is none."""
        for name, least in self.needs.items():
            if name not in NEEDS:
                raise RuleError(f"nothing is known of {name!r}", hint(name, NEEDS), "needs")
            if not 0 < least < inf:
                raise RuleError(f"{name} = {least} is no least number", "give one above 0", "needs")
        _ = self.fair_rule
        if stated := self.stated:
            with named("published"):
                in_unit(stated, self.rule.bounds.unit)

    @property
    def fair_rule(self) -> Rule | None:
        """Return the rule of the fair method, or None; raises `RuleError`."""
        with named("fair"):
            return Rule.of(self.fair, self.rule.bounds) if self.fair else None

    @property
    def stated(self) -> Quantity | None:
        """Return the amount of the claim's own source, or None; raises `RuleError`."""
        with named("published"):
            return None if self.published == "" else amount(str(self.published))

    def claim(self) -> Claim:
        """Return it as what is judged."""
        stated = self.stated
        fair = self.fair_rule
        return Claim(
            self.id,
            self.source,
            self.rule.bounds,
            self.text,
            self.rule.compared,
            quote=self.text,
            language=self.language,
            translations=self.translations,
            figures=self.figures,
            table=(lambda _: stated) if stated else None,
            fair=fair.compared if fair else None,
            adds=self.adds if fair else "",
            unstated="" if stated else NO_TABLE,
            untestable=self.untestable,
            needs=self.needs,
        )


class Revision(msgspec.Struct, forbid_unknown_fields=True):
    """One revision of a signed document: its name, its date and what changed."""

    revision: str = ""
    date: str = ""
    change: str = ""


class Control(msgspec.Struct, forbid_unknown_fields=True):
    """What stands in a signed document and no run knows: empty fields are lines to write on.

    `plan` is the document that held plan and criteria before the run, with its date, `assessor` who disposes of
    flagged results, `tool_class` is the tool's, which follows from
    `tool_impact` and `tool_detection`, and `tool_tests` are its tests of the commit.
    """

    number: str = ""
    revision: str = ""
    date: str = ""
    laboratory: str = ""
    place: str = ""
    customer: str = ""
    item: str = ""
    item_version: str = ""
    plan: str = ""
    author: str = ""
    reviewer: str = ""
    approver: str = ""
    assessor: str = ""
    tool_class: str = ""
    tool_impact: str = ""
    tool_detection: str = ""
    tool_tests: str = ""
    history: list[Revision] = []


class File(msgspec.Struct):
    """What a person's file holds."""

    claims: list[OwnClaim]
    requirements: list[Requirement]
    document: Control | None = None
