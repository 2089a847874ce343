"""File sets, the same for the same seed: sizes and work, and their making on disk, once."""

import csv
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ipclab.errors import LabError, UsageError
from ipclab.machine.mounts import existing
from ipclab.spawn.scratch import held_subfolder, path_of
from ipclab.store.files import dump_json, write_whole
from ipclab.studies.profile import PROFILES
from ipclab.words.labels import SIZED

ARMS = Path(__file__).with_name("arms.toml")
Say = Callable[[str], None]
Whole = np.ndarray[tuple[int], np.dtype[np.int64]]
SEED = 4  # of all file sets: every run on every machine reads the same bytes
BLOCK = 4096  # what a file takes on disk is a multiple of this
TAG, ABOUT, DIGEST = "file-io", "set.json", "digest"
SLACK = 64 << 20  # kept free on the disk, for the file system's own use
ELSEWHERE = "free some or name another place: --scratch DIR"
SAY_EVERY_NS = 2_000_000_000


@dataclass(frozen=True)
class Draw:
    """A distribution of whole numbers (bytes or ns) around `mean`, clamped to `low` .. `high`.

    It is `identical` (all are the mean), `normal` with the standard deviation `sd`, or
    `exponential`.
    """

    distribution: str
    low: int
    high: int
    mean: int
    sd: int = 0

    def values(self, count: int, seed: np.random.SeedSequence) -> Whole:
        """Return `count` values that follow from `seed` alone (PCG64)."""
        random = np.random.Generator(np.random.PCG64(seed))
        if self.distribution == "exponential":
            drawn = random.exponential(self.mean, count)
        else:
            drawn = random.normal(self.mean, self.sd, count)
        values: Whole = np.clip(np.rint(drawn), self.low, self.high).astype(np.int64)
        return values


