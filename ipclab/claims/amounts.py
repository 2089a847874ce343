"""Numbers with units in the words of claims and requirements, such as `125 MB/s`.

A unit is a number of seconds and bytes, and powers of these that it stands for.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from math import isfinite
from typing import NamedTuple

from ipclab.stats.quantity import Quantity
from ipclab.stats.units import BINARY, BYTES, NANOSECONDS, SPEEDS

Dimension = tuple[int, int]  # powers of seconds and bytes
PLAIN: Dimension = (0, 0)


class Kind(NamedTuple):
    """How results of a dimension are shown and called, and its units: multiples of seconds and bytes."""

    shown: str
    called: str
    units: Mapping[str, float]


_SECONDS = {unit: ns / 1e9 for unit, ns in NANOSECONDS.items()}
_SECONDS |= dict.fromkeys(("\u00b5s", "\u03bcs"), 1e-6)  # as we print it, with either letter
# As READMEs print them: usec, Gbit/s, Mbps, 250k req/s, 1.2M ops/sec
_SECONDS |= {f"{unit}ec": seconds for unit, seconds in _SECONDS.items()}
_SPEEDS = {unit: float(size) for unit, size in SPEEDS.items()}
_SPEEDS |= {f"{unit}/s": float(size) for unit, size in BINARY.items()}
_SPEEDS |= {f"{unit}ec": speed for unit, speed in _SPEEDS.items()}
_RATES = {"1/s": 1.0}
for _prefix, _factor in {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}.items():
    _SPEEDS |= dict.fromkeys((f"{_prefix}bit/s", f"{_prefix}bps"), _factor / 8)
    for _what in ("msg", "msgs", "messages", "req", "requests", "ops", "op"):
        for _name in (f"{_prefix}{_what}/s", f"{_prefix} {_what}/s".strip()):
            _RATES |= dict.fromkeys((_name, f"{_name}ec"), _factor)
_NUMBERS = {"%": 0.01, "share": 1.0, "%p": 0.01, "points": 1.0, "1": 1.0, "count": 1.0}
_NUMBERS |= {"k": 1e3, "M": 1e6}
COMMON = "ns, us, ms, s, B, kB, MB, KiB, MiB, MB/s, Gbit/s, 1/s, msg/s, req/s, %, %p"
KINDS = {
    (1, 0): Kind("ns", "a time", _SECONDS),
    (0, 1): Kind("B", "bytes", BYTES),
    (-1, 1): Kind("B/s", "bytes/s", _SPEEDS),
    (-1, 0): Kind("1/s", "a rate", _RATES),
    PLAIN: Kind("1", "a plain number", _NUMBERS),
}
# Its factor to seconds and bytes, and its dimension.
UNITS: dict[str, tuple[float, Dimension]] = {}
for _dimension, _kind in KINDS.items():
    UNITS |= {unit: (float(factor), _dimension) for unit, factor in _kind.units.items()}

_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_WRITTEN = UNITS.keys() - {"1", "share", "points", "count"}
_UNIT = "|".join(re.escape(unit) for unit in sorted(_WRITTEN, key=len, reverse=True))
_PLAIN = {"%": "share", "%p": "points"}  # a share, and the difference of two
_AMOUNT = re.compile(rf"(?P<minus>-)?\s*(?P<number>{_NUMBER})(?:\s*(?P<unit>{_UNIT}))?")


class RuleError(ValueError):
    """An expression that cannot be read: why, and the fix; `name` is what it stands under."""

    def __init__(self, why: str, fix: str = "", name: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.fix = fix
        self.name = name


@contextmanager
def named(name: str) -> Iterator[None]:
    """Say of a `RuleError` in the block that it stands under `name`."""
    try:
        yield
    except RuleError as error:
        error.name = name
        raise


def amount(text: str) -> Quantity:
    """Return a number with a unit, such as `125 MB/s` or `18`, in SI units; raises `RuleError`."""
    return amount_and_half(text)[0]


def amount_and_half(text: str) -> tuple[Quantity, float]:
    """Return an amount, and half a unit of its last digit."""
    match = _AMOUNT.fullmatch(text.strip())
    if not match:
        raise RuleError(f"{text.strip()!r} is no number with a unit", f"units are such as {COMMON}")
    written = match["unit"] or "1"
    factor, dimension = UNITS[written]
    unit = _PLAIN.get(written, KINDS[dimension].shown)
    shown = UNITS[unit][0]
    value = float(f"{match['minus'] or ''}{match['number']}") * factor / shown
    if not isfinite(value):
        raise RuleError(f"{text!r} is too large a number")
    half = half_a_digit(match["number"]) * factor / shown
    return Quantity(value, unit, kind="published"), half


def half_a_digit(number: str) -> float:
    """Return half a unit of the last printed digit of a number: what rounds to it is so near."""
    return 10.0 ** int(Decimal(number).as_tuple().exponent) / 2
