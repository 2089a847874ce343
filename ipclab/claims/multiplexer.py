"""The claims of the multiplexer text (seed 002) as rules; its figures are in `data/published/002_multiplexer.csv`."""

from collections.abc import Mapping, Sequence
from itertools import product

from ipclab.claims.claim import Claim, Facts, Quantity, Rule, at_least, at_most, exact, take
from ipclab.facts.fact import Fact
from ipclab.facts.multiplexer import HYBRID, OPTIMIZED, ORIGINAL, SIZE_NAMES
from ipclab.facts.named import published
from ipclab.report.catalogue import N_
from ipclab.studies.multiplexer import BOTH, CHUNKS, MEDIA, PUBLISHED_NODES, SIZES, WRITE

NAMES = ("small", "large", "largest")  # the sizes of the text
NAMED_BEST = dict(zip(NAMES, (ORIGINAL, HYBRID, OPTIMIZED), strict=True))
MANY, FEW = 1026, 66  # allocations of Original and Hybrid for the largest message
ABOVE_ONE = 1.0 + 1e-9
BELOW_ONE = 1.0 - 1e-9
KIB = 1024
MARGIN = 0.01  # both ends together: the runtime allocates a few bytes of its own
BOTH_ENDS = N_("both ends, between two processes over a pipe and a Unix socket")
BOTH_BYTES = N_("the bytes of both ends, over a pipe and a Unix socket")
REAL_PATH = N_("Hybrid over Original for the same message, with the published threshold check and calls")
BOTH_SIDES = N_("writing, and both ends over a pipe")
NO_RECEIVING = N_("the text measures the writing end only")
NOT_APART = N_("the text does not vary pool and chunk size apart")


def time(facts: Facts, node: str, size: str) -> Quantity:
    """Return the time of a write into memory by the published method, in ns."""
    return take(facts, f"multiplexer.published.{node}.{size}")


def hybrid_over_original(size: str) -> Rule:
    """Return a rule for how many times as long Hybrid takes."""
    return lambda facts: [time(facts, HYBRID, size) / time(facts, ORIGINAL, size)]


def ends_over_original(size: str) -> Rule:
    """Return a rule for how many times as long Hybrid takes between two processes, over each medium."""
    return lambda facts: [_ends(facts, HYBRID, size, m) / _ends(facts, ORIGINAL, size, m) for m in MEDIA]


def _ends(facts: Facts, node: str, size: str, medium: str, tail: str = "") -> Quantity:
    return take(facts, f"multiplexer.{medium}.{node}.{size}{tail}")


def saved(size: str) -> Rule:
    """Return a rule for the share of the bytes that Hybrid saves by the published method."""

    def rule(facts: Facts) -> Sequence[Quantity]:
        hybrid, original = (take(facts, f"multiplexer.published.{node}.{size}.bytes") for node in (HYBRID, ORIGINAL))
        return [exact(1.0) - hybrid / original]

    return rule


def saved_by_both(*sizes: str) -> Rule:
    """Return a rule for the share of the bytes of both ends that Hybrid saves, over each medium."""

    def rule(facts: Facts) -> Sequence[Quantity]:
        cells = [(size, medium) for size in sizes for medium in MEDIA]
        pairs = [[_ends(facts, node, *cell, ".bytes") for node in (HYBRID, ORIGINAL)] for cell in cells]
        return [exact(1.0) - hybrid / original for hybrid, original in pairs]

    return rule


def allocations(facts: Facts) -> Sequence[Quantity]:
    """Return the allocations of Original and Hybrid for the largest message, each over the published number."""
    named = ((ORIGINAL, MANY), (HYBRID, FEW))
    return [take(facts, f"multiplexer.published.{node}.largest.allocations") / exact(count) for node, count in named]


def named_best(facts: Facts) -> Sequence[Quantity]:
    """Return for each size the time of the node that the text names best over the best of the other two."""
    found = []
    for size, named in NAMED_BEST.items():
        others = [time(facts, node, size) for node in PUBLISHED_NODES if node != named]
        found.append(time(facts, named, size) / min(others, key=lambda each: each.value))
    return found


def named_best_of_both(facts: Facts) -> Sequence[Quantity]:
    """Return the same between two processes, over each medium."""
    found = []
    for size, named in NAMED_BEST.items():
        for medium in MEDIA:
            others = [_ends(facts, node, size, medium) for node in PUBLISHED_NODES if node != named]
            found.append(_ends(facts, named, size, medium) / min(others, key=lambda each: each.value))
    return found