@dataclass(frozen=True)
class FileSet:
    """Files by their sizes in bytes, and for how many ns each is worked on (`compute`)."""

    name: str
    count: int
    size: Draw
    compute: Draw | None = None
    seed: int = 0

    def _stream(self, what: str) -> np.random.SeedSequence:
        """Return the seed of one of the set's streams: other work leaves the files alone."""
        label = hashlib.sha256(f"{self.name} {what}".encode()).digest()
        return np.random.SeedSequence([self.seed, int.from_bytes(label[:8])])

    @cached_property
    def sizes(self) -> Whole:
        """Return the size of each file in bytes."""
        return self.size.values(self.count, self._stream("sizes"))

    @cached_property
    def compute_ns(self) -> Whole:
        """Return for how long each file is worked on, in ns; empty without a distribution."""
        if not self.compute:
            return np.empty(0, np.int64)
        return self.compute.values(self.count, self._stream("compute"))

    @property
    def native_sizes(self) -> bytes:
        """Return the sizes as the engine takes them: unsigned 64-bit, little-endian."""
        return self.sizes.astype("<u8").tobytes()

    @property
    def content_seed(self) -> int:
        """Return the seed of the files' content: sets of different names hold different bytes."""
        return int(self._stream("content").generate_state(1, np.uint64)[0])

    @property
    def bytes(self) -> int:
        """Return the bytes of all files."""
        return int(self.sizes.sum())

    @property
    def on_disk(self) -> int:
        """Return the bytes that the files take on disk, whole blocks."""
        return int((-(-self.sizes // BLOCK)).sum()) * BLOCK

    def files(self) -> dict[str, Any]:
        """Return what tells these files from others, for a file beside them and for the run."""
        size = asdict(self.size)
        return {"name": self.name, "count": self.count, "size": size, "seed": self.seed}


@lru_cache
def file_sets(profile: str) -> dict[str, FileSet]:
    """Return the file sets of a profile by name, of `sets.csv`.

    Of several numbers in a cell there is one for each profile, and the last one for those beyond
    it; a profile with no files has no such set. Without a distribution all files have the size
    `mean`.
    """
    level = [*PROFILES].index(profile)
    by_name = {}
    with Path(__file__).with_name("sets.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            name = row.pop("name")
            distribution = row.pop("distribution")
            numbers = {column: _of_profile(cell, level) for column, cell in row.items() if cell}
            if count := numbers.pop("count"):
                one_size = {"low": numbers["mean"], "high": numbers["mean"]}
                size = Draw(distribution or "identical", **(one_size | numbers))
                by_name[name] = FileSet(name, count, size, seed=SEED)
    return by_name


def own_sets(profile: str, sizes: Sequence[int], budget: int, most: int) -> dict[str, FileSet]:
    """Return a set of files of each of `sizes` (bytes), by name, the smallest files first.

    A set has at most the `budget` of the profile (bytes on disk) and `most` files; `UsageError` for
    a file beyond it.
    """
    sets = {}
    for size in sorted(set(sizes)):
        count = min(most, budget // (-(-size // BLOCK) * BLOCK))
        if not count:
            why = f"profile {profile} has {budget:,} bytes for files of one size"
            fix = "give a smaller size, a larger profile, or another --study"
            raise UsageError(f"files of {size:,} bytes are too large", why, fix)
        made = of_size(size, count)
        sets[made.name] = made
    return sets


def of_size(size: int, count: int) -> FileSet:
    """Return a set of `count` files of `size` bytes."""
    return FileSet(f"{SIZED}{size}", count, Draw("identical", size, size, size), seed=SEED)


def set_of(name: str, size_bytes: int) -> FileSet:
    """Return the set `name` whose files have `size_bytes` together; `LookupError` for no such."""
    if name.startswith(SIZED):
        size = int(name.removeprefix(SIZED))
        return of_size(size, size_bytes // size)
    for sets in map(file_sets, PROFILES):
        if name in sets and sets[name].bytes == size_bytes:
            return sets[name]
    raise LookupError(f"no profile has a set {name} of {size_bytes} bytes")


def _of_profile(cell: str, level: int) -> int:
    words = cell.split()
    return int(words[min(level, len(words) - 1)])


@dataclass
class MadeSets:
    """The sets on disk below `home`: by name what is there, and why others are not."""

    home: Path
    there: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def folder(self, name: str) -> Path:
        """Return the folder of the set `name`; raises `LabError` when it could not be made."""
        if name in self.refused:
            raise LabError(f"file set {name!r} is not there", self.refused[name], ELSEWHERE)
        return self.home / name


def free_bytes(folder: Path) -> int:
    """Return how many bytes may be written where `folder` is, or would be made."""
    return shutil.disk_usage(existing(folder)).free


def no_room(file_set: FileSet, scratch: Path) -> str | None:
    """Return why the disk below `scratch` cannot hold the set, with the fix; None when it can."""
    if _same(path_of(scratch, TAG) / file_set.name, file_set):
        return None
    have, need = free_bytes(scratch), file_set.on_disk + SLACK
    short = f"{have:,} bytes are free in {scratch} and {need:,} are needed; {ELSEWHERE}"
    return short if have < need else None


@contextmanager
def made_sets(
    scratch: Path,
    sets: Iterable[FileSet],
    engine: Any,
    say: Say,
    own: Callable[[Path], None] = lambda path: None,
) -> Iterator[MadeSets]:
    """Make every set below `scratch` that is not there yet, in order, and hold the folder.

    `own` is told of the folder before it is made. A set that does not fit is refused and the others
    are made. Raises `LabError` when the folder cannot be made or another process reads files in it.
    """
    with held_subfolder(scratch, TAG, own) as home:
        there = MadeSets(home)
        for file_set in sets:
            try:
                digest = _digest(home / file_set.name, file_set, engine, say)
            except (OSError, LabError) as error:
                # what is not whole gives its room back
                shutil.rmtree(home / file_set.name, ignore_errors=True)
                why = error.why if isinstance(error, LabError) else str(error)
                there.refused[file_set.name] = why
                say(f"file set {file_set.name}: {why}")
                continue
            about = {"bytes": file_set.bytes, "digest": digest}
            there.there[file_set.name] = file_set.files() | about
        yield there


def _telling(say: Say, line: str) -> Callable[[int], None]:
    """Return what tells how many are done, in `line`, but not more often than it is read."""
    last = time.monotonic_ns()

    def tell(done: int) -> None:
        nonlocal last
        if time.monotonic_ns() - last >= SAY_EVERY_NS:
            last = time.monotonic_ns()
            say(line.format(done))

    return tell


def remove_set(folder: Path, say: Say) -> None:
    """Delete the folder of a set, several of its folders at a time, and tell how far that is."""
    if not folder.is_dir():
        return
    parts = [part for part in folder.iterdir() if part.is_dir()]
    tell = _telling(say, f"file set {folder.name}: {{:,}} of {len(parts):,} folders are deleted")
    with ThreadPoolExecutor() as pool:
        removed = pool.map(partial(shutil.rmtree, ignore_errors=True), parts)
        for done, _ in enumerate(removed, 1):
            tell(done)
    shutil.rmtree(folder, ignore_errors=True)


def _digest(folder: Path, file_set: FileSet, engine: Any, say: Say) -> str:
    """Make missing files, all anew where somebody wrote into them; return the digest of all."""
    if not _same(folder, file_set):
        shutil.rmtree(folder, ignore_errors=True)  # files of another description
        have, need = free_bytes(folder.parent), file_set.on_disk + SLACK
        if have < need:
            raise LabError("no room", f"{have:,} bytes are free and {need:,} are needed")
        folder.mkdir(mode=0o700)
        write_whole(folder / ABOUT, dump_json(file_set.files()))
    say(f"file set {file_set.name}: {file_set.count:,} files, {file_set.bytes:,} bytes")
    threads = os.cpu_count() or 1
    tell = _telling(say, f"file set {file_set.name}: {{:,}} of {file_set.count:,} files")
    engine.make_files(str(folder), 0, file_set.native_sizes, file_set.content_seed, threads, tell)
    digest: str = engine.digest_files(str(folder), file_set.native_sizes, threads)
    noted = folder / DIGEST
    if noted.is_file() and noted.read_text() != digest:
        shutil.rmtree(folder)
        return _digest(folder, file_set, engine, say)
    write_whole(noted, digest.encode())
    return digest


def _same(folder: Path, file_set: FileSet) -> bool:
    """Tell whether the folder holds these very files, or the beginning of them."""
    with suppress(OSError):
        return (folder / ABOUT).read_bytes() == dump_json(file_set.files())
    return False
