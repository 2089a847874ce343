"""The named sweeps of the study, one for each experiment of the text, their thread counts scaled to the machine."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from ipclab.store.point import Point
from ipclab.studies import arms
from ipclab.studies.arms import Levels, table
from ipclab.studies.file_io import ARMS
from ipclab.studies.file_io.sets import Draw, file_sets

COLD = "cold"
MOST_IN_FLIGHT = 896  # files open at once; the usual limit of a process is 1,024
DEPTH = 64
FAULT_FROM = 4096
# How long a file is worked on, in ns. "0.048828 ~ 4.882812 ms, Mean(0.390625)" of the text are 50, 5,000 and 400 us
# divided by 1,024 instead of 1,000.
USUAL = Draw("normal", 50_000, 5_000_000, 400_000, 400_000)
SHORT = Draw("normal", 50_000, 2_500_000, 800_000, 400_000)
LONG = Draw("normal", 50_000, 10_000_000, 5_000_000, 400_000)
LONGEST = Draw("normal", 50_000, 20_000_000, 10_000_000, 400_000)
DRAWS = {draw.mean: draw for draw in (USUAL, SHORT, LONG, LONGEST)}
REFERENCE = 4  # threads of the text's comparison of serial with overlapped reading
MOST_THREADS = 1024
# What a thread of a mix such as `1R+3C` does: only reads; only computes; reads a file and computes it, one after the
# other; makes all the read calls it can before it computes; computes what is there before it reads more.
KINDS = {"R": "read", "C": "compute", "SYNC": "both", "RnC": "read-then-compute", "CnR": "compute-then-read"}


def parse(text: str) -> list[str]:
    """Return the role of each thread of the mix `text`; the engine refuses one in which nobody reads or computes."""
    parts = re.findall(r"(\d+)([A-Za-z]+)", text)
    return [KINDS[kind] for count, kind in parts for _ in range(int(count))]


@dataclass(frozen=True)
class Sweeps:
    """All sweeps for a machine with `cores` CPUs under the profile called `profile`."""

    profile: str
    cores: int
    own_threads: tuple[int, ...] = ()  # levels that replace the sweeps' own
    own_depths: tuple[int, ...] = ()

    @property
    def reference(self) -> int:
        """Return the threads of the comparison of serial with overlapped reading: the text's, where it fits."""
        return REFERENCE if 2 * self.cores >= REFERENCE else 2

    def _threads(self, factors: Sequence[int] = (), published: Sequence[int] = (), fixed: bool = False) -> list[int]:
        """Return the thread counts of a sweep: multiples of the cores, and the published ones up to two for each."""
        if self.own_threads and not fixed:
            return [min(count, MOST_THREADS) for count in self.own_threads]
        scaled = (min(factor * self.cores, MOST_THREADS) for factor in factors)
        return sorted({*scaled, *(count for count in published if count <= 2 * self.cores)})

    def _known(self) -> dict[str, Sequence[Any]]:
        """Return the levels that depend on the machine, the profile, or what was asked for."""
        known: dict[str, Sequence[Any]] = {
            name: self._threads(**counts) for name, counts in table(ARMS)["threads"].items()
        }
        known["serial"] = [count for count in known["serial"] if count > 1]
        known["longest"] = [count for count in known["longest"] if count > self.reference]
        files = file_sets(self.profile)["large"].count
        depths = self.own_depths or [n for n in (1, 2, 4, 8, 16, 40) if n <= min(files, 16) or n == files]
        sized = {name: each.size.mean for name, each in file_sets(self.profile).items() if name.startswith("size-")}
        return known | {
            "reference": [self.reference],
            "mixes": [mix for mix in table(ARMS)["mixes"] if len(parse(mix)) <= 2 * self.cores],
            "depths": depths,
            "ends_of_depths": [depths[0], depths[-1]],
            "flight_depths": self.own_depths or (1, 16, 256),
            "sized": list(sized),
            "of_pages": [name for name, size in sized.items() if size >= FAULT_FROM],
        }

    def points(self, backends: Container[str]) -> list[Point]:
        """Return the points of every sweep, in the order of the text."""
        return arms.points("file_io", ARMS, backends, self._whole, self._known())

    def _whole(self, levels: Levels) -> Levels:
        """Return the levels of a point with what follows from its backend, its cache, its threads and its set."""
        count, share = levels.pop("n"), levels.pop("share")
        mapped, readers = levels["backend"] == "mmap", max(1, int(count * share))
        roles = levels["roles"].format(n=count, r=readers, c=count - readers).replace("+0C", "")
        usual = {
            "direct": "yes" if levels["cache"] == COLD and not mapped else "no",
            "depth": DEPTH if levels["backend"] == "overlapped" else 1,
            "buffer": "none" if mapped else "fresh",
        }
        own = {name: level for name, level in usual.items() if levels[name] == "usual"}
        size = file_sets(self.profile)[levels["set"]].bytes
        return {**levels, **own, "roles": roles, "threads": len(parse(roles)), "size": size}

    def in_timeline(self, point: Point) -> bool:
        """Tell whether `point` is drawn as a timeline of spans."""
        levels, (some,) = point.levels, self._threads([2], fixed=True)
        half = max(1, some // 2)
        wanted = {
            "serial": levels["threads"] == self.reference and levels["compute_ns"] == SHORT.mean,
            "roles": levels["roles"] in (f"{some}RnC", f"{half}RnC+{some - half}C"),
            "map": point.backend == "mmap" and levels["threads"] == some and levels["advice"] == "none",
        }
        plain = point.placement == "free" and levels["cache"] == COLD and levels["set"] != "mixed-big"
        return plain and wanted.get(str(levels["arm"]), False)
