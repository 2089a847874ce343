"""MPI on this machine: where `mpiexec` is, what it is told, and whether somebody else's launcher has started us."""

import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import which

MEND = "install mpi4py and openmpi into the environment: make setup"
SEGMENT_BYTES = 4 << 20  # of shared memory that Open MPI takes for each rank
# Of a launcher around us, which one that we start must not take for its own.
LAUNCHERS = ("OMPI_", "PMIX_", "PRTE_", "PMI_", "HYDRA_", "MPIEXEC_")
SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")


def _candidates() -> Iterator[Path]:
    """Yield where the pinned package, a conda environment or the system may have put it, in this order."""
    yield Path(sys.executable).parent / "mpiexec"  # not resolved: an environment's python is often a link
    yield Path(sys.prefix) / "bin" / "mpiexec"
    if prefix := os.environ.get("CONDA_PREFIX"):
        yield Path(prefix) / "bin" / "mpiexec"
    if found := which("mpiexec"):
        yield Path(found)


def mpiexec() -> Path | None:
    """Return the launcher of the environment, or else the system's; None when there is none."""
    return next((path for path in _candidates() if path.is_file() and os.access(path, os.X_OK)), None)


def missing() -> str | None:
    """Return why no MPI ranks can be had here, with the fix; None when they can."""
    if importlib.util.find_spec("mpi4py") is None:
        return f"mpi4py is not installed; {MEND}"
    if outer() is None and mpiexec() is None:
        return f"there is no mpiexec; {MEND}"
    return None


def command(path: Path, ranks: int, program: list[str]) -> list[str]:
    """Return the command that starts `ranks` ranks of `program`, more than there are CPUs if need be, bound to none."""
    return [str(path), "-n", str(ranks), "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none", *program]


def environment(base: Mapping[str, str], folder: Path, shared_memory: Path) -> dict[str, str]:
    """Return the environment for ranks on this host alone.

    Open MPI keeps its files in `folder` and its segments in `shared_memory`, talks through shared memory and loopback,
    yields the CPU when it waits, and may run as root, as in a container.
    """
    kept = {name: value for name, value in base.items() if not name.startswith(LAUNCHERS)}
    tuning = {
        "pml": "ob1",
        "btl": "self,sm",
        "osc": "sm,rdma",
        "btl_sm_backing_directory": str(shared_memory),
        "btl_sm_segment_size": str(SEGMENT_BYTES),
        "osc_sm_backing_directory": str(shared_memory),
        "osc_rdma_backing_directory": str(shared_memory),
        "mpi_yield_when_idle": "1",
    }
    as_root = ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT")
    return {
        **kept,
        **{f"OMPI_MCA_{name}": value for name, value in tuning.items()},
        "HOME": base.get("HOME") or str(folder),  # Open MPI does not start without one
        **{name + end: "1" for name in as_root for end in ("", "_CONFIRM")},
        "PMIX_MCA_ptl_tcp_if_include": "lo",
        "TMPDIR": str(folder),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


@dataclass(frozen=True)
class Outer:
    """What somebody else's launcher says of itself: this process's rank among `size`."""

    rank: int
    size: int


def outer(env: Mapping[str, str] | None = None) -> Outer | None:
    """Return our place under somebody else's `mpiexec` or `srun`; None without one, or alone under it."""
    env = os.environ if env is None else env
    size = next((int(env[name]) for name in SIZES if env.get(name, "").isdigit()), 1)
    rank = next((int(env[name]) for name in RANKS if env.get(name, "").isdigit()), None)
    return None if rank is None or size <= 1 else Outer(rank, size)
