"""Peers in any language: the examples conform, each broken one is told by its fault, and one is a
backend.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ipclab.backends.conform_peer import peer_faults
from ipclab.backends.interface import Place
from ipclab.backends.peers import PeerChannel, peer
from ipclab.backends.waiting import Peer
from tests.support.commands import ROOT, Run, environment, ran
from tests.support.few import some

BROKEN = (sys.executable, str(ROOT / "tests/support/broken_peer.py"))
MINUTE = 60 * 10**9  # for what comes at once, on a busy host too
FAULTS = {  # of each message, of some, or of what shows only among many
    "drop": "it drops: message 3 came in place of message 2",
    "reorder": "it reorders: message 3 came before message 2",
    "hang": "it hangs: no answer to 'recv 1000' in time",
    "die": "it died before it answered: exit code 3",
    "lie": "it lies about its size: 17 bytes announced, 7 came",
    "drip": "it lies about its size: 65536 bytes announced",
    "rot-late": r"message \d{2,} of \d+ bytes came with other bytes at 0",
    "stale": r"it repeats: message \d+ came again in place of message \d+|wrong length",
    "stuck": "it repeats: message 0 came again in place of message 1",
    "digits": "its answer to 'recv 1000' is no line",
    "short": "its messages have at most 99 bytes: 100 are needed",
    "twice": "it receives what nobody sent|it repeats: message|wrong length",
    "zeros": r"message \d+ of \d+ bytes came as nothing but zeros",
    "cut": r"wrong length: a message of \d{4,5} bytes came with 2048",
    "early": "it answers before it has read the message: read all bytes, then say 'sent'",
    # its last byte is the right one by chance in one message of 256
    "ahead": r"message \d+ of \d+ bytes came with other bytes at (4096|65535)",
}
ENDLESS = {  # what filled the memory
    "flood": "it lies about its size: 536870912 bytes announced: no message has more than 65536",
    # at 16 MiB of the 1 GiB that it says it takes
    "large": "it died before it answered: exit code 1",
}


def compiled(language: str, folder: Path) -> Path:
    """Return the example in `language`, compiled, or skip where there is no compiler."""
    source, made = ROOT / "docs" / "peers" / f"peer.{language}", folder / "peer"
    compiler = {"c": ["cc", "-O2", "-o", str(made)], "go": ["go", "build", "-o", str(made)]}[
        language
    ]
    if not shutil.which(compiler[0]):
        pytest.skip(f"{compiler[0]} is not installed")
    subprocess.run([*compiler, str(source)], check=True, timeout=120, cwd=folder)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("language", some(["c", "go"], 2))
def test_the_examples_conform(language: str, tmp_path: Path) -> None:
    made = compiled(language, tmp_path)
    command = [sys.executable, "-m", "ipclab", "conform", str(made)]
    done = ran(command, 100, env=environment(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{made} conforms\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_peer_is_told_by_its_fault(fault: str) -> None:
    (line,) = peer_faults([*BROKEN, fault])
    assert re.match(FAULTS[fault], line), line


def test_a_whole_peer_is_tried_with_many_messages_of_all_lengths_and_has_no_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[bytes] = []
    send = PeerChannel.send

    def noted(self: PeerChannel, data: bytes, timeout_ns: int) -> None:
        sent.append(bytes(data))
        send(self, data, timeout_ns)

    monkeypatch.setattr(PeerChannel, "send", noted)
    assert list(peer_faults([*BROKEN, "none"])) == []
    assert len({*sent}) >= 500
    lengths = {len(data) for data in sent}
    assert {0, 1, 7, 100, 4097, 65_536} <= lengths
    assert all(any(low <= size < 4 * low for size in lengths) for low in 4 ** np.arange(2, 8))


def test_a_peer_is_a_backend(tmp_path: Path) -> None:
    kind = peer("whole", *BROKEN, "none").channel
    assert kind
    place = Place("peer-1", str(tmp_path), 1000)
    one, other = (kind(place, create) for create in (True, False))
    for end in (one, other):
        end.accept(Peer.me(), MINUTE)
    one.send(b"question", MINUTE)
    assert other.recv(MINUTE) == b"question"
    with pytest.raises(TimeoutError):
        other.recv(10**7)
    with pytest.raises(ValueError, match="1001 bytes are above the capacity of 1000"):
        one.send(bytes(1001), MINUTE)
    one.close()
    with pytest.raises(BrokenPipeError):
        other.recv(MINUTE)
    other.close()


def test_what_cannot_be_started_is_told_in_a_line(ipclab: Run) -> None:
    done = ipclab("conform", "/nowhere/peer")
    assert done.returncode == 1
    assert "/nowhere/peer cannot be started: No such file or directory" in done.stdout
    assert len(done.stderr.splitlines()) == 1


# what is tried in a process of its own, whose memory nothing else has filled before
TRIED = """
import resource, sys
from ipclab.backends.conform_peer import peer_faults
def most(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = most()
print(*peer_faults(sys.argv[1:]))
print(most() - before)
"""


@pytest.mark.parametrize("fault", ENDLESS)
def test_a_peer_that_gives_or_takes_without_end_is_told_in_little_memory(
    fault: str, tmp_path: Path
) -> None:
    done = ran([sys.executable, "-c", TRIED, *BROKEN, fault], 100, env=environment(tmp_path))
    line, grown = done.stdout.splitlines()
    assert line.startswith(ENDLESS[fault])
    assert int(grown) < 128 << 10  # KiB; the longest message that is tried has 16 MiB
