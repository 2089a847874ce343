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


def report(out: Path, *langs: str, **shell: str) -> None:
    """Render the reference run into `out`, in all languages when none is given."""
    words = ("--run", "data/reference.ipclab", "--out", str(out), "--format", "html,pdf,ipynb")
    asked = ("--lang", ",".join(langs)) if langs else ()
    done = ipclab("report", *words, *asked, IPCLAB_DATA=str(out / "data-of-test"), **shell)
    assert done.returncode == 0, done.stderr
