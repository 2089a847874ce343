"""The reports of the committed run, rendered once for all tests that look at them."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.commands import ROOT


def ipclab(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, in this checkout."""
    env = {**os.environ, **more}
    command = [sys.executable, "-m", "ipclab", *words]
    return subprocess.run(
        command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False
    )


def with_few(folder: Path, *notebooks: str) -> Path:
    """Return a checkout in `folder` that has these notebooks only; all else is that of this one."""
    folder.mkdir()
    for entry in ROOT.iterdir():
        if entry.name != "notebooks":
            (folder / entry.name).symlink_to(entry)
    (folder / "notebooks").mkdir()
    for name in notebooks:
        (folder / f"notebooks/{name}.ipynb").symlink_to(ROOT / f"notebooks/{name}.ipynb")
    return folder


def report(out: Path, *langs: str, **shell: str) -> None:
    """Render the reference run into `out`, in all languages when none is given."""
    words = ("--run", "data/reference.ipclab", "--out", str(out), "--format", "html,pdf,ipynb")
    asked = ("--lang", ",".join(langs)) if langs else ()
    done = ipclab("report", *words, *asked, IPCLAB_DATA=str(out / "data-of-test"), **shell)
    assert done.returncode == 0, done.stderr
