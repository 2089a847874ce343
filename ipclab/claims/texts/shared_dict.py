"""ipc_benchmark, README, in Chinese (text 001): what it claims, and what it derives."""

from functools import partial

import pandas as pd

from ipclab.claims.claim import Text
from ipclab.claims.extremes import growth, over_each, pairs, power
from ipclab.claims.numbers import Compared, Level, Numbers, Values, only
from ipclab.stats.quantity import Quantity, of
from ipclab.words.catalogue import N_

ALL_SIZES = [10, 100, 1000, 10000]
STEPS = [100, 1000, 10000]
MOST = 10000
SHARED, ZMQ = "shared-memory", "zmq-push"
BACKENDS = ["lmdb", SHARED, ZMQ]
READS, READERS = 100, 3
text = Text(
    "001",
    "shared_dict",
    N_("ipc_benchmark, README, in Chinese"),
    "zh",
    printed={"write": "write-total.mean", "read": "read.mean"},
)
ONE_MESSAGE = N_("one message against one store, medians")
CHECKED = N_("medians of interleaved launches, every read checked")
ONE_NUMBER = N_("the text measured one number of readers")
NOT_APART = N_("the text does not time decoding apart")
BY_DESIGN = N_("it sends a message of its own for each reader and iteration")


def times(run: Numbers, op: str, backend: Level, entries: Level = MOST, metric: str = "") -> Values:
    """Return an operation with three readers by the published method."""
    levels: dict[str, Level] = {"backend": backend, "entries": entries}
    return run.each(op, metric, arm="published", readers=READERS, **levels)


def one(run: Numbers, op: str, backend: str, metric: str = "") -> Quantity:
    """Return an operation on the most entries by the published method."""
    return only(times(run, op, backend, MOST, metric))


def total_over_write(run: Numbers) -> Quantity:
    """Return what all of ZeroMQ's messages take over one write through SharedMemory."""
    return one(run, "write-total", ZMQ) / one(run, "write-total", SHARED)


def message_over_write(run: Numbers) -> Quantity:
    """Return what one message through ZeroMQ takes over one store, by medians."""
    return one(run, "write", ZMQ) / one(run, "write", SHARED)


@text.claim(
    "1.1",
    "写入性能对比",
    "between 0.8 and 1.25",
    N_(
        "SharedMemory and LMDB write equally fast ({entries:int} entries, within a factor of"
        " {high:bare})."
    ),
    figures={"entries": MOST, "high": 1.25},
)
def shared_memory_and_lmdb_write_alike(run: Numbers) -> Compared:
    """SharedMemory/LMDB在写入性能上基本相同"""
    return one(run, "write-total", "lmdb") / one(run, "write-total", SHARED)


@shared_memory_and_lmdb_write_alike.fairly(
    N_("medians of later stores, not of the first one alone")
)
def _(run: Numbers) -> Compared:
    return one(run, "write", "lmdb") / one(run, "write", SHARED)


@text.claim(
    "1.2",
    "性能倍数对比",
    "at_least 145 rounded",
    N_("ZeroMQ writes at least {low:int} times as slowly as SharedMemory ({entries:int} entries)."),
    figures={"low": 145, "entries": MOST},
    concedes=BY_DESIGN,
)
def zeromq_writes_slower(run: Numbers) -> Compared:
    """写入速度 ZeroMQ 0.007x (145倍慢)"""
    return total_over_write(run)


@zeromq_writes_slower.fairly(ONE_MESSAGE)
def _(run: Numbers) -> Compared:
    return message_over_write(run)


@text.claim(
    "1.2b",
    "性能指标说明",
    "above 1",
    N_(
        "By the text's own definition, the time of one write, ZeroMQ is slower than SharedMemory"
        " ({entries:int} entries)."
    ),
    figures={"entries": MOST},
    concedes=BY_DESIGN,
)
def one_message_is_slower(run: Numbers) -> Compared:
    """Write Time: 一次写入操作的总时间(秒)"""
    return total_over_write(run) / (READS * READERS)


