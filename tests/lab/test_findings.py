"""Findings of notebooks are true of their rows, whatever a run measured, and have no hole."""

from functools import cache
from typing import Any

import pandas as pd
import pytest

from ipclab.errors import LabError, UsageError
from ipclab.frames.rows import quantity
from ipclab.lab.finding import Finding
from ipclab.paths import checkout
from ipclab.report.lab import ReportLab, lab_of
from tests.support.changed import Run
from tests.support.findings import findings, holes, made_by, wrong
from tests.support.told import forget_judged, reference

BOOKS = {
    "03_multiplexer": "multiplexer",
    "04_round_trip": "round_trip",
    "05_file_io": "file_io",
    "06_stream": "stream",
}
SWEPT = {
    "03_multiplexer": ["backend", "size_bytes"],
    "04_round_trip": ["backend", "size_bytes", "placement"],
    "05_file_io": ["backend", "set"],
    "06_stream": ["backend", "size_bytes", "placement"],
}
# What is changed: values of a level, levels that change places.
CHANGED = [
    Run(study, {(factor, level): times})
    for study, factor, level in (
        ("round_trip", "backend", "unix"),
        ("round_trip", "placement", "cross"),
        ("round_trip", "wait", "spin"),
        ("stream", "backend", "shm-ring"),
        ("stream", "placement", "cross"),
        ("multiplexer", "backend", "hybrid"),
        ("multiplexer", "medium", "unix"),
        ("file_io", "backend", "mmap"),
        ("file_io", "cache", "cold"),
    )
    for times in (10, 0.1)
]
CHANGED += [
    Run("round_trip", places={"placement": {"same": "cross", "cross": "same"}}),
    Run("round_trip", places={"backend": {"unix": "shm-futex", "shm-futex": "unix"}}),
    Run("stream", places={"backend": {"unix": "shm-ring", "shm-ring": "unix"}}),
    Run("multiplexer", places={"backend": {"hybrid": "original", "original": "hybrid"}}),
    Run("multiplexer", places={"pool": {"yes": "no", "no": "yes"}}),
    Run("file_io", places={"buffer": {"fresh": "prefaulted", "prefaulted": "fresh"}}),
    Run("round_trip"),
    Run("stream"),
]


@pytest.mark.slow
@pytest.mark.parametrize("run", CHANGED, ids=lambda run: f"{run.study} {run.changes or run.places}")
def test_findings_follow_the_values(run: Run) -> None:
    name = next(name for name, study in BOOKS.items() if study == run.study)
    shown = made_by(name, run)
    frame = run(reference(), run.study, "points")
    assert len(findings(shown)) > 5
    assert [found for each in findings(shown) if (found := wrong(each, frame))] == []
    assert holes(shown) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "factor"), [(name, factor) for name, factors in SWEPT.items() for factor in factors]
)
@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_sweep_of_few_levels_says_what_it_has(name: str, factor: str, count: int) -> None:
    def cut(frame: pd.DataFrame) -> pd.DataFrame:
        if factor not in frame:
            return frame
        levels = sorted(frame[factor].dropna().unique())[:count]
        return frame[frame[factor].isin(levels)].reset_index(drop=True)

    run = Run(BOOKS[name])
    shown = made_by(name, run, cut)
    frame = run(reference(), run.study, "points")
    assert [found for each in findings(shown) if (found := wrong(each, frame))] == []
    assert holes(shown) == []


@cache
def trips() -> tuple[ReportLab, pd.DataFrame]:
    forget_judged()
    lab = lab_of(reference(), checkout(), "en")
    return lab, lab.points("round_trip", op="round-trip", metric="p50", arm="main")


def one(**levels: Any) -> pd.DataFrame:
    rows = trips()[1]
    for name, level in levels.items():
        rows = rows[rows[name] == level]
    assert len(rows) == 1
    return rows


