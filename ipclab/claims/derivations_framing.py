"""The numbers that the multiplexer text (seed 002) derives from its own tables, one by one."""

from collections.abc import Iterator
from itertools import product

from ipclab.claims.claim import Quantity, exact
from ipclab.claims.derived import Derivation, Derive, derivation, least
from ipclab.claims.published import Book
from ipclab.report.catalogue import N_

SEED = "002"
ORIGINAL, OPTIMIZED, HYBRID = "original", "optimized", "hybrid"
SMALL, LARGE, LARGEST = 1 << 10, 64 << 10, 1 << 20
CHUNKS = {ORIGINAL: 1 << 10, HYBRID: 16 << 10}  # what one frame of the largest message holds
ENDS = 2  # a first and a last frame
FASTER = N_("the time saved over the time before")
SLOWER = N_("the time added over the time before")
SAVED = N_("the bytes saved over the bytes before")
FEWER = N_("the allocations saved over the allocations before")
BY_CHUNKS = N_("the frames of longer chunks over those of shorter ones, one allocation a frame, no pool")
BY_POOL = N_("the bytes of one allocation with the pool over those of one without")
LOWEST_OF_THREE = N_("the lowest time of the three")
PART = N_("the time of the part over the time of the whole")
REST = N_("the whole slow-down less the other part")
CODE = N_("the constant in the published code")
LABELLED = N_("the bytes that are written")


def multiplexer() -> Iterator[Derivation]:
    """Yield the derivations of text 002."""
    for size in (LARGE, LARGEST):
        yield derivation(SEED, FASTER, _saved("mean", size), quantity="faster", size_bytes=size)
    yield derivation(SEED, FASTER, _saved("mean", LARGEST), quantity="faster_rounded")
    for quantity in ("slower", "slower_rounded"):
        yield derivation(SEED, SLOWER, lambda t: exact(0) - _saved("mean", SMALL)(t), quantity=quantity)
    for size in (SMALL, LARGE, LARGEST):
        yield derivation(SEED, SAVED, _saved("bytes", size), quantity="memory_saved", size_bytes=size)
        yield derivation(SEED, LABELLED, _size(size), quantity="size_label", size_bytes=size)
    yield derivation(SEED, FEWER, _saved("allocations", LARGEST), quantity="allocations_saved")
    yield derivation(SEED, BY_CHUNKS, _by_chunks, quantity="allocations_saved")
    yield derivation(SEED, BY_POOL, _by_pool, quantity="memory_saved", section="기술적 인사이트")
    for size, node in ((SMALL, ORIGINAL), (LARGE, HYBRID), (LARGEST, OPTIMIZED)):
        yield derivation(SEED, LOWEST_OF_THREE, _lowest(size), quantity="mean", backend=node, size_bytes=size)
    for size in (SMALL, LARGEST):  # where the table prints in bold what its last column does not name
        yield derivation(SEED, LOWEST_OF_THREE, _lowest(size), quantity="mean", backend=HYBRID, size_bytes=size)
    for part in ("indirection", "threshold_check"):
        yield derivation(SEED, PART, _part(part), quantity=part)
    yield derivation(SEED, REST, lambda t: t("slower") - t("threshold_check"), quantity="indirection")
    yield derivation(SEED, CODE, lambda t: t("threshold_code"), quantity="threshold_text")


def _saved(quantity: str, size: int) -> Derive:
    def derive(book: Book) -> Quantity:
        before, after = (book(quantity, backend=node, size_bytes=size) for node in (ORIGINAL, HYBRID))
        return exact(1) - after / before

    return derive


def _size(size: int) -> Derive:
    return lambda t: exact(size)


def frames(chunk: int) -> int:
    """Return how many frames the largest message has with chunks of `chunk` bytes."""
    return LARGEST // chunk + ENDS


def _by_chunks(_: Book) -> Quantity:
    return exact(1 - frames(CHUNKS[HYBRID]) / frames(CHUNKS[ORIGINAL]))


def _by_pool(book: Book) -> Quantity:
    cells = product(("bytes", "allocations"), (ORIGINAL, HYBRID))
    before, after, made_before, made_after = (book(what, backend=node, size_bytes=LARGEST) for what, node in cells)
    return exact(1) - (after / made_after) / (before / made_before)


def _lowest(size: int) -> Derive:
    nodes = (ORIGINAL, OPTIMIZED, HYBRID)
    return lambda t: least([t("mean", backend=node, size_bytes=size) for node in nodes])


def _part(part: str) -> Derive:
    return lambda t: t(f"{part}_time") / t("fast_path")
