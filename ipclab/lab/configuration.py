"""What a run was measured with, beside what the lock file pins: the configuration that a signed
document states.
"""

import re
from collections.abc import Mapping

import pandas as pd

from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.lab.words import DASH

# The facts of a run by what reports call them, and the packages of the lock file that they are of.
SOFTWARE = (
    ("ipclab", "ipclab", ""),
    (N_("commit"), "git_commit", ""),
    (N_("lock file (SHA-256, its beginning)"), "lock_digest", ""),
    ("Python", "python", ""),
    ("NumPy", "numpy", "numpy"),
    ("PyArrow", "pyarrow", "pyarrow"),
    ("posix_ipc", "posix_ipc", "posix-ipc"),
    ("pyzmq", "pyzmq", "pyzmq"),
    ("lmdb", "lmdb", "lmdb"),
    (N_("native package (SHA-256, its beginning)"), "native_digest", ""),
    (N_("compiler of the native package"), "cargo", ""),
    (N_("kernel"), "kernel_release", ""),
    (N_("C library"), "libc", ""),
)
CHANGED = N_("{commit}, with changes that no commit holds")
UNRECORDED = N_("not recorded in this run")
_PIN = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)


def about_configuration(lab: Data) -> pd.DataFrame:
    """Return what the run was measured with (item, measured), and what the lock file pins of it
    (locked).
    """
    facts = lab.run.about["machine"]["facts"]
    pins = _pins(lab)
    rows = []
    for what, fact, package in SOFTWARE:
        locked = lab.words.joined(pins.get(package, [DASH]))
        rows.append((lab.say(what), _recorded(lab, facts, fact), locked))
    return pd.DataFrame(rows, columns=["item", "measured", "locked"])


def _recorded(lab: Data, facts: Mapping[str, object], name: str) -> str:
    if not facts.get(name):
        return lab.say(UNRECORDED)
    said = str(facts[name])
    if name != "git_commit":
        return said
    return lab.say(CHANGED, commit=said[:12]) if facts.get("git_dirty") else said[:12]


def _pins(lab: Data) -> dict[str, list[str]]:
    """Return the versions that the lock file pins of each package: several where Python's version
    decides.
    """
    pins: dict[str, list[str]] = {}
    if lab.paths.lock.is_file():
        for package, version in _PIN.findall(lab.paths.lock.read_text("utf-8")):
            pins.setdefault(package, []).append(version)
    return pins
