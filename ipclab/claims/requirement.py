"""Requirements: each names its statistic, and is judged on all operations or the frames of a run.

No number of samples shows a maximum, but one refutes it. What of a maximum can be shown is a
`coverage` of launches by their largest samples, with confidence (`claims.tolerance`).
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite
from typing import Annotated, Literal, NamedTuple

import msgspec
import numpy as np

from ipclab.claims import tolerance
from ipclab.claims.amounts import KINDS, PLAIN, UNITS, RuleError, named
from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE
from ipclab.claims.comparison import Rule
from ipclab.claims.numbers import Compared, Numbers
from ipclab.claims.tolerance import Coverage
from ipclab.claims.verdicts import on_run
from ipclab.frames.metrics import summary
from ipclab.stats.quantity import Quantity
from ipclab.store.launch import UNRECORDED
from ipclab.store.samples import Measured
from ipclab.words.filling import placeholders

NonEmpty = Annotated[str, msgspec.Meta(min_length=1)]
MAX, TAIL, COVERAGE, MEDIAN = "max", "p99.9", "coverage", "median"
VIOLATED, NOT_SHOWN = "violated", "not shown"
OF_SAMPLES = (MAX, COVERAGE)  # statistics that samples decide; frames decide the others
OPEN, BEYOND = "open", "few-samples"
NO_END, UNFIXED, BATCHES = "no-end", "unfixed", "batches"
SEVERITY = {VIOLATED: 0, NOT_TESTABLE: 1, NOT_SHOWN: 2, HOLDS: 3}
# Units as words have them, beside the written ones; a plain number is a bound where one of these follows.
SPELLED = {
    (1, 0): (
        *("seconds", "second", "milliseconds", "millisecond", "microseconds", "microsecond"),
        *("nanoseconds", "nanosecond", "초", "밀리초", "마이크로초", "나노초"),
        *("秒", "毫秒", "微秒", "纳秒"),
    ),
    PLAIN: ("%", "percent", "per cent", "퍼센트", "times", "x", "×", "배", "倍"),
}


class Amounts(dict[str, Quantity]):
    """Amounts by name."""


class Requirement(msgspec.Struct, forbid_unknown_fields=True):
    """What must be so, as a file states it: `rule` for the `statistic` of what it compares.

    `max` is an unconditional bound, `coverage` one for a share of launches (`95/95`: 95 % of them,
    with 95 % confidence), both by one address of times; a `coverage` beside `max` says what is
    enough to show it. `median` and `p99.9` are judged by their intervals.

    A bound is written once, in the rule: the words have it as `{bound}`, as `{low}` and `{high}`
    where there are two, and name no other amount of its kind without it.
    """

    id: NonEmpty
    text: NonEmpty
    statistic: Literal["max", "p99.9", "coverage", "median"]
    rule: Rule
    language: str = ""
    source: str = ""
    coverage: str = ""
    translations: dict[str, str] = {}
    figures: Amounts = msgspec.field(default_factory=Amounts)

    def __post_init__(self) -> None:
        """Raise `RuleError` for a statistic that the rule or the coverage does not fit."""
        if self.statistic == COVERAGE and not self.coverage:
            raise RuleError(
                "how much is covered is not said", 'add coverage = "95/95"', "statistic"
            )
        if self.coverage and self.statistic not in OF_SAMPLES:
            why = f"a {self.statistic} covers no share of launches"
            raise RuleError(why, "leave it out, or take max or coverage", "coverage")
        try:
            _ = self.asked and self.asked.launches
        except ValueError as error:
            why = f"{self.coverage!r} is no coverage: {error}"
            fix = "write coverage/confidence in percent: 95/95"
            raise RuleError(why, fix, "coverage") from error
        if self.statistic != MEDIAN:
            with named("rule"):
                self._check_rule()
        for name in self.bounds.keys() & self.figures.keys():
            why = f"{name} is the rule's own"
            raise RuleError(why, "call the figure something else", "figures")
        for key, texts in ("text", [self.text]), ("translations", self.translations.values()):
            for words in texts:
                with named(key):
                    self._check_words(words)

    @property
    def asked(self) -> Coverage | None:
        """Return the share of launches that is to be covered, and how surely; None for none."""
        return Coverage.of(self.coverage) if self.coverage else None

    def compared(self, run: Numbers) -> Compared:
        """Return what the frames decide it by: the rule's own, or the quantile of its address."""
        if self.statistic != TAIL:
            return self.rule.compared(run)
        return run.at(replace(self.rule.addresses[0], metric=TAIL))

    @property
    def bounds(self) -> dict[str, Quantity]:
        """Return the rule's bound as a figure of the text: `{bound}`, or `{low}` and `{high}`."""
        ends = [end for end in dict.fromkeys(self.rule.bounds.written) if isfinite(end)]
        names = ("low", "high") if ends[1:] else ("bound",)
        unit = self.rule.bounds.unit
        return {name: Quantity(end, unit) for name, end in zip(names, ends, strict=True)}

    def _check_rule(self) -> None:
        """Raise `RuleError` for a rule that samples, or their quantile, cannot decide."""
        if self.rule.under or self.rule.addresses[0].metric:
            why = f"{self.statistic} is of samples, not of what is computed"
            raise RuleError(why, "compare one address of an operation, without a metric")
        bounds = self.rule.bounds
        if bounds.low > -inf or bounds.unit != KINDS[1, 0].shown or bounds.rounded:
            why = f"{self.statistic} has one bound of time, exactly as it is written"
            raise RuleError(why, "write at_most 2 ms, or below 2 ms")

    def _check_words(self, words: str) -> None:
        """Raise `RuleError` for words with an amount of the bound's kind, and without the bound."""
        asked = {name for name, _ in placeholders(words)}
        if self.bounds.keys() <= asked:
            return
        dimension = UNITS[self.rule.bounds.unit][1]
        units = {*SPELLED.get(dimension, ())}
        if dimension != PLAIN:
            units.update(KINDS[dimension].units)
        any_unit = "|".join(map(re.escape, sorted(units, key=len, reverse=True)))
        literal = re.search(rf"\d[\d.,\s]*(?:{any_unit})(?![A-Za-z/])", words, re.IGNORECASE)
        named_amounts = [literal[0]] if literal else []
        for name in sorted(asked & self.figures.keys()):
            unit = self.figures[name].unit
            if UNITS[unit][1] == dimension and unit not in ("1", "count"):
                named_amounts.append(f"{{{name}}}")
        if named_amounts:
            bounds = " and ".join(f"{{{name}}}" for name in self.bounds)
            why = f"it says {named_amounts[0]}, which the rule does not hold"
            fix = f"write {bounds}, with a format such as {{{next(iter(self.bounds))}:us,int}}"
            raise RuleError(why, f"{fix}: a bound stands in the rule alone")


