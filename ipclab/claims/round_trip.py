"""The claims of the round-trip text (seed 003) as rules; its figures are in `data/published/003_round_trip.csv`."""

from collections.abc import Sequence
from itertools import product

from ipclab.claims.claim import Claim, Facts, Quantity, Rule, at_least, at_most, take
from ipclab.facts.fact import Fact
from ipclab.facts.round_trip import PLACEMENTS, SIZE_NAMES
from ipclab.report.catalogue import N_

NAMES = tuple(SIZE_NAMES.values())
SHM, ZMQ = "posix-shm", "zmq-ipc"
ABOVE_ONE = 1.0 + 1e-9
SMALL_NS = 80_680.0
FAIRLY = N_("both placements, medians of interleaved launches, every byte verified")


def mean(facts: Facts, backend: str, size: str) -> Quantity:
    """Return the mean round trip by the published method, processes on two CPUs."""
    return take(facts, f"round_trip.published.{backend}.cross.{size}")


def slower(facts: Facts) -> Sequence[Quantity]:
    """Return for each size how many times as long ZeroMQ takes."""
    return [mean(facts, ZMQ, size) / mean(facts, SHM, size) for size in NAMES]


def growth(over: str, under: str) -> Rule:
    """Return how shared memory's round trip grows from size `under` to size `over`."""
    return lambda facts: [mean(facts, SHM, over) / mean(facts, SHM, under)]


def main(facts: Facts, backend: str, placement: str, size: str) -> Quantity:
    """Return the median round trip of interleaved launches whose every byte was verified."""
    return take(facts, f"round_trip.{backend}.{placement}.{size}")


def slower_fairly(facts: Facts) -> Sequence[Quantity]:
    """Return for each placement and size how many times as long ZeroMQ takes."""
    cells = product(PLACEMENTS, NAMES)
    return [main(facts, ZMQ, place, size) / main(facts, SHM, place, size) for place, size in cells]


def growth_fairly(over: str, under: str) -> Rule:
    """Return how shared memory's round trip grows from size `under` to size `over`, in both placements."""
    return lambda facts: [main(facts, SHM, place, over) / main(facts, SHM, place, under) for place in PLACEMENTS]


def throughput(facts: Facts) -> Sequence[Quantity]:
    """Return for how many sizes the throughput is given."""
    names = [f"round_trip.published.{SHM}.cross.{size}.round_trips_per_second" for size in NAMES]
    given = sum(name in facts and facts[name].value is not None for name in names)
    return [Quantity(given, given, given)]


def _figures(**values: tuple[float, str]) -> dict[str, Fact]:
    return {name: Fact(name, value, unit, kind="published") for name, (value, unit) in values.items()}


def _claim(number: str, quote: str, meaning: str, **rest: object) -> Claim:
    return Claim(number, "003", "Results", "en", quote, meaning, **rest)  # type: ignore[arg-type]


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "3.1",
        "SHM POSIX: 80.68 μs/call, ZeroMQ IPC: 275.65 μs/call (241.7% slower)",
        N_("Shared memory is faster than ZeroMQ at every size."),
        quantities=slower,
        bounds=at_least(ABOVE_ONE),
        fair=slower_fairly,
        adds=FAIRLY,
    ),
    _claim(
        "3.2",
        "241.7% slower, 207.5% slower, 298.1% slower, 227.3% slower",
        N_("ZeroMQ takes about three times as long at every size (between {low:x} and {high:x})."),
        quantities=slower,
        bounds=(2.5, 5.0),
        figures=_figures(low=(2.5, "1"), high=(5.0, "1")),
        fair=slower_fairly,
        adds=FAIRLY,
    ),
    _claim(
        "3.3",
        "SHM POSIX: 80.68 μs/call",
        N_("A round trip of {size} through shared memory takes {time:us} (within a factor of {factor:int})."),
        quantities=lambda facts: [mean(facts, SHM, "small")],
        bounds=(SMALL_NS / 2, SMALL_NS * 2),
        unit="ns",
        figures=_figures(size=(100, "B"), time=(SMALL_NS, "ns"), factor=(2, "1")),
        fair=lambda facts: [main(facts, SHM, place, "small") for place in PLACEMENTS],
        adds=FAIRLY,
    ),
    _claim(
        "3.4",
        "SHM POSIX: 80.68 μs/call, SHM POSIX: 91.58 μs/call",
        N_("From {small} to {medium} a round trip through shared memory grows by at most {high:pct,int}."),
        quantities=growth("medium", "small"),
        bounds=at_most(1.25),
        figures=_figures(small=(100, "B"), medium=(10_000, "B"), high=(0.25, "share")),
        fair=growth_fairly("medium", "small"),
        adds=FAIRLY,
    ),
    _claim(
        "3.5",
        "SHM POSIX: 190.64 μs/call, SHM POSIX: 781.57 μs/call",
        N_("From {large} to {largest} a round trip through shared memory grows to between {low:x} and {high:x}."),
        quantities=growth("largest", "large"),
        bounds=(3.0, 5.0),
        figures=_figures(large=(500_000, "B"), largest=(2_000_000, "B"), low=(3, "1"), high=(5, "1")),
        fair=growth_fairly("largest", "large"),
        adds=FAIRLY,
    ),
    _claim(
        "3.6",
        "Throughput: Operations per second (ops/s)",
        N_("Throughput is reported for every size."),
        quantities=throughput,
        bounds=at_least(len(NAMES)),
        unit="count",
    ),
)
