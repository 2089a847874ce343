"""The ratio of two times as a contest of their own judged it."""

from dataclasses import dataclass

from ipclab.stats.product import Ends, raised
from ipclab.stats.quantity import Quantity, made_of, measured


@dataclass(frozen=True)
class _Pair:
    """Two times of which a contest of their own has judged the ratio."""

    ends: Ends

    def ratio(self, over: str, under: str) -> Ends:
        """Return it, or its inverse."""
        return self.ends if over > under else inverse_of(self.ends)


def ratio_judged(over: Quantity, under: Quantity, ends: Ends) -> Quantity:
    """Return the ratio of two times as a contest of its own judged it: value and interval."""
    pair = _Pair(ends)
    one = measured(over, over.launches, "over", pair)
    other = measured(under, under.launches, "below", pair)
    return made_of(one.product * other.product.inverse(), "1", over, under)


def inverse_of(ends: Ends) -> Ends:
    """Return one over a value with its interval."""
    return raised(ends, -1)
