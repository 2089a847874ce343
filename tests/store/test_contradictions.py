"""Sealed runs that contradict themselves: refused where they are imported, opened or read, in a line."""

import copy
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ipclab.commands.bundles import pack, unpack
from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.machine.facts import digest_of
from ipclab.machine.table import FACTS
from ipclab.paths import Paths
from ipclab.session.consistent import without_contradiction
from ipclab.store import run as folder
from ipclab.store.archive import HostileError
from ipclab.store.bundle import opened
from ipclab.store.launch import Launch
from ipclab.store.record import Record, encode, sealed
from ipclab.store.samples import Measured, decode
from tests.support.bundled import LAUNCH_NS, make_run

Change = Callable[[Record, list[Measured]], object]
OP = "round-trip"
FULL = dict.fromkeys(("p50", "p90", "p99", "p99.9", "median", "mean"), 10000.0)
FULL |= {"min": 5e3, "max": 2e4, "sd": 0.0, "samples": 30.0}


def told(**fields: Any) -> Change:
    """Return a change of `run.json`."""
    return lambda run, _: run.about.update(fields)


def parameters(**fields: Any) -> Change:
    return lambda run, _: run.about["parameters"].update(fields)


def launches(change: Callable[[Launch], object]) -> Change:
    """Return a change of every launch."""
    return lambda _, points: [change(each) for point in points for each in point.launches]


def session(begun: str, ended: str, **conditions: float) -> Change:
    return told(sessions=[{"begun": begun, "ended": ended, "conditions": conditions}])


