"""ipc_benchmark, README, in Chinese (text 001): what it claims, and what it derives."""

from functools import partial

import pandas as pd

from ipclab.claims.claim import Text
from ipclab.claims.extremes import growth, over_each, pairs, power
from ipclab.claims.numbers import Level, Numbers, Values, each, listed, only
from ipclab.stats.quantity import Quantity, of
from ipclab.words.catalogue import N_

ALL_SIZES = [10, 100, 1000, 10000]
STEPS = [100, 1000, 10000]
MOST = 10000
SHARED, ZMQ = "shared-memory", "zmq-push"
BACKENDS = ["lmdb", SHARED, ZMQ]
OTHERS = ["lmdb", ZMQ]
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
    return run.each(op, metric, arm="published", readers=READERS, backend=backend, entries=entries)


def one(run: Numbers, op: str, backend: str, metric: str = "") -> Quantity:
    """Return an operation on the most entries by the published method."""
    return only(times(run, op, backend, MOST, metric))


def over(run: Numbers, op: str, backend: str, other: str, metric: str = "") -> Quantity:
    """Return an operation through one mechanism over that through another."""
    return one(run, op, backend, metric) / one(run, op, other, metric)


def total_over_write(run: Numbers) -> Quantity:
    """Return what all of ZeroMQ's messages take over one write through SharedMemory."""
    return over(run, "write-total", ZMQ, SHARED)


def message_over_write(run: Numbers) -> Quantity:
    """Return what one message through ZeroMQ takes over one store, by medians."""
    return over(run, "write", ZMQ, SHARED)


def decoding(run: Numbers) -> Values:
    """Return the share of decoding in a read."""
    copied, decoded = (times(run, f"read.{part}", BACKENDS) for part in ("transport", "decode"))
    return 1 / (1 + copied / decoded)


def powers(run: Numbers) -> Values:
    """Return by which power of the encoded bytes a read grows, by medians."""
    sizes = times(run, "read", BACKENDS, STEPS, "size_bytes")
    return power(growth(times(run, "read", BACKENDS, STEPS), "entries"), growth(sizes, "entries"))


def crowded(run: Numbers) -> Values:
    """Return what ZeroMQ's writing takes with three readers over with one."""
    alone = run.each("write-total", arm="published", readers=1, backend=ZMQ, entries=ALL_SIZES)
    return times(run, "write-total", ZMQ, ALL_SIZES) / alone


def crowded_stream(run: Numbers) -> Values:
    """Return what an acknowledged update takes with three readers over with one."""
    levels: dict[str, Level] = {"backend": ZMQ, "entries": STEPS, "codec": "pickle"}
    three, alone = (run.each("update", arm="stream", readers=n, **levels) for n in (READERS, 1))
    return three / alone


def bytes_of_an_entry(run: Numbers) -> Values:
    """Return the bytes of a dictionary over its entries."""
    sizes = times(run, "read", SHARED, ALL_SIZES, "size_bytes")
    return sizes / times(run, "read", SHARED, ALL_SIZES, "entries")


def write_beside_most(run: Numbers) -> Values:
    """Return a write with the most readers over one with one, readers taking turns with it."""
    common: dict[str, Level] = {"codec": "pickle", "placement": "free", "entries": 1000}
    lmdb = {"backend": "lmdb", "sync": "off", "map": "writemap"}
    return listed(
        run.one("write", arm="read-many", readers="max", **common, **mechanism)
        / run.one("write", arm="read-many", readers=1, **common, **mechanism)
        for mechanism in (lmdb, {"backend": SHARED})
    )


def write_beside_live(run: Numbers) -> Values:
    """Return a write with the most readers over one with one, readers reading meanwhile."""
    levels: dict[str, Level] = {"backend": ["lmdb", SHARED], "entries": 1000}
    many, alone = (run.each("write", arm="live", readers=n, **levels) for n in ("max", 1))
    return many / alone


def copies(run: Numbers) -> Quantity:
    """Return what taking out the most entries takes over taking out the fewest."""
    large = one(run, "read.transport", SHARED)
    return large / only(times(run, "read.transport", SHARED, 10))