@one_message_is_slower.fairly(ONE_MESSAGE)
def _(run: Numbers) -> Compared:
    return message_over_write(run)


@text.claim(
    "1.3",
    "读取性能对比",
    "between 0.8 and 1.25",
    N_(
        "The three mechanisms read about equally fast ({entries:int} entries, each within a"
        " factor of {high:bare} of each other)."
    ),
    figures={"entries": MOST, "high": 1.25},
)
def all_read_alike(run: Numbers) -> Compared:
    """三种backend的读取性能非常接近"""
    return pairs(times(run, "read", BACKENDS, metric="mean"))


@all_read_alike.fairly(CHECKED)
def _(run: Numbers) -> Compared:
    return pairs(times(run, "read", BACKENDS))


@text.claim(
    "1.4",
    "性能倍数对比",
    "exactly 1.09 rounded",
    N_("LMDB reads {times:x} as fast as SharedMemory ({entries:int} entries)."),
    figures={"times": 1.09, "entries": MOST},
)
def lmdb_reads_faster(run: Numbers) -> Compared:
    """读取速度 LMDB 1.09x, ZeroMQ 1.03x"""
    return one(run, "read", SHARED, "mean") / one(run, "read", "lmdb", "mean")


@lmdb_reads_faster.fairly(CHECKED)
def _(run: Numbers) -> Compared:
    return one(run, "read", SHARED) / one(run, "read", "lmdb")


@text.claim(
    "1.4b",
    "性能倍数对比",
    "exactly 1.03 rounded",
    N_("ZeroMQ reads {times:x} as fast as SharedMemory ({entries:int} entries)."),
    figures={"times": 1.03, "entries": MOST},
)
def zeromq_reads_faster(run: Numbers) -> Compared:
    """读取速度 LMDB 1.09x, ZeroMQ 1.03x"""
    return one(run, "read", SHARED, "mean") / one(run, "read", ZMQ, "mean")


@zeromq_reads_faster.fairly(CHECKED)
def _(run: Numbers) -> Compared:
    return one(run, "read", SHARED) / one(run, "read", ZMQ)


@text.claim(
    "1.5",
    "读取性能对比",
    "at_least 50 %",
    N_(
        "Decoding is the bottleneck: at least {low:pct,int} of a read, for each mechanism"
        " ({entries:int} entries)."
    ),
    figures={"low": "50 %", "entries": MOST},
    unstated=NOT_APART,
)
def decoding_is_the_bottleneck(run: Numbers) -> Compared:
    """反序列化是主要性能瓶颈"""
    copied, decoded = (times(run, f"read.{part}", BACKENDS) for part in ("transport", "decode"))
    return 1 / (1 + copied / decoded)


@text.claim(
    "1.6",
    "读取性能对比",
    "between 0.9 and 1.1",
    N_(
        "A read grows linearly with the entries: by a power between {low:bare} and {high:bare}"
        " at each step."
    ),
    figures={"low": 0.9, "high": 1.1},
)
def reads_grow_linearly(run: Numbers) -> Compared:
    """读取性能随数据量线性增长"""
    return power(growth(times(run, "read", BACKENDS, STEPS, "mean"), "entries"), 10)


@reads_grow_linearly.fairly(N_("medians over encoded bytes, not means over entries"))
def _(run: Numbers) -> Compared:
    sizes = times(run, "read", BACKENDS, STEPS, "size_bytes")
    return power(growth(times(run, "read", BACKENDS, STEPS), "entries"), growth(sizes, "entries"))


@text.claim(
    "1.7",
    "消息传递模型（ZeroMQ）",
    "between 2.4 and 3.75",
    N_(
        "ZeroMQ's writing takes in proportion to the readers: {readers:int} times as long for"
        " {readers:int} as for one (within a factor of {high:bare})."
    ),
    figures={"readers": READERS, "high": 1.25},
    unstated=ONE_NUMBER,
    concedes=BY_DESIGN,
)
def writing_takes_in_proportion_to_readers(run: Numbers) -> Compared:
    """写性能随reader数量线性下降"""
    levels: dict[str, Level] = {"backend": ZMQ, "entries": ALL_SIZES}
    alone = run.each("write-total", arm="published", readers=1, **levels)
    return times(run, "write-total", ZMQ, ALL_SIZES) / alone


