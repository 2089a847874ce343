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

import pytest

from ipclab.spawn.ledger import SHARED_MEMORY, close_dead_sessions
from ipclab.store import run as folder
from ipclab.store.samples import decode
from ipclab.studies.interface import Sweep
from ipclab.studies.payload.study import PayloadStudy
from ipclab.studies.profile import PROFILES
from tests.support.bundled import make_run
from tests.support.commands import IPCLAB, ROOT, Run, World, eventually, processes_of, ran
from tests.support.few import some

pytestmark = pytest.mark.slow
BACKENDS = "shm-mmap", "posix-shm", "file"
MEASURE = ["measure", "--profile", "smoke"]
COMMAND = [sys.executable, "-c", IPCLAB, *MEASURE, "--study", "payload", "--size", "84"]
COMMAND += [word for name in BACKENDS for word in ("--backend", name)]
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
    assert "Traceback" not in measuring.communicate(timeout=60)[1]


def ended(session: str) -> bool:
    """Tell whether no process of `session` is left."""
    return not processes_of(session)


def continue_each(kept: dict[str, list[int]], now: dict[str, list[int]]) -> bool:
    """Tell whether no launch that was `kept` is lost."""
    return all(now[name][: len(orders)] == orders for name, orders in kept.items())


@pytest.mark.matrix
def test_kill_9_at_any_moment_then_again(world: World, decoys: list[Path]) -> None:
    moment = random.Random(20261121)
    kept: dict[str, list[int]] = {}
    sessions = []
    for finished, server_too in ((0, False), (4, True)):
        measuring = world.start(COMMAND)
        world.wait(measuring, partial(world.session, measuring))
        sessions.append(world.session(measuring))
        world.wait(measuring, partial(world.has, finished))
        time.sleep(moment.uniform(0, 0.05))
        kill(measuring, sessions[-1], server_too)
        assert eventually(partial(ended, sessions[-1]))
        now = world.points()
        assert continue_each(kept, now)
        kept = now
    done = ran(COMMAND, env=world.environment)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    (index,) = world.data.glob("runs/*/*/run.json")
    run = folder.read_run(index.parent)
    expected = PayloadStudy().points(PROFILES["smoke"], Sweep((84,), BACKENDS))
    measured = {file.stem: decode(file).point for file in run.checked("points/payload/").values()}
    assert measured == {point.id: point for point in expected}
    assert kept and continue_each(kept, world.points())
    assert run.complete
    assert [path for session in sessions for path in world.left(session)] == []
    assert [path.read_bytes() for path in decoys] == [b"precious"] * 2
    assert not list(run.path.rglob("*.part"))


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
    world: World, ipclab: Run, tmp_path: Path, more: list[str]
) -> None:
    run = make_run(tmp_path / "elsewhere")
    out = tmp_path / "out"
    out.mkdir()
    words = ["bundle", str(run.path), str(out / "run.ipclab"), *more]
    killed = [sys.executable, "-c", KILLED, *words]
    assert ran(killed, env=world.environment).returncode == -signal.SIGKILL
    left = [*world.temporary.iterdir(), *out.iterdir()]
    assert left
    cleaned = ipclab("clean")
    assert all(str(path) in cleaned.stdout for path in left), cleaned
    assert [*world.temporary.iterdir(), *out.iterdir(), *world.ledger.iterdir()] == []


@pytest.mark.matrix
def test_kill_9_of_conform_ends_its_peers_and_clean_takes_their_folder(world: World) -> None:
    """The peer is deaf for a minute: it does not see that its standard input has ended."""
    words = ["-m", "ipclab", "conform", sys.executable, str(PEER), "deaf"]
    conform = world.start([sys.executable, *words])
    world.wait(conform, lambda: len(processes_of(world.session(conform))) == 2)
    session = world.session(conform)
    conform.kill()
    conform.communicate(timeout=60)
    assert eventually(partial(ended, session))
    assert close_dead_sessions(world.ledger) == [str(world.temporary / session)]
    assert world.left(session) == []


def cli(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "ipclab", *MEASURE, *arguments]


@pytest.mark.skipif(
    find_spec("ipclab_native") is None, reason="the native package is not installed"
)
def test_kill_9_while_files_are_read_leaves_none(world: World, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    measuring = world.start(cli("--study", "file_io", "--scratch", str(scratch)))
    world.wait(measuring, lambda: list(world.data.glob("runs/*/*/points/file_io/*")))
    session = world.session(measuring)
    assert list(scratch.glob("ipclab-scratch-file-io/*/*"))
    for server in processes_of(session)[:2]:
        os.kill(server, signal.SIGKILL)
    measuring.kill()
    measuring.communicate(timeout=60)
    assert eventually(partial(ended, session))
    assert f"scratch {scratch}/ipclab-scratch-file-io" in close_dead_sessions(world.ledger)
    assert not scratch.exists()
    assert world.left(session) == []


@pytest.mark.parametrize(
    ("study", "few", "sign"),
    some([("payload", ("--backend", "file"), "points"), ("multiplexer", (), "session")], 2),
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
