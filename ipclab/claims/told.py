"""How a claim of a published text is written in Python: what it compares, and with which bounds.

>>> claim = Claims()
>>> @claim("3.1")
... def shared_memory_is_faster() -> Stated:
...     '''SHM POSIX: 80.68 μs/call, ZeroMQ IPC: 275.65 μs/call'''  # the quotation
...     return Stated(above(each(SLOWER), "1"), fair=each(FAIRLY_SLOWER))
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ipclab.claims.expression import Term, applied, constant, looked_up
from ipclab.claims.rules import Rule, bounded
from ipclab.frames.address import Address
from ipclab.prose.language import RuleError, amount

each, least, most = (partial(applied, name) for name in ("each", "min", "max"))
count, log = (partial(applied, name) for name in ("count", "log"))


class Stated(NamedTuple):
    """What a claim compares with which bounds; what its own table and a fair method compare."""

    rule: Rule
    own: Term | None = None
    fair: Term | None = None


class Claims(dict[str, Callable[[], Stated]]):
    """The functions of a text's claims by name; called with a name it is their decorator."""

    def __call__(self, name: str) -> Callable[[Callable[[], Stated]], Callable[[], Stated]]:
        """Return the decorator of the function that states the claim `name`."""

        def kept(function: Callable[[], Stated]) -> Callable[[], Stated]:
            self[name] = function
            return function

        return kept


def at(text: str, metric: str = "") -> Term:
    """Return the values at an address (`study.op[factor=level].metric`), or of another metric."""
    address = Address.read(f"{text}.{metric}" if metric else text)
    if address is None:
        raise RuleError(f"{text!r} is no address", "write study.op[factor=level].metric")
    return looked_up(address)


def exact(text: str) -> Term:
    """Return an amount with its unit, such as `4 KiB`."""
    return constant(amount(text))


def growth_along(term: Term, along: str) -> Term:
    """Return each value over the one before, along a factor."""
    return applied("growth", term, along=[along])


def change(term: Term, along: str) -> Term:
    """Return each value less the one before, along a factor."""
    return applied("change", term, along=[along])


def between(term: Term, low: str, high: str, rounded: bool = False) -> Rule:
    """Return that all lies between two bounds, which may stand for all that round to them."""
    return bounded(term, "between", [low, high], rounded)


def at_least(term: Term, low: str, rounded: bool = False) -> Rule:
    """Return that all is as much, or more."""
    return bounded(term, "at_least", [low], rounded)


def at_most(term: Term, high: str, rounded: bool = False) -> Rule:
    """Return that all is as much, or less."""
    return bounded(term, "at_most", [high], rounded)


def exactly(term: Term, value: str, rounded: bool = False) -> Rule:
    """Return that all is just that."""
    return bounded(term, "exactly", [value], rounded)


def above(term: Term, low: str) -> Rule:
    """Return that all is more."""
    return bounded(term, "above", [low], rounded=False)


def below(term: Term, high: str) -> Rule:
    """Return that all is less."""
    return bounded(term, "below", [high], rounded=False)
