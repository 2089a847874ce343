"""What a quantity is made of: sums of products of measured parts, however it was written.

`a / b - 1`, `(a - b) / b` and `1 / (b / a) - 1` have one form, and so one value and one interval.
What was measured in the same launches, or in launches of the same heats, is computed launch by
launch: parts of one launch share its luck, so that a ratio of them varies far less than either. A
ratio of two medians of one run is what the run says of both. All else is taken for independent:
sums combine the distances to the intervals' ends, products do so on the logarithmic scale: the
method of variance estimates recovery (Zou and Donner, Statist. Med. 27, 2008, 1693-1702). It needs
the ends alone and respects their asymmetry.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from math import hypot, inf, isfinite, isnan, log
from typing import NamedTuple, Protocol, TypeAlias

from ipclab.stats.intervals import exp, statistic_estimate
from ipclab.stats.sessions import several

# Launches that parts share, so that what is made of them is made launch by launch
LEAST_SHARED = 2


class Ends(NamedTuple):
    """A value and its interval, infinite where it has no end."""

    value: float
    low: float
    high: float


class Run(Hashable, Protocol):
    """A run that knows what its medians are of each other."""

    def ratio(self, over: str, under: str) -> Ends | None:
        """Return the ratio of two rows by name; None where they are not compared."""


@dataclass(frozen=True)
class Part:
    """A measured value that is made of no others.

    `name` tells it from the other parts of its `run`. `launches` are its values by heat (or
    launch). `time` is 1 for a time, -1 for a rate, and 0 for what no session changes.
    """

    name: str
    run: Run | None
    ends: Ends = field(compare=False)
    launches: Mapping[int, float] = field(compare=False)
    time: int = field(compare=False)


Term: TypeAlias = frozenset[tuple[Part, int]]  # a product of parts to their powers
Form: TypeAlias = Mapping[Term, float]  # the terms of a sum and their coefficients
ONE: Term = frozenset()


def sum_of(one: Form, other: Form, sign: int) -> Form:
    """Return the form of a sum, or of a difference (`sign` -1)."""
    made = dict(one)
    for term, coefficient in other.items():
        made[term] = made.get(term, 0.0) + sign * coefficient
    return {term: coefficient for term, coefficient in made.items() if coefficient}


def product(one: Form, other: Form) -> Form:
    """Return the form of a product of which a factor has one term at most."""
    made: Form = {}
    for term, coefficient in one.items():
        for other_term, other_coefficient in other.items():
            joined = {_term(term, other_term): coefficient * other_coefficient}
            made = sum_of(made, joined, 1)
    return made


def inverse(form: Form) -> Form:
    """Return the form of one over a form of one term at most."""
    if not form:
        return {ONE: inf}
    ((term, coefficient),) = form.items()
    return {frozenset((part, -power) for part, power in term): 1 / coefficient}


def name_of(form: Form) -> str:
    """Return a name that forms with the same terms alone have."""
    terms = []
    for term, coefficient in form.items():
        parts = sorted((part.name, power) for part, power in term)
        terms.append(f"{coefficient!r} {parts}")
    return " + ".join(sorted(terms))


def _term(one: Term, other: Term) -> Term:
    powers = dict(one)
    for part, power in other:
        powers[part] = powers.get(part, 0) + power
    return frozenset((part, power) for part, power in powers.items() if power)


def ends_of(form: Form) -> Ends:
    """Return the value of a form and its interval, which is the value of one without parts."""
    constant = form.get(ONE, 0.0)
    terms = {term: coefficient for term, coefficient in form.items() if term != ONE}
    if not terms:
        return Ends(constant, constant, constant)
    if len(terms) == 1:
        ((term, coefficient),) = terms.items()
        ends = _scaled(_of_term(term), coefficient)
    else:
        ends = _of_sum(terms)
    return Ends(*(constant + end for end in ends))


def by_launch(form: Form) -> dict[int, float]:
    """Return the values of a form in the launches that its parts share; none without parts."""
    groups = _groups(part for term in form for part in term)
    if len(groups) != 1:
        return {}
    return {launch: _in_launch(form, launch) for launch in _shared(groups[0])}


def _in_launch(form: Form, launch: int) -> float:
    total = 0.0
    for term, coefficient in form.items():
        factors = (_power(part.launches[launch], power) for part, power in _in_order(term))
        total += reduce(lambda one, other: one * other, factors, coefficient)
    return total


def _of_launches(form: Form) -> Ends:
    """Return the median over launches; of times and rates with what sessions add."""
    launches = by_launch(form)
    median = statistic_estimate(list(launches.values()), 0)
    varies = any(sum(part.time * power for part, power in term) for term in form)
    if varies and not several(launches):
        median = median.for_sessions()
    return Ends(median.value, median.low, median.high)


def _of_term(term: Term) -> Ends:
    if known := _compared(term):
        return known
    groups = _groups(term)
    if len(groups) == 1 and len(term) > 1:
        return _of_launches({term: 1.0})
    if len(groups) == 1:
        ((part, power),) = term
        return raised(part.ends, power)
    return _independent([_of_term(frozenset(group)) for group in groups])


def pair_of(term: Term) -> tuple[Part, Part] | None:
    """Return which part a term divides by which, where it is a ratio of two."""
    powers = {power: part for part, power in term}
    return (powers[1], powers[-1]) if len(term) == 2 and powers.keys() == {1, -1} else None  # noqa: PLR2004


def _compared(term: Term) -> Ends | None:
    """Return the ratio of two parts as their run knows it."""
    if not (pair := pair_of(term)):
        return None
    over, under = pair
    return over.run.ratio(over.name, under.name) if over.run else None


def _of_sum(terms: Form) -> Ends:
    """Return the sum of terms: launch by launch of those that share some, else as independent."""
    whole = _groups(part for term in terms for part in term)
    sums: dict[int, dict[Term, float]] = {}
    for term, coefficient in _ordered(terms):
        homes = [place for place, group in enumerate(whole) if term <= set(group)]
        place = homes[0] if homes else len(whole) + len(sums)
        sums.setdefault(place, {})[term] = coefficient
    every = []
    for part_sum in sums.values():
        if len(part_sum) > 1:
            every.append(_of_launches(part_sum))
        else:
            ((term, coefficient),) = part_sum.items()
            every.append(_scaled(_of_term(term), coefficient))
    value = sum(ends.value for ends in every)
    down = hypot(*(ends.value - ends.low for ends in every))
    up = hypot(*(ends.high - ends.value for ends in every))
    return every[0] if len(every) == 1 else Ends(value, value - down, value + up)


def _ordered(terms: Form) -> list[tuple[Term, float]]:
    return sorted(terms.items(), key=lambda pair: [part.name for part, _ in _in_order(pair[0])])


def _in_order(term: Iterable[tuple[Part, int]]) -> list[tuple[Part, int]]:
    return sorted(term, key=lambda factor: (factor[0].name, factor[1]))


def _groups(factors: Iterable[tuple[Part, int]]) -> list[list[tuple[Part, int]]]:
    """Return factors in groups that share launches; who shares none is alone."""
    groups: list[list[tuple[Part, int]]] = []
    for part, power in _in_order({*factors}):
        by_zero = power < 0 and not all(part.launches.values())
        for group in () if by_zero else groups:
            same_run = group[0][0].run == part.run
            if same_run and len(_shared([*group, (part, power)])) >= LEAST_SHARED:
                group.append((part, power))
                break
        else:
            groups.append([(part, power)])
    return groups


def _shared(group: Iterable[tuple[Part, int]]) -> list[int]:
    every = [{*part.launches} for part, _ in group]
    return sorted(set.intersection(*every))


def _independent(every: list[Ends]) -> Ends:
    """Return the product of independent values."""
    value = reduce(lambda one, other: one * other, (ends.value for ends in every))
    if all(0 < ends.low <= ends.high < inf for ends in every):
        down = hypot(*(log(ends.value / ends.low) for ends in every))
        up = hypot(*(log(ends.high / ends.value) for ends in every))
        return Ends(value, value * exp(-down), value * exp(up))
    low = high = 1.0  # the widest that the ends allow
    for ends in every:
        corners = [end * other for end in (low, high) for other in ends[1:]]
        if any(map(isnan, corners)):
            return Ends(value, -inf, inf)
        low, high = min(corners), max(corners)
    return Ends(value, low, high)


def raised(ends: Ends, power: int) -> Ends:
    """Return a value with its interval to a whole power."""
    if power < 0 and ends.low <= 0 <= ends.high:
        return Ends(_power(ends.value, power), -inf, inf)
    raised = [_power(end, power) for end in ends[1:]]
    if ends.low < 0 and power % 2 == 0:
        raised.append(0.0)
    return Ends(_power(ends.value, power), min(raised), max(raised))


def _power(value: float, power: int) -> float:
    raised = 1.0
    for _ in range(abs(power)):
        raised *= value
    if power > 0:
        return raised
    return 1 / raised if raised else inf


def _scaled(ends: Ends, factor: float) -> Ends:
    value, *around = (end * factor for end in ends)
    if not isfinite(factor) or any(map(isnan, around)):
        return Ends(value, -inf, inf)
    return Ends(value, min(around), max(around))
