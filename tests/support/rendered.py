"""The reports of the committed run, rendered once for all tests that look at them."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ipclab.paths import checkout
from ipclab.report.pages.document import Document
from ipclab.report.pages.typeset import Sheet
from tests.support.commands import ROOT, ran

DATA = "data-of-test"  # beside the reports
DAILY = ("00_appendix", "01_payload", "04_round_trip", "claims")  # with all kinds of content
TRANSLATED = ("10_spin", "00_appendix")  # read in the other languages, too: the first daily
OPENED = checkout().opened
# The command line, whose reports consist of the notebooks named first
OF_FEW = """
import sys
from ipclab.__main__ import main
from ipclab.report.pages import report
every = report.notebooks_of
few = sys.argv.pop(1).split(",")
report.notebooks_of = lambda paths: [path for path in every(paths) if path.stem in few]
main()
"""


def typeset(document: Document) -> dict[str, Any]:
    """Return the data that a document is set from."""
    with TemporaryDirectory() as folder:
        return Sheet(document, Path(folder)).data


def ipclab(*words: str, few: Sequence[str] = (), **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, in this checkout, or for a `few` notebooks."""
    env = {**os.environ, **more}
    program = ["-c", OF_FEW, ",".join(few)] if few else ["-m", "ipclab"]
    command = [sys.executable, *program, *words]
    return ran(command, 1500, env=env, cwd=ROOT)


def share_opened(data: Path) -> None:
    """Give a new data folder the checkout's opened runs: bundles are unpacked, and their frames
    derived, once for all tests.
    """
    OPENED.mkdir(parents=True, exist_ok=True)
    data.mkdir(parents=True, exist_ok=True)
    link = data / "opened"
    if not link.is_symlink():
        link.symlink_to(OPENED.resolve())


def report(out: Path, *langs: str, few: Sequence[str] = (), **shell: str) -> None:
    """Render the reference run into `out`, in all languages and notebooks when none is given."""
    words = ("--run", "data/reference.ipclab", "--out", str(out), "--format", "html,pdf,ipynb")
    asked = ("--lang", ",".join(langs)) if langs else ()
    data = str(out / DATA)
    done = ipclab("report", *words, *asked, few=few, IPCLAB_DATA=data, **shell)
    assert done.returncode == 0, done.stderr
