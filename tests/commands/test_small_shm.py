"""Workers in a private mount namespace whose /dev/shm has no room."""

import os
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.spawn.test_ranks import MISSING
from tests.support.commands import SMALL_SHM, environment, namespace, namespace_refused, ran

REFUSED = namespace_refused()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(REFUSED), reason=f"no private mount namespace: {REFUSED}"),
]


def run(tmp_path: Path, room: str, code: str, *words: str) -> "CompletedProcess[str]":
    """Run Python with so much /dev/shm; what is left there at the end is told after its output."""
    program = [sys.executable, "-c", code, str(tmp_path / "ledger"), *words]
    return ran(namespace(SMALL_SHM, room, *program), env=environment(tmp_path))


FULL = """
import sys
from pathlib import Path
from ipclab.errors import LabError
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
GIVEN = {"size": 4 << 20, "seed": 1, "sampling": {"budget_ns": 1, "least": 1, "most": 1}}
with Launcher(Path(sys.argv[1])) as launcher:
    for target, more in (
        ("published:write_then_read", {}),
        ("mapping:time_mapping", {"mapping": "truncated"}),
        ("mapping:time_mapping", {"mapping": "file"}),
        *(("handover:write_payloads", {"backend": name}) for name in sys.argv[2:]),
    ):
        role = Role("solo", f"ipclab.studies.payload.{target}", {**GIVEN, **more}, frozenset({CPU}))
        try:
            launcher.launch([role], 30)
        except LabError as error:
            print(error)
"""


def test_a_full_folder_is_an_error_and_no_sigbus(tmp_path: Path) -> None:
    code = FULL.replace("CPU", str(min(os.sched_getaffinity(0))))
    backends = ["shm-mmap", "posix-shm", "mp-shm"]
    done = run(tmp_path, "1m", code, *backends)
    *lines, left = done.stdout.splitlines()
    assert (done.returncode, done.stderr, left) == (0, "", "left: ")
    assert len(lines) == 6
    full = "worker 'solo' failed: /dev/shm is full: 1048576 bytes are free and"
    assert lines[0].startswith(f"{full} 1384120 are needed")  # what v0.9 moves, whatever is asked
    for line in lines[1:3]:
        assert line.startswith(f"{full} 4194304 are needed")
    for line in lines[3:]:
        assert line.startswith("worker 'solo' failed: OSError: [Errno 28] No space left on device")


DYING = """
import os, sys
from pathlib import Path
from ipclab.errors import LabError
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.spawn.rank_bench import RankBench
from tests.spawn.test_ranks import another, roles
with Launcher(Path(sys.argv[1])) as launcher, RankBench(launcher, 3) as bench:
    ends = [Role(name, "tests.support.channel_targets:echo",
                 {"backend": "iceoryx2", "wait": "block", "sizes": [8 << 20]},
                 frozenset(os.sched_getaffinity(0))) for name in ("server", "client")]
    of_ranks = lambda: launch_alone(bench, another(1), roles("tell", values=[]), 30)
    for launch in (lambda: launcher.launch(ends, 30), of_ranks):
        try:
            launch()
        except LabError as error:
            print(error)
"""


@pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
def test_who_dies_of_a_full_folder_is_told_why(tmp_path: Path) -> None:
    """iceoryx2 and MPI take their pages when they touch them."""
    done = run(tmp_path, "4m", DYING)
    channel, ranks, left = done.stdout.splitlines()
    assert (done.returncode, done.stderr, left) == (0, "", "left: ")
    for line in (channel, ranks):
        assert "as happens when /dev/shm is full (" in line
    assert "was killed by SIGBUS" in channel
