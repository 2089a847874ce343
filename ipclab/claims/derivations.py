"""The numbers that the texts derive from their own tables, one by one: texts 000, 001 and 003, and the list of all."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from math import floor

from ipclab.claims.claim import Quantity, exact
from ipclab.claims.derivations_framing import multiplexer
from ipclab.claims.derivations_reading import file_io
from ipclab.claims.derived import (
    HIGHEST,
    LOWEST,
    TRUNCATED,
    Derivation,
    Derive,
    derivation,
    least,
    most,
    same,
)
from ipclab.claims.published import Book
from ipclab.codecs import CODECS, dictionary
from ipclab.facts.payload import OPS
from ipclab.facts.round_trip import SIZE_NAMES as ROUND_TRIP_SIZES
from ipclab.report.catalogue import N_
from ipclab.studies.payload import FLOAT, SIZES

SMALL, MEDIUM, LARGE = SIZES
MIB = 2**20
SECOND = 1e9
ENTRIES = (10, 100, 1000, 10_000)
ROUNDED = N_("the same number, rounded")
BY_LABEL = N_("the size as labelled over the mean time")
BY_BYTES = N_("the bytes that moved over the mean time")
COUNTED = N_("the count of floats times four bytes")
DIMENSIONS = N_("the product of the dimensions, times four bytes")
LISTING = N_("the label in MiB over four bytes, as the listing computes it")
WRITE_OVER_READ = N_("the mean write over the mean read, over all sizes")
SPREAD = N_("the standard deviation over the mean, over all cells")
LARGE_SPREAD = N_("the standard deviation over the mean, for the largest payload")
BELOW_BOUND = N_("the bandwidths of the payloads below the bound")
ABOVE_BOUND = N_("the bandwidths of the payloads above the bound")
CYCLES = N_("a write and a read, times the iterations")
LESS = N_("the number before, less its percentage")
OVER_PAST = N_("the bandwidth over that of the past")
TRANSFER_OVER_PAST = N_("the bandwidth of a write and a read together over that of the past")
LATENCY = N_("the time of the past over that of a write")
SIZE_OVER_SPEED = N_("the size over the estimated bandwidth")
ALL_CALLS = N_("the mean times the iterations")
LONGER = N_("how much longer one mean is than the other")
OVER_SHARED = N_("the time of shared memory over that of the other")
PER_TOTAL = N_("the total of one over the total of the other")
PICKLED = N_("the dictionary's bytes by pickle over its entries, the largest of all sizes")
PER_MESSAGE = N_("the time of one message over the time of one message")


def _p(by: str, derive: Derive, sense: str = "equal", /, **key: str | int) -> Derivation:
    return derivation("000", by, derive, sense, **key)


def label(book: Book, size: int) -> Quantity:
    """Return the payload's size as labelled, in bytes."""
    return book("size_label", size_bytes=size)


def moved(book: Book, size: int) -> Quantity:
    """Return the bytes that the listing moves: its count of floats, four bytes each."""
    return book("floats", size_bytes=size) * FLOAT


def mean(book: Book, op: str, size: int) -> Quantity:
    """Return the mean time in ns."""
    return book("mean", section="3.1", op=op, size_bytes=size)


def speed(book: Book, op: str, size: int) -> Quantity:
    """Return the bandwidth as printed."""
    return book("bandwidth", section="3.1", op=op, size_bytes=size)


def ratios(book: Book) -> list[Quantity]:
    """Return the mean write over the mean read for each size."""
    return [mean(book, "write", size) / mean(book, "read", size) for size in SIZES]


def spreads(book: Book, *sizes: int) -> list[Quantity]:
    """Return the standard deviation over the mean for each op and size."""
    cells = product(OPS, sizes or SIZES)
    return [book("sd", section="3.1", op=op, size_bytes=size) / mean(book, op, size) for op, size in cells]


def _counted(size: int) -> Derive:
    return lambda t: exact(floor(label(t, size).value / 1e6 * MIB / FLOAT))


def _bytes(size: int) -> Derive:
    return lambda t: moved(t, size)


def _by_label(op: str, size: int) -> Derive:
    return lambda t: label(t, size) * SECOND / mean(t, op, size)


def _by_bytes(op: str, size: int) -> Derive:
    return lambda t: moved(t, size) * SECOND / mean(t, op, size)


