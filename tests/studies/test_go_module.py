"""The Go module of the multiplexer: vetted, tested and fuzzed with the Go that the laboratory pins."""

import contextlib
import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ipclab.spawn.launcher import Launcher
from ipclab.spawn.processes import children
from ipclab.studies.multiplexer.toolchain import (
    MODULE,
    Toolchain,
    build,
    go_environment,
    go_toolchain,
)

GO = go_toolchain()
DEADLINE = 240.0
CELL = "arm=main/node=adaptive/op=end-to-end/medium={}/size=65536/streams=1/threshold=8192/pool=own/chunk=0/sinks=3"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(isinstance(GO, str), reason=str(GO))]
Go = Callable[..., str]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the module, so that nothing that go writes lands among the sources."""
    return Path(shutil.copytree(MODULE, tmp_path_factory.mktemp("go") / "multiplexer"))


@pytest.fixture(scope="module")
def go(copy: Path) -> Go:
    """Run go in the copy and return what it says."""
    assert isinstance(GO, Toolchain)

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [GO.command, *arguments],
            cwd=copy,
            env=go_environment(copy.parent),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=DEADLINE,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


@pytest.mark.matrix  # as those of the native package
def test_it_is_vetted_formatted_and_passes_its_own_tests(go: Go) -> None:
    go("vet", "./...")
    assert not go("fmt", "./...")
    assert "ok" in go("test", "-short", "-timeout", "120s", "./...")


@pytest.mark.matrix
def test_fuzz(go: Go) -> None:
    told = go(
        "test", "-run", "^$", "-fuzz", "^FuzzDecoder$", "-fuzztime", "2s", "-parallel", "2", "."
    )
    assert re.search(r"execs: [1-9]", told), told


def receiver_of(sender: int) -> int:
    """Return the receiving process of process `sender`, once it runs.

    Go itself starts a child for a moment to see whether the kernel has pidfds: that one has its
    parent's arguments, the receiver has none of benchmarks.
    """
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        for started in children(sender):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                arguments = Path(f"/proc/{started}/cmdline").read_bytes()
                if arguments and b"-test.bench" not in arguments:
                    return started
        time.sleep(0.01)
    raise AssertionError("no receiving process")


def test_the_receiver_ends_with_a_killed_sender(copy: Path, launcher: Launcher) -> None:
    assert isinstance(GO, Toolchain)
    benchmark = ["-test.run", "^$", "-test.bench", "^BenchmarkCell$", "-test.benchtime", "600s"]
    command = [str(build(GO, copy, launcher)), *benchmark]
    for medium in ("pipe", "unix"):
        env = os.environ | {"IPCLAB_CELL": CELL.format(medium)}
        sender = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
        try:
            receiver = os.pidfd_open(receiver_of(sender.pid))
        finally:
            sender.kill()
            sender.wait()
        assert select.select([receiver], [], [], DEADLINE)[0]
        os.close(receiver)
