"""LDM-EKI, report on IPC performance, in Korean (text 000): what it claims, and what it derives."""

from functools import partial
from math import floor
from typing import Any

from ipclab.claims.claim import PublishedText, Sense
from ipclab.claims.extremes import bandwidth, least, least_and_most, most
from ipclab.claims.numbers import ALL, Level, Lookup, Values, look, said, several
from ipclab.stats.quantity import Quantity, of
from ipclab.studies.payload import MOVED
from ipclab.words.catalogue import N_

# What the text calls so many bytes, and what its program moved: the counts of floats, times four.
SIZES = [*MOVED.values()]
LARGEST, ENSEMBLE, CONFIGURATION = 1384120, 1382400, 84
SIZE = of(LARGEST).as_unit("B")
BOTH = ["same", "cross"]
ENDS = ["write", "read"]
text = PublishedText(
    "000",
    "payload",
    N_("LDM-EKI, report on IPC performance, in Korean"),
    "ko",
    levels={"size_bytes": MOVED},
)
NEEDS_MACHINE = N_("needs the machine of the text, which it does not name")
NO_PARTS = N_("the text does not time the parts of a write")
ESTIMATED = N_("the text gives an estimate, not a measurement")
CONCEDED = N_("its numbers of the past are estimates, of low reliability")
MAPPINGS = N_("the exact payload, no other threads, the mapping reopened and kept")
TWO_ENDS = N_("a sender and a receiver, both placements")

# By the published method, the largest payload; and parts of writes and reads by how a file is mapped.
published = partial(look, arm="published", size_bytes=LARGEST)
mapped = partial(look, arm="mapping", size_bytes=ENSEMBLE)
as_v10 = partial(mapped, mapping="truncated")  # as v1.0 makes them, each time
# Transfers between two processes through shared memory, by the TCP of v0.9 as it was, by variants
# of it, and with a sound receiver on a connection that is kept.
handover = partial(look, "handover", arm="handover", backend="shm-mmap", size_bytes=ENSEMBLE)
as_v09 = partial(
    look,
    "handover",
    arm="v0.9",
    receive="recv-4096",
    placement="cross",
    size_bytes=ENSEMBLE,
)
tcp = partial(
    look,
    "handover",
    arm="tcp",
    connection="new",
    nodelay="off",
    codec="raw",
    placement="cross",
    size_bytes=ENSEMBLE,
)
sound = partial(tcp, receive="recv-into", connection="kept", nodelay="on")


def ratios(sizes: list[int]) -> Lookup:
    """Return the mean write over the mean read of each payload, by the published method."""
    write, read = (published(op, "mean", size_bytes=sizes) for op in ENDS)
    return write / read


def spreads(sizes: Level) -> Lookup:
    """Return the deviations over the means, of writes and reads."""
    return published(ENDS, "sd", size_bytes=sizes) / published(ENDS, "mean", size_bytes=sizes)


def kept_or_reopened(size: Level) -> Lookup:
    """Return a write over a read, the mapping reopened and kept."""
    write, read = (mapped(op, mapping=["reopened", "kept"], size_bytes=size) for op in ENDS)
    return write / read


def opening(op: str) -> Lookup:
    """Return the share of the smallest write or read that opening, mapping and closing take."""
    first, *others, whole = (
        mapped(name, mapping="reopened", size_bytes=CONFIGURATION)
        for name in (f"{op}.open", f"{op}.map", f"{op}.unmap", f"{op}.close", op)
    )
    return sum(others, first) / whole


def flush(mapping: Level) -> Lookup:
    """Return the share of a write that the flush takes."""
    return mapped("write.flush", mapping=mapping) / mapped("write", mapping=mapping)


def speed(op: str) -> Lookup:
    """Return the bytes of the largest payload over its mean time."""
    return published(op, "mean").pipe(partial(bandwidth, SIZE))


