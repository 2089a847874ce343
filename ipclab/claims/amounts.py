"""Numbers with units in the words of claims and requirements, such as `125 MB/s`."""

import re
from decimal import Decimal
from math import isfinite

from ipclab.claims.units import COMMON, KINDS, UNITS
from ipclab.stats.quantity import Quantity

NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
WRITTEN = [unit for unit in UNITS if unit not in ("1", "share", "points", "count")]
UNIT = "|".join(re.escape(unit) for unit in sorted(WRITTEN, key=len, reverse=True))
_PLAIN = {"%": "share", "%p": "points"}  # a share, and the difference of two
_AMOUNT = re.compile(rf"(?P<minus>-)?\s*(?P<number>{NUMBER})(?:\s*(?P<unit>{UNIT}))?")


class RuleError(ValueError):
    """An expression that cannot be read: why, and the fix; `name` is what it stands under."""

    def __init__(self, why: str, fix: str = "", name: str = "") -> None:
        super().__init__(why, fix)
        self.why = why
        self.fix = fix
        self.name = name


def amount(text: str) -> Quantity:
    """Return a number with a unit, such as `125 MB/s` or `18`, in SI units; raises `RuleError`."""
    return amount_and_half(text)[0]


def amount_and_half(text: str) -> tuple[Quantity, float]:
    """Return an amount, and half a unit of its last digit."""
    match = _AMOUNT.fullmatch(text.strip())
    if not match:
        raise RuleError(f"{text.strip()!r} is no number with a unit", f"units are such as {COMMON}")
    factor, dimension = UNITS[match["unit"] or "1"]
    unit = _PLAIN.get(match["unit"] or "1", KINDS[dimension].shown)
    value = float(f"{match['minus'] or ''}{match['number']}") * factor / UNITS[unit][0]
    if not isfinite(value):
        raise RuleError(f"{text!r} is too large a number")
    half = half_a_digit(match["number"]) * factor / UNITS[unit][0]
    return Quantity(value, unit, kind="published"), half


def half_a_digit(number: str) -> float:
    """Return half a unit of the last printed digit of a number: what rounds to it is so near."""
    return 10.0 ** int(Decimal(number).as_tuple().exponent) / 2
