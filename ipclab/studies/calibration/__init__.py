"""What the comparisons of a run are worth: identical code under several names, and planted slow-downs, in every run.

They are launched in the run's own rounds and judged as its own contests are.
"""

from dataclasses import replace

from ipclab.stats.family import LOOKS
from ipclab.store.point import Point
from ipclab.studies.calibration.echo import EXCHANGES, OP, SIZE
from ipclab.studies.interface import Placement, Profile, Role, Study, Sweep

__all__ = ["EXCHANGES", "OP", "SIZE", "CalibrationStudy", "roles"]
HERE = "ipclab.studies.calibration.echo"
MOST_LAUNCHES = LOOKS[1]  # identical code would else take the time of questions that can be decided


def roles(exchanges: int, profile: Profile, placement: Placement) -> list[Role]:
    """Return the echoing and the asking process."""
    asking = {"exchanges": exchanges, **profile.samples}
    ends: tuple[tuple[str, str, dict[str, int]], ...] = ("server", "serve", {}), ("client", "ask", asking)
    return [Role(name, f"{HERE}:{run}", told, placement.role(index)) for index, (name, run, told) in enumerate(ends)]


class CalibrationStudy(Study):
    """Contests of three, six and nine copies of one echo and three slower ones, in each pinned placement."""

    name = "calibration"
    payloads_shared = 0
    sized = False
    mechanisms = (*(f"echo-{number + 1}" for number in range(9)), "echo-slower")

    def effort(self, profile: Profile) -> Profile:
        """Return the profile with launches for the second look at most."""
        return replace(profile, most_launches=min(profile.most_launches, MOST_LAUNCHES))

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        """Return the copies and the slower ones; of a profile whose launches decide nothing the least contest."""
        pinned = [name for name in ("same", "cross") if name in profile.placements]
        found = self.of_arms(self.mechanisms, pinned=pinned)
        least = min(int(point.levels["copies"]) for point in found)
        return [point for point in found if profile.most_launches >= LOOKS[0] or point.levels["copies"] == least]

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the echoing and the asking process."""
        return roles(int(point.levels["exchanges"]), profile, placement)
