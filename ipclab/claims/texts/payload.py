"""LDM-EKI, report on IPC performance, in Korean (text 000): what it claims, and what it derives."""

from collections.abc import Mapping
from functools import partial
from math import floor
from typing import Any

from ipclab.claims.claim import Sense, Text
from ipclab.claims.extremes import bandwidth, least, most, over_each
from ipclab.claims.numbers import ALL, Compared, Level, Numbers, Values, listed, only
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


def mean(run: Numbers, op: str) -> Quantity:
    """Return the mean time of the largest payload by the published method."""
    return run.one(op, "mean", arm="published", size_bytes=LARGEST)


def ratios(run: Numbers) -> Values:
    """Return the mean write over the mean read of each payload, by the published method."""
    write, read = (run.each(op, "mean", arm="published", size_bytes=SIZES) for op in ENDS)
    return write / read


def spreads(run: Numbers, size: Level) -> Values:
    """Return the deviations over the means, of writes and reads."""
    levels = {"arm": "published", "size_bytes": size}
    return run.each(ENDS, "sd", **levels) / run.each(ENDS, "mean", **levels)


def mapped(run: Numbers, op: str, mapping: Level, size: Level = ENSEMBLE) -> Values:
    """Return the medians of a part of a write or read, by how the file is mapped."""
    return run.each(op, arm="mapping", mapping=mapping, size_bytes=size)


def kept_or_reopened(run: Numbers, size: Level) -> Values:
    """Return a write over a read, the mapping reopened and kept."""
    mappings = ["reopened", "kept"]
    return mapped(run, "write", mappings, size) / mapped(run, "read", mappings, size)


def opening(run: Numbers, op: str) -> Quantity:
    """Return the share of the smallest write or read that opening, mapping and closing take."""
    parts = [f"{op}.{part}" for part in ("open", "map", "unmap", "close")]
    times = [only(mapped(run, name, "reopened", CONFIGURATION)) for name in (*parts, op)]
    return (total(times[:-1]) / times[-1]).as_unit("share")


def tcp(
    run: Numbers,
    receive: str = "recv-4096",
    codec: Level = "raw",
    placement: Level = "cross",
    metric: str = "",
) -> Values:
    """Return transfers by TCP, a new connection each, as v0.9 made them."""
    levels: dict[str, Level] = {"receive": receive, "codec": codec, "placement": placement}
    return run.each(
        "handover",
        metric,
        arm="tcp",
        connection="new",
        nodelay="off",
        size_bytes=ENSEMBLE,
        **levels,
    )


def sound(run: Numbers, placement: Level, metric: str = "") -> Values:
    """Return transfers by TCP with a sound receiver on a connection that is kept."""
    levels: dict[str, Level] = {"receive": "recv-into", "codec": "raw", "placement": placement}
    return run.each(
        "handover",
        metric,
        arm="tcp",
        connection="kept",
        nodelay="on",
        size_bytes=ENSEMBLE,
        **levels,
    )


def past_speed(run: Numbers) -> Quantity:
    """Return the bandwidth of the TCP of v0.9, between two CPUs."""
    return only(tcp(run, metric="bandwidth"))


def handover(run: Numbers, placement: Level) -> Values:
    """Return transfers through shared memory between two processes."""
    levels: dict[str, Level] = {"placement": placement, "size_bytes": ENSEMBLE}
    return run.each("handover", arm="handover", backend="shm-mmap", **levels)


def as_v10(run: Numbers, op: str) -> Quantity:
    """Return a write or a read as v1.0 makes it, the file truncated each time."""
    return only(mapped(run, op, "truncated"))


@text.claim(
    "0.1",
    "4.1 [2]",
    "between 2 and 3 rounded",
    N_("Reads are {low:int} to {high:int} times as fast as writes (at {size:MB})."),
    figures={"low": 2, "high": 3, "size": "1.32 MB"},
)
def reads_are_two_to_three_times_as_fast(run: Numbers) -> Compared:
    """읽기가 쓰기보다 2-3배 빠름"""
    return mean(run, "write") / mean(run, "read")


