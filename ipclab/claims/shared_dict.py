"""The claims of the shared-dictionary text (seed 001) as rules, and its own table as facts under the run's names."""

from collections.abc import Sequence
from itertools import pairwise, product
from math import inf, log

from ipclab.claims.claim import Claim, Facts, Quantity, Rule, at_least, at_most, take
from ipclab.facts.fact import Fact
from ipclab.facts.named import published
from ipclab.facts.shared_dict_levels import ENTRY_NAMES, LARGEST, PUBLISHED, READERS, READS
from ipclab.report.catalogue import N_

Row = dict[str, str]
LMDB, SHM, ZMQ = PUBLISHED
NAMES = tuple(name for entries, name in ENTRY_NAMES.items() if entries <= LARGEST)
LAST = ENTRY_NAMES[LARGEST]
ABOVE_ONE = 1.0 + 1e-9
SPEEDS = {LMDB: 1.09, ZMQ: 1.03}
NO_PARTS = N_("the text does not time decoding apart")
ONE_COUNT = N_("the text measured one number of readers")
NO_BYTES = N_("the text does not say how many bytes its dictionaries have")
NO_COUNTS = N_("the text does not print how many reads were made")
LATER = N_("medians of later stores, not of the first one alone")
SINGLE = N_("one message against one store, medians")
MEDIANS = N_("medians of interleaved launches, every read checked")
BY_BYTES = N_("medians over encoded bytes, not means over entries")
ONCE = N_("each update reaches every reader once and is acknowledged")


def cell(facts: Facts, backend: str, what: str, name: str = LAST) -> Quantity:
    """Return one cell by the published method, at the most entries of the text where no other name is given."""
    return take(facts, f"shared_dict.published.{backend}.{what}.{name}")


def over(first: str, second: str, what: str) -> Rule:
    """Return the rule's ratio of one cell of two mechanisms, at the most entries of the text."""
    return lambda facts: [cell(facts, first, what) / cell(facts, second, what)]


def spread(found: Sequence[Quantity]) -> Quantity:
    """Return the largest over the smallest."""
    ordered = sorted(found, key=lambda each: each.value)
    return ordered[-1] / ordered[0]


def read_spread(what: str) -> Rule:
    """Return the longest over the shortest read of the three mechanisms."""
    return lambda facts: [spread([cell(facts, backend, what) for backend in PUBLISHED])]


def read_speeds(what: str) -> Rule:
    """Return SharedMemory's read over each other one's, divided by what the text says of it."""
    return lambda facts: [
        cell(facts, SHM, what) / cell(facts, backend, what) * (1 / said) for backend, said in SPEEDS.items()
    ]


def exponent(longer: Quantity, shorter: Quantity, factor: float) -> Quantity:
    """Return the power with which a time grows where the amount grows by `factor`."""
    growth = longer / shorter
    low, high = (log(end) / log(factor) if 0 < end < inf else end for end in (growth.low, growth.high))
    return Quantity(log(growth.value) / log(factor), low, high)


def exponents(facts: Facts) -> Sequence[Quantity]:
    """Return the power of each tenfold step of entries from the second on, for each mechanism."""
    return [
        exponent(cell(facts, backend, "read", more), cell(facts, backend, "read", less), 10)
        for backend, (less, more) in product(PUBLISHED, pairwise(NAMES[1:]))
    ]


def exponents_fairly(facts: Facts) -> Sequence[Quantity]:
    """Return the power over encoded bytes of the same steps."""
    found = []
    for backend, (less, more) in product(PUBLISHED, pairwise(NAMES[1:])):
        few, many = (take(facts, f"shared_dict.bytes.pickle.{name}").value for name in (less, more))
        longer, shorter = (cell(facts, backend, "read_median", name) for name in (more, less))
        found.append(exponent(longer, shorter, many / few))
    return found


