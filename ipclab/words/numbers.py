"""Numbers as a reader of one language expects them: quantities to text. Pure."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from math import floor, isfinite, isinf, isnan, log10
from numbers import Integral, Real
from typing import Any

import pandas as pd

from ipclab.errors import LabError
from ipclab.stats.quantity import FEW_SAMPLES, Quantity, missing, of
from ipclab.stats.units import BINARY, BYTES, NANOSECONDS, SPEEDS
from ipclab.words.catalogue import LANGUAGES, N_

NBSP = "\u00a0"
# significant digits; the most on a side of the decimal point
_DIGITS, _WRITTEN_OUT = 3, 20
_SMALL, _HALF = 0.1, 0.5  # a ratio below and an interval up to here are told as "1/15.6"
_FAR = 10  # times the value: an interval's end that is shown in digits of its own
_SCALES: dict[str, Mapping[str, float]] = {
    "ns": NANOSECONDS,
    "B": BYTES,
    "B/s": SPEEDS,
    "share": {"pct": 0.01},
    "points": {"pp": 0.01},  # the difference of two shares
    "1": {"x": 1.0, "pct": 0.01},
}
_SYMBOL = {
    "us": f"{NBSP}µs",
    "pct": "%",
    "x": "×",
    **dict.fromkeys(("1", "count", "text", "date", ""), ""),
}
_USUAL = {"share": "pct", "points": "pp"}
_FLAGS = {"interval", "span", "fine", "marked", "int", "scaled", "bare"}
_MARKS = {
    "published": N_("{text} (published)"),
    "estimate": N_("{text} (estimate)"),
    "computed": N_("{text} (computed)"),
}
_ABSENT = N_("not measured")
_FEW_SAMPLES = N_("too few samples")
_UNBOUNDED = N_("no interval")
_SPAN = N_("{low} to {high}")
_ZEROS = re.compile(r"\.(\d*?)0+(?!\d)")


class Formatter:
    """Quantities to text in one language; `translate` gives the few words that are needed."""

    def __init__(self, lang: str, translate: Callable[[str], str] = str) -> None:
        self.lang = lang
        self.translate = translate

    def format(self, quantity: Quantity, spec: str = "") -> str:
        """Return a quantity as text. `spec` is a list of words, separated by commas:

        a unit (`ns us ms s B kB MB GB KiB MiB GiB B/s kB/s MB/s GB/s pct pp x`; without one, times
        and rates choose theirs and bytes are exact), `scaled` (bytes choose theirs too), `interval`
        (adds `[low–high]` where it can be told from the value in the digits that are shown), `span`
        (its ends alone, of what is no interval: brackets mean intervals), `fine` (two more
        decimals), `int` (no decimals), `bare` (no unit), `marked` (says when it was not measured).
        Raises LabError for a word that does not fit the quantity's unit.
        """
        if quantity.value is None:
            return self.translate(_FEW_SAMPLES if quantity.kind == FEW_SAMPLES else _ABSENT)
        words = set(spec.replace(" ", "").split(",")) - {""}
        unit = self._unit(quantity, words)
        text = self._text(quantity, words, unit)
        if "marked" in words and quantity.kind in _MARKS:
            text = self.translate(_MARKS[quantity.kind]).format(text=text)
        return text

    def number(self, value: float, decimals: int | None = None) -> str:
        """Return a number as written in the language: 3 significant digits, or `decimals`.

        One that would take more than 20 digits is written with a power of ten.
        """
        from babel.numbers import format_decimal

        if isnan(value):
            return self.translate(_ABSENT)
        if isinf(value):
            return "∞" if value > 0 else "−∞"
        places = shown_decimals(value) if decimals is None else decimals
        pattern = "#,##0" + ("." + "0" * places if places else "")
        if places > _WRITTEN_OUT or abs(value) >= 10**_WRITTEN_OUT:
            pattern = "0.00E0"
        exact = Decimal(repr(float(value))) if isinstance(value, float) else Decimal(int(value))
        text = str(format_decimal(exact, pattern, locale=self.lang))
        return text.replace("-", "−" if re.search("[1-9]", text) else "")

    def date(self, iso: str) -> str:
        """Return an ISO 8601 date or time as a long date."""
        from babel.dates import format_date

        try:
            return str(format_date(datetime.fromisoformat(iso).date(), "long", locale=self.lang))
        except ValueError as error:
            raise LabError(f"{iso!r} is no date", str(error)) from error

    def _text(self, quantity: Quantity, words: set[str], unit: str) -> str:
        value = quantity.value
        if isinstance(value, bool):
            return str(value)
        if isinstance(value, str):
            return self.date(value) if quantity.unit == "date" else self.translate(value)
        scale = _SCALES.get(quantity.unit, {}).get(unit, 1.0)
        # Whole numbers of bytes, nanoseconds, things are shown as they are.
        is_whole = float(value or 0).is_integer() and unit in ("B", "ns", "count", quantity.unit)
        places = shown_decimals(value / scale) + 2 * ("fine" in words)
        if "int" in words or is_whole:
            places = 0
        symbols = _SYMBOL | LANGUAGES[self.lang].get("symbols", {})
        symbol = "" if "bare" in words else symbols.get(unit, f"{NBSP}{unit}")
        numbers = [value]
        if words & {"interval", "span"} and None not in (quantity.low, quantity.high):
            numbers += quantity.ends
        on_one_side = unit == "x" and len(numbers) > 1 and not numbers[1] <= 1 <= numbers[2]
        if symbol and unit == "x" and min(numbers) > 0 and value < _SMALL and max(numbers) <= _HALF:
            # "1/15.6 as many": nobody writes "0.0643× as many"
            symbol, written = "", [f"1/{self.number(1 / number)}" for number in numbers]
        else:
            written = []
            for number in numbers:
                far = abs(number) >= _FAR * abs(value)
                digits = min(places, shown_decimals(number / scale)) if far else places
                while on_one_side and number != 1 == round(number, digits):
                    digits += 1  # an end is read for the side of one that it is on
                written.append(self.number(number / scale if scale != 1.0 else number, digits))
        shown, *ends = written
        if {*ends} <= {shown}:
            return shown + symbol  # what there is lies within the value's last digit
        if "span" in words:
            low, high = ends
            return self.translate(_SPAN).format(low=low, high=high) + symbol
        if quantity.says_nothing and not on_one_side:
            return f"{shown}{symbol} [{self.translate(_UNBOUNDED)}]"
        return f"{shown}{symbol} [{LANGUAGES[self.lang].get('between', '–').join(ends)}]"

    def _unit(self, quantity: Quantity, words: set[str]) -> str:
        scales = _SCALES.get(quantity.unit, {})
        asked = words - _FLAGS
        if len(asked) > 1 or not asked <= scales.keys():
            what = f"no format {','.join(sorted(asked))!r}"
            there = f"it has {', '.join(sorted(_FLAGS | scales.keys()))}"
            raise LabError(f"a quantity in {quantity.unit}", what, there)
        if asked:
            return asked.pop()
        unit = _USUAL.get(quantity.unit, quantity.unit)
        if quantity.unit in ("ns", "B/s") or (quantity.unit == "B" and "scaled" in words):
            size = 0.0 if isinstance(quantity.value, str) else abs(_rounded(quantity.value))
            for name, step in scales.items():  # from the least
                if name not in BINARY and size >= step:
                    unit = name
        return unit


def plain_value(value: Any) -> Quantity | str:
    """Return any scalar as a quantity, a text as it is; None and NA were not measured."""
    if isinstance(value, Quantity | str):
        return value
    if value is None or value is pd.NA:
        return missing()
    if isinstance(value, bool) or not isinstance(value, Real):
        return str(value)
    if isinstance(value, Integral):
        return Quantity(int(value), "count", kind="computed")
    return of(float(value))


def trimmed(text: str) -> str:
    """Return a number without trailing zeros: for levels and ticks, which are exact."""
    return _ZEROS.sub(lambda zeros: f".{zeros[1]}" if zeros[1] else "", text)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS - 1}e}")


def shown_decimals(value: float) -> int:
    """Return the decimal places that show 3 significant digits."""
    if not value or not isfinite(value):
        return 0
    return max(0, _DIGITS - 1 - floor(log10(abs(_rounded(value)))))
