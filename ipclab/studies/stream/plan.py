"""What both ends of a stream agree on: a point's levels, the names of what they keep, and a phase."""

from dataclasses import dataclass
from struct import Struct

SENT, RECEIVED = "sent", "received"
SEQUENCES, STAMPS, DUE, STARTS = "sequences", "stamps", "due", "starts"  # handed over as samples, for `collect` alone
NUMBER = Struct("=q")  # with which a message begins; `END` stands in the one after the last
END = -1
PROOF_MESSAGES = 3
ANSWER = b"."
FILL_NS = 20_000_000  # how long the producer waits for room


@dataclass(frozen=True)
class Plan:
    """What both ends of a stream must know: a point's levels, and how much is measured."""

    backend: str
    size: int
    seed: int
    consumers: int
    sharing: str
    window: int
    batch: int
    work_ns: int
    rate: int
    load: int
    stall_ns: int
    fill: bool
    open_ns: int
    budget_ns: int
    least: int
    most: int


@dataclass(frozen=True)
class Phase:
    """A phase of `count` messages, by this process's clock."""

    count: int
    begun: int
    ended: int

    @property
    def each_ns(self) -> float:
        """Return how long each message took."""
        return (self.ended - self.begun) / self.count
