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
from ipclab.spawn.launcher import Launcher, Role
from ipclab.studies.installed import study
from ipclab.studies.interface import Outcome, Study, Sweep
from ipclab.studies.profile import profile

EFFORT = "quick"
SEED = 1  # of the payloads
SECONDS, LAUNCHES = 60.0, 5  # which take less than to begin
Made = tuple[list[Role], Callable[[dict[str, Outcome]], float]]


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

    def made(self, statistic: Callable[[Any], Any] = np.median) -> Made:
        """Return the processes of a launch of it, and what reads the `statistic` of its samples in ns.

        Raises `UsageError` for a point that the study has not, or that cannot be measured here alone.
        """
        each, effort = study(self.study), profile(EFFORT)
        topology = Topology.read(Source())
        placed = placements(topology)
        if self.placement not in placed:
            why = missing(topology).get(self.placement, "")
            raise UsageError(f"placement {self.placement!r} is not possible", why, f"there are {', '.join(placed)}")
        if type(each).open is not Study.open:
            raise UsageError(
                f"a point of study {self.study} cannot be launched alone", "", "measure it: ipclab measure"
            )
        sweep = Sweep(
            (self.size,) if self.size else None,
            (self.backend,),
            {name: (level,) for name, level in self.levels.items()},
        )
        fitting = (point for point in each.points(effort, sweep) if self._fits(point.key()))
        if (point := next(fitting, None)) is None:
            raise UsageError(
                f"study {self.study} has no such point", self.told(), "see ipclab backends, docs/studies.md"
            )
        if refused := each.missing(point, checkout().scratch):
            raise UsageError(f"{self.backend} cannot be measured here", refused)
        roles, (op, *_) = each.roles(point, each.effort(effort), placed[self.placement], SEED), point.primary

        def read(outcomes: dict[str, Outcome]) -> float:
            return float(statistic(each.collect(point, outcomes, SEED).times(op)))

        return roles, read

    def _fits(self, key: Mapping[str, Any]) -> bool:
        asked = {"backend": self.backend, "placement": self.placement, **self.levels}
        asked |= {"size_bytes": self.size} if self.size else {}
        return all(name in key and str(key[name]) == str(level) for name, level in asked.items())


def main() -> None:
    """Make `LAUNCHES` of the point that the first argument tells (JSON), and print the median of their medians."""
    roles, read = Wanted(**json.loads(sys.argv[1])).made()
    with Launcher(checkout().ledger) as launcher:
        print(median(read(launcher.launch(roles, SECONDS)) for _ in range(LAUNCHES)))


if __name__ == "__main__":
    try:
        main()
    except LabError as error:
        sys.exit(str(error))
