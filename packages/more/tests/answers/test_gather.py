"""Many bundles as one page: what is read is what the run's own frames say; damaged ones are listed;
strict bundles.
"""

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pandas as pd
import pytest

from ipclab.commands.bundles import pack
from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.report.appendix.limits import limited
from ipclab.report.appendix.trust import unfit
from ipclab.report.lab import lab_of
from ipclab.store.bundle import opened
from ipclab.store.record import encode
from ipclab.store.samples import decode
from ipclab_more.gather import index, nodes, page, trips
from tests.support.bundled import make_run, too_fast
from tests.support.commands import ROOT

PATHS = Paths(ROOT)


def gather(folder: Path, size: int) -> index.Index:
    return trips.trips(index.index(folder, folder.parent / f"{folder.name}-data"), size)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a whole bundle, one that was cut off, one whose end is gone, and one
    that is none.
    """
    made: Path = tmp_path_factory.mktemp("bundles")
    content = PATHS.reference.read_bytes()
    (made / "whole.ipclab").write_bytes(content)
    (made / "cut.ipclab").write_bytes(content[:100_000])
    (made / "end.ipclab").write_bytes(content[:-2000])
    (made / "text.ipclab").write_text("no archive")
    (made / "note.txt").write_text("not looked at")
    return made


@pytest.mark.slow
def test_a_table_has_what_the_run_itself_says(folder: Path) -> None:
    lab = lab_of(opened(PATHS, PATHS.reference), PATHS, "en")
    medians = lab.points(
        "round_trip",
        arm="main",
        metric="p50",
        op="round-trip",
        size_bytes=100,
        gap_ns=0,
        touch="full",
    )
    medians = medians[(medians.receive == "bytes") & medians.placement.isin(["same", "cross"])]
    expected = limited(lab, medians).set_index(["backend", "placement"])
    found = gather(folder, 100)
    machines = trips.machines(found)
    (node,) = machines.itertuples()
    rows = trips.ranked_trips(found, machines).set_index(["backend", "placement"])
    assert (node.run, node.machine) == (lab.run.id, lab.run.about["machine"]["digest"])
    facts = lab.run.about["machine"]["facts"]
    assert [node.cpu_model, node.threads] == [facts["cpu_model"], facts["threads"]]
    assert set(rows.index) == set(expected.index) and len(rows) == len(expected)
    for name, other in (("ns", "value"), ("over_limit", "over_limit")):
        told, known = rows[name].astype(float).to_dict(), expected[other].astype(float).to_dict()
        assert told == pytest.approx(known, nan_ok=True)
    for _, part in rows.groupby("placement"):
        assert (
            list(part.sort_values("ns")["rank"]) == sorted(part["rank"]) and part["rank"].min() == 1
        )


def _killed(file: Path, name: str, study: str) -> None:
    os._exit(1)


def test_a_reader_that_is_killed_is_one_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "bundle_rows", _killed)
    with pytest.raises(LabError, match="was killed"):
        index.index(folder, tmp_path)


@pytest.mark.slow
def test_damaged_bundles_are_named_with_a_reason_and_the_rest_is_shown(
    ipclab: Callable[..., "CompletedProcess[str]"], folder: Path, tmp_path: Path
) -> None:
    bundles = gather(folder, 100).bundles
    damaged = set(bundles.file[bundles.why != ""])
    assert damaged == {"cut.ipclab", "end.ipclab", "text.ipclab"}
    done = ipclab("gather", str(folder), "--lang", "ko,en", "--out", str(tmp_path))
    assert (
        done.returncode == 0
        and done.stdout.splitlines()[-1] == "1 of 4 bundles taken, 4 of them new"
    )
    said = {line.partition(":")[0] for line in done.stderr.splitlines()}
    assert said - {"", "report"} == damaged  # beside the progress of the report
    for lang, title in (("en", "Machines and mechanisms"), ("ko", "장비와 통신 방식")):
        page = (tmp_path / lang / "gathered.html").read_text("utf-8")
        assert title in page and all(name in page for name in damaged)
        assert len(re.findall('<div class="table[^"]*" id=', page)) == 11  # one says what to do
        assert "<figure" in page and "unix" in page


def test_a_bundle_that_holds_a_mechanism_twice_is_left_out_with_the_reason(tmp_path: Path) -> None:
    run = make_run(tmp_path / "runs")
    held = decode(next(file for file in run.point_files() if file.name.startswith("unix-main")))
    again = replace(held.point, levels={**held.point.levels, "wait": "spin"})
    run.place([(again, encode(replace(held, point=again)))])
    pack(run, tmp_path / "twice.ipclab")
    found = gather(tmp_path, 100)
    assert list(found.bundles.why) == ["it holds a mechanism twice"] and found.values.empty


def of_day(day: int, machine: str, profile: str = "quick", rows: int = 1) -> dict[str, Any]:
    file = f"{day}.ipclab"
    about = {"file": file, "begun": f"2026-11-{day}", "machine": machine, "label": ""}
    return about | {"profile": profile, "why": "", "values": [{"file": file}] * rows}


def standing(*bundles: dict[str, Any]) -> list[str]:
    """Return the files that stand for the nodes of made-up bundles."""
    values = [row for bundle in bundles for row in bundle["values"]]
    made = index.Index(pd.DataFrame(bundles), pd.DataFrame(values), len(bundles))
    return list(nodes.nodes(made).file)


def test_the_run_that_tells_most_stands_for_a_machine() -> None:
    of_two = standing(of_day(20, "a"), of_day(22, "a"), of_day(21, "b"))
    assert of_two == ["22.ipclab", "21.ipclab"]
    assert standing(of_day(20, "a"), of_day(22, "a", "smoke", 9)) == ["20.ipclab"]
    assert standing(of_day(20, "a", rows=2), of_day(22, "a", "full")) == ["20.ipclab"]
    assert standing(of_day(20, "a", "standard"), of_day(22, "a")) == ["20.ipclab"]


@pytest.mark.parametrize(("lang", "word"), [("en", "faster than"), ("zh", "快于")])
def test_what_is_faster_than_its_limit_is_named_on_the_page(
    folder: Path, lang: str, word: str
) -> None:
    found = gather(folder, 100)
    rows = trips.ranked_trips(found, trips.machines(found))
    lab = page.reader(found, lang)
    assert page.beaten_notice(lab, rows.assign(over_limit=1.0)) is None
    said = page.beaten_notice(
        lab, rows.assign(over_limit=rows.over_limit.where(rows.backend != "unix", 0.5))
    )
    assert said is not None and word in said.data
    assert "whole.ipclab" in said.data and "unix" in said.data


def test_a_bundle_that_is_faster_than_its_memcpy_is_left_out(tmp_path: Path) -> None:
    run = make_run(tmp_path / "runs")
    too_fast(run)
    pack(run, tmp_path / "fast.ipclab")
    found = gather(tmp_path, 100)
    (why,) = found.bundles.why
    assert why.endswith("passes of its memcpy can take") and found.values.empty


def test_a_size_that_nobody_measured_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    assert gather(folder, 7).whole.empty
    with pytest.raises(UsageError, match="holds no bundle: no file ends in"):
        gather(tmp_path, 100)


@pytest.mark.slow
def test_strict_says_why_a_run_is_not_fit(
    ipclab: Callable[..., "CompletedProcess[str]"], tmp_path: Path
) -> None:
    told = unfit(lab_of(opened(PATHS, PATHS.root / "data/compared.ipclab"), PATHS, "en"))
    assert {line.partition(":")[0] for line in told} <= {
        "incomplete",
        "disturbed",
        "not calibrated",
        "limits",
    } and told
    old = shutil.copytree(
        ROOT / "tests/data/schema-1/20261120T100000Z-a00001", tmp_path / "20261120T100000Z-a00001"
    )
    done = ipclab("bundle", str(old), str(tmp_path / "x.ipclab"), "--strict")
    assert done.returncode == 1 and not list(tmp_path.glob("*.ipclab"))
    lines = done.stdout.splitlines()
    assert len(lines) >= 2 and f"{len(lines)} reasons" in done.stderr
