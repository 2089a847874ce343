"""The multiplexer study: its points, the benchmark's output, and what the Go benchmark counts."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from ipclab.errors import LabError
from ipclab.machine.placement import Placement
from ipclab.measure.progress import Progress
from ipclab.measure.request import Request
from ipclab.measure.session import measure
from ipclab.paths import Paths
from ipclab.spawn.launcher import Launcher
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.multiplexer import output, toolchain
from ipclab.studies.multiplexer.study import FACTORS, MultiplexerStudy, cell
from ipclab.studies.payload.study import PayloadStudy
from ipclab.studies.profile import PROFILES
from tests.test_multiplexer_go import command

STUDY = MultiplexerStudy()
SMOKE, QUICK = PROFILES["smoke"], PROFILES["quick"]
POINTS = STUDY.points(QUICK, Sweep())
CPUS = sorted(os.sched_getaffinity(0))
SAME = Placement("same", (frozenset(CPUS[:1]),), "same")
CROSS = Placement("cross", (frozenset(CPUS[:1]), frozenset(CPUS[1:2])), "l3")
FREE = Placement("free", (frozenset(CPUS),), "free")
NAME = "arm=main/node=adaptive/op=write/medium=memory/size=1024/streams=1/threshold=8192/pool=own/chunk=0/sinks=1"
HEAD = "goos: linux\ngoarch: amd64\npkg: native/multiplexer\ncpu: AMD EPYC\n"
LINE = f"BenchmarkCell/{NAME}-2         \t   22755\t      67.31 ns/op\t12370.16 MB/s\t    48 B/op\t       3 allocs/op\n"
FAR = (
    f"BenchmarkCell/{NAME}   673\t    216688 ns/op\t 302.44 MB/s\t 1.276 fairness\t 252465 recv-B/op\t"
    " 9.009 recv-allocs/op\t     432 B/op\t      18 allocs/op\n"
)


PAYLOAD = [Point("payload", "file", 84, "same", {"arm": "file"}, "payload-84", ("write", "read"))]


def point(**levels: str | int) -> Point:
    (found,) = (each for each in POINTS if levels.items() <= each.key().items())
    return found


def test_each_arm_varies_what_it_asks_about() -> None:
    assert Counter(each.levels["arm"] for each in POINTS) == {
        "published": 4 * 3 + 3,
        "check": 3,
        "main": 4 * (4 * 5 + 2),
        "streams": 4 * 3,
        "threshold": 2 * (6 + 1),
        "factorial": 2 * 2 * 4,
    }
    assert len({each.id for each in POINTS}) == len(POINTS)
    assert {each.size_bytes for each in POINTS if each.levels["arm"] == "main"} == {1024, 8192, 65_536, 1_048_576}
    assert {each.levels["streams"] for each in POINTS} == set(FACTORS["streams"])
    assert {each.levels["threshold"] for each in POINTS if each.backend == "hybrid"} == set(FACTORS["threshold"])
    for each in POINTS:
        two = each.levels["op"] == "end-to-end"
        assert two == (each.levels["medium"] != "memory")
        varied = each.levels["arm"] == "streams" or (each.levels["arm"] == "main" and each.levels["op"] != "write")
        assert each.levels["sinks"] == 64 or not varied
        places = {"published": {"free"}, "main": {"same", "cross"}}.get(str(each.levels["arm"]))
        assert each.placement in (places or ({"cross"} if two else {"same"}))
        assert each.placement != "cross" or two
        assert each.primary == (each.levels["op"],)
    blocks = [each.block for each in POINTS]
    assert len([one for one, other in zip(blocks, [*blocks[1:], ""], strict=True) if one != other]) == len(set(blocks))


def test_a_cell_has_every_key_in_the_agreed_order() -> None:
    found = point(arm="factorial", op="end-to-end", pool="yes", chunk=4096)
    assert cell(found) == (
        "arm=factorial/node=factorial/op=end-to-end/medium=pipe/size=1048576/streams=1/threshold=8192/pool=yes/chunk=4096/sinks=1"
    )
    assert cell(point(arm="main", backend="adaptive", op="write", size_bytes=1024, sinks=1)) == NAME


def test_a_sweep_keeps_the_nodes_asked_for() -> None:
    found = STUDY.points(QUICK, Sweep(None, ("direct", "factorial")))
    assert Counter(each.backend for each in found) == {"direct": 2, "factorial": 16}
    found = STUDY.points(QUICK, Sweep(levels={"streams": (3, 2), "threshold": (5,)}))
    assert {each.levels["streams"] for each in found if each.levels["arm"] == "streams"} == {2, 3}
    assert {each.levels["threshold"] for each in found if each.levels["arm"] == "threshold"} == {5, 8192}
    found = STUDY.points(QUICK, Sweep(levels={"sinks": (3, 2)}))
    assert Counter((each.levels["op"], each.levels["sinks"]) for each in found if each.levels["arm"] == "main") == {
        **{("write", 2): 16, ("write", 3): 16, ("receive", 3): 16, ("end-to-end", 3): 40}
    }


def test_a_launch_is_half_as_long_as_another_study_makes_it() -> None:
    assert STUDY.effort(QUICK) == replace(QUICK, budget_ns=QUICK.budget_ns // 2)


def test_only_a_peer_on_another_cpu_is_moved() -> None:
    two = Placement("cross", (frozenset({3}), frozenset({5})), "l3")
    cross, same = (
        point(arm="main", backend="hybrid", medium="pipe", size_bytes=8192, placement=p) for p in ("cross", "same")
    )
    (role,) = STUDY.roles(cross, QUICK, two, 1)
    assert (role.cpus, role.arguments["peer"]) == (frozenset({3}), [5])
    assert role.arguments["benchtime"] == f"{QUICK.budget_ns // 10**6}ms"
    assert STUDY.roles(same, QUICK, Placement("same", (frozenset({3}),), "same"), 1)[0].arguments["peer"] == []
    assert STUDY.roles(point(arm="published", backend="direct"), SMOKE, FREE, 1)[0].cpus == frozenset(CPUS)


def test_output_is_read_exactly() -> None:
    found = output.outcome(f"{HEAD}{LINE}PASS\n", NAME, "write")
    assert found.facts == {"operations": 22_755}
    assert found.samples["write"].tolist() == [67_310]  # of a thousand
    assert found.counters == {"write": {"allocations": 3, "bytes_allocated": 48}}
    alone = output.outcome(f"{HEAD}{FAR}PASS\n", NAME, "end-to-end")  # with one CPU there is no `-2`
    assert alone.facts == {"operations": 673}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{HEAD}{LINE}", "it did not pass"),
        (f"{HEAD}PASS\n", "0 results of .* where one was asked for"),
        (f"{HEAD}{LINE}{LINE}PASS\n", "2 results"),
        (f"{HEAD}{LINE.replace('size=1024', 'size=2048')}PASS\n", "where 'arm=main.*size=1024.* was asked for"),
        (f"{HEAD}{LINE}panic: oh\nPASS\n", "an unknown line 'panic: oh'"),
        (f"{HEAD}{LINE.replace('MB/s', 'widgets')}PASS\n", "a line that is no result"),
        (f"{HEAD}{LINE.replace('67.31', 'NaN')}PASS\n", "a line that is no result"),
        (f"{HEAD}{LINE.replace('67.31', '0')}PASS\n", "nothing was timed"),
        (f"{HEAD}{LINE.replace('48 B/op', '48 MB/s')}PASS\n", "metrics that are missing or there twice"),
        (f"{HEAD}BenchmarkCell/{NAME}-2 12 67 ns/op 3 allocs/op\nPASS\n", "metrics that are missing or there twice"),
        (f"{HEAD}BenchmarkCell/{NAME}-2\nPASS\n", "a line that is no result"),
    ],
)
def test_any_other_output_is_refused(text: str, why: str) -> None:
    with pytest.raises(LabError, match=why):
        output.outcome(text, NAME, "write")


def test_why_a_benchmark_failed_is_one_line() -> None:
    failed = f"{HEAD}--- FAIL: BenchmarkCell/{NAME}\n    bench_test.go:9: 3 bytes received: EOF\nFAIL\n"
    assert output.reason(failed) == "bench_test.go:9: 3 bytes received: EOF"
    assert output.reason(f"{failed}panic: test timed out after 1s\n") == "panic: test timed out after 1s"
    assert output.reason("") == "nothing was said"


def test_counters_are_those_of_both_ends() -> None:
    far = FAR.replace("216688", "200000.5")
    found = output.outcome(f"{HEAD}{far}PASS\n", NAME, "end-to-end")
    assert found.samples["end-to-end"].tolist() == [200_000_500]
    assert found.counters["end-to-end"] == {
        "allocations": pytest.approx(27.009),
        "bytes_allocated": 252_897.0,
        "receiver_allocations": 9.009,
        "receiver_bytes_allocated": 252_465.0,
        "fairness": 1.276,
    }
    launch = STUDY.collect(POINTS[0], {"program": found}, 1)
    assert launch.per == {"end-to-end": 1000}
    assert launch.times("end-to-end").tolist() == [200_000.5]
    assert launch.facts == {"operations": 673}


@pytest.mark.slow
def test_without_go_the_points_are_not_testable_and_the_rest_is_made(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "candidates", lambda: ())
    monkeypatch.setattr(LimitsStudy, "backends", lambda self: ())
    run = measure(paths, Request(("multiplexer",), "smoke"), Progress())
    assert run.finished
    reasons = set(run.about["points"].values())
    assert reasons == {
        "not testable here: no Go toolchain: none is installed; run make setup, or install Go 1.24 or newer"
    }
    assert len(run.about["points"]) == len(POINTS)


@pytest.mark.slow
def test_go_that_cannot_compile_costs_its_study_only(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bad = toolchain.Toolchain(command(tmp_path, "go", "echo './a.go:1:1: undefined: y'; exit 1"), "go1.99")
    monkeypatch.setattr(toolchain, "find", lambda *_: bad)
    monkeypatch.setattr(LimitsStudy, "backends", lambda self: ())
    monkeypatch.setattr(PayloadStudy, "points", lambda self, profile, sweep: PAYLOAD)
    run = measure(paths, Request(("multiplexer", "payload"), "smoke"), Progress())
    (reason,) = set(run.about["points"].values())
    assert reason.startswith(
        "not testable here: cannot compile the Go benchmarks: ./a.go:1:1: undefined: y; see 'go vet'"
    )
    assert run.about["points"].keys() == {each.id for each in POINTS}
    assert run.complete and list(run.checked("points/payload/")) == [run.file(PAYLOAD[0])]


@contextmanager
def _opened(launcher: Launcher) -> Iterator[SimpleNamespace]:
    """The benchmark compiled: `launch` runs a point, `kept` holds the raw files in the end, `notes` the run's notes."""
    found = toolchain.find(toolchain.module(), toolchain.candidates())
    if isinstance(found, str):
        pytest.skip(found)
    kept: dict[str, bytes] = {}
    notes: dict[str, dict[str, str]] = {}
    site = Site(launcher, Path("/nowhere"), kept.__setitem__, notes.__setitem__, print)
    with STUDY.open(site, POINTS, SMOKE, 1) as bench:

        def launch(each: Point, benchtime: str = "1ms") -> Launch:
            placement = {"same": SAME, "cross": CROSS, "free": FREE}[each.placement]
            (role,) = STUDY.roles(each, SMOKE, placement, 1)
            role.arguments["benchtime"] = benchtime
            return STUDY.collect(each, bench(each, [role], 60), 1)

        yield SimpleNamespace(launch=launch, kept=kept, notes=notes, bench=bench, version=found.version)


