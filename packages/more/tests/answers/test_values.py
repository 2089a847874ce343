"""The numbers of a run for other programs: those of its frames, in forms that their readers take."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

from ipclab.bounds.points import cut_points
from ipclab.commands.bundles import pack
from ipclab.errors import LabError, UsageError
from ipclab.frames import derived
from ipclab.quantile import checked_quantile
from ipclab.report.appendix.thin import thinned
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode
from ipclab_more.values import rows
from tests.support.bundled import make_run
from tests.support.commands import ROOT

STUDY = ["round_trip"]
Run = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path / "data/runs")


def test_csv_and_json_hold_the_numbers_of_the_frames(run: RunFolder) -> None:
    frame = cut_points(run, "round_trip")
    found = rows.rows(run, STUDY, {}, None)
    assert len(found) == len(frame) > 0
    told = json.loads(rows.as_json(run, found))
    schema = json.loads((ROOT / "docs/values.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(told)
    table = pd.read_csv(io.StringIO(rows.as_csv(run, found)))
    assert list(table) == list(rows.COLUMNS) and set(table.run) == {run.id}
    for name in ("value", "low", "high"):
        known = frame[name].replace([np.inf, -np.inf], np.nan)
        assert np.array_equal(table[name], known, equal_nan=True)
        ours = [None if pd.isna(value) else value for value in known]
        assert [row[name] for row in told["values"]] == ours
    assert {row["unit"] for row in told["values"]} == set(frame.unit)
    levels = {"arm": "main", "gap_ns": 0, "receive": "bytes", "touch": "full", "wait": "block"}
    assert told["values"][0]["levels"] == levels


def test_what_is_asked_is_what_is_told(run: RunFolder) -> None:
    wanted: dict[str, list[Any]] = {"backend": ["tcp"], "metric": ["p50", "p90"]}
    wanted |= {"wait": ["block"], "size_bytes": [100]}
    found = rows.rows(run, [], wanted, None)
    assert list(found.metric) == ["p50", "p90"] and set(found.backend) == {"tcp"}
    with pytest.raises(UsageError, match="wait=spin"):
        rows.rows(run, STUDY, {"wait": ["spin"]}, None)
    with pytest.raises(UsageError, match="holds no 'payload'"):
        rows.rows(run, ["payload"], {}, None)


def test_a_quantile_is_of_all_samples_or_refused_with_what_it_takes(
    run: RunFolder, tmp_path: Path
) -> None:
    frame = derived.read_frame(run, "round_trip", "points")
    known = frame[frame.metric == "p90"]
    assert list(rows.rows(run, STUDY, {}, 0.9).value) == list(known.value)
    found = rows.rows(run, STUDY, {"backend": ["tcp"]}, 0.8).iloc[0]
    (file,) = (file for file in run.point_files() if file.name.startswith("tcp"))
    every = [launch.samples["round-trip"] for launch in decode(file).launches]
    samples = np.sort(np.concatenate(every))
    assert found.metric == "p80" and found.value == samples[round(0.8 * len(samples)) - 1]
    assert found.low < found.value < found.high
    for quantile in (0.99, 0.95):  # of 180 samples, 1 and 9 lie beyond
        with pytest.raises(LabError, match="10 samples must lie beyond it"):
            rows.rows(run, STUDY, {}, quantile)
    small = thinned(run, 10, tmp_path / "thin")
    with pytest.raises(LabError, match="it was thinned"):
        rows.rows(small, STUDY, {}, 0.8)


def test_what_is_no_quantile_is_refused() -> None:
    for quantile in (0.0, 0.49, 1.0, float("nan")):
        with pytest.raises(UsageError, match="is not possible"):
            checked_quantile(quantile)


def test_the_command_prints_numbers_alone(ipclab: Run, tmp_path: Path) -> None:
    run = make_run(tmp_path / "data/runs")
    medians = ("values", run.id[-6:], "--study", "round_trip", "--metric", "p50", "--format")
    done = ipclab(*medians, "csv")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 3
    head, *table = ipclab(*medians, "table").stdout.splitlines()  # for a person
    assert head.split() == ["backend", "size_bytes", "placement", "levels", "op", "metric", "value"]
    assert len(table) == 2
    assert all("µs [" in row and row.index("arm=") == head.index("levels") for row in table)
    done = ipclab("values", run.id, "--quantile", "0.99")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "p99 is not known" in done.stderr
    done = ipclab("values", run.id, "--quantile", "0.9", "--metric", "p50")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_folder_of_bundles_is_one_table_and_what_is_refused_a_line(
    ipclab: Run, tmp_path: Path
) -> None:
    machines = {}
    for name, machine in (("one", "0123456789ab"), ("two", "ba9876543210")):
        made = make_run(tmp_path / name, machine)
        machines[name] = made.machine
        folder = tmp_path / "bundles" / name
        folder.mkdir(parents=True)
        pack(made, folder / "node.ipclab")
    asked = ("values", str(tmp_path / "bundles"), "--metric", "p50")
    done = ipclab(*asked)
    assert (done.returncode, done.stderr) == (0, "")
    table = pd.read_csv(io.StringIO(done.stdout))
    assert list(table.machine.unique()) == [*machines.values()]
    told = json.loads(ipclab(*asked, "--format", "json").stdout)
    assert [about["machine"] for about in told] == [*machines.values()]
    whole = (tmp_path / "bundles/one/node.ipclab").read_bytes()
    (tmp_path / "bundles/two/node.ipclab").write_bytes(whole[:-1000])
    done = ipclab(*asked)
    assert done.returncode == 1
    refused, count = done.stderr.splitlines()
    assert "two/node.ipclab: " in refused and count == "1 of 2 runs taken"
    assert set(pd.read_csv(io.StringIO(done.stdout)).machine) == {machines["one"]}
    assert not list((tmp_path / "data/opened").glob("read-*"))
    done = ipclab("values", str(tmp_path / "data"))
    assert done.returncode == 2 and "holds no bundle" in done.stderr
