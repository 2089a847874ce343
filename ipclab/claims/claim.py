"""Claims: what a published text states, as functions of the numbers of a run.

>>> def trip(backend: str) -> Lookup:
...     return look("round-trip", "mean", backend=backend, size_bytes=ALL)
>>> text = PublishedText("003", "round_trip", N_("shm-rpc-bridge, transport benchmark, in English"), "en")
>>> text.claim(
...     "Example Results",
...     "3.1",
...     "SHM POSIX: 80.68 μs/call, ZeroMQ IPC: 275.65 μs/call",  # the quotation
...     "above 1",
...     N_("Shared memory is faster than ZeroMQ at every size."),
...     here=trip("zmq-ipc") / trip("shm-rpc-bridge"),
... )
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ipclab.claims.amounts import amount
from ipclab.claims.comparison import Bounds
from ipclab.claims.numbers import Compared, Numbers, found_in
from ipclab.stats.quantity import Quantity, of
from ipclab.words.filling import placeholders

Compare = Callable[[Numbers], Compared]
FindValues = Callable[[Numbers], Mapping[str, Quantity]]
Sense = Literal["equal", "lowest", "highest", "truncated"]
HOLDS, FAILS, UNDECIDED, NOT_TESTABLE = "holds", "fails", "undecided", "not testable here"
NEEDS = ("cpus", "large_files", "massive_files")  # what a claim may need of a run
PUBLISHED = "published"


@dataclass(frozen=True)
class Claim:
    """One published statement: its words, its bounds, and what is compared with them.

    `quote` are the original's words, `meaning` a msgid for readers of other languages with
    `figures` as its placeholders. `here` is what is compared on a run by the published method;
    `table` and `fair` are what is compared with the same bounds on the text's own table, and by a
    fair method, where these differ. `unstated` says, as a msgid, why the text's table cannot
    decide, `untestable` what it would take where no run can, `adds` what the fair method adds,
    `concedes` what the text itself says that limits the claim; `from_code` tells that the text's
    code decides, not its table. `needs` is what must be known of the run, at least; `arm` is that
    of the published method.
    """

    id: str
    section: str
    bounds: Bounds
    meaning: str
    here: Compare
    quote: str = ""
    language: str = ""
    figures: Mapping[str, Quantity] = field(default_factory=dict)
    table: Compare | None = None
    fair: Compare | None = None
    adds: str = ""
    concedes: str = ""
    unstated: str = ""
    untestable: str = ""
    from_code: bool = False
    needs: Mapping[str, float] = field(default_factory=dict)
    arm: str = PUBLISHED
    translations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Derivation:
    """Numbers that a text derives from its own: where they are printed, what they should be.

    `by` is a msgid that says how; `sense` what the printed number claims to be: equal to the
    computed one, the lowest or the highest of them, or equal with its further digits cut off. A
    printed number that several derive follows when one of them gives it.
    """

    printed: Compare
    computed: Compare
    by: str
    sense: Sense = "equal"


@dataclass(frozen=True)
class Correction:
    """What can stand in place of the words of some claims, or of `quote` (in section `source`).

    `table` is a msgid whose numbers (`table_values`) follow from the text's own table, `here` one
    whose numbers are this run's; either may be empty.
    """

    claims: Sequence[str] = ()
    table: str = ""
    table_values: FindValues = lambda _: {}
    here: str = ""
    here_values: FindValues = lambda _: {}
    quote: str = ""
    source: str = ""


@dataclass(frozen=True)
class PublishedText:
    """A published text: what it claims and derives, and what can stand in its place.

    `number` is what documents call it by. `printed` gives the op and metric of a run for quantities
    of its table, `levels` the levels of its factors.
    """

    number: str
    study: str
    title: str
    language: str
    printed: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    derived: list[Derivation] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)

    def claim(
        self,
        section: str,
        id_: str,
        quote: str,
        bounds: str,
        meaning: str,
        *,
        here: Compare,
        figures: Mapping[str, str | float] | None = None,
        **more: Any,
    ) -> None:
        """Note a claim: what is looked up by `here` lies within `bounds`, such as `above 1`.

        `more` are further fields of `Claim`. Where its meaning has `{low}` or `{high}` and no such
        figure, it is that end of the bounds. Raises `RuleError` for bounds or a figure that cannot
        be read.
        """
        read = Bounds.read(bounds)
        ends = dict(zip(("low", "high"), read.written, strict=True))
        amounts = {
            end: Quantity(ends[end], read.unit, kind="published")
            for end, _ in placeholders(meaning)
            if end in ends
        }
        amounts |= {called: amount(str(figure)) for called, figure in (figures or {}).items()}
        claim = Claim(
            id=id_,
            section=section,
            bounds=read,
            meaning=meaning,
            here=here,
            quote=quote,
            language=self.language,
            figures=amounts,
            **more,
        )
        self.claims.append(claim)

    def derive(self, by: str, printed: Compare, computed: Compare, sense: Sense = "equal") -> None:
        """Note a derivation, told `by` a msgid."""
        self.derived.append(Derivation(printed, computed, by, sense))

    def correct(
        self,
        *claims: str,
        table_values: Mapping[str, Any] | FindValues | None = None,
        here_values: Mapping[str, Any] | FindValues | None = None,
        **more: Any,
    ) -> None:
        """Note a correction of `claims`; `more` are further fields of `Correction`.

        Values are look-ups, quantities and numbers by name, or a function that finds all of them.
        """
        table, here = _told(table_values or {}), _told(here_values or {})
        self.corrections.append(Correction(claims, table_values=table, here_values=here, **more))


def _told(values: Mapping[str, Any] | FindValues) -> FindValues:
    if callable(values):
        return values
    return lambda numbers: {name: of(found_in(numbers, each)) for name, each in values.items()}
