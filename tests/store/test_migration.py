"""Old runs stay readable: one of each schema is stored."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ipclab.bounds.limits import with_limits
from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.store import run as folder
from ipclab.store.record import reopened
from ipclab.store.samples import decode, encode
from ipclab.store.schema import POINT_STEPS, RUN_STEPS, SCHEMA
from tests.support.bundled import tree
from tests.support.commands import ROOT

FIRST = ROOT / "tests/data/schema-1/20261120T100000Z-a00001"
SECOND = ROOT / "tests/data/schema-2/20261121T100000Z-a00002"
THIRD = ROOT / "tests/data/schema-3/20261122T100000Z-a00003"


def test_there_is_a_step_and_a_stored_run_for_every_old_schema() -> None:
    assert set(RUN_STEPS) == set(range(1, SCHEMA)) > set(POINT_STEPS)
    for schema in range(1, SCHEMA):
        runs = list((ROOT / f"tests/data/schema-{schema}").glob("*/run.json"))
        assert [json.loads(run.read_text())["schema"] for run in runs] == [schema]


def test_a_run_of_the_first_schema_is_read_as_todays() -> None:
    before = tree(FIRST)
    assert not {"notes", "points"} & json.loads(before["run.json"]).keys()
    run = folder.read_run(FIRST)
    assert (run.about["schema"], run.about["notes"], run.about["points"]) == (SCHEMA, {}, {})
    measured = [decode(path) for path in run.point_files()]
    assert [point.point.backend for point in measured] == ["posix-shm", "shm-mmap"]
    assert {tuple(launch.per) for point in measured for launch in point.launches} == {()}
    assert [len(point.launches[0].times("handover")) for point in measured] == [20, 20]
    assert tree(FIRST) == before  # nothing is rewritten


def test_a_run_of_the_second_schema_has_no_levels_and_no_digest_of_its_own() -> None:
    before = tree(SECOND)
    raw = json.loads(before["run.json"])
    assert "digest" not in raw and "impossible" in raw
    run = folder.read_run(SECOND)
    assert run.about["parameters"]["levels"] == {}
    assert not {"impossible", "derived_by", "digest"} & set(run.about)
    assert [decode(path).point.backend for path in run.point_files()] == ["file"]
    assert tree(SECOND) == before


def test_a_run_of_the_third_schema_asks_what_was_asked_of_it_then() -> None:
    before = tree(THIRD)
    assert "questions" not in json.loads(before["run.json"])
    run = folder.read_run(THIRD)
    asked = run.questions
    assert (asked.same, asked.least_launches["payload"]) == (0.1, 5)
    assert [len(question.races) for question in asked.studies] == [0, 4, 7, 5, 3, 4, 4, 2, 0, 3, 2]
    compared = derived.read_frame(run, "round_trip", "contests")
    assert set(compared.among) == {"all", "sleeping"}
    bounds = derived.read_frame(run, "limits", "launches")
    trips = derived.read_frame(run, "round_trip", "points")
    over = with_limits(trips[trips.metric == "p50"], bounds, asked)
    assert dict(over.groupby("backend").limit.count()) == {"tcp": 0, "unix": 1}
    assert tree(THIRD) == before


def test_what_is_written_now_has_todays_schema(tmp_path: Path) -> None:
    shutil.copytree(FIRST, tmp_path / "run")
    run = reopened(tmp_path / "run")
    first = run.point_files()[0]
    old = decode(first)
    run.place([(old.point, encode(old))])
    run.save()
    again = folder.read_run(run.path)
    assert json.loads((run.path / "run.json").read_text())["schema"] == SCHEMA
    assert decode(first).launches[0].per == {}
    assert len(list(again.point_files())) == 2  # of two schemas, in one run


@pytest.mark.parametrize("schema", [0, SCHEMA + 1, True, "1", None])
def test_an_unknown_schema_is_refused(schema: Any, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"schema": schema, "files": {}}))
    with pytest.raises(LabError):
        folder.read_run(tmp_path)
