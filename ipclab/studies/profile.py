"""How much is measured: from seconds for a test to the published iteration counts and more."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ipclab.paths import table_beside
from ipclab.plugins import chosen
from ipclab.store.questions import PLACEMENTS, RUN_PROFILES

TAIL_SAMPLES, TAIL_NS = 10_000, 1_000_000_000  # ten of so many lie above the p99.9


@dataclass(frozen=True)
class Profile:
    """How much is measured: a profile that is named, or the effort that a study takes of it."""

    name: str
    # of a point; in a contest it gets what telling its mechanisms apart needs
    least_launches: int
    # of a point that no contest compares: enough for a value with its interval
    least_values: int
    most_launches: int
    seconds: float  # of measuring: see `more_seconds`
    # how much two mechanisms that count as the same may differ (a share): what the launches resolve
    same: float
    turns: int  # of a launch that are recorded
    turn_ns: int  # for how long about a turn samples
    least_samples: int  # of a turn
    most_samples: int
    budget_ns: int  # for how long about a launch samples that takes no turns
    warm_ns: int = 60_000_000  # until CPUs that sleep between turns are in the state that lasts
    placements: tuple[str, ...] = PLACEMENTS
    # of measuring beyond `seconds`, for first launches, and for others while too much is open
    more_seconds: float = 0.0
    open: float = 1.0  # how much is not too much: a share of all comparisons
    launch_seconds: float = 30.0  # the deadline of one launch
    # with fewer levels, and without what studies leave out of it for the sake of all else
    brief: bool = False
    # only what the texts ran, as often as they did: see `Study.of_text`
    as_texts: bool = False

    @property
    def samples(self) -> dict[str, int]:
        """Return the arguments of every worker that takes turns: how much it samples in one."""
        return {"budget_ns": self.turn_ns, "least": self.least_samples, "most": self.most_samples}

    @property
    def pinned(self) -> list[str]:
        """Return the placements that leave nothing to the scheduler."""
        return [name for name in self.placements if name != "free"]

    def tailed(self) -> "Profile":
        """Return this effort with samples for a launch's p99.9, unless they take too long."""
        turn_ns = max(self.turn_ns, -(-TAIL_NS // self.turns))
        most = max(self.most_samples, TAIL_SAMPLES)
        return replace(
            self, budget_ns=max(self.budget_ns, TAIL_NS), turn_ns=turn_ns, most_samples=most
        )

    def with_own(self, own: Mapping[str, Any]) -> "Profile":
        """Return this effort with the fields among a study's `own`; longer turns stay so."""
        changed = {each.name: own[each.name] for each in fields(self) if each.name in own}
        changed["turn_ns"] = max(self.turn_ns, own.get("turn_ns", 0))
        return replace(self, **changed)

    def exactly(self, launches: int) -> "Profile":
        """Return this effort with so many launches of each point, no more and no fewer."""
        return replace(self, least_launches=launches, least_values=launches, most_launches=launches)


PROFILES = {
    name: Profile(name, **{**RUN_PROFILES[name]._asdict(), **values})
    for name, values in table_beside(__file__, "profiles.toml").items()
}


def profile(name: str) -> Profile:
    """Return the profile called `name`; `UsageError` with the nearest name when there is none."""
    return chosen("profile", name, PROFILES)
