"""What the reports' sentences assert, as rules over a run's values (docs/claims.md).

A sentence is known by how its template begins. It stands when each of `rules` holds, one of `some`
and none of `unless`; without any it asserts no relation: it states numbers, what the text says, or
what is done.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Asserts:
    """What must hold, and what must not, where a sentence is printed."""

    rules: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    some: tuple[str, ...] = ()


PLAIN = Asserts()


def above(expression: str, bound: str = "1") -> Asserts:
    return Asserts((f"{expression} above {bound}",))


def below(expression: str, bound: str = "1") -> Asserts:
    return Asserts((f"{expression} below {bound}",))


def undecided(expression: str, bound: str = "1") -> Asserts:
    return Asserts(unless=(f"{expression} above {bound}", f"{expression} below {bound}"))


def not_above(expression: str) -> Asserts:
    return Asserts(unless=(f"{expression} above 1",))


def not_far_above(expression: str) -> Asserts:
    return Asserts(unless=(f"{expression} above 1.1",))


def one_above(expressions: Iterable[str]) -> Asserts:
    """What the fastest is of, whichever that is."""
    return Asserts(some=tuple(f"{each} above 1" for each in expressions))


def one_below(expressions: Iterable[str]) -> Asserts:
    return Asserts(some=tuple(f"{each} below 1" for each in expressions))


def not_all(expressions: Iterable[str]) -> Asserts:
    every = f"each({', '.join(expressions)})"
    return Asserts(unless=(f"{every} above 1", f"{every} below 1"))


# The payload study
_WRITE = "payload.{op}[arm=mapping,mapping={mapping},size_bytes=1382400]"
REOPENED, KEPT = (
    _WRITE.format(op="write.copy", mapping=mapping) for mapping in ("reopened", "kept")
)
WHOLE, FLUSH = (_WRITE.format(op=op, mapping="reopened") for op in ("write", "write.flush"))
FAULTS = "payload.read[arm=published,size_bytes=1384120].minor_faults / 338"
_TCP = "payload.handover[arm=tcp,receive={},codec=raw,connection=new,nodelay=off,placement=cross,size_bytes=1382400]"
PAST_INTO = f"{_TCP.format('recv-4096')} / {_TCP.format('recv-into')}"
INTO_NOW = (
    f"{_TCP.format('recv-into')} /"
    " payload.handover[arm=handover,backend=shm-mmap,placement=cross,size_bytes=1382400]"
)
BUFFER = f"({PAST_INTO}) / ({INTO_NOW})"
_SMALL = "payload.handover[arm=handover,backend={},placement={},size_bytes=84]"
_WAYS = _SMALL.format("*", "cross")
PLACED = [
    f"max({places}) / min({places}) / (max({_WAYS}) / min({_WAYS}))"
    for places in (
        _SMALL.format(name, "same|cross") for name in ("mp-shm", "posix-shm", "shm-mmap")
    )
]
_KEPT = "payload.handover[arm=tcp,receive=recv-into,codec=raw,connection=kept,nodelay={},placement=cross,size_bytes=84]"
NAGLE = f"{_KEPT.format('off')} / {_KEPT.format('on')}"
_REAL = (
    f"({_WRITE.format(op='write', mapping='truncated')} +"
    f" {_WRITE.format(op='read', mapping='truncated')})"
)
REAL = f"{_TCP.format('recv-4096')} / {_REAL}"
POLLED = f"(350 ms + {_REAL}) / {_TCP.format('recv-4096')}"
GAIN_KEPT = f"{WHOLE} / {_WRITE.format(op='write', mapping='kept')}"
PAYLOAD = {
    "Shared memory as v1.0 uses it moves the data in less": above(REAL),
    "Shared memory as v1.0 uses it moves the data in more": below(REAL),
    "Whether shared memory as v1.0 uses it": undecided(REAL),
    "A polling reader has the data later": above(POLLED),
    "Even with its wait a polling reader": below(POLLED),
    "Whether a polling reader has the data earlier": undecided(POLLED),
    "Keep the mapping between writes": above(GAIN_KEPT),
    "Do not keep the mapping": below(GAIN_KEPT),
    "Whether to keep the mapping": undecided(GAIN_KEPT),
    "Of a reopened write of {large}, page faults take": above(f"{REOPENED} / {KEPT}"),
    "Of a reopened write of {large}, the flush takes": not_above(f"{REOPENED} / {KEPT}"),
    "A read takes fewer faults than pages:": below(FAULTS),
    "A read takes more faults than pages.": above(FAULTS),
    "That a read takes fewer faults than pages, or more,": undecided(FAULTS),
    "Page faults are more than half": above(f"({REOPENED} - {KEPT}) / {WHOLE}", "50 %"),
    "Page faults are less than half": below(f"({REOPENED} - {KEPT}) / {WHOLE}", "50 %"),
    "Whether page faults are more than half": undecided(f"({REOPENED} - {KEPT}) / {WHOLE}", "50 %"),
    "The flush is a small part of a write": above(f"{WHOLE} / {FLUSH}", "10"),
    "The flush takes a notable part": below(f"{WHOLE} / {FLUSH}", "10"),
    "Whether the flush takes a notable part": undecided(f"{WHOLE} / {FLUSH}", "10"),
    "Where the two processes run changes a small transfer": one_above(PLACED),
    "Which way of sharing memory two processes use": one_below(PLACED),
    "Whether placement or the way of sharing": not_all(PLACED),
    "Over the TCP of v0.9, reading into a buffer gains more": Asserts(
        (f"{BUFFER} above 1", f"{PAST_INTO} above 1")
    ),
    "Over the TCP of v0.9, reading into a buffer gains less": Asserts(
        (f"{BUFFER} below 1", f"{INTO_NOW} above 1")
    ),
    "Whether reading into a buffer gains more": undecided(BUFFER),
    "That reading into a buffer takes less time": not_above(PAST_INTO),
    "Header and body are two small writes": above(NAGLE),
    "A small write that waits": below(NAGLE),
    "Whether a small write waits": undecided(NAGLE),
}

# The shared dictionary

MOST = 7  # readers in the reference run


def _dict(op: str, arm: str, backend: str, entries: int, readers: int, more: str = "") -> str:
    return (
        f"shared_dict.{op}[arm={arm},backend={backend},entries={entries},readers={readers}{more}]"
    )


def _scenario(op: str, backend: str, entries: int = 10_000) -> str:
    return _dict(op, "published", backend, entries, 3)


_ALL = "lmdb|shared-memory|zmq-push"
_STATE = "lmdb|shared-memory"
TOTAL = f"{_scenario('write-total', 'zmq-push')} / min({_scenario('write-total', _STATE)})"
MESSAGE = f"{_scenario('write', 'zmq-push')} / min({_scenario('write', _STATE)})"
DECODE = f"each({_scenario('read.decode', _ALL)} / {_scenario('read.transport', _ALL)})"
_DECODES = [
    f"{_scenario('read.decode', name)} / {_scenario('read.transport', name)}"
    for name in _ALL.split("|")
]


def _read(backend: str, readers: int, codec: str) -> str:
    usual = ",sync=off,map=writemap" if backend == "lmdb" else ""
    more = f",placement=free,codec={codec}{usual}"
    return _dict("read", "read-many", backend, 1000, readers, more)


CODEC = [
    f"{_read(name, MOST, 'msgpack')} / {_read(name, MOST, 'pickle')}"
    for name in ("lmdb", "posix-shm")
]
CROWD = [
    f"{_read(name, MOST, 'pickle')} / {_read(name, 1, 'pickle')}"
    for name in ("lmdb", "mpi-window", "posix-shm", "shared-memory")
]
ENTRY = [  # one entry among the most, over one among the fewest
    f"{_read(name, MOST, 'pickle').replace('=1000,', '=10000,')}"
    f" / {_read(name, MOST, 'pickle').replace('=1000,', '=10,')} / 1000"
    for name in ("lmdb", "mpi-window", "posix-shm", "shared-memory")
]
_UPDATE = _dict("update", "stream", "{}", 10_000, MOST, ",codec=pickle,nodes=1")
_SENT, _KEPT_THERE = "mpi-bcast|zmq-pub|zmq-push", "lmdb|mpi-window|posix-shm|shared-memory"
STREAM = f"min({_UPDATE.format(_SENT)}) / min({_UPDATE.format(_KEPT_THERE)})"
SHARED_DICT = {
    # What names values, or says within which factor these are alike.
    "Of what was compared, take": PLAIN,
    "Which shared state to take is not shown": PLAIN,
    "With {sent} entries and {sent_to} readers": PLAIN,
    "One message and one store": PLAIN,
    "The message ({one_message})": PLAIN,
    "An update that every reader acknowledges takes as long": PLAIN,
    "Through {read_by} a read takes as long": PLAIN,
    "MessagePack and pickle are read alike": PLAIN,
    "With {most} readers there are": PLAIN,
    "Writing the whole scenario takes longer": above(TOTAL),
    "Writing the whole scenario takes less": below(TOTAL),
    "Whether the whole scenario is written faster": undecided(TOTAL),
    "One message takes longer": above(MESSAGE),
    "One message takes less": below(MESSAGE),
    "Whether one message or one store": undecided(MESSAGE),
    "Decoding takes more than half": above(DECODE),
    "Decoding takes less than half": Asserts(some=tuple(f"{each} below 1" for each in _DECODES)),
    "Whether decoding takes more than half": undecided(DECODE),
    "MessagePack is read more slowly": one_above(CODEC),
    "MessagePack is read faster": one_below(CODEC),
    "Whether MessagePack or pickle": not_all(CODEC),
    "Through {read_by} a read takes longer": one_above(CROWD),
    "Through {read_by} a read takes less time": one_below(CROWD),
    "Whether more readers make a read through": not_all(CROWD),
    "Through {reader}, with {most} readers, one entry takes longer": one_above(ENTRY),
    "Through {reader}, with {most} readers, one entry takes less time": one_below(ENTRY),
    "Through {reader}, with {most} readers, one entry takes as long": PLAIN,
    "Whether one entry takes less time to read": not_all(ENTRY),
    # Which is the oldest goes by medians; that it is older is the judge's
    "Of {lot:int} entries, what a reader gets": PLAIN,
    "Whether what a reader gets of {lot:int} entries": PLAIN,
    "An update that every reader acknowledges takes longer": above(STREAM),
    "An update that every reader acknowledges takes less": below(STREAM),
    "Whether an acknowledged update": undecided(STREAM),
}

# The multiplexer
_NODE = (
    "multiplexer.{op}[arm=main,backend={node},medium={medium},placement={placement},"
    "size_bytes={size},sinks=max]{metric}"
)


def _node(
    node: str, medium: str = "pipe", size: str = "1048576", metric: str = "", op: str = "end-to-end"
) -> str:
    placement = "cross" if medium != "memory" else "same"
    return _NODE.format(
        op=op, node=node, medium=medium, placement=placement, size=size, metric=metric
    )


_SIDES = {  # with the sizes that a quick run has of each
    ("write", "memory"): ("1024", "8192", "1048576"),
    ("receive", "memory"): ("8192",),
    **{("end-to-end", medium): ("8192", "65536", "1048576") for medium in ("pipe", "unix")},
}
_OVER = "{} / min({}, {}, {})"
OVER_PIPE = _OVER.format(*(_node(node) for node in ("adaptive", "original", "optimized", "hybrid")))
ADAPTIVE = [  # over the fastest published node, by side and size
    _OVER.format(
        *(
            _node(node, medium, size, op=op)
            for node in ("adaptive", "original", "optimized", "hybrid")
        )
    )
    for (op, medium), sizes in _SIDES.items()
    for size in sizes
]
SAME_CODE = (
    "multiplexer.write[arm=published,backend=direct-again] /"
    " multiplexer.write[arm=published,backend=direct]"
)
SLOWED = f"{_node('hybrid')} / {_node('original')}"
GAIN = f"{_node('hybrid')} / {_node('original')} / (26139 / 43009)"
HELD = (
    f"{_node('hybrid', metric='.bytes_allocated')} / {_node('original', metric='.bytes_allocated')}"
)
RECEIVERS = HELD.replace(".bytes_allocated", ".receiver_bytes_allocated")
_STREAMS = "multiplexer.end-to-end[arm=streams,backend={},streams={}]"
CROWDED = [
    f"{_STREAMS.format(node, 'max')} / {_STREAMS.format(node, 'min')}"
    for node in ("adaptive", "original", "optimized", "hybrid")
]
_CHUNKS = "multiplexer.write[arm=factorial,pool={},chunk={}].bytes_allocated"
POOL = f"{_CHUNKS.format('yes', 1024)} / {_CHUNKS.format('no', 1024)}"
MULTIPLEXER = {
    "Two functions of identical code are told apart": Asserts(
        some=(f"{SAME_CODE} above 1", f"{SAME_CODE} below 1")
    ),
    "Two functions of identical code cannot": undecided(SAME_CODE),
    "Over a pipe Adaptive takes less time": below(OVER_PIPE),
    "Over a pipe the best published node takes less time": above(OVER_PIPE),
    "Over a pipe Adaptive and the best published node are alike": Asserts(
        unless=(f"{OVER_PIPE} above 1.1",)
    ),
    "Whether Adaptive or the best published node takes less time": undecided(OVER_PIPE),
    "Over a pipe Hybrid gains less": above(GAIN),
    "Over a pipe Hybrid gains as much": Asserts(unless=(f"{GAIN} above 1.1",)),
    "With both ends counted, Hybrid and Original allocate alike": Asserts(
        unless=(f"{HELD} above 1.1",)
    ),
    "At the writing end a pool alone changes the memory by": Asserts(unless=(f"{POOL} above 1.1",)),
    "Two functions of identical code are alike": Asserts(unless=(f"{SAME_CODE} above 1.1",)),
    "Over a pipe Hybrid gains more": below(GAIN),
    "Whether Hybrid gains as much over a pipe": undecided(GAIN),
    "It gains nothing there.": above(SLOWED),
    "It gains nothing there, within": Asserts(unless=(f"{SLOWED} above 1.1",)),
    "That it gains anything there is not": undecided(SLOWED),
    "With both ends counted, Hybrid allocates more": above(HELD),
    "With both ends counted, Hybrid allocates less": below(HELD),
    "With both ends counted, Hybrid and Original are not": undecided(HELD),
    "Hybrid does not announce how long": above(RECEIVERS),
    "With {many} streams over one pipe a message takes longer": one_above(CROWDED),
    "With {many} streams over one pipe a message takes less": one_below(CROWDED),
    "With {many} streams over one pipe a message takes as": PLAIN,
    "Whether a message takes longer with {many} streams": not_all(CROWDED),
    # Which threshold is the worst, and of which size, goes by medians
    "A threshold that does not suit": PLAIN,
    "That any threshold makes": PLAIN,
    "Adaptive, which has none": PLAIN,
    "At the writing end a pool alone costs memory.": above(POOL),
    "At the writing end a pool alone saves memory.": below(POOL),
    "At the writing end a pool alone is not shown": undecided(POOL),
    "A node counts as slower": PLAIN,
    "Adaptive is slower than the best of": Asserts(
        some=tuple(f"{each} above 1.05" for each in ADAPTIVE)
    ),
    "Adaptive is not slower than the best": Asserts(
        tuple(f"{each} below 1.05" for each in ADAPTIVE)
    ),
    "Whether Adaptive is slower than the best": Asserts(
        unless=tuple(f"{each} above 1.05" for each in ADAPTIVE)
    ),
}

# Round trips
_TRIP = "round_trip.round-trip[arm={},backend={},placement={},size_bytes={}{}]"
_TOUCH = _TRIP.format("touch", "{}", "*", 2_000_000, ",receive=view,touch={}")
TOUCHED = [
    f"{_TOUCH.format(name, 'full')} / {_TOUCH.format(name, 'untouched')}"
    for name in ("iceoryx2", "posix-shm")
]
READ_IN_PLACE = TOUCHED[0]
_WAITING = _TRIP.format("{}", "{}", "cross", 100, ",wait={}")
SPINNERS = ("fifo", "iceoryx2", "pipe", "posix-shm", "tcp", "unix", "zmq-ipc", "zmq-tcp")
SPINS = tuple(
    f"{_WAITING.format('main', name, 'block')} / {_WAITING.format('wait', name, 'spin')} above 1"
    for name in SPINNERS
)
_FIRST = "round_trip.since-start.{}[arm=start,backend={},placement=cross,size_bytes=100]"
TRANSIENTS = [
    f"{_FIRST.format(0, name)} / {_FIRST.format(160, name)}"
    for name in ("pipe", "posix-shm", "unix", "zmq-ipc")
]
ROUND_TRIP = {
    "In its first moments a round trip through {mover}, which changes most, takes longer": Asserts(
        some=tuple(f"{each} above 1" for each in TRANSIENTS)
    ),
    "In its first moments a round trip through {mover}, which changes most, takes less": Asserts(
        some=tuple(f"{each} below 1" for each in TRANSIENTS)
    ),
    "The first moments of two processes are as": Asserts(
        unless=tuple(f"{each} above 1.1" for each in TRANSIENTS)
    ),
    "Whether {mover}, which seems to change most": PLAIN,
    # Whichever mechanisms these are: tests/frames/test_states.py, tests/answers/test_alike.py
    "It cannot be called the fastest": PLAIN,
    "It is the fastest": PLAIN,
    "Side by side, {runner_up}": PLAIN,
    "Of {placed} mechanisms": PLAIN,
    "A round trip through {most_moved} takes": PLAIN,
    "Spinning is shown to be faster": Asserts(some=SPINS),
    "Spinning is not shown to be faster": Asserts(unless=SPINS),
    "Through {spinner} a round trip takes": PLAIN,
    "Received in place through {receiver}, a message of {largest} of which every byte is read takes less time": below(
        READ_IN_PLACE
    ),
    "Received in place through {receiver}, a message of {largest} of which": above(READ_IN_PLACE),
    "Received in place through {receiver}, a message of {largest} takes": Asserts(
        unless=(f"{READ_IN_PLACE} above 1.1",)
    ),
    "Whether a message of {largest} that is received in place": undecided(READ_IN_PLACE),
    "Of what sleeps while it waits": PLAIN,
    "By the published programs, zmq-ipc takes": PLAIN,
    "At {largest} it takes": PLAIN,
    "After an idle gap of": PLAIN,
    "From {small} to {largest}": PLAIN,
    "One in a hundred round trips": PLAIN,
    "Of {pairs_tried} pairs of CPUs": PLAIN,
    "Whether an idle gap of": PLAIN,
    "All {numbered:int} messages of the round trips": PLAIN,
    "A limit is what native code takes": PLAIN,
    "The limits of the hardware were not measured": PLAIN,
    "Of {compared} pairs of mechanisms": PLAIN,
    # What the test of pairs of launches shows of all mechanisms: tests/frames/test_contests.py
    "Placement changes": PLAIN,
    "For {flips} of {compared} pairs": PLAIN,
    "For none of {compared} pairs": PLAIN,
    "{kept} are shown to keep their order": PLAIN,
    "None is shown to keep its order": PLAIN,
    "Whether placement changes a ranking": PLAIN,
}

# Reading files
_FILE = "file_io.elapsed[arm={},backend={},set={},cache={},{}]"


def _serial(backend: str, files: str) -> str:
    return _FILE.format(
        "serial", backend, files, "cold", "compute_ns=800000,threads=4,placement=free"
    )


def _best(files: str, cache: str, backend: str) -> str:
    direct = "yes" if cache == "cold" and backend != "mmap" else "no"
    more = f"direct={direct},advice=none,placement=free,threads=*"
    return f"min({_FILE.format('map', backend, files, cache, more)})"


def _roles(roles: str) -> str:
    return f"file_io.elapsed[arm=roles,cache=cold,roles={roles}]"


BASE, BIG = (
    f"{_serial('sync', files)} / {_serial('overlapped', files)}" for files in ("mixed", "mixed-big")
)
GROWING = f"({BIG}) / ({BASE})"
HALF = f"{_roles('{cpus}RnC+{cpus}C')} / {_roles('{2*cpus}RnC')}"
_CALL = "file_io.file.submit[arm=call,backend=overlapped,size_bytes=max,buffer={}]"
MADE = f"{_CALL.format('fresh')} / {_CALL.format('prefaulted')}"


def _mapped(files: str, cache: str) -> str:
    return (
        f"{_best(files, cache, 'mmap')} / min({_best(files, cache, 'sync')},"
        f" {_best(files, cache, 'overlapped')})"
    )


MAPPED = {
    f"{size} files that are {where}in memory: {begins}": rule(_mapped(f"exp-{size.lower()}", cache))
    for size in ("Small", "Large")
    for where, cache in (("not ", "cold"), ("", "warm"))
    for begins, rule in (("reading", above), ("mapping", below), ("whether", undecided))
}
ALIKE = {
    "Small files that are not in memory: reading past the cache or": PLAIN,
    "Small files that are in memory: reading or": PLAIN,
    "Large files that are not in memory: reading past the cache or": PLAIN,
    "Large files that are in memory: reading or": PLAIN,
}
FILE_IO = {
    "Files and work as published: one thread that reads for the others takes": above(BASE),
    "Files and work as published: threads that each": below(BASE),
    "Files and work as published: whether one thread should": undecided(BASE),
    "Reserving half of the threads for computing makes it slower": above(HALF),
    "Reserving half of the threads for computing makes it faster": below(HALF),
    "Whether threads that only compute": undecided(HALF),
    **ALIKE,
    **MAPPED,
    # alike: tests/lab/test_questions.py
    "Files and work as published: one thread that reads for the others or": PLAIN,
    "Reserving half of the threads for computing or": PLAIN,
    "Of {reference} threads one reader takes": PLAIN,
    "It takes {reserved:x,interval} as long": PLAIN,
    "Mapped they take": PLAIN,
    "The share of time that one reading thread saves grows": above(GROWING),
    "The share of time that one reading thread saves shrinks": below(GROWING),
    "Whether the share of time that one reading thread saves": undecided(GROWING),
    "In these launches computing begins": PLAIN,
    "The read call of a large file makes the pages": above(MADE),
    "The read call of a large file is no shorter": below(MADE),
    "What the read call of a large file costs": undecided(MADE),
}

# Objects
_OBJECT = "objects.summed[arm=main,object={},way={},size_bytes={}]"
SLOWEST = {
    kind: f"max({_OBJECT.format(kind, '*', 'max')}) / min({_OBJECT.format(kind, '*', 'max')})"
    for kind in ("frame", "array", "dictionary")
}
_SMALL_ARRAY = _OBJECT.format("array", "*", "min")
ARRAY_GROWN = [
    f"{_OBJECT.format('array', way, 'max')} / {_OBJECT.format('array', way, 'min')}"
    for way in (
        "pickle5",
        "pickle5-shm",
        "arrow",
        "arrow-mapped",
        "shared-memory",
        "queue",
        "joblib",
    )
]
SMALL_APART = f"max({_SMALL_ARRAY}) / min({_SMALL_ARRAY})"
OBJECTS = {
    # Which ways may be taken, whichever these are: answers/test_alike.py
    "Several ways may be the fastest for a": PLAIN,
    "The fastest way for a": PLAIN,
    "Ways to hand over large": PLAIN,
    "Until every element is summed the first": PLAIN,
    "Of {small}: {small_choice": PLAIN,
    **{
        f"{begins} {'an' if kind == 'array' else 'a'} {kind} takes {than} by {{slowest": rule(ratio)
        for kind, ratio in SLOWEST.items()
        for begins, than, rule in (
            ("Such", "longest", above),
            ("Such", "less time", below),
            ("Such", "as long", not_far_above),
            ("That such", "longer", undecided),
        )
    },
    "For a large array {large_way} has the least": above(SMALL_APART),
    "{large_way}, which has the least median": PLAIN,
    "An array of {large} has {data_growth": one_above(ARRAY_GROWN),
    "An array of {large} takes no longer": Asserts(
        some=tuple(f"{each} below 1.1" for each in ARRAY_GROWN)
    ),
    "Whether an array of {large} takes longer": not_all(ARRAY_GROWN),
    "A small array by": PLAIN,
    "Whether a small array is summed sooner": PLAIN,
    "Until one of {small} is summed": PLAIN,
}
# Numbers alone, what the texts say, what is done, and what the judge cannot say.
STATED = dict.fromkeys(
    Path(__file__).with_name("stated.txt").read_text("utf-8").splitlines(), PLAIN
)
TABLE = STATED | PAYLOAD | SHARED_DICT | MULTIPLEXER | ROUND_TRIP | FILE_IO | OBJECTS