def copied(_: Record, points: list[Measured]) -> None:
    """Show six launches of each point twenty times, each at a time of its own."""
    orders = count(1)
    for point in points:
        point.launches = [
            replace(each, order=order, started_ns=order * LAUNCH_NS // 4, elapsed_ns=LAUNCH_NS // 4)
            for _ in range(5)
            for each, order in zip(point.launches, orders, strict=False)
        ]


def slower(factor: int) -> Change:
    return launches(lambda each: each.samples.update({OP: each.samples[OP] * factor}))


def other_facts(run: Record, _: list[Measured]) -> None:
    facts = {fact.name: None for fact in FACTS} | run.facts
    run.about["machine"] = {"digest": digest_of(facts), "facts": facts, "reasons": {}}
    facts["cpu_model"] = "Another 9000"


def many(_: Record, points: list[Measured]) -> None:
    orders = count(1000)
    random = np.random.default_rng(1)
    for _again in range(85):
        times = random.integers(9_000, 11_000, 30)
        points[-1].launches.append(
            Launch({OP: times}, {}, next(orders), 0, 1_000_000, facts={"relation": "l3"})
        )


TEN = "2026-11-20T10:00:0{}+00:00"
CONTRADICTIONS: dict[str, tuple[Change, str]] = {
    "launches copied": (copied, "has the times of round-trip of another launch"),
    "times a million": (slower(10**6), "took 50.0 ms, and "),
    "no time": (launches(lambda each: setattr(each, "elapsed_ns", 0)), "took no time"),
    "started in 2099": (launches(lambda each: setattr(each, "started_ns", 1 << 61)), "s after the run began"),
    "all of one order": (launches(lambda each: setattr(each, "order", 0)), "has the order 0 of another"),
    "longer than the run": (launches(lambda each: setattr(each, "elapsed_ns", 40 * 10**9)), "longer than the run"),
    "whole, not thinned": (launches(lambda each: each.whole.update({OP: FULL})), "not thinned"),
    "thinned, not whole": (told(thinned=29), "as no run does that is thinned to 29"),
    "more launches than the profile": (many, "has 91 launches, of 90 at most"),
    "quick called standard": (parameters(profile="standard"), "it is called standard"),
    "facts of another machine": (other_facts, "its machine's facts have the digest"),
    "of 1970": (told(begun="1970-01-01T00:00:00+00:00"), "measured from 1970-01-01"),
    "of 2030": (told(begun=TEN.format(0), finished="2030-01-01T00:00:00+00:00"), "to 2030-01-01"),
    "begun after finished": (told(begun="2026-11-21T10:00:00+00:00"), "finished (2026-11-20T10:01:00+00:00) is before"),
    "a session before": (session("2026-11-20T09:00:00+00:00", TEN.format(9)), "a session's begin"),
    "a session that ends first": (session(TEN.format(9), TEN.format(8)), "a session's end"),
}  # fmt: skip


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return make_run(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture
def run(elsewhere: Record, tmp_path: Path) -> Record:
    path = tmp_path / elsewhere.id
    for name in [*elsewhere.about["files"], "run.json"]:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes((elsewhere.path / name).read_bytes())
    return Record(path, copy.deepcopy(elsewhere.about))


def forge(run: Record, change: Change) -> None:
    """Change a run, with all digests made to fit."""
    points = [decode(path) for path in run.point_files()]
    change(run, points)
    run.place([(each.point, encode(each)) for each in points])


def test_a_run_that_was_measured_is_read(run: Record) -> None:
    points = [decode(path) for path in run.point_files()]
    assert [*without_contradiction(run, points, 1 << 20)] == points


@pytest.mark.parametrize("kind", CONTRADICTIONS)
def test_a_run_that_contradicts_itself_is_refused_wherever_it_is_read(
    kind: str, run: Record, paths: Paths, tmp_path: Path
) -> None:
    change, says = CONTRADICTIONS[kind]
    forge(run, change)
    pack(run, tmp_path / "forged.ipclab")
    for read in (
        lambda: unpack(paths, tmp_path / "forged.ipclab"),
        lambda: opened(paths, tmp_path / "forged.ipclab"),
        lambda: derived.read_frame(folder.read_run(run.path), "round_trip", "points"),
    ):
        with pytest.raises(LabError, match="contradicts itself") as caught:
            read()
        assert says in str(caught.value) and "\n" not in str(caught.value)
    assert not [*paths.imported.rglob("*.parquet"), *paths.opened.rglob("*.parquet")]


def text_of(run: Record) -> str:
    return (run.path / "run.json").read_text()


def replaced(old: str, new: str) -> Callable[[Record], bytes]:
    return lambda run: text_of(run).replace(old, new).encode()


def stolen(run: Record) -> bytes:
    told = {"begun": TEN.format(0), "conditions": {"steal_ns": -5.0}}
    return sealed({**run.about, "sessions": [told]})


TWICE = "a name is there twice"
UNREADABLE: dict[str, tuple[Callable[[Record], bytes], str]] = {
    "a name twice": (replaced('"failures": {}', '"failures": {"x": ""},\n "failures": {}'), TWICE),
    "no seal, a name twice": (replaced('"schema": 4', '"schema": 4,\n "schema": 2'), TWICE),
    "steal below 0": (stolen, "conditions"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_index_that_nothing_here_writes_is_not_read(kind: str, run: Record) -> None:
    forged, says = UNREADABLE[kind]
    (run.path / "run.json").write_bytes(forged(run))
    with pytest.raises(LabError, match=r"run\.json cannot be read") as caught:
        folder.read_run(run.path)
    assert says in str(caught.value)


BEHIND = {
    "skippable": bytes([0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0]) + b"more",
    "empty": pa.compress(b"", codec="zstd", asbytes=True),
    "byte": b"\0",
}


@pytest.mark.parametrize("behind", BEHIND.values(), ids=BEHIND)
def test_what_lies_behind_an_archive_is_refused(
    run: Record, paths: Paths, tmp_path: Path, behind: bytes
) -> None:
    file = tmp_path / "run.ipclab"
    pack(run, file)
    with file.open("ab") as out:
        out.write(behind)
    for placed in (unpack, opened):
        with pytest.raises(HostileError):
            placed(paths, file)
