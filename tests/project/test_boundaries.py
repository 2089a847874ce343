"""What containers must share: three cells of the table of docs/boundaries.md, tried by the script
that made it.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
