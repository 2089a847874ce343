"""What a lab finds in rows: who is faster, by how much, what is open, and what heads nothing."""

import re
from functools import cache
from typing import Any

import pandas as pd
import pytest

import ipclab
from ipclab.claims.audit import audited, with_own
from ipclab.errors import LabError, UsageError
from ipclab.frames.remembered import forget
from ipclab.frames.rows import quantity
from ipclab.lab.finding import Finding
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.report.notebooks import quotes
from ipclab.stats.quantity import missing
from ipclab.store.bundle import opened
from ipclab.studies.payload import LOOKS_NS, SLEEPS_NS
from ipclab.studies.payload.ways import POLLED, V10, ways_of
from tests.support.told import reference


@cache
def trips() -> tuple[Lab, pd.DataFrame]:
    forget()
    lab = Lab.of(reference(), checkout(), "en")
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
    both = pd.concat([here, one(backend="unix", size_bytes=10_000, placement="cross")])
    with pytest.raises(LabError, match="a side has 2 rows: they differ in size_bytes; narrow"):
        lab.compare(both, here)


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


def test_what_several_sides_share_does_not_name_them() -> None:
    lab = trips()[0]
    rows = lab.points("objects", op="summed", metric="p50", arm="main", object="array")
    rows = rows[rows.size_bytes == rows.size_bytes.max()].sort_values("value", kind="stable")
    assert rows.backend.duplicated().any()  # several ways go by one carrier
    found = lab.fastest(rows)
    assert [{*side} for side in found.sides] == [{"way"}] * len(found.sides)
    assert found.sides[0]["way"] == rows.way.iloc[0] and "backend" not in found.topic
    apart = lab.compare(rows[rows.way == "queue"], rows[:1])  # which differ in their carrier, too
    assert apart.sides == [{"way": "queue"}, {"way": rows.way.iloc[0]}]


def test_cases_of_two_levels_are_no_mechanisms() -> None:
    lab = trips()[0]
    rows = lab.points("spin", op="round-trip", metric="p50", arm="main", placement="cross")
    spun, slept = (rows[rows.spin_ns == window] for window in (50_000_000, 0))
    found = lab.effect(spun, slept, on=["backend", "gap_ns"])
    said = str(found._repr_mimebundle_()["text/plain"])
    assert re.search(rf"(each|\d+) of {found.values['all']} cases", said)
    assert "mechanisms" not in said
    assert f"({found.most('less')}, after an idle gap of " in said


def test_a_text_needs_only_the_values_that_it_names() -> None:
    lab = trips()[0]
    some, none = "{k} of {n} lost up to {most:int}.", "None of {n} lost any."
    assert lab.count(0, 3, some, none, most=missing()).verdict == "told"
    assert lab.count(1, 3, some, none, most=missing()).verdict == "missing"


def test_a_study_that_a_run_never_heard_of_has_its_columns() -> None:
    older = opened(checkout(), checkout().root / "data/compared.ipclab")
    assert "spin" not in [question.name for question in older.questions.studies]
    rows = Lab.of(older, checkout(), "en").points("spin", op="round-trip")
    assert rows.empty and {"arm", "backend", "gap_ns", "spin_ns", "placement"} <= {*rows}


def test_a_fastest_in_one_state_alone_is_none() -> None:
    lab, rows = trips()
    here = rows[(rows.placement == "cross") & (rows.size_bytes == 100) & (rows.wait == "block")]
    here = here.assign(slow=here.value, why="")
    assert lab.fastest(here).verdict in ("clear", "tied")
    best = here.value.idxmin()
    rival = here.value.drop(best).min()
    slow = here.assign(slow=here.slow.where(here.index != best, rival * 2))
    assert lab.fastest(slow).verdict == "state"
    beats = here.assign(why=here.why.where(here.index != best, "limit"))
    assert lab.fastest(beats).verdict == "limit"