@writing_takes_in_proportion_to_readers.fairly(
    N_("each update reaches every reader once and is acknowledged")
)
def _(run: Numbers) -> Compared:
    levels: dict[str, Level] = {"backend": ZMQ, "entries": STEPS, "codec": "pickle"}
    three, alone = (run.each("update", arm="stream", readers=n, **levels) for n in (READERS, 1))
    return three / alone


@text.claim(
    "1.8",
    "数据大小",
    "exactly 100 B rounded",
    N_("An entry takes about {about:int}."),
    figures={"about": "100 B"},
    unstated=N_("the text does not say how many bytes its dictionaries have"),
    untestable=N_(
        "needs the text's program: the bytes of the dictionary that is rebuilt here are a setting"
    ),
)
def an_entry_takes_so_many_bytes(run: Numbers) -> Compared:
    """实际数据量约为条目数 × 100字节"""
    sizes = times(run, "read", SHARED, ALL_SIZES, "size_bytes")
    return sizes / times(run, "read", SHARED, ALL_SIZES, "entries")


@text.claim(
    "1.9",
    "测试环境",
    "exactly 100",
    N_("Every reader makes {reads:int} reads."),
    figures={"reads": READS},
    unstated=N_("the text does not print how many reads were made"),
    untestable=N_("needs the counts of the text's own run: here the number of reads is a setting"),
)
def every_reader_reads_so_often(run: Numbers) -> Compared:
    """每个reader执行100次读操作"""
    return times(run, "launch", BACKENDS, ALL_SIZES, "reads") / READERS


@text.claim(
    "1.10",
    "共享存储模型（LMDB、SharedMemory）",
    "between 0.8 and 1.25",
    N_(
        "Readers do not change what writing takes: with the most readers over with one, LMDB and"
        " SharedMemory (within a factor of {high:bare})."
    ),
    figures={"high": 1.25},
    unstated=ONE_NUMBER,
    arm="read-many",
)
def readers_do_not_change_writing(run: Numbers) -> Compared:
    """写性能不受reader数量影响"""
    lmdb = {"backend": "lmdb", "sync": "off", "map": "writemap"}
    common: dict[str, Level] = {"codec": "pickle", "placement": "free", "entries": 1000}
    return pd.Series(
        [
            run.one("write", arm="read-many", readers="max", **common, **mechanism)
            / run.one("write", arm="read-many", readers=1, **common, **mechanism)
            for mechanism in (lmdb, {"backend": SHARED})
        ],
        dtype=object,
    )


@readers_do_not_change_writing.fairly(
    N_("readers that read while the writer writes, which the published program never has")
)
def _(run: Numbers) -> Compared:
    levels: dict[str, Level] = {"backend": ["lmdb", SHARED], "entries": 1000}
    many, alone = (run.each("write", arm="live", readers=n, **levels) for n in ("max", 1))
    return many / alone


def copies(run: Numbers) -> Quantity:
    """Return what taking out the most entries takes over taking out the fewest."""
    large = one(run, "read.transport", SHARED)
    return large / only(times(run, "read.transport", SHARED, 10))


@text.claim(
    "1.11",
    "2. SharedMemory",
    "at_most 2",
    N_(
        "SharedMemory reads without a copy: taking out {large:int} entries takes at most"
        " {high:bare} times as long as {small:int}."
    ),
    figures={"large": MOST, "small": 10, "high": 2},
    unstated=NOT_APART,
)
def reading_copies_nothing(run: Numbers) -> Compared:
    """零拷贝, 直接内存访问, 性能高"""
    return copies(run)


