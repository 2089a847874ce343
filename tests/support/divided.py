"""Ratios that stand beside the two values that they are of, and are not their quotient as printed:
of launches that both have in common, where one has others, too.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ipclab.stats.intervals import mean_of
from ipclab.stats.product import Part
from ipclab.stats.quantity import Quantity

SIGNIFICANT = 3  # digits that are shown at least


def rounded(value: float) -> tuple[float, float]:
    """Return the least and the most that are printed as `value` is."""
    digits, _, power = f"{value:.{SIGNIFICANT - 1}e}".partition("e")
    half = 0.5 * 10.0 ** (int(power) - SIGNIFICANT + 1)
    shown = float(f"{digits}e{power}")
    return shown - half, shown + half


def divides(over: float, under: float, ratio: float) -> bool:
    """Tell whether values that are printed as these give a ratio that is printed as this one."""
    (least, most), (low, high), (first, last) = map(rounded, (over, under, ratio))
    return least / high <= last and most / low >= first


def of_both(over: Part, under: Part) -> tuple[float, float] | None:
    """Return both values over the launches that they share; None where each has all of them."""
    shared = over.launches.keys() & under.launches.keys()
    if not shared or over.launches.keys() == under.launches.keys():
        return None
    one, other = (mean_of([part.launches[heat] for heat in shared]) for part in (over, under))
    return one, other


def undivided(shown: Iterable[Any]) -> Iterator[str]:
    """Yield each ratio among what is shown together that is not the quotient of two values there."""
    every = [one for one in shown if isinstance(one, Quantity) and isinstance(one.value, float)]
    values: dict[Part, Quantity] = {}
    for one in every:
        match [*one.product.factors]:
            case [(part, 1)] if one.product.number == 1:
                values[part] = one
    for one in every:
        parts = one.product.pair or ()
        if parts and all(part in values for part in parts):
            over, under = of_both(*parts) or (float(values[part].value) for part in parts)
            if not divides(over, under, float(one.value) / one.product.number):
                yield f"{over} / {under} is {over / under}, not {one.value}: {one.sources}"
