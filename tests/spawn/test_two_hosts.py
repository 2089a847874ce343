"""Two hosts made of network namespaces: one run folder with both machines' facts, and points
between them.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipclab.spawn import mpi
from ipclab.store.samples import decode
from tests.spawn.test_ranks import MISSING
from tests.studies.test_shared_dict_runs import LAUNCHER_ENVIRONMENT, facts_of, finished
from tests.support.commands import IPCLAB, environment, ran

NET = "10.99.7"
AGENT = """#!/bin/sh
# Stands in for ssh: the host is the namespace that has its address. Open MPI does not quote the
# path of its daemon, which may hold a space: a link has none.
host=$1
shift
daemon=$(printf %s "$*" | sed 's|ENVIRONMENT|LINK|g')
exec ip netns exec "NAME${host##*.}" unshare --uts sh -c 'hostname "$0"; eval "$1"' "NAME${host##*.}" "$daemon"
"""


def hosts_refused() -> str:
    """Return why no two network namespaces can be joined here, or nothing."""
    if MISSING:
        return MISSING
    if os.getuid() or not shutil.which("ip") or not shutil.which("unshare"):
        return "it takes root, ip and unshare"
    return ran(["unshare", "--net", "--uts", "true"]).stderr.strip()


REFUSED = hosts_refused()
pytestmark = pytest.mark.skipif(bool(REFUSED), reason=f"no two hosts here: {REFUSED}")


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True, capture_output=True, timeout=20)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The common part of two namespaces' names, which end in 1 and 2, and the agent that reaches
    them.
    """
    name = f"ipclab{os.getpid()}h"
    agent = tmp_path / "agent"
    link = tmp_path / "environment"
    link.symlink_to(sys.prefix)
    made = AGENT.replace("NAME", name).replace("LINK", str(link))
    agent.write_text(made.replace("ENVIRONMENT", sys.prefix))
    agent.chmod(0o700)
    try:
        for number in "12":
            ip(f"netns add {name}{number}")
            ip(f"-n {name}{number} link set lo up")
        ip(f"-n {name}1 link add veth1 type veth peer veth2 netns {name}2")
        for number in "12":
            ip(f"-n {name}{number} addr add {NET}.{number}/24 dev veth{number}")
            ip(f"-n {name}{number} link set veth{number} up")
        yield name, agent
    finally:
        for number in "12":
            ran(["ip", "netns", "del", name + number])


@pytest.mark.matrix
@pytest.mark.slow
def test_two_hosts_make_one_run(hosts: tuple[str, Path], tmp_path: Path) -> None:
    name, agent = hosts
    inside = f"ip netns exec {name}1 unshare --uts sh -c".split()
    launcher = [*inside, f'hostname {name}1; exec "$@"', "sh", str(mpi.mpiexec())]
    launcher += ["--prtemca", "plm_ssh_agent", str(agent), "--map-by", "ppr:2:node:OVERSUBSCRIBE"]
    launcher += ["--bind-to", "none", "--host", f"{NET}.1:2,{NET}.2:2", "-n", "4"]
    for variable in ("PYTHONPATH", "IPCLAB_DATA", "IPCLAB_ROOT", "TMPDIR"):
        launcher += ["-x", variable]
    words = "measure --study shared_dict --profile smoke --label both"
    words += " --backend posix-shm --backend zmq-tcp"
    command = [*launcher, sys.executable, "-c", IPCLAB, *words.split()]
    env = environment(tmp_path) | LAUNCHER_ENVIRONMENT | {"OMPI_MCA_btl": "self,sm,tcp"}
    done = ran(command, 250, env=env)
    assert done.returncode == 0, done.stderr
    run = finished(tmp_path)
    nodes = run.about["notes"]["nodes"]
    assert [node["ranks"] for node in nodes] == [[0, 1], [2, 3]]
    assert all(node["facts"]["cpu_model"] or node["reasons"]["cpu_model"] for node in nodes)
    between = list((run.path / "points/shared_dict").glob("zmq-tcp-*.parquet"))
    assert len(between) == 1  # one reader; three would take more ranks on the other host
    within = list((run.path / "points/shared_dict").glob("posix-shm-*.parquet"))
    assert within
    (apart,) = map(decode, between)
    assert {launch.facts["relation"] for launch in apart.launches} == {f"nodes {name}1, {name}2"}
    assert [node["name"] for node in nodes] == [f"{name}1", f"{name}2"]
    assert set(facts_of(run, "lost")) == set(facts_of(run, "torn")) == {0}
    assert set(facts_of(run, "node")) == {0, 1}  # launches take turns over the hosts
    short = [why for why in run.about["points"].values() if "ranks on one node" in why]
    assert not [*Path(env["TMPDIR"]).glob("ipclab-node-*")]  # the folder of the other host
    assert short[0] == "not testable here: it takes 4 ranks on one node and there are 2; start more"