def pooled_over_plain(*ops: str) -> Rule:
    """Return a rule for the bytes with a pool over those without, both with the smallest chunks."""
    stem = "multiplexer.factorial"
    return lambda facts: [
        take(facts, f"{stem}.{op}.yes.{CHUNKS[0]}.bytes") / take(facts, f"{stem}.{op}.no.{CHUNKS[0]}.bytes")
        for op in ops
    ]


def real_path(facts: Facts) -> Sequence[Quantity]:
    """Return how much longer Hybrid takes than Original for the smallest message (a share)."""
    names = [f"multiplexer.write.{node}.small" for node in (HYBRID, ORIGINAL)]
    return [take(facts, names[0]) / take(facts, names[1]) - exact(1.0)]


def _figures(**values: tuple[float, str]) -> dict[str, Fact]:
    return {name: Fact(name, value, unit, kind="published") for name, (value, unit) in values.items()}


def _claim(number: str, section: str, quote: str, meaning: str, **rest: object) -> Claim:
    return Claim(number, "002", section, "ko", quote, meaning, **rest)  # type: ignore[arg-type]


SMALL, LARGE, LARGEST = ((float(SIZES[place]), "B") for place in (0, 2, 3))
SUMMARY, MEMORY, INSIGHT = "핵심 성과 요약", "메모리 사용량 분석", "기술적 인사이트"
CLAIMS: tuple[Claim, ...] = (
    _claim(
        "2.1",
        SUMMARY,
        "소형 메시지 (1KB): Hybrid 노드에서 9.1% 성능 저하",
        N_("At {size:KiB,int} Hybrid is slower than Original (by {slower:pct} in the text)."),
        quantities=hybrid_over_original("small"),
        bounds=at_least(ABOVE_ONE),
        figures=_figures(size=SMALL, slower=(0.091, "share")),
        fair=ends_over_original("small"),
        adds=BOTH_ENDS,
    ),
    _claim(
        "2.2",
        SUMMARY,
        "중형 메시지 (64KB): Hybrid 노드에서 9.3% 성능 향상",
        N_("At {size:KiB,int} Hybrid takes {gain:pct} less time than Original."),
        quantities=hybrid_over_original("large"),
        bounds=at_most(0.907),
        figures=_figures(size=LARGE, gain=(0.093, "share")),
        fair=ends_over_original("large"),
        adds=BOTH_ENDS,
    ),
    _claim(
        "2.3",
        SUMMARY,
        "대형 메시지 (1MB): Hybrid 노드에서 39.2% 성능 향상",
        N_("At {size:MiB,int} Hybrid takes {gain:pct} less time than Original."),
        quantities=hybrid_over_original("largest"),
        bounds=at_most(0.608),
        figures=_figures(size=LARGEST, gain=(0.392, "share")),
        fair=ends_over_original("largest"),
        adds=BOTH_ENDS,
    ),
    _claim(
        "2.4",
        MEMORY,
        "1KB: 48 B, 48 B, 0%",
        N_("At {size:KiB,int} Hybrid allocates as many bytes as Original (within {margin:pct,int})."),
        quantities=saved("small"),
        bounds=(-MARGIN, MARGIN),
        unit="share",
        figures=_figures(size=SMALL, margin=(MARGIN, "share")),
        fair=saved_by_both("small"),
        adds=BOTH_BYTES,
    ),
    _claim(
        "2.4b",
        MEMORY,
        "64KB: 1056 B, 432 B, 59%",
        N_("At {size:KiB,int} Hybrid allocates at least {gain:pct,int} fewer bytes than Original."),
        quantities=saved("large"),
        bounds=at_least(0.59),
        unit="share",
        figures=_figures(size=LARGE, gain=(0.59, "share")),
        fair=saved_by_both("large"),
        adds=BOTH_BYTES,
    ),
    _claim(
        "2.4c",
        MEMORY,
        "1MB: 16506 B, 1639 B, 90%",
        N_("At {size:MiB,int} Hybrid allocates {gain:pct,int} fewer bytes than Original (at least {low:pct,int})."),
        quantities=saved("largest"),
        bounds=at_least(0.89),
        unit="share",
        figures=_figures(size=LARGEST, gain=(0.90, "share"), low=(0.89, "share")),
        fair=saved_by_both("largest"),
        adds=BOTH_BYTES,
    ),
    _claim(
        "2.5",
        SUMMARY,
        "대형 메시지에서 93.6% 할당 횟수 감소",
        N_(
            "At {size:MiB,int} Original allocates {many:int} times and Hybrid {few:int} times, {less:pct} fewer "
            "(counted over stated, both)."
        ),
        quantities=allocations,
        bounds=(1.0, 1.0),
        figures=_figures(size=LARGEST, many=(MANY, "count"), few=(FEW, "count"), less=(0.936, "share")),
    ),
    _claim(
        "2.6",
        "벤치마크 결과",
        "최적 선택: 1KB Original, 64KB Hybrid, 1MB Optimized",
        N_(
            "Original is the fastest at {small:KiB,int}, Hybrid at {large:KiB,int}, Optimized at {largest:MiB,int} "
            "(its time over the best other)."
        ),
        quantities=named_best,
        bounds=at_most(BELOW_ONE),
        figures=_figures(small=SMALL, large=LARGE, largest=LARGEST),
        fair=named_best_of_both,
        adds=BOTH_ENDS,
    ),
    _claim(
        "2.7",
        INSIGHT,
        "버퍼 풀링: 큰 메시지에서 90% 메모리 절약",
        N_("The pool saves the memory: with chunks of {chunk:KiB,int} it allocates fewer bytes than without a pool."),
        quantities=pooled_over_plain(WRITE),
        bounds=at_most(BELOW_ONE),
        unstated=NOT_APART,
        figures=_figures(chunk=(CHUNKS[0], "B")),
        fair=pooled_over_plain(WRITE, BOTH),
        adds=BOTH_SIDES,
    ),
    _claim(
        "2.8",
        INSIGHT,
        "함수 간접화: 6.45ns (9.3% 오버헤드) - 주요 병목",
        N_("Calling through another function costs at least {cost:pct}; the two functions compared are the same code."),
        quantities=lambda facts: [take(facts, "multiplexer.published.indirection")],
        bounds=at_least(0.093),
        unit="share",
        figures=_figures(cost=(0.093, "share")),
        fair=real_path,
        adds=REAL_PATH,
    ),
    _claim(
        "2.9",
        "결론",
        "90%의 메모리 절약을 실현했습니다",
        N_("Hybrid saves memory on both ends together at {large:KiB,int} and {largest:MiB,int}."),
        quantities=saved_by_both("large", "largest"),
        bounds=at_least(1e-9),
        unit="share",
        unstated=NO_RECEIVING,
        figures=_figures(large=LARGE, largest=LARGEST),
    ),
    _claim(
        "2.10",
        INSIGHT,
        "8KB 임계값 기반 동적 경로 선택",
        N_("The fast path is taken up to {size:KiB,int}; the constant of the published code decides."),
        quantities=lambda facts: [take(facts, "multiplexer.threshold.code")],
        bounds=(8.0 * KIB, 8.0 * KIB),
        unit="B",
        figures=_figures(size=(8.0 * KIB, "B")),
    ),
    _claim(
        "2.11",
        "결론",
        "제로 API 변경으로 호환성을 유지했습니다",
        N_("No method that sends or receives messages has another name in Hybrid than in Original (how many have)."),
        quantities=lambda facts: [take(facts, "multiplexer.api.renamed")],
        bounds=(0.0, 0.0),
        unit="count",
    ),
)


