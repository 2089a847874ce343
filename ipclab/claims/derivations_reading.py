"""The numbers that the file-reading text (seed 004) derives from its own tables, one by one."""

from collections.abc import Iterator
from math import floor, log10, sqrt

from ipclab.claims.claim import Quantity, exact
from ipclab.claims.derived import Derivation, Derive, derivation
from ipclab.claims.published import Book
from ipclab.report.catalogue import N_
from ipclab.studies.file_io.experiments import file_sets

SEED = "004"
SECOND = 1e9
BINARY = 1024
SPREADS = 4  # a total of drawn sizes this many standard deviations off its expectation is not from that distribution
CALLS_OUT = N_("the time less the read calls")
OVER_TIME = N_("the bytes over the time")
DELTA = N_("the time of the one less the time of the other")
ADDED = N_("the sum of its parts")
ALL_FILES = N_("the files times their size")
DRAWN = N_("the expected size of the stated distribution, times the files")
MICROSECONDS = N_("a whole number of microseconds over a thousand, not over two to the tenth")


def file_io() -> Iterator[Derivation]:
    """Yield the derivations of text 004."""
    yield derivation(SEED, CALLS_OUT, _calls_out, quantity="corrected")
    yield derivation(SEED, OVER_TIME, _bandwidth, quantity="bandwidth", label="overlap.overlapped")
    for case in ("big", "long", "longest"):
        yield derivation(SEED, DELTA, _delta(case, 4), quantity="delta", label=f"serial.{case}.4")
    for threads in (5, 6, 7, 8):
        yield derivation(SEED, DELTA, _delta("longest", threads), quantity="delta", label=f"serial.longest.{threads}")
    yield derivation(SEED, ADDED, lambda t: _page(t, "call") + _page(t, "compute"), quantity="task", label="map.page")
    yield derivation(SEED, ALL_FILES, _all_files, quantity="bytes", label="massive")
    for label, name in (("soon.exp-small", "exp-small"), ("soon.exp-large", "exp-large")):
        yield derivation(SEED, DRAWN, _drawn(name, label), quantity="bytes", label=label)
    yield derivation(SEED, DRAWN, _drawn("exp-small", "massive"), quantity="bytes", label="general")
    for name in ("low", "high", "mean", "variance"):
        key = {"quantity": f"compute_{name}", "label": "massive"}
        yield derivation(SEED, MICROSECONDS, _microseconds(**key), **key)
    yield derivation(
        SEED, MICROSECONDS, _microseconds("compute_mean", "serial.long"), quantity="compute_mean", label="serial.long"
    )


def _calls_out(book: Book) -> Quantity:
    serial = book("elapsed", label="overlap.serial")
    return serial - book("call", label="overlap.serial") * book("files", label="overlap")


def _bandwidth(book: Book) -> Quantity:
    size = exact(float(book.row("bytes", label="overlap")["value_si"]))
    return size * SECOND / book("elapsed", label="overlap.overlapped")


def _delta(case: str, threads: int) -> Derive:
    def derive(book: Book) -> Quantity:
        labels = f"serial.{case}.{threads}SYNC", f"serial.{case}.1R+{threads - 1}C"
        serial, overlapped = (book("elapsed", label=label) for label in labels)
        return serial - overlapped

    return derive


def _page(book: Book, quantity: str) -> Quantity:
    return book(quantity, label="map.page")


def _all_files(book: Book) -> Quantity:
    size = exact(float(book.row("call", label="call.4096")["size_bytes"]))
    return book("files", label="massive") * size


def _drawn(name: str, label: str) -> Derive:
    """Return the expected bytes of the set, with the interval that a drawn total lies in."""

    def derive(book: Book) -> Quantity:
        size, count = file_sets("full")[name].size, book("files", label=label).value
        total, spread = size.expected() * count, SPREADS * size.mean * sqrt(count)  # an exponential's sd is its mean
        return Quantity(total, total - spread, total + spread)

    return derive


def _microseconds(quantity: str, label: str) -> Derive:
    """Return the time that the printed one is where it was divided by 1024 in place of 1000, else the printed one."""

    def derive(book: Book) -> Quantity:
        printed = book(quantity, label=label)
        whole = printed * (BINARY / 1e6)
        step = 10.0 ** (floor(log10(whole.value)) - 1)
        nearest = round(whole.value / step) * step
        return exact(nearest * 1e3) if whole.low <= nearest <= whole.high else printed

    return derive