def printed_over_past(op: str | list[str]) -> Lookup:
    """Return the printed bandwidths of the largest payload over that of the past."""
    now = look(op, "bandwidth", section="3.1", size_bytes="max")
    return now / look("transfer", "past_bandwidth")


def pickled(codec: Level, placement: Level) -> Lookup:
    """Return the time of a raw transfer over that of a pickled one."""
    raw = tcp(receive="recv-1mib", placement=placement)
    return raw / tcp(receive="recv-1mib", codec=codec, placement=placement)


def number(name: str, op: str = "text", **levels: Level) -> Lookup:
    """Return a number that the text says, without its unit."""
    return look(op, name, **levels).as_unit("1")


# The bandwidth of the TCP of v0.9 between two CPUs; its transfers over those through shared memory.
PAST_SPEED = as_v09("bandwidth")
PAST_OVER_HANDOVER = as_v09(placement=BOTH) / handover(placement=BOTH)
# The estimated times of the past over the time of a write.
PAST_LATENCIES = several(
    look("transfer", "past_latency_low", section="4.3"),
    look("transfer", "past_latency_high", section="4.3"),
) / look("write", "mean_rounded", section="4.3")
# What a write and a read of the largest payload take, and as v1.0 makes them.
COPIES = published("write", "mean") + published("read", "mean")
COPIES_OF_V10 = as_v10("write") + as_v10("read")
# The bytes of the real program's payloads.
TIMESTEPS = number("receptors") * number("timesteps") * number("bytes_per_float")
REAL = (CONFIGURATION, TIMESTEPS, TIMESTEPS * number("ensemble"))

# Claims that share a section, or how they are judged.
of_past = partial(text.claim, fair=PAST_OVER_HANDOVER, adds=TWO_ENDS, concedes=CONCEDED)
of_parts = partial(text.claim, arm="mapping", unstated=NO_PARTS)
of_tcp = partial(text.claim, "4.2", arm="v0.9", unstated=ESTIMATED, concedes=CONCEDED)

