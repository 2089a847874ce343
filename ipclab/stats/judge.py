"""The judge: what an interval supports. Everything that is said or marked asks here.

Undecided is what was tested and not shown; not tested is what so few launches cannot show: their
interval has no end, or is so wide that it says nothing.
"""

from math import inf

from ipclab.stats.quantity import Quantity

ABOVE, BELOW, INSIDE, MISSING = "above", "below", "inside", "missing"
UNDECIDED, NOT_TESTED = "undecided", "not tested"


def side(quantity: Quantity, bound: float) -> str:
    """Return whether a quantity is `above` or `below` a bound, `undecided` or `not tested`."""
    return within(quantity, bound, bound, inside=False)


def within(quantity: Quantity, low: float, high: float, inside: bool = True) -> str:
    """Return whether a quantity is `inside`, `below` or `above` two included bounds, if shown.

    Else it is `undecided`, `not tested`, or `missing`. Without `inside` only the sides are asked
    for.
    """
    if not quantity:
        return MISSING
    said = of_interval(*quantity.ends, low, high, inside)
    return NOT_TESTED if said == UNDECIDED and quantity.says_nothing else said


def of_interval(first: float, last: float, low: float, high: float, inside: bool = True) -> str:
    """Return what the interval from `first` to `last` shows of two bounds, as `within` does."""
    if inside and low <= first and last <= high:
        return INSIDE
    if last < low or first > high:
        return BELOW if last < low else ABOVE
    return NOT_TESTED if first == -inf or last == inf else UNDECIDED
