"""ipc_benchmark, README, in Chinese (text 001): what it claims, and what it derives."""

from functools import partial

from ipclab.claims.claim import PublishedText
from ipclab.claims.extremes import growth, pairs, power
from ipclab.claims.numbers import Level, Lookup, look, said, several
from ipclab.words.catalogue import N_

FEWEST, MOST = 10, 10000  # entries
ALL_SIZES = [FEWEST, 100, 1000, MOST]
STEPS = [100, 1000, MOST]
SHARED, ZMQ = "shared-memory", "zmq-push"
BACKENDS = ["lmdb", SHARED, ZMQ]
STORES = ["lmdb", SHARED]
READS, READERS = 100, 3
text = PublishedText(
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

# By the published method, on the most entries; updates through ZeroMQ that each reader acknowledges;
# writes beside readers that read meanwhile.
times = partial(look, arm="published", readers=READERS, entries=MOST)
updates = partial(look, "update", arm="stream", backend=ZMQ, entries=STEPS, codec="pickle")
live_writes = partial(look, "write", arm="live", backend=STORES, entries=1000)


def over(op: str, backend: str, other: Level, metric: str = "") -> Lookup:
    """Return an operation on the most entries through one mechanism over that through another."""
    return times(op, metric, backend=backend) / times(op, metric, backend=other)


def steps(backend: Level, metric: str = "") -> Lookup:
    """Return by what factor a read, or a `metric` of it, grows with ten times as many entries."""
    return times("read", metric, backend=backend, entries=STEPS).pipe(growth, "entries")


def writes_beside_most(**mechanism: Level) -> Lookup:
    """Return a write with the most readers over one with one, readers taking turns with it."""
    mechanism |= {"codec": "pickle", "placement": "free", "entries": 1000}
    most, one = (look("write", arm="read-many", readers=n, **mechanism) for n in ("max", 1))
    return most / one


def whole(backend: Level) -> Lookup:
    """Return what writing and all reads take."""
    return times("write-total", backend=backend) + times("read", "mean", backend=backend) * READS


def shared_writes(op: str) -> Lookup:
    """Return a write through SharedMemory over that through each other, at every size."""
    shared, *others = (times(op, backend=name, entries=ALL_SIZES) for name in (SHARED, "lmdb", ZMQ))
    return several(*(shared / other for other in others))


# All of ZeroMQ's messages over one write through SharedMemory; and one message, by medians.
TOTAL_OVER_WRITE = over("write-total", ZMQ, SHARED)
MESSAGE_OVER_WRITE = over("write", ZMQ, SHARED)
# Taking out the most entries over taking out the fewest.
taken_out = partial(times, "read.transport", backend=SHARED)
COPIES = taken_out(entries=MOST) / taken_out(entries=FEWEST)
# The two steps of a read through LMDB.
LMDB_STEPS = steps("lmdb", "mean").pipe(
    lambda both: dict(zip(("first", "second"), both, strict=True))
)

# Claims that share a section, or how they are judged.
of_messages = partial(text.claim, fair=MESSAGE_OVER_WRITE, adds=ONE_MESSAGE, concedes=BY_DESIGN)
of_reads = partial(text.claim, adds=CHECKED)

text.claim(
    "写入性能对比",
    "1.1",
    "SharedMemory/LMDB在写入性能上基本相同",
    "between 0.8 and 1.25",
    N_(
        "SharedMemory and LMDB write equally fast ({entries:int} entries, within a factor of"
        " {high:bare})."
    ),
    figures={"entries": MOST},
    here=over("write-total", "lmdb", SHARED),
    fair=over("write", "lmdb", SHARED),
    adds=N_("medians of later stores, not of the first one alone"),
)
of_messages(
    "性能倍数对比",
    "1.2",
    "写入速度 ZeroMQ 0.007x (145倍慢)",
    "at_least 145 rounded",
    N_("ZeroMQ writes at least {low:int} times as slowly as SharedMemory ({entries:int} entries)."),
    figures={"entries": MOST},
    here=TOTAL_OVER_WRITE,
)
of_messages(
    "性能指标说明",
    "1.2b",
    "Write Time: 一次写入操作的总时间(秒)",
    "above 1",
    N_(
        "By the text's own definition, the time of one write, ZeroMQ is slower than SharedMemory"
        " ({entries:int} entries)."
    ),
    figures={"entries": MOST},
    here=TOTAL_OVER_WRITE / (READS * READERS),
)
of_reads(
    "读取性能对比",
    "1.3",
    "三种backend的读取性能非常接近",
    "between 0.8 and 1.25",
    N_(
        "The three mechanisms read about equally fast ({entries:int} entries, each within a"
        " factor of {high:bare} of each other)."
    ),
    figures={"entries": MOST},
    here=times("read", "mean", backend=BACKENDS).pipe(pairs),
    fair=times("read", backend=BACKENDS).pipe(pairs),
)
of_reads(
    "性能倍数对比",
    "1.4",
    "读取速度 LMDB 1.09x, ZeroMQ 1.03x",
    "exactly 1.09 rounded",
    N_("LMDB reads {times:x} as fast as SharedMemory ({entries:int} entries)."),
    figures={"times": 1.09, "entries": MOST},
    here=over("read", SHARED, "lmdb", "mean"),
    fair=over("read", SHARED, "lmdb"),
)
of_reads(
    "性能倍数对比",
    "1.4b",
    "读取速度 LMDB 1.09x, ZeroMQ 1.03x",
    "exactly 1.03 rounded",
    N_("ZeroMQ reads {times:x} as fast as SharedMemory ({entries:int} entries)."),
    figures={"times": 1.03, "entries": MOST},
    here=over("read", SHARED, ZMQ, "mean"),
    fair=over("read", SHARED, ZMQ),
)
text.claim(
    "读取性能对比",
    "1.5",
    "反序列化是主要性能瓶颈",
    "at_least 50 %",
    N_(
        "Decoding is the bottleneck: at least {low:pct,int} of a read, for each mechanism"
        " ({entries:int} entries)."
    ),
    figures={"entries": MOST},
    here=1
    / (1 + times("read.transport", backend=BACKENDS) / times("read.decode", backend=BACKENDS)),
    unstated=NOT_APART,
)
text.claim(
    "读取性能对比",
    "1.6",
    "读取性能随数据量线性增长",
    "between 0.9 and 1.1",
    N_(
        "A read grows linearly with the entries: by a power between {low:bare} and {high:bare}"
        " at each step."
    ),
    here=steps(BACKENDS, "mean").pipe(power, 10),
    fair=steps(BACKENDS).pipe(power, steps(BACKENDS, "size_bytes")),
    adds=N_("medians over encoded bytes, not means over entries"),
)
text.claim(
    "消息传递模型（ZeroMQ）",
    "1.7",
    "写性能随reader数量线性下降",
    "between 2.4 and 3.75",
    N_(
        "ZeroMQ's writing takes in proportion to the readers: {readers:int} times as long for"
        " {readers:int} as for one (within a factor of {high:bare})."
    ),
    figures={"readers": READERS, "high": 1.25},
    here=times("write-total", backend=ZMQ, entries=ALL_SIZES)
    / times("write-total", backend=ZMQ, entries=ALL_SIZES, readers=1),
    fair=updates(readers=READERS) / updates(readers=1),
    adds=N_("each update reaches every reader once and is acknowledged"),
    unstated=ONE_NUMBER,
    concedes=BY_DESIGN,
)
text.claim(
    "数据大小",
    "1.8",
    "实际数据量约为条目数 × 100字节",
    "exactly 100 B rounded",
    N_("An entry takes about {about:int}."),
    figures={"about": "100 B"},
    here=times("read", "size_bytes", backend=SHARED, entries=ALL_SIZES)
    / times("read", "entries", backend=SHARED, entries=ALL_SIZES),
    unstated=N_("the text does not say how many bytes its dictionaries have"),
    untestable=N_(
        "needs the text's program: the bytes of the dictionary that is rebuilt here are a setting"
    ),
)
text.claim(
    "测试环境",
    "1.9",
    "每个reader执行100次读操作",
    "exactly 100",
    N_("Every reader makes {reads:int} reads."),
    figures={"reads": READS},
    here=times("launch", "reads", backend=BACKENDS, entries=ALL_SIZES) / READERS,
    unstated=N_("the text does not print how many reads were made"),
    untestable=N_("needs the counts of the text's own run: here the number of reads is a setting"),
)
text.claim(
    "共享存储模型（LMDB、SharedMemory）",
    "1.10",
    "写性能不受reader数量影响",
    "between 0.8 and 1.25",
    N_(
        "Readers do not change what writing takes: with the most readers over with one, LMDB and"
        " SharedMemory (within a factor of {high:bare})."
    ),
    here=several(
        writes_beside_most(backend="lmdb", sync="off", map="writemap"),
        writes_beside_most(backend=SHARED),
    ),
    fair=live_writes(readers="max") / live_writes(readers=1),
    adds=N_("readers that read while the writer writes, which the published program never has"),
    unstated=ONE_NUMBER,
    arm="read-many",
)
text.claim(
    "2. SharedMemory",
    "1.11",
    "零拷贝, 直接内存访问, 性能高",
    "at_most 2",
    N_(
        "SharedMemory reads without a copy: taking out {large:int} entries takes at most"
        " {high:bare} times as long as {small:int}."
    ),
    figures={"large": MOST, "small": FEWEST},
    here=COPIES,
    unstated=NOT_APART,
)
text.claim(
    "重要提示",
    "1.12",
    "推荐: SharedMemory 或 LMDB；不推荐: ZeroMQ（写入性能会随reader数量线性下降）",
    "above 1",
    N_(
        "The text advises SharedMemory or LMDB, not ZeroMQ, where several readers read the same"
        " data again: writing and {reads:int} reads take longer through ZeroMQ ({entries:int}"
        " entries)."
    ),
    figures={"reads": READS, "entries": MOST},
    here=whole(ZMQ) / whole(STORES),
    concedes=BY_DESIGN,
)
text.claim(
    "使用建议",
    "1.13",
    "选择 SharedMemory 当: 需要最高性能（写入最快）",
    "below 1",
    N_(
        "The text advises SharedMemory for the highest performance: it writes faster than LMDB"
        " and ZeroMQ at every size."
    ),
    here=shared_writes("write-total"),
    fair=shared_writes("write"),
    adds=ONE_MESSAGE,
)

# What the text derives from its own numbers.

for name, op in (("write_speed", "write-total"), ("read_speed", "read")):
    text.derive(
        N_("the time of shared memory over that of the other"),
        said(name, backend=["lmdb", ZMQ]),
        over(op, SHARED, ["lmdb", ZMQ]),
    )
text.derive(
    N_("the total of one over the total of the other"),
    said("write_slower"),
    TOTAL_OVER_WRITE,
)

# Sentences that can stand in place of claims.

text.correct(
    *("1.2", "1.2b"),
    table=N_(
        "ZeroMQ's figure is the time of {messages} messages; one of them takes {ratio:x} as long as"
        " one write through SharedMemory."
    ),
    table_values={
        "messages": READS * READERS,
        "ratio": TOTAL_OVER_WRITE / (READS * READERS),
    },
    here=N_(
        "One message through ZeroMQ takes {ratio:x,interval} as long as one write through"
        " SharedMemory."
    ),
    here_values={"ratio": MESSAGE_OVER_WRITE},
)

text.correct(
    "1.6",
    table=N_(
        "With ten times as many entries, a read through LMDB takes {first:x} as long, then"
        " {second:x} as long."
    ),
    table_values=LMDB_STEPS,
    here=N_(
        "With ten times as many entries, a read through LMDB takes {first:x,interval}, then"
        " {second:x,interval} as long."
    ),
    here_values=LMDB_STEPS,
)
text.correct(
    "1.11",
    here=N_(
        "The program copies what it reads from SharedMemory: {large:int} entries take"
        " {ratio:x,interval} as long to copy out as {small:int}."
    ),
    here_values={"large": MOST, "small": FEWEST, "ratio": COPIES},
)