def test_what_may_be_the_fastest_and_beats_its_limit_heads_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Be it the first, or one that is not told apart from it."""
    lab, rows = trips()
    here = rows[(rows.placement == "cross") & (rows.size_bytes == 100)]
    here = here.assign(why="")[here.backend.isin(["unix", "pipe", "tcp"])]
    place = dict(zip(here.backend, here.point, strict=True))
    first, tied = (
        ("unix", "pipe") if lab.fastest(here).sides[0] == {"backend": "unix"} else ("pipe", "unix")
    )
    rivals = [(tied, "undecided", 1.01), ("tcp", "slower", 1.5)]
    contest = pd.DataFrame(
        [
            {"point": place[first], "other_point": place[name], "value": 1e9, "verdict": verdict}
            | {"ratio": ratio, "low": 0.9, "high": 1.6}
            for name, verdict, ratio in rivals
        ]
    )
    monkeypatch.setattr(type(lab), "_contest", lambda *_: contest)
    shown: list[Any] = []
    monkeypatch.setattr(
        type(lab), "_show", lambda _, kind, data: shown.append((kind, data.get("lead")))
    )
    assert lab.fastest(here).verdict == "tied"
    for name in (first, tied):
        found = lab.fastest(here.assign(why=here.why.where(here.backend != name, "limit")))
        assert (found.verdict, found.sides[0]) == ("limit", {"backend": name})
        assert found.values["best"][0] == here[here.backend == name].value.item()
        lab.finding(found, lead=True)
        lab.advice([found], "What to take", "advice")
    assert shown == [("finding", False)] * 2


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


def test_fewer_than_three_launches_and_extremes_decide_nothing_and_head_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two launches of round trips that take a hundred times as long as one another."""
    lab = trips()[0]
    shown: list[Any] = []
    monkeypatch.setattr(type(lab), "_show", lambda _, kind, data: shown.append(data["lead"]))

    def row(backend: str, value: float, metric: str = "p50", launches: int = 2) -> pd.DataFrame:
        rows = one(backend=backend, size_bytes=100, placement="cross")
        ends = (value, value) if metric == "max" else (float("-inf"), float("inf"))
        made = rows.assign(value=value, low=ends[0], high=ends[1], launches=launches, metric=metric)
        by_heat = [()] if metric == "max" else [(value,) * launches]
        heats = pd.Series([tuple(range(1, len(by_heat[0]) + 1))], rows.index, dtype=object)
        return made.assign(
            heats=heats,
            by_heat=pd.Series(by_heat, rows.index, dtype=object),
            row=f"round_trip/{backend}/round-trip/{metric}",
        )

    quick, slow = row("unix", 1e3), row("tcp", 1e5)
    monkeypatch.setattr(type(lab), "_contest", lambda *_: None)
    both = pd.concat([quick, slow])
    assert lab.compare(slow, quick).verdict == "few"
    assert lab.fastest(both).verdict == "few"
    assert lab.effect(slow.assign(backend="unix", placement="same"), quick).verdict == "few"
    worst, best = row("tcp", 1e5, "max", 20), row("unix", 1e3, "max", 20)
    assert lab.compare(worst, best).verdict == "few"
    lab.finding(lab.fastest(quick), lead=True)
    lab.finding(lab.spread(both), lead=True)
    lab.text("{gain:x}", gain=quantity(next(quick.itertuples())), lead=True)
    assert shown == [False] * 3


def test_what_was_computed_is_judged_by_its_own_value() -> None:
    lab = trips()[0]
    passed = lab.points("payload", op=["write", "read", "handover"], metric="p50")
    cells = lab.cells(passed[passed.size_bytes == passed.size_bytes[passed.arm == "tcp"].max()])
    ways = ways_of(cells, "cross").set_index("way", drop=False)
    as_run = cells[cells.mapping == "truncated"].set_index("op").cell
    assert ways.cell[V10].value == pytest.approx(as_run["write"].value + as_run["read"].value)
    assert (ways.cell[POLLED] - ways.cell[V10]).value == pytest.approx(LOOKS_NS / 2 + SLEEPS_NS)
    found = lab.compare(ways.loc[[POLLED]], ways.loc[[V10]])
    assert found.verdict == "more"
    assert found.values["ratio"][0] == pytest.approx(ways.value[POLLED] / ways.value[V10])
    assert ways_of(cells[cells.arm == "none"], "cross").empty


def test_one_share_has_no_name_and_several_have_theirs() -> None:
    lab = trips()[0]
    said = lab.share(ipclab.of(0.25), "{share:pct}")
    assert said.values["values"]["share"] == [0.25, "share"]
    several = {"tcp": ipclab.of(0.5), "unix": ipclab.of(0.1)}
    names = lab.share(several, "{least_name} {most_name}").values["values"]
    assert (names["least_name"], names["most_name"]) == ("unix", "tcp")


def test_a_finding_is_kept_as_its_sentence_in_each_language() -> None:
    lab = Lab.of(reference(), checkout(), "en,ko,zh")
    found = Finding("text", "told", values={"text": "What to do", "values": {}})
    (kept,) = quotes.keep(lab, says=found)._repr_mimebundle_()[quotes.MIME].values()
    assert kept["text"] == {"en": "What to do", "ko": "권고", "zh": "建议"}


def test_what_a_document_promises_is_said_in_each_language_of_one_execution() -> None:
    promises = str(checkout().published / "documents.toml")
    at_once, korean = (
        with_own(Lab.of(reference(), checkout(), lang), promises) for lang in ("en,ko", "ko")
    )
    said, again = (audited(lab, "own").meaning.iloc[0] for lab in (at_once, korean))
    assert said != again
    assert [other.words.again(said) for other in at_once.others] == [again]


def test_what_nothing_was_measured_beside_is_no_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, _ = trips()
    alone = one(backend="unix", size_bytes=100, placement="cross")
    shown: list[Any] = []
    monkeypatch.setattr(type(lab), "_show", lambda _, kind, data: shown.append(data))
    monkeypatch.setattr(type(lab), "_show_absent", lambda _: shown.append(None))
    found = lab.fastest(alone)
    assert (found.kind, found.sides) == ("value", [])
    lab.advice([found], "What to take", "advice")
    assert shown == [None]
