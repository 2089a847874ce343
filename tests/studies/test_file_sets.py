"""Sets of files: what follows from the seed, making them once, a full disk, proof of the cache's
state.
"""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from ipclab.errors import LabError
from ipclab.studies.file_io import engine
from ipclab.studies.file_io import sets as making
from ipclab.studies.file_io.sets import Draw, FileSet
from ipclab.studies.file_io.study import DRAWS

KIB, MIB = 1 << 10, 1 << 20
SMALL = Draw("exponential", KIB, MIB, 4 * KIB)
HUNDRED = Draw("identical", 100, 100, 100)


def test_a_set_follows_from_its_seed_alone() -> None:
    first, again = (FileSet("some", 100, SMALL, DRAWS[400_000], 7) for _ in range(2))
    assert first.sizes.tolist() == again.sizes.tolist()
    assert first.compute_ns.tolist() == again.compute_ns.tolist()
    assert msgspec.convert(asdict(first), FileSet) == first
    other = replace(first, seed=8)
    assert other.sizes.tolist() != first.sizes.tolist()
    assert other.content_seed != first.content_seed


def test_compute_times_change_without_the_files() -> None:
    usual = FileSet("some", 50, SMALL, DRAWS[400_000], 7)
    longer = replace(usual, compute=DRAWS[5_000_000])
    assert longer.sizes.tolist() == usual.sizes.tolist()
    assert longer.files() == usual.files()
    assert longer.compute_ns.tolist() != usual.compute_ns.tolist()
    assert replace(usual, compute=None).compute_ns.size == 0


def test_distributions_are_clamped_and_what_they_say() -> None:
    every = {
        name: FileSet("x", 20_000, Draw(name, KIB, MIB, 4 * KIB, 2 * KIB))
        for name in ("normal", "exponential")
    }
    for each in every.values():
        assert each.sizes.min() == KIB
        assert each.sizes.max() <= MIB
    # a standard deviation, not a variance
    assert abs(every["normal"].sizes.std() / (2 * KIB) - 1) < 0.1
    # The integral of the survival function of an exponential that is clamped; the text's total of
    # 10,000 such files,
    # 33.33 MiB, is far below what its parameters give: 40.19 MiB.
    below, above = (np.exp(-end / SMALL.mean) for end in (SMALL.low, SMALL.high))
    expected = SMALL.low + SMALL.mean * (below - above)
    assert round(expected * 10_000 / MIB, 2) == 40.19
    assert abs(every["exponential"].sizes.mean() / expected - 1) < 0.03
    assert FileSet("x", 3, HUNDRED).sizes.tolist() == [100, 100, 100]
    assert FileSet("x", 3, HUNDRED).on_disk == 3 * 4096


