"""Sealed runs that contradict themselves: refused where they are imported, opened or read, in a line.

`benchmarks/forgeries.py` tries each of them through every reader.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ipclab.commands.bundles import pack, unpack
from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.paths import Paths
from ipclab.store import door
from ipclab.store import run as folder
from ipclab.store.archive import HostileError
from ipclab.store.bundle import opened
from ipclab.store.identity import digest_of
from ipclab.store.launch import Launch
from ipclab.store.overlap import overlap
from ipclab.store.point import Level, Point
from ipclab.store.questions import RELATIONS
from ipclab.store.record import Record, sealed
from ipclab.store.samples import Measured, decode, encode
from tests.support.bundled import LAUNCH_NS

Change = Callable[[Record, list[Measured]], object]
OP = "round-trip"
TEN = "2026-11-20T10:00:0{}+00:00"
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


def session(begun: str, ended: str) -> Change:
    return told(sessions=[{"begun": begun, "ended": ended, "conditions": {}}])


def fact(**facts: Any) -> Change:
    """Return a change of facts, to which the machine's digest does not fit."""
    return lambda run, _: run.about["machine"]["facts"].update(facts)


def machine(**facts: Any) -> Change:
    """Return a change of facts, to which the machine's digest is made to fit."""

    def change(run: Record, _: list[Measured]) -> None:
        run.about["machine"]["facts"].update(facts)
        run.about["machine"]["digest"] = digest_of(run.facts)

    return change


def without(name: str) -> Change:
    return lambda run, _: run.about["machine"]["facts"].pop(name)


def reversed_order(_: Record, points: list[Measured]) -> None:
    every = [each for point in points for each in point.launches]
    for each, order in zip(every, [one.order for one in every][::-1], strict=True):
        each.order = order


def repeated(_: Record, points: list[Measured]) -> None:
    """Give all launches the times of the first, each in another order."""
    for point in points:
        for number, each in enumerate(point.launches):
            each.samples[OP] = np.roll(point.launches[0].samples[OP], number)


def spread(_: Record, points: list[Measured]) -> None:
    """Shift the times of a launch, which lie far apart, by one ns."""
    for point in points:
        first = 10_000 + np.cumsum(np.arange(30)) * 7
        for number, each in enumerate(point.launches):
            each.samples[OP] = first + number


def placed(near: str, *cpus: int, told: str = "cross") -> Change:
    """Return a change of where the launches of a point ran, which is `told` to be its placement."""

    def change(run: Record, points: list[Measured]) -> None:
        machine(core_sharing=["0", "1"], cores=2, threads=2, sockets=1)(run, points)
        points[0].point = replace(points[0].point, placement=told)
        for each in points[0].launches:
            each.cpus = {end: [cpu] for end, cpu in zip(("client", "server"), cpus, strict=True)}
            each.facts["relation"] = near

    return change


def kept(**told: float) -> Change:
    """Return a change that thins launches to ten samples each, and what they tell of all."""

    def change(run: Record, points: list[Measured]) -> None:
        run.about["thinned"] = 10
        for point in points:
            for each in point.launches:
                every = np.sort(each.samples[OP])
                whole = {f"p{q:g}": float(np.quantile(every, q / 100)) for q in (50, 90, 99, 99.9)}
                whole |= {"min": float(every[0]), "max": float(every[-1]), "samples": 30.0}
                whole |= {"median": float(np.median(every)), "mean": float(every.mean())}
                whole |= {"sd": float(every.std(ddof=1))}
                each.whole[OP] = whole | {name: whole[name] * by for name, by in told.items()}
                each.samples[OP] = every[1::3]

    return change


def repeated_and_kept(run: Record, points: list[Measured]) -> None:
    repeated(run, points)
    kept()(run, points)


def short(run: Record, points: list[Measured]) -> None:
    """Give all launches times in steps of a clock, of which the longest alone is another, and thin
    them.
    """
    longest = count(10_000)
    for each in (one for point in points for one in point.launches):
        each.samples[OP] = np.append(np.arange(90, 380, 10), next(longest))
    kept()(run, points)


def opened_only(**told_too: Any) -> Change:
    """Return a change to one session that has no end."""
    return told(sessions=[{"begun": TEN.format(0), "conditions": {}, **told_too}])


def impossible_too(run: Record, points: list[Measured]) -> None:
    run.about["points"][points[0].point.id] = "not testable here"


def as_text(_: Record, points: list[Measured]) -> None:
    point = points[1].point
    points[1].point = replace(point, levels={**point.levels, "gap_ns": "0"})


