"""MultithreadIOSimulator, description, in Korean (text 004): what it claims, and what it derives.

A run has one time of all files a launch: its median and its mean are the same there.
"""

from functools import partial
from itertools import pairwise
from math import sqrt
from typing import Any

import pandas as pd

from ipclab.claims.claim import Compare, Text
from ipclab.claims.extremes import bandwidth, best_over_best, change, growth
from ipclab.claims.numbers import ALL, Level, Numbers, Values, each, listed, only
from ipclab.frames.address import MissingError
from ipclab.stats.quantity import Quantity, of
from ipclab.words.catalogue import N_

LARGE_SET, SMALL_SET = "exp-large", "exp-small"
SERIAL = "Multithread Sync vs Overlapped IO"
READ_CALL, MAPPED = "Read Call Task Overhead", "Memory Mapped File"
SOON = "Do Read Call Task as soon as possible"
STATES = ["cold", "warm"]
SHORT, LONG, LONGEST = 800_000, 5_000_000, 10_000_000  # work on each file, in ns
FAULT_SIZES = [65536, 1048576, 8388608, 33554432]
text = Text(
    "004",
    "file_io",
    N_("MultithreadIOSimulator, description, in Korean"),
    "ko",
    printed={"elapsed": "elapsed.mean", "call": "file.submit.mean", "open": "file.open.mean"},
)
ANY_STATE = N_("files in memory and not in memory")
THROUGH_CACHE = N_("both through the page cache, which only the maps of the text used")
FEW_THREADS = N_("with few threads in all it may be alike or worse")
OTHER_FILES = N_("other files, sizes and work give other results")


def printed(table: Numbers, label: str) -> Quantity:
    """Return a time of the text's own table."""
    return table.one("elapsed", label=label)


def all_printed(table: Numbers, *labels: str) -> Values:
    """Return times of the text's own table."""
    return listed([printed(table, label) for label in labels])


def printed_over(over: str, under: str) -> Compare:
    """Return the function of one printed time over another."""
    return lambda table: printed(table, over) / printed(table, under)


def said_over(op: str, metric: str, over: str, under: str) -> Compare:
    """Return the function of what the text says of one label over what it says of another."""
    return lambda table: table.one(op, metric, label=over) / table.one(op, metric, label=under)


def elapsed(run: Numbers, arm: str, backend: str, files: str, **levels: Level) -> Values:
    """Return the time of all files of a set, which are not in memory unless said otherwise."""
    named: dict[str, Level] = {"cache": "cold", **levels}
    return run.each("elapsed", arm=arm, backend=backend, set=files, **named)


def overlapped(run: Numbers, op: str, depth: Level) -> Values:
    """Return a part of overlapped reading of large files, by how many are in flight."""
    return run.each(op, arm="overlap", backend="overlapped", cache="cold", depth=depth)


def all_in_flight(run: Numbers) -> Values:
    """Return the time of most files in flight over that of one, read calls included."""
    return only(overlapped(run, "elapsed", "max")) / only(overlapped(run, "elapsed", 1))


def all_in_flight_without_calls(run: Numbers) -> Values:
    """Return the time of most files in flight over that of one less its read calls."""
    count = run.one("launch", "files", arm="overlap", backend="overlapped", cache="cold", depth=1)
    calls = only(overlapped(run, "file.submit", 1)) * count
    return only(overlapped(run, "elapsed", "max")) / (only(overlapped(run, "elapsed", 1)) - calls)


def mix(run: Numbers, arm: str, roles: str, backend: str = "overlapped") -> Values:
    """Return the time of threads with roles, of files that are not in memory."""
    return run.each("elapsed", arm=arm, backend=backend, cache="cold", roles=roles)


def serial(
    run: Numbers, backend: str, files: str, work: int, metric: str = "", **more: Level
) -> Values:
    """Return the time of threads that read and compute: of four, of files that are not in memory."""
    levels: dict[str, Level] = {"threads": 4, "cache": "cold", "set": files, "compute_ns": work}
    levels |= {"placement": "free", **more}
    return run.each("elapsed", metric, arm="serial", backend=backend, **levels)