class Evidence(NamedTuple):
    """What a run shows of a requirement: the verdict, and what it rests on.

    Of `samples` in `launches`, and of `others` that were timed beside these (warm, first and
    looked-at operations), `beyond` violate the bound (at least so many where not all were kept:
    `counted`), where samples decide. `value` is the largest, or the statistic with its
    interval. `why` says what keeps it from being shown; `more` launches would be enough.
    """

    verdict: str
    launches: int = 0
    samples: int = 0
    others: int = 0
    beyond: int = 0
    counted: bool = True
    value: Quantity | None = None
    why: str = ""
    more: int = 0


def judge_samples(
    requirement: Requirement, points: Sequence[tuple[Measured, str]], fixed: bool
) -> Evidence:
    """Return what samples show of a requirement that they decide, by the worst of `points`.

    `points` are those of its addresses, each with its op, one at least; `fixed` tells that the
    number of launches was fixed before they were seen.
    """
    every = [_of_samples(requirement, measured, op, fixed) for measured, op in points]
    worst = min(every, key=lambda one: (SEVERITY[one.verdict], -one.more))
    summed = ("launches", "samples", "others", "beyond")
    sums = {name: sum(getattr(one, name) for one in every) for name in summed}
    return worst._replace(**sums, counted=all(one.counted for one in every))


def judge_frames(requirement: Requirement, run: Numbers) -> Evidence:
    """Return what the interval of the statistic shows; no samples are counted.

    How many samples lie beyond the bound says nothing of a median, nor of a ratio.
    """
    found = on_run(requirement.rule.bounds, requirement.compared, run)
    if found.word in (HOLDS, FAILS):
        return Evidence(VIOLATED if found.word == FAILS else HOLDS, value=found.deciding)
    return Evidence(NOT_SHOWN, value=found.deciding, why=OPEN if found.deciding else BEYOND)


def _of_samples(requirement: Requirement, measured: Measured, op: str, fixed: bool) -> Evidence:
    """Return what all operations of one point that were timed show: samples, and those beside."""
    launches = sorted(measured.launches, key=lambda launch: launch.order)
    bounds = requirement.rule.bounds
    violates = np.greater_equal if bounds.open else np.greater
    largest, beyond, counts = list[float](), list[int](), {op: 0, UNRECORDED + op: 0}
    for launch in launches:
        largest.append(0.0)
        beyond.append(0)
        for name in counts.keys() & launch.samples.keys():
            known = summary(launch, name)
            kept = int(violates(launch.times(name), bounds.high).sum())
            beyond[-1] += max(kept, int(violates(known[MAX], bounds.high)))  # not all were kept
            largest[-1] = max(largest[-1], known[MAX])
            counts[name] += int(known["samples"])
    found = Evidence(
        NOT_SHOWN,
        len(launches),
        counts[op],
        counts[UNRECORDED + op],
        sum(beyond),
        not any(name in launch.whole for launch in launches for name in counts),
        Quantity(max(largest), "ns"),
    )
    if any(launch.per.get(op, 1) > 1 for launch in launches):
        return found._replace(verdict=NOT_TESTABLE, why=BATCHES)
    if found.beyond and requirement.statistic == MAX:
        return found._replace(verdict=VIOLATED)
    if requirement.asked is None:
        return found._replace(why=NO_END)
    over = sum(map(bool, beyond))
    # The exact test of a share: with so many launches beyond, the largest but these is within it.
    as_many = replace(requirement.asked, rank=over).confidence_of(len(launches)) if over else 1.0
    if as_many <= 1 - requirement.asked.confidence:
        return found._replace(verdict=VIOLATED)
    allowed = replace(requirement.asked, rank=over + 1)
    why = tolerance.state(largest, allowed, len(measured.failures))
    if why == tolerance.HOLDS:
        return found._replace(verdict=HOLDS) if fixed else found._replace(why=UNFIXED)
    more = allowed.launches - len(launches) if why == tolerance.FEW else 0
    return found._replace(why=why, more=more)
