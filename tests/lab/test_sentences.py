"""Sentences that cannot turn false: each that a report prints is checked against the values, as
these are changed.
"""

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from ipclab.claims.claim import HOLDS, NOT_TESTABLE, decide
from ipclab.claims.computed import values_of
from ipclab.claims.rules import read_rule
from ipclab.claims.values import ValueSource
from ipclab.frames import derived
from ipclab.paths import checkout
from ipclab.report.lab import lab_of
from tests.support.changed import COUNTED, Places, Run
from tests.support.sentences import PLAIN, TABLE, Asserts
from tests.support.told import Told, forget_judged, measured, reference

STUDIES = {
    "01_payload": "payload",
    "02_shared_dict": "shared_dict",
    "03_multiplexer": "multiplexer",
    "04_round_trip": "round_trip",
    "05_file_io": "file_io",
    "08_objects": "objects",
}
# By whose levels values are changed: one level after the other, tenfold and to a tenth.
CHANGED = {
    "payload": ("op", "arm", "mapping", "receive", "placement", "backend", "nodelay"),
    "shared_dict": ("op", "backend", "readers", "codec", "sync", "entries"),
    "multiplexer": ("metric", "backend", "pool", "chunk"),
    "round_trip": ("backend", "placement", "touch"),
    "file_io": ("backend", "cache", "roles", "buffer", "set", "threads"),
    "objects": ("way", "object", "size_bytes"),
}
# Levels whose values change places, by notebook.
SWAPPED: dict[str, Places] = {
    "01_payload": {
        "arm": {"published": "one-thread", "one-thread": "published"},
        "mapping": {"reopened": "kept", "kept": "reopened"},
    },
    "04_round_trip": {"placement": {"same": "cross", "cross": "same"}},
    "05_file_io": {
        "buffer": {"fresh": "prefaulted", "prefaulted": "fresh"},
        "roles": {"4RnC": "2RnC+2C", "2RnC+2C": "4RnC"},
    },
    "08_objects": {
        "way": {"pickle5": "shared-memory", "shared-memory": "pickle5"},
        "object": {"frame": "dictionary", "dictionary": "frame"},
    },
}
ABSENT = "not measured in this run."
# What compares or gives a cause is a finding, where it is no number of the run.
FINDING = re.compile(
    r"\b(faster|slower|longer|shorter|fewer|less|more|most|beats?|because|since|so"
    r" that|therefore|costs?|saves?)\b"
)


def holds(rule: str, source: ValueSource) -> bool:
    read = read_rule(rule)
    found = decide(read, read.term, source)
    assert found.word != NOT_TESTABLE, (rule, found.missing)
    return found.word == HOLDS


def stands(asserts: Asserts, source: ValueSource) -> bool:
    some = not asserts.some or any(holds(rule, source) for rule in asserts.some)
    return (
        some
        and all(holds(r, source) for r in asserts.rules)
        and not any(holds(r, source) for r in asserts.unless)
    )


def entry(template: str) -> Asserts | None:
    if template.endswith(ABSENT):
        return PLAIN
    return next((asserts for begins, asserts in TABLE.items() if template.startswith(begins)), None)


def wrong(name: str, run: Run) -> Iterator[str]:
    """Yield each sentence that has no entry, or that the values contradict."""
    with Told(name, run) as told:
        source, chosen = values_of(told.values["lab"])[1], told.alternatives
        for template in sorted(told.templates()):
            asserts = entry(template)
            if asserts is None and (template in chosen or FINDING.search(template)):
                yield f"no entry: {template}"
            elif asserts is not None and not stands(asserts, source):
                yield f"false: {template}"


@pytest.mark.parametrize(
    ("begins", "factor", "level", "right", "wrong"),
    [
        ("Keep the mapping between writes", "mapping", "reopened", 10, 0.01),
        ("Where the two processes run changes a small transfer", "backend", "mp-shm", 1, 1000),
        (
            "Over the TCP of v0.9, reading into a buffer gains more",
            "receive",
            "recv-4096",
            10,
            0.01,
        ),
        ("The flush is a small part of a write", "op", "write.flush", 1, 100),
    ],
)
def test_what_a_sentence_asserts_follows_the_values(
    begins: str,
    factor: str,
    level: str,
    right: float,
    wrong: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for times, stand in ((right, True), (wrong, False)):
        monkeypatch.setattr(derived, "read_frame", Run("payload", {(factor, level): times}))
        forget_judged()
        lab = lab_of(reference(), checkout(), "en")
        assert stands(TABLE[begins], values_of(lab)[1]) is stand
    forget_judged()


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_every_sentence_on_the_reference_run_stands(name: str) -> None:
    assert list(wrong(name, Run())) == []


def levels(study: str) -> list[tuple[str, Any]]:
    frame = measured(study, "points")
    found = [
        (name, level) for name in CHANGED[study] for level in dict.fromkeys(frame[name].dropna())
    ]
    return [(name, level) for name, level in found if name != "metric" or level in COUNTED]


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_no_sentence_turns_false_when_values_are_ten_times_others(name: str) -> None:
    """Each level's values are multiplied by a tenth, one or ten, all at once, drawn with a seed."""
    study = STUDIES[name]
    draw = random.Random(study)
    changes = {level: draw.choice((0.1, 1.0, 10.0)) for level in levels(study)}
    assert list(wrong(name, Run(study, changes))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SWAPPED)
def test_no_sentence_turns_false_when_levels_change_places(name: str) -> None:
    assert list(wrong(name, Run(STUDIES[name], places=SWAPPED[name]))) == []
