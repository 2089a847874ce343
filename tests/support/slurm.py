"""Slurm on this host for a test: three nodes that are this machine, on free ports, ended by pid."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.commands import eventually, ran

NODES = ("n1", "n2", "n3")
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
PATIENCE = 40.0  # seconds
SETTINGS = """ClusterName=lab
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={top}/munge/socket
CryptoType=crypto/munge
StateSaveLocation={top}/state
SlurmdSpoolDir={top}/spool-%n
TmpFS={top}/tmp-%n
SlurmctldPidFile={top}/ctld.pid
SlurmdPidFile={top}/slurmd-%n.pid
SlurmctldLogFile={top}/ctld.log
SlurmdLogFile={top}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_interval=2,batch_sched_delay=0
SlurmctldPort={port}
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
"""


def free_ports(count: int) -> list[int]:
    """Return ports that were free a moment ago, each another."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in held:
            each.bind(("", 0))
        return [int(each.getsockname()[1]) for each in held]


@contextmanager
def started(top: Path, *command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a daemon in the foreground, in a session of its own, and end it by its pid."""
    with (top / "daemons.log").open("ab") as log:
        made = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield made
    finally:
        for number, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
            if made.poll() is None:
                made.send_signal(number)
                eventually(lambda: made.poll() is not None, seconds)


@contextmanager
def slurm(top: Path) -> Iterator[dict[str, str]]:
    """Start munge, a controller and three nodes in folder `top`, and yield the environment of their
    commands.

    Skips the test, with the reason, where they are not installed, not allowed or do not start.
    """
    absent = [name for name in NEEDED if not _found(name)]
    if os.getuid() or absent:
        pytest.skip(
            "Slurm on one host needs root and apt-get install slurm-wlm munge"
            f" ({', '.join(absent) or 'not root'})"
        )
    host = socket.gethostname().partition(".")[0]
    port, *ports = free_ports(1 + len(NODES))
    lines = [
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={own} CPUs={os.cpu_count()}"
        " State=UNKNOWN"
        for name, own in zip(NODES, ports, strict=True)
    ]
    settings = top / "slurm.conf"
    settings.write_text(SETTINGS.format(host=host, top=top, port=port, nodes="\n".join(lines)))
    env = os.environ | {"SLURM_CONF": str(settings)}
    with ExitStack() as stack:
        stack.enter_context(_munge(top / "munge"))
        conf = ("-f", str(settings))
        stack.enter_context(started(top, _found("slurmctld"), "-D", *conf))
        for name in NODES:
            (top / f"tmp-{name}").mkdir()
            stack.enter_context(started(top, _found("slurmd"), "-D", "-N", name, *conf))
        if not eventually(lambda: _idle(env), PATIENCE, pause=0.2):
            told = [file.read_text(errors="replace")[-500:] for file in sorted(top.glob("*.log"))]
            pytest.skip(
                f"Slurm's nodes were not idle within {PATIENCE:.0f} s here: {' '.join(told)}"
            )
        yield env
        for job in _told(env, "squeue", "-h", "-o", "%A").split():
            _told(env, "scancel", "--full", job)
        eventually(lambda: not _told(env, "squeue", "-h").strip(), 15, pause=0.2)


@contextmanager
def _munge(top: Path) -> Iterator[None]:
    top.mkdir(mode=0o755)
    key = top / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    own = [f"--{name}={top / name}" for name in ("socket", "pid-file", "log-file", "seed-file")]
    command = (_found("munged"), "--foreground", "--force", f"--key-file={key}", *own)
    with started(top, *command):
        if not eventually((top / "socket").exists, 10):
            pytest.skip(
                "munged does not start here:"
                f" {(top / 'daemons.log').read_text(errors='replace')[-500:]}"
            )
        yield


def _found(name: str) -> str:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") or ""


def _told(env: dict[str, str], *command: str) -> str:
    return ran(command, env=env).stdout


def _idle(env: dict[str, str]) -> bool:
    return _told(env, "sinfo", "-h", "-N", "-o", "%N %t").count(" idle") == len(NODES)
