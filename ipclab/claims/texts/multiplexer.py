"""plugin.go multiplexer, final report, in Korean (text 002): what it claims, and what it derives."""

from collections.abc import Callable
from functools import partial

from ipclab.claims.claim import PublishedText
from ipclab.claims.numbers import Level, Lookup, look, said, several
from ipclab.stats.quantity import Quantity, of
from ipclab.words.catalogue import N_

SMALL, LARGE, LARGEST = 1024, 65536, 1048576
MEDIA = ["pipe", "unix"]
NODES = ("original", "optimized", "hybrid")
FASTEST = ("original", SMALL), ("hybrid", LARGE), ("optimized", LARGEST)  # by the text
ADVISED = ("hybrid", LARGE), ("hybrid", LARGEST)
BYTES = "bytes_allocated"
text = PublishedText(
    "002",
    "multiplexer",
    N_("plugin.go multiplexer, final report, in Korean"),
    "ko",
    printed={"mean": "write.mean", "bytes": f"write.{BYTES}", "allocations": "write.allocations"},
)
BOTH_ENDS = N_("both ends, between two processes over a pipe and a Unix socket")
BYTES_OF_BOTH = N_("the bytes of both ends, over a pipe and a Unix socket")
FROM_CODE = N_("needs the text's code, not a run: nothing of it is measured")


def writes(backend: str, sizes: Level, metric: str = "mean") -> Lookup:
    """Return writes by the published method: the means of their operations."""
    return look("write", metric, arm="published", backend=backend, size_bytes=sizes)


def gain(sizes: Level, metric: str = "mean") -> Lookup:
    """Return writes by Hybrid over those by Original."""
    return writes("hybrid", sizes, metric) / writes("original", sizes, metric)


def both_ends(backend: str, size: int, metric: str = "", medium: Level = MEDIA) -> Lookup:
    """Return a message from one process to another, by medium."""
    levels: dict[str, Level] = {"backend": backend, "size_bytes": size, "medium": medium}
    return look("end-to-end", metric, arm="main", placement="cross", **levels)


def gain_of_both(size: int, metric: str = "", medium: Level = MEDIA) -> Lookup:
    """Return both ends of Hybrid over those of Original."""
    ours = both_ends("hybrid", size, metric, medium)
    return ours / both_ends("original", size, metric, medium)


def over_others(time: Callable[[str, int], Lookup], *cases: tuple[str, int]) -> Lookup:
    """Return the time of a node over that of each other, for each node and size of `cases`."""
    return several(
        *(
            time(node, size) / time(other, size)
            for node, size in cases
            for other in NODES
            if other != node
        )
    )


def factorial(op: str | list[str], pool: str, chunk: int = 1024) -> Lookup:
    """Return the bytes that are allocated with or without a pool."""
    return look(op, BYTES, arm="factorial", pool=pool, chunk=chunk)


def pooled(op: str | list[str]) -> Lookup:
    """Return the bytes that a pool allocates over those without one."""
    return factorial(op, "yes") / factorial(op, "no")


# By what share the same code takes longer under another name; calls with and without the check.
DIRECT, AGAIN = (
    look("write", "mean", arm="published", backend=name) for name in ("direct", "direct-again")
)
SAME_CODE = (AGAIN / DIRECT - 1).as_unit("share")
CHECKED, UNCHECKED = (
    look("call", "mean", arm="check", backend=name, size_bytes=SMALL)
    for name in ("checked", "direct")
)

# Claims that share a section, or how they are judged.
of_summary = partial(text.claim, "핵심 성과 요약", adds=BOTH_ENDS)
of_memory = partial(text.claim, "메모리 사용량 분석", adds=BYTES_OF_BOTH)
of_code = partial(text.claim, from_code=True, untestable=FROM_CODE)
of_advice = partial(text.claim, "워크로드별 권장사항", adds=BOTH_ENDS)

