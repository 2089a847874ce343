"""File sets: how many files of what sizes, and how long each is worked on; the same for the same seed."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ipclab.studies.arms import table
from ipclab.studies.file_io import ARMS

Whole = np.ndarray[tuple[int], np.dtype[np.int64]]
SEED = 4  # of all file sets: every run on every machine reads the same bytes
PROFILES = ("smoke", "quick", "standard", "full")
BLOCK = 4096  # what a file takes on disk is a multiple of this


@dataclass(frozen=True)
class Draw:
    """A distribution of whole numbers (bytes or ns) around `mean`, each then clamped to `low` .. `high`.

    It is `identical` (all are the mean), `normal` with the standard deviation `sd`, or `exponential`.
    """

    distribution: str
    low: int
    high: int
    mean: int
    sd: int = 0

    def values(self, count: int, seed: np.random.SeedSequence) -> Whole:
        """Return `count` values that follow from `seed` alone (PCG64)."""
        random = np.random.Generator(np.random.PCG64(seed))
        draws: dict[str, Callable[[], Any]] = {
            "identical": lambda: np.full(count, self.mean),
            "normal": lambda: random.normal(self.mean, self.sd, count),
            "exponential": lambda: random.exponential(self.mean, count),
        }
        found: Whole = np.clip(np.rint(draws[self.distribution]()), self.low, self.high).astype(np.int64)
        return found


@dataclass(frozen=True)
class FileSet:
    """Files by their sizes in bytes, and for how many ns each is worked on; they are the same with other `compute`."""

    name: str
    count: int
    size: Draw
    compute: Draw | None = None
    seed: int = 0

    def _stream(self, what: str) -> np.random.SeedSequence:
        """Return the seed of one of the set's streams: changing the compute times leaves the files as they are."""
        label = hashlib.sha256(f"{self.name} {what}".encode()).digest()
        return np.random.SeedSequence([self.seed, int.from_bytes(label[:8])])

    @cached_property
    def sizes(self) -> Whole:
        """Return the size of each file in bytes."""
        return self.size.values(self.count, self._stream("sizes"))

    @cached_property
    def compute_ns(self) -> Whole:
        """Return for how long each file is worked on, in ns; empty without a distribution."""
        return self.compute.values(self.count, self._stream("compute")) if self.compute else np.empty(0, np.int64)

    @property
    def native_sizes(self) -> bytes:
        """Return the sizes as the native engine takes them: unsigned 64-bit, little-endian."""
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
        return {"name": self.name, "count": self.count, "size": asdict(self.size), "seed": self.seed}

    def to_json(self) -> str:
        """Return the whole set as text."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "FileSet":
        """Return the set that `to_json` wrote."""
        about = json.loads(text)
        compute = Draw(**about["compute"]) if about["compute"] else None
        return cls(**{**about, "size": Draw(**about["size"]), "compute": compute})


@lru_cache
def file_sets(profile: str) -> dict[str, FileSet]:
    """Return the file sets of a profile by name."""
    found, level = {}, PROFILES.index(profile)
    for row in table(ARMS)["set"]:
        chosen = {name: value[level] if isinstance(value, list) else value for name, value in row.items()}
        name, count, mean = (chosen.pop(key) for key in ("name", "count", "mean"))
        if count:
            size = Draw(**{"distribution": "identical", "low": mean, "high": mean, "mean": mean, **chosen})
            found[name] = FileSet(name, count, size, seed=SEED)
    return found
