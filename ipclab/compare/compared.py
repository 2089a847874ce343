"""The whole comparison of any number of runs: the first one with each other one."""

from collections.abc import Sequence
from dataclasses import dataclass

from ipclab.errors import UsageError
from ipclab.compare.difference import Differences, differences
from ipclab.compare.normalised import Normalised, normalised
from ipclab.machines.ranks import Rankings, rankings
from ipclab.compare.shared import RunData
from ipclab.compare.verdicts import Pairing, pairing

LEAST = 2


@dataclass(frozen=True)
class Compared:
    """What is known about `runs`; each list has an entry for each run after the first."""

    runs: Sequence[RunData]
    differences: Differences
    pairings: list[Pairing]
    normalised: list[list[Normalised]]
    rankings: list[Rankings]

    def names(self) -> list[str]:
        """Return what each run is called here: A, B, ... and after Z by number."""
        return [chr(ord("A") + k) if k < 26 else f"R{k + 1}" for k in range(len(self.runs))]  # noqa: PLR2004


def check(runs: Sequence[str]) -> None:
    """Raise `UsageError` unless the runs called `runs` can be compared: two or more, each once."""
    if len(runs) < LEAST:
        raise UsageError("a comparison needs two runs", f"there are {len(runs)}", "give the folders of two or more")
    if len(set(runs)) < len(runs):
        raise UsageError("a run cannot be compared with itself", "", "give each run once")


def compare(runs: Sequence[RunData]) -> Compared:
    """Return the comparison of `runs`; raises `UsageError` for fewer than two, or for a run with itself."""
    check([run.id for run in runs])
    first, *others = runs
    pairings = [pairing(first, other) for other in others]
    return Compared(
        runs,
        differences([run.about for run in runs]),
        pairings,
        [normalised(each) for each in pairings],
        [rankings(first, other) for other in others],
    )
