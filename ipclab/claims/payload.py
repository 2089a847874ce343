"""The claims of the payload text (seed 000) as rules; the text's figures are in `data/published/000_payload.csv`."""

from collections.abc import Sequence
from itertools import product

from ipclab.claims.claim import Claim, Facts, Quantity, Rule, at_least, at_most, take
from ipclab.facts.fact import Fact
from ipclab.facts.payload import CYCLES, OPS, SIZE_NAMES
from ipclab.report.catalogue import N_

NAMES = tuple(SIZE_NAMES.values())
NO_PHASES = N_("the text does not time the parts of a write")
ONLY_ESTIMATED = N_("the text gives an estimate, not a measurement")
ABOVE_ONE = 1.0 + 1e-9
FAIR_MAPPINGS = ("reopened", "kept")
PLACEMENTS = ("same", "cross")
BOTH_MAPPINGS = N_("the exact payload, no other threads, the mapping reopened and kept")
EXACT_PAYLOAD = N_("the exact payload, no other threads")
EVERY_MAPPING = N_("the mapping reopened, truncated each time and kept")
BOTH_PLACEMENTS = N_("both placements")
BOTH_ENDS = N_("a sender and a receiver, both placements")
WITH_WAITING = N_("a measured handover and the computed wait of a receiver that polls")


def mean(facts: Facts, op: str, size: str) -> Quantity:
    """Return the mean time of `op`, which is what the text reports."""
    return take(facts, f"payload.published.{op}.{size}.mean")


def moved(facts: Facts, op: str, size: str) -> Quantity:
    """Return the bandwidth in bytes/s from the bytes that really moved and the mean time."""
    return mean(facts, op, size).over(take(facts, f"payload.moved.{size}").value * 1e9)


def spread(facts: Facts, op: str, size: str) -> Quantity:
    """Return the standard deviation over the mean."""
    return take(facts, f"payload.published.{op}.{size}.sd") / mean(facts, op, size)


def transfer(facts: Facts) -> Quantity:
    """Return one write and one read of the large payload."""
    return mean(facts, "write", "large") + mean(facts, "read", "large")


def write_over_read(facts: Facts) -> Sequence[Quantity]:
    """Return for each size how many times as long a write takes as a read."""
    return [mean(facts, "write", size) / mean(facts, "read", size) for size in NAMES]


def spreads(facts: Facts) -> Sequence[Quantity]:
    """Return the spread of every cell of the table."""
    return [spread(facts, op, size) for op, size in product(OPS, NAMES)]


def small_over_large(facts: Facts) -> Sequence[Quantity]:
    """Return the small payload's bandwidth over the large one's, for each op."""
    return [moved(facts, op, "small") / moved(facts, op, "large") for op in OPS]


def mapped(facts: Facts, op: str, size: str, mapping: str) -> Quantity:
    """Return the median time of `op` on the exact payload, timed by phases in one process."""
    return take(facts, f"payload.mapping.{mapping}.{op}.{size}")


def mapped_ratios(*sizes: str) -> Rule:
    """Return a rule for how many times as long a write takes as a read, with the mapping reopened and kept."""
    return lambda facts: [
        mapped(facts, "write", size, mapping) / mapped(facts, "read", size, mapping)
        for size, mapping in product(sizes, FAIR_MAPPINGS)
    ]


def mapped_bandwidth(op: str) -> Rule:
    """Return a rule for the large payload's bandwidth (bytes/s) by exact bytes."""
    return lambda facts: [take(facts, f"payload.mapping.reopened.{op}.large.bandwidth")]


def mapped_small_over_large(facts: Facts) -> Sequence[Quantity]:
    """Return the small payload's bandwidth over the large one's, with the mapping reopened, for each op."""
    names = [f"payload.mapping.reopened.{op}" for op in OPS]
    return [take(facts, f"{n}.small.bandwidth") / take(facts, f"{n}.large.bandwidth") for n in names]


def flush_shares(facts: Facts) -> Sequence[Quantity]:
    """Return the flush's share of a write with the mapping reopened, truncated each time, and kept."""
    names = [f"payload.mapping.{mapping}.write.large" for mapping in ("reopened", "truncated", "kept")]
    return [take(facts, f"{name}.flush") / take(facts, name) for name in names]