@reads_are_two_to_three_times_as_fast.fairly(MAPPINGS)
def _(run: Numbers) -> Compared:
    return kept_or_reopened(run, ENSEMBLE)


@text.claim("0.1b", "4.1 [2]", "above 1", N_("Reads are faster than writes at every size."))
def reads_are_faster_at_every_size(run: Numbers) -> Compared:
    """읽기가 쓰기보다 2-3배 빠름"""
    return ratios(run)


@reads_are_faster_at_every_size.fairly(MAPPINGS)
def _(run: Numbers) -> Compared:
    return kept_or_reopened(run, [84, 13824, 1382400])


@text.claim(
    "0.2",
    "4.1 [3]",
    "between 10 % and 30 % rounded",
    N_("Every standard deviation is {low:pct,int} to {high:pct,int} of its mean."),
    figures={"low": "10 %", "high": "30 %"},
)
def deviations_are_a_tenth_to_three_of_means(run: Numbers) -> Compared:
    """표준편차: 평균의 10-30%"""
    return spreads(run, SIZES)


@text.claim(
    "0.3",
    "6.1",
    "below 10 %",
    N_("The standard deviation is below {high:pct,int} of the mean (at {size:MB})."),
    figures={"high": "10 %", "size": "1.32 MB"},
)
def deviations_are_below_a_tenth(run: Numbers) -> Compared:
    """안정성: 표준편차 < 10%"""
    return spreads(run, LARGEST)


def speed(run: Numbers, op: str) -> Quantity:
    """Return the bytes of the largest payload over its mean time."""
    return bandwidth(of(LARGEST).as_unit("B"), mean(run, op))


@text.claim(
    "0.4",
    "5.2",
    "at_least 1.85 GB/s rounded",
    N_("Writing {size:MB} reaches at least {low:GB/s}."),
    figures={"low": "1.85 GB/s", "size": "1.32 MB"},
    untestable=NEEDS_MACHINE,
)
def writes_reach_their_bandwidth(run: Numbers) -> Compared:
    """주요 데이터 전송(1.32 MB)에서 1.85 GB/s 이상의 대역폭을 달성하였다"""
    return speed(run, "write")


@text.claim(
    "0.5",
    "5.2",
    "at_least 5.82 GB/s rounded",
    N_("Reading {size:MB} reaches at least {low:GB/s}."),
    figures={"low": "5.82 GB/s", "size": "1.32 MB"},
    untestable=NEEDS_MACHINE,
)
def reads_reach_their_bandwidth(run: Numbers) -> Compared:
    """1.32 MB 데이터 전송 시 1.85 GB/s의 쓰기 속도와 5.82 GB/s의 읽기 속도를 기록하였다"""
    return speed(run, "read")


@text.claim(
    "0.6",
    "3.1",
    "at_least 50 %",
    N_(
        "For the smallest payload, opening and closing dominate: opening, mapping, unmapping and"
        " closing take at least {low:pct,int} of a write and of a read."
    ),
    figures={"low": "50 %"},
    unstated=NO_PARTS,
    arm="mapping",
)
def opening_and_closing_dominate(run: Numbers) -> Compared:
    """매우 작은 데이터는 파일 열기/닫기 오버헤드가 지배적"""
    return listed([opening(run, op) for op in ENDS])


def flush(run: Numbers, mapping: Level) -> Values:
    """Return the share of a write that the flush takes."""
    return mapped(run, "write.flush", mapping) / mapped(run, "write", mapping)


@text.claim(
    "0.7",
    "4.1 [2]",
    "at_least 10 %",
    N_("Writes are slower because of flush(): it takes at least {low:pct,int} of a write."),
    figures={"low": "10 %"},
    unstated=NO_PARTS,
    arm="mapping",
)
def flush_makes_writes_slow(run: Numbers) -> Compared:
    """이유: 읽기는 캐시 활용, 쓰기는 flush() 필요"""
    return flush(run, "reopened")


