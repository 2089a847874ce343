"""Finding Go and compiling with it: nothing is left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ipclab.studies.multiplexer import toolchain
from tests.spawn.test_workers import gone
from tests.support.commands import environment, eventually


def command(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return path


def test_a_persons_go_settings_do_not_reach_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {
        "PATH": "/bin",
        "GOFLAGS": "-race",
        "GOROOT": "/x",
        "GOCACHE": "/c",
        "HOME": str(tmp_path),
    }
    monkeypatch.setattr(os, "environ", given)
    made = toolchain.go_environment(tmp_path)
    assert (made["GOFLAGS"], made["GOCACHE"], made["GOTOOLCHAIN"], "GOROOT" in made) == (
        "-mod=mod",
        "/c",
        "local",
        False,
    )
    for homeless in ({"HOME": str(tmp_path / "nothing")}, {"HOME": ""}, {}):
        monkeypatch.setattr(os, "environ", homeless)
        assert toolchain.go_environment(tmp_path)["GOCACHE"] == str(tmp_path / "go-cache")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo broken >&2; exit 2", "broken"),
        ("exec sleep 60", "timed out"),
        ("", "none is installed"),
    ],
)
def test_a_go_that_fails_or_does_not_answer_is_told(
    script: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script:
        command(tmp_path, "go", script)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(toolchain, "ASK_SECONDS", 0.5)
    told = toolchain.go_toolchain.__wrapped__()
    assert isinstance(told, str) and why in told and "setup" in told


COMPILING = """
import sys
from pathlib import Path
from ipclab.spawn.launcher import Launcher
from ipclab.studies.multiplexer import toolchain
folder, go = Path(sys.argv[1]), toolchain.Toolchain(Path(sys.argv[2]), "go1.24")
with Launcher(folder / "ledger", "gc:collect") as launcher:
    toolchain.build(go, folder, launcher)
"""


def test_a_compiler_ends_with_its_parent_and_its_files_with_it(tmp_path: Path) -> None:
    """Its own files lie where GOTMPDIR says, and a process that it started goes on when it is
    killed.
    """
    script = (
        f'head -c 9999 /dev/zero > "$GOTMPDIR/work"; sleep 100 & echo $! > {tmp_path}/pid; wait'
    )
    go = command(tmp_path, "hang", script)
    env = environment(tmp_path)
    process = subprocess.Popen([sys.executable, "-c", COMPILING, str(tmp_path), str(go)], env=env)
    assert eventually(
        lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip()
    )
    assert list((tmp_path / "tmp").glob("*/work"))
    process.kill()
    process.wait()
    assert eventually(lambda: gone(tmp_path / "pid"))
    assert eventually(lambda: not [*(tmp_path / "tmp").iterdir(), *(tmp_path / "ledger").iterdir()])