def saved(run: Numbers, files: str, work: int, threads: Level = 4) -> Values:
    """Return the time that overlapping saves."""
    sync, overlapping = (
        serial(run, backend, files, work, threads=threads) for backend in ("sync", "overlapped")
    )
    return sync - overlapping


def ratio(run: Numbers, files: str, work: int) -> Quantity:
    """Return the time with overlapping over that without."""
    return only(serial(run, "overlapped", files, work)) / only(serial(run, "sync", files, work))


def ratios_by_state(run: Numbers) -> Values:
    """Return the time with overlapping over that without, of files in memory and not."""
    overlapping, sync = (
        serial(run, backend, "mixed", SHORT, cache=STATES) for backend in ("overlapped", "sync")
    )
    return overlapping / sync


def saved_in_text(table: Numbers, which: str, threads: int = 4) -> Quantity:
    """Return the time that overlapping saves by the text's own table."""
    sync = printed(table, f"serial.{which}.{threads}SYNC")
    return sync - printed(table, f"serial.{which}.1R+{threads - 1}C")


def longer_work(run: Numbers) -> Values:
    """Return by how much more overlapping saves with longer work, and with the longest."""
    short, long, longest = (saved(run, "mixed", work) for work in (SHORT, LONG, LONGEST))
    return pd.concat([long - short, longest - long])


def steps_in_text(table: Numbers) -> Values:
    """Return by how much more overlapping saves with each thread by the text's own table."""
    deltas = [saved_in_text(table, "longest", threads) for threads in (5, 6, 7, 8)]
    return listed([more - fewer for fewer, more in pairwise(deltas)])


def shares(run: Numbers, metric: str) -> Quantity:
    """Return by how much a share of the threads' time differs with overlapping, in points."""
    with_, without = (
        only(serial(run, backend, "mixed", SHORT, metric)) for backend in ("overlapped", "sync")
    )
    return (with_ - without).as_unit("points")


def shares_in_text(table: Numbers, metric: str) -> Quantity:
    """Return by how much a printed share differs with overlapping, in points."""
    with_, without = (
        table.one("text", metric, label=f"serial.base.{who}") for who in ("1R+3C", "4SYNC")
    )
    return (with_ - without).as_unit("points")


def one_file(run: Numbers, op: str, size: int) -> Quantity:
    """Return a part of reading one file into memory that nothing touched."""
    return run.one(op, arm="call", backend="overlapped", set=f"size-{size}", buffer="fresh")


def slowest_calls(run: Numbers) -> Quantity:
    """Return the p99 of read calls by many threads over that by few."""
    many, few = (
        run.one("file.submit", "p99", arm="flight", backend="overlapped", depth=256, threads=end)
        for end in ("max", "min")
    )
    return many / few


def more_threads(run: Numbers) -> Values:
    """Return the time of large files by several threads over that by one."""
    threads = [run.cpus, 2 * run.cpus, 4 * run.cpus]
    many = elapsed(run, "soon", "overlapped", LARGE_SET, threads=threads)
    return many / only(elapsed(run, "soon", "overlapped", LARGE_SET, threads=1))


def more_threads_in_text(table: Numbers) -> Values:
    """Return the printed times of large files by several threads over that by one."""
    many = all_printed(table, *(f"soon.{LARGE_SET}.{n}RnC" for n in (2, 4, 16)))
    return many / printed(table, f"soon.{LARGE_SET}.1RnC")


def small_files(run: Numbers, few: int, many: int) -> Values:
    """Return the time of small files by few threads over that by many."""
    slow, fast = (elapsed(run, "soon", "overlapped", SMALL_SET, threads=n) for n in (few, many))
    return slow / fast


def half_compute(run: Numbers, arm: str, threads: int) -> Values:
    """Return half of the threads computing over all of them reading first."""
    half = threads // 2
    return mix(run, arm, f"{half}RnC+{half}C") / mix(run, arm, f"{threads}RnC")


def maps_and_reads(run: Numbers, files: str, cache: str, direct: str) -> tuple[Any, Any]:
    """Return maps and reads by the number of threads and by what these do."""
    at: dict[str, Level] = {"cache": cache, "advice": "none", "threads": ALL, "roles": ALL}
    maps = elapsed(run, "map", "mmap", files, direct="no", **at)
    return maps, elapsed(run, "map", "overlapped", files, direct=direct, **at)