@pytest.fixture(scope="module")
def ran(launcher: Launcher) -> Iterator[SimpleNamespace]:
    with _opened(launcher) as found:
        yield found


def test_the_published_nodes_allocate_as_published(ran: SimpleNamespace) -> None:
    """Frames times size class: a header made anew takes 16 bytes, one put back into a pool a slice of 24."""
    expected = {
        "original": [(3, 48), (66, 1056), (1026, 16_416)],
        "optimized": [(3, 72), (18, 432), (66, 1584)],
        "hybrid": [(3, 48), (18, 432), (66, 1584)],
        "adaptive": [(0, 0), (0, 0), (0, 0)],
    }
    for node, stated in expected.items():
        for size, (allocations, taken) in zip((1024, 65_536, 1_048_576), stated, strict=True):
            counted = ran.launch(point(arm="published", backend=node, size_bytes=size), "500x").counters["write"]
            assert counted["allocations"] == allocations
            assert taken <= counted["bytes_allocated"] < taken + 16  # less than one header: the runtime's own


def test_both_ends_are_counted_and_the_output_is_kept(launcher: Launcher) -> None:
    if len(CPUS) < 2:
        pytest.skip("this process may use one CPU only")
    each = point(arm="streams", backend="adaptive", streams=8)
    with _opened(launcher) as ran:
        counted = ran.launch(each).counters["end-to-end"]
        ran.launch(each)
    assert counted["receiver_bytes_allocated"] >= each.size_bytes
    assert counted["bytes_allocated"] >= counted["receiver_bytes_allocated"]
    assert counted["fairness"] >= 1
    ((name, text),) = ran.kept.items()
    assert name.startswith("multiplexer/")
    assert text.count(b"PASS") == text.count(f"BenchmarkCell/{cell(each)}".encode()) == 2
    assert ran.notes == {"multiplexer": {"go": ran.version}}


def test_a_bad_cell_names_its_key(ran: SimpleNamespace) -> None:
    each = point(arm="published", backend="direct")
    role = STUDY.roles(each, SMOKE, FREE, 1)[0]
    role.arguments["cell"] = role.arguments["cell"].replace("size=1024", "size=much")
    with pytest.raises(LabError, match=r"the Go benchmark ended with exit code 2: .*key size"):
        ran.bench(each, [role], 60)


def test_a_peer_that_cannot_be_moved_fails_the_launch(ran: SimpleNamespace) -> None:
    each = point(arm="streams", backend="adaptive", streams=1)
    role = STUDY.roles(each, SMOKE, SAME, 1)[0]
    role.arguments["peer"] = [8191]
    with pytest.raises(LabError, match="receiver: IPCLAB_PEER_CPUS: cannot run on 8191"):
        ran.bench(each, [role], 60)
