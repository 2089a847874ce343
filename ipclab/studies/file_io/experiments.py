"""The named sweeps of the study: one for each experiment of the text, its thread counts scaled to the machine."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

from ipclab.store.point import Level, Point
from ipclab.studies.file_io import KIB, MIB, OP, US
from ipclab.studies.file_io.roles import MOST_THREADS, mix, threads
from ipclab.studies.file_io.sets import Draw, FileSet, identical

SEED = 4  # of all file sets: every run on every machine reads the same bytes
COLD, WARM = "cold", "warm"
CACHES = (COLD, WARM)
MOST_IN_FLIGHT = 896  # files open at once; the usual limit of a process is 1,024
DEPTH = 64
# How many files and, for the large ones, of how many bytes each: smoke, quick, standard, full (as published).
PROFILES = ("smoke", "quick", "standard", "full")
LARGE = ((4, MIB), (8, 16 * MIB), (16, 64 * MIB), (40, 512 * MIB))
MIXED, MIXED_BIG = (10, 50, 50, 50), (4, 16, 50, 50)
EXP_LARGE, EXP_SMALL = (6, 100, 2_000, 10_000), (40, 300, 3_000, 10_000)
MASSIVE, GENERAL = (100, 10_000, 100_000, 1_000_000), (50, 2_000, 100_000, 1_000_000)
CALLS = (50, 2_000, 20_000, 100_000)
# Files of one size each: bytes -> how many, and the first profile that has it.
SIZED = {
    **{512: (32, 2), 4 * KIB: (64, 0), 64 * KIB: (64, 0), 256 * KIB: (32, 2), MIB: (16, 0), 8 * MIB: (4, 1)},
    **{32 * MIB: (2, 1), 128 * MIB: (2, 2), 512 * MIB: (1, 3)},
}
FAULT_FROM = 4 * KIB
# "0.048828 ~ 4.882812 ms, Mean(0.390625)" of the text are 50, 5,000 and 400 us divided by 1,024 instead of 1,000.
USUAL = Draw("normal", 50 * US, 5_000 * US, 400 * US, 400 * US)
SHORT = Draw("normal", 50 * US, 2_500 * US, 800 * US, 400 * US)
LONG = Draw("normal", 50 * US, 10_000 * US, 5_000 * US, 400 * US)
LONGEST = Draw("normal", 50 * US, 20_000 * US, 10_000 * US, 400 * US)
DRAWS = {draw.mean: draw for draw in (USUAL, SHORT, LONG, LONGEST)}
SMALL_ROUNDS, LARGE_ROUNDS = 50, 1  # the text takes 50 checksums of a file
REFERENCE = 4  # threads of the text's comparison of serial with overlapped reading
HINTS = ("populate", "willneed", "sequential", "random")


def sized(size: int) -> str:
    """Return the name of the set whose files have `size` bytes each."""
    return f"size-{size}"


@lru_cache
def file_sets(profile: str) -> dict[str, FileSet]:
    """Return the file sets of a profile by name."""
    level = PROFILES.index(profile)
    small = Draw("exponential", KIB, MIB, 4 * KIB)
    made = [
        FileSet("large", LARGE[level][0], identical(LARGE[level][1])),
        FileSet("mixed", MIXED[level], Draw("normal", KIB, 2 * MIB, MIB, MIB // 2)),
        FileSet("mixed-big", MIXED_BIG[level], Draw("normal", KIB, 20 * MIB, 10 * MIB, 5 * MIB)),
        FileSet("exp-large", EXP_LARGE[level], Draw("exponential", KIB, 4 * MIB, 512 * KIB)),
        FileSet("exp-small", EXP_SMALL[level], small),
        FileSet("calls", CALLS[level], identical(4 * KIB)),
        FileSet("massive", MASSIVE[level], identical(4 * KIB)),
        FileSet("general", GENERAL[level], small),
        *(FileSet(sized(size), count, identical(size)) for size, (count, first) in SIZED.items() if level >= first),
    ]
    return {each.name: each.seeded(SEED) for each in made}


@dataclass(frozen=True)
class Sweeps:
    """All sweeps for a machine with `cores` CPUs under the profile called `profile`.

    `own_threads` and `own_depths` are levels that replace the sweeps' own, where a sweep varies them.
    """

    profile: str
    cores: int
    own_threads: tuple[int, ...] = ()
    own_depths: tuple[int, ...] = ()

    @cached_property
    def sets(self) -> dict[str, FileSet]:
        """Return the file sets by name."""
        return file_sets(self.profile)

    @property
    def reference(self) -> int:
        """Return the threads of the comparison of serial with overlapped reading: the text's, where it fits."""
        return REFERENCE if self.fits(REFERENCE) else 2

    def times(self, factor: int) -> int:
        """Return `factor` threads for each core, or as many as the engine takes."""
        return min(factor * self.cores, MOST_THREADS)

    def fits(self, count: int) -> bool:
        """Tell whether `count` threads say anything here: up to two for each core."""
        return count <= 2 * self.cores

    def threads(self, *published: int, factors: tuple[int, ...] = (1, 2, 4)) -> list[int]:
        """Return the thread counts of a sweep: multiples of the cores, and the published ones that fit."""
        if self.own_threads:
            return [min(count, MOST_THREADS) for count in self.own_threads]
        scaled = (self.times(factor) for factor in factors)
        return sorted({*scaled, *(count for count in published if self.fits(count))})

    def points(self) -> Iterator[Point]:
        """Yield the points of every sweep, in the order of the text."""
        yield from self.overlap()
        yield from self.serial()
        yield from self.calls()
        yield from self.flight()
        yield from self.soon()
        yield from self.ratios()
        yield from self.maps()
        yield from self.faults()
        yield from self.many("massive", (8, 16, 24, 32, 48, 64))
        yield from self.many("general", (8, 16, 24, 32))

    def overlap(self) -> Iterator[Point]:
        """Yield: large files one after the other against several in flight."""
        count = self.sets["large"].count
        depths = list(self.own_depths)
        depths = depths or [depth for depth in (1, 2, 4, 8, 16, 40) if depth <= min(count, 16) or depth == count]
        for cache in CACHES:
            for depth in depths if cache == COLD else (depths[0], depths[-1]):
                yield self._point("overlap", "overlapped", "large", cache, "1RnC", depth=depth)
            yield self._point("overlap", "sync", "large", cache, "1SYNC")

    def serial(self) -> Iterator[Point]:
        """Yield: threads that read and compute against one that reads for the others."""

        def pair(count: int, name: str, cache: str, draw: Draw, placement: str = "free") -> Iterator[Point]:
            work: dict[str, Level] = {"compute": "time", "compute_ns": draw.mean}
            for backend, roles in (("sync", f"{count}SYNC"), ("overlapped", mix((1, "R"), (count - 1, "C")))):
                yield self._point("serial", backend, name, cache, roles, placement=placement, **work)

        usual = self.reference
        for count in (count for count in self.threads(4, 5, 6, 7, 8) if count > 1):
            yield from pair(count, "mixed", COLD, SHORT)
        for count in (count for count in self.threads(5, 6, 7, 8, factors=()) if count > usual):
            yield from pair(count, "mixed", COLD, LONGEST)  # the text's table over threads
        yield from pair(usual, "mixed", COLD, SHORT, "cross")
        for name, draw in (("mixed-big", SHORT), ("mixed", LONG), ("mixed", LONGEST)):
            yield from pair(usual, name, COLD, draw)
        yield from pair(usual, "mixed", WARM, SHORT)

    def calls(self) -> Iterator[Point]:
        """Yield: what the read call costs over file size, by the state of its buffer."""
        for name in (name for name in self.sets if name.startswith("size-")):
            for buffer in ("fresh", "prefaulted", "registered"):
                yield self._point("call", "overlapped", name, COLD, "1RnC", buffer=buffer, depth=1)
            for buffer in ("fresh", "prefaulted"):
                yield self._point("call", "sync", name, WARM, "1SYNC", buffer=buffer)

    def flight(self) -> Iterator[Point]:
        """Yield: what the read call costs over calls in flight and threads."""
        for depth in self.own_depths or (1, 16, 256):
            yield self._point("flight", "overlapped", "calls", COLD, "1RnC", depth=depth)
        for count in self.threads(16, factors=(1, 4)):
            yield self._point("flight", "overlapped", "calls", COLD, f"{count}RnC", depth=256)

    def soon(self) -> Iterator[Point]:
        """Yield: all read calls as soon as possible, over threads, large and small files."""
        for name, published in (("exp-large", (1, 2, 4, 16)), ("exp-small", (4, 16, 32))):
            for cache, count in product(CACHES, self.threads(*published)):
                yield self._timed("soon", name, cache, f"{count}RnC")

    def ratios(self) -> Iterator[Point]:
        """Yield: how many threads read and how many compute."""
        some, more = self.times(2), self.times(4)
        half, most = split(some, some // 2), split(more, more // 2)
        mixes = [f"{some}RnC", half, f"{some}CnR", split(some, some // 4), split(some, 3 * some // 4)]
        mixes += [split(some, some // 2, "R"), split(some, 1, "R"), f"{more}RnC", most]
        published = [f"{count}RnC" for count in (8, 12, 14, 15, 16, 24, 32)]
        published += ["12RnC+20C", "12RnC+16C", "12RnC+12C", "8RnC+12C"]
        mixes += [text for text in published if self.fits(threads(text))]
        for text in dict.fromkeys(mixes):
            yield self._timed("roles", "exp-small", COLD, text)
        for text in dict.fromkeys((mixes[0], half)):
            yield self._timed("roles", "exp-small", WARM, text)

    def maps(self) -> Iterator[Point]:
        """Yield: memory maps against reading, small and large files, cold and warm."""
        some = self.times(2)
        for name, rounds, factors in (("exp-small", SMALL_ROUNDS, (1, 2, 4)), ("exp-large", LARGE_ROUNDS, (1, 2))):
            work: dict[str, Level] = {"compute": "checksum", "rounds": rounds}
            for cache in CACHES:
                for count in self.threads(8, 16, 24, 32, factors=factors):
                    yield self._point("map", "mmap", name, cache, f"{count}SYNC", **work)
                    yield self._point("map", "overlapped", name, cache, split(count, count // 2), depth=256, **work)
                yield self._point("map", "sync", name, cache, f"{some}SYNC", **work)
            # Through the cache, as a map reads: the text's reads went past it.
            yield self._point("map", "sync", name, COLD, f"{some}SYNC", direct="no", **work)
            mixed = split(some, some // 2)
            yield self._point("map", "overlapped", name, COLD, mixed, depth=256, direct="no", **work)
            for advice in HINTS if name == "exp-large" else HINTS[:2]:  # an order of pages needs several
                yield self._point("map", "mmap", name, COLD, f"{some}SYNC", advice=advice, **work)

    def faults(self) -> Iterator[Point]:
        """Yield: how much of a map's time its page faults take, over file size, beside reading the same files."""
        for name, each in self.sets.items():
            if not name.startswith("size-") or each.size.mean < FAULT_FROM:
                continue
            for backend, cache in product(("mmap", "sync"), CACHES):
                work: dict[str, Level] = {"compute": "checksum", "rounds": LARGE_ROUNDS}
                yield self._point("fault", backend, name, cache, "1SYNC", **work)

    def many(self, name: str, published: tuple[int, ...]) -> Iterator[Point]:
        """Yield: very many files of one page, or of sizes as they come."""
        work: dict[str, Level] = {"compute": "checksum", "rounds": LARGE_ROUNDS}
        some = self.times(2)
        reads = sorted({some, *(count for count in published if self.fits(count))})
        for cache in CACHES:
            every = self.threads(*published) if cache == COLD or name == "general" else [some]
            for count in every:
                yield self._point(name, "mmap", name, cache, f"{count}SYNC", **work)
            for count in reads if cache == COLD or name == "general" else [some]:
                yield self._point(name, "overlapped", name, cache, split(count, count // 2), depth=256, **work)
        if name == "massive":
            yield self._point(name, "overlapped", name, COLD, f"{some}RnC", depth=256, **work)

    def _timed(self, arm: str, name: str, cache: str, roles: str) -> Point:
        work: dict[str, Level] = {"compute": "time", "compute_ns": USUAL.mean, "depth": 256}
        return self._point(arm, "overlapped", name, cache, roles, **work)

    def _point(self, arm: str, backend: str, name: str, cache: str, roles: str, **levels: Level) -> Point:
        placement = str(levels.pop("placement", "free"))
        past = cache == COLD and backend != "mmap"  # a map cannot read past the cache
        usual: dict[str, Level] = {
            **{"arm": arm, "cache": cache, "direct": "yes" if past else "no", "set": name},
            **{"roles": roles, "threads": threads(roles), "depth": DEPTH if backend == "overlapped" else 1},
            **{"buffer": "none" if backend == "mmap" else "fresh", "advice": "none"},
            **{"compute": "none", "compute_ns": 0, "rounds": 0},
        }
        block = f"file-io-{arm}-{name}-{cache}"
        return Point("file_io", backend, self.sets[name].bytes, placement, usual | levels, block, (OP,))

    def in_timeline(self, point: Point) -> bool:
        """Tell whether `point` is drawn as a timeline of spans."""
        levels, some = point.levels, self.times(2)
        wanted = {
            "serial": levels["threads"] == self.reference and levels["compute_ns"] == SHORT.mean,
            "roles": levels["roles"] in (f"{some}RnC", split(some, some // 2)),
            "map": point.backend == "mmap" and levels["threads"] == some and levels["advice"] == "none",
        }
        plain = point.placement == "free" and levels["cache"] == COLD and levels["set"] != "mixed-big"
        return plain and wanted.get(str(levels["arm"]), False)


def split(count: int, readers: int, kind: str = "RnC") -> str:
    """Return the mix of `count` threads of which `readers` (at least one) read; the others compute."""
    readers = max(1, readers)
    if kind == "R" and count == readers:
        kind = "RnC"  # nobody is left to compute
    return mix((readers, kind), (count - readers, "C"))
