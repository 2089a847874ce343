"""plugin.go multiplexer, final report, in Korean (text 002): what it claims, and what it derives."""

from functools import partial

import pandas as pd

from ipclab.claims.claim import Text
from ipclab.claims.numbers import Level, Numbers, Values, each, listed, only
from ipclab.stats.quantity import Quantity, of
from ipclab.words.catalogue import N_

SMALL, LARGE, LARGEST = 1024, 65536, 1048576
SIZES = [SMALL, LARGE, LARGEST]
MEDIA = ["pipe", "unix"]
NODES = ("original", "optimized", "hybrid")
FASTEST = ("original", SMALL), ("hybrid", LARGE), ("optimized", LARGEST)  # by the text
BYTES = "bytes_allocated"
text = Text(
    "002",
    "multiplexer",
    N_("plugin.go multiplexer, final report, in Korean"),
    "ko",
    printed={"mean": "write.mean", "bytes": f"write.{BYTES}", "allocations": "write.allocations"},
)
BOTH_ENDS = N_("both ends, between two processes over a pipe and a Unix socket")
BYTES_OF_BOTH = N_("the bytes of both ends, over a pipe and a Unix socket")
FROM_CODE = N_("needs the text's code, not a run: nothing of it is measured")
NOT_BEST = N_("its table names Optimized, not Hybrid, as the best of the largest message")


def writes(run: Numbers, backend: str, size: int, metric: str = "mean") -> Quantity:
    """Return a write of `size` bytes by the published method: the mean of its operations."""
    return run.one("write", metric, arm="published", backend=backend, size_bytes=size)


def gain(run: Numbers, size: int, metric: str = "mean") -> Quantity:
    """Return a write by Hybrid over one by Original."""
    return writes(run, "hybrid", size, metric) / writes(run, "original", size, metric)


def both_ends(run: Numbers, backend: str, size: int, metric: str = "") -> Values:
    """Return a message of `size` bytes from one process to another, by medium."""
    levels: dict[str, Level] = {"medium": MEDIA, "size_bytes": size, "placement": "cross"}
    return run.each("end-to-end", metric, arm="main", backend=backend, **levels)


def gain_of_both(run: Numbers, size: int, metric: str = "") -> Values:
    """Return both ends of Hybrid over those of Original."""
    return both_ends(run, "hybrid", size, metric) / both_ends(run, "original", size, metric)


def best(run: Numbers, node: str, size: int) -> list[Quantity]:
    """Return a write by one node over that of each other."""
    others = (other for other in NODES if other != node)
    return [writes(run, node, size) / writes(run, other, size) for other in others]


def best_of_both(run: Numbers, node: str, size: int) -> Values:
    """Return both ends of one node over those of each other."""
    others = [other for other in NODES if other != node]
    here = both_ends(run, node, size)
    return pd.concat([here / both_ends(run, other, size) for other in others])


def best_of_each_size(run: Numbers) -> Values:
    """Return a write by the node that is said to be the best of each size over each other."""
    return listed(one for node, size in FASTEST for one in best(run, node, size))


def best_of_each_size_at_both_ends(run: Numbers) -> Values:
    """Return both ends of the node that is said to be the best of each size over each other."""
    return pd.concat([best_of_both(run, node, size) for node, size in FASTEST])


def pooled(run: Numbers, op: str | list[str], chunk: int = 1024) -> Values:
    """Return the bytes that a pool allocates over those without one."""
    pool, none = (
        run.each(op, BYTES, arm="factorial", pool=pool, chunk=chunk) for pool in ("yes", "no")
    )
    return pool / none


def same_code(run: Numbers) -> Quantity:
    """Return by what share the same code takes longer under another name."""
    again, direct = (
        run.one("write", "mean", arm="published", backend=name)
        for name in ("direct-again", "direct")
    )
    return (again / direct - 1).as_unit("share")


def check(run: Numbers) -> Quantity:
    """Return the share of the threshold check in a small write."""
    checked, direct = (
        run.one("call", "mean", arm="check", backend=name, size_bytes=SMALL)
        for name in ("checked", "direct")
    )
    return ((checked - direct) / writes(run, "original", SMALL)).as_unit("share")


