"""The numbers that findings tell, looked up in the tables and the data of their document."""

import re
from collections.abc import Iterator, Set
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from ipclab.words import labels
from tests.support.reading import outputs, paragraphs, tables

# What a number with a unit is in the unit of the data, by the unit that is printed.
UNITS: dict[str, tuple[str, float]] = {
    "ns": ("ns", 1),
    "µs": ("ns", 1e3),
    "ms": ("ns", 1e6),
    "MB": ("B", 1e6),
    "%": ("share", 0.01),
}
NUMBER = re.compile(rf"(?<![\d.,/])(\d[\d,]*(?:\.(\d+))?)\u00a0?({'|'.join(UNITS)})(?![A-Za-z/])")
Floats = npt.NDArray[np.float64]  # ascending
Value = tuple[str, float, float]  # unit, value, half of its last digit
FINDING = re.compile(r"^\d+\. (.*)$", re.MULTILINE)
SENTENCE = re.compile(r"(?<=[.!?]) |(?<=[。！？])")
RATIO = re.compile(r"\d[×倍배] ?[\[(](?:구간 )?([\d.,]+)[–~]([\d.,]+)")


def numbers(text: str) -> Iterator[tuple[str, str, float, float]]:
    """Yield what a text prints with a unit: (as printed, unit of the data, value, half a digit)."""
    for found in NUMBER.finditer(text.replace("\\", "")):
        unit, factor = UNITS[found[3]]
        digits = len(found[2] or "")
        value = float(found[1].replace(",", ""))
        yield found[0], unit, value * factor, 0.501 * 10**-digits * factor


def findings(executed: Path) -> list[str]:
    """Return the numbered findings of an executed report."""
    return [item for text in paragraphs(executed) for item in FINDING.findall(text)]


def unfounded(executed: Path, data: Path) -> tuple[int, list[str]]:
    """Return how many numbers the findings of a report print, and those that stand nowhere else.

    A number stands, at the digits that are printed, in a table of the report or its notes, in what
    a figure says, or in the CSV files in the folder `data`.
    """
    count, missing = 0, []
    for finding in findings(executed):
        for printed, unit, value, half in numbers(finding):
            count += 1
            places = (_of_tables(executed, unit), _of_data(data, unit))
            if not any(_holds(place, value, half) for place in places):
                missing.append(f"{printed}: {finding[:80]}")
        missing += contradicted(finding, _settings(data))
    return count, missing


def contradicted(finding: str, settings: Set[tuple[str, float]] = frozenset()) -> list[str]:
    """Return the sentences whose ratio is not that of two of their values, within its interval.

    `settings` (unit, value) are what a point was told, such as a gap: no values.
    """
    found = []
    for sentence in SENTENCE.split(finding.replace("\\", "")):
        ends = [[float(end.replace(",", "")) for end in pair] for pair in RATIO.findall(sentence)]
        told = [(unit, value, half) for _, unit, value, half in numbers(sentence)]
        values = [each for each in told if each[:2] not in settings]
        pairs = [(a, b) for a, b in permutations(values, 2) if a[0] == b[0]]
        if len(ends) == 1 and pairs and not any(_within(*pair, *ends[0]) for pair in pairs):
            found.append(sentence)
    return found


@cache
def _settings(data: Path) -> frozenset[tuple[str, float]]:
    """Return the levels of factors that are times."""
    found = set[tuple[str, float]]()
    for file in sorted(data.glob("*.csv")):
        frame = pd.read_csv(file, low_memory=False)
        for name in frame.columns.intersection([*labels.UNITS]):
            if labels.UNITS[name] == "ns":
                found |= {("ns", float(level)) for level in frame[name].dropna().unique()}
    return frozenset(found)


def _within(over: Value, under: Value, low: float, high: float) -> bool:
    (_, top, top_half), (_, bottom, bottom_half) = over, under
    return (top - top_half) / (bottom + bottom_half) <= high * 1.01 and (top + top_half) / (
        bottom - bottom_half
    ) >= low * 0.99


def _holds(values: Floats, value: float, half: float) -> bool:
    place = np.searchsorted(values, value - half)
    return bool(place < len(values) and values[place] <= value + half)


@cache
def _of_tables(executed: Path, unit: str) -> Floats:
    found = []
    for each in tables(executed):
        for row in each.get("values", ()):
            cells = [cell[:-1] for cell in row if cell and cell[-1] == unit]
            found += [number for cell in cells for number in cell if isinstance(number, float)]
    said = "\n".join(_said(executed))
    found += [value for _, other, value, _ in numbers(said) if other == unit]
    return np.sort(np.array(found, dtype=float))


def _said(executed: Path) -> Iterator[str]:
    """Yield what tables in prose hold, what stands below tables, and what figures say."""
    for table in tables(executed):
        yield from table["notes"]
    for text in paragraphs(executed):
        yield from (line for line in text.splitlines() if line.startswith("|"))
    for output in outputs(executed):
        for about in output.get("metadata", {}).values():
            if isinstance(about, dict):
                yield about.get("alt", "")


@cache
def _of_data(data: Path, unit: str) -> Floats:
    found = [np.empty(0)]
    for file in sorted(data.glob("*.csv")):
        frame = pd.read_csv(file, low_memory=False, usecols=["unit", "value", "low", "high"])
        found += [frame[frame.unit == unit][name].to_numpy() for name in ("value", "low", "high")]
    every = np.concatenate(found)
    return np.sort(every[np.isfinite(every)])
