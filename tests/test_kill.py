"""Measuring that is killed at any moment: nothing is left behind, and only what is missing is measured again."""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipclab.ledger import SHARED_MEMORY, clean
from ipclab.profiles import PROFILES
from ipclab.runs import folder
from ipclab.runs.samples import decode
from ipclab.studies.interface import Sweep
from ipclab.studies.payload import PayloadStudy
from tests.commands import environment, eventually, measure_command, names_of, processes_of

SIZES, BACKENDS = (84,), ("shm-mmap", "posix-shm", "file")
COMMAND = measure_command(SIZES, BACKENDS)
NOBODY = 65534


class World:
    """A data folder and a temporary folder of their own, and what can be seen of a measuring process."""

    def __init__(self, path: Path) -> None:
        self.environment = environment(path)
        self.data, self.temporary = path / "data", path / "tmp"
        self.ledger = self.data / "runs" / ".ledger"

    def start(self) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        return subprocess.Popen(COMMAND, env=self.environment, stdout=pipe, stderr=pipe, text=True)

    def session(self) -> str:
        """Return the id of the session that measures, or nothing."""
        return next((file.stem for file in self.ledger.glob("ipclab-*.json")), "")

    def points(self) -> dict[str, tuple[int, bytes]]:
        """Return the inode and the content of every finished point."""
        return {file.name: (file.stat().st_ino, file.read_bytes()) for file in self.data.rglob("*.parquet")}

    def left(self, session: str) -> list[object]:
        return [*names_of(session), *self.temporary.iterdir(), *self.ledger.iterdir(), *processes_of(session)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def decoys() -> Iterator[list[Path]]:
    """Two files in /dev/shm named like ours that no ledger knows: one of this user, one of another if we may."""
    made = [SHARED_MEMORY / "ipclab-1-2-deadbeef-x", SHARED_MEMORY / "ipclab-1-2-deadbeef-1-segment"]
    for path in made:
        path.write_bytes(b"precious")
    if os.getuid() == 0:
        os.chown(made[0], NOBODY, NOBODY)
    yield made
    for path in made:
        path.unlink()


def kill(measuring: "subprocess.Popen[str]", session: str, server_too: bool) -> None:
    """SIGKILL the measuring process, and first its fork server when `server_too`."""
    if server_too and (servers := processes_of(session)):
        os.kill(min(servers), signal.SIGKILL)
    measuring.kill()
    measuring.communicate(timeout=10)


def test_kill_9_at_any_moment_then_again(world: World, decoys: list[Path]) -> None:
    moment = random.Random(20261121)
    kept: dict[str, tuple[int, bytes]] = {}
    sessions = []
    for server_too in (False, True, False, True):
        measuring = world.start()
        assert eventually(world.session, 60)
        finished = len(kept) + moment.randrange(2)  # let some points be finished first
        assert eventually(lambda: len(world.points()) >= finished, 60)  # noqa: B023
        time.sleep(moment.uniform(0, 0.15))
        sessions.append(world.session())
        kill(measuring, sessions[-1], server_too)
        assert eventually(lambda: not processes_of(sessions[-1]))
        if not server_too:
            assert world.left(sessions[-1]) == []
        now = world.points()
        assert kept.items() <= now.items()  # neither measured again nor touched
        kept = now
    out, err = (measuring := world.start()).communicate(timeout=60)
    assert (measuring.returncode, err) == (0, "")
    run = folder.read(Path(out.strip()))
    expected = {point.id: point for point in PayloadStudy().points(PROFILES["smoke"], Sweep(SIZES, BACKENDS))}
    assert {file.stem: decode(file).point for file in run.point_files()} == expected
    assert kept.items() <= world.points().items()
    assert 0 < len(kept) < len(expected)
    assert run.finished
    assert run.about["failures"] == {}
    assert [run.path] == list(run.path.parent.iterdir())  # one run, continued
    assert [path for session in sessions for path in world.left(session)] == []
    assert [path.read_bytes() for path in decoys] == [b"precious"] * 2
    assert not list(run.path.rglob("*.part"))


def test_a_decoy_survives_clean(world: World, decoys: list[Path]) -> None:
    world.ledger.mkdir(parents=True)
    assert clean(world.ledger) == []
    assert [path.read_bytes() for path in decoys] == [b"precious"] * 2


def test_an_altered_point_is_measured_again_and_said(world: World) -> None:
    measuring = world.start()
    assert eventually(lambda: len(world.points()) >= 3, 60)
    kill(measuring, world.session(), False)
    before = world.points()
    (name, _), (cut, _), *_ = sorted(before.items())
    file, other = (next(world.data.rglob(each)) for each in (name, cut))
    file.write_bytes(file.read_bytes()[:-1] + b"\0")
    os.truncate(other, 10)
    code = COMMAND[2].replace("Silent()", "Bar()").replace("import Silent", "import Bar")
    command = [COMMAND[0], "-c", code, *COMMAND[3:]]
    done = subprocess.run(command, env=world.environment, capture_output=True, text=True, timeout=60, check=True)
    warned = [line for line in done.stderr.splitlines() if "is not what was measured" in line]
    assert [Path(line.split()[0]).name for line in warned] == sorted(
        {name, cut}, key=[p.split()[0] for p in ()].append or str
    ) or {Path(line.split()[0]).name for line in warned} == {name, cut}
    after = world.points()
    assert {each for each in before if after[each] != before[each]} == {name, cut}
    list(folder.read(Path(done.stdout.strip())).point_files())


def test_two_processes_cannot_measure_into_one_run(world: World) -> None:
    first = world.start()
    try:
        assert eventually(world.points, 60)
        second = subprocess.run(COMMAND, env=world.environment, capture_output=True, text=True, timeout=60, check=False)
        assert first.poll() is None
        assert second.returncode == 1
        (line,) = second.stderr.splitlines()
        assert "is being measured by another process; wait for it or end it" in line
    finally:
        first.communicate(timeout=60)
    assert first.returncode == 0
    assert list(world.temporary.iterdir()) == list(world.ledger.iterdir()) == []


def test_a_finished_run_is_not_measured_again(world: World) -> None:
    first = subprocess.run(COMMAND, env=world.environment, capture_output=True, text=True, timeout=60, check=True)
    before, index = world.points(), json.loads((Path(first.stdout.strip()) / "run.json").read_text())
    code = COMMAND[2].replace(
        'Request(profile="smoke",',
        f'Request(run=__import__("pathlib").Path({first.stdout.strip()!r}), profile="smoke",',
    )
    again = subprocess.run(
        [COMMAND[0], "-c", code, *COMMAND[3:]],
        env=world.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert again.stdout == first.stdout
    assert world.points() == before
    assert json.loads((Path(first.stdout.strip()) / "run.json").read_text()) == index
