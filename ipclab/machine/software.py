"""What one file alone does not tell of kernel, limits, interpreter, packages and tools."""

import gzip
import hashlib
import os
import resource
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from ipclab.machine.conditions import conditions
from ipclab.machine.parse import KNOWN
from ipclab.machine.source import AbsentError, Source, present
from ipclab.machine.topology import CPUS


def options(source: Source) -> list[str]:
    """Return the options of the kernel command line that matter here, in their order."""
    words = source.read("/proc/cmdline").partition(" -- ")[0].split()
    kept = [word for word in words if word.partition("=")[0].startswith(tuple(KNOWN["options"]))]
    source.keep("/proc/cmdline", " ".join(kept))
    return kept


def config(source: Source) -> dict[str, str]:
    """Return the kernel's build options about ticks and preemption."""
    return source.once("config", lambda: _config(source))


def _config(source: Source) -> dict[str, str]:
    name = "/proc/config.gz"
    try:
        text = gzip.decompress(source.bytes(name)).decode(errors="replace")
    except AbsentError:
        name = f"/boot/config-{source.text('/proc/sys/kernel/osrelease').strip()}"
        text = source.read(name)
    lines = [line for line in text.splitlines() if line.startswith(tuple(KNOWN["build_options"]))]
    source.keep(name, "\n".join(lines))
    return dict(line.split("=", 1) for line in lines if "=" in line)


def built_in(source: Source, kind: str) -> str:
    """Return the word for the first of the build options of a `kind` (tickless, preemption) that is set."""
    return present(next((word for name, word in KNOWN[kind].items() if config(source).get(name) == "y"), ""))


def preemption(source: Source) -> str:
    """Return the preemption model as asked for at boot, or else as built in."""
    asked = [word.partition("=")[2] for word in options(source) if word.startswith("preempt=")]
    return asked[-1] if asked else built_in(source, "preemption")


def mitigations(source: Source) -> dict[str, str]:
    """Return vulnerability -> what the kernel does about it."""
    folder = f"{CPUS}/vulnerabilities"
    return present({name: source.text(f"{folder}/{name}").strip() for name in source.names(folder)})


def limit(source: Source, name: str, which: str) -> int:
    """Return the `soft` or the `hard` limit of `resource.RLIMIT_<name>`."""
    value = source.system.limit(getattr(resource, f"RLIMIT_{name}"))[which == "hard"]
    if value == resource.RLIM_INFINITY:
        raise AbsentError("unlimited")
    return value


def io_uring(source: Source) -> bool:
    """Tell whether io_uring may be used; older kernels have it without the switch, and tell nothing."""
    switch = source.text("/proc/sys/kernel/io_uring_disabled").strip()
    return switch == "0" or (switch == "1" and os.geteuid() == 0)


def condition(source: Source, key: str) -> int | float:
    """Return one of the machine's momentary conditions."""
    value = source.once("conditions", lambda: conditions(source, source.text))[key]
    if value is None:
        raise AbsentError
    return value


def os_name(release: str) -> str:
    """Return the system's name from /etc/os-release."""
    told = {key: value.strip("\"'") for key, _, value in (line.partition("=") for line in release.splitlines())}
    return told.get("PRETTY_NAME") or told["NAME"]


def packages(source: Source) -> dict[str, str]:
    """Return the versions of the packages that are here."""
    found = {}
    for name in KNOWN["packages"]:
        with suppress(AbsentError):
            found[name] = source.system.package(name)
    return found


def lock_digest(source: Source) -> str:
    """Return the beginning of the lock file's SHA-256."""
    try:
        return hashlib.sha256(source.paths.lock.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise AbsentError from error


def tool(source: Source, name: str) -> str:
    """Return what a tool says; all are asked at once, since some take a tenth of a second."""
    folders, tools = {"git": source.paths.root}, {name: words.split() for name, words in KNOWN["tools"].items()}

    def ask() -> dict[str, Future[str]]:
        run = source.system.run
        with ThreadPoolExecutor(len(tools)) as pool:
            return {name: pool.submit(run, *words, cwd=folders.get(words[0])) for name, words in tools.items()}

    return source.once("tools", ask)[name].result()