def waiting(facts: Facts) -> Quantity:
    """Return how long the real reader is expected to wait before it sees a transfer, since it polls."""
    return take(facts, "payload.polling.python.waiting")


def real_cycles(facts: Facts) -> Sequence[Quantity]:
    """Return the time of all iterations' transfers between two processes whose reader polls as the real one does."""
    return [(take(facts, "payload.handover.shm-mmap.cross.large") + waiting(facts)) * CYCLES]


def together(facts: Facts) -> Quantity:
    """Return how many times as fast a write and a read together are as TCP at its highest estimate."""
    tcp = take(facts, "payload.tcp_bandwidth_high")
    return transfer(facts).over(take(facts, "payload.moved.large").value * 1e9) / tcp


def past_over_now(facts: Facts) -> Sequence[Quantity]:
    """Return TCP as v0.9 over shared memory, both between two processes, in both placements."""
    return [take(facts, f"payload.past_over_now.{placement}") for placement in PLACEMENTS]


def past_bandwidths(facts: Facts) -> Sequence[Quantity]:
    """Return the bandwidth of TCP as v0.9 used it, in both placements."""
    return [take(facts, f"payload.tcp.v09.off.{placement}.large.bandwidth") for placement in PLACEMENTS]


def _figures(**values: tuple[float, str]) -> dict[str, Fact]:
    return {name: Fact(name, value, unit, kind="published") for name, (value, unit) in values.items()}


def _claim(number: str, section: str, quote: str, meaning: str, **rest: object) -> Claim:
    return Claim(number, "000", section, "ko", quote, meaning, **rest)  # type: ignore[arg-type]


