"""LDM-EKI, report on IPC performance, in Korean (text 000): what it claims, and what it derives."""

from collections.abc import Callable
from functools import partial
from math import floor

from ipclab.claims.claim import Compare, Sense, Text
from ipclab.claims.extremes import bandwidth, least, least_and_most, most, over_each
from ipclab.claims.numbers import ALL, Level, Numbers, Values, each, listed, only
from ipclab.stats.quantity import Quantity, of, total
from ipclab.words.catalogue import N_

# What the text calls so many bytes, and what its program moved: the counts of floats, times four.
MOVED = {"84": 88, "13824": 14152, "1382400": 1384120}
SIZES = [*MOVED.values()]
LARGEST, ENSEMBLE, CONFIGURATION = 1384120, 1382400, 84
BOTH = ["same", "cross"]
ENDS = ["write", "read"]
text = Text(
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


def published(run: Numbers, op: str, metric: str = "mean") -> Quantity:
    """Return a write or read of the largest payload by the published method: its mean, or a `metric`."""
    return run.one(op, metric, arm="published", size_bytes=LARGEST)


def ratios(run: Numbers) -> Values:
    """Return the mean write over the mean read of each payload, by the published method."""
    write, read = (run.each(op, "mean", arm="published", size_bytes=SIZES) for op in ENDS)
    return write / read


def spreads(run: Numbers, size: Level) -> Values:
    """Return the deviations over the means, of writes and reads."""
    levels = {"arm": "published", "size_bytes": size}
    return run.each(ENDS, "sd", **levels) / run.each(ENDS, "mean", **levels)


def mapped(
    run: Numbers, op: str, mapping: Level, size: Level = ENSEMBLE, metric: str = ""
) -> Values:
    """Return a part of a write or read, by how the file is mapped: its medians, or a metric."""
    return run.each(op, metric, arm="mapping", mapping=mapping, size_bytes=size)


def kept_or_reopened(run: Numbers, size: Level) -> Values:
    """Return a write over a read, the mapping reopened and kept."""
    mappings = ["reopened", "kept"]
    return mapped(run, "write", mappings, size) / mapped(run, "read", mappings, size)


def opening(run: Numbers, op: str) -> Quantity:
    """Return the share of the smallest write or read that opening, mapping and closing take."""
    parts = [f"{op}.{part}" for part in ("open", "map", "unmap", "close")]
    times = [only(mapped(run, name, "reopened", CONFIGURATION)) for name in (*parts, op)]
    return (total(times[:-1]) / times[-1]).as_unit("share")


def tcp(run: Numbers, metric: str = "", **more: Level) -> Values:
    """Return transfers by TCP: as v0.9 made them, a new connection each, or with `more` levels."""
    levels: dict[str, Level] = {"receive": "recv-4096", "codec": "raw", "placement": "cross"}
    levels |= {"connection": "new", "nodelay": "off", "size_bytes": ENSEMBLE, **more}
    return run.each("handover", metric, arm="tcp", **levels)


def sound(run: Numbers, placement: Level, metric: str = "") -> Values:
    """Return transfers by TCP with a sound receiver on a connection that is kept."""
    kept = {"receive": "recv-into", "connection": "kept", "nodelay": "on"}
    return tcp(run, metric, placement=placement, **kept)


def past_speed(run: Numbers) -> Quantity:
    """Return the bandwidth of the TCP of v0.9, between two CPUs."""
    return only(tcp(run, "bandwidth"))


def handover(run: Numbers, placement: Level) -> Values:
    """Return transfers through shared memory between two processes."""
    levels: dict[str, Level] = {"placement": placement, "size_bytes": ENSEMBLE}
    return run.each("handover", arm="handover", backend="shm-mmap", **levels)


def as_v10(run: Numbers, op: str) -> Quantity:
    """Return a write or a read as v1.0 makes it, the file truncated each time."""
    return only(mapped(run, op, "truncated"))


def past_over_handover(run: Numbers) -> Values:
    """Return transfers by the TCP of v0.9 over those through shared memory, by placement."""
    return tcp(run, placement=BOTH) / handover(run, BOTH)


def speed(run: Numbers, op: str) -> Quantity:
    """Return the bytes of the largest payload over its mean time."""
    return bandwidth(of(LARGEST).as_unit("B"), published(run, op))


def speed_over_past(run: Numbers) -> Values:
    """Return what a write, and what a read, moves over what the TCP of v0.9 moves."""
    past = past_speed(run)
    return listed(speed(run, op) / past for op in ENDS)


def printed_over_past(table: Numbers, op: str | list[str]) -> Values:
    """Return the printed bandwidths of the largest payload over that of the past."""
    now = table.each(op, "bandwidth", section="3.1", size_bytes="max")
    return now / table.one("transfer", "past_bandwidth")


def past_latencies(table: Numbers) -> Values:
    """Return the estimated times of the past over the time of a write."""
    past = [table.one("transfer", f"past_latency_{end}", section="4.3") for end in ("low", "high")]
    return listed(past) / table.one("write", "mean_rounded", section="4.3")


def flush(run: Numbers, mapping: Level) -> Values:
    """Return the share of a write that the flush takes."""
    return mapped(run, "write.flush", mapping) / mapped(run, "write", mapping)


def copies(run: Numbers, count: int | Quantity) -> Quantity:
    """Return what so many writes and reads of the largest payload take."""
    return (published(run, "write") + published(run, "read")) * count


def sizes(table: Numbers) -> Values:
    """Return the bytes of each payload tested over those of the real program's."""
    names = ("receptors", "timesteps", "bytes_per_float", "ensemble")
    receptors, steps, width, ensemble = (table.one("text", name).as_unit("1") for name in names)
    real = [of(CONFIGURATION), receptors * steps * width, receptors * steps * width * ensemble]
    tested = [table.one("text", "floats", size_bytes=size) * 4 for size in SIZES]
    return listed(one / other for one, other in zip(tested, real, strict=True))


def pickled(run: Numbers, codec: Level, placement: Level) -> Values:
    """Return the time of a raw transfer over that of a pickled one."""
    raw = tcp(run, receive="recv-1mib", placement=placement)
    encoded = tcp(run, receive="recv-1mib", codec=codec, placement=placement)
    return over_each(only(raw), encoded) if len(raw) == 1 else raw / encoded


text.claim(
    "0.1",
    "4.1 [2]",
    "읽기가 쓰기보다 2-3배 빠름",
    "between 2 and 3 rounded",
    N_("Reads are {low:int} to {high:int} times as fast as writes (at {size:MB})."),
    figures={"low": 2, "high": 3, "size": "1.32 MB"},
    here=lambda run: published(run, "write") / published(run, "read"),
    fair=lambda run: kept_or_reopened(run, ENSEMBLE),
    adds=MAPPINGS,
)
text.claim(
    "0.1b",
    "4.1 [2]",
    "읽기가 쓰기보다 2-3배 빠름",
    "above 1",
    N_("Reads are faster than writes at every size."),
    here=ratios,
    fair=lambda run: kept_or_reopened(run, [84, 13824, 1382400]),
    adds=MAPPINGS,
)
text.claim(
    "0.2",
    "4.1 [3]",
    "표준편차: 평균의 10-30%",
    "between 10 % and 30 % rounded",
    N_("Every standard deviation is {low:pct,int} to {high:pct,int} of its mean."),
    figures={"low": "10 %", "high": "30 %"},
    here=lambda run: spreads(run, SIZES),
)
text.claim(
    "0.3",
    "6.1",
    "안정성: 표준편차 < 10%",
    "below 10 %",
    N_("The standard deviation is below {high:pct,int} of the mean (at {size:MB})."),
    figures={"high": "10 %", "size": "1.32 MB"},
    here=lambda run: spreads(run, LARGEST),
)
text.claim(
    "0.4",
    "5.2",
    "주요 데이터 전송(1.32 MB)에서 1.85 GB/s 이상의 대역폭을 달성하였다",
    "at_least 1.85 GB/s rounded",
    N_("Writing {size:MB} reaches at least {low:GB/s}."),
    figures={"low": "1.85 GB/s", "size": "1.32 MB"},
    here=lambda run: speed(run, "write"),
    untestable=NEEDS_MACHINE,
)
text.claim(
    "0.5",
    "5.2",
    "1.32 MB 데이터 전송 시 1.85 GB/s의 쓰기 속도와 5.82 GB/s의 읽기 속도를 기록하였다",
    "at_least 5.82 GB/s rounded",
    N_("Reading {size:MB} reaches at least {low:GB/s}."),
    figures={"low": "5.82 GB/s", "size": "1.32 MB"},
    here=lambda run: speed(run, "read"),
    untestable=NEEDS_MACHINE,
)
text.claim(
    "0.6",
    "3.1",
    "매우 작은 데이터는 파일 열기/닫기 오버헤드가 지배적",
    "at_least 50 %",
    N_(
        "For the smallest payload, opening and closing dominate: opening, mapping, unmapping and"
        " closing take at least {low:pct,int} of a write and of a read."
    ),
    figures={"low": "50 %"},
    here=lambda run: listed(opening(run, op) for op in ENDS),
    unstated=NO_PARTS,
    arm="mapping",
)
text.claim(
    "0.7",
    "4.1 [2]",
    "이유: 읽기는 캐시 활용, 쓰기는 flush() 필요",
    "at_least 10 %",
    N_("Writes are slower because of flush(): it takes at least {low:pct,int} of a write."),
    figures={"low": "10 %"},
    here=lambda run: flush(run, "reopened"),
    fair=lambda run: flush(run, ["reopened", "truncated", "kept"]),
    adds=N_("the mapping reopened, truncated each time and kept"),
    unstated=NO_PARTS,
    arm="mapping",
)
text.claim(
    "0.8",
    "5.2",
    "메모리-메모리 직접 복사의 이론적 상한(RAM 대역폭)에 근접한 수치이다",
    "at_most 1.25",
    N_(
        "A write is close to the memory bandwidth: a kept mapping is not more than {high:bare}"
        " times as fast."
    ),
    figures={"high": 1.25},
    here=lambda run: mapped(run, "write", "reopened") / mapped(run, "write", "kept"),
    unstated=NO_PARTS,
    arm="mapping",
)
text.claim(
    "0.9",
    "4.2",
    "최종 추정: 90-100 MB/s",
    "between 90 MB/s and 100 MB/s rounded",
    N_("TCP on loopback as v0.9 used it moves {low:MB/s,int} to {high:MB/s,int} (estimated)."),
    figures={"low": "90 MB/s", "high": "100 MB/s"},
    here=past_speed,
    unstated=ESTIMATED,
    untestable=NEEDS_MACHINE,
    concedes=CONCEDED,
    arm="tcp",
)
text.claim(
    "0.10",
    "6.1",
    "속도: 18-58배 향상",
    "between 18 and 58 rounded",
    N_(
        "Shared memory moves {low:int} to {high:int} times as much in a second as the TCP of"
        " v0.9: a write, and a read, each against a transfer."
    ),
    figures={"low": 18, "high": 58},
    here=speed_over_past,
    own=lambda table: printed_over_past(table, ENDS),
    fair=past_over_handover,
    adds=TWO_ENDS,
    concedes=CONCEDED,
)
text.claim(
    "0.11",
    "6.1",
    "EKI 20회 반복 전송 시간: ~19 ms",
    "exactly 19 ms rounded",
    N_("The transfers of {cycles:int} iterations take about {total:ms,int} in all."),
    figures={"cycles": 20, "total": "19 ms"},
    here=lambda run: copies(run, 20),
    untestable=NEEDS_MACHINE,
)
text.claim(
    "0.12",
    "2.2",
    "LDM-EKI에서 실제 전송하는 데이터 크기와 동일",
    "exactly 1",
    N_(
        "The payloads tested have the sizes of those of the real program (tested over real, each"
        " of the three)."
    ),
    here=sizes,
    untestable=N_("needs the text's listing, not a run: its bytes follow from it"),
)
text.claim(
    "0.13",
    "4.2",
    "v0.9 코드가 현재 없어 실측 불가능",
    "exactly 0",
    N_(
        "The TCP of v0.9 cannot be measured, its code being gone (launches here that measured"
        " its public receiver)."
    ),
    here=lambda run: tcp(run, "launches"),
    unstated=N_("the text's tables say nothing of its code"),
    arm="tcp",
)
text.claim(
    "0.14",
    "4.3",
    "지연 감소: ~10-35ms → 0.71ms (~15-50배 빠름)",
    "between 15 and 50 rounded",
    N_(
        "A transfer by the TCP of v0.9 takes {low:int} to {high:int} times as long as a write"
        " (of {size:MB})."
    ),
    figures={"low": 15, "high": 50, "size": "1.32 MB"},
    here=lambda run: only(tcp(run)) / published(run, "write"),
    own=past_latencies,
    fair=past_over_handover,
    adds=TWO_ENDS,
    concedes=CONCEDED,
)
text.claim(
    "0.15",
    "4.2",
    "단일 스트림 (LDM-EKI처럼): ~1 Gbps = 125 MB/s",
    "at_most 125 MB/s rounded",
    N_(
        "One stream of TCP on loopback moves at most {high:MB/s,int} (the premise of the estimate)."
    ),
    figures={"high": "125 MB/s"},
    here=past_speed,
    fair=lambda run: sound(run, BOTH, "bandwidth"),
    adds=N_("a sound receiver on a kept connection, both placements"),
    unstated=ESTIMATED,
    concedes=CONCEDED,
    arm="tcp",
)
text.claim(
    "0.16",
    "4.2",
    "Python pickle 직렬화: -20% → ~100 MB/s",
    "exactly 0.80 rounded",
    N_(
        "Encoding by Python's pickle costs {cost:pct,int} of the bandwidth of TCP (bandwidth"
        " with it over that without)."
    ),
    figures={"cost": "20 %"},
    here=lambda run: pickled(run, "pickle-5", "cross"),
    fair=lambda run: pickled(run, ["pickle-0", "pickle-5"], BOTH),
    adds=N_("two protocols of pickle, both placements"),
    unstated=ESTIMATED,
    concedes=CONCEDED,
    arm="tcp",
)
text.claim(
    "0.17",
    "5.2",
    "이는 일반적인 TCP localhost 통신(~100 MB/s) 대비 약 18배 이상 빠른 성능이다",
    "at_least 18 rounded",
    N_(
        "The text advises to write that shared memory is about {low:int} times as fast as TCP on"
        " loopback, or more: a write against a transfer by v0.9."
    ),
    figures={"low": 18},
    here=lambda run: speed(run, "write") / past_speed(run),
    own=lambda table: printed_over_past(table, "write"),
    fair=past_over_handover,
    adds=TWO_ENDS,
    concedes=CONCEDED,
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


def floats(table: Numbers) -> Values:
    """Return the floats of each label, as the listing computes them."""
    labels = table.each("text", "size_label", size_bytes=ALL)
    return labels.map(lambda label: of(floor(float(label.value) / 1e6 * 2**20 / 4)))


def labelled(table: Numbers, size: Level) -> Values:
    """Return the bandwidths of sizes as labelled."""
    times = table.each(ENDS, "mean", section="3.1", size_bytes=size)
    if size != ALL:
        (label,) = table.each("text", "size_label", size_bytes=size)
        return times.map(lambda time: bandwidth(label, time))
    labels = table.each("text", "size_label", size_bytes=ALL)
    return times.index.to_series().map(lambda at: bandwidth(labels[at[1]], times[at]))


def detailed(metric: str, size: Level) -> Compare:
    """Return the function that looks up the numbers of section 3.1."""
    return each(ENDS, metric, section="3.1", size_bytes=size)


def larger_ratios(table: Numbers) -> Values:
    """Return the mean write over the mean read of the two larger payloads."""
    return ratios(table).loc[SIZES[1:]]


def picked(pick: Callable[[Values], Quantity], values: Compare) -> Compare:
    """Return the function that takes one of several."""
    return lambda table: pick(values(table))


def less(table: Numbers, op: str, metric: str, cost: str) -> Quantity:
    """Return a number less its percentage."""
    return table.one(op, metric) * (1 - table.one("text", cost).as_unit("1"))


def estimated(table: Numbers, bound: str) -> Quantity:
    """Return the time that the largest payload takes at an estimate."""
    label = table.one("text", "size_label", size_bytes="max")
    slow = table.one("transfer", bound)
    return (label.as_unit("1") * 1e9 / slow.as_unit("1")).as_unit("ns")


def over_past(table: Numbers, past: str) -> Quantity:
    """Return the bandwidth of the correction over that of the past."""
    return table.one("write", "bandwidth", section="4.3") / table.one("transfer", past)


text.derive(
    N_("the label in MiB over four bytes, as the listing computes it"),
    each("text", "floats", size_bytes=ALL),
    floats,
)
for printed in ("size", "data_size"):
    label = each("text", "size_label", size_bytes=ALL)
    text.derive(SAME, each("text", printed, size_bytes=ALL), label)
text.derive(OVER_MEAN, detailed("bandwidth", ALL), partial(labelled, size=ALL))
for metric in ("mean", "bandwidth"):
    summary = each(ENDS, metric, section="3.2", size_bytes=ALL)
    text.derive(SAME, summary, detailed(metric, ALL))
    text.derive(SAME, each(ENDS, f"{metric}_rounded", section="4.1"), detailed(metric, "max"))
text.derive(
    OVER_MEAN, each(ENDS, "bandwidth_rounded", section="5.2"), partial(labelled, size="max")
)
text.derive(SAME, each("write", "sd_rounded"), each("write", "sd", section="3.1", size_bytes="max"))
for by, size, which in ((BELOW, "min", "small"), (ABOVE, "max", "large")):
    for pick, end in ((least, "low"), (most, "high")):
        bandwidths = detailed("bandwidth", size)
        text.derive(by, each("text", f"{which}_bandwidth_{end}"), picked(pick, bandwidths))
for end, pick in (("low", least), ("high", most)):
    sense: Sense = "lowest" if end == "low" else "highest"
    faster, spread = each("read", f"read_faster_{end}"), each("text", f"spread_{end}")
    text.derive(ALL_SIZES, faster, picked(pick, ratios), sense)
    text.derive(LARGER, faster, picked(pick, larger_ratios), sense)
    text.derive(ALL_CELLS, spread, picked(pick, partial(spreads, size=SIZES)), sense)
text.derive(
    N_("the standard deviation over the mean, for the largest payload"),
    each("text", "spread_bound"),
    picked(most, partial(spreads, size=LARGEST)),
    "highest",
)
text.derive(
    N_("a write and a read, times the iterations"),
    each("transfer", "cycles"),
    lambda table: copies(table, table.one("text", "cycle_count")),
)
text.derive(SAME, each("transfer", "tcp_bandwidth_bound"), each("text", "single_stream"))
for printed, op, before, cost in (
    ("after_pickle", "transfer", "tcp_bandwidth_bound", "pickle_cost"),
    ("after_errors", "text", "after_pickle", "error_cost"),
):
    text.derive(LESS, each("text", printed), partial(less, op=op, metric=before, cost=cost))
for end, bound in (
    *(("low", "past_bandwidth_high"), ("low", "tcp_bandwidth_bound")),
    ("high", "past_bandwidth_low"),
):
    latency = each("transfer", f"past_latency_{end}", section="4.3")
    text.derive(OVER_ESTIMATE, latency, partial(estimated, bound=bound))
for printed, past in (
    ("improvement", "past_bandwidth"),
    ("improvement_optimistic", "past_bandwidth_slow"),
):
    text.derive(OVER_PAST, each("write", printed, section="4.3"), partial(over_past, past=past))
for op, end in (("write", "low"), ("read", "high")):
    computed = partial(printed_over_past, op=op)
    text.derive(OVER_PAST, each("transfer", f"improvement_{end}"), computed, "truncated")
for end, pick in (("low", least), ("high", most)):
    improvement = each("write", f"latency_improvement_{end}", section="4.3")
    text.derive(PAST_OVER, improvement, picked(pick, past_latencies))


# Sentences that can stand in place of claims.

SIZE = of(LARGEST).as_unit("B")


def memcpy(run: Numbers, metric: str) -> Quantity:
    """Return the copy of the most bytes that the limits know."""
    return run.of("limits").one("copy", metric, backend="memcpy", size_bytes="max")


text.correct(
    "0.1",
    own=N_("Over the three payloads a write takes {low:x} to {high:x} as long as a read."),
    own_values=lambda table: least_and_most(ratios(table)),
    here=N_("A write of {size} takes {ratio:x,interval} as long as a read."),
    here_values=lambda run: {
        "size": SIZE,
        "ratio": published(run, "write", "p50") / published(run, "read", "p50"),
    },
)
text.correct(
    *("0.2", "0.3"),
    own=N_("The standard deviations are {low:pct} to {high:pct} of their means."),
    own_values=lambda table: least_and_most(spreads(table, SIZES)),
    here=N_("The standard deviations are {low:pct} to {high:pct} of their means."),
    here_values=lambda run: least_and_most(spreads(run, SIZES)),
)
text.correct(
    *("0.4", "0.5"),
    own=N_(
        "With {size} moved, the mean write reaches {written} and the mean read {read_back}; MB is a"
        " million bytes."
    ),
    own_values=lambda table: {
        "size": SIZE,
        "written": speed(table, "write"),
        "read_back": speed(table, "read"),
    },
    here=N_("A write of {size} moves {written:GB/s,interval}, a read {read_back:GB/s,interval}."),
    here_values=lambda run: {
        "size": SIZE,
        "written": published(run, "write", "bandwidth"),
        "read_back": published(run, "read", "bandwidth"),
    },
)
text.correct(
    "0.7",
    here=N_(
        "A copy into a reopened mapping takes {copies:x,interval} as long as one into a kept"
        " mapping; the flush takes {flush:pct,interval} of a write."
    ),
    here_values=lambda run: {
        "copies": only(mapped(run, "write.copy", "reopened") / mapped(run, "write.copy", "kept")),
        "flush": only(flush(run, "reopened")),
    },
)
text.correct(
    "0.8",
    here=N_(
        "A write moves {reopened}; with the mapping kept it moves {kept}, and memcpy alone, of"
        " {copied} at a time, {memcpy}."
    ),
    here_values=lambda run: {
        "reopened": only(mapped(run, "write", "reopened", metric="bandwidth")),
        "kept": only(mapped(run, "write", "kept", metric="bandwidth")),
        "memcpy": memcpy(run, "bandwidth"),
        "copied": memcpy(run, "size_bytes"),
    },
)
text.correct(
    *("0.9", "0.13"),
    here=N_(
        "The TCP of v0.9, measured with its public receiver, moves {bandwidth:MB/s,interval}"
        " between two CPUs."
    ),
    here_values=lambda run: {"bandwidth": past_speed(run)},
)
text.correct(
    "0.10",
    own=N_(
        "A write and a read together are {ratio:x} as fast as TCP at the estimated"
        " {estimate:MB/s,int}."
    ),
    own_values=lambda table: {
        "ratio": bandwidth(SIZE, published(table, "write") + published(table, "read"))
        / table.one("transfer", "tcp_bandwidth_high", section="4.2"),
        "estimate": table.one("transfer", "tcp_bandwidth_high", section="4.2"),
    },
    here=N_(
        "The TCP of v0.9 takes {past:x,interval} as long as a write and a read as v1.0 makes"
        " them; a sound TCP receiver takes {sound:x,interval} as long as shared memory between"
        " two processes."
    ),
    here_values=lambda run: {
        "past": only(tcp(run)) / (as_v10(run, "write") + as_v10(run, "read")),
        "sound": only(sound(run, "cross") / handover(run, "cross")),
    },
)
text.correct(
    "0.14",
    own=N_("By its own estimates a transfer took {low:x} to {high:x} as long as a write."),
    own_values=lambda table: least_and_most(past_latencies(table)),
    here=N_(
        "A transfer by the TCP of v0.9 takes {past:x,interval} as long as a write as v1.0 makes it,"
        " without the read."
    ),
    here_values=lambda run: {"past": only(tcp(run)) / as_v10(run, "write")},
)
text.correct(
    "0.15",
    here=N_(
        "One stream of TCP with a sound receiver moves {bandwidth:MB/s,interval} between two CPUs."
    ),
    here_values=lambda run: {"bandwidth": only(sound(run, "cross", "bandwidth"))},
)
text.correct(
    "0.16",
    here=N_(
        "Encoded by pickle (its newest protocol), TCP moves {ratio:x,interval} as much in a"
        " second as without."
    ),
    here_values=lambda run: {"ratio": only(pickled(run, "pickle-5", "cross"))},
)
text.correct(
    "0.11",
    own=N_("The copies of {cycles} iterations take {time:ms}, without the readers' waiting."),
    own_values=lambda table: {"cycles": of(20), "time": copies(table, 20)},
    here=N_(
        "The transfers of {cycles} iterations, as v1.0 makes them, take {time:ms,interval}; polling"
        " adds an expected {polling:s} (computed)."
    ),
    here_values=lambda run: {
        "cycles": of(20),
        "time": (as_v10(run, "write") + as_v10(run, "read")) * 20,
        "polling": Quantity(20 * 350e6, "ns", kind="computed"),
    },
)
text.correct(
    "0.12",
    own=N_("The smallest payload tested has {moved}; the configuration has {size}."),
    own_values=lambda table: {
        "moved": (table.one("text", "floats", size_bytes=88) * 4).as_unit("B"),
        "size": of(CONFIGURATION).as_unit("B"),
    },
)
