"""The bundles that readers sent (data/machines), and ours: each is imported whole."""

from pathlib import Path

import pytest

from ipclab.commands.bundles import unpack
from ipclab.paths import Paths
from tests.support.commands import ROOT

FOLDER = ROOT / "data" / "machines"
OURS = ROOT / "data" / "compared.ipclab"
SENT = sorted(FOLDER.glob("*.ipclab"))
MOST_BYTES = 5_000_000


@pytest.mark.parametrize("file", [*SENT, OURS], ids=lambda file: file.stem)
def test_a_bundle_that_was_sent_is_imported_and_may_lie_here(file: Path, paths: Paths) -> None:
    run = unpack(paths, file)
    run.checked()
    assert file.stat().st_size <= MOST_BYTES
    assert file == OURS or file.name == f"{run.path.parent.name}-{run.path.name}.ipclab"
    assert not run.about["parameters"].get("label")


def test_nothing_else_lies_there() -> None:
    assert {file.suffix for file in FOLDER.iterdir()} <= {".ipclab", ".sig", ".md"}
