"""plugin.go multiplexer, final report, in Korean (seed 002): what each claim compares, and with which bounds.

The words of the claims, and what else the text derives, are in `data/published/002_multiplexer.toml`.
"""

from ipclab.claims.expression import Term
from ipclab.claims.told import (
    Claims,
    Stated,
    above,
    at,
    at_least,
    at_most,
    below,
    each,
    exactly,
    least,
)

claim = Claims()


def writes(backend: str, size: int, metric: str = "") -> Term:
    """Return a write of `size` bytes by the published method."""
    return at(f"multiplexer.write[arm=published,backend={backend},size_bytes={size}]", metric)


def both_ends(backend: str, size: int, medium: str, metric: str = "") -> Term:
    """Return a message of `size` bytes from one process to another."""
    levels = f"arm=main,backend={backend},size_bytes={size},medium={medium},placement=cross"
    return at(f"multiplexer.end-to-end[{levels}]", metric)


SMALL = writes("hybrid", 1024) / writes("original", 1024)
LARGE = writes("hybrid", 65536) / writes("original", 65536)
LARGEST = writes("hybrid", 1048576) / writes("original", 1048576)
BOTH_SMALL = both_ends("hybrid", 1024, "pipe|unix", "bytes_allocated") / both_ends(
    "original", 1024, "pipe|unix", "bytes_allocated"
)
BOTH_LARGE = both_ends("hybrid", 65536, "pipe|unix", "bytes_allocated") / both_ends(
    "original", 65536, "pipe|unix", "bytes_allocated"
)
BOTH_LARGEST = both_ends("hybrid", 1048576, "pipe|unix", "bytes_allocated") / both_ends(
    "original", 1048576, "pipe|unix", "bytes_allocated"
)


@claim("2.1")
def small_messages_are_slower() -> Stated:
    """소형 메시지 (1KB): Hybrid 노드에서 9.1% 성능 저하"""
    return Stated(
        above(SMALL, "1"),
        fair=each(
            both_ends("hybrid", 1024, "pipe|unix") / both_ends("original", 1024, "pipe|unix")
        ),
    )


@claim("2.2")
def medium_messages_are_faster() -> Stated:
    """중형 메시지 (64KB): Hybrid 노드에서 9.3% 성능 향상"""
    return Stated(
        at_most(LARGE, "0.907", rounded=True),
        fair=each(
            both_ends("hybrid", 65536, "pipe|unix") / both_ends("original", 65536, "pipe|unix")
        ),
    )


@claim("2.3")
def large_messages_are_faster() -> Stated:
    """대형 메시지 (1MB): Hybrid 노드에서 39.2% 성능 향상"""
    return Stated(
        at_most(LARGEST, "0.608", rounded=True),
        fair=each(
            both_ends("hybrid", 1048576, "pipe|unix") / both_ends("original", 1048576, "pipe|unix")
        ),
    )


@claim("2.4")
def small_messages_allocate_as_much() -> Stated:
    """1KB: 48 B, 48 B, 0%"""
    return Stated(
        exactly(
            writes("hybrid", 1024, "bytes_allocated") / writes("original", 1024, "bytes_allocated"),
            "1.00",
            rounded=True,
        ),
        fair=each(BOTH_SMALL),
    )


@claim("2.4b")
def medium_messages_allocate_less() -> Stated:
    """64KB: 1056 B, 432 B, 59%"""
    return Stated(
        at_most(
            writes("hybrid", 65536, "bytes_allocated")
            / writes("original", 65536, "bytes_allocated"),
            "0.41",
            rounded=True,
        ),
        fair=each(BOTH_LARGE),
    )


@claim("2.4c")
def large_messages_allocate_less() -> Stated:
    """1MB: 16506 B, 1639 B, 90%"""
    return Stated(
        at_most(
            writes("hybrid", 1048576, "bytes_allocated")
            / writes("original", 1048576, "bytes_allocated"),
            "0.10",
            rounded=True,
        ),
        fair=each(BOTH_LARGEST),
    )