text.claim(
    "2.1",
    "핵심 성과 요약",
    "소형 메시지 (1KB): Hybrid 노드에서 9.1% 성능 저하",
    "at_least 1.091 rounded",
    N_("At {size:KiB,int} Hybrid takes at least {slower:pct} longer than Original."),
    figures={"size": "1 KiB", "slower": "9.1 %"},
    here=lambda run: gain(run, SMALL),
    fair=lambda run: gain_of_both(run, SMALL),
    adds=BOTH_ENDS,
)
text.claim(
    "2.2",
    "핵심 성과 요약",
    "중형 메시지 (64KB): Hybrid 노드에서 9.3% 성능 향상",
    "at_most 0.907 rounded",
    N_("At {size:KiB,int} Hybrid takes {gain:pct} less time than Original."),
    figures={"size": "64 KiB", "gain": "9.3 %"},
    here=lambda run: gain(run, LARGE),
    fair=lambda run: gain_of_both(run, LARGE),
    adds=BOTH_ENDS,
)
text.claim(
    "2.3",
    "핵심 성과 요약",
    "대형 메시지 (1MB): Hybrid 노드에서 39.2% 성능 향상",
    "at_most 0.608 rounded",
    N_("At {size:MiB,int} Hybrid takes {gain:pct} less time than Original."),
    figures={"size": "1 MiB", "gain": "39.2 %"},
    here=lambda run: gain(run, LARGEST),
    fair=lambda run: gain_of_both(run, LARGEST),
    adds=BOTH_ENDS,
)
text.claim(
    "2.4",
    "메모리 사용량 분석",
    "1KB: 48 B, 48 B, 0%",
    "exactly 1.00 rounded",
    N_("At {size:KiB,int} Hybrid allocates as many bytes as Original."),
    figures={"size": "1 KiB"},
    here=lambda run: gain(run, SMALL, BYTES),
    fair=lambda run: gain_of_both(run, SMALL, BYTES),
    adds=BYTES_OF_BOTH,
)
text.claim(
    "2.4b",
    "메모리 사용량 분석",
    "64KB: 1056 B, 432 B, 59%",
    "at_most 0.41 rounded",
    N_("At {size:KiB,int} Hybrid allocates at least {gain:pct,int} fewer bytes than Original."),
    figures={"size": "64 KiB", "gain": "59 %"},
    here=lambda run: gain(run, LARGE, BYTES),
    fair=lambda run: gain_of_both(run, LARGE, BYTES),
    adds=BYTES_OF_BOTH,
)
text.claim(
    "2.4c",
    "메모리 사용량 분석",
    "1MB: 16506 B, 1639 B, 90%",
    "at_most 0.10 rounded",
    N_("At {size:MiB,int} Hybrid allocates at least {gain:pct,int} fewer bytes than Original."),
    figures={"size": "1 MiB", "gain": "90 %"},
    here=lambda run: gain(run, LARGEST, BYTES),
    fair=lambda run: gain_of_both(run, LARGEST, BYTES),
    adds=BYTES_OF_BOTH,
)
text.claim(
    "2.5",
    "핵심 성과 요약",
    "대형 메시지에서 93.6% 할당 횟수 감소",
    "at_most 0.064 rounded",
    N_("At {size:MiB,int} Hybrid allocates at least {less:pct} fewer times than Original."),
    figures={"size": "1 MiB", "less": "93.6 %"},
    here=lambda run: gain(run, LARGEST, "allocations"),
)
text.claim(
    "2.6",
    "벤치마크 결과",
    "최적 선택: 1KB Original, 64KB Hybrid, 1MB Optimized",
    "below 1",
    N_(
        "Original is the fastest at {small:KiB,int}, Hybrid at {large:KiB,int}, Optimized at"
        " {largest:MiB,int} (its time over that of each other)."
    ),
    figures={"small": "1 KiB", "large": "64 KiB", "largest": "1 MiB"},
    here=best_of_each_size,
    fair=best_of_each_size_at_both_ends,
    adds=BOTH_ENDS,
)
text.claim(
    "2.7",
    "기술적 인사이트",
    "버퍼 풀링: 큰 메시지에서 90% 메모리 절약",
    "below 1",
    N_(
        "The pool saves the memory: with chunks of {chunk:KiB,int} it allocates fewer bytes than"
        " without a pool."
    ),
    figures={"chunk": "1 KiB"},
    here=lambda run: pooled(run, "write"),
    fair=lambda run: pooled(run, ["write", "end-to-end"]),
    adds=N_("writing, and both ends over a pipe"),
    unstated=N_("the text does not vary pool and chunk size apart"),
    arm="factorial",
)
text.claim(
    "2.8",
    "기술적 인사이트",
    "함수 간접화: 6.45ns (9.3% 오버헤드) - 주요 병목",
    "at_least 9.3 % rounded",
    N_(
        "Calling through another function costs at least {cost:pct}; the two functions compared"
        " are the same code."
    ),
    figures={"cost": "9.3 %"},
    here=same_code,
    own=each("text", "indirection"),
)
text.claim(
    "2.9",
    "결론",
    "90%의 메모리 절약을 실현했습니다",
    "below 1",
    N_("Hybrid saves memory on both ends together at {large:KiB,int} and {largest:MiB,int}."),
    figures={"large": "64 KiB", "largest": "1 MiB"},
    here=lambda run: pd.concat([gain_of_both(run, size, BYTES) for size in (LARGE, LARGEST)]),
    unstated=N_("the text measures the writing end only"),
    arm="main",
)
text.claim(
    "2.10",
    "기술적 인사이트",
    "8KB 임계값 기반 동적 경로 선택",
    "exactly 8 KiB",
    N_("The fast path is taken up to {size:KiB,int}; the constant of the published code decides."),
    figures={"size": "8 KiB"},
    here=each("text", "threshold_code"),
    from_code=True,
    untestable=FROM_CODE,
)
text.claim(
    "2.11",
    "결론",
    "제로 API 변경으로 호환성을 유지했습니다",
    "exactly 0",
    N_(
        "No method that sends or receives messages has another name in Hybrid than in Original"
        " (how many have)."
    ),
    here=each("text", "api_renamed"),
    from_code=True,
    untestable=FROM_CODE,
)
text.claim(
    "2.12",
    "기술적 인사이트",
    "임계값 체크: 0.63ns (0.9% 오버헤드) - 거의 무료",
    "at_most 0.9 % rounded",
    N_(
        "The threshold check costs almost nothing: at most {most:pct} of a write of {size:KiB,int}."
    ),
    figures={"most": "0.9 %", "size": "1 KiB"},
    here=check,
    own=each("text", "threshold_check"),
    arm="check",
)
text.claim(
    "2.13",
    "워크로드별 권장사항",
    "파일 전송 (64KB+) 권장: Hybrid 노드",
    "below 1",
    N_(
        "The text advises Hybrid for files from {large:KiB,int} on: it is the fastest there, at"
        " {large:KiB,int} and {largest:MiB,int}."
    ),
    figures={"large": "64 KiB", "largest": "1 MiB"},
    here=lambda run: listed([*best(run, "hybrid", LARGE), *best(run, "hybrid", LARGEST)]),
    fair=lambda run: pd.concat([best_of_both(run, "hybrid", size) for size in (LARGE, LARGEST)]),
    adds=BOTH_ENDS,
    concedes=NOT_BEST,
)
text.claim(
    "2.14",
    "워크로드별 권장사항",
    "IoT/센서 데이터 (< 1KB) 권장: Original 노드",
    "below 1",
    N_("The text advises Original for small messages: it is the fastest at {size:KiB,int}."),
    figures={"size": "1 KiB"},
    here=lambda run: listed(best(run, "original", SMALL)),
    fair=lambda run: best_of_both(run, "original", SMALL),
    adds=BOTH_ENDS,
)

