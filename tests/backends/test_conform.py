"""`ipclab conform` of backends in Python: ours conforms, each broken one is told by its fault."""

import pytest

from ipclab.studies import conform_channel
from tests.support.commands import Run

BROKEN = {
    "cut": "messages of [4097] bytes do not reach the server whole",
    "hasty": "does not wait as long as is asked",
    "endless": "a message above its capacity gives no error, not ValueError",
    "quiet": "the other process is dead, and it gets TimeoutError, not BrokenPipeError",
}


def test_ours_conforms(ipclab: Run) -> None:
    done = ipclab("conform", "unix")
    assert (done.returncode, done.stdout) == (0, "unix conforms\n"), done.stdout + done.stderr


@pytest.mark.parametrize("name", BROKEN)
def test_what_a_backend_does_wrong_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conform_channel, "ROUNDS", 2)  # each message shows what is wrong
    assert any(
        BROKEN[name] in line
        for line in conform_channel.channel_faults(f"tests.support.broken_backends:{name}")
    )


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mpi-p2p", "has no channel between two processes"),
        ("tests.support.broken_backends:Cut", "is no Backend; see docs/backends.md"),
        ("no.such:thing", "cannot be loaded"),
    ],
)
def test_what_is_no_channel_is_refused_in_a_line(ipclab: Run, name: str, says: str) -> None:
    done = ipclab("conform", name)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and says in done.stderr
