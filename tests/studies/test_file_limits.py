"""The engine within the limits of a process: a filter that refuses io_uring, few open files."""

import sys
from pathlib import Path

import pytest

from tests.support.commands import ran

SECCOMP = """
import ctypes, os, struct, sys
import ipclab_native as native
# Refuse io_uring_setup (425 on every architecture) with the errno given.
lines = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050000 | int(sys.argv[1])), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *line) for line in lines))
program = struct.pack("@HP", len(lines), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
held = ctypes.create_string_buffer(program)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, held, 0, 0):
    sys.exit("no filter: " + os.strerror(ctypes.get_errno()))
print(native.io_uring_missing())
plan = {"folder": "/", "sizes": bytes(8), "method": "overlapped", "roles": ["both"], "in_flight": 1}
try:
    native.read_files({**plan, "deadline_ns": 10**9})
except OSError as error:
    print(error.errno, error.strerror)
"""


@pytest.mark.parametrize(
    ("errno", "words"), [(1, "refused by a security filter"), (38, "this kernel has no io_uring")]
)
def test_a_filter_that_refuses_io_uring_is_named(errno: int, words: str) -> None:
    command = [sys.executable, "-c", SECCOMP, str(errno)]
    done = ran(command)
    if done.stderr.startswith("no filter"):
        pytest.skip(done.stderr)
    assert done.stderr == ""
    missing, refused = done.stdout.splitlines()
    assert words in missing
    assert refused == f"{errno} {missing}"


FEW = """
import resource, struct, sys
import ipclab_native as native
n = 500
sizes = struct.pack(f"<{n}Q", *[5000] * n)
native.make_files(sys.argv[1], 0, sizes, 1, 2, None)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
plan = {"folder": sys.argv[1], "sizes": sizes, "in_flight": 100_000, "deadline_ns": 10**10, "depth": 200}
for method in ("sync", "mmap") + (() if native.io_uring_missing() else ("overlapped",)):
    for roles in (["both"] * 4, ["read-then-compute"] * 4, ["read", "read", "compute"]):
        done = native.read_files({**plan, "method": method, "roles": roles})
        assert (done["files"], done["errors"]) == (n, []), done["errors"][:3]
        assert done["max_open_files"] <= done["in_flight"] < 64
try:
    native.read_files({**plan, "method": "sync", "roles": ["both"] * 64})
except OSError as error:
    print(error.errno, error.strerror)
"""


def test_the_limit_of_open_files_is_never_met(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FEW, str(tmp_path / "set")]
    done = ran(command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "24 the limit of open files (64, ulimit -n) is too low for 64 threads\n"
