"""One point of a study as an arm; run as a program, it makes a few launches and prints the median in ns.

So another checkout's or environment's ipclab measures what this one asks for: nothing newer than studies and their
launcher is imported here.
"""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

import numpy as np

from ipclab.errors import LabError, UsageError
from ipclab.machine import Source, Topology
from ipclab.machine.placement import missing, placements
from ipclab.paths import checkout
from ipclab.spawn.launcher import Launcher
from ipclab.studies.installed import study
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.profile import profile

EFFORT = profile("quick")
SEED = 1  # of the payloads
SECONDS, LAUNCHES = 60.0, 5  # which take less than to begin


@dataclass(frozen=True)
class Wanted:
    """The point of `study` with these levels, the first of several (its main arm); no `size` means the smallest."""

    study: str
    backend: str
    size: int | None = None
    placement: str = "same"
    levels: Mapping[str, Any] = field(default_factory=dict)

    def told(self) -> str:
        """Return what `main` takes."""
        return json.dumps(asdict(self))

    def made(self, statistic: Callable[[Any], Any] = np.median) -> Callable[[Launcher, float], float]:
        """Return what makes one launch of it within so many seconds, and returns the `statistic` of its times in ns.

        Raises `UsageError` for a point that the study has not, or that cannot be measured here.
        """
        each, topology = study(self.study), Topology.read(Source())
        effort, placed = each.effort(EFFORT), placements(topology)
        if self.placement not in placed:
            why = missing(topology).get(self.placement, "")
            raise UsageError(f"placement {self.placement!r} is not possible", why, f"there are {', '.join(placed)}")
        swept = {name: (level,) for name, level in self.levels.items()}
        points = each.points(effort, Sweep((self.size,) if self.size else None, (self.backend,), swept))
        asked = {"backend": self.backend, "placement": self.placement, **self.levels}
        asked |= {"size_bytes": self.size} if self.size else {}
        point = next((point for point in points if asked.items() <= point.key().items()), None)
        if point is None:
            raise UsageError(f"study {self.study} has no such point", self.told(), "see docs/studies.md")
        if why := each.missing(point, checkout().scratch) or "":
            raise UsageError(f"{self.backend} cannot be measured here", why)
        roles, op = each.roles(point, effort, placed[self.placement], SEED), point.primary[0]

        def launch(launcher: Launcher, seconds: float) -> float:
            site = Site(launcher, checkout().scratch, lambda *_: None, lambda *_: None, lambda *_: None)
            with each.open(site, [point], effort, SEED) as bench:
                return float(statistic(each.collect(point, bench(point, roles, seconds), SEED).times(op)))

        return launch


def main() -> None:
    """Make `LAUNCHES` of the point that the first argument tells (JSON), and print the median of their medians."""
    launch = Wanted(**json.loads(sys.argv[1])).made()
    with Launcher(checkout().ledger) as launcher:
        print(median(launch(launcher, SECONDS) for _ in range(LAUNCHES)))


if __name__ == "__main__":
    try:
        main()
    except LabError as error:
        sys.exit(str(error))
