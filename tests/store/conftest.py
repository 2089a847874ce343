"""A run and its bundle, each made once; a test alters copies."""

import copy
import shutil
from pathlib import Path

import pytest

from ipclab.commands.bundles import pack
from ipclab.store.record import Record
from tests.support.bundled import make_run


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A finished run, which nobody alters."""
    return make_run(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture
def run(elsewhere: Record, tmp_path: Path) -> Record:
    """A copy of it."""
    path = tmp_path / elsewhere.id
    shutil.copytree(elsewhere.path, path)
    return Record(path, copy.deepcopy(elsewhere.about))


@pytest.fixture(scope="session")
def packed(elsewhere: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its bundle, which nobody alters."""
    file = tmp_path_factory.mktemp("packed") / "run.ipclab"
    pack(elsewhere, file)
    return file


@pytest.fixture
def bundle(packed: Path, tmp_path: Path) -> Path:
    """A copy of that."""
    return Path(shutil.copy(packed, tmp_path))
