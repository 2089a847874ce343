"""What the comparisons of a run are worth: identical code under several names, and planted
slow-downs, in every run.

They are launched in the run's own rounds and judged as its own contests are.
"""

from dataclasses import replace

from ipclab.stats.family import HEAT_LOOKS
from ipclab.store.point import Point
from ipclab.studies.calibration.echo import EXCHANGES, OP, SIZE, USUAL
from ipclab.studies.interface import Placement, Profile, Role, Study, Sweep

__all__ = ["EXCHANGES", "OP", "SIZE", "CalibrationStudy", "roles"]
HERE = "ipclab.studies.calibration.echo"
# identical code would else take the time of questions that can be decided
MOST_LAUNCHES = HEAT_LOOKS[1]
# Of twins in each placement, by profile; no two share a contestant, so that each errs by itself.
PAIRS = {"quick": 4, "standard": 6, "full": 8}


def roles(
    exchanges: int, profile: Profile, placement: Placement, backend: str = USUAL
) -> list[Role]:
    """Return the echoing and the asking process, which exchange through `backend`."""
    asking = {"exchanges": exchanges, "backend": backend, **profile.samples}
    serving = Role("server", f"{HERE}:serve", {"backend": backend}, placement.role(0))
    return [serving, Role("client", f"{HERE}:ask", asking, placement.role(1))]


class CalibrationStudy(Study):
    """Pairs of one echo under two names, each with a slower one, in each pinned placement."""

    name = "calibration"
    payloads_shared = 0
    sized = False
    mechanisms = ("echo-a", "echo-b", "echo-slower")

    def effort(self, profile: Profile) -> Profile:
        """Return the profile with launches for the second look at most."""
        return replace(profile, most_launches=min(profile.most_launches, MOST_LAUNCHES))

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        """Return the twins and the slower ones; of a profile whose launches decide nothing one
        pair.
        """
        pinned = [name for name in ("same", "cross") if name in profile.placements]
        pairs = range(1, 1 + PAIRS.get(profile.name, 1))
        return self.of_arms(self.mechanisms, pinned=pinned, pairs=list(pairs))

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the echoing and the asking process."""
        return roles(int(point.levels["exchanges"]), profile, placement)
