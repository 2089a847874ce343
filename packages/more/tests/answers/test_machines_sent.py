"""The bundles that readers sent (data/machines), and ours: each is imported whole."""

from pathlib import Path

import pytest

from ipclab.commands.bundles import unpack
from ipclab.paths import Paths
from ipclab.store.run import RunFolder
from tests.support.commands import ROOT

FOLDER = ROOT / "data" / "machines"
OURS = ROOT / "data" / "compared.ipclab"
SENT = sorted(FOLDER.glob("*.ipclab"))
MOST_BYTES = 5_000_000


def faults(file: Path, run: RunFolder) -> list[str]:
    """Return why `file`, which holds `run`, may not lie among those that were sent."""
    found = []
    if file.stat().st_size > MOST_BYTES:
        found.append("too large")
    if file.name != f"{run.path.parent.name}-{run.path.name}.ipclab":
        found.append("another name")
    if run.about["parameters"].get("label"):
        found.append("a label")
    return found


@pytest.mark.parametrize("file", SENT, ids=lambda file: file.stem)
def test_a_bundle_that_was_sent_is_imported_and_may_lie_here(file: Path, paths: Paths) -> None:
    run = unpack(paths, file)
    run.checked()
    assert faults(file, run) == []


def test_ours_may_lie_there_under_the_name_of_its_machine_and_run(
    paths: Paths, tmp_path: Path
) -> None:
    run = unpack(paths, OURS)
    assert faults(OURS, run) == ["another name"]
    named = tmp_path / f"{run.path.parent.name}-{run.path.name}.ipclab"
    named.symlink_to(OURS)
    assert faults(named, run) == []


def test_nothing_else_lies_there() -> None:
    assert {file.suffix for file in FOLDER.iterdir()} <= {".ipclab", ".sig", ".md"}
