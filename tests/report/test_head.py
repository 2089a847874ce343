"""What stands above every page: machine, profile, date, and a mark if preliminary."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from nbformat import v4

from ipclab.paths import Paths
from ipclab.report import head, hints
from ipclab.report.pages import document
from ipclab.report.pages.exporters import ReportHTMLExporter
from ipclab.report.pages.fitting import PLAIN, Fit, PagePlace, fitted
from ipclab.report.pages.typeset import Sheet
from ipclab.store.bundle import opened
from ipclab.store.run import RunFolder
from tests.support.commands import ROOT
from tests.support.rendered import typeset

ABOUT = {"machine": "AMD EPYC (4731527e62cd)", "date": "2026-11-26T15:21:58+00:00", "run": "r-1"}


def of_profile(profile: str, machine: str = "a" * 12) -> RunFolder:
    paths = Paths(ROOT)
    run = opened(paths, paths.reference)
    parameters = {**run.about["parameters"], "profile": profile}
    about = {"parameters": parameters, "machine": {**run.about["machine"], "digest": machine}}
    return replace(run, about={**run.about, **about})


def notebook(**about: str) -> Any:
    cell = v4.new_markdown_cell("# T\n\n## One\n\nText.")
    return v4.new_notebook(cells=[cell], metadata={"ipclab": about} if about else {})


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
    read = document.read_document(notebook(lang=lang, profile="quick", **ABOUT), Path())
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
    told = document.Head.of({"profile": "quick", "deep": "payload"}, "en", str)
    assert not told.mark
    assert document.Head.of({"profile": "quick"}, "en", str).mark


def test_what_is_no_longer_preliminary_bears_no_mark() -> None:
    for profile, marked in (("smoke", True), ("standard", False), ("full", False), ("", False)):
        read = document.read_document(notebook(lang="en", profile=profile, **ABOUT), Path())
        assert bool(typeset(read)["about"]["mark"]) is marked
        assert ('<p class="mark">' in ReportHTMLExporter().convert(read)) is marked


def test_of_several_runs_the_briefest_profile_and_all_machines_are_told() -> None:
    told = head.about(of_profile("full"), of_profile("quick"), of_profile("full", "b" * 12))
    assert told["profile"] == "quick"
    assert re.findall(r"\((\w{12})\)", told["machine"]) == ["a" * 12, "b" * 12]
    many = head.about(RunFolder(Path(), {"begun": "2026", "parameters": {"profile": "full"}}))
    assert many["machine"] == ""


def test_a_notebook_that_no_report_has_executed_tells_what_it_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = []
    monkeypatch.setattr(hints, "current", SimpleNamespace)
    monkeypatch.setattr("IPython.display.display", lambda data, **more: shown.append(more))
    hints.show_hint("run r-1", of_profile("smoke"))
    told = notebook()
    output = v4.new_output("display_data", {"text/plain": "run r-1"}, metadata=shown[0]["metadata"])
    told["cells"].append(v4.new_code_cell(outputs=[output]))
    assert document.read_document(told, Path()).head.mark.startswith("PRELIMINARY (profile: smoke)")


def test_contents_stand_only_in_what_has_more_than_eight_pages(tmp_path: Path) -> None:
    for pages, wanted in ((8, False), (9, True)):
        read = document.read_document(notebook(lang="en", **ABOUT), Path())
        found = {"end": PagePlace(name="end", page=pages, y=700.0)}
        assert fitted(partial(_always, found), read)["contents"] is wanted
    assert Sheet(read, tmp_path).places(Sheet(read, tmp_path).data["fit"])["end"]["page"] == 1


@pytest.mark.parametrize(
    ("pages", "wanted"),
    [
        # (page, y) of the end, plainly set and with each other way that helps; how it is set
        ({"plain": (2, 400.0)}, {}),
        ({"plain": (2, 200.0), "halved": (2, 400.0)}, {"halved": False}),
        ({"plain": (2, 200.0), "air": (1, 700.0), "halved": (2, 400.0)}, {"air": 0.92}),
        ({"plain": (7, 700.0), "body": (6, 500.0)}, {"body": 0.88}),
        ({"plain": (7, 700.0), "air body": (6, 500.0)}, {"air": 0.84, "body": 0.7}),
        ({"plain": (7, 500.0), "air": (6, 200.0)}, {}),
        ({"plain": (8, 500.0), "air": (7, 500.0)}, {"air": 0.92}),
        ({"plain": (9, 500.0), "air": (8, 500.0)}, {"contents": True}),
    ],
)
def test_it_is_set_another_way_only_where_that_helps_the_last_page(
    pages: dict[str, tuple[int, float]], wanted: dict[str, Any]
) -> None:
    def places(fit: Fit) -> dict[str, PagePlace]:
        changed = [key for key, value in fit.items() if value != PLAIN[key]]  # type: ignore[literal-required]
        page, y = pages.get(" ".join(changed), pages["plain"])
        return {"end": PagePlace(name="end", page=page, y=y)}

    read = document.read_document(notebook(lang="en", **ABOUT), Path())
    assert fitted(places, read) == {**PLAIN, **wanted}


def _always(found: dict[str, PagePlace], _fit: Fit) -> dict[str, PagePlace]:
    return found