@flush_makes_writes_slow.fairly(N_("the mapping reopened, truncated each time and kept"))
def _(run: Numbers) -> Compared:
    return flush(run, ["reopened", "truncated", "kept"])


@text.claim(
    "0.8",
    "5.2",
    "at_most 1.25",
    N_(
        "A write is close to the memory bandwidth: a kept mapping is not more than {high:bare}"
        " times"
        " as fast."
    ),
    figures={"high": 1.25},
    unstated=NO_PARTS,
    arm="mapping",
)
def a_write_is_close_to_the_memory(run: Numbers) -> Compared:
    """메모리-메모리 직접 복사의 이론적 상한(RAM 대역폭)에 근접한 수치이다"""
    return mapped(run, "write", "reopened") / mapped(run, "write", "kept")


@text.claim(
    "0.9",
    "4.2",
    "between 90 MB/s and 100 MB/s rounded",
    N_("TCP on loopback as v0.9 used it moves {low:MB/s,int} to {high:MB/s,int} (estimated)."),
    figures={"low": "90 MB/s", "high": "100 MB/s"},
    unstated=ESTIMATED,
    untestable=NEEDS_MACHINE,
    concedes=CONCEDED,
    arm="tcp",
)
def the_estimate_of_past_speed(run: Numbers) -> Compared:
    """최종 추정: 90-100 MB/s"""
    return past_speed(run)


@text.claim(
    "0.10",
    "6.1",
    "between 18 and 58 rounded",
    N_(
        "Shared memory moves {low:int} to {high:int} times as much in a second as the TCP of"
        " v0.9: a"
        " write, and a read, each against a transfer."
    ),
    figures={"low": 18, "high": 58},
    concedes=CONCEDED,
)
def shared_memory_moves_more(run: Numbers) -> Compared:
    """속도: 18-58배 향상"""
    past = past_speed(run)
    return listed([speed(run, op) / past for op in ENDS])


@shared_memory_moves_more.on_its_table
def _(table: Numbers) -> Compared:
    now = table.each(ENDS, "bandwidth", section="3.1", size_bytes="max")
    return now / table.one("transfer", "past_bandwidth")


@shared_memory_moves_more.fairly(TWO_ENDS)
def _(run: Numbers) -> Compared:
    return tcp(run, placement=BOTH) / handover(run, BOTH)


@text.claim(
    "0.11",
    "6.1",
    "exactly 19 ms rounded",
    N_("The transfers of {cycles:int} iterations take about {total:ms,int} in all."),
    figures={"cycles": 20, "total": "19 ms"},
    untestable=NEEDS_MACHINE,
)
def twenty_iterations_take_so_long(run: Numbers) -> Compared:
    """EKI 20회 반복 전송 시간: ~19 ms"""
    return (mean(run, "write") + mean(run, "read")) * 20


@text.claim(
    "0.12",
    "2.2",
    "exactly 1",
    N_(
        "The payloads tested have the sizes of those of the real program (tested over real, each"
        " of the three)."
    ),
    untestable=N_("needs the text's listing, not a run: its bytes follow from it"),
)
def sizes_are_those_of_the_program(table: Numbers) -> Compared:
    """LDM-EKI에서 실제 전송하는 데이터 크기와 동일"""
    names = ("receptors", "timesteps", "bytes_per_float", "ensemble")
    receptors, steps, each, ensemble = (table.one("text", name).as_unit("1") for name in names)
    real = [of(CONFIGURATION), receptors * steps * each, receptors * steps * each * ensemble]
    tested = [table.one("text", "floats", size_bytes=size) * 4 for size in SIZES]
    return listed(one / other for one, other in zip(tested, real, strict=True))


@text.claim(
    "0.13",
    "4.2",
    "exactly 0",
    N_(
        "The TCP of v0.9 cannot be measured, its code being gone (launches here that measured"
        " its public receiver)."
    ),
    unstated=N_("the text's tables say nothing of its code"),
    arm="tcp",
)
def the_past_cannot_be_measured(run: Numbers) -> Compared:
    """v0.9 코드가 현재 없어 실측 불가능"""
    return tcp(run, metric="launches")


