"""What both ends of a stream must know before they begin."""

from dataclasses import dataclass

from ipclab.spawn.loops import fitting


@dataclass(frozen=True)
class StreamPlan:
    """What both ends of a stream must know: a point's levels, and how long a turn is."""

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
    sleeps: bool  # until a message is due, so that the CPU time is that of messages alone
    open_ns: int
    budget_ns: int
    least: int
    most: int

    @property
    def opens(self) -> bool:
        """Tell whether messages follow a schedule, whatever became of those before."""
        return bool(self.rate or self.load)

    def period_ns(self, slowest_ns: float) -> int:
        """Return how far apart messages are due in an open loop (ns).

        One takes `slowest_ns` in a closed one.
        """
        return round(1e9 / self.rate if self.rate else slowest_ns * 100 / self.load)

    def messages(self, slowest_ns: float, period_ns: int) -> int:
        """Return how many messages a turn has: one takes so long, or is due every `period_ns`."""
        if period_ns:
            return max(self.least, self.open_ns // period_ns)
        count = fitting(round(slowest_ns), self.budget_ns, self.least, self.most)
        return count + -count % max(1, self.window)  # the last window is whole, too
