"""How much is measured: from seconds for a test to the published iteration counts and more."""

from dataclasses import dataclass

from ipclab.plugins import chosen

MS = 1_000_000
PLACEMENTS = ("same", "cross", "free")


@dataclass(frozen=True)
class Profile:
    """The effort of one sweep."""

    name: str
    least_launches: int  # of a point
    most_launches: int
    target: float  # width of the 95 % interval of each primary op, over the median, below which a point ends before
    budget_ns: int  # for how long about a launch samples
    least_samples: int
    most_samples: int
    placements: tuple[str, ...]
    launch_seconds: float = 30.0  # the deadline of one launch

    @property
    def samples(self) -> dict[str, int]:
        """Return the arguments that every sampling worker takes."""
        return {"budget_ns": self.budget_ns, "least": self.least_samples, "most": self.most_samples}


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("smoke", 2, 2, 0.0, 1 * MS, 3, 20, PLACEMENTS),
        Profile("quick", 5, 7, 0.10, 12 * MS, 3, 1_000, PLACEMENTS),
        Profile("standard", 10, 30, 0.05, 60 * MS, 20, 5_000, PLACEMENTS, 60.0),
        Profile("full", 20, 60, 0.03, 250 * MS, 100, 50_000, PLACEMENTS, 120.0),
    )
}


def profile(name: str) -> Profile:
    """Return the profile called `name`; raises `UsageError` with the nearest name when there is none."""
    return chosen("profile", name, PROFILES)
