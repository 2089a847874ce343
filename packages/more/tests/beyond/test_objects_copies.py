"""The copies of an object: what is counted where bytes land is what an independent tracer sees
handed over.
"""

import mmap
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ipclab_more.studies.objects import contents
from ipclab_more.studies.objects.contents import ARRAY, DICTIONARY, FRAME
from ipclab_more.studies.objects.copies import CARRIED, anew_bytes, copied
from ipclab_more.studies.objects.ways import WAYS, Room
from tests.support.commands import ROOT, ran
from tests.support.object_targets import BEGIN, END

SIZE = 4_000_000
CALLS = "read,write,readv,writev,pread64,pwrite64,sendto,recvfrom,sendmsg,recvmsg"
# How often the kernel takes or gives an array's own bytes: a message goes in and out, a file is
# written, then mapped.
THROUGH_KERNEL = {
    ("pickle5", "unix"): 2,
    ("msgpack", "unix"): 2,
    ("arrow", "unix"): 2,
    ("pickle5", "posix-shm"): 0,
    ("queue", "mp-queue"): 2,
    ("pickle5-shm", "unix"): 0,
    ("arrow-mapped", "unix"): 0,
    ("shared-memory", "unix"): 0,
    ("joblib", "unix"): 1,
}


def anew(way: str, kind: str, folder: Path) -> tuple[int, int]:
    """Return the bytes of an object that its taking end made anew, and the object's own."""
    content, chosen = contents.made_object(kind, 100_000, 1, 0), WAYS[way]
    room = Room(memoryview(mmap.mmap(-1, 2 << 20)), folder / "object")
    message: Any = bytes(chosen.give(content, room))
    return anew_bytes(chosen.take(message, room, kind), message), contents.own_bytes(content)


@pytest.mark.parametrize("way", sorted(WAYS.keys() - {"queue"}))
def test_an_array_is_made_anew_unless_it_is_read_where_it_lies(tmp_path: Path, way: str) -> None:
    made, own = anew(way, ARRAY, tmp_path)
    assert made == (own if way in ("pickle5", "msgpack") else 0)


@pytest.mark.parametrize("way", ["pickle5", "msgpack", "arrow-mapped"])
def test_a_dictionary_is_always_made_anew(tmp_path: Path, way: str) -> None:
    made, own = anew(way, DICTIONARY, tmp_path)
    assert made == own


def test_of_a_frame_in_arrow_only_truth_values_are_made_anew(tmp_path: Path) -> None:
    rows = len(contents.made_object(FRAME, 100_000, 1, 0))
    # a bit each in Arrow, a byte each in pandas
    assert anew("arrow-mapped", FRAME, tmp_path)[0] == rows
    pickled, own = anew("pickle5", FRAME, tmp_path)
    assert pickled - own == 8  # offsets of texts are one more than the texts


def test_copies_are_counted_for_carriers_whose_own_are_known() -> None:
    facts = {"own_bytes": 100, "message_bytes": 100, "placed_bytes": 0, "anew_bytes": 100}
    assert copied(facts, "unix") == {"copied_bytes": 500, "copies": 5.0}
    assert copied(facts, "posix-shm") == {"copied_bytes": 400, "copies": 4.0}
    assert copied(facts, "zmq-ipc") == {}


def traced(tmp_path: Path) -> list[str]:
    """Return the tracer's lines about arrays that are handed over by every pair of way and carrier."""
    strace = shutil.which("strace")
    if not strace or ran([strace, "-qq", "true"]).returncode:
        pytest.skip("strace is not installed or may not trace here: apt install strace")
    log, pairs = tmp_path / "log", [":".join(pair) for pair in THROUGH_KERNEL]
    tracer = [strace, "-f", "-qq", "-e", f"trace={CALLS}", "-e", "signal=none", "-o", str(log)]
    target = [sys.executable, "-m", "tests.support.object_targets"]
    target += [str(tmp_path / "ledger"), str(SIZE), *pairs]
    done = ran([*tracer, *target], 300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return log.read_text(errors="replace").splitlines()


@pytest.mark.matrix
@pytest.mark.slow
def test_what_a_tracer_sees_handed_to_the_kernel_and_back_is_what_is_counted(
    tmp_path: Path,
) -> None:
    lines, current = traced(tmp_path), None
    handed = dict.fromkeys(THROUGH_KERNEL, 0)
    for line in lines:
        if found := re.search(rf'"({BEGIN}|{END}):(.+?):(.+?):1"', line):
            current = (found[2], found[3]) if found[1] == BEGIN else None
        elif current and (moved := re.search(r" = (\d+)$", line)):
            handed[current] += int(moved[1])
    assert {pair: round(handed[pair] / SIZE, 1) for pair in THROUGH_KERNEL} == THROUGH_KERNEL
    for (way, carrier), times in THROUGH_KERNEL.items():
        if not WAYS[way].maps:
            assert CARRIED[carrier][0] == times
