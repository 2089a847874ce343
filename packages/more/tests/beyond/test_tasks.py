"""The study of tasks: interpreters are found or told how to get, what a program says is read
exactly, wrong answers are refused, and a launch is measured by every way that is here.
"""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ipclab.errors import LabError
from ipclab.session.heats import heats
from ipclab.spawn.heat import Contestant, Heat, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.store.point import Point
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from ipclab_more.studies.tasks import STARTS, TasksStudy, interpreters, report
from ipclab_more.studies.tasks.program import measure, ways, work
from ipclab_more.studies.tasks.program.ways import PROCESS, THREAD, TaskWay, Threads
from ipclab_more.studies.tasks.program.work import Task, TaskAnswer
from tests.support.commands import eventually, kernel_objects, names_of
from tests.support.measured import FREE, SEED, measured

STUDY, SMOKE, OURS = TasksStudy(), PROFILES["smoke"], interpreters.this_python()
SHARED = Path("/dev/shm")
SEMAPHORE = "sem.mp-"  # what Python names there


def points(profile: str = "smoke", **levels: tuple[str, ...]) -> list[Point]:
    return STUDY.points(PROFILES[profile], Sweep(levels=levels))


def test_every_way_is_measured_in_the_pythons_that_have_it() -> None:
    main = [point for point in points() if point.levels["arm"] == "main"]
    by_python = {
        name: {point.backend for point in main if point.levels["python"] == name}
        for name in interpreters.KNOWN
    }
    assert "pool-interpreter" in by_python["3.14t"] and "interpreter" in by_python["3.13"]
    assert "pool-interpreter" not in by_python["3.13t"]
    assert not {"interpreter", "pool-interpreter"} & by_python["3.12"]
    objects = [point for point in points() if point.levels["arm"] == "objects"]
    assert {point.levels["python"] for point in objects} == {OURS}
    assert {point.levels["object"] for point in objects} == {*work.KINDS}


def test_a_quick_run_is_of_the_python_that_runs_it() -> None:
    brief = STUDY.brief(points("quick"))
    assert {point.levels["python"] for point in brief} == {OURS}
    assert {point.levels["arm"] for point in brief} <= {"main", "queue"}
    assert {"thread", "pool-thread", "process-fork", *(f"pool-{start}" for start in STARTS)} <= {
        point.backend for point in brief
    }
    effort = STUDY.effort(PROFILES["quick"])
    assert (effort.least_launches, effort.most_launches) == (3, 3)
    (other, *_) = {"3.11", "3.12"} - {OURS}
    assert points("quick", python=(other,)) and not STUDY.brief(points("quick", python=(other,)))