@claim("2.5")
def fewer_allocations() -> Stated:
    """대형 메시지에서 93.6% 할당 횟수 감소"""
    return Stated(
        exactly(
            each(
                writes("original", 1048576, "allocations") / 1026,
                writes("hybrid", 1048576, "allocations") / 66,
            ),
            "1",
        )
    )


@claim("2.6")
def the_best_of_each_size() -> Stated:
    """최적 선택: 1KB Original, 64KB Hybrid, 1MB Optimized"""
    return Stated(
        below(
            each(
                writes("original", 1024) / least(writes("optimized|hybrid", 1024)),
                writes("hybrid", 65536) / least(writes("original|optimized", 65536)),
                writes("optimized", 1048576) / least(writes("original|hybrid", 1048576)),
            ),
            "1",
        ),
        fair=each(
            both_ends("original", 1024, "pipe")
            / least(both_ends("optimized|hybrid", 1024, "pipe")),
            both_ends("original", 1024, "unix")
            / least(both_ends("optimized|hybrid", 1024, "unix")),
            both_ends("hybrid", 65536, "pipe")
            / least(both_ends("original|optimized", 65536, "pipe")),
            both_ends("hybrid", 65536, "unix")
            / least(both_ends("original|optimized", 65536, "unix")),
            both_ends("optimized", 1048576, "pipe")
            / least(both_ends("original|hybrid", 1048576, "pipe")),
            both_ends("optimized", 1048576, "unix")
            / least(both_ends("original|hybrid", 1048576, "unix")),
        ),
    )


@claim("2.7")
def the_pool_saves_memory() -> Stated:
    """버퍼 풀링: 큰 메시지에서 90% 메모리 절약"""
    return Stated(
        below(
            at("multiplexer.write[arm=factorial,pool=yes,chunk=1024].bytes_allocated")
            / at("multiplexer.write[arm=factorial,pool=no,chunk=1024].bytes_allocated"),
            "1",
        ),
        fair=each(
            at("multiplexer.write|end-to-end[arm=factorial,pool=yes,chunk=1024].bytes_allocated")
            / at("multiplexer.write|end-to-end[arm=factorial,pool=no,chunk=1024].bytes_allocated")
        ),
    )


@claim("2.8")
def calling_indirectly_costs() -> Stated:
    """함수 간접화: 6.45ns (9.3% 오버헤드) - 주요 병목"""
    return Stated(
        at_least(
            at("multiplexer.write[arm=published,backend=direct-again]")
            / at("multiplexer.write[arm=published,backend=direct]")
            - 1,
            "9.3 %",
            rounded=True,
        ),
        own=at("multiplexer.text[].indirection"),
    )


@claim("2.9")
def both_ends_save_memory() -> Stated:
    """90%의 메모리 절약을 실현했습니다"""
    return Stated(below(each(BOTH_LARGE, BOTH_LARGEST), "1"))


@claim("2.10")
def the_threshold() -> Stated:
    """8KB 임계값 기반 동적 경로 선택"""
    return Stated(exactly(at("multiplexer.text[].threshold_code"), "8 KiB"))


@claim("2.11")
def no_method_is_renamed() -> Stated:
    """제로 API 변경으로 호환성을 유지했습니다"""
    return Stated(exactly(at("multiplexer.text[].api_renamed"), "0"))


@claim("2.12")
def the_check_costs_nothing() -> Stated:
    """임계값 체크: 0.63ns (0.9% 오버헤드) - 거의 무료"""
    return Stated(
        at_most(
            (
                at("multiplexer.call[arm=check,backend=checked,size_bytes=1024]")
                - at("multiplexer.call[arm=check,backend=direct,size_bytes=1024]")
            )
            / writes("original", 1024),
            "0.9 %",
            rounded=True,
        ),
        own=at("multiplexer.text[].threshold_check"),
    )
