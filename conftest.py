"""Fixtures of several test modules."""

import fcntl
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from ipclab.__main__ import main
from ipclab.paths import Paths
from ipclab.report.notebooks import nb  # noqa: F401  # before a test imports what it makes quick
from ipclab.session.alone import BESIDE
from ipclab.spawn.launcher import Launcher
from ipclab.store.point import Point
from ipclab.store.samples import Measured
from tests.support.commands import ROOT, Run, environment
from tests.support.few import all_asked
from tests.support.made import make_launch
from tests.support.rendered import DAILY, DATA, TRANSLATED, report, share_opened

# Tests measure beside each other.
os.environ[BESIDE] = "1"
# A shell's background job ignores Ctrl-C, and so would all that is started here: tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Put the tests' folders where the names of sockets below them are short, whoever's tests they
    are.
    """
    if config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix="ipclab-", dir="/tmp")
    config.pluginmanager.register(_Failures(config))


class _Failures:
    """Names what failed at once: a run that is ended from outside has no summary."""

    def __init__(self, config: pytest.Config) -> None:
        self.plugins = config.pluginmanager

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        reporter = self.plugins.get_plugin("terminalreporter")
        if report.failed and reporter:
            reporter.write_line(f" failed after {report.duration:.0f} s: {report.nodeid}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remove them, unless a test failed."""
    if exitstatus == 0:
        shutil.rmtree(session.config.option.basetemp, ignore_errors=True)


# What takes longest begins first, so that no process is alone with it at the end; what looks at the
# reports, which the first of them renders, comes later.
LONGEST = (
    "test_report",
    "test_wheel",
    "test_cluster",
    "test_hostile_texts",
    "test_kill",
    "test_continued",
    "test_killed",
    "test_recomputed",
    "test_executed",
    "test_lab",
    "test_ab_arms",
    "test_whole",
    "test_sweeps",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; within a file the order stays."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(LONGEST)))


def pytest_collection_finish() -> None:
    """Keep what all tests share, a million objects, out of what is searched for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """The checkout's paths, with the data below `tmp_path`."""
    monkeypatch.setenv("IPCLAB_DATA", str(tmp_path / "data"))
    return Paths(ROOT)


@pytest.fixture
def ipclab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Run:
    """The command line, called in this process as a shell in `tmp_path` would, with data of its own
    there.
    """

    def called(*words: str) -> "CompletedProcess[str]":
        for name, value in environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["ipclab", *words])
        code = 0
        try:
            main()
        except SystemExit as ended:
            assert isinstance(ended.code, int)
            code = ended.code
        return CompletedProcess(words, code, *capfd.readouterr())

    return called


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    """One fork server for all modules, whose workers can import `tests.support.targets`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with Launcher(tmp_path_factory.mktemp("ledger")) as made:
            yield made


@pytest.fixture
def point() -> Point:
    """A point with levels."""
    return Point(
        "payload", "shm-mmap", 88, "free", {"arm": "published"}, "payload-84", ("write", "read")
    )


@pytest.fixture
def measured(point: Point) -> Measured:
    """Two launches of `point`, the second disturbed, and one that failed."""
    first = {"minor_faults": 1.0, "cpu_ns": 500.0}
    second = {"minor_faults": 3.0, "cpu_ns": 700.0}
    launches = [
        make_launch((), first, write=[30, 10, 20], read=[9, 7], write__copy=[4]),
        make_launch(("steal",), second, write=[40, 20, 30], read=[5], write__copy=[6]),
    ]
    return Measured(
        point, launches, "budget", ["worker 'program' was killed by SIGKILL: nothing on its stderr"]
    )


@pytest.fixture
def opened_before(tmp_path: Path) -> None:
    """The committed runs are opened in the data folder of the test: to do so takes seconds."""
    share_opened(tmp_path / "data")


@pytest.fixture(scope="session")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the English reports of the reference run; of daily tests a few."""
    few = () if all_asked(request) else DAILY
    return _rendered(tmp_path_factory, "reports", "en", few=few)


@pytest.fixture(scope="session")
def translated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a few of its reports in the other languages."""
    few = TRANSLATED if all_asked(request) else TRANSLATED[:1]
    return _rendered(tmp_path_factory, "translated", "ko", "zh", few=few)


def _rendered(
    tmp_path_factory: pytest.TempPathFactory, name: str, *langs: str, few: Sequence[str] = ()
) -> Path:
    """Return a folder of reports, which the first of pytest's processes that asks renders."""
    base = tmp_path_factory.getbasetemp()
    out = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    begun = out.with_suffix(".begun")
    with out.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "manifest.json").exists():
            assert not begun.exists(), "rendering failed before: see the first test that asked"
            share_opened(out / DATA)
            begun.touch()
            report(out, *langs, few=few)
    return out