text.claim(
    "4.1 [2]",
    "0.1",
    "읽기가 쓰기보다 2-3배 빠름",
    "between 2 and 3 rounded",
    N_("Reads are {low:int} to {high:int} times as fast as writes (at {size:MB})."),
    figures={"size": "1.32 MB"},
    here=published("write", "mean") / published("read", "mean"),
    fair=kept_or_reopened(ENSEMBLE),
    adds=MAPPINGS,
)
text.claim(
    "4.1 [2]",
    "0.1b",
    "읽기가 쓰기보다 2-3배 빠름",
    "above 1",
    N_("Reads are faster than writes at every size."),
    here=ratios(SIZES),
    fair=kept_or_reopened([84, 13824, 1382400]),
    adds=MAPPINGS,
)
text.claim(
    "4.1 [3]",
    "0.2",
    "표준편차: 평균의 10-30%",
    "between 10 % and 30 % rounded",
    N_("Every standard deviation is {low:pct,int} to {high:pct,int} of its mean."),
    here=spreads(SIZES),
)
text.claim(
    "6.1",
    "0.3",
    "안정성: 표준편차 < 10%",
    "below 10 %",
    N_("The standard deviation is below {high:pct,int} of the mean (at {size:MB})."),
    figures={"size": "1.32 MB"},
    here=spreads(LARGEST),
)
text.claim(
    "5.2",
    "0.4",
    "주요 데이터 전송(1.32 MB)에서 1.85 GB/s 이상의 대역폭을 달성하였다",
    "at_least 1.85 GB/s rounded",
    N_("Writing {size:MB} reaches at least {low:GB/s}."),
    figures={"size": "1.32 MB"},
    here=speed("write"),
    untestable=NEEDS_MACHINE,
)
text.claim(
    "5.2",
    "0.5",
    "1.32 MB 데이터 전송 시 1.85 GB/s의 쓰기 속도와 5.82 GB/s의 읽기 속도를 기록하였다",
    "at_least 5.82 GB/s rounded",
    N_("Reading {size:MB} reaches at least {low:GB/s}."),
    figures={"size": "1.32 MB"},
    here=speed("read"),
    untestable=NEEDS_MACHINE,
)
of_parts(
    "3.1",
    "0.6",
    "매우 작은 데이터는 파일 열기/닫기 오버헤드가 지배적",
    "at_least 50 %",
    N_(
        "For the smallest payload, opening and closing dominate: opening, mapping, unmapping and"
        " closing take at least {low:pct,int} of a write and of a read."
    ),
    here=several(opening("write"), opening("read")),
)
of_parts(
    "4.1 [2]",
    "0.7",
    "이유: 읽기는 캐시 활용, 쓰기는 flush() 필요",
    "at_least 10 %",
    N_("Writes are slower because of flush(): it takes at least {low:pct,int} of a write."),
    here=flush("reopened"),
    fair=flush(["reopened", "truncated", "kept"]),
    adds=N_("the mapping reopened, truncated each time and kept"),
)
of_parts(
    "5.2",
    "0.8",
    "메모리-메모리 직접 복사의 이론적 상한(RAM 대역폭)에 근접한 수치이다",
    "at_most 1.25",
    N_(
        "A write is close to the memory bandwidth: a kept mapping is not more than {high:bare}"
        " times as fast."
    ),
    here=mapped("write", mapping="reopened") / mapped("write", mapping="kept"),
)
of_tcp(
    "0.9",
    "최종 추정: 90-100 MB/s",
    "between 90 MB/s and 100 MB/s rounded",
    N_("TCP on loopback as v0.9 used it moves {low:MB/s,int} to {high:MB/s,int} (estimated)."),
    here=PAST_SPEED,
    untestable=NEEDS_MACHINE,
)
of_past(
    "6.1",
    "0.10",
    "속도: 18-58배 향상",
    "between 18 and 58 rounded",
    N_(
        "Shared memory moves {low:int} to {high:int} times as much in a second as the TCP of"
        " v0.9: a write, and a read, each against a transfer."
    ),
    here=several(speed("write"), speed("read")) / PAST_SPEED,
    table=printed_over_past(ENDS),
)
text.claim(
    "6.1",
    "0.11",
    "EKI 20회 반복 전송 시간: ~19 ms",
    "exactly 19 ms rounded",
    N_("The transfers of {cycles:int} iterations take about {total:ms,int} in all."),
    figures={"cycles": 20, "total": "19 ms"},
    here=COPIES * 20,
    untestable=NEEDS_MACHINE,
)
text.claim(
    "2.2",
    "0.12",
    "LDM-EKI에서 실제 전송하는 데이터 크기와 동일",
    "exactly 1",
    N_(
        "The payloads tested have the sizes of those of the real program (tested over real, each"
        " of the three)."
    ),
    here=several(
        *(
            said("floats", size_bytes=size) * 4 / real
            for size, real in zip(SIZES, REAL, strict=True)
        )
    ),
    untestable=N_("needs the text's listing, not a run: its bytes follow from it"),
)
text.claim(
    "4.2",
    "0.13",
    "v0.9 코드가 현재 없어 실측 불가능",
    "exactly 0",
    N_(
        "The TCP of v0.9 cannot be measured, its code being gone (launches here that measured"
        " its public receiver)."
    ),
    here=as_v09("launches"),
    unstated=N_("the text's tables say nothing of its code"),
    arm="v0.9",
)
of_past(
    "4.3",
    "0.14",
    "지연 감소: ~10-35ms → 0.71ms (~15-50배 빠름)",
    "between 15 and 50 rounded",
    N_(
        "A transfer by the TCP of v0.9 takes {low:int} to {high:int} times as long as a write"
        " (of {size:MB})."
    ),
    figures={"size": "1.32 MB"},
    here=as_v09() / published("write", "mean"),
    table=PAST_LATENCIES,
)
of_tcp(
    "0.15",
    "단일 스트림 (LDM-EKI처럼): ~1 Gbps = 125 MB/s",
    "at_most 125 MB/s rounded",
    N_(
        "One stream of TCP on loopback moves at most {high:MB/s,int} (the premise of the estimate)."
    ),
    here=PAST_SPEED,
    fair=sound("bandwidth", placement=BOTH),
    adds=N_("a sound receiver on a kept connection, both placements"),
)
of_tcp(
    "0.16",
    "Python pickle 직렬화: -20% → ~100 MB/s",
    "exactly 0.80 rounded",
    N_(
        "Encoding by Python's pickle costs {cost:pct,int} of the bandwidth of TCP (bandwidth"
        " with it over that without)."
    ),
    figures={"cost": "20 %"},
    here=pickled("pickle-5", "cross"),
    fair=pickled(["pickle-0", "pickle-5"], BOTH),
    adds=N_("two protocols of pickle, both placements"),
)
of_past(
    "5.2",
    "0.17",
    "이는 일반적인 TCP localhost 통신(~100 MB/s) 대비 약 18배 이상 빠른 성능이다",
    "at_least 18 rounded",
    N_(
        "The text advises to write that shared memory is about {low:int} times as fast as TCP on"
        " loopback, or more: a write against a transfer by v0.9."
    ),
    here=speed("write") / PAST_SPEED,
    table=printed_over_past("write"),
)