def _figures(**values: tuple[float, str]) -> dict[str, Fact]:
    return {name: Fact(name, value, unit, kind="published") for name, (value, unit) in values.items()}


def _claim(number: str, section: str, quote: str, meaning: str, **rest: object) -> Claim:
    return Claim(number, "001", section, "zh", quote, meaning, **rest)  # type: ignore[arg-type]


WRITING, READING, RATIOS = "写入性能对比", "读取性能对比", "性能倍数对比"
AT = (LARGEST, "count")
CLAIMS: tuple[Claim, ...] = (
    _claim(
        "1.1",
        WRITING,
        "SharedMemory/LMDB在写入性能上基本相同",
        N_("SharedMemory and LMDB write equally fast ({entries:int} entries, within a factor of {high:bare})."),
        quantities=over(LMDB, SHM, "write"),
        bounds=(1 / 1.25, 1.25),
        figures=_figures(entries=AT, high=(1.25, "1")),
    ).fairly(over(LMDB, SHM, "warm"), LATER),
    _claim(
        "1.2",
        RATIOS,
        "写入速度 ZeroMQ 0.007x (145倍慢)",
        N_(
            "ZeroMQ writes {times:int} times as slowly as SharedMemory ({entries:int} entries; at least {low:int} "
            "times)."
        ),
        quantities=lambda facts: [take(facts, f"shared_dict.published.slower.{LAST}")],
        bounds=at_least(100),
        figures=_figures(times=(145, "1"), entries=AT, low=(100, "1")),
    ).fairly(lambda facts: [take(facts, f"shared_dict.published.message_slower.{LAST}")], SINGLE),
    _claim(
        "1.2b",
        "性能指标说明",
        "Write Time: 一次写入操作的总时间(秒)",
        N_(
            "By the text's own definition, the time of one write, ZeroMQ is slower than SharedMemory ({entries:int} "
            "entries)."
        ),
        quantities=over(ZMQ, SHM, "per_message"),
        bounds=at_least(ABOVE_ONE),
        figures=_figures(entries=AT),
    ).fairly(lambda facts: [take(facts, f"shared_dict.published.message_slower.{LAST}")], SINGLE),
    _claim(
        "1.3",
        READING,
        "三种backend的读取性能非常接近",
        N_("The three mechanisms read about equally fast ({entries:int} entries, within a factor of {high:bare})."),
        quantities=read_spread("read"),
        bounds=at_most(1.15),
        figures=_figures(entries=AT, high=(1.15, "1")),
    ).fairly(read_spread("read_median"), MEDIANS),
    _claim(
        "1.4",
        RATIOS,
        "读取速度 LMDB 1.09x, ZeroMQ 1.03x",
        N_(
            "Against SharedMemory LMDB reads {lmdb:x} and ZeroMQ {zmq:x} as fast ({entries:int} entries; measured over "
            "stated, within {margin:pct,int})."
        ),
        quantities=read_speeds("read"),
        bounds=(0.95, 1.05),
        figures=_figures(lmdb=(1.09, "1"), zmq=(1.03, "1"), entries=AT, margin=(0.05, "share")),
    ).fairly(read_speeds("read_median"), MEDIANS),
    _claim(
        "1.5",
        READING,
        "反序列化是主要性能瓶颈",
        N_("Decoding is the bottleneck: at least {low:pct,int} of a read, for each mechanism ({entries:int} entries)."),
        quantities=lambda facts: [cell(facts, backend, "decode") for backend in PUBLISHED],
        bounds=at_least(0.8),
        unit="share",
        unstated=NO_PARTS,
        figures=_figures(low=(0.8, "share"), entries=AT),
    ),
    _claim(
        "1.6",
        READING,
        "读取性能随数据量线性增长",
        N_("A read grows linearly with the entries: by a power between {low:bare} and {high:bare} at each step."),
        quantities=exponents,
        bounds=(0.9, 1.1),
        figures=_figures(low=(0.9, "1"), high=(1.1, "1")),
    ).fairly(exponents_fairly, BY_BYTES),
    _claim(
        "1.7",
        "消息传递模型（ZeroMQ）",
        "写性能随reader数量线性下降",
        N_(
            "ZeroMQ's writing takes in proportion to the readers: {readers:int} times as long for {readers:int} as for "
            "one (within {margin:pct,int})."
        ),
        quantities=lambda facts: [cell(facts, ZMQ, "readers_ratio", name) for name in NAMES],
        bounds=(2.4, 3.6),
        unstated=ONE_COUNT,
        figures=_figures(readers=(READERS, "count"), margin=(0.2, "share")),
    ).fairly(lambda facts: [take(facts, f"shared_dict.update_growth.{ZMQ}.{name}") for name in NAMES[1:]], ONCE),
    _claim(
        "1.8",
        "数据大小",
        "实际数据量约为条目数 × 100字节",
        N_("An entry takes about {about:int} ({low:int} to {high:int})."),
        quantities=lambda facts: [take(facts, f"shared_dict.bytes_per_entry.pickle.{name}") for name in NAMES],
        bounds=(90, 110),
        unit="B",
        unstated=NO_BYTES,
        figures=_figures(about=(100, "B"), low=(90, "B"), high=(110, "B")),
    ),
    _claim(
        "1.9",
        "测试环境",
        "每个reader执行100次读操作",
        N_("Every reader makes {reads:int} reads."),
        quantities=lambda facts: [cell(facts, backend, "reads", name) for backend, name in product(PUBLISHED, NAMES)],
        bounds=(READS, READS),
        unit="count",
        unstated=NO_COUNTS,
        figures=_figures(reads=(READS, "count")),
    ),
)