of_summary(
    "2.1",
    "소형 메시지 (1KB): Hybrid 노드에서 9.1% 성능 저하",
    "at_least 1.091 rounded",
    N_("At {size:KiB,int} Hybrid takes at least {slower:pct} longer than Original."),
    figures={"size": "1 KiB", "slower": "9.1 %"},
    here=gain(SMALL),
    fair=gain_of_both(SMALL),
)
of_summary(
    "2.2",
    "중형 메시지 (64KB): Hybrid 노드에서 9.3% 성능 향상",
    "at_most 0.907 rounded",
    N_("At {size:KiB,int} Hybrid takes {gain:pct} less time than Original."),
    figures={"size": "64 KiB", "gain": "9.3 %"},
    here=gain(LARGE),
    fair=gain_of_both(LARGE),
)
of_summary(
    "2.3",
    "대형 메시지 (1MB): Hybrid 노드에서 39.2% 성능 향상",
    "at_most 0.608 rounded",
    N_("At {size:MiB,int} Hybrid takes {gain:pct} less time than Original."),
    figures={"size": "1 MiB", "gain": "39.2 %"},
    here=gain(LARGEST),
    fair=gain_of_both(LARGEST),
)
of_memory(
    "2.4",
    "1KB: 48 B, 48 B, 0%",
    "exactly 1.00 rounded",
    N_("At {size:KiB,int} Hybrid allocates as many bytes as Original."),
    figures={"size": "1 KiB"},
    here=gain(SMALL, BYTES),
    fair=gain_of_both(SMALL, BYTES),
)
of_memory(
    "2.4b",
    "64KB: 1056 B, 432 B, 59%",
    "at_most 0.41 rounded",
    N_("At {size:KiB,int} Hybrid allocates at least {gain:pct,int} fewer bytes than Original."),
    figures={"size": "64 KiB", "gain": "59 %"},
    here=gain(LARGE, BYTES),
    fair=gain_of_both(LARGE, BYTES),
)
of_memory(
    "2.4c",
    "1MB: 16506 B, 1639 B, 90%",
    "at_most 0.10 rounded",
    N_("At {size:MiB,int} Hybrid allocates at least {gain:pct,int} fewer bytes than Original."),
    figures={"size": "1 MiB", "gain": "90 %"},
    here=gain(LARGEST, BYTES),
    fair=gain_of_both(LARGEST, BYTES),
)
text.claim(
    "핵심 성과 요약",
    "2.5",
    "대형 메시지에서 93.6% 할당 횟수 감소",
    "at_most 0.064 rounded",
    N_("At {size:MiB,int} Hybrid allocates at least {less:pct} fewer times than Original."),
    figures={"size": "1 MiB", "less": "93.6 %"},
    here=gain(LARGEST, "allocations"),
)
text.claim(
    "벤치마크 결과",
    "2.6",
    "최적 선택: 1KB Original, 64KB Hybrid, 1MB Optimized",
    "below 1",
    N_(
        "Original is the fastest at {small:KiB,int}, Hybrid at {large:KiB,int}, Optimized at"
        " {largest:MiB,int} (its time over that of each other)."
    ),
    figures={"small": "1 KiB", "large": "64 KiB", "largest": "1 MiB"},
    here=over_others(writes, *FASTEST),
    fair=over_others(both_ends, *FASTEST),
    adds=BOTH_ENDS,
)
text.claim(
    "기술적 인사이트",
    "2.7",
    "버퍼 풀링: 큰 메시지에서 90% 메모리 절약",
    "below 1",
    N_(
        "The pool saves the memory: with chunks of {chunk:KiB,int} it allocates fewer bytes than"
        " without a pool."
    ),
    figures={"chunk": "1 KiB"},
    here=pooled("write"),
    fair=pooled(["write", "end-to-end"]),
    adds=N_("writing, and both ends over a pipe"),
    unstated=N_("the text does not vary pool and chunk size apart"),
    arm="factorial",
)
text.claim(
    "기술적 인사이트",
    "2.8",
    "함수 간접화: 6.45ns (9.3% 오버헤드) - 주요 병목",
    "at_least 9.3 % rounded",
    N_(
        "Calling through another function costs at least {cost:pct}; the two functions compared"
        " are the same code."
    ),
    figures={"cost": "9.3 %"},
    here=SAME_CODE,
    table=said("indirection"),
)
text.claim(
    "결론",
    "2.9",
    "90%의 메모리 절약을 실현했습니다",
    "below 1",
    N_("Hybrid saves memory on both ends together at {large:KiB,int} and {largest:MiB,int}."),
    figures={"large": "64 KiB", "largest": "1 MiB"},
    here=several(gain_of_both(LARGE, BYTES), gain_of_both(LARGEST, BYTES)),
    unstated=N_("the text measures the writing end only"),
    arm="main",
)
of_code(
    "기술적 인사이트",
    "2.10",
    "8KB 임계값 기반 동적 경로 선택",
    "exactly 8 KiB",
    N_("The fast path is taken up to {size:KiB,int}; the constant of the published code decides."),
    figures={"size": "8 KiB"},
    here=said("threshold_code"),
)
of_code(
    "결론",
    "2.11",
    "제로 API 변경으로 호환성을 유지했습니다",
    "exactly 0",
    N_(
        "No method that sends or receives messages has another name in Hybrid than in Original"
        " (how many have)."
    ),
    here=said("api_renamed"),
)
text.claim(
    "기술적 인사이트",
    "2.12",
    "임계값 체크: 0.63ns (0.9% 오버헤드) - 거의 무료",
    "at_most 0.9 % rounded",
    N_(
        "The threshold check costs almost nothing: at most {most:pct} of a write of {size:KiB,int}."
    ),
    figures={"most": "0.9 %", "size": "1 KiB"},
    here=(CHECKED - UNCHECKED) / writes("original", SMALL),
    table=said("threshold_check"),
    arm="check",
)
of_advice(
    "2.13",
    "파일 전송 (64KB+) 권장: Hybrid 노드",
    "below 1",
    N_(
        "The text advises Hybrid for files from {large:KiB,int} on: it is the fastest there, at"
        " {large:KiB,int} and {largest:MiB,int}."
    ),
    figures={"large": "64 KiB", "largest": "1 MiB"},
    here=over_others(writes, *ADVISED),
    fair=over_others(both_ends, *ADVISED),
    concedes=N_("its table names Optimized, not Hybrid, as the best of the largest message"),
)
of_advice(
    "2.14",
    "IoT/센서 데이터 (< 1KB) 권장: Original 노드",
    "below 1",
    N_("The text advises Original for small messages: it is the fastest at {size:KiB,int}."),
    figures={"size": "1 KiB"},
    here=over_others(writes, ("original", SMALL)),
    fair=over_others(both_ends, ("original", SMALL)),
)