def by_threads(maps: Values, reads: Values) -> Values:
    """Return the map over the best of the reads by as many threads, where both have as many.

    Raises `MissingError` where none has.
    """
    groups = [dict(list(side.groupby(level="threads"))) for side in (maps, reads)]
    both = sorted(groups[0].keys() & groups[1].keys())
    if not both:
        raise MissingError("as many of both")
    return listed(best_over_best(*(side[threads] for side in groups)) for threads in both)


def small_maps_in_text(table: Numbers) -> Quantity:
    """Return the map by as many threads over the best of the readings."""
    reads = all_printed(
        table, *(f"map.{SMALL_SET}.{mix}" for mix in ("12RnC+12C", "9RnC+15C", "8RnC+16C"))
    )
    return best_over_best([printed(table, f"map.{SMALL_SET}.24SYNC")], reads)


def large_maps_in_text(table: Numbers) -> Quantity:
    """Return the best map of large files over the best of the readings."""
    maps = all_printed(table, *(f"map.{LARGE_SET}.{n}SYNC" for n in (8, 16, 24, 32)))
    reads = all_printed(table, *(f"map.{LARGE_SET}.{n}RnC" for n in (4, 8, 16, 24)))
    return best_over_best(maps, reads)


def massive_maps_in_text(table: Numbers) -> Quantity:
    """Return the best map of very many files over the best mix."""
    maps = all_printed(table, *(f"massive.{n}SYNC" for n in (8, 16, 24, 32, 48, 64)))
    return best_over_best(maps, all_printed(table, "massive.8RnC+8C", "massive.12RnC+12C"))


def map_over_read(run: Numbers, files: str, **levels: Level) -> Values:
    """Return a map over a read in turn, both through the page cache."""
    maps = elapsed(run, "map", "mmap", files, advice="none", threads=2 * run.cpus)
    return maps / elapsed(run, "map", "sync", files, direct="no", **levels)


def of_page(run: Numbers, op: str, backend: str, cache: Level) -> Values:
    """Return a part of reading files of 4 KiB, by whether they are in memory."""
    return run.each(op, arm="fault", backend=backend, set="size-4096", cache=cache)


def fault_over_read(run: Numbers, cache: Level) -> Values:
    """Return a page fault over a read."""
    return of_page(run, "file.fault", "mmap", cache) / of_page(run, "file.read", "sync", cache)


def fault_over_read_in_text(table: Numbers) -> Values:
    """Return the printed ends of a page fault's time over that of a read."""
    ends = [table.one("text", f"fault_{end}", label="map.page-mapped") for end in ("low", "high")]
    return listed(ends) / table.one("text", "latency", label="map.page")


def map_of_page(run: Numbers, cache: Level) -> Values:
    """Return the time of maps of files of 4 KiB over that of reads."""
    return of_page(run, "elapsed", "mmap", cache) / of_page(run, "elapsed", "sync", cache)


def fault_share(run: Numbers, cache: Level) -> Values:
    """Return the share of a map's time that page faults take, at each size of file."""
    levels: dict[str, Level] = {"cache": cache, "set": [f"size-{size}" for size in FAULT_SIZES]}
    worked, faulted = (
        run.each(op, arm="fault", backend="mmap", **levels) for op in ("file.compute", "file.fault")
    )
    return 1 / (1 + worked / faulted)