def reading_again(run: Numbers) -> Values:
    """Return writing and all reads through ZeroMQ over those through each other."""
    reads = times(run, "read", BACKENDS, metric="mean") * READS
    whole = times(run, "write-total", BACKENDS) + reads
    return over_each(whole[ZMQ], whole.drop(ZMQ))


def shared_writes(run: Numbers, op: str) -> Values:
    """Return a write through SharedMemory over that through each other, at every size."""
    shared = times(run, op, SHARED, ALL_SIZES)
    return pd.concat([shared / times(run, op, name, ALL_SIZES) for name in OTHERS])


text.claim(
    "1.1",
    "写入性能对比",
    "SharedMemory/LMDB在写入性能上基本相同",
    "between 0.8 and 1.25",
    N_(
        "SharedMemory and LMDB write equally fast ({entries:int} entries, within a factor of"
        " {high:bare})."
    ),
    figures={"entries": MOST, "high": 1.25},
    here=lambda run: over(run, "write-total", "lmdb", SHARED),
    fair=lambda run: over(run, "write", "lmdb", SHARED),
    adds=N_("medians of later stores, not of the first one alone"),
)
text.claim(
    "1.2",
    "性能倍数对比",
    "写入速度 ZeroMQ 0.007x (145倍慢)",
    "at_least 145 rounded",
    N_("ZeroMQ writes at least {low:int} times as slowly as SharedMemory ({entries:int} entries)."),
    figures={"low": 145, "entries": MOST},
    here=total_over_write,
    fair=message_over_write,
    adds=ONE_MESSAGE,
    concedes=BY_DESIGN,
)
text.claim(
    "1.2b",
    "性能指标说明",
    "Write Time: 一次写入操作的总时间(秒)",
    "above 1",
    N_(
        "By the text's own definition, the time of one write, ZeroMQ is slower than SharedMemory"
        " ({entries:int} entries)."
    ),
    figures={"entries": MOST},
    here=lambda run: total_over_write(run) / (READS * READERS),
    fair=message_over_write,
    adds=ONE_MESSAGE,
    concedes=BY_DESIGN,
)
text.claim(
    "1.3",
    "读取性能对比",
    "三种backend的读取性能非常接近",
    "between 0.8 and 1.25",
    N_(
        "The three mechanisms read about equally fast ({entries:int} entries, each within a"
        " factor of {high:bare} of each other)."
    ),
    figures={"entries": MOST, "high": 1.25},
    here=lambda run: pairs(times(run, "read", BACKENDS, metric="mean")),
    fair=lambda run: pairs(times(run, "read", BACKENDS)),
    adds=CHECKED,
)
text.claim(
    "1.4",
    "性能倍数对比",
    "读取速度 LMDB 1.09x, ZeroMQ 1.03x",
    "exactly 1.09 rounded",
    N_("LMDB reads {times:x} as fast as SharedMemory ({entries:int} entries)."),
    figures={"times": 1.09, "entries": MOST},
    here=lambda run: over(run, "read", SHARED, "lmdb", "mean"),
    fair=lambda run: over(run, "read", SHARED, "lmdb"),
    adds=CHECKED,
)
text.claim(
    "1.4b",
    "性能倍数对比",
    "读取速度 LMDB 1.09x, ZeroMQ 1.03x",
    "exactly 1.03 rounded",
    N_("ZeroMQ reads {times:x} as fast as SharedMemory ({entries:int} entries)."),
    figures={"times": 1.03, "entries": MOST},
    here=lambda run: over(run, "read", SHARED, ZMQ, "mean"),
    fair=lambda run: over(run, "read", SHARED, ZMQ),
    adds=CHECKED,
)
text.claim(
    "1.5",
    "读取性能对比",
    "反序列化是主要性能瓶颈",
    "at_least 50 %",
    N_(
        "Decoding is the bottleneck: at least {low:pct,int} of a read, for each mechanism"
        " ({entries:int} entries)."
    ),
    figures={"low": "50 %", "entries": MOST},
    here=decoding,
    unstated=NOT_APART,
)
text.claim(
    "1.6",
    "读取性能对比",
    "读取性能随数据量线性增长",
    "between 0.9 and 1.1",
    N_(
        "A read grows linearly with the entries: by a power between {low:bare} and {high:bare}"
        " at each step."
    ),
    figures={"low": 0.9, "high": 1.1},
    here=lambda run: power(growth(times(run, "read", BACKENDS, STEPS, "mean"), "entries"), 10),
    fair=powers,
    adds=N_("medians over encoded bytes, not means over entries"),
)
text.claim(
    "1.7",
    "消息传递模型（ZeroMQ）",
    "写性能随reader数量线性下降",
    "between 2.4 and 3.75",
    N_(
        "ZeroMQ's writing takes in proportion to the readers: {readers:int} times as long for"
        " {readers:int} as for one (within a factor of {high:bare})."
    ),
    figures={"readers": READERS, "high": 1.25},
    here=crowded,
    fair=crowded_stream,
    adds=N_("each update reaches every reader once and is acknowledged"),
    unstated=ONE_NUMBER,
    concedes=BY_DESIGN,
)
text.claim(
    "1.8",
    "数据大小",
    "实际数据量约为条目数 × 100字节",
    "exactly 100 B rounded",
    N_("An entry takes about {about:int}."),
    figures={"about": "100 B"},
    here=bytes_of_an_entry,
    unstated=N_("the text does not say how many bytes its dictionaries have"),
    untestable=N_(
        "needs the text's program: the bytes of the dictionary that is rebuilt here are a setting"
    ),
)
text.claim(
    "1.9",
    "测试环境",
    "每个reader执行100次读操作",
    "exactly 100",
    N_("Every reader makes {reads:int} reads."),
    figures={"reads": READS},
    here=lambda run: times(run, "launch", BACKENDS, ALL_SIZES, "reads") / READERS,
    unstated=N_("the text does not print how many reads were made"),
    untestable=N_("needs the counts of the text's own run: here the number of reads is a setting"),
)
text.claim(
    "1.10",
    "共享存储模型（LMDB、SharedMemory）",
    "写性能不受reader数量影响",
    "between 0.8 and 1.25",
    N_(
        "Readers do not change what writing takes: with the most readers over with one, LMDB and"
        " SharedMemory (within a factor of {high:bare})."
    ),
    figures={"high": 1.25},
    here=write_beside_most,
    fair=write_beside_live,
    adds=N_("readers that read while the writer writes, which the published program never has"),
    unstated=ONE_NUMBER,
    arm="read-many",
)
text.claim(
    "1.11",
    "2. SharedMemory",
    "零拷贝, 直接内存访问, 性能高",
    "at_most 2",
    N_(
        "SharedMemory reads without a copy: taking out {large:int} entries takes at most"
        " {high:bare} times as long as {small:int}."
    ),
    figures={"large": MOST, "small": 10, "high": 2},
    here=copies,
    unstated=NOT_APART,
)
text.claim(
    "1.12",
    "重要提示",
    "推荐: SharedMemory 或 LMDB；不推荐: ZeroMQ（写入性能会随reader数量线性下降）",
    "above 1",
    N_(
        "The text advises SharedMemory or LMDB, not ZeroMQ, where several readers read the same"
        " data again: writing and {reads:int} reads take longer through ZeroMQ ({entries:int}"
        " entries)."
    ),
    figures={"reads": READS, "entries": MOST},
    here=reading_again,
    concedes=BY_DESIGN,
)
text.claim(
    "1.13",
    "使用建议",
    "选择 SharedMemory 当: 需要最高性能（写入最快）",
    "below 1",
    N_(
        "The text advises SharedMemory for the highest performance: it writes faster than LMDB"
        " and ZeroMQ at every size."
    ),
    here=lambda run: shared_writes(run, "write-total"),
    fair=lambda run: shared_writes(run, "write"),
    adds=ONE_MESSAGE,
)

# What the text derives from its own numbers.


def shared_over(table: Numbers, op: str) -> Values:
    """Return the time of shared memory over that of each other."""
    return over_each(one(table, op, SHARED), times(table, op, OTHERS))


for name, op in (("write_speed", "write-total"), ("read_speed", "read")):
    text.derive(
        N_("the time of shared memory over that of the other"),
        each("text", name, backend=OTHERS),
        partial(shared_over, op=op),
    )
text.derive(
    N_("the total of one over the total of the other"),
    each("text", "write_slower"),
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