@text.claim(
    "1.12",
    "重要提示",
    "above 1",
    N_(
        "The text advises SharedMemory or LMDB, not ZeroMQ, where several readers read the same"
        " data"
        " again: writing and {reads:int} reads take longer through ZeroMQ ({entries:int} entries)."
    ),
    figures={"reads": READS, "entries": MOST},
    concedes=BY_DESIGN,
)
def zeromq_is_not_for_reading_again(run: Numbers) -> Compared:
    """推荐: SharedMemory 或 LMDB；不推荐: ZeroMQ（写入性能会随reader数量线性下降）"""
    reads = times(run, "read", BACKENDS, metric="mean") * READS
    whole = times(run, "write-total", BACKENDS) + reads
    return over_each(whole[ZMQ], whole.drop(ZMQ))


@text.claim(
    "1.13",
    "使用建议",
    "below 1",
    N_(
        "The text advises SharedMemory for the highest performance: it writes faster than LMDB"
        " and ZeroMQ at every size."
    ),
)
def shared_memory_writes_fastest(run: Numbers) -> Compared:
    """选择 SharedMemory 当: 需要最高性能（写入最快）"""
    shared = times(run, "write-total", SHARED, ALL_SIZES)
    others = [shared / times(run, "write-total", name, ALL_SIZES) for name in ("lmdb", ZMQ)]
    return pd.concat(others)


@shared_memory_writes_fastest.fairly(ONE_MESSAGE)
def _(run: Numbers) -> Compared:
    shared = times(run, "write", SHARED, ALL_SIZES)
    return pd.concat([shared / times(run, "write", name, ALL_SIZES) for name in ("lmdb", ZMQ)])


# What the text derives from its own numbers.

OTHERS = ["lmdb", ZMQ]


def speed(table: Numbers, name: str) -> Values:
    """Return what the text prints of both others."""
    return table.each("text", name, backend=OTHERS)


def shared_over(table: Numbers, op: str) -> Values:
    """Return the time of shared memory over that of each other."""
    return over_each(one(table, op, SHARED), times(table, op, OTHERS))


for name, op in (("write_speed", "write-total"), ("read_speed", "read")):
    text.derive(
        N_("the time of shared memory over that of the other"),
        partial(speed, name=name),
        partial(shared_over, op=op),
    )
text.derive(
    N_("the total of one over the total of the other"),
    lambda table: table.one("text", "write_slower"),
    total_over_write,
)

# Sentences that can stand in place of claims.

text.correct(
    *("1.2", "1.2b"),
    own=N_(
        "ZeroMQ's figure is the time of {messages} messages; one of them takes {ratio:x} as long as"
        " one write through SharedMemory."
    ),
    own_values=lambda table: {
        "messages": of(READS * READERS),
        "ratio": total_over_write(table) / (READS * READERS),
    },
    here=N_(
        "One message through ZeroMQ takes {ratio:x,interval} as long as one write through"
        " SharedMemory."
    ),
    here_values=lambda run: {"ratio": message_over_write(run)},
)


def lmdb_steps(run: Numbers) -> dict[str, Quantity]:
    """Return the two steps of a read through LMDB."""
    first, second = growth(times(run, "read", "lmdb", STEPS, "mean"), "entries")
    return {"first": first, "second": second}


text.correct(
    "1.6",
    own=N_(
        "With ten times as many entries, a read through LMDB takes {first:x} as long, then"
        " {second:x} as long."
    ),
    own_values=lmdb_steps,
    here=N_(
        "With ten times as many entries, a read through LMDB takes {first:x,interval}, then"
        " {second:x,interval} as long."
    ),
    here_values=lmdb_steps,
)
text.correct(
    "1.11",
    here=N_(
        "The program copies what it reads from SharedMemory: {large:int} entries take"
        " {ratio:x,interval} as long to copy out as {small:int}."
    ),
    here_values=lambda run: {"large": of(MOST), "small": of(10), "ratio": copies(run)},
)