text.claim(
    "4.1",
    "Overlapped IO Performance",
    "Overlapped IO를 사용하여 여러 파일을 겹쳐 Read를 수행해도 결국 거의 Read 자체 성능은 동일한 성능을 가진다",
    "between 0.8 and 1.25",
    N_(
        "Overlapping does not make reading itself faster (within a factor of {high:bare}, read"
        " calls taken out)."
    ),
    figures={"high": 1.25},
    here=all_in_flight_without_calls,
    own=lambda table: (
        printed(table, "overlap.overlapped")
        / table.one("text", "corrected", label="overlap.serial")
    ),
    fair=all_in_flight,
    adds=N_("the whole time, read calls included"),
    concedes=N_("the read call's own time is taken out; with it, overlapping is faster"),
    arm="overlap",
)
text.claim(
    "4.2",
    "Overlapped IO Performance",
    "겹치는 파일이 점점 많아질수록 Latency가 일정 수치만큼 계속 증가하는 것을 확인할 수 있다",
    "above 1",
    N_("The latency of a file grows with the files in flight, at every step."),
    here=lambda run: growth(overlapped(run, "file.latency", ALL), "depth"),
    unstated=N_("the text shows this in pictures only"),
    arm="overlap",
)
text.claim(
    "4.3",
    SERIAL,
    "뿐만 아니라 실행 시간도 단축되었다",
    "below 1",
    N_(
        "One thread that reads and three that compute beat four that each do both ({fast:ms}"
        " against {slow:ms})."
    ),
    figures={"fast": "21.62 ms", "slow": "28.33 ms"},
    here=lambda run: ratio(run, "mixed", SHORT),
    own=printed_over("serial.base.1R+3C", "serial.base.4SYNC"),
    fair=ratios_by_state,
    adds=ANY_STATE,
    needs={"cpus": 2},
    arm="serial",
)
text.claim(
    "4.4",
    SERIAL,
    "동기로 진행했을 때보다 Execution %가 높아진 것을 확인할 수 있다",
    "above 0 %p",
    N_("The share of execution goes up."),
    here=lambda run: shares(run, "execution_share"),
    own=lambda table: shares_in_text(table, "execution"),
    needs={"cpus": 2},
    arm="serial",
)
text.claim(
    "4.4b",
    SERIAL,
    "동기로 읽기를 진행했을 경우, Waiting 하는 데에 38%를 사용하고 있다",
    "below 0 %p",
    N_("The share of waiting for the disk goes down."),
    here=lambda run: shares(run, "io_wait_share"),
    own=lambda table: shares_in_text(table, "io_wait"),
    needs={"cpus": 2},
    arm="serial",
)
text.claim(
    "4.5",
    SERIAL,
    "파일 사이즈가 클수록 Overlapped IO가 유리하다",
    "above 0 ms",
    N_(
        "The larger the files, the more time overlapping saves (the text's delta, with the"
        " larger files less that before)."
    ),
    here=lambda run: saved(run, "mixed-big", SHORT) - saved(run, "mixed", SHORT),
    own=lambda table: saved_in_text(table, "big") - saved_in_text(table, "base"),
    needs={"cpus": 2},
    arm="serial",
)
text.claim(
    "4.5b",
    SERIAL,
    "Compute time 이 상당히 커질 경우 오히려 동기로 읽는 것이 빨라지는 시점이 있는데",
    "above 1",
    N_(
        "When the work is long, four threads that each read and compute beat one that reads and"
        " three that compute."
    ),
    here=lambda run: ratio(run, "mixed", LONGEST),
    own=printed_over("serial.longest.1R+3C", "serial.longest.4SYNC"),
    needs={"cpus": 4},
    arm="serial",
)
text.claim(
    "4.5c",
    SERIAL,
    "Compute time 이 길수록 Overlapped IO가 유리하나",
    "above 0 ms",
    N_(
        "The longer the work on each file, the more time overlapping saves (four threads, the"
        " longer work less the shorter)."
    ),
    here=lambda run: saved(run, "mixed", LONG) - saved(run, "mixed", SHORT),
    own=lambda table: saved_in_text(table, "long") - saved_in_text(table, "base"),
    fair=longer_work,
    adds=N_("work that is longer still"),
    needs={"cpus": 2},
    concedes=FEW_THREADS,
    arm="serial",
)
text.claim(
    "4.6",
    SERIAL,
    "총 쓰레드 개수가 늘어날수록 Overlapped IO가 더욱 빨라진다",
    "above 0 ms",
    N_("The more threads, the more time overlapping saves, at every step."),
    here=lambda run: change(saved(run, "mixed", LONGEST, [5, 6, 7, 8]), "threads"),
    own=steps_in_text,
    needs={"cpus": 4},
    arm="serial",
)
text.claim(
    "4.7",
    READ_CALL,
    "파일 크기가 커질수록 ReadFile에 소요되는 시간이 Linear 하게 증가한다",
    "between 3.2 and 5",
    N_(
        "The read call grows with the file: from {near} to {wide} about fourfold ({low:x} to"
        " {high:x})."
    ),
    figures={"near": "8 MiB", "wide": "32 MiB", "low": 3.2, "high": 5},
    here=lambda run: one_file(run, "file.submit", 33554432) / one_file(run, "file.submit", 8388608),
    own=said_over("file.submit", "", "call.33554432", "call.8388608"),
    arm="call",
)
text.claim(
    "4.7b",
    READ_CALL,
    "CreateFile의 경우 파일 크기에 연관되어 있지 않다",
    "between 0.8 and 1.25",
    N_("Opening does not depend on the file's size (between {low:x} and {high:x})."),
    figures={"low": 0.8, "high": 1.25},
    here=lambda run: one_file(run, "file.open", 33554432) / one_file(run, "file.open", 4096),
    own=said_over("file.open", "", "call.33554432", "call.4096"),
    arm="call",
)
text.claim(
    "4.8",
    READ_CALL,
    "ReadFile Call이 0.1ms -> 28ms 로 매우 증가한 것을 확인할 수 있다",
    "above 1",
    N_("The slowest read calls get slower when many threads make them."),
    here=slowest_calls,
    own=said_over("text", "call_last", "flight.16RnC", "flight.1RnC"),
    arm="flight",
)
text.claim(
    "4.9",
    SOON,
    "쓰레드 개수를 줄여도 거의 동일하거나 심지어 약간 더 빠른 결과가 나왔다",
    "between 0.8 and 1.25",
    N_(
        "For large files the number of threads does not matter: each takes as long as one,"
        " within a factor of {high:bare}."
    ),
    figures={"high": 1.25},
    here=more_threads,
    own=more_threads_in_text,
    needs={"large_files": 10000},
    arm="soon",
)
text.claim(
    "4.10",
    SOON,
    "16쓰레드로 테스트해 보았는데 비약적인 성능 향상이 있었다",
    "at_least 2.4",
    N_("Small files: sixteen threads are three times as fast as four (at least {low:x})."),
    figures={"low": 2.4},
    here=lambda run: small_files(run, 4, 16),
    own=printed_over(f"soon.{SMALL_SET}.4RnC", f"soon.{SMALL_SET}.16RnC"),
    needs={"cpus": 8},
    arm="soon",
)
text.claim(
    "4.10b",
    SOON,
    "32쓰레드로 테스트해 보았는데, 이때는 비약적인 성능 향상이 있지는 않았다",
    "between 0.8 and 1.25",
    N_("Small files: thirty-two threads add little to sixteen (at most {high:x})."),
    figures={"high": 1.25},
    here=lambda run: small_files(run, 16, 32),
    own=printed_over(f"soon.{SMALL_SET}.16RnC", f"soon.{SMALL_SET}.32RnC"),
    needs={"cpus": 16},
    concedes=N_("the kernel's own limit is the reason that it gives"),
    arm="soon",
)
text.claim(
    "4.11",
    "Role Specified Thread",
    "12/12 가 가장 좋은 결과를 보였다",
    "below 1",
    N_("Half of the threads reserved for computing beat as many that all read first."),
    here=lambda run: half_compute(run, "roles", 2 * run.cpus),
    own=printed_over("roles.12RnC+12C", "roles.24RnC"),
    fair=lambda run: pd.concat([half_compute(run, "roles", n * run.cpus) for n in (2, 4)]),
    adds=N_("two and four threads for each CPU"),
    concedes=OTHER_FILES,
    arm="roles",
)
text.claim(
    "4.12",
    MAPPED,
    "동일 쓰레드 수로 비교해 보아도, MMAP이 일반적인 Read 방식보다 빠르다",
    "below 1",
    N_(
        "Small files: maps beat reads by as many threads (as published, reads past the cache;"
        " files not in memory)."
    ),
    here=lambda run: by_threads(*maps_and_reads(run, SMALL_SET, "cold", "yes")),
    own=small_maps_in_text,
    fair=lambda run: map_over_read(run, SMALL_SET, threads=2 * run.cpus),
    adds=THROUGH_CACHE,
    arm="map",
)
text.claim(
    "4.12b",
    MAPPED,
    "동일 쓰레드 수로 비교해 보아도, MMAP이 일반적인 Read 방식보다 빠르다",
    "below 1",
    N_("Small files: maps beat reads by as many threads (files in memory)."),
    here=lambda run: by_threads(*maps_and_reads(run, SMALL_SET, "warm", "no")),
    own=small_maps_in_text,
    arm="map",
)
text.claim(
    "4.13",
    MAPPED,
    "그래서 오히려 MMAP으로 처리하는 것이 느린 결과를 보였다",
    "above 1",
    N_(
        "Large files that are not in memory: maps lose (the best map over the best read, judged"
        " over every pair)."
    ),
    here=lambda run: best_over_best(*maps_and_reads(run, LARGE_SET, "cold", "yes")),
    own=large_maps_in_text,
    fair=lambda run: map_over_read(run, LARGE_SET),
    adds=THROUGH_CACHE,
    arm="map",
)
text.claim(
    "4.14",
    "Massive File Count",
    "파일 개수가 많아지면서 차이가 굉장히 벌어지는 것을 확인할 수 있다",
    "at_least 5",
    N_(
        "A million files: reading all first takes at least {low:int} times as long as with"
        " computing threads."
    ),
    figures={"low": 5},
    here=lambda run: 1 / half_compute(run, "massive", 2 * run.cpus),
    own=printed_over("massive.16RnC", "massive.8RnC+8C"),
    needs={"massive_files": 1_000_000},
    arm="massive",
)
text.claim(
    "4.15",
    "Massive File Count",
    "ReadFile의 Optimal 조합인 12/12쓰레드로 테스트한 결과보다 더 좋은 결과를 보였다",
    "below 1",
    N_("A million files: the best map beats the best reading mix (judged over every pair)."),
    here=lambda run: best_over_best(mix(run, "massive", ALL, "mmap"), mix(run, "massive", ALL)),
    own=massive_maps_in_text,
    needs={"massive_files": 1_000_000},
    arm="massive",
)
text.claim(
    "4.16",
    MAPPED,
    "Page Fault는 0.02ms ~ 0.09ms 정도로 대개 Read latency 보다 빠르다",
    "at_most 1",
    N_("Files of one page that are not in memory: a page fault takes less time than a read."),
    here=lambda run: fault_over_read(run, "cold"),
    own=fault_over_read_in_text,
    fair=lambda run: fault_over_read(run, STATES),
    adds=ANY_STATE,
    concedes=N_("it says mostly, not always"),
    arm="fault",
)
text.claim(
    "4.17",
    MAPPED,
    "상당한 시간을 차지하고 있음을 알 수 있다",
    "at_least 14 % rounded",
    N_(
        "The gaps of page faults take a considerable part of a map's time: at least"
        " {low:pct,int}, at each size of file."
    ),
    figures={"low": "14 %"},
    here=lambda run: fault_share(run, "cold"),
    own=each("text", "share", label=[f"fault.{size}" for size in (*FAULT_SIZES, 262144)]),
    fair=lambda run: fault_share(run, STATES),
    adds=ANY_STATE,
    concedes=N_("several threads fill the gaps"),
    arm="fault",
)
text.claim(
    "4.18",
    "Summary",
    "파일 사이즈가 page size 보다 작은 경우, Memory Mapped File을 사용하는 것이 최적이다",
    "below 1",
    N_(
        "The text advises maps for files of at most one page: they take less time than reads, of"
        " files that are not in memory."
    ),
    here=lambda run: map_of_page(run, "cold"),
    own=said_over("text", "task", "map.page-mapped", "map.page"),
    fair=lambda run: map_of_page(run, STATES),
    adds=ANY_STATE,
    arm="fault",
)