class FakeNative:
    """A native package that keeps its files small and does as it is told."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.full = ""
        self.share = {"drop": 0.0, "warm": 1.0}
        self.now = 0.0

    def make_files(
        self, folder: str, first: int, sizes: bytes, seed: int, threads: int, done: Any
    ) -> None:
        self.made.append(Path(folder).name)
        for index, size in enumerate(np.frombuffer(sizes, "<u8")):
            path = Path(folder) / f"{index // 1000:04}" / f"{index:07}"
            if Path(folder).name == self.full and index == 1:
                raise OSError(28, "No space left on device")
            path.parent.mkdir(exist_ok=True)
            if not path.exists() or path.stat().st_size != size:
                path.write_bytes(
                    np.random.Generator(np.random.PCG64([seed, index])).bytes(int(size))
                )
            done(index + 1)

    def digest_files(self, folder: str, sizes: bytes, threads: int) -> str:
        import hashlib

        files = sorted(path for path in Path(folder).glob("*/*") if path.is_file())
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()

    def drop_files(self, folder: str, sizes: bytes, threads: int) -> None:
        self.now = self.share["drop"]

    def warm_files(self, folder: str, sizes: bytes, threads: int) -> None:
        self.now = self.share["warm"]

    def cache_state(self, folder: str, sizes: bytes) -> tuple[int, int]:
        return round(self.now * 1000), 1000


def tiny(name: str, count: int = 3, seed: int = 1) -> FileSet:
    return FileSet(name, count, HUNDRED, None, seed)


def make(
    scratch: Path, sets: list[FileSet], native: FakeNative, said: list[str] | None = None
) -> dict[str, Any]:
    with making.made_sets(
        scratch, sets, native, (said if said is not None else []).append
    ) as found:
        digests = {name: each["digest"] for name, each in found.there.items()}
        return {"digests": digests, "refused": found.refused, "about": found.there}


def test_sets_are_made_once_and_again_when_they_are_others(tmp_path: Path) -> None:
    native, said = FakeNative(), list[str]()
    first = make(tmp_path, [tiny("a"), tiny("b")], native, said)
    assert said == ["file set a: 3 files, 300 bytes", "file set b: 3 files, 300 bytes"]
    folder = tmp_path / "ipclab-scratch-file-io" / "a"
    assert folder.stat().st_mode & 0o777 == 0o700
    when = (folder / "0000" / "0000000").stat().st_mtime_ns
    assert make(tmp_path, [tiny("a")], native)["digests"]["a"] == first["digests"]["a"]
    assert (folder / "0000" / "0000000").stat().st_mtime_ns == when  # kept
    (folder / "0000" / "0000001").unlink()  # as a killed making leaves it
    assert make(tmp_path, [tiny("a")], native)["digests"]["a"] == first["digests"]["a"]
    (folder / "0000" / "0000001").write_bytes(b"x" * 100)  # somebody wrote into it
    assert make(tmp_path, [tiny("a")], native)["digests"]["a"] == first["digests"]["a"]
    other = make(tmp_path, [tiny("a", 2, 9)], native)
    assert other["digests"]["a"] != first["digests"]["a"]
    assert len(list(folder.glob("0000/*"))) == 2
    assert other["about"]["a"]["bytes"] == 200


def test_a_full_disk_refuses_one_set_and_the_others_go_on(tmp_path: Path) -> None:
    native = FakeNative()
    native.full = "b"
    with making.made_sets(
        tmp_path, [tiny("a"), tiny("b"), tiny("c")], native, lambda line: None
    ) as found:
        assert sorted(found.there) == ["a", "c"]
        with pytest.raises(
            LabError, match=r"file set 'b' is not there: .*No space left.*--scratch DIR"
        ):
            found.folder("b")
        assert not (tmp_path / "ipclab-scratch-file-io" / "b").exists()


def test_room_is_looked_at_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "free_bytes", lambda scratch: 1000)
    assert "1,000 bytes are free" in str(making.no_room(tiny("a"), tmp_path / "not" / "there"))
    native = FakeNative()
    assert "no room" not in make(tmp_path, [tiny("a")], native)["digests"]
    assert native.made == []
    monkeypatch.undo()
    assert making.no_room(tiny("a"), tmp_path) is None


def test_two_processes_do_not_share_files(tmp_path: Path) -> None:
    native = FakeNative()
    with (
        making.made_sets(tmp_path, [tiny("a")], native, lambda line: None),
        pytest.raises(LabError, match=r"is in use.*--scratch DIR"),
        making.made_sets(tmp_path, [tiny("a")], native, lambda line: None),
    ):
        pass


def test_a_cache_in_the_wrong_state_fails_the_launch() -> None:
    native = FakeNative()
    assert engine.prepare(native, "x", b"", "cold") == 0.0
    assert engine.prepare(native, "x", b"", "warm") == 1.0
    native.share = {"drop": 0.011, "warm": 0.989}
    with pytest.raises(LabError, match=r"the files are not cold: 1\.1% of the pages are in memory"):
        engine.prepare(native, "x", b"", "cold")
    with pytest.raises(LabError, match=r"the files are not warm: 98\.9%"):
        engine.prepare(native, "x", b"", "warm")


def test_a_set_is_deleted_whole_and_says_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "SAY_EVERY_NS", 0)
    folder = tmp_path / "calls"
    for number in range(3):
        (folder / str(number)).mkdir(parents=True)
        (folder / str(number) / "file").write_bytes(b"1")
    (folder / making.ABOUT).write_text("{}")
    said: list[str] = []
    making.remove_set(folder, said.append)
    assert not folder.exists()
    assert said[-1] == "file set calls: 3 of 3 folders are deleted"
    making.remove_set(folder, said.append)  # one that was never made