def long_loop(_: Record, points: list[Measured]) -> None:
    random = np.random.default_rng(1)
    for point in points:
        for each in point.launches:
            each.samples[OP] = LAUNCH_NS // 15 + random.integers(0, 100_000, 30)


def one_long(_: Record, points: list[Measured]) -> None:
    points[0].launches[0].samples[OP][7] = 2 * LAUNCH_NS


def on_mars(_: Record, points: list[Measured]) -> None:
    points[0].point = replace(points[0].point, placement="mars")


def many(_: Record, points: list[Measured]) -> None:
    orders = count(1000)
    random = np.random.default_rng(1)
    for _again in range(85):
        times = random.integers(9_000, 11_000, 30)
        points[-1].launches.append(
            Launch({OP: times}, {}, next(orders), 0, 1_000_000, facts={"relation": "l3"})
        )


CONTRADICTIONS: dict[str, tuple[Change, str]] = {
    "no time": (launches(lambda each: setattr(each, "elapsed_ns", 0)), "took no time"),
    "started in 2099": (launches(lambda each: setattr(each, "started_ns", 1 << 61)), "s after the run began"),
    "all of one order": (launches(lambda each: setattr(each, "order", 0)), "has the order 0 of another"),
    "longer than the run": (launches(lambda each: setattr(each, "elapsed_ns", 40 * 10**9)), "longer than the run"),
    "all at the beginning": (launches(lambda each: setattr(each, "started_ns", 0)), "begins while the one before"),
    "in the other order": (reversed_order, "before those that came first"),
    "times permuted": (repeated, "has the times of round-trip of another launch"),
    "times permuted, thinned": (repeated_and_kept, "has the times of round-trip of another launch"),
    "one more ns": (spread, "has the times of round-trip of another launch"),
    "times twice their launch": (long_loop, "of a heat of 50.0 ms"),
    "one time twice its launch": (one_long, "of a heat of 50.0 ms"),
    "whole, not thinned": (launches(lambda each: each.whole.update({OP: FULL})), "not thinned"),
    "thinned, not whole": (told(thinned=29), "as no run does that is thinned to 29"),
    "another median": (kept(median=0.98), "have another median"),
    "another mean": (kept(mean=1.02), "have another mean"),
    "another sd": (kept(sd=50), "have another sd"),
    "more launches than the profile": (many, "has 91 launches, of 90 at most"),
    "quick called standard": (parameters(profile="standard"), "it is called standard"),
    "no such profile": (parameters(profile="gold"), "there is no profile 'gold'"),
    "facts of another machine": (fact(cpu_model="Another 9000"), "its machine's facts have the digest"),
    "no model": (without("cpu_model"), "its machine's facts lack cpu_model"),
    "many threads": (machine(threads="many"), "a fact of its machine cannot be"),
    "more cores than threads": (machine(sockets=1, cores=4096, threads=2), "sockets, cores and threads"),
    "another number of threads": (machine(threads=4, core_sharing=["0", "1"], cores=2), "has 4 threads, and lists 2"),
    "swap that is a text": (fact(swap_total="much"), "its machine's swap_total is 'much'"),
    "session 50 of one": (opened_only(number=50), "its sessions have the numbers [50]"),
    "finished in an open session": (opened_only(), "its last session goes on"),
    "not measurable and there": (impossible_too, "is there, and not measurable"),
    "on mars": (on_mars, "has the placement 'mars'"),
    "on siblings that are none": (placed("l3", 0, 1, told="cross-smt"), "cross-smt, and its CPUs are called l3"),
    "in the same place across": (placed("same", 0, 0, told="cross-same"), "has the placement 'cross-same'"),
    "on one of two siblings": (placed("smt", 1, 1, told="cross-smt"), "is placed on several CPUs, and ran on one"),
    "on CPU 999": (placed("l3", 0, 999), "ran on CPU 999, which its machine has not"),
    "on one CPU across": (placed("l3", 1, 1), "is placed on several CPUs, and ran on one"),
    "called the same CPU": (placed("same", 0, 1), "is placed cross, and its CPUs are called same"),
    "a level as a text": (as_text, "gap_ns of round_trip is a"),
    "begun before its name": (told(begun="2026-11-20T09:59:00+00:00"), "its name has another time"),
    "of 2030": (told(finished="2030-01-01T00:00:00+00:00"), "to 2030-01-01"),
    "a session before": (session("2026-11-20T09:00:00+00:00", TEN.format(9)), "a session's begin"),
    "a session that ends first": (session(TEN.format(9), TEN.format(8)), "a session's end"),
}  # fmt: skip


def forge(run: Record, change: Change) -> None:
    """Change a run, with all digests made to fit."""
    points = [decode(path) for path in run.point_files()]
    change(run, points)
    for name in run.points():
        del run.about["files"][name]
    run.place([(each.point, encode(each)) for each in points])


