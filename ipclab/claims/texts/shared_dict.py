"""ipc_benchmark, README, in Chinese (seed 001): what each claim compares, and with which bounds.

The words of the claims, and what else the text derives, are in `data/published/001_shared_dict.toml`.
"""

from ipclab.claims.expression import Term
from ipclab.claims.told import (
    Claims,
    Stated,
    above,
    at,
    at_least,
    at_most,
    between,
    each,
    exact,
    exactly,
    growth_along,
    least,
    log,
    most,
)

claim = Claims()


def by_published_method(op: str, backend: str, entries: int | str, metric: str = "") -> Term:
    """Return an operation with three readers by the published method."""
    levels = f"arm=published,backend={backend},entries={entries},readers=3"
    return at(f"shared_dict.{op}[{levels}]", metric)


MESSAGE = by_published_method("write", "zmq-push", 10000) / by_published_method(
    "write", "shared-memory", 10000
)
READS = by_published_method("read", "lmdb|shared-memory|zmq-push", 10000, "mean")
ENTRY_BYTES = each(
    exact("521 B") / 10, exact("5105 B") / 100, exact("55039 B") / 1000, exact("577129 B") / 10000
)
COPIES = by_published_method("read.transport", "shared-memory", 10000) / by_published_method(
    "read.transport", "shared-memory", 10
)
MEDIAN_READS = by_published_method("read", "lmdb|shared-memory|zmq-push", 10000)
STEPS = log(
    growth_along(
        by_published_method("read", "lmdb|shared-memory|zmq-push", "100|1000|10000", "mean"),
        "entries",
    )
) / log(10)
FAIR_STEPS = log(
    growth_along(
        by_published_method("read", "lmdb|shared-memory|zmq-push", "100|1000|10000"), "entries"
    )
) / log(
    growth_along(
        by_published_method("read", "lmdb|shared-memory|zmq-push", "100|1000|10000", "size_bytes"),
        "entries",
    )
)


@claim("1.1")
def shared_memory_and_lmdb_write_alike() -> Stated:
    """SharedMemory/LMDB在写入性能上基本相同"""
    return Stated(
        between(
            by_published_method("write-total", "lmdb", 10000)
            / by_published_method("write-total", "shared-memory", 10000),
            "0.8",
            "1.25",
        ),
        fair=by_published_method("write", "lmdb", 10000)
        / by_published_method("write", "shared-memory", 10000),
    )


@claim("1.2")
def zeromq_writes_slower() -> Stated:
    """写入速度 ZeroMQ 0.007x (145倍慢)"""
    return Stated(
        at_least(
            by_published_method("write-total", "zmq-push", 10000)
            / by_published_method("write-total", "shared-memory", 10000),
            "145",
            rounded=True,
        ),
        fair=MESSAGE,
    )


@claim("1.2b")
def one_message_is_slower() -> Stated:
    """Write Time: 一次写入操作的总时间(秒)"""
    return Stated(
        above(
            by_published_method("write-total", "zmq-push", 10000)
            / 300
            / by_published_method("write-total", "shared-memory", 10000),
            "1",
        ),
        fair=MESSAGE,
    )


@claim("1.3")
def all_read_alike() -> Stated:
    """三种backend的读取性能非常接近"""
    return Stated(
        at_most(most(READS) / least(READS), "1.25"), fair=most(MEDIAN_READS) / least(MEDIAN_READS)
    )


@claim("1.4")
def lmdb_reads_faster() -> Stated:
    """读取速度 LMDB 1.09x, ZeroMQ 1.03x"""
    return Stated(
        exactly(
            by_published_method("read", "shared-memory", 10000, "mean")
            / by_published_method("read", "lmdb", 10000, "mean"),
            "1.09",
            rounded=True,
        ),
        fair=by_published_method("read", "shared-memory", 10000)
        / by_published_method("read", "lmdb", 10000),
    )


