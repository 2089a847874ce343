"""The multiplexer study: its points, the benchmark's output, and what the Go benchmark counts."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ipclab.errors import LabError
from ipclab.machine.placement import Placement
from ipclab.paths import Paths
from ipclab.session.heats import heats
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure_run
from ipclab.spawn.heat import Bench, Contestant, Schedule, launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Outcome
from ipclab.store.point import Point
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.multiplexer import NODES, output, study, toolchain
from ipclab.studies.multiplexer.study import LONGEST, MultiplexerStudy, cell
from ipclab.studies.payload.study import PayloadStudy
from ipclab.studies.profile import PROFILES
from tests.studies.test_multiplexer_go import command
from tests.support.measured import FREE

STUDY = MultiplexerStudy()
SMOKE, QUICK = PROFILES["smoke"], PROFILES["quick"]
POINTS = STUDY.points(QUICK, Sweep())
MEASURED = STUDY.brief(POINTS)  # by a quick run and a smoke run
CPUS = sorted(os.sched_getaffinity(0))
SAME = Placement("same", (frozenset(CPUS[:1]),), "same")
CROSS = Placement("cross", (frozenset(CPUS[:1]), frozenset(CPUS[1:2])), "l3")
NAME = "arm=main/node=adaptive/op=write/medium=memory/size=1024/streams=1/threshold=8192/pool=own/chunk=0/sinks=1"
HEAD = "goos: linux\ngoarch: amd64\npkg: native/multiplexer\ncpu: AMD EPYC\n"
LINE = (
    f"BenchmarkCell/{NAME}-2         \t   22755\t      67.31 ns/op\t12370.16 MB/s\t    48 B/op\t   "
    "    3 allocs/op\n"
)

PAYLOAD = [Point("payload", "file", 84, "same", {"arm": "file"}, "payload-84", ("write", "read"))]


def point(**levels: str | int) -> Point:
    (found,) = (each for each in POINTS if levels.items() <= each.key().items())
    return found


def test_each_arm_varies_what_it_asks_about() -> None:
    arms = {"published", "check", "main", "streams", "threshold", "factorial"}
    assert {each.levels["arm"] for each in POINTS} == arms
    assert len({each.id for each in POINTS}) == len(POINTS)
    for each in POINTS:
        levels, two = each.levels, each.levels["op"] == "end-to-end"
        assert two == (levels["medium"] != "memory")
        varied = levels["arm"] == "streams" or (levels["arm"] == "main" and levels["op"] != "write")
        assert levels["sinks"] == 64 or not varied
        places = {"published": {"free"}, "main": {"same", "cross"}}.get(str(levels["arm"]))
        assert each.placement in (places or ({"cross"} if two else {"same"}))
        assert each.placement != "cross" or two
        assert each.primary == (levels["op"],)


def test_what_writes_and_what_receives_are_in_heats_of_their_own() -> None:
    """They hold much memory, and in one heat they would drive each other out of the cache."""
    by_id = {each.id: each for each in POINTS if each.levels["arm"] == "main"}
    groups = [[by_id[name] for name in names] for names in heats(by_id.values())]
    assert Counter(len(group) for group in groups) == {len(NODES): len(by_id) // len(NODES)}
    for group in groups:
        assert (
            len({(each.size_bytes, each.placement, *each.levels.values()) for each in group}) == 1
        )


def test_a_cell_has_every_key_in_the_agreed_order() -> None:
    found = point(arm="factorial", op="end-to-end", pool="yes", chunk=4096)
    assert cell(found) == (
        "arm=factorial/node=factorial/op=end-to-end/medium=pipe/size=1048576/streams=1"
        "/threshold=8192/pool=yes/chunk=4096/sinks=1"
    )
    assert cell(point(arm="main", backend="adaptive", op="write", size_bytes=1024, sinks=1)) == NAME


def test_a_sweep_measures_what_was_asked_for_in_every_arm() -> None:
    found = STUDY.points(QUICK, Sweep(None, ("direct", "factorial")))
    assert Counter(each.backend for each in found) == {"direct": 2, "factorial": 16}
    found = STUDY.points(QUICK, Sweep(levels={"sinks": (3, 2)}))
    assert Counter(
        (each.levels["op"], each.levels["sinks"]) for each in found if each.levels["arm"] == "main"
    ) == {**{("write", 2): 16, ("write", 3): 16, ("receive", 3): 16, ("end-to-end", 3): 40}}
    levels: dict[str, tuple[int | str, ...]] = {"streams": (3, 2), "threshold": (5,)}
    found = STUDY.points(QUICK, Sweep((300, 10, 2048), levels=levels))
    every = {10, 300, 2048}
    assert _by_arm(found, "size") == {
        **{"published": every, "check": {10}, "main": every, "threshold": every},
        **{"streams": {300}, "factorial": {2048}},
    }
    assert _by_arm(found, "streams")["streams"] == {2, 3}
    assert _by_arm(found, "threshold")["threshold"] == {5, 8192}


def _by_arm(points: list[Point], factor: str) -> dict[str, set[object]]:
    """Return the levels that a factor has in each arm."""
    levels: dict[str, set[object]] = {}
    for each in points:
        own = {**each.levels, "size": each.size_bytes}
        levels.setdefault(str(each.levels["arm"]), set()).add(own[factor])
    return levels


def test_the_longest_message_is_the_nodes_own() -> None:
    limits = (toolchain.MODULE / "limits.go").read_text()
    assert f"Message: {LONGEST >> 20} << 20," in limits


def test_messages_that_memory_cannot_hold_are_not_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        toolchain, "go_toolchain", lambda *_: toolchain.Toolchain(Path("go"), "go1.24")
    )
    (large,) = STUDY.points(QUICK, Sweep((LONGEST,), ("direct",)))[:1]
    many = replace(large, levels=large.levels | {"sinks": 64})
    monkeypatch.setattr(study, "memory_available", lambda _: 2 * 4 * 64 * LONGEST)
    assert STUDY.missing(many, tmp_path) is None
    monkeypatch.setattr(study, "memory_available", lambda _: 2 * 4 * 64 * LONGEST - 1)
    assert "--level sinks=1" in str(STUDY.missing(many, tmp_path))
    assert STUDY.missing(large, tmp_path) is None


def test_only_a_peer_on_another_cpu_is_moved() -> None:
    two = Placement("cross", (frozenset({3}), frozenset({5})), "l3")
    cross, same = (
        point(arm="main", backend="hybrid", medium="pipe", size_bytes=8192, placement=p)
        for p in ("cross", "same")
    )
    (role,) = STUDY.roles(cross, QUICK, two, 1)
    assert (role.cpus, role.arguments["cpus"]) == (frozenset({3}), "5")
    assert role.arguments["benchtime"] == f"{QUICK.budget_ns // 2 // 10**6}ms"
    assert (
        STUDY.roles(same, QUICK, Placement("same", (frozenset({3}),), "same"), 1)[0].arguments[
            "cpus"
        ]
        == ""
    )
    assert STUDY.roles(point(arm="published", backend="direct"), SMOKE, FREE, 1)[
        0
    ].cpus == frozenset(CPUS)


def test_output_is_read_exactly() -> None:
    found = output.cell_outcome(f"{HEAD}{LINE}PASS\n", NAME, "write")
    assert found.facts == {"operations": 22_755}
    assert found.samples["write"].tolist() == [67_310]  # of a thousand
    assert found.counters == {"write": {"allocations": 3, "bytes_allocated": 48}}
    # with one CPU
    bare = output.cell_outcome(f"{HEAD}{LINE.replace('sinks=1-2', 'sinks=1')}PASS\n", NAME, "write")
    assert bare == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{HEAD}{LINE}", "where a result of"),
        (f"{HEAD}{LINE}{LINE}PASS\n", "where a result of"),
        (f"{HEAD}{LINE.replace('size=1024', 'size=2048')}PASS\n", "where a result of '.*size=1024"),
        (f"{HEAD}{LINE}panic: oh\nPASS\n", "panic: oh PASS' where a result of"),
        (f"{HEAD}{LINE.replace('67.31', '0')}PASS\n", "nothing was timed"),
        (f"{HEAD}{LINE.replace('48 B/op', '48 MB/s')}PASS\n", "where a result of"),
    ],
)
def test_any_other_output_is_refused(text: str, why: str) -> None:
    with pytest.raises(LabError, match=f"output cannot be used: .*{why}"):
        output.cell_outcome(text, NAME, "write")


TURN = {
    "kind": "turn",
    "cell": 0,
    "turn": 1,
    "operations": 10,
    "ns": 1005,
    "allocations": 30,
    "bytes_allocated": 480,
}
END = {"receiver_allocations": 40, "receiver_bytes_allocated": 20_000, "fairness": 1.5}
FAILURE = {"kind": "failure", "cell": 0, "why": "oh"}


def lines(*printed: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in printed)


def test_the_turns_of_a_heat_are_read_exactly() -> None:
    second = {**TURN, "turn": 2, "operations": 20, "ns": 3000}
    far = [{**each, **END, "cell": 1} for each in (TURN, {**second, "fairness": 2.5})]
    failed = {**FAILURE, "cell": 2}
    said = lines(far[0], TURN, {**TURN, "cell": 2}, second, failed, far[1] | {"fairness": 2.5})
    near, both, why = output.cell_ends(said, ["write", "end-to-end", "receive"], 2)
    assert why == "oh"
    assert isinstance(near, Outcome) and isinstance(both, Outcome)
    launch = STUDY.collect(POINTS[0], {"program": near}, 1)
    # of one operation, a sample for each turn
    assert launch.times("write").tolist() == [100.5, 150.0]
    assert (launch.turns, launch.turn_medians("write")) == ({"write": [1, 1]}, [100.5, 150.0])
    assert launch.counters == {"write": {"allocations": 2.0, "bytes_allocated": 32.0}}
    assert launch.facts == {"operations": 30}
    assert both.counters["end-to-end"] == {
        "allocations": pytest.approx(140 / 30),
        "bytes_allocated": pytest.approx(40_960 / 30),
        "receiver_allocations": pytest.approx(80 / 30),
        "receiver_bytes_allocated": pytest.approx(40_000 / 30),
        "fairness": 2.0,
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "turns .. of cell 0 where 2 were asked for"),
        (lines(TURN, {**TURN, "turn": 3}), "turns .1, 3. of cell 0"),
        (lines(TURN, {**TURN, "cell": 1}), "cell 1 of 1"),
        (lines({**TURN, "ns": 0}), "ns"),
        (lines({**TURN, "operations": -1}), "operations"),
        (lines({**TURN, "widgets": 1}), "widgets"),
        (lines({**TURN, "kind": "lap"}), "lap"),
        (lines(TURN, {**TURN, **END, "turn": 2}), "figures that are missing in some turns"),
        (f"{lines(TURN)}panic: oh\n", "panic: oh"),
        (lines(TURN)[:-2], "truncated"),
    ],
)
def test_any_other_output_of_a_heat_is_refused(text: str, why: str) -> None:
    with pytest.raises(LabError, match=f"output cannot be used: .*{why}"):
        output.cell_ends(text, ["write"], 2)


def test_a_program_that_ended_has_said_which_cell_was_why() -> None:
    assert output.failures(f"{lines(TURN, FAILURE)}panic: oh\n{lines(FAILURE)[:-4]}") == {0: "oh"}


def test_why_a_benchmark_failed_is_one_line() -> None:
    failed = (
        f"{HEAD}--- FAIL: BenchmarkCell/{NAME}\n    bench_test.go:9: 3 bytes received: EOF\nFAIL\n"
    )
    assert output.failure_reason(failed) == "bench_test.go:9: 3 bytes received: EOF"
    assert (
        output.failure_reason(f"{failed}panic: test timed out after 1s\n")
        == "panic: test timed out after 1s"
    )
    assert (
        output.failure_reason(f"{lines(TURN)}exit status 2\n{FAILURE['why']}\n") == FAILURE["why"]
    )
    assert output.failure_reason("") == "nothing was said"


def test_without_go_the_points_are_not_testable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(toolchain, "go_toolchain", lambda: "no Go toolchain: none is installed")
    why = {STUDY.missing(each, tmp_path) for each in MEASURED}
    assert why == {"no Go toolchain: none is installed"}


@pytest.mark.slow
def test_go_that_cannot_compile_costs_its_study_only(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bad = toolchain.Toolchain(
        command(tmp_path, "go", "echo './a.go:1:1: undefined: y'; exit 1"), "go1.99"
    )
    monkeypatch.setattr(toolchain, "go_toolchain", lambda *_: bad)
    monkeypatch.setattr(LimitsStudy, "backends", lambda self: ())
    monkeypatch.setattr(PayloadStudy, "points", lambda self, profile, sweep: PAYLOAD)
    run = measure_run(paths, Request(("multiplexer", "payload"), "smoke"), Progress())
    (reason,) = set(run.about["points"].values())
    assert reason.startswith(
        "not testable here: cannot compile the Go benchmarks: ./a.go:1:1: undefined: y; see 'go"
        " vet'"
    )
    assert run.about["points"].keys() == {each.id for each in MEASURED}
    assert run.complete and list(run.checked("points/payload/")) == [run.file(PAYLOAD[0])]


@contextmanager
def compiled(launcher: Launcher, **told: Any) -> Iterator[Bench]:
    """Give what runs the Go benchmarks; `told` are other parts of the site."""
    found = toolchain.go_toolchain()
    if isinstance(found, str):
        pytest.skip(found)
    nothing: dict[str, Any] = {"keep": lambda *file: None, "note": lambda *entry: None}
    site = Site(launcher, Path("/nowhere"), say=print, **nothing | told)
    with STUDY.open(site, POINTS, SMOKE, 1) as made:
        yield made


@pytest.fixture(scope="module")
def bench(launcher: Launcher) -> Iterator[Bench]:
    with compiled(launcher) as made:
        yield made


def role_of(each: Point, **changed: str) -> Role:
    """The Go program for a point, where its placement is on this machine; `changed` are keys of its
    cell.
    """
    placement = {"same": SAME, "cross": CROSS, "free": FREE}[each.placement]
    (role,) = STUDY.roles(each, SMOKE, placement, 1)
    keys = dict(part.split("=") for part in role.arguments["cell"].split("/")) | changed
    role.arguments["cell"] = "/".join(f"{key}={value}" for key, value in keys.items())
    return role


def test_both_ends_are_counted_and_the_output_is_kept(launcher: Launcher) -> None:
    if len(CPUS) < 2:
        pytest.skip("this process may use one CPU only")
    each, kept = point(arm="streams", backend="adaptive", streams=8), dict[str, bytes]()
    notes: dict[str, dict[str, str]] = {}
    with compiled(launcher, keep=kept.__setitem__, note=notes.__setitem__) as bench:
        outcomes = [launch_alone(bench, each, [role_of(each)], 60) for _ in range(2)]
    counted = STUDY.collect(each, outcomes[0], 1).counters["end-to-end"]
    assert counted["receiver_bytes_allocated"] >= each.size_bytes
    assert counted["bytes_allocated"] >= counted["receiver_bytes_allocated"]
    assert counted["fairness"] >= 1
    ((name, text),) = kept.items()
    assert name.startswith("multiplexer/")
    assert text.count(cell(each).encode()) == text.count(b'"turn":1') == 2
    assert notes["multiplexer"]["go"].startswith("go")


def test_cells_take_turns_and_a_bad_one_costs_itself_alone(bench: Bench) -> None:
    good = {
        node: point(arm="main", backend=node, op="write", size_bytes=1024, sinks=64)
        for node in NODES
    }
    bad = replace(good["hybrid"], levels={**good["hybrid"].levels, "sinks": 0})
    published = point(arm="published", backend="direct")
    heat = {each.id: Contestant(each, [role_of(each)]) for each in (*good.values(), bad, published)}
    ends = bench(heat, Schedule(turns=3, seed="7", seconds=60))
    assert ends.keys() == heat.keys()
    assert str(ends.pop(bad.id)).startswith(
        "the Go benchmark failed: key sinks: at least one is needed; see it alone"
    )
    programs: dict[str, Any] = {name: end["program"] for name, end in ends.items()}  # type: ignore[index]
    assert programs.pop(published.id).turns == {}
    assert [program.turns for program in programs.values()] == [{"write": [1, 1, 1]}] * len(NODES)
    ours = programs[good["original"].id]
    assert round(ours.counters["write"]["allocations"]) == 3


@pytest.mark.slow
def test_a_cell_that_takes_too_long_is_left_out_at_its_deadline(bench: Bench) -> None:
    # and here, one byte after the other
    long = point(arm="factorial", op="write", pool="no", chunk=1024)
    short = point(arm="check", backend="direct")
    heat = {"long": Contestant(long, [role_of(long, size="16000000", chunk="1")])}
    heat["short"] = Contestant(short, [role_of(short)])
    ends = bench(heat, Schedule(seconds=2))
    assert "it took longer than 2s" in str(ends["long"])
    short_end = ends["short"]
    assert isinstance(short_end, dict) and short_end["program"].turns == {"call": [1]}


def test_a_peer_that_cannot_be_moved_fails_the_launch(bench: Bench) -> None:
    each = point(arm="streams", backend="adaptive", streams=1)
    role = role_of(replace(each, placement="same"))
    role.arguments["cpus"] = "8191"
    with pytest.raises(LabError, match="receiver: IPCLAB_PEER_CPUS: cannot run on 8191"):
        launch_alone(bench, each, [role], 60)
