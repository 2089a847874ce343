"""Commands that read a run, killed while they derive its frames; a process of a report, killed."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.bundled import make_run
from tests.support.commands import ROOT, environment, eventually
from tests.support.few import some
from tests.support.rendered import share_opened

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
VALUES = ("values", "data/reference.ipclab")
COMPARE = ("compare", "--format", "html")
REPORT = ("report", "--run", "data/reference.ipclab", "--lang", "en", "--format", "html")


def of_session(session: int) -> dict[int, str]:
    """Return the processes of a session that run, and how each was called."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            about = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if about[0] not in "ZX" and int(about[3]) == session:
            found[int(entry.name)] = command
    return found


def begun(folder: Path, *words: str) -> "subprocess.Popen[str]":
    """Start a command in a session of its own, in which no frame was derived before."""
    env = environment(folder) | {"XDG_CACHE_HOME": str(folder / "cache")}
    share_opened(folder / "data")
    command = [sys.executable, "-m", "ipclab", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=env, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


@pytest.mark.parametrize(
    ("words", "sign"),
    some(
        [
            (VALUES, signal.SIGKILL),
            (VALUES, signal.SIGTERM),
            (COMPARE, signal.SIGKILL),
            (REPORT, signal.SIGKILL),
        ],
        3,
    ),
)
def test_what_derives_frames_leaves_no_process_when_it_is_killed(
    tmp_path: Path, words: tuple[str, ...], sign: int
) -> None:
    out = () if words is VALUES else ("--out", str(tmp_path / "out"))
    command = begun(tmp_path, *words, *out)
    kept = tmp_path / "cache" / "ipclab" / "frames"
    assert eventually(lambda: any(kept.glob("*.parquet")), 240), command.communicate(timeout=60)
    command.send_signal(sign)
    command.wait(30)
    assert eventually(lambda: not of_session(command.pid), 10), of_session(command.pid)
    assert command.returncode in (-sign, 128 + sign)
    command.communicate(timeout=60)


def test_a_killed_process_of_a_report_is_told_in_one_line(tmp_path: Path) -> None:
    run = make_run(tmp_path / "elsewhere")
    words = "report", "--run", str(run.path), "--out", str(tmp_path / "out"), "--lang", "en"
    command = begun(tmp_path, *words)

    def workers() -> list[int]:
        """Return the processes that render."""
        own = of_session(command.pid)
        return [pid for pid, told in own.items() if "multiprocessing.spawn" in told]

    assert eventually(lambda: any((tmp_path / "tmp").glob("ipclab-*/k.json")), 240)
    for pid in workers():  # one of them may have nothing left to do
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _, told = command.communicate(timeout=240)
    assert command.returncode == 1
    assert "Traceback" not in told
    line = "a process that renders has ended: it was killed, or ran out of memory; render again"
    assert line in told
    assert eventually(lambda: not of_session(command.pid), 30), of_session(command.pid)
