"""Which Python interpreters this machine has, each asked what it is."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path

OLDEST = 11  # of 3
NAME = re.compile(r"3\.(\d{1,3})(t?)")
ASK = (
    "import sys, sysconfig; free = sysconfig.get_config_var('Py_GIL_DISABLED');"
    " print('3.%d%s' % (sys.version_info[1], 't' if free else ''), end='')"
)
SECONDS, LONGEST = 10.0, 64  # for an answer, and its bytes
# where pyenv and uv put interpreters, unless a person says so
ROOTS = {"PYENV_ROOT": "~/.pyenv", "UV_PYTHON_INSTALL_DIR": "~/.local/share/uv/python"}


def this_python() -> str:
    """Return what the interpreter is called that runs this: `3.14`, or `3.14t` without a GIL."""
    free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return f"3.{sys.version_info.minor}{free}"


KNOWN = tuple(dict.fromkeys(["3.11", "3.12", "3.13", "3.13t", "3.14", "3.14t", this_python()]))


def minor(name: str) -> int:
    """Return N of `3.N` or `3.Nt`; 0 for what is called otherwise."""
    named = NAME.fullmatch(name)
    return int(named[1]) if named else 0


def python_files(name: str) -> Iterator[str]:
    """Yield the files that may be Python `name`: on PATH, then those of pyenv and uv."""
    if name == this_python():
        yield sys.executable
    if on_path := shutil.which(f"python{name}"):
        yield on_path
    for variable, usual in ROOTS.items():
        root = Path(os.environ.get(variable) or usual).expanduser()
        found = (*root.glob(f"versions/*/bin/python{name}"), *root.glob(f"*/bin/python{name}"))
        yield from sorted(map(str, found), reverse=True)


def version_said(file: str) -> str:
    """Return what the interpreter in `file` says that it is; "" when it says nothing in time."""
    try:
        with subprocess.Popen(
            [file, "-I", "-S", "-c", ASK], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            late = threading.Timer(SECONDS, process.kill)
            late.start()
            said = process.stdout.read(LONGEST) if process.stdout else b""
            late.cancel()
            process.kill()
    except OSError:
        return ""
    return said.decode("ascii", "replace")


@cache
def python_file(name: str) -> str:
    """Return the file of Python `name` on this machine, "" where there is none."""
    return next((file for file in python_files(name) if version_said(file) == name), "")


def python_missing(name: str) -> str | None:
    """Return why Python `name` cannot be measured here, with the fix; None when it can."""
    if minor(name) < OLDEST:
        return f"there is no Python {name} to measure; name one such as 3.{OLDEST} or 3.14t"
    if python_file(name):
        return None
    return f"no Python {name} on PATH, of pyenv or of uv: uv python install {name}"
