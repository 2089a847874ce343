"""What the texts derive from their own tables, recomputed: which of those numbers follow, and which do not.

A number follows when values that round to the printed ones give one that rounds to it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ipclab.claims.claim import Quantity
from ipclab.claims.published import Book

EQUAL, LOWEST, HIGHEST, TRUNCATED = "equal", "lowest", "highest", "truncated"
Derive = Callable[[Book], Quantity]
SLACK = 1e-9  # binary fractions of decimal digits


@dataclass(frozen=True)
class Derivation:
    """One number that a text derives from others of its own.

    `key` are the columns of its printed row; `derive` computes it from the text's table; `by` is a msgid that says how.
    `sense` says what the number claims to be: equal to the computed one, the lowest or the highest of them, or equal
    with its further digits cut off.
    """

    seed: str
    key: Mapping[str, str]
    derive: Derive
    by: str
    sense: str = EQUAL


@dataclass(frozen=True)
class Outcome:
    """A derivation recomputed; `stated` is as printed, in SI units, with the interval of its rounding."""

    derivation: Derivation
    row: Mapping[str, str]
    stated: Quantity
    computed: Quantity

    @property
    def follows(self) -> bool:
        """Tell whether the printed number follows from the table."""
        return _FOLLOWS[self.derivation.sense](self.stated, self.computed)

    @property
    def factor(self) -> float:
        """Return the computed over the printed number."""
        return self.computed.value / self.stated.value


def _meets(stated: Quantity, computed: Quantity) -> bool:
    slack = SLACK * abs(computed.value)
    return computed.low <= stated.high + slack and computed.high >= stated.low - slack


def _cut(stated: Quantity, computed: Quantity) -> bool:
    step = stated.high - stated.low
    return _meets(Quantity(stated.value, stated.value, stated.value + step), computed)


_FOLLOWS: dict[str, Callable[[Quantity, Quantity], bool]] = {
    EQUAL: _meets,
    TRUNCATED: _cut,
    LOWEST: lambda stated, computed: computed.high >= stated.value,
    HIGHEST: lambda stated, computed: computed.low <= stated.value,
}


def recompute(derivations: Sequence[Derivation], books: Mapping[str, Book]) -> Iterator[Outcome]:
    """Yield every derivation recomputed; raises `LookupError` for a number that the tables do not hold."""
    for each in derivations:
        book = books[each.seed]
        quantity, columns = each.key["quantity"], {name: v for name, v in each.key.items() if name != "quantity"}
        row = book.row(quantity, **columns)
        yield Outcome(each, row, book(quantity, **columns), each.derive(book))


def do_not_follow(derivations: Sequence[Derivation], books: Mapping[str, Book]) -> list[Outcome]:
    """Return the derivations whose printed number does not follow from the text's own table."""
    return [outcome for outcome in recompute(derivations, books) if not outcome.follows]


def least(found: Sequence[Quantity]) -> Quantity:
    """Return the smallest of several quantities."""
    return min(found, key=lambda each: each.value)


def most(found: Sequence[Quantity]) -> Quantity:
    """Return the largest of several quantities."""
    return max(found, key=lambda each: each.value)


def derivation(seed: str, by: str, derive: Derive, sense: str = EQUAL, /, **key: str | int) -> Derivation:
    """Return the derivation of the number that text `seed` prints in the row with the columns `key`."""
    return Derivation(seed, {name: str(value) for name, value in key.items()}, derive, by, sense)


def same(**key: str | int) -> Derive:
    """Return what reads the number in the row with the columns `key`."""
    columns: dict[str, str | int] = {name: value for name, value in key.items() if name != "quantity"}
    return lambda book: book(str(key["quantity"]), **columns)