def multiplexer_facts(rows: Sequence[Mapping[str, str]]) -> dict[str, Fact]:
    """Return the multiplexer text's facts under the run's names, from the rows of its transcribed tables."""
    found: dict[str, Fact] = {}
    for row in rows:
        name = _name(row)
        if name:
            source = f"seed 002, {row['section']}"
            found[name] = published(name, float(row["value_si"]), row["unit_si"], source)
    for node, size in product(PUBLISHED_NODES, NAMES):
        name = f"multiplexer.published.{node}.{size}.over_original"
        value = (time(found, node, size) / time(found, ORIGINAL, size)).value
        found[name] = published(name, value, "1", "seed 002, computed from its table")
    return found


def _name(row: Mapping[str, str]) -> str:
    """Return the name of the run's fact that a printed number stands for; nothing where the run has none."""
    quantity, node = row["quantity"], row["backend"]
    if quantity in TEXT_NAMES:
        return f"multiplexer.{TEXT_NAMES[quantity]}"
    if quantity not in CELL_NAMES or not node:
        return ""
    return f"multiplexer.published.{node}.{SIZE_NAMES[int(row['size_bytes'])]}{CELL_NAMES[quantity]}"


TEXT_NAMES = {
    **{"indirection": "published.indirection", "goal": "goal"},
    **{"threshold_text": "threshold.text", "threshold_code": "threshold.code", "api_renamed": "api.renamed"},
}
CELL_NAMES = {"mean": "", "bytes": ".bytes", "allocations": ".allocations"}