# What the text derives from its own numbers.

# The expected size of a file, exponential and clamped as the text states it, and the scale of it.
SMALL_FILE, LARGE_FILE = (4213.968, 4096), (524113.12, 524288)
MICROSECONDS = N_("a whole number of microseconds over a thousand, not over two to the tenth")
DELTA = N_("the time of the one less the time of the other")
EXPECTED = N_("the expected size of the stated distribution, times the files")


def thousandths(table: Numbers, metric: str, label: str) -> Quantity:
    """Return what microseconds over a thousand give."""
    return table.one("text", metric, label=label) * 1.024


def expected(table: Numbers, label: str, file: tuple[float, float]) -> Quantity:
    """Return all files' size, give or take four of its deviations."""
    count = float(table.one("text", "files", label=label).value)
    whole, far = file[0] * count, 4 * file[1] * sqrt(count)
    return Quantity(whole, "B", whole - far, whole + far)


def all_of_a_page(table: Numbers) -> Quantity:
    """Return the bytes of all files of 4 KiB."""
    return (table.one("text", "files", label="massive") * 4096).as_unit("B")


text.derive(
    N_("the time less the read calls"),
    each("text", "corrected", label="overlap.serial"),
    lambda table: (
        printed(table, "overlap.serial")
        - table.one("file.submit", label="overlap.serial")
        * table.one("text", "files", label="overlap").as_unit("1")
    ),
)
text.derive(
    N_("the bytes over the time"),
    each("text", "bandwidth", label="overlap.overlapped"),
    lambda table: bandwidth(of(20 * 2**30).as_unit("B"), printed(table, "overlap.overlapped")),
)
for which, threads in (
    *(("big", 4), ("long", 4)),
    *(("longest", threads) for threads in (4, 5, 6, 7, 8)),
):
    text.derive(
        DELTA,
        each("text", "delta", label=f"serial.{which}.{threads}"),
        partial(saved_in_text, which=which, threads=threads),
    )
