"""Which mechanism is fastest: shown, undecided or the same, and the same again after a round through the table."""

import csv
import io

import numpy as np

from ipclab.facts.comparisons import ALL, SLEEPING, contests, entries, read_contests
from ipclab.facts.derive import contests_csv
from ipclab.facts.round_trip import contest
from ipclab.store.point import Point
from ipclab.store.samples import Measured
from tests.made import make_launch


def measured(backend: str, base: float, wait: str = "block", arm: str = "main") -> Measured:
    random = np.random.Generator(np.random.PCG64([len(backend), int(base)]))
    point = Point("round_trip", backend, 100, "same", {"arm": arm, "wait": wait})
    times = (base * random.normal(1, 0.02, 12)).astype(int)
    return Measured(point, [make_launch(**{"round-trip": [int(time)] * 3}) for time in times], "budget")


POINTS = [measured("spin", 1_000, "spin"), measured("a", 5_000), measured("b", 5_010), measured("slow", 9_000)]
FOUND = contests([entry for point in POINTS for entry in entries(point)])


def test_the_fastest_and_what_cannot_be_told_from_it() -> None:
    every, sleeping = (contest(FOUND, among, "same", 100) for among in (ALL, SLEEPING))
    assert every
    assert sleeping
    assert (every.fastest, every.tied()) == ("spin", ["spin"])
    assert set(sleeping.tied()) == {"a", "b"}
    assert sleeping.others["slow"].verdict == "slower"
    assert sleeping.others["slow"].ratio
    assert 1.7 < sleeping.others["slow"].ratio < 1.9


def test_other_arms_take_no_part() -> None:
    assert list(entries(measured("a", 5_000, arm="gap"))) == []
    assert contest(FOUND, ALL, "cross", 100) is None


def test_the_table_says_the_same() -> None:
    table = contests_csv(FOUND)
    again = read_contests(csv.DictReader(io.StringIO(table.decode())))
    assert contests_csv(again) == table
    assert [each.tied() for each in again] == [each.tied() for each in FOUND]