@text.claim(
    "0.14",
    "4.3",
    "between 15 and 50 rounded",
    N_(
        "A transfer by the TCP of v0.9 takes {low:int} to {high:int} times as long as a write"
        " (of {size:MB})."
    ),
    figures={"low": 15, "high": 50, "size": "1.32 MB"},
    concedes=CONCEDED,
)
def the_past_took_longer(run: Numbers) -> Compared:
    """지연 감소: ~10-35ms → 0.71ms (~15-50배 빠름)"""
    return only(tcp(run)) / mean(run, "write")


@the_past_took_longer.on_its_table
def past_latencies(table: Numbers) -> Compared:
    """Return the estimated times of the past over the time of a write."""
    past = [table.one("transfer", f"past_latency_{end}", section="4.3") for end in ("low", "high")]
    return listed(past) / table.one("write", "mean_rounded", section="4.3")


@the_past_took_longer.fairly(TWO_ENDS)
def _(run: Numbers) -> Compared:
    return tcp(run, placement=BOTH) / handover(run, BOTH)


@text.claim(
    "0.15",
    "4.2",
    "at_most 125 MB/s rounded",
    N_(
        "One stream of TCP on loopback moves at most {high:MB/s,int} (the premise of the estimate)."
    ),
    figures={"high": "125 MB/s"},
    unstated=ESTIMATED,
    concedes=CONCEDED,
    arm="tcp",
)
def one_stream_moves_so_much_at_most(run: Numbers) -> Compared:
    """단일 스트림 (LDM-EKI처럼): ~1 Gbps = 125 MB/s"""
    return past_speed(run)


@one_stream_moves_so_much_at_most.fairly(
    N_("a sound receiver on a kept connection, both placements")
)
def _(run: Numbers) -> Compared:
    return sound(run, BOTH, "bandwidth")


def pickled(run: Numbers, codec: Level, placement: Level) -> Values:
    """Return the time of a raw transfer over that of a pickled one."""
    raw = tcp(run, "recv-1mib", "raw", placement)
    encoded = tcp(run, "recv-1mib", codec, placement)
    return over_each(only(raw), encoded) if len(raw) == 1 else raw / encoded


@text.claim(
    "0.16",
    "4.2",
    "exactly 0.80 rounded",
    N_(
        "Encoding by Python's pickle costs {cost:pct,int} of the bandwidth of TCP (bandwidth"
        " with it over that without)."
    ),
    figures={"cost": "20 %"},
    unstated=ESTIMATED,
    concedes=CONCEDED,
    arm="tcp",
)
def pickle_costs_a_fifth(run: Numbers) -> Compared:
    """Python pickle 직렬화: -20% → ~100 MB/s"""
    return pickled(run, "pickle-5", "cross")


@pickle_costs_a_fifth.fairly(N_("two protocols of pickle, both placements"))
def _(run: Numbers) -> Compared:
    return pickled(run, ["pickle-0", "pickle-5"], BOTH)


@text.claim(
    "0.17",
    "5.2",
    "at_least 18 rounded",
    N_(
        "The text advises to write that shared memory is about {low:int} times as fast as TCP on"
        " loopback, or more: a write against a transfer by v0.9."
    ),
    figures={"low": 18},
    concedes=CONCEDED,
)
def the_advised_ratio(run: Numbers) -> Compared:
    """이는 일반적인 TCP localhost 통신(~100 MB/s) 대비 약 18배 이상 빠른 성능이다"""
    return speed(run, "write") / past_speed(run)


@the_advised_ratio.on_its_table
def _(table: Numbers) -> Compared:
    now = table.one("write", "bandwidth", section="3.1", size_bytes="max")
    return now / table.one("transfer", "past_bandwidth")


@the_advised_ratio.fairly(TWO_ENDS)
def _(run: Numbers) -> Compared:
    return tcp(run, placement=BOTH) / handover(run, BOTH)


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


def one(op: str, metric: str, **levels: Level) -> Any:
    """Return the function that looks up a printed number."""
    return lambda table: table.one(op, metric, **levels)


