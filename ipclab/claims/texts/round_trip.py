"""shm-rpc-bridge, transport benchmark, in English (text 003): what it claims, and what it derives."""

from contextlib import suppress

from ipclab.claims.claim import Text
from ipclab.claims.extremes import least_and_most, matched
from ipclab.claims.numbers import ALL, Level, Numbers, Values, each, listed, only
from ipclab.frames.address import MissingError
from ipclab.stats.quantity import Quantity, of
from ipclab.words.catalogue import N_

SIZES = [100, 10000, 500000, 2000000]
SHARED, ZMQ = "shm-rpc-bridge", "zmq-ipc"
OURS = "posix-shm"  # by the fair method
text = Text(
    "003",
    "round_trip",
    N_("shm-rpc-bridge, transport benchmark, in English"),
    "en",
    printed={"mean": "round-trip.mean", "total": "launch.total_ns"},
)
PLACED = N_(
    "every placement that was measured, medians of interleaved launches, messages numbered and a"
    " share compared whole"
)

# Arms and placements as near to the text as a run has them: all 50,000 round trips, fewer; the text
# pins nothing, so on CPUs that the kernel chooses, else on two.
WAYS = ("whole", "free"), ("published", "free"), ("published", "cross")


def trips(run: Numbers, backend: str, sizes: list[int]) -> Values:
    """Return mean round trips by the published program, in the first of `WAYS` that has intervals.

    Where none has, they are those of the first that was measured.
    """
    levels: dict[str, Level] = {"backend": backend, "size_bytes": sizes}
    measured = []
    for arm, placement in WAYS:
        with suppress(MissingError):
            found = run.each("round-trip", "mean", arm=arm, placement=placement, **levels)
            if not any(value.says_nothing for value in found):
                return found
            measured.append(found)
    if not measured:
        raise MissingError(f"{run.study}.round-trip[arm=published].mean")
    return measured[0]


def slower(run: Numbers) -> Values:
    """Return a round trip through ZeroMQ over one through shared memory, at each size."""
    return listed(
        only(trips(run, ZMQ, [size])) / only(trips(run, SHARED, [size])) for size in SIZES
    )


def placed(run: Numbers, backend: str, size: Level) -> Values:
    """Return median round trips of ours in every placement that was measured."""
    return run.each("round-trip", arm="main", backend=backend, placement=ALL, size_bytes=size)


def slower_placed(run: Numbers) -> Values:
    """Return a round trip through ZeroMQ over one through ours, at each size and placement."""
    return matched(placed(run, ZMQ, SIZES), placed(run, OURS, SIZES))


def grown_placed(run: Numbers, large: int, small: int) -> Values:
    """Return a larger message of ours over a smaller one, in every placement of both."""
    return matched(placed(run, OURS, large), placed(run, OURS, small))


def grown_as_published(run: Numbers, large: int, small: int) -> Quantity:
    """Return a larger message over a smaller one by the published program."""
    means = trips(run, SHARED, [small, large])
    found: Quantity = means[large] / means[small]
    return found


def throughputs(table: Numbers) -> Quantity:
    """Return how many numbers of throughput the text prints."""
    return of((table.frames[table.study].metric == "round_trips_per_second").sum())


