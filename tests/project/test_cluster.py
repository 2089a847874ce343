"""On three real Slurm nodes of this host: a bundle for each node, nothing mixed, nothing left
behind.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ipclab.store.bundle import pack
from ipclab_answers.gather import nodes
from ipclab_answers.gather.index import index
from tests.support.bundled import make_run
from tests.support.commands import ROOT
from tests.support.slurm import NODES, slurm

IPCLAB = Path(sys.executable).with_name("ipclab")
LIMITED = ("--backend", "unix", "--level", "placement=same", "--launches", "2")
ASKED = ("--profile", "smoke", "--study", "round_trip", "--size", "100", *LIMITED)
SECONDS = 500  # on a busy machine; a quiet one takes some 30

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm(tmp_path_factory.mktemp("slurm")) as env:
        yield env | {"IPCLAB": str(IPCLAB)}


def run(
    command: Sequence[str], folder: Path, env: dict[str, str]
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def test_an_array_measures_each_node_once_and_gather_has_a_row_for_each(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    command = ("sbatch", "--wait", "--array=1-3", str(ROOT / "cluster/array.sh"), *ASKED)
    done = run(command, tmp_path, cluster)
    logs = "\n".join(file.read_text() for file in sorted(tmp_path.glob("*.log")))
    assert done.returncode == 0, done.stderr + logs
    files = sorted((tmp_path / "bundles").rglob("*.ipclab"))
    assert [file.parent.name for file in files] == list(NODES), logs
    assert labels(tmp_path / "bundles", tmp_path / "index") == list(NODES)


@pytest.fixture
def measuring(tmp_path: Path) -> Path:
    """Return the `ipclab` that ReFrame's jobs call: the real one when asked, else one with prepared
    bundles.
    """
    if os.environ.get("IPCLAB_CLUSTER"):
        return IPCLAB
    for name in NODES:
        made = make_run(tmp_path / "runs" / name)
        made.about["parameters"]["label"] = name
        made.save()
        pack(made, tmp_path / f"{name}.ipclab")
    file = tmp_path / "ipclab"
    file.write_text(f"""#!/bin/sh
if [ "$1" = measure ]; then cp "{tmp_path}/$3.ipclab" "$5"; else exec "{IPCLAB}" "$@"; fi
""")
    file.chmod(0o755)
    return file


def reframe(
    folder: Path, env: dict[str, str], *settings: str
) -> "subprocess.CompletedProcess[str]":
    program = IPCLAB.with_name("reframe")
    if not program.exists():
        pytest.skip("reframe is not installed: pip install 'ipclab[cluster]'")
    site, check = ROOT / "cluster/site.py", ROOT / "cluster/ipclab_nodes.py"
    command = [
        str(program),
        "-C",
        str(site),
        "-c",
        str(check),
        "-r",
        "--distribute=all",
        "--prefix",
        str(folder),
    ]
    return run(
        [*command, *(word for each in settings for word in ("-S", f"ipclab_node.{each}"))],
        folder,
        env,
    )


def test_one_command_of_reframe_keeps_a_bundle_of_each_node(
    cluster: dict[str, str], measuring: Path, tmp_path: Path
) -> None:
    settings = (f"ipclab={measuring}", "profile=smoke", f"more={shlex.join(LIMITED)}")
    done = reframe(tmp_path, cluster, *settings)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert labels(tmp_path / "output", tmp_path / "index") == list(NODES)
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


def labels(folder: Path, data: Path) -> list[str]:
    """Return the labels of the nodes whose bundles lie below a folder, all of which can be taken."""
    held = index(folder, data)
    assert set(held.bundles.why) == {""}, held.bundles.why
    return list(nodes.nodes(held).label)
