"""Ratios that stand beside the two values that they are of, and are not their quotient as printed."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import pandas as pd
import pytest

from ipclab.claims import audit
from ipclab.lab import shell
from ipclab.lab.lab import Lab
from ipclab.lab.notes import Notes
from ipclab.stats.product import Part
from ipclab.stats.quantity import Quantity
from tests.support.told import cells, forget_judged, reference

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
            over, under = (float(values[part].value) for part in parts)
            if not divides(over, under, float(one.value) / one.product.number):
                yield f"{over} / {under} is {over / under}, not {one.value}: {one.sources}"


class Shown:
    """What the notebook `name` shows of the reference run: tables and texts, each a list of cells."""

    def __init__(self, name: str) -> None:
        self.parts: list[list[Any]] = []
        self.name = name

    def run(self) -> "Shown":
        """Execute the notebook without its figures."""
        values: dict[str, Any] = {}
        with pytest.MonkeyPatch.context() as patch:
            forget_judged()
            patch.setattr(shell, "namespace", lambda: values)
            patch.setattr(Lab, "table", self._table)
            patch.setattr(Notes, "text", self._text)
            patch.setattr(Notes, "finding", lambda *_, **__: None)
            patch.setattr(audit, "claims_table", lambda *_, **__: None)
            for code in cells(self.name):
                exec(code, values)
                if "run" in values and "lab" not in values:
                    values["run"] = str(reference().path)
        return self

    def _table(self, frame: pd.DataFrame, *_: Any, **__: Any) -> None:
        self.parts.append([*chain.from_iterable(frame.to_numpy().tolist())])

    def _text(self, *_: Any, **values: Any) -> None:
        self.parts.append([*values.values()])
