"""Sentences that an author can put in place of wrong ones, and the numbers in them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ipclab.claims import multiplexer, payload, round_trip
from ipclab.claims.claim import Facts, MissingError, Quantity, Rule, exact
from ipclab.claims.derivations import entry_sizes
from ipclab.claims.derived import Outcome, least, most
from ipclab.facts.fact import Fact
from ipclab.facts.payload import CYCLES, OPS
from ipclab.report import prose
from ipclab.report.catalogue import N_


@dataclass(frozen=True)
class Correction:
    """What can stand in place of the words of some claims.

    `own` is a msgid whose numbers follow from the text's own table, `here` one whose numbers are this run's; either may
    be empty. Both state numbers only, so that no run can make them wrong. Words that are no claim's are in `quote`,
    where they stand in `source`.
    """

    claims: tuple[str, ...]
    own: str = ""
    here: str = ""
    quote: str = ""
    source: str = ""


def told(msgid: str, facts: Mapping[str, Fact]) -> bool:
    """Tell whether `msgid` is there and every number that it states has a value in `facts`."""
    names = [name for name, _ in prose.placeholders(msgid)]
    return bool(msgid) and all(name in facts and facts[name].value is not None for name in names)


CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        ("0.1",),
        N_(
            "Over the three payloads a write takes {audit.own.reads.low:x} to {audit.own.reads.high:x} as long as "
            "a read."
        ),
        N_(
            "A write of {payload.moved.large} takes {payload.published.write_over_read.large:x,interval} as long as a "
            "read."
        ),
    ),
    Correction(
        ("0.2", "0.3"),
        N_("The standard deviations are {audit.own.spread.low:pct} to {audit.own.spread.high:pct} of their means."),
        N_("The standard deviations are {audit.here.spread.low:pct} to {audit.here.spread.high:pct} of their means."),
    ),
    Correction(
        ("0.4", "0.5"),
        N_(
            "With {text.payload.moved.large} moved, the mean write reaches {audit.own.write.bandwidth} and the mean "
            "read {audit.own.read.bandwidth}; MB is a million bytes."
        ),
        N_(
            "A write of {payload.moved.large} moves {payload.published.write.large.bandwidth:GB/s,interval}, a read "
            "{payload.published.read.large.bandwidth:GB/s,interval}."
        ),
    ),
    Correction(
        ("0.7",),
        "",
        N_(
            "Page faults take {payload.share.write.faults:pct,interval} of a write, the flush "
            "{payload.share.write.flush:pct,interval}."
        ),
    ),
    Correction(
        ("0.8",),
        "",
        N_(
            "A write moves {payload.mapping.reopened.write.large.bandwidth}; with the mapping kept it moves "
            "{payload.mapping.kept.write.large.bandwidth}, and memcpy alone {limit.memcpy.cache}."
        ),
    ),
    Correction(
        ("0.9",),
        "",
        N_(
            "The TCP of v0.9, measured with its public receiver, moves "
            "{payload.tcp.v09.off.cross.large.bandwidth:MB/s,interval} between two CPUs."
        ),
    ),
    Correction(
        ("0.10",),
        N_(
            "A write and a read together are {audit.own.together:x} as fast as TCP at the estimated "
            "{text.payload.tcp_bandwidth_high:MB/s,int}."
        ),
        N_(
            "The TCP of v0.9 takes {payload.past_over_published.cross:x,interval} as long as a write and a read; a "
            "sound TCP receiver takes {payload.sound_over_now.cross:x,interval} as long as shared memory between two "
            "processes."
        ),
    ),
    Correction(
        ("0.11",),
        N_("The copies of {payload.cycles} iterations take {audit.own.cycles:ms}, without the readers' waiting."),
        N_(
            "The copies of {payload.cycles} iterations take {payload.published.cycles:ms,interval}; the polling of the "
            "readers adds an expected {audit.polling:s} (computed)."
        ),
    ),
    Correction(
        ("0.12",),
        N_("The smallest payload tested has {text.payload.moved.small}; the configuration has {payload.size.small}."),
    ),
    Correction(
        ("1.2", "1.2b"),
        N_(
            "ZeroMQ's figure is the time of {shared_dict.messages} messages; one of them takes "
            "{text.shared_dict.published.message_slower.largest:x} as long as one write through SharedMemory."
        ),
        N_(
            "One message through ZeroMQ takes {shared_dict.published.message_slower.largest:x,interval} as long as one "
            "write through SharedMemory."
        ),
    ),
    Correction(
        ("1.6",),
        N_(
            "With ten times as many entries, a read through LMDB takes "
            "{text.shared_dict.published.lmdb.growth.large:x} as long, then "
            "{text.shared_dict.published.lmdb.growth.largest:x} as long."
        ),
        N_(
            "With ten times as many entries, a read through LMDB takes "
            "{shared_dict.published.lmdb.growth.large:x,interval}, then "
            "{shared_dict.published.lmdb.growth.largest:x,interval} as long."
        ),
    ),
    Correction(
        ("1.8",),
        N_(
            "Encoded by pickle, an entry takes {audit.entry.low:int} to {audit.entry.high:int}, by the number of "
            "entries."
        ),
    ),
    Correction(
        ("2.3", "2.9"),
        "",
        N_(
            "Between two processes Hybrid takes {multiplexer.pipe.hybrid.largest.over_original:x,interval} as long as "
            "Original at {multiplexer.size.largest} and allocates "
            "{multiplexer.pipe.hybrid.largest.bytes_over_original:x,interval} as many bytes."
        ),
    ),
    Correction(
        ("2.7",),
        N_(
            "Of {text.multiplexer.published.original.largest.allocations} allocations "
            "{text.multiplexer.published.hybrid.largest.allocations} remain, which chunks of {multiplexer.chunk.long} "
            "in place of {multiplexer.chunk.short} give without a pool."
        ),
        N_(
            "Longer chunks alone save {multiplexer.saves.chunk:pct,interval} of the bytes; a pool alone adds "
            "{multiplexer.costs.pool:pct,interval}."
        ),
    ),
    Correction(
        ("2.8",),
        N_(
            "Hybrid takes {audit.own.slower:pct} longer than Original at {multiplexer.size.small}; the two functions "
            "said to differ by {text.multiplexer.published.indirection:pct} are the same code."
        ),
        N_("The same code under two names differs by {multiplexer.published.indirection:pct,interval}."),
    ),
    Correction(
        ("2.10",),
        N_("The fast path is taken up to {text.multiplexer.threshold.code:KiB,int}."),
    ),
    Correction(
        ("2.11",),
        N_(
            "Of the methods that send and receive messages, {text.multiplexer.api.renamed} have another name in Hybrid."
        ),
    ),
    Correction(
        ("3.2",),
        N_("ZeroMQ takes {audit.own.zmq.low:x} to {audit.own.zmq.high:x} as long as shared memory."),
        N_(
            "ZeroMQ takes {audit.here.zmq.low:x} to {audit.here.zmq.high:x} as long as shared memory, over both "
            "placements and all sizes."
        ),
    ),
    Correction(
        ("3.3",),
        "",
        N_(
            "A round trip of {round_trip.size.small} takes {round_trip.posix-shm.same.small:us,interval} on one CPU "
            "and {round_trip.posix-shm.cross.small:us,interval} on two."
        ),
    ),
    Correction(
        ("3.6",),
        N_(
            "By its means shared memory makes {audit.own.rate.shm:int} round trips of {round_trip.size.small} a "
            "second, ZeroMQ {audit.own.rate.zmq:int}."
        ),
        N_(
            "Shared memory makes {round_trip.published.posix-shm.cross.small.round_trips_per_second:int,bare} round "
            "trips of {round_trip.size.small} a second between two CPUs, ZeroMQ "
            "{round_trip.published.zmq-ipc.cross.small.round_trips_per_second:int,bare}."
        ),
    ),
    Correction(
        ("4.5",),
        N_(
            "Overlapping saves {text.file_io.serial.base.cold.gain:pct} of the time, and "
            "{text.file_io.serial.big.cold.gain:pct} with the larger files."
        ),
        N_(
            "Overlapping takes {file_io.serial.base.cold.ratio:x,interval} as long as reading in turn, and "
            "{file_io.serial.big.cold.ratio:x,interval} with the larger files."
        ),
    ),
    Correction(
        ("4.12", "4.13"),
        "",
        N_(
            "Of files that are not in memory, both through the page cache, a map takes "
            "{file_io.map.small.through_cache:x,interval} as long as a read of small files and "
            "{file_io.map.large.through_cache:x,interval} as long as a read of large ones."
        ),
    ),
    Correction(
        (),
        N_("Each file is worked on for {text.file_io.true.compute_mean:ms} on average."),
        quote="File compute time: 0.048828 ms ~ 4.882812 ms, Mean(0.390625 ms)",
        source="seed 004, Read Call Task Overhead",
    ),
    Correction(
        (),
        N_("All files together have {text.file_io.true.bytes:GiB}."),
        quote="Total file size: 3.9GiB (100만개)",
        source="seed 004, Read Call Task Overhead",
    ),
    Correction(
        (),
        N_("With {text.file_io.true.five} threads overlapping takes {text.file_io.true.five_delta:ms} less."),
        quote="189.62ms (5) vs 185.13ms (1/4) -4.49ms",
        source="seed 004, Multithread Sync vs Overlapped IO",
    ),
)


def facts(outcomes: Sequence[Outcome], text: Facts, run: Facts) -> Iterator[Fact]:
    """Yield the numbers of the corrected sentences as `audit.*`: computed from the texts' own tables and the run's.

    `text` are the published facts under the run's names; a number that cannot be computed has no value.
    """
    yield Fact("audit.derived", len(outcomes), "count", kind="computed")
    yield Fact("audit.derived.wrong", sum(not each.follows for each in outcomes), "count", kind="computed")
    for place, found in (("own", text), ("here", run)):
        yield from _ends(f"audit.{place}.reads", payload.write_over_read, found)
        yield from _ends(f"audit.{place}.spread", payload.spreads, found, "share")
    for op in OPS:
        yield _fact(f"audit.own.{op}.bandwidth", _bandwidth(text, op), "B/s")
    yield from _ends("audit.entry", lambda _: entry_sizes(), text, "B")
    yield _fact("audit.own.together", lambda: payload.together(text), "1")
    yield _fact("audit.own.cycles", lambda: payload.transfer(text) * CYCLES, "ns")
    yield _fact("audit.polling", lambda: payload.waiting(run) * CYCLES, "ns")
    slower = multiplexer.hybrid_over_original("small")
    yield _fact("audit.own.slower", lambda: slower(text)[0] - exact(1), "share")
    for name, backend in (("shm", round_trip.SHM), ("zmq", round_trip.ZMQ)):
        yield _fact(f"audit.own.rate.{name}", _rate(text, backend), "count")
    yield from _ends("audit.own.zmq", round_trip.slower, text)
    yield from _ends("audit.here.zmq", round_trip.slower_fairly, run)


def _bandwidth(text: Facts, op: str) -> Callable[[], Quantity]:
    return lambda: payload.moved(text, op, "large")


def _picked(pick: Callable[[Sequence[Quantity]], Quantity], rule: Rule, found: Facts) -> Callable[[], Quantity]:
    return lambda: pick(rule(found))


def _rate(text: Facts, backend: str) -> Callable[[], Quantity]:
    return lambda: round_trip.mean(text, backend, "small").over(1e9)


def _ends(name: str, rule: Rule, found: Facts, unit: str = "1") -> Iterator[Fact]:
    for end, pick in (("low", least), ("high", most)):
        yield _fact(f"{name}.{end}", _picked(pick, rule, found), unit)


def _fact(name: str, compute: Callable[[], Quantity], unit: str) -> Fact:
    try:
        found = compute()
    except MissingError:
        return Fact(name, None, unit, kind="computed")
    return Fact(name, found.value, unit, low=found.low, high=found.high, kind="computed")