# What the text derives from its own numbers.

SAME = N_("the same number, rounded")
OVER_MEAN = N_("the size as labelled over the mean time")
BELOW = N_("the bandwidths of the payloads below the bound")
ABOVE = N_("the bandwidths of the payloads above the bound")
ALL_SIZES = N_("the mean write over the mean read, over all sizes")
LARGER = N_("the mean write over the mean read, over the two larger payloads")
ALL_CELLS = N_("the standard deviation over the mean, over all cells")
LESS = N_("the number before, less its percentage")
OVER_ESTIMATE = N_("the size over the estimated bandwidth")
OVER_PAST = N_("the bandwidth over that of the past")
PAST_OVER = N_("the time of the past over that of a write")
LABELS = said("size_label", size_bytes=ALL)
ESTIMATE = look("transfer", "tcp_bandwidth_high", section="4.2")


def floats(labels: Values) -> Values:
    """Return the floats of each label, as the listing computes them."""
    return labels.map(lambda label: of(floor(float(label.value) / 1e6 * 2**20 / 4)))


def detailed(op: str | list[str], metric: str, size: Level) -> Lookup:
    """Return the numbers of section 3.1."""
    return look(op, metric, section="3.1", size_bytes=size)


def labelled(op: str, size: Level) -> Lookup:
    """Return the bandwidth of a size as labelled."""
    label = said("size_label", size_bytes=size)
    return label.pipe(bandwidth, detailed(op, "mean", size))


text.derive(
    N_("the label in MiB over four bytes, as the listing computes it"),
    said("floats", size_bytes=ALL),
    LABELS.pipe(floats),
)
for printed in ("size", "data_size"):
    text.derive(SAME, said(printed, size_bytes=ALL), LABELS)
for op in ENDS:
    for size in SIZES:
        text.derive(OVER_MEAN, detailed(op, "bandwidth", size), labelled(op, size))
for metric in ("mean", "bandwidth"):
    summary = look(ENDS, metric, section="3.2", size_bytes=ALL)
    text.derive(SAME, summary, detailed(ENDS, metric, ALL))
    largest = look(ENDS, f"{metric}_rounded", section="4.1")
    text.derive(SAME, largest, detailed(ENDS, metric, "max"))
for op in ENDS:
    text.derive(OVER_MEAN, look(op, "bandwidth_rounded", section="5.2"), labelled(op, "max"))
