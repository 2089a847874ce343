"""The Go module of the multiplexer: vetted, tested and fuzzed with the Go that the laboratory pins."""

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ipclab.spawn.launcher import Launcher
from ipclab.studies.multiplexer.toolchain import (
    MODULE,
    Toolchain,
    build,
    go_environment,
    go_toolchain,
)

GO = go_toolchain()
DEADLINE = 240.0
CELL = "arm=main/node={}/op=end-to-end/medium={}/size=65536/streams=1/threshold=8192/pool=own/chunk=0/sinks=3"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(isinstance(GO, str), reason=str(GO))]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the module, so that nothing that go writes lands among the sources."""
    return Path(shutil.copytree(MODULE, tmp_path_factory.mktemp("go") / "multiplexer"))


@pytest.fixture(scope="module")
def go(copy):
    """Run go in the copy and return what it says."""
    assert isinstance(GO, Toolchain)

    def run(*arguments):
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


@pytest.fixture(scope="module")
def binary(copy):
    """The benchmarks as the study compiles them."""
    assert isinstance(GO, Toolchain)
    with Launcher(copy.parent / "ledger", "gc:collect") as launcher:
        yield build(GO, copy, launcher)


def benchmark(binary, cell, duration):
    """Start the benchmark of one cell."""
    command = [
        binary,
        "-test.run",
        "^$",
        "-test.bench",
        "^BenchmarkCell$",
        "-test.benchmem",
        "-test.benchtime",
        duration,
    ]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=os.environ | {"IPCLAB_CELL": cell}, stdout=pipe, stderr=pipe, text=True
    )


def receiver_of(pid):
    """The receiving process of the sender `pid`, once it runs.

    Go itself starts a child for a moment to see whether the kernel has pidfds: that one has its
    parent's arguments, the receiver has none of benchmarks.
    """
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for started in (task / "children").read_text().split():
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    arguments = Path(f"/proc/{started}/cmdline").read_bytes()
                    if arguments and b"-test.bench" not in arguments:
                        return int(started)
        time.sleep(0.01)
    raise AssertionError("no receiving process")


def test_vet(go):
    go("vet", "./...")


def test_format(go):
    assert not go("fmt", "./...")


def test_unit_tests(go):
    assert "ok" in go("test", "-short", "-timeout", "120s", "./...")


@pytest.mark.matrix
def test_fuzz(go):
    told = go(
        "test", "-run", "^$", "-fuzz", "^FuzzDecoder$", "-fuzztime", "2s", "-parallel", "2", "."
    )
    assert re.search(r"execs: [1-9]", told), told


@pytest.mark.parametrize("node", ["original", "optimized", "hybrid", "adaptive"])
def test_a_cell_is_measured_at_both_ends(binary, node):
    told, complaint = benchmark(binary, CELL.format(node, "pipe"), "10x").communicate(
        timeout=DEADLINE
    )
    line = next(
        (line for line in told.splitlines() if line.startswith("BenchmarkCell/")), told + complaint
    )
    assert line.split()[0].startswith("BenchmarkCell/" + CELL.format(node, "pipe"))
    assert {"ns/op", "B/op", "allocs/op", "recv-B/op", "recv-allocs/op"} <= set(line.split())


def test_a_bad_cell_is_one_line_that_names_the_key(binary):
    process = benchmark(binary, CELL.format("new", "pipe"), "1x")
    told, complaint = process.communicate(timeout=DEADLINE)
    assert (process.returncode, told, complaint.count("\n")) == (2, "", 1)
    assert "key node" in complaint


@pytest.mark.parametrize("medium", ["pipe", "unix"])
def test_the_receiver_ends_with_a_killed_sender(binary, medium):
    sender = benchmark(binary, CELL.format("adaptive", medium), "600s")
    receiver = os.pidfd_open(receiver_of(sender.pid))
    try:
        sender.send_signal(signal.SIGKILL)
        sender.communicate(timeout=DEADLINE)
        assert select.select([receiver], [], [], DEADLINE)[0]
    finally:
        os.close(receiver)


def test_only_sources_are_in_the_folder():
    kinds = {
        path.suffix
        for path in MODULE.rglob("*")
        if path.is_file() and path.parent.name != "FuzzDecoder"
    }
    assert kinds == {".go", ".mod"}
