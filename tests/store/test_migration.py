"""Old runs stay readable: a stored run of the first schema, the chain of steps, and a machine's
name that holds.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ipclab.bounds.limits import with_limits
from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.machine import collect
from ipclab.machine.table import FACTS
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.bundle import opened
from ipclab.store.identity import digest_of
from ipclab.store.record import encode, reopened
from ipclab.store.samples import decode
from ipclab.store.schema import POINT_STEPS, RUN_STEPS, SCHEMA, migrated
from tests.support.commands import ROOT

FIRST = ROOT / "tests/data/schema-1/20261120T100000Z-a00001"
SECOND = ROOT / "tests/data/schema-2/20261121T100000Z-a00002"
THIRD = ROOT / "tests/data/schema-3/20261122T100000Z-a00003"


def content(top: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(top)): file.read_bytes()
        for file in sorted(top.rglob("*"))
        if file.is_file()
    }


def test_there_is_a_step_and_a_stored_run_for_every_old_schema() -> None:
    assert set(RUN_STEPS) == set(range(1, SCHEMA)) > set(POINT_STEPS)
    for schema in range(1, SCHEMA):
        runs = list((ROOT / f"tests/data/schema-{schema}").glob("*/run.json"))
        assert [json.loads(run.read_text())["schema"] for run in runs] == [schema]


def test_a_run_of_the_first_schema_is_read_as_todays() -> None:
    before = content(FIRST)
    assert "notes" not in json.loads(before["run.json"]) and "points" not in json.loads(
        before["run.json"]
    )
    run = folder.read_run(FIRST)
    assert (run.about["schema"], run.about["notes"], run.about["points"]) == (SCHEMA, {}, {})
    measured = [decode(path) for path in run.point_files()]
    assert [point.point.backend for point in measured] == ["posix-shm", "shm-mmap"]
    assert {tuple(launch.per) for point in measured for launch in point.launches} == {()}
    assert [len(point.launches[0].times("handover")) for point in measured] == [20, 20]
    assert content(FIRST) == before  # nothing is rewritten


def test_a_run_of_the_second_schema_has_no_levels_and_no_digest_of_its_own() -> None:
    before = content(SECOND)
    raw = json.loads(before["run.json"])
    assert "digest" not in raw and "impossible" in raw
    run = folder.read_run(SECOND)
    assert run.about["parameters"]["levels"] == {}
    assert not {"impossible", "derived_by", "digest"} & set(run.about)
    assert [decode(path).point.backend for path in run.point_files()] == ["file"]
    assert content(SECOND) == before


def test_a_run_of_the_third_schema_asks_what_was_asked_of_it_then() -> None:
    before = content(THIRD)
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
    assert content(THIRD) == before


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


@pytest.mark.parametrize("schema", [0, -1, SCHEMA + 1, True, "1", None, 1.0])
def test_an_unknown_schema_is_refused(schema: Any, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError)):
        migrated({"schema": schema}, RUN_STEPS)
    (tmp_path / "run.json").write_text(json.dumps({"schema": schema, "files": {}}))
    with pytest.raises(LabError):
        folder.read_run(tmp_path)


def test_steps_follow_one_another() -> None:
    steps = {
        number: lambda about, number=number: {**about, f"from-{number}": number}
        for number in range(1, SCHEMA)
    }
    found = migrated({"schema": 1}, steps)
    assert found == {"schema": SCHEMA, **{f"from-{number}": number for number in range(1, SCHEMA)}}


@pytest.mark.slow
@pytest.mark.usefixtures("opened_before")
def test_a_machines_name_holds_over_rereads_and_follows_what_identifies_it(paths: Paths) -> None:
    machine = collect()
    assert {collect().digest for _ in range(3)} == {machine.digest}
    identifying = {spec.name for spec in FACTS if spec.identifies}
    assert not [name for name in identifying if "frequency" in name or "bogomips" in name]
    assert not identifying & {
        "product_uuid",
        "hostname",
        "uptime",
        "memory_total",
        "cpu_microcode",
        "kernel_version",
    }
    for spec in FACTS:
        changed = {**machine.facts, spec.name: "another"}
        assert (digest_of(changed) != machine.digest) is spec.identifies, spec.name
    old = opened(paths, paths.reference)
    assert digest_of(old.about["machine"]["facts"]) == old.about["machine"]["digest"]
