"""What containers must share: three cells of the table of docs/boundaries.md, tried by the script
that made it.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.test_documents import blocks
from tests.support.commands import ROOT, environment, names_of

pytestmark = pytest.mark.slow
PATIENT = "boundaries.WAIT_NS, boundaries.SECONDS = 20 * 10**9, 60.0"
CELLS = """
import json, os
from benchmarks import boundaries
from ipclab.backends.installed import backend
def tried(name, *parted):
    return bool(boundaries.attempt(backend(name), parted).ns)
refused = boundaries.refused()
found = {"pid": os.getpid(), "refused": refused}
if not refused:
    found["refuses"] = [tried("posix-shm", "shm"), tried("tcp", "network"), tried("unix", "volume")]
    %s
    found["works"] = [tried("posix-shm", "volume", "network"), tried("tcp", "shm", "ipc"), tried("unix", "network")]
print(json.dumps(found))
"""


def test_what_a_mechanism_needs_across_a_boundary_is_found_by_trying(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CELLS % PATIENT]
    env = {**environment(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if found["refused"]:
        pytest.skip(found["refused"])
    assert found["refuses"] == [False] * 3
    assert found["works"] == [True] * 3
    assert names_of(f"ipclab-b-{found['pid']}") == []


BY_HAND = [
    "tcp refuses",
    "tcp works",
    "posix-shm refuses",
    "posix-shm works",
    "sysv-mq refuses",
    "sysv-mq works",
]
IN_PODMAN = [
    "tcp refuses",
    "tcp works with the network",
    "posix-shm refuses",
    "posix-shm works with /dev/shm",
    "fifo refuses",
    "fifo works with a volume",
]


def said(block: int, folder: Path) -> list[str]:
    """Return what the commands of one block of docs/boundaries.md say of mechanisms."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    env = {**os.environ, "TMPDIR": str(folder), "port": port}
    script = blocks(ROOT / "docs" / "boundaries.md", "sh")[block]
    command = ["sh", "-c", script]
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    lines = done.stdout.splitlines()
    return [line for line in lines if " works" in line or " refuses" in line]


def skip_unless(*command: str) -> None:
    """Skip with what `command` says where it is not there or not permitted."""
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        pytest.skip(done.stderr.strip()[-200:] or f"{command[0]} is not permitted")


def test_the_boundaries_that_are_made_by_hand_are_as_printed(tmp_path: Path) -> None:
    for program in ("curl", "ipcmk"):
        skip_unless(program, "--version")
    mounts = "mount -t tmpfs none /dev/shm"
    skip_unless("unshare", "-r", "--net", "--ipc", "--mount", "sh", "-c", mounts)
    assert said(1, tmp_path) == BY_HAND


def test_the_boundaries_of_a_container_are_as_printed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("usr", "proc", "sys", "dev", "tmp"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    podman = ["podman", "run", "--rm", "--cgroups=disabled", "-v", "/usr:/usr:ro", "--rootfs"]
    skip_unless(*podman, str(root), "/usr/bin/true")
    assert said(2, tmp_path) == IN_PODMAN