def payload() -> Iterator[Derivation]:
    """Yield the derivations of text 000."""
    yield from _sizes()
    yield from _table()
    yield from _analysis()
    yield from _past()


def _sizes() -> Iterator[Derivation]:
    for size in SIZES:
        yield _p(LISTING, _counted(size), quantity="floats", size_bytes=size)
        yield _p(COUNTED, _bytes(size), quantity="size", size_bytes=size)
        yield _p(ROUNDED, same(quantity="size_label", size_bytes=size), quantity="data_size", size_bytes=size)
    one: Derive = lambda t: t("receptors") * t("timesteps") * t("bytes_per_float")  # noqa: E731
    yield _p(DIMENSIONS, one, quantity="size", size_bytes=MEDIUM)
    yield _p(DIMENSIONS, lambda t: one(t) * t("ensemble"), quantity="size", size_bytes=LARGE)


def _table() -> Iterator[Derivation]:
    for op, size in product(OPS, SIZES):
        cell: dict[str, str | int] = {"op": op, "size_bytes": size}
        yield _p(BY_LABEL, _by_label(op, size), quantity="bandwidth", section="3.1", **cell)
        yield _p(BY_BYTES, _by_bytes(op, size), quantity="bandwidth", section="3.1", **cell)
        for quantity in ("mean", "bandwidth"):
            yield _p(ROUNDED, same(quantity=quantity, section="3.1", **cell), quantity=quantity, section="3.2", **cell)
    for op in OPS:
        large: dict[str, str | int] = {"op": op, "size_bytes": LARGE}
        for quantity in ("bandwidth", "mean"):
            precise = same(quantity=quantity, section="3.1", **large)
            yield _p(ROUNDED, precise, quantity=f"{quantity}_rounded", section="4.1", **large)
        yield _p(BY_BYTES, _by_bytes(op, LARGE), quantity="bandwidth_rounded", section="5.2", **large)
    written: dict[str, str | int] = {"op": "write", "size_bytes": LARGE}
    yield _p(ROUNDED, same(quantity="sd", section="3.1", **written), quantity="sd_rounded", **written)


def _analysis() -> Iterator[Derivation]:
    def below(t: Book) -> list[Quantity]:
        return [speed(t, op, size) for op, size in product(OPS, SIZES) if size < t("small_bound").value]

    def above(t: Book) -> list[Quantity]:
        return [speed(t, op, size) for op, size in product(OPS, SIZES) if size > t("large_bound").value]

    yield _p(BELOW_BOUND, lambda t: least(below(t)), quantity="small_bandwidth_low")
    yield _p(BELOW_BOUND, lambda t: most(below(t)), quantity="small_bandwidth_high")
    yield _p(ABOVE_BOUND, lambda t: least(above(t)), quantity="large_bandwidth_low")
    yield _p(ABOVE_BOUND, lambda t: most(above(t)), quantity="large_bandwidth_high")
    yield _p(WRITE_OVER_READ, lambda t: least(ratios(t)), LOWEST, quantity="read_faster_low")
    yield _p(WRITE_OVER_READ, lambda t: most(ratios(t)), HIGHEST, quantity="read_faster_high")
    yield _p(SPREAD, lambda t: least(spreads(t)), LOWEST, quantity="spread_low")
    yield _p(SPREAD, lambda t: most(spreads(t)), HIGHEST, quantity="spread_high")
    yield _p(LARGE_SPREAD, lambda t: most(spreads(t, LARGE)), HIGHEST, quantity="spread_bound")

    def cycles(t: Book) -> Quantity:
        return (mean(t, "write", LARGE) + mean(t, "read", LARGE)) * t("cycle_count")

    yield _p(CYCLES, cycles, quantity="cycles")