def each(op: str | list[str], metric: str, **levels: Level) -> Any:
    """Return the function that looks up printed numbers."""
    return lambda table: table.each(op, metric, **levels)


def floats(table: Numbers) -> Compared:
    """Return the floats of each label, as the listing computes them."""
    labels = table.each("text", "size_label", size_bytes=ALL)
    return labels.map(lambda label: of(floor(float(label.value) / 1e6 * 2**20 / 4)))


def labelled(table: Numbers, size: Level) -> Compared:
    """Return the bandwidths of sizes as labelled."""
    times = table.each(ENDS, "mean", section="3.1", size_bytes=size)
    if size != ALL:
        (label,) = table.each("text", "size_label", size_bytes=size)
        return times.map(lambda time: bandwidth(label, time))
    labels = table.each("text", "size_label", size_bytes=ALL)
    return times.index.to_series().map(lambda at: bandwidth(labels[at[1]], times[at]))


def detailed(metric: str, size: Level) -> Any:
    """Return the function that looks up the numbers of section 3.1."""
    return each(ENDS, metric, section="3.1", size_bytes=size)


def smallest(pick: Any, size: str) -> Any:
    """Return the function that takes one of the bandwidths of a size."""
    return lambda table: pick(detailed("bandwidth", size)(table))


def larger_ratios(table: Numbers) -> Values:
    """Return the mean write over the mean read of the two larger payloads."""
    return ratios(table).loc[SIZES[1:]]


def all_spreads(table: Numbers) -> Values:
    """Return the deviations over the means of all payloads."""
    return spreads(table, SIZES)


def picked(pick: Any, values: Any) -> Any:
    """Return the function that takes one of several."""
    return lambda table: pick(values(table))


def less(metric: str, op: str, cost: str) -> Any:
    """Return the function that takes a percentage off a number."""
    return lambda table: table.one(op, metric) * (1 - table.one("text", cost).as_unit("1"))


def estimated(bound: str) -> Any:
    """Return the function of the time that the largest payload takes at an estimate."""

    def time(table: Numbers) -> Compared:
        label = table.one("text", "size_label", size_bytes="max")
        slow = table.one("transfer", bound)
        return (label.as_unit("1") * 1e9 / slow.as_unit("1")).as_unit("ns")

    return time


def over_past(op: str, past: str, **levels: Level) -> Any:
    """Return the function of a bandwidth over that of the past."""
    return lambda table: table.one(op, "bandwidth", **levels) / table.one("transfer", past)


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
text.derive(SAME, one("write", "sd_rounded"), one("write", "sd", section="3.1", size_bytes="max"))
for by, size, which in ((BELOW, "min", "small"), (ABOVE, "max", "large")):
    for pick, end in ((least, "low"), (most, "high")):
        text.derive(by, one("text", f"{which}_bandwidth_{end}"), smallest(pick, size))
for end, pick in (("low", least), ("high", most)):
    sense: Sense = "lowest" if end == "low" else "highest"
    faster = one("read", f"read_faster_{end}")
    text.derive(ALL_SIZES, faster, picked(pick, ratios), sense)
    text.derive(LARGER, faster, picked(pick, larger_ratios), sense)
    text.derive(ALL_CELLS, one("text", f"spread_{end}"), picked(pick, all_spreads), sense)
text.derive(
    N_("the standard deviation over the mean, for the largest payload"),
    one("text", "spread_bound"),
    lambda table: most(spreads(table, LARGEST)),
    "highest",
)
text.derive(
    N_("a write and a read, times the iterations"),
    one("transfer", "cycles"),
    lambda table: (mean(table, "write") + mean(table, "read")) * table.one("text", "cycle_count"),
)
text.derive(SAME, one("transfer", "tcp_bandwidth_bound"), one("text", "single_stream"))
text.derive(
    LESS, one("text", "after_pickle"), less("tcp_bandwidth_bound", "transfer", "pickle_cost")
)
text.derive(LESS, one("text", "after_errors"), less("after_pickle", "text", "error_cost"))
for end, bound in (
    *(("low", "past_bandwidth_high"), ("low", "tcp_bandwidth_bound")),
    ("high", "past_bandwidth_low"),
):
    text.derive(
        OVER_ESTIMATE, one("transfer", f"past_latency_{end}", section="4.3"), estimated(bound)
    )