def test_a_row_that_a_notebook_relabels_is_not_divided_by_itself() -> None:
    lab = trips()[0]
    start = lab.points("round_trip", arm="start", metric="p50", placement="cross", backend="unix")
    first, last = (
        start[place : place + 1].assign(op="round-trip") for place in (0, len(start) - 1)
    )
    over, under = (quantity(next(rows.itertuples())) for rows in (first, last))
    assert over.sources != under.sources
    assert float((over / under).value) != 1


def test_sides_that_differ_in_two_things_or_none_are_refused() -> None:
    lab = trips()[0]
    here = one(backend="unix", size_bytes=100, placement="cross")
    with pytest.raises(UsageError, match=r"placement and size_bytes|size_bytes and placement"):
        lab.compare(here, one(backend="unix", size_bytes=10_000, placement="same"))
    assert lab.compare(here, here).verdict == "missing"
    again = here.assign(row="the same again")
    with pytest.raises(UsageError, match="nothing"):
        lab.compare(here, again)
    with pytest.raises(LabError, match="rows"):
        lab.compare(trips()[1], here)


def test_what_sides_share_is_the_topic_and_what_differs_names_them() -> None:
    lab = trips()[0]
    at = {"size_bytes": 100, "placement": "cross"}
    found = lab.compare(one(backend="unix", **at), one(backend="pipe", **at))
    assert found.sides == [{"backend": "unix"}, {"backend": "pipe"}]
    assert {
        "size_bytes": 100,
        "placement": "cross",
        "op": "round-trip",
    }.items() <= found.topic.items()
    assert "backend" not in found.topic and "arm" not in found.topic


def test_exchanged_sides_exchange_the_verdict() -> None:
    lab = trips()[0]
    at = {"size_bytes": 100, "placement": "cross"}
    quick, slow = one(backend="shm-futex", **at), one(backend="grpc-unix", **at)
    assert [lab.compare(*sides).verdict for sides in ((quick, slow), (slow, quick))] == [
        "less",
        "more",
    ]


def test_a_fastest_in_one_state_alone_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, rows = trips()
    here = rows[(rows.placement == "cross") & (rows.size_bytes == 100) & (rows.wait == "block")]
    assert lab.fastest(here).verdict in ("clear", "tied")
    best = here.value.idxmin()
    rival = here.value.drop(best).min()
    slow = here.assign(slow=here.slow.where(here.index != best, rival * 2))
    assert lab.fastest(slow).verdict == "state"
    beats = here.assign(why=here.why.where(here.index != best, "limit"))
    assert lab.fastest(beats).verdict == "limit"


def test_what_is_not_there_is_missing_and_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    lab, rows = trips()
    none = rows.iloc[:0]
    every = [
        lab.fastest(none),
        lab.effect(none, rows),
        lab.spread(none),
        lab.reach(none, none, "size_bytes"),
    ]
    every += [lab.compare(none, none), lab.count(0, 0, "{k} of {n}"), lab.share({}, "{share}")]
    assert {each.verdict for each in every} == {"missing"}
    lab.finding(*every)
    lab.text("{gain:x}", gain=lab.value("round_trip", backend="unix", size_bytes=3, metric="p50"))
    assert capsys.readouterr().out == ""


def test_a_lead_that_is_open_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = trips()[0]
    shown: list[Any] = []
    monkeypatch.setattr(type(lab), "_show", lambda _, kind, data: shown.append(data["lead"]))
    told: dict[str, Any] = {
        "topic": {"op": "round-trip"},
        "sides": ({"backend": "a"}, {"backend": "b"}),
    }
    values = {"a": [1.0, "ns"], "b": [2.0, "ns"], "ratio": [0.5, "1", 0.4, 0.6]}
    lab.finding(Finding("compare", "less", values=values, **told), lead=True)
    lab.finding(Finding("compare", "open", values=values, **told), lead=True)
    assert shown == [True, False]