text.derive(SAME, look("write", "sd_rounded"), detailed("write", "sd", "max"))
PICKS: tuple[tuple[str, Any, Sense], ...] = (("low", least, "lowest"), ("high", most, "highest"))
for by, size_, which in ((BELOW, "min", "small"), (ABOVE, "max", "large")):
    for end, pick, _ in PICKS:
        bandwidths = detailed(ENDS, "bandwidth", size_)
        text.derive(by, said(f"{which}_bandwidth_{end}"), bandwidths.pipe(pick))
for end, pick, sense in PICKS:
    faster, spread = look("read", f"read_faster_{end}"), said(f"spread_{end}")
    text.derive(ALL_SIZES, faster, ratios(SIZES).pipe(pick), sense)
    text.derive(LARGER, faster, ratios(SIZES[1:]).pipe(pick), sense)
    text.derive(ALL_CELLS, spread, spreads(SIZES).pipe(pick), sense)
text.derive(
    N_("the standard deviation over the mean, for the largest payload"),
    said("spread_bound"),
    spreads(LARGEST).pipe(most),
    "highest",
)
text.derive(
    N_("a write and a read, times the iterations"),
    look("transfer", "cycles"),
    COPIES * said("cycle_count"),
)
text.derive(SAME, look("transfer", "tcp_bandwidth_bound"), said("single_stream"))
for printed, op, before, cost in (
    ("after_pickle", "transfer", "tcp_bandwidth_bound", "pickle_cost"),
    ("after_errors", "text", "after_pickle", "error_cost"),
):
    text.derive(LESS, said(printed), look(op, before) * (1 - number(cost)))
for end, bound in (
    *(("low", "past_bandwidth_high"), ("low", "tcp_bandwidth_bound")),
    ("high", "past_bandwidth_low"),
):
    latency = look("transfer", f"past_latency_{end}", section="4.3")
    label = number("size_label", size_bytes="max")
    estimated = (label * 1e9 / number(bound, "transfer")).as_unit("ns")
    text.derive(OVER_ESTIMATE, latency, estimated)
for printed, past in (
    ("improvement", "past_bandwidth"),
    ("improvement_optimistic", "past_bandwidth_slow"),
):
    now = look("write", "bandwidth", section="4.3")
    text.derive(OVER_PAST, look("write", printed, section="4.3"), now / look("transfer", past))
for op, end in (("write", "low"), ("read", "high")):
    improvement = look("transfer", f"improvement_{end}")
    text.derive(OVER_PAST, improvement, printed_over_past(op), "truncated")
for end, pick, _ in PICKS:
    improvement = look("write", f"latency_improvement_{end}", section="4.3")
    text.derive(PAST_OVER, improvement, PAST_LATENCIES.pipe(pick))


# Sentences that can stand in place of claims.


def memcpy(metric: str) -> Lookup:
    """Return the copy of the most bytes that the limits know."""
    copy = look("copy", metric, backend="memcpy", size_bytes="max")
    return Lookup(lambda run: copy(run.of("limits")))


