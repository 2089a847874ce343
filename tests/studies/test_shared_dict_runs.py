"""Whole runs of the dictionary study by the command line: under somebody else's mpiexec, in a full
/dev/shm.
"""

import sys
from pathlib import Path

import pytest

from ipclab.session.room import SHARED_MEMORY_SLACK
from ipclab.spawn import mpi
from ipclab.store import run as folder
from ipclab.store.samples import decode
from tests.spawn.test_ranks import MISSING
from tests.studies.test_shared_dict import SMOKE, STUDY, points
from tests.support.commands import (
    IPCLAB,
    SMALL_SHM,
    environment,
    namespace,
    namespace_refused,
    ran,
)

LAUNCHER_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_osc": "sm,rdma",
}


def command(*backends: str) -> list[str]:
    names = [word for name in backends for word in ("--backend", name)]
    words = "measure --study shared_dict --profile smoke"
    return [sys.executable, "-c", IPCLAB, *words.split(), *names]


def finished(path: Path) -> folder.RunFolder:
    (file,) = path.glob("data/runs/*/*/run.json")
    run = folder.read_run(file.parent)
    assert run.finished
    assert run.about["failures"] == {}
    return run


def facts_of(run: folder.RunFolder, name: str) -> list[object]:
    measured = [decode(file) for file in run.checked("points/shared_dict/").values()]
    return [launch.facts[name] for each in measured for launch in each.launches]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
def test_somebody_elses_mpiexec_lends_its_ranks(tmp_path: Path) -> None:
    launcher = [str(mpi.mpiexec()), "-n", "4", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
    env = {**environment(tmp_path), **LAUNCHER_ENVIRONMENT, "OMPI_MCA_btl": "self,sm"}
    done = ran([*launcher, *command("shared-memory")], 200, env=env)
    assert done.returncode == 0, done.stderr
    run = finished(tmp_path)
    assert set(facts_of(run, "fresh_ranks")) == {0}
    assert set(facts_of(run, "lost")) == set(facts_of(run, "torn")) == {0}
    (node,) = run.about["notes"]["nodes"]
    assert node["ranks"] == [0, 1, 2, 3]
    assert node["digest"] == run.about["machine"]["digest"]
    assert not [path for path in (tmp_path / "tmp").iterdir() if path.name.startswith("ipclab")]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.skipif(
    bool(MISSING or namespace_refused()), reason=f"{MISSING or namespace_refused()}"
)
def test_what_is_said_to_be_needed_of_dev_shm_is_enough(tmp_path: Path) -> None:
    need = max(STUDY.shared_memory(point) for point in points(SMOKE, "posix-shm"))
    size = str(need + SHARED_MEMORY_SLACK + (1 << 16))
    limited = namespace(SMALL_SHM, size, *command("posix-shm"))
    done = ran(limited, 200, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "left: "
    assert list((tmp_path / "tmp").iterdir()) == []
    finished(tmp_path)
