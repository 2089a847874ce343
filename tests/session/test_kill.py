"""Measuring that is killed at any moment: nothing is left behind, and only what is missing is
measured again.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ipclab.paths import Paths
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure_run
from ipclab.spawn.failures import LaunchError
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.ledger import SHARED_MEMORY, close_dead_sessions
from ipclab.spawn.started import Role
from ipclab.store import run as folder
from ipclab.store.samples import decode
from ipclab.studies.interface import Sweep
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.payload.study import PayloadStudy
from ipclab.studies.profile import PROFILES
from tests.support.bundled import make_run
from tests.support.commands import (
    ROOT,
    World,
    eventually,
    measure_command,
    namespace_refused,
    processes_of,
)
from tests.support.few import some

pytestmark = pytest.mark.slow
SIZES, BACKENDS = (84,), ("shm-mmap", "posix-shm", "file")
COMMAND = measure_command(SIZES, BACKENDS)
NOBODY = 65534
PEER = ROOT / "tests/support/broken_peer.py"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def decoys() -> Iterator[list[Path]]:
    """Two files in /dev/shm named like ours that no ledger knows: one of this user, one of another
    if we may.
    """
    made = [SHARED_MEMORY / f"ipclab-1-{os.getpid()}-deadbeef-{end}" for end in ("x", "1-segment")]
    for path in made:
        path.write_bytes(b"precious")
    if os.getuid() == 0:
        os.chown(made[0], NOBODY, NOBODY)
    yield made
    for path in made:
        path.unlink()


def kill(measuring: "subprocess.Popen[str]", session: str, server_too: bool) -> None:
    """SIGKILL the measuring process, and first its fork server when `server_too`; they complain of
    nothing.
    """
    if server_too and (servers := processes_of(session)):
        os.kill(min(servers), signal.SIGKILL)
    measuring.kill()
    assert measuring.communicate(timeout=60)[1] == ""


def ended(session: str) -> bool:
    """Tell whether no process of `session` is left."""
    return not processes_of(session)


def test_kill_9_at_any_moment_then_again(world: World, decoys: list[Path]) -> None:
    moment = random.Random(20261121)
    kept: dict[str, list[int]] = {}
    sessions = []
    for finished, server_too in ((0, False), (1, False), (2, True), (7, False)):
        measuring = world.start(COMMAND)
        world.wait(measuring, partial(world.session, measuring))
        sessions.append(world.session(measuring))
        world.wait(measuring, partial(world.has, finished))
        time.sleep(moment.uniform(0, 0.05))
        kill(measuring, sessions[-1], server_too)
        assert eventually(partial(ended, sessions[-1]))
        now = world.points()
        # no launch is lost
        assert all(now[name][: len(orders)] == orders for name, orders in kept.items())
        kept = now
    out, err = (measuring := world.start(COMMAND)).communicate(timeout=60)
    assert (measuring.returncode, err) == (0, "")
    run = folder.read_run(Path(out.strip()))
    expected = {
        point.id: point
        for point in PayloadStudy().points(PROFILES["smoke"], Sweep(SIZES, BACKENDS))
    }
    assert {
        file.stem: decode(file).point for file in run.checked("points/payload/").values()
    } == expected
    now = world.points()
    assert all(now[name][: len(orders)] == orders for name, orders in kept.items()) and kept
    assert run.finished
    assert run.about["failures"] == {}
    runs = [path for path in run.path.parent.iterdir() if path.is_dir()]
    assert runs == [run.path]  # continued
    assert [path for session in sessions for path in world.left(session)] == []
    assert [path.read_bytes() for path in decoys] == [b"precious"] * 2
    assert not list(run.path.rglob("*.part"))


@pytest.mark.matrix
@pytest.mark.skipif(
    find_spec("ipclab_native") is None, reason="the native package is not installed"
)
def test_kill_9_of_native_processes(world: World) -> None:
    measuring = world.start(measure_command(SIZES, BACKENDS, native=True))
    world.wait(measuring, lambda: len(processes_of(world.session(measuring))) > 1)
    session = world.session(measuring)
    kill(measuring, session, False)
    assert eventually(partial(ended, session))
    assert world.left(session) == []


def test_a_decoy_survives_clean(world: World, decoys: list[Path]) -> None:
    world.ledger.mkdir(parents=True)
    assert close_dead_sessions(world.ledger) == []
    assert [path.read_bytes() for path in decoys] == [b"precious"] * 2


def test_an_altered_point_is_measured_again_and_said(world: World) -> None:
    measuring = world.start(COMMAND)
    world.wait(measuring, partial(world.has, 3))
    kill(measuring, world.session(measuring), False)
    before = world.points()
    altered, cut, *_ = sorted(before)
    path = next(world.data.rglob(altered))
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    os.truncate(next(world.data.rglob(cut)), 10)
    half = path.with_name("half.parquet.part")
    half.write_bytes(b"PAR1")
    done = world.run(COMMAND)
    warned = [
        line.split()[0] for line in done.stderr.splitlines() if "is not what was measured" in line
    ]
    assert sorted(Path(name).name for name in warned) == [altered, cut]
    assert not half.exists()
    after = world.points()
    assert {name for name in before if after[name][: len(before[name])] != before[name]} == {
        altered,
        cut,
    }
    run = folder.read_run(Path(done.stdout.strip()))
    assert len(list(run.point_files())) == len(after)
    assert len(run.about["sessions"]) == 2


def test_two_processes_cannot_measure_into_one_run_and_a_finished_one_is_not_measured_again(
    world: World,
) -> None:
    first = world.start(COMMAND)
    try:
        world.wait(first, partial(world.session, first))
        # so that it holds the run for as long as the second one tries
        first.send_signal(signal.SIGSTOP)
        second = world.run(COMMAND)
        assert second.returncode == 1
        (line,) = second.stderr.splitlines()
        assert "is being measured by another process; wait for it or end it" in line
    finally:
        first.send_signal(signal.SIGCONT)
        out, err = first.communicate(timeout=60)
    assert (first.returncode, err) == (0, "")
    assert list(world.temporary.iterdir()) == []
    assert list(world.ledger.iterdir()) == []
    run = Path(out.strip())
    before, index = world.points(), (run / "run.json").read_bytes()
    again = world.run(measure_command(SIZES, BACKENDS, str(run)))
    assert (again.returncode, again.stdout) == (0, out)
    assert world.points() == before
    assert (run / "run.json").read_bytes() == index
    other = world.run(measure_command((88,), BACKENDS, str(run)))
    assert other.returncode == 2
    assert (
        "cannot be continued: it was begun with other parameters or on another machine"
        in other.stderr
    )


@pytest.mark.matrix
def test_a_fork_server_that_is_killed_costs_no_point(world: World) -> None:
    measuring = world.start(COMMAND)
    world.wait(measuring, partial(world.session, measuring))
    session, killed = world.session(measuring), 0
    while measuring.poll() is None and killed < 3:  # it may be done before the third one
        if there := processes_of(session):  # between one fork server and the next there is none
            os.kill(min(there), signal.SIGKILL)
            killed += 1
            time.sleep(0.2)
    assert killed
    out, err = measuring.communicate(timeout=60)
    assert measuring.returncode == 0 and "Traceback" not in err
    run = folder.read_run(Path(out.strip()))
    assert run.complete
    expected = {
        point.id for point in PayloadStudy().points(PROFILES["smoke"], Sweep(SIZES, BACKENDS))
    }
    assert {file.stem for file in run.checked("points/payload/").values()} == expected
    assert world.left(session) == []


@pytest.mark.matrix
@pytest.mark.skipif(bool(namespace_refused()), reason=f"no namespace here: {namespace_refused()}")
def test_a_session_in_another_pid_namespace_is_not_taken_for_dead(world: World) -> None:
    """Its process numbers mean nothing out here, where `clean` and other sessions come by."""
    inside = [
        "unshare",
        *([] if os.getuid() == 0 else ["-U", "-r"]),
        "--pid",
        "--fork",
        "--mount-proc",
        *COMMAND,
    ]
    measuring = world.start(inside)
    world.wait(measuring, lambda: list(world.ledger.glob("*.json")))
    (file,) = world.ledger.iterdir()
    while measuring.poll() is None and not world.has(7):
        assert [name for name in close_dead_sessions(world.ledger) if file.stem in name] == []
    other = world.run(measure_command((88,), ("file",)))
    assert (other.returncode, other.stderr) == (0, "")
    out, err = measuring.communicate(timeout=60)
    assert (measuring.returncode, err) == (0, "")
    assert folder.read_run(Path(out.strip())).complete
    assert world.left(file.stem) == []


def test_the_same_command_measures_failed_points_again(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LimitsStudy, "points", lambda self, profile, sweep: [])
    request = Request(("payload",), "smoke", sweep=Sweep((84,), ("file", "mp-shm")))
    running = Launcher.running

    def fail_files(self: Launcher, roles: list[Role], prefix: str) -> Any:
        if roles[0].arguments.get("arm") == "file":
            raise LaunchError("no such luck")
        return running(self, roles, prefix)

    with monkeypatch.context() as patch:
        patch.setattr(Launcher, "running", fail_files)
        run = measure_run(paths, request, Progress())
    assert (run.finished, run.complete, list(run.about["failures"].values())) == (
        True,
        False,
        ["no such luck"],
    )
    before = {file.name: file.stat().st_mtime_ns for file in run.point_files()}
    again = measure_run(paths, request, Progress())
    assert (again.path, again.complete) == (run.path, True)
    after = {file.name: file.stat().st_mtime_ns for file in again.point_files()}
    assert before.items() <= after.items() and len(after) == len(before) + 1
    assert (
        measure_run(paths, request, Progress()).path != run.path
    )  # a complete run is not begun again


KILLED = """
import os
import ipclab.report.appendix.thin
import ipclab.commands.bundles
from ipclab.__main__ import main