text.derive(
    N_("the sum of its parts"),
    each("text", "task", label="map.page"),
    lambda table: (
        table.one("file.submit", label="map.page") + table.one("text", "compute", label="map.page")
    ),
)
text.derive(N_("the files times their size"), each("text", "bytes", label="massive"), all_of_a_page)
for label, files, file in (
    ("soon.exp-small", "soon.exp-small", SMALL_FILE),
    ("soon.exp-large", "soon.exp-large", LARGE_FILE),
    ("general", "massive", SMALL_FILE),
):
    all_bytes = partial(expected, label=files, file=file)
    text.derive(EXPECTED, each("text", "bytes", label=label), all_bytes)
for label, metric in (
    *(("massive", f"compute_{name}") for name in ("low", "high", "mean", "variance")),
    ("serial.long", "compute_mean"),
):
    should = partial(thousandths, metric=metric, label=label)
    text.derive(MICROSECONDS, each("text", metric, label=label), should)

# Sentences that can stand in place of claims.

text.correct(
    "4.5",
    own=N_("Overlapping saves {base:pct} of the time, and {big:pct} with the larger files."),
    own_values=lambda table: {
        which: 1 - printed(table, f"serial.{which}.1R+3C") / printed(table, f"serial.{which}.4SYNC")
        for which in ("base", "big")
    },
    here=N_(
        "Overlapping takes {base:x,interval} as long as reading in turn, and {big:x,interval}"
        " with the larger files."
    ),
    here_values=lambda run: {
        "base": ratio(run, "mixed", SHORT),
        "big": ratio(run, "mixed-big", SHORT),
    },
)
text.correct(
    *("4.12", "4.13"),
    here=N_(
        "Of files that are not in memory, both through the page cache, a map takes"
        " {small:x,interval} as long as a read of small files and {large:x,interval} as long as a"
        " read of large ones."
    ),
    here_values=lambda run: {
        "small": only(map_over_read(run, SMALL_SET)),
        "large": only(map_over_read(run, LARGE_SET)),
    },
)
text.correct(
    quote="File compute time: 0.048828 ms ~ 4.882812 ms, Mean(0.390625 ms)",
    source=READ_CALL,
    own=N_("Each file is worked on for {mean:ms} on average."),
    own_values=lambda _: {"mean": of(400_000).as_unit("ns")},
)
text.correct(
    quote="Total file size: 3.9GiB (100만개)",
    source=READ_CALL,
    own=N_("All files together have {bytes:GiB}."),
    own_values=lambda table: {"bytes": all_of_a_page(table)},
)
text.correct(
    quote="189.62ms (5) vs 185.13ms (1/4) -4.49ms",
    source=SERIAL,
    own=N_("With {threads} threads overlapping takes {less:ms} less."),
    own_values=lambda table: {"threads": of(5), "less": saved_in_text(table, "longest", 5)},
)