text.claim(
    "3.1",
    "Example Results",
    "SHM POSIX: 80.68 μs/call, ZeroMQ IPC: 275.65 μs/call (241.7% slower)",
    "above 1",
    N_("Shared memory is faster than ZeroMQ at every size."),
    here=slower,
    fair=slower_placed,
    adds=PLACED,
)
text.claim(
    "3.2",
    "Example Results",
    "241.7% slower, 207.5% slower, 298.1% slower, 227.3% slower",
    "between 3.075 and 3.981 rounded",
    N_("ZeroMQ takes {low:pct} to {high:pct} longer than shared memory at every size."),
    figures={"low": "207.5 %", "high": "298.1 %"},
    here=slower,
    fair=slower_placed,
    adds=PLACED,
)
text.claim(
    "3.3",
    "Example Results",
    "SHM POSIX: 80.68 μs/call",
    "exactly 80.68 us rounded",
    N_("A round trip of {size} through shared memory takes {time:us}."),
    figures={"size": "100 B", "time": "80.68 us"},
    here=lambda run: trips(run, SHARED, [100]),
    untestable=N_("needs the machine of the text, which it does not name"),
)
text.claim(
    "3.4",
    "Example Results",
    "SHM POSIX: 80.68 μs/call, SHM POSIX: 91.58 μs/call",
    "at_most 1.25",
    N_(
        "From {small} to {medium} a round trip through shared memory grows by at most"
        " {high:pct,int}."
    ),
    figures={"small": "100 B", "medium": "10000 B", "high": "25 %"},
    here=lambda run: grown_as_published(run, 10000, 100),
    fair=lambda run: grown_placed(run, 10000, 100),
    adds=PLACED,
)
text.claim(
    "3.5",
    "Example Results",
    "SHM POSIX: 190.64 μs/call, SHM POSIX: 781.57 μs/call",
    "between 3.2 and 5",
    N_(
        "From {large} to {largest} a round trip through shared memory grows to between {low:x}"
        " and {high:x}."
    ),
    figures={"large": "500000 B", "largest": "2 MB", "low": 3.2, "high": 5},
    here=lambda run: grown_as_published(run, 2000000, 500000),
    fair=lambda run: grown_placed(run, 2000000, 500000),
    adds=PLACED,
)
text.claim(
    "3.6",
    "Metrics Reported",
    "Throughput: Operations per second (ops/s)",
    "at_least 4",
    N_("Throughput is reported for every size (the numbers of it among the text's results)."),
    here=throughputs,
    untestable=N_("needs the text's program: what that prints is not measured here"),
)

# What the text derives from its own numbers.


def means(table: Numbers, backend: Level) -> Values:
    """Return the printed means."""
    return table.each("round-trip", "mean", backend=backend, size_bytes=ALL)


text.derive(
    N_("the same number, rounded"),
    each("text", "size_label", size_bytes=ALL),
    each("text", "size", size_bytes=ALL),
)
text.derive(
    N_("the mean times the iterations"),
    each("launch", "total_ns", backend=ALL, size_bytes=ALL),
    lambda table: means(table, ALL) * table.one("text", "iterations"),
)
text.derive(
    N_("how much longer one mean is than the other"),
    each("text", "slower", size_bytes=ALL),
    lambda table: means(table, ZMQ) / means(table, SHARED) - 1,
)
text.derive(N_("the same number, rounded"), each("text", "buffer_label"), each("text", "buffer"))

# Sentences that can stand in place of claims.

SIZE = of(100).as_unit("B")
text.correct(
    "3.2",
    own=N_("ZeroMQ takes {low:x} to {high:x} as long as shared memory."),
    own_values=lambda table: least_and_most(slower(table)),
    here=N_(
        "By the fair method ZeroMQ takes {low:x} to {high:x} as long as shared memory, over all"
        " sizes and placements measured."
    ),
    here_values=lambda run: least_and_most(slower_placed(run)),
)
text.correct(
    "3.3",
    here=N_(
        "A round trip of {size} takes {one:us,interval} on one CPU and {two:us,interval} on two."
    ),
    here_values=lambda run: {
        "size": SIZE,
        "one": placed(run, OURS, 100)["same"],
        "two": placed(run, OURS, 100)["cross"],
    },
)
text.correct(
    "3.6",
    own=N_(
        "By its means shared memory makes {shared:int,bare} round trips of {size} a second,"
        " ZeroMQ {zmq:int,bare}."
    ),
    own_values=lambda table: {
        "size": SIZE,
        "shared": 1e9 / means(table, SHARED)[100].as_unit("1"),
        "zmq": 1e9 / means(table, ZMQ)[100].as_unit("1"),
    },
    here=N_(
        "By the published method shared memory makes {shared:int,bare} round trips of {size} a"
        " second, ZeroMQ {zmq:int,bare}."
    ),
    here_values=lambda run: {
        "size": SIZE,
        "shared": 1e9 / only(trips(run, SHARED, [100])).as_unit("1"),
        "zmq": 1e9 / only(trips(run, ZMQ, [100])).as_unit("1"),
    },
)