def thin(*arguments):
    os.kill(os.getpid(), 9)

def write(file, members, level=3):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), 9)

ipclab.report.appendix.thin._thin = thin
ipclab.commands.bundles.write_archive = write
main()
"""


@pytest.mark.parametrize("more", [("--samples", "5"), ()], ids=["thinning", "packing"])
def test_kill_9_of_a_bundle_leaves_nothing_that_clean_does_not_take(
    world: World, tmp_path: Path, more: list[str]
) -> None:
    run = make_run(tmp_path / "elsewhere")
    out = tmp_path / "out"
    out.mkdir()
    words = ["bundle", str(run.path), str(out / "run.ipclab"), *more]
    assert world.run([sys.executable, "-c", KILLED, *words]).returncode == -signal.SIGKILL
    left = [*world.temporary.iterdir(), *out.iterdir()]
    assert left
    cleaned = world.run([sys.executable, "-m", "ipclab", "clean"])
    assert all(str(path) in cleaned.stdout for path in left), cleaned
    assert [*world.temporary.iterdir(), *out.iterdir(), *world.ledger.iterdir()] == []


@pytest.mark.matrix
def test_kill_9_of_conform_ends_its_peers_and_clean_takes_their_folder(world: World) -> None:
    """The peer is deaf for a minute: it does not see that its standard input has ended."""
    conform = world.start(
        [sys.executable, "-m", "ipclab", "conform", sys.executable, str(PEER), "deaf"]
    )
    world.wait(conform, lambda: len(processes_of(world.session(conform))) == 2)
    session = world.session(conform)
    conform.kill()
    conform.communicate(timeout=60)
    assert eventually(partial(ended, session))
    assert close_dead_sessions(world.ledger) == [str(world.temporary / session)]
    assert world.left(session) == []


def cli(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "ipclab", "measure", "--profile", "smoke", *arguments]


@pytest.mark.skipif(
    find_spec("ipclab_native") is None, reason="the native package is not installed"
)
@pytest.mark.parametrize("server_too", some([True, False], 2), ids=["owner and servers", "owner"])
def test_kill_9_while_files_are_read_leaves_none(
    world: World, tmp_path: Path, server_too: bool
) -> None:
    scratch = tmp_path / "scratch"
    measuring = world.start(cli("--study", "file_io", "--scratch", str(scratch)))
    world.wait(measuring, lambda: list(world.data.glob("runs/*/*/points/file_io/*")))
    session = world.session(measuring)
    assert list(scratch.glob("ipclab-scratch-file-io/*/*"))
    if server_too:
        for server in processes_of(session)[:2]:
            os.kill(server, signal.SIGKILL)
    measuring.kill()
    measuring.communicate(timeout=60)
    assert eventually(partial(ended, session))
    if server_too:
        assert f"scratch {scratch}/ipclab-scratch-file-io" in close_dead_sessions(world.ledger)
    assert not scratch.exists()
    assert world.left(session) == []


@pytest.mark.parametrize(
    ("study", "few", "sign"),
    some(
        [
            ("shared_dict", ("--backend", "posix-shm"), "points"),
            ("multiplexer", (), "session"),
            ("multiplexer", ("--size", "1000"), "points"),
        ],
        3,
    ),
)
def test_ctrl_c_is_one_line(world: World, study: str, few: tuple[str, ...], sign: str) -> None:
    """As a terminal sends it, to all processes in the foreground, while Go compiles and while
    points are measured.
    """
    pipe = subprocess.PIPE
    command = cli("--study", study, *few)
    measuring = subprocess.Popen(
        command, env=world.environment, stdout=pipe, stderr=pipe, text=True, process_group=0
    )
    files = "runs/.ledger/*" if sign == "session" else f"runs/*/*/points/{study}/*"
    world.wait(measuring, lambda: list(world.data.glob(files)))
    session = world.session(measuring)
    os.killpg(measuring.pid, signal.SIGINT)
    _, err = measuring.communicate(timeout=60)
    assert measuring.returncode == 130
    assert err.splitlines()[-1] == "ipclab: interrupted"
    if sign != "session":
        assert "keeps what is measured: the same command continues it\n" in err
    assert "Traceback" not in err and "Error" not in err
    assert eventually(lambda: world.left(session) == [])