# What the text derives from its own numbers.

SAVED = N_("the time saved over the time before")
ADDED = N_("the time added over the time before")
PART = N_("the time of the part over the time of the whole")


def saved(table: Numbers, sizes: list[int], metric: str = "mean") -> Values:
    """Return by what share Hybrid needs less than Original."""
    hybrid, original = (
        table.each("write", metric, backend=node, size_bytes=sizes)
        for node in ("hybrid", "original")
    )
    return 1 - hybrid / original


def part(table: Numbers, name: str) -> Quantity:
    """Return a part's time over that of the fast path."""
    return table.one("text", f"{name}_time") / table.one("text", "fast_path")


text.derive(
    SAVED,
    each("text", "faster", size_bytes=[LARGE, LARGEST]),
    lambda table: saved(table, [LARGE, LARGEST]),
)
text.derive(SAVED, each("text", "faster_rounded"), lambda table: saved(table, [LARGEST]))
for slower in ("slower", "slower_rounded"):
    text.derive(ADDED, each("text", slower), lambda table: gain(table, SMALL) - 1)
text.derive(
    N_("the bytes saved over the bytes before"),
    each("text", "memory_saved", size_bytes=SIZES),
    lambda table: saved(table, SIZES, BYTES),
)
text.derive(
    N_("the bytes saved over the bytes before"),
    each("text", "memory_saved", section="기술적 인사이트"),
    lambda table: saved(table, [LARGEST], BYTES),
)
text.derive(
    N_("the allocations saved over the allocations before"),
    each("text", "allocations_saved"),
    lambda table: saved(table, [LARGEST], "allocations"),
)
text.derive(
    N_("the frames of longer chunks over those of shorter ones, one allocation a frame, no pool"),
    each("text", "allocations_saved"),
    lambda _: of(1 - (2**20 / 2**14 + 2) / (2**20 / 2**10 + 2)),
)
for name in ("indirection", "threshold_check"):
    text.derive(PART, each("text", name), partial(part, name=name))
