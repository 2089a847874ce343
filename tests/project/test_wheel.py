"""An installed wheel, outside any checkout: it measures, reports and compares, and writes into the
user's folders.
"""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.commands import ROOT, ran

pytestmark = [pytest.mark.slow, pytest.mark.matrix, pytest.mark.timeout(1200)]
# the others take a minute more, and show nothing else here
NEEDED = "01_payload.ipynb", "machines.ipynb"
OPENED = """
import ipclab
from ipclab.claims.audit import with_own
lab = ipclab.open("payload")
with_own(lab)
print(lab.paths.lock.is_file(), lab.paths.figures, lab.run.path)
"""
Called = Callable[..., "CompletedProcess[str]"]


def files_of(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with our two wheels; what they need is that of this one."""
    folder = tmp_path_factory.mktemp("installed")
    made, python = folder / "env", str(folder / "env" / "bin" / "python")
    uv = [sys.executable, "-m", "uv"]

    def run(*command: str, project: Path = ROOT) -> str:
        return subprocess.run(
            command, cwd=project, check=True, capture_output=True, text=True, timeout=300
        ).stdout

    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    for project in (ROOT, ROOT / "packages/more"):
        run(*build, project=project)
    run(*uv, "venv", "--offline", "--python", sys.executable, str(made))
    wheels = sorted(map(str, folder.glob("*.whl")))
    assert len(wheels) == 2
    run(*uv, "pip", "install", "--offline", "--no-deps", "--python", python, *wheels)
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    for notebook in (site / "ipclab" / "shipped" / "notebooks").iterdir():
        if notebook.name not in NEEDED:
            notebook.unlink()
    return made


@pytest.fixture
def called(environment: Path, tmp_path: Path) -> Called:
    """Its commands, called as a new user would, in an empty folder."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("IPCLAB_", "PYTHON", "XDG_"))
    }
    # of fonts, and of compiled Go
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    kept |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": cache}
    here = tmp_path / "here"
    here.mkdir()

    def run(command: str, *words: str) -> "CompletedProcess[str]":
        line = [str(environment / "bin" / command), *words]
        done = ran(line, 400, env=kept, cwd=here)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


def test_a_wheel_measures_reports_and_compares_without_a_checkout(
    called: Called, environment: Path, tmp_path: Path
) -> None:
    before, home = files_of(environment), tmp_path / ".local" / "share" / "ipclab"
    words = ("--profile", "smoke", "--study", "payload", "--size", "84", "--backend", "shm-mmap")
    measured = called("ipclab", "measure", *words)
    (run,) = (path.parent for path in home.glob("data/runs/*/*/run.json"))
    assert str(run) in measured.stderr
    opened = called("python", "-c", OPENED)
    assert opened.stdout.splitlines()[-1:] == [f"True {home}/figures {run}"], (
        opened.stdout + opened.stderr
    )
    stale = called("ipclab", "check")
    assert stale.stdout == f"no reports in {home}/reports: ipclab report\n"
    reported = called("ipclab", "report", "--run", run.name, "--lang", "en", "--format", "html")
    assert f"open {home / 'reports' / 'en' / 'index.html'}\n" in reported.stdout, reported.stderr
    assert "make " not in measured.stderr + reported.stdout + reported.stderr
    assert (home / "reports" / "en" / "01_payload.html").is_file()
    assert called("ipclab", "check").returncode == 0
    compared = called("ipclab", "compare", "--lang", "en", "--format", "html")
    assert compared.returncode == 0, compared.stderr
    assert (home / "reports" / "machines" / "en" / "machines.html").is_file()
    assert files_of(environment) == before
    assert list((tmp_path / "here").iterdir()) == []
