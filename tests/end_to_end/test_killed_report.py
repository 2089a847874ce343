"""A report that is killed: its workers and kernels end with it, and what it leaves is cleaned by
name.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.bundled import make_run
from tests.support.commands import ROOT, environment, eventually
from tests.support.few import some

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "tmp").glob("ipclab-*"))


def alive(folder: Path) -> list[int]:
    """Return the processes whose environment names the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            told = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if f"IPCLAB_DATA={folder}".encode() in told and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize("sign", some([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], 3))
def test_a_killed_report_leaves_nothing(tmp_path: Path, sign: signal.Signals) -> None:
    env = environment(tmp_path)
    command = [sys.executable, "-m", "ipclab"]
    # small: its frames are made before the first kernel starts
    run = make_run(tmp_path / "elsewhere")
    words = ["report", "--run", str(run.path), "--out", str(tmp_path / "out"), "--lang", "en"]
    report = subprocess.Popen([*command, *words], env=env, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        assert eventually(lambda: any((tmp_path / "tmp").glob("ipclab-*/k.json")), 240), (
            "no kernel started"
        )
    finally:
        report.send_signal(sign)
        report.wait(30)
    assert eventually(lambda: not alive(tmp_path), 30), alive(tmp_path)
    assert left(tmp_path) == []
    stranger = tmp_path / "tmp" / "ipclab-1-1-deadbeef"
    stranger.mkdir()
    subprocess.run(
        [*command, "clean"], env=env, cwd=ROOT, check=True, capture_output=True, timeout=60
    )
    assert left(tmp_path) == [stranger.name]
    assert not list((tmp_path / "out").rglob("*.pdf"))
