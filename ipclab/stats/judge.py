"""The judge: what an interval supports. Tables, sentences and claims all ask here."""

from ipclab.stats.quantity import Quantity

ABOVE, BELOW, INSIDE, UNDECIDED, MISSING = "above", "below", "inside", "undecided", "missing"


def side(found: Quantity, bound: float) -> str:
    """Return whether a quantity is shown to be `above` or `below` a bound; else `undecided`, or `missing`."""
    if not found:
        return MISSING
    low, high = found.ends
    return ABOVE if low > bound else BELOW if high < bound else UNDECIDED


def within(found: Quantity, low: float, high: float) -> str:
    """Return whether a quantity is shown to lie `inside` two bounds (both included), `below` or `above` them."""
    if not found:
        return MISSING
    first, last = found.ends
    if low <= first and last <= high:
        return INSIDE
    return BELOW if last < low else ABOVE if first > high else UNDECIDED