def shared_dict_facts(rows: list[Row]) -> dict[str, Fact]:
    """Return the text's facts under the run's names; what one message takes follows from the messages it counts."""
    found: dict[str, Fact] = {}

    def add(name: str, value: float, unit: str, section: str) -> None:
        found[name] = published(name, value, unit, f"seed 001, {section}")

    for row in rows:
        value, quantity, section, backend = float(row["value_si"]), row["quantity"], row["section"], row["backend"]
        name = ENTRY_NAMES[int(row["entries"])] if row["entries"] else ""
        stem = f"shared_dict.published.{backend}"
        if quantity == "write":
            messages = READERS * READS if backend == ZMQ else 1
            add(f"{stem}.write.{name}", value, "ns", section)
            add(f"{stem}.messages.{name}", messages, "count", section)
            add(f"{stem}.per_message.{name}", value / messages, "ns", section)
        elif quantity == "read":
            add(f"{stem}.read.{name}", value, "ns", section)
            add(f"{stem}.throughput.{name}", 1e9 / value, "1/s", section)
        else:
            add(f"shared_dict.{quantity}{f'.{backend}' if backend else ''}", value, row["unit_si"], section)
    for name in NAMES:
        total, each = (
            _value(found, ZMQ, what, name) / _value(found, SHM, what, name) for what in ("write", "per_message")
        )
        add(f"shared_dict.published.slower.{name}", total, "1", WRITING)
        add(f"shared_dict.published.message_slower.{name}", each, "1", WRITING)
        for backend in SPEEDS:
            speed = _value(found, SHM, "read", name) / _value(found, backend, "read", name)
            add(f"shared_dict.published.read_speed.{backend}.{name}", speed, "1", READING)
    for backend, (less, more) in product(PUBLISHED, pairwise(NAMES)):
        growth = _value(found, backend, "read", more) / _value(found, backend, "read", less)
        add(f"shared_dict.published.{backend}.growth.{more}", growth, "1", READING)
    return found


def _value(found: Facts, backend: str, what: str, name: str) -> float:
    return take(found, f"shared_dict.published.{backend}.{what}.{name}").value
