"""Commands that are killed while they derive frames or render, and processes of a report that are:
nothing of them goes on, and what they leave is cleaned by name.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.bundled import make_run
from tests.support.commands import ROOT, environment, eventually
from tests.support.few import some
from tests.support.rendered import share_opened

Begin = Callable[..., "subprocess.Popen[str]"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def alive(folder: Path) -> dict[int, str]:
    """Return the processes whose data lie in the folder, and how each was called."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            mine = f"IPCLAB_DATA={folder}".encode() in (entry / "environ").read_bytes()
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if mine and int(entry.name) != os.getpid():
            found[int(entry.name)] = command
    return found


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Start commands whose data lie in a folder; they are gone at the end."""
    every: list[subprocess.Popen[str]] = []

    def started(folder: Path, *words: str, **more: str) -> "subprocess.Popen[str]":
        command, env = [sys.executable, "-m", "ipclab", *words], environment(folder) | more
        pipe = subprocess.PIPE
        every.append(
            subprocess.Popen(command, env=env, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)
        )
        return every[-1]

    yield started
    for each in every:
        each.kill()
        each.communicate(timeout=60)


@pytest.fixture
def report(begin: Begin, tmp_path: Path) -> "subprocess.Popen[str]":
    """A report of a small run whose first kernel has started."""
    run = make_run(tmp_path / "elsewhere")
    words = "report", "--run", str(run.path), "--out", str(tmp_path / "out"), "--lang", "en"
    made = begin(tmp_path, *words)
    assert eventually(lambda: any((tmp_path / "tmp").glob("ipclab-*/k.json")), 240), made.poll()
    return made


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "tmp").glob("ipclab-*"))


@pytest.mark.matrix
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_what_derives_frames_leaves_no_process_when_it_is_killed(
    begin: Begin, tmp_path: Path, sign: int
) -> None:
    share_opened(tmp_path / "data")
    cache = tmp_path / "cache"  # in which no frame was derived before
    command = begin(tmp_path, "values", "data/reference.ipclab", XDG_CACHE_HOME=str(cache))
    assert eventually(lambda: any((cache / "ipclab/frames").glob("*.parquet")), 240), command.poll()
    command.send_signal(sign)
    command.communicate(timeout=30)
    assert eventually(lambda: not alive(tmp_path), 10), alive(tmp_path)
    assert command.returncode in (-sign, 128 + sign)


@pytest.mark.parametrize("sign", some([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], 3))
def test_a_killed_report_leaves_nothing(
    begin: Begin, report: "subprocess.Popen[str]", tmp_path: Path, sign: signal.Signals
) -> None:
    report.send_signal(sign)
    report.communicate(timeout=30)
    assert eventually(lambda: not alive(tmp_path), 30), alive(tmp_path)
    assert left(tmp_path) == []
    stranger = tmp_path / "tmp" / "ipclab-1-1-deadbeef"
    stranger.mkdir()
    cleaned = begin(tmp_path, "clean")
    assert cleaned.wait(60) == 0, cleaned.communicate()
    assert left(tmp_path) == [stranger.name]
    assert not list((tmp_path / "out").rglob("*.pdf"))


@pytest.mark.matrix
def test_a_killed_process_of_a_report_is_told_in_one_line(
    report: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    for pid, command in alive(tmp_path).items():
        if "multiprocessing.spawn" in command:
            with suppress(ProcessLookupError):  # one of them may have nothing left to do
                os.kill(pid, signal.SIGKILL)
    _, told = report.communicate(timeout=240)
    assert report.returncode == 1
    assert "Traceback" not in told
    line = "a process that renders has ended: it was killed, or ran out of memory; render again"
    assert line in told
    assert eventually(lambda: not alive(tmp_path), 30), alive(tmp_path)