# What the text derives from its own numbers.

SAVED = N_("the time saved over the time before")
ADDED = N_("the time added over the time before")
FEWER_BYTES = N_("the bytes saved over the bytes before")
PART = N_("the time of the part over the time of the whole")
text.derive(
    SAVED,
    said("faster", size_bytes=[LARGE, LARGEST]),
    1 - gain([LARGE, LARGEST]),
)
text.derive(SAVED, said("faster_rounded"), 1 - gain(LARGEST))
for slower in ("slower", "slower_rounded"):
    text.derive(ADDED, said(slower), gain(SMALL) - 1)
text.derive(
    FEWER_BYTES,
    said("memory_saved", size_bytes=[SMALL, LARGE, LARGEST]),
    1 - gain([SMALL, LARGE, LARGEST], BYTES),
)
text.derive(
    FEWER_BYTES,
    said("memory_saved", section="기술적 인사이트"),
    1 - gain(LARGEST, BYTES),
)
text.derive(
    N_("the allocations saved over the allocations before"),
    said("allocations_saved"),
    1 - gain(LARGEST, "allocations"),
)
text.derive(
    N_("the frames of longer chunks over those of shorter ones, one allocation a frame, no pool"),
    said("allocations_saved"),
    lambda _: of(1 - (2**20 / 2**14 + 2) / (2**20 / 2**10 + 2)),
)
for name in ("indirection", "threshold_check"):
    part = said(f"{name}_time") / said("fast_path")
    text.derive(PART, said(name), part)
text.derive(
    N_("the whole slow-down less the other part"),
    said("indirection"),
    said("slower") - said("threshold_check"),
)

# Sentences that can stand in place of claims.


def size(count: int) -> Quantity:
    """Return a number of bytes."""
    return of(count).as_unit("B")


text.correct(
    *("2.3", "2.9"),
    here=N_(
        "Over a pipe between two processes Hybrid takes {time:x,interval} as long as Original at"
        " {size} and allocates {bytes:x,interval} as many bytes."
    ),
    here_values={
        "time": gain_of_both(LARGEST, medium="pipe"),
        "size": size(LARGEST),
        "bytes": gain_of_both(LARGEST, BYTES, "pipe"),
    },
)
text.correct(
    "2.7",
    table=N_(
        "Of {many} allocations {few} remain, which chunks of {long} in place of {short} give"
        " without a pool."
    ),
    table_values={
        "many": writes("original", LARGEST, "allocations"),
        "few": writes("hybrid", LARGEST, "allocations"),
        "long": size(16384),
        "short": size(1024),
    },
    here=N_(
        "At the writing end longer chunks alone allocate {chunk:x,interval} as many bytes; a"
        " pool alone allocates {pool:x,interval} as many."
    ),
    here_values={
        "chunk": factorial("write", "no", 16384) / factorial("write", "no"),
        "pool": pooled("write"),
    },
)
text.correct(
    "2.8",
    table=N_(
        "Hybrid takes {slower:pct} longer than Original at {size}; the two functions said to differ"
        " by {share:pct} are the same code."
    ),
    table_values={
        "slower": gain(SMALL) - 1,
        "size": size(SMALL),
        "share": said("indirection"),
    },
    here=N_("The same code under two names differs by {share:pct,interval}."),
    here_values={"share": SAME_CODE},
)
text.correct(
    "2.10",
    table=N_("The fast path is taken up to {threshold:KiB,int}."),
    table_values={"threshold": said("threshold_code")},
)
text.correct(
    "2.11",
    table=N_(
        "Of the methods that send and receive messages, {renamed} have another name in Hybrid."
    ),
    table_values={"renamed": said("api_renamed")},
)
text.correct(
    "2.13",
    table=N_("At {size:MiB,int} Hybrid takes {slower:pct} longer than Optimized."),
    table_values={
        "size": size(LARGEST),
        "slower": writes("hybrid", LARGEST) / writes("optimized", LARGEST) - 1,
    },
)