def test_the_ways_of_a_python_share_a_heat_and_so_do_the_pythons_of_a_way() -> None:
    two = points(python=("3.12", "3.13"))
    (heat,) = (heat for heat in heats(two) if len(heat) > 2)
    main = {point.id for point in two if point.levels["arm"] == "main"}
    assert main <= {*heat}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """A machine with no Python but ours; what it returns puts one that says what it is."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for root in interpreters.ROOTS:
        monkeypatch.setenv(root, str(tmp_path / root))
    monkeypatch.setattr(interpreters, "python_file", interpreters.python_file.__wrapped__)

    def put(where: str, says: str) -> Path:
        file = tmp_path / where
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{says}\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return file

    return put


def test_what_is_not_there_is_not_testable_and_says_how_to_get_it(
    machine: Callable[[str, str], Path],
) -> None:
    absent = {name: interpreters.python_missing(name) for name in {*interpreters.KNOWN} - {OURS}}
    for name, why in absent.items():
        assert why is not None and why.endswith(f"uv python install {name}")
    assert interpreters.python_missing(OURS) is None
    for wrong in ("3.10", "2.7", "3.14x", "pypy3"):
        assert "name one such as 3.11" in str(interpreters.python_missing(wrong))
    (point,) = {p.id: p for p in points(python=("3.19t",)) if p.backend == "thread"}.values()
    assert "uv python install 3.19t" in str(STUDY.missing(point, Path()))


def test_a_python_is_found_on_the_path_of_pyenv_and_of_uv_and_asked_what_it_is(
    machine: Callable[[str, str], Path],
) -> None:
    machine("bin/python3.21", "exit 127")  # such as a shim of a version that is not chosen
    right = machine("PYENV_ROOT/versions/3.21.0/bin/python3.21", "printf 3.21")
    assert interpreters.python_file("3.21") == str(right)
    machine("UV_PYTHON_INSTALL_DIR/cpython-3.22/bin/python3.22", "printf 3.22t")
    assert interpreters.python_file("3.22") == ""  # it is another one than it is called
    free = machine(
        "UV_PYTHON_INSTALL_DIR/cpython-3.22+freethreaded/bin/python3.22t", "printf 3.22t"
    )
    assert interpreters.python_file("3.22t") == str(free)
    machine("bin/python3.23", "while :; do printf 3.23; done")
    assert interpreters.python_file("3.23") == ""
    assert interpreters.version_said("/nowhere") == ""


REPORT: dict[str, Any] = {
    "samples": {"first-result": [5], "task": [3, 4], "hundred": [200], "computed": [300]},
    "cpu_ns": 7.5,
    "held_bytes": -4096,
    "killed": {"kind": "BrokenProcessPool", "ns": 9, "next": "well"},
}


def test_what_a_program_says_becomes_a_launch() -> None:
    launch = report.launch(f"a warning\n{json.dumps(REPORT)}\nEOFError\n")
    assert {op: list(times) for op, times in launch.samples.items()} == {
        **REPORT["samples"],
        "noticed": [9],
    }
    assert launch.per == {"hundred": 100, "computed": 100}
    assert launch.counters == {
        "task": {"cpu_ns": 7.5},
        "noticed": {"BrokenProcessPool": 1},
        "again": {"well": 1},
    }
    assert launch.facts == {"held_bytes": -4096}
    short = REPORT | {"samples": {"first-result": [5], "task": [3]}, "killed": None}
    assert report.launch(json.dumps(short)).samples.keys() == {"first-result", "task"}
    untold = report.launch(json.dumps(short | {"cpu_ns": 0, "held_bytes": 0}))
    assert (untold.counters, untold.facts) == ({}, {})


@pytest.mark.parametrize(
    "changed",
    [
        {"samples": {"first-result": [5], "task": []}},
        {"samples": {"first-result": [0], "task": [1]}},
        {"samples": {}},
        {"samples": {"first-result": [5]}},
        {"samples": {"first-result": [1], "task": [1] * 10_001}},
        {"cpu_ns": -1.0},
        {"held_bytes": 1.5},
        {"killed": {"kind": "<b>", "ns": 9, "next": "well"}},
        {"more": 1},
    ],
)
def test_what_is_no_report_is_refused_in_one_line(changed: dict[str, Any]) -> None:
    with pytest.raises(LabError, match="cannot be used") as refused:
        report.launch(json.dumps(REPORT | changed))
    assert "\n" not in str(refused.value)


def test_one_report_is_due() -> None:
    for text in ("", "Traceback\n", f"{json.dumps(REPORT)}\n" * 2):
        with pytest.raises(LabError, match="cannot be used"):
            report.launch(text)


@pytest.mark.parametrize("kind", work.KINDS)
def test_objects_differ_in_every_number_and_a_bit_changes_their_digest(kind: str) -> None:
    one, same, other = (work.task_object(kind, 1_000, 1, number) for number in (0, 0, 1))
    assert work.checksum(one) == work.checksum(same) != work.checksum(other)
    if kind == "array":
        assert len(one) * one.itemsize == 1_000
        same[len(same) // 2] ^= 1
    elif kind == "frame":
        same["text"][-1] = same["text"][-1][::-1]
    else:
        same["key_1"]["valid"] = int(same["key_1"]["valid"])
    assert work.checksum(one) != work.checksum(same)


class Cheating(Threads):
    """Threads whose answers a test alters."""

    def __init__(self, alter: Callable[[list[TaskAnswer]], TaskAnswer]) -> None:
        self.alter, self.seen = alter, list[TaskAnswer]()
        super().__init__()

    def result(self, ticket: int, seconds: float) -> TaskAnswer:
        self.seen.append(super().result(ticket, seconds))
        return self.alter(self.seen)


class Local(TaskWay):
    """No workers: whoever asks does the task."""

    apart = THREAD

    def submit(self, task: Task) -> TaskAnswer:
        return work.run_task(*task)

    def result(self, ticket: TaskAnswer, seconds: float) -> TaskAnswer:
        return ticket

    def close(self) -> None:
        pass


CHEATS: dict[str, tuple[Callable[[], TaskWay], str]] = {
    "stale": (lambda: Cheating(lambda seen: seen[0]), "has the answer to task 0"),
    "old object": (
        lambda: Cheating(lambda seen: seen[-1]._replace(digest=seen[0].digest)),
        "arrived wrong",
    ),
    "one bit": (
        lambda: Cheating(lambda seen: seen[-1]._replace(digest=seen[-1].digest ^ 1)),
        "arrived wrong",
    ),
    "local": (Local, "was done where it was asked for"),
}


def asked(way: str = "thread", **changed: Any) -> dict[str, Any]:
    usual = {"way": way, "queue": "own", "kind": "array", "size": 1_000, "seed": 1}
    effort = {"budget_ns": 1_000_000, "least": 5, "most": 5, "batches": 1, "deadline_ns": 10**8}
    return usual | effort | changed


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_is_refused(cheat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, told = CHEATS[cheat]
    monkeypatch.setattr(ways, "made_way", lambda name, queue: make())
    with pytest.raises(measure.WrongAnswerError, match=told):
        measure.MeasuredWay(asked()).report()


def test_a_wrong_answer_after_a_kill_is_no_way_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "made_way", lambda name, queue: Threads())
    launch = measure.MeasuredWay(asked())
    launch.way.result = lambda ticket, seconds: TaskAnswer(-1, 0, work.where())  # type: ignore[method-assign]
    with pytest.raises(measure.WrongAnswerError):
        launch._seen(0, 1.0)


def test_a_genuine_way_is_not_accused() -> None:
    told = measure.MeasuredWay(asked()).report()
    assert {op: len(times) for op, times in told["samples"].items()} == {
        "first-result": 1,
        "task": 5,
        "hundred": 1,
        "computed": 1,
    }
    assert told["killed"] is None and Threads.apart != PROCESS


def shared_since(before: set[str]) -> set[str]:
    """Return what lies in shared memory beside what was there `before`."""
    return {path.name for path in SHARED.iterdir()} - before


@pytest.mark.slow
def test_a_launch_of_every_way_tells_what_a_killed_worker_does_and_leaves_nothing(
    launcher: Launcher,
) -> None:
    effort = STUDY.effort(SMOKE)
    wanted = [p for p in STUDY.brief(points("smoke")) if p.levels["arm"] == "main"]
    entered = [(point, STUDY.roles(point, effort, FREE, SEED)) for point in wanted]
    before, shared = kernel_objects(), shared_since(set())
    seen = {}
    for point, launch in zip(wanted, measured(launcher, STUDY, entered), strict=True):
        assert {"first-result", "task", "hundred", "computed"} <= launch.samples.keys()
        assert launch.counters["task"]["cpu_ns"] > 0
        (kind,), (after,) = (launch.counters.get(op, {"": 1}) for op in ("noticed", "again"))
        seen[point.backend] = kind, after
    broken = ("BrokenProcessPool", "BrokenProcessPool")
    expected = {f"pool-{start}": broken for start in STARTS}
    expected |= {"mp-pool-fork": ("silence", "well"), "process-fork": ("EOFError", "well")}
    assert {name: seen[name] for name in expected} == expected
    assert seen["thread"] == seen["pool-thread"] == ("", "")
    assert names_of(launcher.session.id) == []
    # Other tests may make some at the same time, and take them away again.
    assert eventually(lambda: kernel_objects() <= before)
    assert eventually(
        lambda: not [name for name in shared_since(shared) if name.startswith(SEMAPHORE)]
    )


def test_a_program_that_fails_is_told_in_one_line(launcher: Launcher) -> None:
    point = next(p for p in points() if p.backend == "thread" and p.levels["python"] == OURS)
    (role,) = STUDY.roles(point, STUDY.effort(SMOKE), FREE, 3)
    assert role.env["PYTHONPATH"] == str(Path(interpreters.__file__).parent)
    assert json.loads(role.command[-1])["way"] == "thread"
    broken = Contestant(point, [type(role)(role.name, "", {}, role.cpus, command=role.command)])
    error = Heat(launcher, Schedule(seconds=60)).run({point.id: broken})[point.id]
    assert isinstance(error, LabError) and "No module named" in str(error), error
    assert "\n" not in str(error)
