"""The files the engine reads: reproducible, made again when killed, incompressible, a full disk
told.
"""

import sys
from pathlib import Path

import pytest

from tests.studies.test_file_engine import SIZES, native, packed, path_of
from tests.support.commands import environment, namespace, namespace_refused, ran


def test_a_making_is_reproducible_resumes_and_tells_its_progress(tmp_path: Path) -> None:
    sizes, said = packed(SIZES), list[int]()
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        native.make_files(str(tmp_path / name), 0, sizes, seed, 2, said.append)
        assert said[-1] == len(SIZES)
    first, again, other = (native.digest_files(str(tmp_path / name), sizes, 2) for name in "abc")
    assert first == again != other
    assert len(first) == 32
    gone, part = path_of(tmp_path / "b", 11), path_of(tmp_path / "b", 11).with_suffix(".part")
    kept = path_of(tmp_path / "b", 12)
    inode = kept.stat().st_ino
    gone.rename(part)
    part.write_bytes(b"killed here")
    native.make_files(str(tmp_path / "b"), 0, sizes, 3, 2, None)
    assert native.digest_files(str(tmp_path / "b"), sizes, 1) == first
    assert not part.exists()
    assert kept.stat().st_ino == inode
    assert gone.stat().st_mode & 0o777 == 0o600


def test_content_follows_from_the_index_alone_and_does_not_compress(tmp_path: Path) -> None:
    import zlib

    native.make_files(str(tmp_path / "whole"), 0, packed([5000] * 4), 9, 2, None)
    native.make_files(str(tmp_path / "part"), 3, packed([5000]), 9, 1, None)
    data = [path_of(tmp_path / "whole", index).read_bytes() for index in range(4)]
    assert path_of(tmp_path / "part", 3).read_bytes() == data[3]
    assert len(set(data)) == 4
    assert len(zlib.compress(b"".join(data), 9)) > 20_000


def test_a_callback_that_raises_stops_the_making(tmp_path: Path) -> None:
    def refuse(_: int) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError):
        native.make_files(str(tmp_path / "set"), 0, packed([100] * 50), 1, 2, refuse)
    assert not list(tmp_path.rglob("*.part"))


FULL = """
import os, sys, struct
import ipclab_native as native
sizes = struct.pack("<20Q", *[300_000] * 20)
try:
    native.make_files(sys.argv[1] + "/set", 0, sizes, 1, 2, None)
except OSError as error:
    print(error.errno, error.strerror)
names = [name for _, _, names in os.walk(sys.argv[1]) for name in names]
print(len([name for name in names if name.endswith(".part")]), 1 <= len(names) < 20)
print(native.direct_missing(sys.argv[1]))
"""


def test_a_full_disk_is_told_and_parts_are_removed(tmp_path: Path) -> None:
    if refused := namespace_refused():
        pytest.skip(f"no private mount namespace here: {refused}")
    script = 'mount -t tmpfs -o size=2m tmpfs "$1"; shift; exec "$@"'
    (tmp_path / "small").mkdir()
    command = namespace(
        script, str(tmp_path / "small"), sys.executable, "-c", FULL, str(tmp_path / "small")
    )
    done = ran(command, env=environment(tmp_path))
    assert done.stderr == ""
    first, second, third = done.stdout.splitlines()
    assert first == "28 writing a file of the set: No space left on device (os error 28)"
    assert second == "0 True"
    assert third.startswith("the folder is on tmpfs")