@claim("1.4b")
def zeromq_reads_faster() -> Stated:
    """读取速度 LMDB 1.09x, ZeroMQ 1.03x"""
    return Stated(
        exactly(
            by_published_method("read", "shared-memory", 10000, "mean")
            / by_published_method("read", "zmq-push", 10000, "mean"),
            "1.03",
            rounded=True,
        ),
        fair=by_published_method("read", "shared-memory", 10000)
        / by_published_method("read", "zmq-push", 10000),
    )


@claim("1.5")
def decoding_is_the_bottleneck() -> Stated:
    """反序列化是主要性能瓶颈"""
    return Stated(
        at_least(
            each(
                1
                / (
                    1
                    + by_published_method("read.transport", "lmdb|shared-memory|zmq-push", 10000)
                    / by_published_method("read.decode", "lmdb|shared-memory|zmq-push", 10000)
                )
            ),
            "50 %",
        )
    )


@claim("1.6")
def reads_grow_linearly() -> Stated:
    """读取性能随数据量线性增长"""
    return Stated(between(each(STEPS), "0.9", "1.1"), fair=each(FAIR_STEPS))


@claim("1.7")
def writing_takes_in_proportion_to_readers() -> Stated:
    """写性能随reader数量线性下降"""
    return Stated(
        between(
            each(
                by_published_method("write-total", "zmq-push", "10|100|1000|10000")
                / at(
                    "shared_dict.write-total[arm=published,backend=zmq-push,entries=10|100|1000|"
                    "10000,readers=1]"
                )
            ),
            "2.4",
            "3.75",
        ),
        fair=each(
            at(
                "shared_dict.update[arm=stream,backend=zmq-push,entries=100|1000|10000,readers=3,"
                "codec=pickle]"
            )
            / at(
                "shared_dict.update[arm=stream,backend=zmq-push,entries=100|1000|10000,readers=1,"
                "codec=pickle]"
            )
        ),
    )


@claim("1.8")
def an_entry_takes_so_many_bytes() -> Stated:
    """实际数据量约为条目数 × 100字节"""
    return Stated(
        exactly(
            each(
                by_published_method("read", "shared-memory", "10|100|1000|10000", "size_bytes")
                / by_published_method("read", "shared-memory", "10|100|1000|10000", "entries")
            ),
            "100 B",
            rounded=True,
        )
    )


@claim("1.9")
def every_reader_reads_so_often() -> Stated:
    """每个reader执行100次读操作"""
    return Stated(
        exactly(
            each(
                by_published_method(
                    "launch", "lmdb|shared-memory|zmq-push", "10|100|1000|10000", "reads"
                )
                / 3
            ),
            "100",
        )
    )


@claim("1.10")
def readers_do_not_change_writing() -> Stated:
    """写性能不受reader数量影响"""
    return Stated(
        between(
            each(
                at(
                    "shared_dict.write[arm=read-many,backend=lmdb,sync=off,map=writemap,"
                    "codec=pickle,"
                    "placement=free,entries=1000,readers=max]"
                )
                / at(
                    "shared_dict.write[arm=read-many,backend=lmdb,sync=off,map=writemap,"
                    "codec=pickle,"
                    "placement=free,entries=1000,readers=1]"
                ),
                at(
                    "shared_dict.write[arm=read-many,backend=shared-memory,codec=pickle,"
                    "placement=free,entries=1000,readers=max]"
                )
                / at(
                    "shared_dict.write[arm=read-many,backend=shared-memory,codec=pickle,"
                    "placement=free,entries=1000,readers=1]"
                ),
            ),
            "0.8",
            "1.25",
        ),
        fair=each(
            at("shared_dict.write[arm=live,backend=lmdb|shared-memory,entries=1000,readers=max]")
            / at("shared_dict.write[arm=live,backend=lmdb|shared-memory,entries=1000,readers=1]")
        ),
    )


@claim("1.11")
def reading_copies_nothing() -> Stated:
    """零拷贝, 直接内存访问, 性能高"""
    return Stated(at_most(COPIES, "2"))
