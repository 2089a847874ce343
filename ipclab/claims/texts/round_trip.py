"""shm-rpc-bridge, transport benchmark, in English (text 003): what it claims, and what it derives."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pandas as pd

from ipclab.claims.claim import PublishedText
from ipclab.claims.extremes import growth, least_and_most, matched
from ipclab.claims.numbers import ALL, Compared, Lookup, Numbers, listed, look, said, several
from ipclab.frames.address import MissingError
from ipclab.stats.quantity import Quantity, of
from ipclab.words.catalogue import N_

SIZES = [100, 10000, 500000, 2000000]
SHARED, ZMQ = "shm-rpc-bridge", "zmq-ipc"
OURS = "posix-shm"  # by the fair method
text = PublishedText(
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
Trips = Callable[..., Lookup]  # by backend and size_bytes, of one of these ways


def in_first_way(compare: Callable[[Trips], Lookup]) -> Lookup:
    """Return what `compare` makes of mean round trips by the published program, all of one way.

    That is the first of `WAYS` in which it has intervals, or, where it has none, that was measured.
    """

    def find(run: Numbers) -> Compared:
        measured = []
        for arm, placement in WAYS:
            trips: Trips = partial(look, "round-trip", "mean", arm=arm, placement=placement)
            with suppress(MissingError):
                found = compare(trips)(run)
                every = found if isinstance(found, pd.Series) else listed([found])
                if not any(value.says_nothing for value in every):
                    return found
                measured.append(found)
        if not measured:
            raise MissingError(f"{run.study}.round-trip[arm=published].mean")
        return measured[0]

    return Lookup(find)


def trip(backend: str, size: int) -> Lookup:
    """Return the mean round trip of a mechanism by the published program."""
    return in_first_way(lambda found: found(backend=backend, size_bytes=size))


def slower(size: int) -> Lookup:
    """Return a round trip through ZeroMQ over one through shared memory."""

    def quotient(trips: Trips) -> Lookup:
        return trips(backend=ZMQ, size_bytes=size) / trips(backend=SHARED, size_bytes=size)

    return in_first_way(quotient)


def grown(large: int, small: int) -> Lookup:
    """Return how a round trip through shared memory grows with its message."""

    def growing(trips: Trips) -> Lookup:
        return trips(backend=SHARED, size_bytes=[small, large]).pipe(growth, "size_bytes")

    return in_first_way(growing)


# Median round trips of ours, in every placement that was measured.
placed = partial(look, "round-trip", arm="main", placement=ALL)
ours = partial(placed, backend=OURS)


def grown_placed(large: int, small: int) -> Lookup:
    """Return a larger message of ours over a smaller one, in every placement of both."""
    return ours(size_bytes=large).pipe(matched, ours(size_bytes=small))


# A round trip through ZeroMQ over one through shared memory, at each size; and at each placement.
SLOWER = several(*(slower(size) for size in SIZES))
SLOWER_PLACED = placed(backend=ZMQ, size_bytes=SIZES).pipe(matched, ours(size_bytes=SIZES))


def throughputs(table: Numbers) -> Quantity:
    """Return how many numbers of throughput the text prints."""
    return of((table.frames[table.study].metric == "round_trips_per_second").sum())


# Claims that share a section, or how they are judged.
of_results = partial(text.claim, "Example Results", adds=PLACED)

of_results(
    "3.1",
    "SHM POSIX: 80.68 μs/call, ZeroMQ IPC: 275.65 μs/call (241.7% slower)",
    "above 1",
    N_("Shared memory is faster than ZeroMQ at every size."),
    here=SLOWER,
    fair=SLOWER_PLACED,
)
of_results(
    "3.2",
    "241.7% slower, 207.5% slower, 298.1% slower, 227.3% slower",
    "between 3.075 and 3.981 rounded",
    N_("ZeroMQ takes {low:pct} to {high:pct} longer than shared memory at every size."),
    figures={"low": "207.5 %", "high": "298.1 %"},
    here=SLOWER,
    fair=SLOWER_PLACED,
)
text.claim(
    "Example Results",
    "3.3",
    "SHM POSIX: 80.68 μs/call",
    "exactly 80.68 us rounded",
    N_("A round trip of {size} through shared memory takes {time:us}."),
    figures={"size": "100 B", "time": "80.68 us"},
    here=trip(SHARED, 100),
    untestable=N_("needs the machine of the text, which it does not name"),
)
of_results(
    "3.4",
    "SHM POSIX: 80.68 μs/call, SHM POSIX: 91.58 μs/call",
    "at_most 1.25",
    N_(
        "From {small} to {medium} a round trip through shared memory grows by at most"
        " {high:pct,int}."
    ),
    figures={"small": "100 B", "medium": "10000 B", "high": "25 %"},
    here=grown(10000, 100),
    fair=grown_placed(10000, 100),
)
of_results(
    "3.5",
    "SHM POSIX: 190.64 μs/call, SHM POSIX: 781.57 μs/call",
    "between 3.2 and 5",
    N_(
        "From {large} to {largest} a round trip through shared memory grows to between {low:x}"
        " and {high:x}."
    ),
    figures={"large": "500000 B", "largest": "2 MB"},
    here=grown(2000000, 500000),
    fair=grown_placed(2000000, 500000),
)
text.claim(
    "Metrics Reported",
    "3.6",
    "Throughput: Operations per second (ops/s)",
    "at_least 4",
    N_("Throughput is reported for every size (the numbers of it among the text's results)."),
    here=Lookup(throughputs),
    untestable=N_("needs the text's program: what that prints is not measured here"),
)

# What the text derives from its own numbers.

SAME = N_("the same number, rounded")


def means(backend: str) -> Lookup:
    """Return the printed means of a mechanism."""
    return look("round-trip", "mean", backend=backend, size_bytes=ALL)


text.derive(SAME, said("size_label", size_bytes=ALL), said("size", size_bytes=ALL))
text.derive(
    N_("the mean times the iterations"),
    look("launch", "total_ns", backend=ALL, size_bytes=ALL),
    means(ALL) * said("iterations"),
)
text.derive(
    N_("how much longer one mean is than the other"),
    said("slower", size_bytes=ALL),
    means(ZMQ) / means(SHARED) - 1,
)
text.derive(SAME, said("buffer_label"), said("buffer"))

# Sentences that can stand in place of claims.

SIZE = of(100).as_unit("B")
RATES = {
    "size": SIZE,
    "shared": 1e9 / trip(SHARED, 100).as_unit("1"),
    "zmq": 1e9 / trip(ZMQ, 100).as_unit("1"),
}
text.correct(
    "3.2",
    table=N_("ZeroMQ takes {low:x} to {high:x} as long as shared memory."),
    table_values=SLOWER.pipe(least_and_most),
    here=N_(
        "By the fair method ZeroMQ takes {low:x} to {high:x} as long as shared memory, over all"
        " sizes and placements measured."
    ),
    here_values=SLOWER_PLACED.pipe(least_and_most),
)
text.correct(
    "3.3",
    here=N_(
        "A round trip of {size} takes {one:us,interval} on one CPU and {two:us,interval} on two."
    ),
    here_values={
        "size": SIZE,
        "one": ours(size_bytes=100, placement="same"),
        "two": ours(size_bytes=100, placement="cross"),
    },
)
text.correct(
    "3.6",
    table=N_(
        "By its means shared memory makes {shared:int,bare} round trips of {size} a second,"
        " ZeroMQ {zmq:int,bare}."
    ),
    table_values=RATES,
    here=N_(
        "By the published method shared memory makes {shared:int,bare} round trips of {size} a"
        " second, ZeroMQ {zmq:int,bare}."
    ),
    here_values=RATES,
)
