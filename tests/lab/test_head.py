"""What stands above every page: machine, profile, date, and a mark if preliminary."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from ipclab.lab import head, runs
from ipclab.lab.head import Head
from ipclab.report.pages import document
from ipclab.report.pages.exporters import ReportHTMLExporter
from ipclab.store.run import RunFolder
from tests.support.foreign import displayed, notebook
from tests.support.rendered import typeset
from tests.support.told import reference

ABOUT = {"machine": "AMD EPYC (4731527e62cd)", "date": "2026-11-26T15:21:58+00:00", "run": "r-1"}


def of_profile(profile: str, machine: str = "a" * 12) -> RunFolder:
    run = reference()
    parameters = {**run.about["parameters"], "profile": profile}
    about = {"parameters": parameters, "machine": {**run.about["machine"], "digest": machine}}
    return replace(run, about={**run.about, **about})


TEXT = "# T\n\n## One\n\nText."


@pytest.mark.parametrize(
    ("lang", "line", "mark"),
    [
        ("en", "profile: quick · November 26, 2026", "PRELIMINARY (profile: quick)"),
        ("ko", "프로파일: 간이 · 2026년 11월 26일", "예비 결과(프로파일: 간이)"),
        ("zh", "档位：快速 · 2026年11月26日", "初步结果（档位：快速）"),
    ],
)
def test_every_page_tells_machine_profile_date_and_that_it_is_preliminary(
    lang: str, line: str, mark: str
) -> None:
    read = document.read_document(
        notebook(TEXT, ipclab={"lang": lang, "profile": "quick", **ABOUT}), Path()
    )
    about = typeset(read)["about"]
    assert " · ".join(about["head"]) == f"AMD EPYC (4731527e62cd) · {line}"
    assert about["mark"].startswith(mark)
    html = ReportHTMLExporter().convert(read)
    assert f'<p class="run">AMD EPYC (4731527e62cd) · {line} · r-1</p>' in html
    assert f'<p class="mark">{mark}' in html


def test_a_study_as_deep_as_in_standard_is_not_preliminary_in_a_briefer_run() -> None:
    run = of_profile("quick")
    few = {**run.about["questions"]["least_launches"], "payload": 5, "round_trip": 3}
    run = replace(
        run, about={**run.about, "questions": {**run.about["questions"], "least_launches": few}}
    )
    assert not head.study_is_preliminary(run, "payload")
    assert head.study_is_preliminary(run, "round_trip")
    assert head.study_is_preliminary(run, "no such study")
    assert head.about(run, study="payload")["deep"] == "payload"
    assert "deep" not in head.about(run, study="round_trip")
    told = Head.of({"profile": "quick", "deep": "payload"}, "en", str)
    assert not told.mark
    assert Head.of({"profile": "quick"}, "en", str).mark


def test_what_is_no_longer_preliminary_bears_no_mark() -> None:
    for profile, marked in (("smoke", True), ("standard", False), ("full", False), ("", False)):
        read = document.read_document(
            notebook(TEXT, ipclab={"lang": "en", "profile": profile, **ABOUT}), Path()
        )
        assert bool(typeset(read)["about"]["mark"]) is marked
        assert ('<p class="mark">' in ReportHTMLExporter().convert(read)) is marked


def test_of_several_runs_the_briefest_profile_and_all_machines_are_told() -> None:
    told = head.about(of_profile("full"), of_profile("quick"), of_profile("full", "b" * 12))
    assert told["profile"] == "quick"
    assert re.findall(r"\((\w{12})\)", told["machine"]) == ["a" * 12, "b" * 12]


def test_a_notebook_that_no_report_has_executed_tells_what_it_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = []
    monkeypatch.setattr(runs, "current", SimpleNamespace)
    monkeypatch.setattr("IPython.display.display", lambda data, **more: shown.append(more))
    runs.show_hint("run r-1", of_profile("smoke"))
    told = displayed({"text/plain": "run r-1"}, **shown[0]["metadata"])
    assert document.read_document(notebook(TEXT, told, ipclab={}), Path()).head.mark.startswith(
        "PRELIMINARY (profile: smoke)"
    )