text.derive(
    N_("the whole slow-down less the other part"),
    each("text", "indirection"),
    lambda table: table.one("text", "slower") - table.one("text", "threshold_check"),
)

# Sentences that can stand in place of claims.


def over_a_pipe(run: Numbers, metric: str) -> Quantity:
    """Return the largest message by Hybrid over that by Original, over a pipe."""
    found: Quantity = gain_of_both(run, LARGEST, metric)["pipe"]
    return found


def chunked(run: Numbers) -> Quantity:
    """Return the bytes that longer chunks allocate over those of shorter ones, without a pool."""
    long, short = (
        run.one("write", BYTES, arm="factorial", pool="no", chunk=chunk) for chunk in (16384, 1024)
    )
    return long / short


text.correct(
    *("2.3", "2.9"),
    here=N_(
        "Over a pipe between two processes Hybrid takes {time:x,interval} as long as Original at"
        " {size} and allocates {bytes:x,interval} as many bytes."
    ),
    here_values=lambda run: {
        "time": over_a_pipe(run, ""),
        "size": of(LARGEST).as_unit("B"),
        "bytes": over_a_pipe(run, BYTES),
    },
)
text.correct(
    "2.7",
    own=N_(
        "Of {many} allocations {few} remain, which chunks of {long} in place of {short} give"
        " without a pool."
    ),
    own_values=lambda table: {
        "many": writes(table, "original", LARGEST, "allocations"),
        "few": writes(table, "hybrid", LARGEST, "allocations"),
        "long": of(16384).as_unit("B"),
        "short": of(1024).as_unit("B"),
    },
    here=N_(
        "At the writing end longer chunks alone allocate {chunk:x,interval} as many bytes; a"
        " pool alone allocates {pool:x,interval} as many."
    ),
    here_values=lambda run: {"chunk": chunked(run), "pool": only(pooled(run, "write"))},
)
text.correct(
    "2.8",
    own=N_(
        "Hybrid takes {slower:pct} longer than Original at {size}; the two functions said to differ"
        " by {share:pct} are the same code."
    ),
    own_values=lambda table: {
        "slower": gain(table, SMALL) - 1,
        "size": of(SMALL).as_unit("B"),
        "share": table.one("text", "indirection"),
    },
    here=N_("The same code under two names differs by {share:pct,interval}."),
    here_values=lambda run: {"share": same_code(run)},
)
text.correct(
    "2.10",
    own=N_("The fast path is taken up to {threshold:KiB,int}."),
    own_values=lambda table: {"threshold": table.one("text", "threshold_code")},
)
text.correct(
    "2.11",
    own=N_("Of the methods that send and receive messages, {renamed} have another name in Hybrid."),
    own_values=lambda table: {"renamed": table.one("text", "api_renamed")},
)
text.correct(
    "2.13",
    own=N_("At {size:MiB,int} Hybrid takes {slower:pct} longer than Optimized."),
    own_values=lambda table: {
        "size": of(LARGEST).as_unit("B"),
        "slower": writes(table, "hybrid", LARGEST) / writes(table, "optimized", LARGEST) - 1,
    },
)