@pytest.mark.parametrize("kind", CONTRADICTIONS)
def test_a_run_that_contradicts_itself_is_refused(kind: str, run: Record) -> None:
    change, says = CONTRADICTIONS[kind]
    forge(run, change)
    with pytest.raises(LabError, match="contradicts itself") as caught:
        door.check(folder.read_run(run.path))
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_launches_of_short_times_may_keep_the_same_ones(run: Record) -> None:
    forge(run, short)
    assert (
        len({tuple(one.samples[OP]) for path in run.point_files() for one in decode(path).launches})
        == 1
    )
    door.check(folder.read_run(run.path))


def one_without_heats(_: Record, points: list[Measured]) -> None:
    """Give launches heats that are the next orders, but for those of a point, which have none."""
    last = max(points, key=lambda point: max(one.order for one in point.launches))
    for point in points:
        for each in point.launches:
            each.facts.pop("heat", None)
            if point is not last:
                each.facts["heat"] = each.order + 1


def test_a_launch_without_a_heat_is_none_of_the_others(run: Record) -> None:
    forge(run, one_without_heats)
    door.check(folder.read_run(run.path))


@pytest.mark.parametrize(
    ("study", "levels", "op", "times"),
    [
        ("round_trip", {"threads": 3}, "round-trip", (1, 1)),
        ("stream", {}, "intended", (1, inf)),
        ("round_trip", {}, "unrecorded.intended", (1, inf)),
        ("shared_dict", {"readers": 3}, "unrecorded.read", (1, 3)),
        ("stream", {}, "received", (25, 25)),
        ("limits", {}, "received", (25, 25)),
        ("limits", {}, "copy", (1, 1)),
        ("multiplexer", {}, "trip", (100, 100)),
        ("shared_dict", {"readers": 3}, "read", (1, 3)),
        ("shared_dict", {"readers": 3}, "write", (1, 1)),
        ("file_io", {"threads": 2, "depth": 4}, "file.read", (1, 8)),
        ("file_io", {"threads": 2, "depth": 4}, "file.submit", (1, 2)),
        ("file_io", {"depth": "deep"}, "file.read", (1, 1)),
        ("of a plug-in", {}, "write", (1_000, 1_000)),
    ],
)
def test_a_heat_has_room_for_the_samples_that_a_study_overlaps(
    study: str, levels: dict[str, Level], op: str, times: tuple[float, float]
) -> None:
    assert overlap(Point(study, "made", 1, "cross", levels), op) == times


@pytest.mark.parametrize("relation", RELATIONS[1:])
def test_every_placement_of_a_larger_machine_can_be_read(relation: str, run: Record) -> None:
    forge(run, placed(relation, 0, 1, told=f"cross-{relation}"))
    door.check(folder.read_run(run.path))


def test_it_is_refused_wherever_a_run_is_read(run: Record, paths: Paths, tmp_path: Path) -> None:
    forge(run, one_long)
    bundle = tmp_path / "forged.ipclab"
    pack(run, bundle)
    for read in (
        lambda: unpack(paths, bundle),
        lambda: opened(paths, bundle),
        lambda: derived.read_frame(run, "round_trip", "points"),
        lambda: [*door.measured_points(run)],
    ):
        with pytest.raises(LabError, match="contradicts itself"):
            read()
    assert not [*paths.imported.rglob("*.parquet"), *paths.opened.rglob("*.parquet")]


def replaced(old: str, new: str) -> Callable[[Record], bytes]:
    return lambda run: (run.path / "run.json").read_text().replace(old, new).encode()


def labelled(run: Record) -> bytes:
    parameters(label="<script>")(run, [])
    return sealed(run.about)


def stolen(run: Record) -> bytes:
    told = {"begun": TEN.format(0), "conditions": {"steal_ns": -5.0}}
    return sealed({**run.about, "sessions": [told]})


TWICE = "a name is there twice"
UNREADABLE: dict[str, tuple[Callable[[Record], bytes], str]] = {
    "a name twice": (replaced('"failures": {}', '"failures": {"x": ""},\n "failures": {}'), TWICE),
    "no seal, a name twice": (replaced('"schema": 4', '"schema": 4,\n "schema": 2'), TWICE),
    "a label that is markup": (labelled, "label"),
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
def test_what_lies_behind_an_archive_is_refused(bundle: Path, paths: Paths, behind: bytes) -> None:
    bundle.write_bytes(bundle.read_bytes() + behind)
    with pytest.raises(HostileError):
        unpack(paths, bundle)