text.correct(
    "0.1",
    table=N_("Over the three payloads a write takes {low:x} to {high:x} as long as a read."),
    table_values=ratios(SIZES).pipe(least_and_most),
    here=N_("A write of {size} takes {ratio:x,interval} as long as a read."),
    here_values={"size": SIZE, "ratio": published("write", "p50") / published("read", "p50")},
)
text.correct(
    *("0.2", "0.3"),
    table=N_("The standard deviations are {low:pct} to {high:pct} of their means."),
    table_values=spreads(SIZES).pipe(least_and_most),
    here=N_("The standard deviations are {low:pct} to {high:pct} of their means."),
    here_values=spreads(SIZES).pipe(least_and_most),
)
text.correct(
    *("0.4", "0.5"),
    table=N_(
        "With {size} moved, the mean write reaches {written} and the mean read {read_back}; MB is a"
        " million bytes."
    ),
    table_values={"size": SIZE, "written": speed("write"), "read_back": speed("read")},
    here=N_("A write of {size} moves {written:GB/s,interval}, a read {read_back:GB/s,interval}."),
    here_values={
        "size": SIZE,
        "written": published("write", "bandwidth"),
        "read_back": published("read", "bandwidth"),
    },
)
text.correct(
    "0.7",
    here=N_(
        "A copy into a reopened mapping takes {copies:x,interval} as long as one into a kept"
        " mapping; the flush takes {flush:pct,interval} of a write."
    ),
    here_values={
        "copies": mapped("write.copy", mapping="reopened") / mapped("write.copy", mapping="kept"),
        "flush": flush("reopened"),
    },
)
text.correct(
    "0.8",
    here=N_(
        "A write moves {reopened}; with the mapping kept it moves {kept}, and memcpy alone, of"
        " {copied} at a time, {memcpy}."
    ),
    here_values={
        "reopened": mapped("write", "bandwidth", mapping="reopened"),
        "kept": mapped("write", "bandwidth", mapping="kept"),
        "memcpy": memcpy("bandwidth"),
        "copied": memcpy("size_bytes"),
    },
)
text.correct(
    *("0.9", "0.13"),
    here=N_(
        "The TCP of v0.9, measured with its public receiver, moves {bandwidth:MB/s,interval}"
        " between two CPUs."
    ),
    here_values={"bandwidth": PAST_SPEED},
)
text.correct(
    "0.10",
    table=N_(
        "A write and a read together are {ratio:x} as fast as TCP at the estimated"
        " {estimate:MB/s,int}."
    ),
    table_values={
        "ratio": COPIES.pipe(partial(bandwidth, SIZE)) / ESTIMATE,
        "estimate": ESTIMATE,
    },
    here=N_(
        "The TCP of v0.9 takes {past:x,interval} as long as a write and a read as v1.0 makes"
        " them; a sound TCP receiver takes {sound:x,interval} as long as shared memory between"
        " two processes."
    ),
    here_values={
        "past": as_v09() / COPIES_OF_V10,
        "sound": sound() / handover(placement="cross"),
    },
)
text.correct(
    "0.14",
    table=N_("By its own estimates a transfer took {low:x} to {high:x} as long as a write."),
    table_values=PAST_LATENCIES.pipe(least_and_most),
    here=N_(
        "A transfer by the TCP of v0.9 takes {past:x,interval} as long as a write as v1.0 makes it,"
        " without the read."
    ),
    here_values={"past": as_v09() / as_v10("write")},
)
text.correct(
    "0.15",
    here=N_(
        "One stream of TCP with a sound receiver moves {bandwidth:MB/s,interval} between two CPUs."
    ),
    here_values={"bandwidth": sound("bandwidth")},
)
text.correct(
    "0.16",
    here=N_(
        "Encoded by pickle (its newest protocol), TCP moves {ratio:x,interval} as much in a"
        " second as without."
    ),
    here_values={"ratio": pickled("pickle-5", "cross")},
)
text.correct(
    "0.11",
    table=N_("The copies of {cycles} iterations take {time:ms}, without the readers' waiting."),
    table_values={"cycles": 20, "time": COPIES * 20},
    here=N_(
        "The transfers of {cycles} iterations, as v1.0 makes them, take {time:ms,interval}; polling"
        " adds an expected {polling:s} (computed)."
    ),
    here_values={
        "cycles": 20,
        "time": COPIES_OF_V10 * 20,
        "polling": Quantity(20 * 350e6, "ns", kind="computed"),
    },
)
text.correct(
    "0.12",
    table=N_("The smallest payload tested has {moved}; the configuration has {size}."),
    table_values={
        "moved": (said("floats", size_bytes=88) * 4).as_unit("B"),
        "size": of(CONFIGURATION).as_unit("B"),
    },
)
