"""Finding Go, compiling with it, and running what was compiled: nothing is left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipclab.errors import LabError
from ipclab.studies.multiplexer import toolchain
from ipclab.studies.multiplexer.process import ProcessError, Starter
from tests.commands import ROOT, eventually

CPUS = sorted(os.sched_getaffinity(0))


def command(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return path


def module(folder: Path) -> Path:
    (folder / "go.mod").write_text("module x\n\ngo 1.24\n")
    return folder


def test_the_first_go_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    older, broken = command(tmp_path, "a", "echo go1.23.9"), command(tmp_path, "b", "echo no such thing >&2; exit 2")
    newer, newest = command(tmp_path, "c", "echo go1.24.1"), command(tmp_path, "d", "echo go2.0")
    source = module(tmp_path)
    assert toolchain.find(source, (older, broken, newer, newest)) == toolchain.Toolchain(newer, "go1.24.1")
    why = toolchain.find(source, (older, broken, tmp_path / "gone"))
    assert why == (
        "no Go toolchain: go1.23.9 is older; b: no such thing; gone: not there; "
        "run make setup, or install Go 1.24 or newer"
    )
    assert "go.mod is absent" in str(toolchain.find(tmp_path / "nothing", (newer,)))


def test_a_persons_go_settings_do_not_reach_the_build(tmp_path: Path) -> None:
    given = {"PATH": "/bin", "GOFLAGS": "-race", "GOROOT": "/x", "GOCACHE": "/c", "HOME": str(tmp_path)}
    made = toolchain.environment(tmp_path, given)
    assert (made["GOFLAGS"], made["GOCACHE"], made["GOTOOLCHAIN"], "GOROOT" in made) == (
        "-mod=mod",
        "/c",
        "local",
        False,
    )
    homeless = toolchain.environment(tmp_path, {"HOME": "/nonexistent"})
    assert homeless["GOCACHE"] == str(tmp_path / "go-cache")


def test_a_build_that_fails_or_hangs_says_so(tmp_path: Path) -> None:
    bad = toolchain.Toolchain(command(tmp_path, "bad", "echo '# x'; echo './a.go:1:1: undefined: y'; exit 1"), "go1.24")
    with pytest.raises(LabError, match=r"cannot compile the Go benchmarks: \./a\.go:1:1: undefined: y"):
        toolchain.build(bad, tmp_path, tmp_path)
    lasting = command(tmp_path, "hang", f"sleep 100 & echo $! > {tmp_path}/pid; wait")
    with pytest.raises(LabError, match=r"the compiler did not finish within 0\.5 s"):
        toolchain.build(toolchain.Toolchain(lasting, "go1.24"), tmp_path, tmp_path, 0.5)
    assert eventually(lambda: gone(tmp_path / "pid"))


def gone(file: Path) -> bool:
    """Tell whether the process whose id is in `file` runs no more."""
    status = Path(f"/proc/{file.read_text().strip()}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    with Starter() as made:
        yield made


def test_a_program_runs_on_its_cpus_with_its_environment(starter: Starter) -> None:
    script = "grep Cpus_allowed_list /proc/self/status; echo $WORD; echo late >&2"
    said = starter.run(["/bin/sh", "-c", script], {CPUS[-1]}, {"WORD": "가나"}, 10)
    assert said.split() == ["Cpus_allowed_list:", str(CPUS[-1]), "가나", "late"]


def test_a_program_that_fails_says_how(starter: Starter) -> None:
    for script, how in (("echo why; exit 3", "ended with exit code 3"), ("kill -9 $$", "was killed by SIGKILL")):
        with pytest.raises(ProcessError, match=how) as caught:
            starter.run(["/bin/sh", "-c", script], CPUS, {}, 10)
    assert starter.run(["/bin/echo", "x"], CPUS, {}, 10) == "x\n"
    with pytest.raises(ProcessError) as caught:
        starter.run(["/nonexistent"], CPUS, {}, 10)
    assert "/nonexistent" in caught.value.said


def test_a_deadline_ends_a_program_with_its_children(starter: Starter, tmp_path: Path) -> None:
    script = f"sleep 100 & echo $! > {tmp_path}/pid; wait"
    with pytest.raises(ProcessError, match=r"did not finish within 0\.5 s"):
        starter.run(["/bin/sh", "-c", script], CPUS, {}, 0.5)
    assert eventually(lambda: gone(tmp_path / "pid"))


def test_a_starter_that_was_killed_is_replaced(tmp_path: Path) -> None:
    with Starter() as starter:
        killing = f"echo $$ > {tmp_path}/pid; kill -9 $PPID; exec sleep 100"
        with pytest.raises(LabError, match="does not answer"):
            starter.run(["/bin/sh", "-c", killing], CPUS, {}, 10)
        assert eventually(lambda: gone(tmp_path / "pid"))  # what it ran ends with it
        assert starter.run(["/bin/echo", "x"], CPUS, {}, 10) == "x\n"
        last = starter.process
    assert last.returncode == 0
    with Starter() as starter:
        os.kill(starter.process.pid, signal.SIGKILL)
    assert starter.process.returncode == -signal.SIGKILL


RUNNING = """
import sys
from ipclab.studies.multiplexer.process import Starter
with Starter() as starter:
    starter.run(["/bin/sh", "-c", f"echo $$ > {sys.argv[1]}; exec sleep 100"], [int(sys.argv[2])], {}, 90)
"""


def test_a_measuring_process_that_is_killed_leaves_no_program(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    process = subprocess.Popen([sys.executable, "-c", RUNNING, str(file), str(CPUS[0])], cwd=ROOT)
    assert eventually(lambda: file.exists() and file.read_text().strip())
    process.kill()
    process.wait()
    assert eventually(lambda: gone(file))