LARGE_SIZE = (1_320_000.0, "B")  # as the text labels it
CLAIMS: tuple[Claim, ...] = (
    _claim(
        "0.1",
        "4.1 [2]",
        "읽기가 쓰기보다 2-3배 빠름",
        N_("Reads are {low:int} to {high:int} times as fast as writes (at {size:MB})."),
        quantities=lambda facts: [write_over_read(facts)[-1]],
        bounds=(2.0, 3.0),
        figures=_figures(low=(2, "1"), high=(3, "1"), size=LARGE_SIZE),
        fair=mapped_ratios("large"),
        adds=BOTH_MAPPINGS,
    ),
    _claim(
        "0.1b",
        "4.1 [2]",
        "읽기가 쓰기보다 2-3배 빠름",
        N_("Reads are faster than writes at every size."),
        quantities=write_over_read,
        bounds=at_least(ABOVE_ONE),
        fair=mapped_ratios(*NAMES),
        adds=BOTH_MAPPINGS,
    ),
    _claim(
        "0.2",
        "4.1 [3]",
        "표준편차: 평균의 10-30%",
        N_("Every standard deviation is {low:pct,int} to {high:pct,int} of its mean."),
        quantities=spreads,
        bounds=(0.10, 0.30),
        unit="share",
        figures=_figures(low=(0.10, "share"), high=(0.30, "share")),
    ),
    _claim(
        "0.3",
        "6.1",
        "안정성: 표준편차 < 10%",
        N_("The standard deviation is below {high:pct,int} of the mean (at {size:MB})."),
        quantities=lambda facts: [spread(facts, op, "large") for op in OPS],
        bounds=at_most(0.10),
        unit="share",
        figures=_figures(high=(0.10, "share"), size=LARGE_SIZE),
    ),
    _claim(
        "0.4",
        "5.2",
        "주요 데이터 전송(1.32 MB)에서 1.85 GB/s 이상의 대역폭을 달성하였다",
        N_("Writing {size:MB} reaches at least {low:GB/s}."),
        quantities=lambda facts: [moved(facts, "write", "large")],
        bounds=at_least(1.85e9),
        unit="B/s",
        figures=_figures(low=(1.85e9, "B/s"), size=LARGE_SIZE),
        fair=mapped_bandwidth("write"),
        adds=EXACT_PAYLOAD,
    ),
    _claim(
        "0.5",
        "5.2",
        "1.32 MB 데이터 전송 시 1.85 GB/s의 쓰기 속도와 5.82 GB/s의 읽기 속도를 기록하였다",
        N_("Reading {size:MB} reaches at least {low:GB/s}."),
        quantities=lambda facts: [moved(facts, "read", "large")],
        bounds=at_least(5.82e9),
        unit="B/s",
        figures=_figures(low=(5.82e9, "B/s"), size=LARGE_SIZE),
        fair=mapped_bandwidth("read"),
        adds=EXACT_PAYLOAD,
    ),
    _claim(
        "0.6",
        "3.1",
        "매우 작은 데이터는 파일 열기/닫기 오버헤드가 지배적",
        N_(
            "For the smallest payload, opening and closing dominate: its bandwidth is below {high:pct,int} of the "
            "largest's."
        ),
        quantities=small_over_large,
        bounds=at_most(0.01),
        unit="share",
        figures=_figures(high=(0.01, "share")),
        fair=mapped_small_over_large,
        adds=EXACT_PAYLOAD,
    ),
    _claim(
        "0.7",
        "4.1 [2]",
        "이유: 읽기는 캐시 활용, 쓰기는 flush() 필요",
        N_("Writes are slower because of flush(): it takes at least {low:pct,int} of a write."),
        quantities=lambda facts: [take(facts, "payload.share.write.flush")],
        bounds=at_least(0.10),
        unit="share",
        unstated=NO_PHASES,
        figures=_figures(low=(0.10, "share")),
        fair=flush_shares,
        adds=EVERY_MAPPING,
    ),
    _claim(
        "0.8",
        "5.2",
        "메모리-메모리 직접 복사의 이론적 상한(RAM 대역폭)에 근접한 수치이다",
        N_("A write is close to the memory bandwidth: a kept mapping is not more than {high:int} times as fast."),
        quantities=lambda facts: [take(facts, "payload.kept_speedup.write")],
        bounds=at_most(2.0),
        unstated=NO_PHASES,
        figures=_figures(high=(2, "1")),
    ),
    _claim(
        "0.9",
        "4.2",
        "최종 추정: 90-100 MB/s",
        N_(
            "TCP on loopback as v0.9 used it moves at most {most:MB/s,int} "
            "({low:MB/s,int} to {high:MB/s,int} estimated)."
        ),
        quantities=lambda facts: [take(facts, "payload.tcp.v09.off.cross.large.bandwidth")],
        bounds=at_most(125e6),
        unit="B/s",
        unstated=ONLY_ESTIMATED,
        figures=_figures(low=(90e6, "B/s"), high=(100e6, "B/s"), most=(125e6, "B/s")),
        fair=past_bandwidths,
        adds=BOTH_PLACEMENTS,
    ),
    _claim(
        "0.10",
        "6.1",
        "속도: 18-58배 향상",
        N_("Shared memory is at least {low:int} times as fast as the TCP of v0.9, a write and a read together."),
        quantities=lambda facts: [take(facts, "payload.tcp.v09.off.cross.large") / transfer(facts)],
        bounds=at_least(18.0),
        figures=_figures(low=(18, "1")),
        fair=past_over_now,
        adds=BOTH_ENDS,
    ),
    _claim(
        "0.11",
        "6.1",
        "EKI 20회 반복 전송 시간: ~19 ms",
        N_("The transfers of {cycles:int} iterations take about {total:ms,int} in all (within {margin:pct,int})."),
        quantities=lambda facts: [transfer(facts) * CYCLES],
        bounds=(19e6 * 0.9, 19e6 * 1.1),
        unit="ns",
        figures=_figures(cycles=(CYCLES, "count"), total=(19e6, "ns"), margin=(0.10, "share")),
        fair=real_cycles,
        adds=WITH_WAITING,
    ),
    _claim(
        "0.12",
        "2.2",
        "LDM-EKI에서 실제 전송하는 데이터 크기와 동일: 1. 84 bytes",
        N_("The smallest payload tested is the {size} of the real configuration."),
        quantities=lambda facts: [take(facts, "payload.moved.small")],
        bounds=(84.0, 84.0),
        unit="B",
        figures=_figures(size=(84, "B")),
    ),
)
