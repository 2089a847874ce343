"""Arithmetic of several quantities: pairs, the best of each side, steps along a factor, powers.

An extreme is judged over every pair: the pair that looks extreme was chosen by its luck.
"""

from dataclasses import replace
from itertools import combinations
from math import inf, log

import pandas as pd

from ipclab.claims.numbers import Values
from ipclab.claims.simultaneous import simultaneous
from ipclab.frames.address import MissingError
from ipclab.stats.quantity import Quantity


def pairs(values: Values) -> Values:
    """Return each two of several quantities as their ratio."""
    return pd.Series([one / other for one, other in combinations(values, 2)], dtype=object)


def best_over_best(ones: Values, others: Values) -> Quantity:
    """Return the least of `ones` over the least of `others`, with the interval of all pairs.

    That is the greatest, over `others`, of the least ratio of `ones` to it; its ends are those of
    the ratios' simultaneous intervals.
    """
    count = len(ones) * len(others)
    table = [[simultaneous(one / other, count) for one in ones] for other in others]
    best = max((min(row, key=_value) for row in table), key=_value)
    if count == 1:
        return best
    low, high = (max(min(ratio.ends[end] for ratio in row) for row in table) for end in (0, 1))
    exact = best.ends == (low, high) == (best.value, best.value)
    return best if exact else Quantity(best.value, best.unit, low, high, best.n)


def matched(ones: Values, others: Values) -> Values:
    """Return each of `ones` over that of `others` with the same levels, where both have one.

    Raises `MissingError` where none has.
    """
    both = ones.index.intersection(others.index)
    if both.empty:
        raise MissingError("as many of both")
    return ones.loc[both] / others.loc[both]


def _value(quantity: Quantity) -> float:
    return float(quantity.value)


def least(values: Values) -> Quantity:
    """Return the quantity with the least value, to be told; judging takes all of them."""
    found: Quantity = min(values, key=_value)
    return found


def most(values: Values) -> Quantity:
    """Return the quantity with the greatest value, to be told; judging takes all of them."""
    found: Quantity = max(values, key=_value)
    return found


def least_and_most(values: Values) -> dict[str, Quantity]:
    """Return the least and the greatest of what is told, as `low` and `high`."""
    return {"low": least(values), "high": most(values)}


def _before(values: Values, along: str) -> Values:
    """Return at each level of the factor `along`, but the first, the quantity of the level before.

    Raises `MissingError` where there is one level only.
    """
    ordered = values.sort_index(level=along)
    others = [name for name in values.index.names if name != along]
    shifted = ordered.groupby(level=others).shift() if others else ordered.shift()
    if not (found := shifted.dropna()).size:
        raise MissingError(along)
    return found


def growth(values: Values, along: str) -> Values:
    """Return each quantity over the one before along a factor; raises `MissingError` for one."""
    earlier = _before(values, along)
    return values.reindex(earlier.index) / earlier


def change(values: Values, along: str) -> Values:
    """Return each quantity less the one before along a factor; raises `MissingError` for one."""
    earlier = _before(values, along)
    return values.reindex(earlier.index) - earlier


def power(ratios: Values, base: "float | Values") -> Values:
    """Return to which power of `base` each ratio is, with the interval of the ratio.

    Raises `MissingError` for a ratio that is not above 0, which is no power.
    """
    bases = base.map(_value) if isinstance(base, pd.Series) else pd.Series(base, ratios.index)
    pairs_of = zip(ratios, bases.loc[ratios.index], strict=True)
    powers = [_power(ratio, log(float(of))) for ratio, of in pairs_of]
    return pd.Series(powers, ratios.index, dtype=object)


def _power(ratio: Quantity, scale: float) -> Quantity:
    if not ratio.value > 0:
        raise MissingError("a power")
    found = replace(ratio, value=log(ratio.value) / scale, low=None, high=None)
    if ratio.low is None:
        return found
    low, high = sorted((log(end) if end > 0 else -inf) / scale for end in ratio.ends)
    return replace(found, low=low, high=high)


def bandwidth(size: Quantity, time: Quantity) -> Quantity:
    """Return bytes over a time in ns as bytes in a second."""
    return (size.as_unit("1") * 1e9 / time.as_unit("1")).as_unit("B/s")
