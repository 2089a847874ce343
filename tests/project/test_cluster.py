"""On three real Slurm nodes of this host: a bundle for each node, nothing mixed, nothing left
behind.
"""

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from ipclab.commands.bundles import pack
from ipclab.frames import derived
from ipclab.store.run import RunFolder, read_run
from tests.spawn.test_ranks import MISSING
from tests.studies.test_shared_dict_runs import LAUNCHER_ENVIRONMENT, command, finished
from tests.support.bundled import make_run
from tests.support.commands import IPCLAB, ROOT, environment, eventually, processes_of, ran
from tests.support.slurm import NODES, slurm

CLUSTER = ROOT / "packages/more/cluster"
ARRAY = CLUSTER / "array.sh"
PROGRAM = Path(sys.executable).with_name("ipclab")
LIMITED = ("--backend", "unix", "--level", "placement=same", "--launches", "2")
BRIEF = ("--profile", "smoke", "--study", "payload", "--size", "84", "--backend", "file")
# of two mechanisms with launches enough to be interrupted between them
LONG = (*BRIEF, "--backend", "posix-shm", "--level", "placement=same", "--launches", "8")
SECONDS = 500  # on a busy machine; a quiet one takes some 30

pytestmark = [pytest.mark.slow, pytest.mark.matrix, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("slurm")
    with slurm(folder) as env:
        # without the native limits, which take most of the time and are no part of what is tested
        code, program = folder / "code.py", folder / "ipclab"
        code.write_text(IPCLAB)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{code}" "$@"\n')
        program.chmod(0o755)
        yield env | {"IPCLAB": str(program), "PYTHONPATH": str(ROOT)}


def run(command: Sequence[str], folder: Path, env: dict[str, str]) -> "CompletedProcess[str]":
    return ran(command, SECONDS, cwd=folder, env=env)


def test_an_array_measures_each_node_once_and_its_values_are_of_each(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    queued = ("sbatch", "--wait", "--array=1-3", str(ARRAY), *BRIEF)
    done = run(queued, tmp_path, cluster)
    logs = "\n".join(file.read_text() for file in sorted(tmp_path.glob("*.log")))
    assert done.returncode == 0, done.stderr + logs
    files = sorted((tmp_path / "bundles").rglob("*.ipclab"))
    assert [file.parent.name for file in files] == list(NODES), logs
    assert labels(tmp_path / "bundles") == list(NODES)


def told(env: dict[str, str], *command: str) -> str:
    """Run a command of Slurm that must succeed, and return what it prints."""
    done = run(command, ROOT, env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def submit(folder: Path, env: dict[str, str], *words: str) -> str:
    """Queue the array script as one job, and return its number."""
    queued = ("sbatch", "--parsable", f"--chdir={folder}", *words, str(ARRAY), *LONG)
    return told(env, *queued)


def wait_for(env: dict[str, str], *jobs: str) -> None:
    """Wait until jobs are over."""
    asked = "squeue", "-h", "-o", "%A"
    assert eventually(lambda: not {*jobs} & {*told(env, *asked).split()}, SECONDS, pause=0.2)


def runs_of(folder: Path, node: str) -> list[RunFolder]:
    """Return the runs among the data of a node."""
    files = sorted((folder / "nodes" / node).glob("runs/*/*/run.json"))
    return [read_run(file.parent) for file in files]


def in_the_middle(folder: Path, node: str) -> tuple[str, str]:
    """Wait until a job has stored a point on a node; return its run and what its processes are
    called by.
    """
    data = folder / "nodes" / node / "runs"
    assert eventually(lambda: list(data.glob("*/*/points/*/*.parquet")), SECONDS)
    (file,) = (data / ".ledger").glob("ipclab-*.json")
    (measured,) = runs_of(folder, node)
    assert not measured.finished
    return measured.id, file.stem


def check_apart(folder: Path, *names: str) -> None:
    """Check that each node has one finished run of its own, in its data and in a bundle, and left
    nothing else.
    """
    for name in names:
        (measured,) = runs_of(folder, name)
        logs = "\n".join(file.read_text() for file in sorted(folder.glob("*.log")))
        assert measured.finished, logs
        assert not measured.about["failures"], logs
        assert measured.about["parameters"]["label"] == name
        assert not list((folder / "nodes" / name / "runs/.ledger").glob("*.json"))
    assert labels(folder / "bundles") == sorted(names)


def test_a_cancelled_job_is_continued_on_its_node_beside_a_job_of_another(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    job = submit(tmp_path, cluster, "--nodelist=n1")
    begun, session = in_the_middle(tmp_path, "n1")
    told(cluster, "scancel", job)
    wait_for(cluster, job)
    assert eventually(lambda: not processes_of(session))
    assert not list(tmp_path.rglob("*.ipclab"))
    jobs = [submit(tmp_path, cluster, f"--nodelist={node}") for node in ("n1", "n2")]
    wait_for(cluster, *jobs)
    check_apart(tmp_path, "n1", "n2")
    (again,) = runs_of(tmp_path, "n1")
    assert again.id == begun and len(again.about["sessions"]) == 2
    (other,) = runs_of(tmp_path, "n2")
    assert other.id != begun and len(other.about["sessions"]) == 1


def test_two_jobs_at_once_may_share_their_data(cluster: dict[str, str], tmp_path: Path) -> None:
    named = '--label "$SLURMD_NODENAME" --bundle "$SLURMD_NODENAME.ipclab"'
    line = f'"$IPCLAB" measure {named} {shlex.join(BRIEF)}'
    env = cluster | {"IPCLAB_DATA": str(tmp_path / "data")}
    place = f"--chdir={tmp_path}"
    jobs = []
    for node in ("n1", "n2"):
        words = ("sbatch", "--parsable", place, f"--nodelist={node}", "--wrap", line)
        jobs.append(told(env, *words))
    wait_for(env, *jobs)
    assert labels(tmp_path) == ["n1", "n2"]
    files = sorted((tmp_path / "data/runs").glob("*/*/run.json"))
    runs = [read_run(file.parent) for file in files]
    assert sorted(measured.about["parameters"]["label"] for measured in runs) == ["n1", "n2"]
    assert all(measured.complete and len(measured.about["sessions"]) == 1 for measured in runs)
    assert not list((tmp_path / "data/runs/.ledger").glob("*.json"))


def test_ranks_that_srun_starts_on_two_nodes_make_one_run(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    ranks = ("srun", "--nodes=2", "--ntasks=4", "--mpi=pmix")
    tried = run((*ranks, "true"), tmp_path, cluster)
    if MISSING or tried.returncode:
        pytest.skip(f"no MPI under srun here (Debian: libpmix-dev): {MISSING or tried.stderr}")
    env = environment(tmp_path) | LAUNCHER_ENVIRONMENT | {"OMPI_MCA_btl": "self,sm,tcp"}
    env |= {"SLURM_CONF": cluster["SLURM_CONF"]}
    words = (*command("posix-shm", "zmq-tcp"), "--label", "both")
    done = run((*ranks, *words), tmp_path, env)
    assert done.returncode == 0, done.stderr
    measured = finished(tmp_path)
    nodes_of_run = measured.about["notes"]["nodes"]
    assert [(node["name"], node["ranks"]) for node in nodes_of_run] == [
        ("n1", [0, 1]),
        ("n2", [2, 3]),
    ]
    launches = derived.read_frame(measured, "shared_dict", "launches")
    between = launches[launches.backend == "zmq-tcp"]
    assert set(between.relation) == {"nodes n1, n2"} and set(between.nodes) == {2}
    within = launches[launches.backend == "posix-shm"]
    assert "nodes n1, n2" not in set(within.relation) and len(within)


@pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
def test_ranks_that_do_not_know_each_other_measure_nothing(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    env = environment(tmp_path) | LAUNCHER_ENVIRONMENT | {"SLURM_CONF": cluster["SLURM_CONF"]}
    alone = ("srun", "--nodes=2", "--ntasks=2", "--mpi=none")
    done = run((*alone, *command("posix-shm")), tmp_path, env)
    assert done.returncode and "the launcher and MPI do not fit" in done.stderr, done.stderr
    assert not list(tmp_path.rglob("run.json"))


@pytest.fixture
def measuring(tmp_path: Path) -> Path:
    """Return the `ipclab` that ReFrame's jobs call, which has prepared bundles."""
    for name in NODES:
        made = make_run(tmp_path / "runs" / name)
        made.about["parameters"]["label"] = name
        made.save()
        pack(made, tmp_path / f"{name}.ipclab")
    file = tmp_path / "ipclab"
    file.write_text(f"""#!/bin/sh
if [ "$1" = measure ]; then cp "{tmp_path}/$3.ipclab" "$5"; else exec "{PROGRAM}" "$@"; fi
""")
    file.chmod(0o755)
    return file


def reframe(folder: Path, env: dict[str, str], *settings: str) -> "CompletedProcess[str]":
    program = PROGRAM.with_name("reframe")
    if not program.exists():
        pytest.skip("reframe is not installed: pip install 'ipclab-more[cluster]'")
    site, check = CLUSTER / "site.py", CLUSTER / "ipclab_nodes.py"
    words = [str(program), "-C", str(site), "-c", str(check), "-r", "--distribute=all"]
    words += ["--prefix", str(folder)]
    for setting in settings:
        words += ["-S", f"ipclab_node.{setting}"]
    return run(words, folder, env)


def test_one_command_of_reframe_keeps_a_bundle_of_each_node(
    cluster: dict[str, str], measuring: Path, tmp_path: Path
) -> None:
    settings = (f"ipclab={measuring}", "profile=smoke", f"more={shlex.join(LIMITED)}")
    done = reframe(tmp_path, cluster, *settings)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert labels(tmp_path / "output", "round_trip") == list(NODES)
    values = [
        json.loads(file.read_text()) for file in sorted((tmp_path / "output").rglob("values.json"))
    ]
    assert sorted(each["label"] for each in values) == list(NODES) and all(
        each["values"] for each in values
    )
    for each in values[0]["values"]:  # as of a node that took half the time
        each.update({end: each[end] / 2 for end in ("value", "low", "high") if each[end]})
    (tmp_path / "baseline.json").write_text(json.dumps(values[0]))
    done = reframe(tmp_path, cluster, *settings, f"baseline={tmp_path / 'baseline.json'}")
    assert done.returncode == 1 and "failed to meet reference" in done.stdout


def labels(folder: Path, study: str = "payload") -> list[str]:
    """Return the labels of the runs whose bundles lie below a folder, all of which can be taken."""
    asked = ("values", str(folder), "--study", study, "--metric", "p50", "--format", "json")
    done = run([str(PROGRAM), *asked], ROOT, environment(folder.parent / "read"))
    assert done.returncode == 0, done.stderr
    return sorted({about["label"] for about in json.loads(done.stdout)})
