"""MPI on this machine: how `mpiexec` is found and called, and whether one started us."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ipclab.paths import table_beside, typed

FIX = f"install mpi4py and openmpi into the environment: {typed('setup')}"
SEGMENT_BYTES = 4 << 20  # of shared memory that Open MPI takes for each rank
# Prefixes of what a launcher around us put into the environment: one that we start must not take it
# for its own. Nor must it ask a scheduler for nodes, by an srun that may not be here: our ranks are
# on this host.
LAUNCHERS = ("OMPI_", "PMIX_", "PRTE_", "PMI_", "HYDRA_", "MPIEXEC_", "SLURM_", "PBS_", "LSB_")
SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")


def mpiexec() -> str | None:
    """Return the launcher of the pinned package, or the one on PATH; None without any."""
    here = Path(sys.executable).parent  # not resolved: an environment's python is often a link
    return shutil.which("mpiexec", path=str(here)) or shutil.which("mpiexec")


def mpi_missing() -> str | None:
    """Return why no MPI ranks can be had here, with the fix; None when they can."""
    if importlib.util.find_spec("mpi4py") is None:
        return f"mpi4py is not installed; {FIX}"
    if outer() is None and mpiexec() is None:
        return f"there is no mpiexec; {FIX}"
    return None


def command(path: str, ranks: int, program: Sequence[str]) -> tuple[str, ...]:
    """Return the command that starts `ranks` ranks of `program`, bound to no CPU.

    There may be more ranks than CPUs.
    """
    options = f"-n {ranks} --map-by :OVERSUBSCRIBE --bind-to none"
    return path, *options.split(), *program


def rank_environment(base: Mapping[str, str], folder: Path, shared_memory: Path) -> dict[str, str]:
    """Return the environment for ranks on this host alone.

    Open MPI keeps its files in `folder` and its segments in `shared_memory`, talks through shared
    memory and loopback, yields the CPU when it waits, and may run as root, as in a container.
    """
    kept = {name: value for name, value in base.items() if not name.startswith(LAUNCHERS)}
    settings = table_beside(__file__, "mpi.toml")
    words = {"folder": folder, "shared_memory": shared_memory, "segment_bytes": SEGMENT_BYTES}
    made = {name: value.format_map(words) for name, value in settings.items()}
    # Open MPI does not start without a home
    return {**kept, "HOME": base.get("HOME") or str(folder), **made}


def outer(env: Mapping[str, str] = os.environ) -> int | None:
    """Return how many ranks an outer `mpiexec` or `srun` has started; None for none, or one."""
    size = next((int(env[name]) for name in SIZES if env.get(name, "").isdigit()), 1)
    return size if size > 1 and any(env.get(name, "").isdigit() for name in RANKS) else None
