"""How much is measured: from seconds for a test to the published iteration counts and more."""

from dataclasses import dataclass, replace
from pathlib import Path

from ipclab.plugins import chosen
from ipclab.studies.arms import table

TAIL_SAMPLES, TAIL_NS = 10_000, 1_000_000_000  # ten of so many lie above the p99.9
PLACEMENTS = ("same", "cross", "free")


@dataclass(frozen=True)
class Profile:
    """The effort of one sweep."""

    name: str
    least_launches: int  # of a point; one that takes part in a contest gets what telling its mechanisms apart needs
    most_launches: int
    seconds: float  # of measuring, after which no question that is still open gets more launches
    same: float  # how much two mechanisms that count as the same may differ (a share): what so many launches resolve
    budget_ns: int  # for how long about a launch samples
    least_samples: int
    most_samples: int
    placements: tuple[str, ...] = PLACEMENTS
    launch_seconds: float = 30.0  # the deadline of one launch

    @property
    def samples(self) -> dict[str, int]:
        """Return the arguments that every sampling worker takes."""
        return {"budget_ns": self.budget_ns, "least": self.least_samples, "most": self.most_samples}

    def tailed(self) -> "Profile":
        """Return this effort with samples enough for the p99.9 of a launch, where they do not take too long."""
        return replace(self, budget_ns=max(self.budget_ns, TAIL_NS), most_samples=max(self.most_samples, TAIL_SAMPLES))

    def exactly(self, launches: int) -> "Profile":
        """Return this effort with so many launches of each point, no more and no fewer."""
        return replace(self, least_launches=launches, most_launches=launches)


PROFILES = {row["name"]: Profile(**row) for row in table(Path(__file__).with_name("profiles.toml"))["profile"]}


def profile(name: str) -> Profile:
    """Return the profile called `name`; raises `UsageError` with the nearest name when there is none."""
    return chosen("profile", name, PROFILES)
