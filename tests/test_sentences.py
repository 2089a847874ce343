"""Sentences that cannot turn false: each that a report prints is checked against the values, as these are changed."""

import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pandas as pd
import pytest

from ipclab.frames.claims import HOLDS, NOT_TESTABLE, decide, read_rule
from ipclab.frames.contests import contests
from ipclab.frames.expression import Source
from ipclab.store.run import RunFolder
from tests.sentences import PLAIN, TABLE, Asserts
from tests.told import Told, measured

STUDIES = {
    "01_payload": "payload",
    "02_shared_dict": "shared_dict",
    "03_multiplexer": "multiplexer",
    "04_round_trip": "round_trip",
    "05_file_io": "file_io",
}
# By whose levels values are changed: one level after the other, tenfold and to a tenth.
CHANGED = {
    "payload": ("op", "arm", "mapping", "receive", "placement", "backend", "nodelay"),
    "shared_dict": ("op", "backend", "readers", "codec", "sync", "entries"),
    "multiplexer": ("metric", "backend", "pool", "chunk"),
    "round_trip": ("backend", "placement", "touch"),
    "file_io": ("backend", "cache", "roles", "buffer", "set", "threads"),
}
# Levels whose values change places.
SWAPPED = {
    "payload": [("arm", "published", "one-thread"), ("mapping", "reopened", "kept"), ("placement", "same", "cross")],
    "shared_dict": [("backend", "zmq-push", "shared-memory"), ("codec", "pickle", "msgpack")],
    "multiplexer": [("backend", "original", "adaptive"), ("pool", "yes", "no")],
    "round_trip": [("placement", "same", "cross"), ("touch", "full", "untouched")],
    "file_io": [("buffer", "fresh", "prefaulted"), ("roles", "4RnC", "2RnC+2C")],
}
ABSENT = "not measured in this run."
COUNTED = ("minor_faults", "bytes_allocated", "receiver_bytes_allocated")
UNTIMED = ("count", "share", "B", "1")
# What compares or gives a cause is a finding, where it is no number of the run.
FINDING = re.compile(
    r"\b(faster|slower|longer|shorter|fewer|less|more|most|beats?|because|since|so that|therefore|costs?|saves?)\b"
)


class Run:
    """The reference run with the values of one level of a study multiplied, or with two of its levels exchanged."""

    def __init__(self, study: str = "", factor: str = "", level: Any = None, times: float = 1.0) -> None:
        self.study, self.factor, self.level, self.times = study, factor, level, times
        self.made: dict[str, pd.DataFrame] = {}

    def __call__(self, _run: RunFolder, study: str, kind: str) -> pd.DataFrame:
        if study != self.study:
            return measured(study, kind)
        if kind not in self.made:
            launches = self("", study, "launches") if kind == "contests" else pd.DataFrame()  # type: ignore[arg-type]
            self.made[kind] = contests(study, launches) if kind == "contests" else self._changed(measured(study, kind))
        return self.made[kind]

    def _changed(self, frame: pd.DataFrame) -> pd.DataFrame:
        if isinstance(self.level, tuple):
            one, other = self.level
            return frame.assign(**{self.factor: frame[self.factor].replace({one: other, other: one})})
        hit = frame[self.factor].eq(self.level).fillna(False).to_numpy(bool)  # NA is no level
        counts, speeds = frame.metric.isin(COUNTED), frame.unit.eq("B/s")
        hit = hit & (counts | ~frame.unit.isin(UNTIMED)).to_numpy(bool)
        factor = pd.Series(1.0, frame.index).mask(hit & ~speeds, self.times).mask(hit & speeds, 1 / self.times)
        columns = [name for name in ("value", "low", "high") if name in frame]
        return frame.assign(**{name: frame[name].astype(float) * factor for name in columns})


def holds(rule: str, source: Source) -> bool:
    read = read_rule(rule)
    found = decide(read, read.term, source)
    assert found.word != NOT_TESTABLE, (rule, found.missing)
    return found.word == HOLDS


def stands(asserts: Asserts, source: Source) -> bool:
    some = not asserts.some or any(holds(rule, source) for rule in asserts.some)
    return some and all(holds(r, source) for r in asserts.rules) and not any(holds(r, source) for r in asserts.unless)


def entry(template: str) -> Asserts | None:
    if template.endswith(ABSENT):
        return PLAIN
    return next((asserts for begins, asserts in TABLE.items() if template.startswith(begins)), None)


def wrong(name: str, run: Run) -> Iterator[str]:
    """Yield each sentence that has no entry, or that the values contradict."""
    with Told(name, run) as told:
        source, chosen = told.values["lab"]._sources[1], told.alternatives
        for template in sorted(told.templates()):
            asserts = entry(template)
            if asserts is None and (template in chosen or FINDING.search(template)):
                yield f"no entry: {template}"
            elif asserts is not None and not stands(asserts, source):
                yield f"false: {template}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begins", "factor", "level", "right", "wrong"),
    [
        ("Reads of the largest payload take less time", "op", "write", 1, 0.1),
        ("Where the two processes run changes a small transfer", "backend", "mp-shm", 1, 1000),
        ("Over the TCP of v0.9, reading into a buffer gains more", "receive", "recv-4096", 10, 0.01),
        ("The flush is a small part of a write", "op", "write.flush", 1, 100),
    ],
)
def test_a_sentence_that_the_values_contradict_is_found(
    begins: str, factor: str, level: str, right: float, wrong: float
) -> None:
    for times, there in ((right, True), (wrong, False)):
        with Told("01_payload", Run("payload", factor, level, times)) as told:
            assert stands(TABLE[begins], told.values["lab"]._sources[1]) is there
            assert any(each.startswith(begins) for each in told.templates()) is there


def changes(study: str) -> list[tuple[str, Any]]:
    frame = measured(study, "points")
    found = [(name, level) for name in CHANGED[study] for level in dict.fromkeys(frame[name].dropna())]
    return [(name, level) for name, level in found if name != "metric" or level in COUNTED]


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_every_sentence_on_the_reference_run_stands(name: str) -> None:
    assert list(wrong(name, Run())) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_no_sentence_turns_false_when_a_value_is_ten_times_another(name: str) -> None:
    asked = [(name, *change, times) for change in changes(STUDIES[name]) for times in (10.0, 0.1)]
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:  # all that is read once is shared
        assert [line for found in pool.map(changed, asked) for line in found] == []


def changed(asked: tuple[str, str, Any, float]) -> list[str]:
    """Return what is wrong with a notebook's sentences when the values of one level of a factor are multiplied."""
    name, factor, level, times = asked
    run = Run(STUDIES[name], factor, level, times)
    return [f"{factor}={level} x {times:g}: {each}" for each in wrong(name, run)]


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_no_sentence_turns_false_when_two_levels_change_places(name: str) -> None:
    for factor, *levels in SWAPPED[STUDIES[name]]:
        assert list(wrong(name, Run(STUDIES[name], factor, tuple(levels)))) == [], (factor, levels)
