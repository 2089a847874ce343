"""A finding: what a document says of a run, as data; its sentences are in `ipclab.words`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ipclab.stats import judge
from ipclab.stats.quantity import Quantity
from ipclab.words.markdown import UNDECIDED, markdown
from ipclab.words.output import MIME, SCHEMA

LESS, MORE, ALIKE, OPEN, FEW = "less", "more", "alike", "open", "few"
STATE, LIMIT, MISSING = "state", "limit", "missing"
SIDES = {
    judge.ABOVE: MORE,
    judge.BELOW: LESS,
    judge.NOT_TESTED: FEW,
    judge.MISSING: MISSING,
    judge.UNDECIDED: OPEN,
}
NOT_HERE = "not measured"  # why a finding is missing


@dataclass(frozen=True)
class Finding:
    """What was found: `topic` are levels that all `sides` share, `values` numbers and names by role.

    Numbers are lists of value, unit and the ends of an interval (None: endless), as JSON holds
    them. `rests` are the rows (study/point/op/metric) that it follows from, `why` says why it is
    `missing`.
    """

    kind: str
    verdict: str
    measure: str = "time"
    topic: Mapping[str, Any] = field(default_factory=dict)
    sides: Sequence[Mapping[str, Any]] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    rests: Sequence[str] = ()
    why: str = ""

    @property
    def decided(self) -> bool:
        """Tell whether the judge decided it."""
        return self.verdict not in UNDECIDED

    @property
    def heads(self) -> bool:
        """Tell whether it may head a document: decided, and no number of it lacks its interval."""
        return self.decided and not endless(self.values)

    def most(self, way: str) -> Any:
        """Return the mechanism that is most ("more" or "less") of an effect; "" of none."""
        levels, _ = self.values.get(f"{way}_most", ({}, None))
        return levels.get("backend", "")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return bundle("finding", {"findings": [asdict(self)]}, "en")


def not_measured(kind: str, measure: str = "time", why: str = NOT_HERE) -> Finding:
    """Return a finding of which nothing was measured."""
    return Finding(kind, MISSING, measure, why=why)


def verdict(ratio: Quantity, same: float) -> str:
    """Return what a ratio shows: less, more, alike within `same` (a share), or why it is open.

    Of times that have no interval, as extremes have none, it shows nothing.
    """
    if any(part.time and part.ends.low == part.ends.high for part, _ in ratio.product.factors):
        return FEW
    if ratio and judge.within(ratio, 1 / (1 + same), 1 + same) == judge.INSIDE:
        return ALIKE
    return SIDES[judge.side(ratio, 1)]


def endless(values: Any) -> bool:
    """Tell whether a number among the values of a finding has an interval without ends."""
    if isinstance(values, Mapping):
        return any(map(endless, values.values()))
    if not isinstance(values, list | tuple):
        return False
    if values and isinstance(values[0], int | float):
        return None in values
    return any(map(endless, values))


def bundle(kind: str, data: Mapping[str, Any], lang: str) -> dict[str, Any]:
    """Return what Jupyter is given of data: as data, and as `lang` reads it."""
    made = {"schema": SCHEMA, "kind": kind, "data": dict(data)}
    said = markdown(made, lang)
    return {MIME: made, "text/markdown": said, "text/plain": said}