def _past() -> Iterator[Derivation]:
    yield _p(ROUNDED, same(quantity="single_stream"), quantity="tcp_bandwidth_bound")
    for before, cost, after in (
        ("tcp_bandwidth_bound", "pickle_cost", "after_pickle"),
        ("after_pickle", "error_cost", "after_errors"),
    ):
        yield _p(LESS, _less(before, cost), quantity=after)
    for end, rate in (("low", "high"), ("high", "low")):
        yield _p(SIZE_OVER_SPEED, _at_speed(rate), quantity=f"past_latency_{end}", section="4.3")
    now: dict[str, str | int] = {"section": "4.3", "quantity": "bandwidth"}
    yield _p(OVER_PAST, lambda t: same(**now)(t) / t("past_bandwidth"), quantity="improvement", section="4.3")
    slow: Derive = lambda t: same(**now)(t) / t("past_bandwidth_slow")  # noqa: E731
    yield _p(OVER_PAST, slow, quantity="improvement_optimistic")
    for end, op in (("low", "write"), ("high", "read")):
        yield _p(OVER_PAST, _over_past(op), TRUNCATED, quantity=f"improvement_{end}")
        yield _p(LATENCY, _latency(end), quantity=f"latency_improvement_{end}", section="4.3")
    yield _p(TRANSFER_OVER_PAST, together, TRUNCATED, quantity="improvement_low")


def _less(before: str, cost: str) -> Derive:
    return lambda t: t(before) * (exact(1) - t(cost))


def _at_speed(rate: str) -> Derive:
    return lambda t: label(t, LARGE) * SECOND / t(f"past_bandwidth_{rate}")


def _over_past(op: str) -> Derive:
    return lambda t: speed(t, op, LARGE) / t("past_bandwidth")


def _latency(end: str) -> Derive:
    return lambda t: t(f"past_latency_{end}") / t("mean_rounded", section="4.3")


def together(book: Book) -> Quantity:
    """Return how many times as fast a write and a read together are as the estimated past."""
    time = mean(book, "write", LARGE) + mean(book, "read", LARGE)
    return label(book, LARGE) * SECOND / time / book("past_bandwidth")


def round_trip() -> Iterator[Derivation]:
    """Yield the derivations of text 003."""
    for size in ROUND_TRIP_SIZES:
        yield derivation("003", ROUNDED, same(quantity="size", size_bytes=size), quantity="size_label", size_bytes=size)
        for backend in ("posix-shm", "zmq-ipc"):
            cell: dict[str, str | int] = {"backend": backend, "size_bytes": size}
            yield derivation("003", ALL_CALLS, _total(cell), quantity="total", **cell)
        yield derivation("003", LONGER, _longer(size), quantity="slower", size_bytes=size)
    yield derivation("003", ROUNDED, same(quantity="buffer"), quantity="buffer_label")


def _total(cell: Mapping[str, str | int]) -> Derive:
    return lambda t: t("mean", **cell) * t("iterations")


def _longer(size: int) -> Derive:
    def derive(t: Book) -> Quantity:
        ours, theirs = (t("mean", backend=name, size_bytes=size) for name in ("posix-shm", "zmq-ipc"))
        return theirs / ours - exact(1)

    return derive


@cache
def entry_sizes() -> tuple[Quantity, ...]:
    """Return the bytes of one entry of the text's dictionaries, encoded as it says, for each number of entries."""
    return tuple(exact(len(CODECS["pickle"].encode(dictionary(count))) / count) for count in ENTRIES)


def shared_dict() -> Iterator[Derivation]:
    """Yield the derivations of text 001."""
    for op, backend in product(("write", "read"), ("lmdb", "zmq-push")):
        yield derivation("001", OVER_SHARED, _over_shared(op, backend), quantity=f"{op}_speed", backend=backend)
    yield derivation("001", PICKLED, lambda t: most(entry_sizes()), quantity="bytes_per_entry")
    yield derivation("001", PER_TOTAL, _slower, quantity="write_slower")
    per_message: Derive = lambda t: _slower(t) / (t("reads") * t("readers"))  # noqa: E731
    yield derivation("001", PER_MESSAGE, per_message, quantity="write_slower")


def _over_shared(op: str, backend: str) -> Derive:
    def derive(t: Book) -> Quantity:
        shared, other = (t(op, backend=name, entries=ENTRIES[-1]) for name in ("shared-memory", backend))
        return shared / other

    return derive


def _slower(book: Book) -> Quantity:
    """Return ZeroMQ's total of the most entries over that of SharedMemory."""
    return exact(1) / _over_shared("write", "zmq-push")(book)


DERIVATIONS: tuple[Derivation, ...] = (
    *(*payload(), *shared_dict(), *multiplexer()),
    *(*round_trip(), *file_io()),
)
