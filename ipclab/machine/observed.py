"""What was observed of a machine, and what is found in it: each finding has its state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ipclab.machine.facts import Value

FIT, NOTE, RESERVATION = "fit", "note", "reservation"
US = 1_000
Noise = dict[str, float | None]


class Finding(NamedTuple):
    """One observation: what was `seen`; if it is `wrong`, its `effect`, `source` and `fix`."""

    name: str
    wrong: Any
    seen: str
    effect: str
    source: str
    fix: str
    state_if_wrong: str = RESERVATION

    @property
    def state(self) -> str:
        """Return how fit the machine is in this: `FIT`, `NOTE` or `RESERVATION`."""
        return self.state_if_wrong if self.wrong else FIT


@dataclass(frozen=True)
class Observed:
    """What a finding may look at.

    `facts` are the machine's, `present` tells which parts of the software are there, `need` is the
    shared memory (bytes) of the largest point, `shm_fault` why /dev/shm cannot be used, `alone`
    whether MPI's daemon can have a network of its own (None: unknown), and `times` (ns) are limits
    measured in a run, which `measured_on` names.
    """

    facts: Mapping[str, Value]
    noise: Noise
    present: Mapping[str, bool]
    need: int = 0
    shm_fault: str = ""
    alone: bool | None = None
    times: Mapping[str, float] = field(default_factory=dict)
    measured_on: str = "no run"

    def fact(self, name: str) -> Any:
        """Return a fact of the machine, None where it is not told."""
        return self.facts.get(name)

    def took(self, limit: str) -> str:
        """Return how long a limit took, in words."""
        ns = self.times.get(limit)
        if ns is None:
            return "an unknown time"
        return f"{ns / US:.1f} us" if ns >= US else f"{ns:.0f} ns"