now = {"section": "4.3"}
text.derive(
    OVER_PAST, one("write", "improvement", **now), over_past("write", "past_bandwidth", **now)
)
text.derive(
    OVER_PAST,
    one("write", "improvement_optimistic"),
    over_past("write", "past_bandwidth_slow", **now),
)
for op, end in (("write", "low"), ("read", "high")):
    computed = over_past(op, "past_bandwidth", section="3.1", size_bytes="max")
    text.derive(OVER_PAST, one("transfer", f"improvement_{end}"), computed, "truncated")
for end, pick in (("low", least), ("high", most)):
    improvement = one("write", f"latency_improvement_{end}", section="4.3")
    text.derive(PAST_OVER, improvement, picked(pick, past_latencies))


# Sentences that can stand in place of claims.


def ends(values: Values) -> Mapping[str, Quantity]:
    """Return the least and the greatest of what is told."""
    return {"low": least(values), "high": most(values)}


SIZE = of(LARGEST).as_unit("B")
text.correct(
    "0.1",
    own=N_("Over the three payloads a write takes {low:x} to {high:x} as long as a read."),
    own_values=lambda table: ends(ratios(table)),
    here=N_("A write of {size} takes {ratio:x,interval} as long as a read."),
    here_values=lambda run: {
        "size": SIZE,
        "ratio": run.one("write", arm="published", size_bytes=LARGEST)
        / run.one("read", arm="published", size_bytes=LARGEST),
    },
)
text.correct(
    *("0.2", "0.3"),
    own=N_("The standard deviations are {low:pct} to {high:pct} of their means."),
    own_values=lambda table: ends(spreads(table, SIZES)),
    here=N_("The standard deviations are {low:pct} to {high:pct} of their means."),
    here_values=lambda run: ends(spreads(run, SIZES)),
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
        "written": run.one("write", "bandwidth", arm="published", size_bytes=LARGEST),
        "read_back": run.one("read", "bandwidth", arm="published", size_bytes=LARGEST),
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
    here_values=lambda run: (
        {
            mapping: run.one(
                "write", "bandwidth", arm="mapping", mapping=mapping, size_bytes=ENSEMBLE
            )
            for mapping in ("reopened", "kept")
        }
        | {
            name: run.of("limits").one("copy", metric, backend="memcpy", size_bytes="max")
            for name, metric in (("memcpy", "bandwidth"), ("copied", "size_bytes"))
        }
    ),
)
text.correct(
    *("0.9", "0.13"),
    here=N_(
        "The TCP of v0.9, measured with its public receiver, moves {bandwidth:MB/s,interval}"
        " between"
        " two CPUs."
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
        "ratio": bandwidth(SIZE, mean(table, "write") + mean(table, "read"))
        / table.one("transfer", "tcp_bandwidth_high", section="4.2"),
        "estimate": table.one("transfer", "tcp_bandwidth_high", section="4.2"),
    },
    here=N_(
        "The TCP of v0.9 takes {past:x,interval} as long as a write and a read as v1.0 makes"
        " them; a"
        " sound TCP receiver takes {sound:x,interval} as long as shared memory between two"
        " processes."
    ),
    here_values=lambda run: {
        "past": only(tcp(run)) / (as_v10(run, "write") + as_v10(run, "read")),
        "sound": only(sound(run, "cross") / handover(run, "cross")),
    },
)
text.correct(
    "0.14",
    own=N_("By its own estimates a transfer took {low:x} to {high:x} as long as a write."),
    own_values=lambda table: ends(past_latencies(table)),
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
    own_values=lambda table: {
        "cycles": of(20),
        "time": (mean(table, "write") + mean(table, "read")) * 20,
    },
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
