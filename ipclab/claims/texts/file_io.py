"""MultithreadIOSimulator, description, in Korean (text 004): what it claims, and what it derives.

A run has one time of all files a launch: its median and its mean are the same there.
"""

from functools import partial
from itertools import pairwise
from math import sqrt
from typing import Any

import pandas as pd

from ipclab.claims.claim import Text
from ipclab.claims.extremes import bandwidth, best_over_best, change, growth
from ipclab.claims.numbers import ALL, Compared, Level, Numbers, Values, listed, only
from ipclab.frames.address import MissingError
from ipclab.stats.quantity import Quantity, of
from ipclab.words.catalogue import N_

LARGE_SET, SMALL_SET = "exp-large", "exp-small"
SERIAL = "Multithread Sync vs Overlapped IO"
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


def elapsed(run: Numbers, arm: str, backend: str, files: str, **levels: Level) -> Values:
    """Return the time of all files of a set, which are not in memory unless said otherwise."""
    named: dict[str, Level] = {"cache": "cold", **levels}
    return run.each("elapsed", arm=arm, backend=backend, set=files, **named)


def mix(run: Numbers, arm: str, roles: str, backend: str = "overlapped") -> Values:
    """Return the time of threads with roles, of files that are not in memory."""
    return run.each("elapsed", arm=arm, backend=backend, cache="cold", roles=roles)


def serial(
    run: Numbers, backend: str, files: str, work: int, threads: Level = 4, metric: str = ""
) -> Values:
    """Return the time of threads that read and compute, of files that are not in memory."""
    levels: dict[str, Level] = {"set": files, "compute_ns": work, "threads": threads}
    return run.each(
        "elapsed", metric, arm="serial", backend=backend, cache="cold", placement="free", **levels
    )


def saved(run: Numbers, files: str, work: int, threads: Level = 4) -> Values:
    """Return the time that overlapping saves."""
    sync, overlapped = (
        serial(run, backend, files, work, threads) for backend in ("sync", "overlapped")
    )
    return sync - overlapped


def ratio(run: Numbers, files: str, work: int) -> Quantity:
    """Return the time with overlapping over that without."""
    overlapped, sync = (serial(run, backend, files, work) for backend in ("overlapped", "sync"))
    return only(overlapped) / only(sync)


def saved_in_text(table: Numbers, which: str, threads: int = 4) -> Quantity:
    """Return the time that overlapping saves by the text's own table."""
    sync = printed(table, f"serial.{which}.{threads}SYNC")
    return sync - printed(table, f"serial.{which}.1R+{threads - 1}C")


def shares(run: Numbers, metric: str) -> Quantity:
    """Return by how much a share of the threads' time differs with overlapping, in points."""
    with_, without = (
        only(serial(run, backend, "mixed", SHORT, 4, metric)) for backend in ("overlapped", "sync")
    )
    return (with_ - without).as_unit("points")


def shares_in_text(table: Numbers, metric: str) -> Quantity:
    """Return by how much a printed share differs with overlapping, in points."""
    with_, without = (
        table.one("text", metric, label=f"serial.base.{who}") for who in ("1R+3C", "4SYNC")
    )
    return (with_ - without).as_unit("points")


@text.claim(
    "4.1",
    "Overlapped IO Performance",
    "between 0.8 and 1.25",
    N_(
        "Overlapping does not make reading itself faster (within a factor of {high:bare}, read"
        " calls taken out)."
    ),
    figures={"high": 1.25},
    concedes=N_("the read call's own time is taken out; with it, overlapping is faster"),
    arm="overlap",
)
def overlapping_reads_no_faster(run: Numbers) -> Compared:
    """Overlapped IO를 사용하여 여러 파일을 겹쳐 Read를 수행해도 결국 거의 Read 자체 성능은 동일한 성능을 가진다"""
    at = {"arm": "overlap", "backend": "overlapped", "cache": "cold"}
    calls = run.one("file.submit", depth=1, **at) * run.one("launch", "files", depth=1, **at)
    return run.one("elapsed", depth="max", **at) / (run.one("elapsed", depth=1, **at) - calls)


@overlapping_reads_no_faster.on_its_table
def _(table: Numbers) -> Compared:
    return printed(table, "overlap.overlapped") / table.one(
        "text", "corrected", label="overlap.serial"
    )


@overlapping_reads_no_faster.fairly(N_("the whole time, read calls included"))
def _(run: Numbers) -> Compared:
    at = {"arm": "overlap", "backend": "overlapped", "cache": "cold"}
    return run.one("elapsed", depth="max", **at) / run.one("elapsed", depth=1, **at)


@text.claim(
    "4.2",
    "Overlapped IO Performance",
    "above 1",
    N_("The latency of a file grows with the files in flight, at every step."),
    unstated=N_("the text shows this in pictures only"),
    arm="overlap",
)
def latency_grows_with_files_in_flight(run: Numbers) -> Compared:
    """겹치는 파일이 점점 많아질수록 Latency가 일정 수치만큼 계속 증가하는 것을 확인할 수 있다"""
    at = {"arm": "overlap", "backend": "overlapped", "cache": "cold"}
    return growth(run.each("file.latency", depth=ALL, **at), "depth")


@text.claim(
    "4.3",
    SERIAL,
    "below 1",
    N_(
        "One thread that reads and three that compute beat four that each do both ({fast:ms}"
        " against {slow:ms})."
    ),
    figures={"fast": "21.62 ms", "slow": "28.33 ms"},
    needs={"cpus": 2},
    arm="serial",
)
def one_reading_thread_wins(run: Numbers) -> Compared:
    """뿐만 아니라 실행 시간도 단축되었다"""
    return ratio(run, "mixed", SHORT)


@one_reading_thread_wins.on_its_table
def _(table: Numbers) -> Compared:
    return printed(table, "serial.base.1R+3C") / printed(table, "serial.base.4SYNC")


@one_reading_thread_wins.fairly(ANY_STATE)
def _(run: Numbers) -> Compared:
    levels: dict[str, Level] = {
        **{"set": "mixed", "compute_ns": SHORT, "threads": 4, "cache": STATES, "placement": "free"}
    }
    overlapped, sync = (
        run.each("elapsed", arm="serial", backend=backend, **levels)
        for backend in ("overlapped", "sync")
    )
    return overlapped / sync


@text.claim(
    "4.4",
    SERIAL,
    "above 0 %p",
    N_("The share of execution goes up."),
    needs={"cpus": 2},
    arm="serial",
)
def execution_goes_up(run: Numbers) -> Compared:
    """동기로 진행했을 때보다 Execution %가 높아진 것을 확인할 수 있다"""
    return shares(run, "execution_share")


@execution_goes_up.on_its_table
def _(table: Numbers) -> Compared:
    return shares_in_text(table, "execution")


@text.claim(
    "4.4b",
    SERIAL,
    "below 0 %p",
    N_("The share of waiting for the disk goes down."),
    needs={"cpus": 2},
    arm="serial",
)
def waiting_goes_down(run: Numbers) -> Compared:
    """동기로 읽기를 진행했을 경우, Waiting 하는 데에 38%를 사용하고 있다"""
    return shares(run, "io_wait_share")


@waiting_goes_down.on_its_table
def _(table: Numbers) -> Compared:
    return shares_in_text(table, "io_wait")


@text.claim(
    "4.5",
    SERIAL,
    "above 0 ms",
    N_(
        "The larger the files, the more time overlapping saves (the text's delta, with the"
        " larger files less that before)."
    ),
    needs={"cpus": 2},
    arm="serial",
)
def larger_files_save_more(run: Numbers) -> Compared:
    """파일 사이즈가 클수록 Overlapped IO가 유리하다"""
    return saved(run, "mixed-big", SHORT) - saved(run, "mixed", SHORT)


@larger_files_save_more.on_its_table
def _(table: Numbers) -> Compared:
    return saved_in_text(table, "big") - saved_in_text(table, "base")


@text.claim(
    "4.5b",
    SERIAL,
    "above 1",
    N_(
        "When the work is long, four threads that each read and compute beat one that reads and"
        " three that compute."
    ),
    needs={"cpus": 4},
    arm="serial",
)
def long_work_turns_it(run: Numbers) -> Compared:
    """Compute time 이 상당히 커질 경우 오히려 동기로 읽는 것이 빨라지는 시점이 있는데"""
    return ratio(run, "mixed", LONGEST)


@long_work_turns_it.on_its_table
def _(table: Numbers) -> Compared:
    return printed(table, "serial.longest.1R+3C") / printed(table, "serial.longest.4SYNC")


@text.claim(
    "4.5c",
    SERIAL,
    "above 0 ms",
    N_(
        "The longer the work on each file, the more time overlapping saves (four threads, the"
        " longer work less the shorter)."
    ),
    needs={"cpus": 2},
    concedes=FEW_THREADS,
    arm="serial",
)
def longer_work_saves_more(run: Numbers) -> Compared:
    """Compute time 이 길수록 Overlapped IO가 유리하나"""
    return saved(run, "mixed", LONG) - saved(run, "mixed", SHORT)


@longer_work_saves_more.on_its_table
def _(table: Numbers) -> Compared:
    return saved_in_text(table, "long") - saved_in_text(table, "base")


@longer_work_saves_more.fairly(N_("work that is longer still"))
def _(run: Numbers) -> Compared:
    short, long, longest = (saved(run, "mixed", work) for work in (SHORT, LONG, LONGEST))
    return pd.concat([long - short, longest - long])


@text.claim(
    "4.6",
    SERIAL,
    "above 0 ms",
    N_("The more threads, the more time overlapping saves, at every step."),
    needs={"cpus": 4},
    arm="serial",
)
def more_threads_save_more(run: Numbers) -> Compared:
    """총 쓰레드 개수가 늘어날수록 Overlapped IO가 더욱 빨라진다"""
    return change(saved(run, "mixed", LONGEST, [5, 6, 7, 8]), "threads")


@more_threads_save_more.on_its_table
def _(table: Numbers) -> Compared:
    deltas = [saved_in_text(table, "longest", threads) for threads in (5, 6, 7, 8)]
    return listed([more - fewer for fewer, more in pairwise(deltas)])


def one_file(run: Numbers, op: str, size: int) -> Quantity:
    """Return a part of reading one file into memory that nothing touched."""
    levels: dict[str, Level] = {"set": f"size-{size}", "buffer": "fresh"}
    return run.one(op, arm="call", backend="overlapped", **levels)


@text.claim(
    "4.7",
    "Read Call Task Overhead",
    "between 3.2 and 5",
    N_(
        "The read call grows with the file: from {near} to {wide} about fourfold ({low:x} to"
        " {high:x})."
    ),
    figures={"near": "8 MiB", "wide": "32 MiB", "low": 3.2, "high": 5},
    arm="call",
)
def calls_grow_with_the_file(run: Numbers) -> Compared:
    """파일 크기가 커질수록 ReadFile에 소요되는 시간이 Linear 하게 증가한다"""
    return one_file(run, "file.submit", 33554432) / one_file(run, "file.submit", 8388608)


@calls_grow_with_the_file.on_its_table
def _(table: Numbers) -> Compared:
    wide, near = (table.one("file.submit", label=f"call.{size}") for size in (33554432, 8388608))
    return wide / near


@text.claim(
    "4.7b",
    "Read Call Task Overhead",
    "between 0.8 and 1.25",
    N_("Opening does not depend on the file's size (between {low:x} and {high:x})."),
    figures={"low": 0.8, "high": 1.25},
    arm="call",
)
def opening_does_not_depend_on_size(run: Numbers) -> Compared:
    """CreateFile의 경우 파일 크기에 연관되어 있지 않다"""
    return one_file(run, "file.open", 33554432) / one_file(run, "file.open", 4096)


@opening_does_not_depend_on_size.on_its_table
def _(table: Numbers) -> Compared:
    wide, near = (table.one("file.open", label=f"call.{size}") for size in (33554432, 4096))
    return wide / near


@text.claim(
    "4.8",
    "Read Call Task Overhead",
    "above 1",
    N_("The slowest read calls get slower when many threads make them."),
    arm="flight",
)
def many_threads_slow_calls(run: Numbers) -> Compared:
    """ReadFile Call이 0.1ms -> 28ms 로 매우 증가한 것을 확인할 수 있다"""
    many, few = (
        run.one("file.submit", "p99", arm="flight", backend="overlapped", depth=256, threads=end)
        for end in ("max", "min")
    )
    return many / few


@many_threads_slow_calls.on_its_table
def _(table: Numbers) -> Compared:
    many, few = (table.one("text", "call_last", label=f"flight.{n}RnC") for n in (16, 1))
    return many / few


@text.claim(
    "4.9",
    "Do Read Call Task as soon as possible",
    "between 0.8 and 1.25",
    N_(
        "For large files the number of threads does not matter: each takes as long as one,"
        " within a factor of {high:bare}."
    ),
    figures={"high": 1.25},
    needs={"large_files": 10000},
    arm="soon",
)
def threads_do_not_matter_for_large_files(run: Numbers) -> Compared:
    """쓰레드 개수를 줄여도 거의 동일하거나 심지어 약간 더 빠른 결과가 나왔다"""
    threads = [run.cpus, 2 * run.cpus, 4 * run.cpus]
    many = elapsed(run, "soon", "overlapped", LARGE_SET, threads=threads)
    return many / only(elapsed(run, "soon", "overlapped", LARGE_SET, threads=1))


@threads_do_not_matter_for_large_files.on_its_table
def _(table: Numbers) -> Compared:
    many = all_printed(table, *(f"soon.{LARGE_SET}.{n}RnC" for n in (2, 4, 16)))
    return many / printed(table, f"soon.{LARGE_SET}.1RnC")


@text.claim(
    "4.10",
    "Do Read Call Task as soon as possible",
    "at_least 2.4",
    N_("Small files: sixteen threads are three times as fast as four (at least {low:x})."),
    figures={"low": 2.4},
    needs={"cpus": 8},
    arm="soon",
)
def sixteen_threads_are_faster(run: Numbers) -> Compared:
    """16쓰레드로 테스트해 보았는데 비약적인 성능 향상이 있었다"""
    four, sixteen = (elapsed(run, "soon", "overlapped", SMALL_SET, threads=n) for n in (4, 16))
    return four / sixteen


@sixteen_threads_are_faster.on_its_table
def _(table: Numbers) -> Compared:
    return printed(table, f"soon.{SMALL_SET}.4RnC") / printed(table, f"soon.{SMALL_SET}.16RnC")


@text.claim(
    "4.10b",
    "Do Read Call Task as soon as possible",
    "between 0.8 and 1.25",
    N_("Small files: thirty-two threads add little to sixteen (at most {high:x})."),
    figures={"high": 1.25},
    needs={"cpus": 16},
    concedes=N_("the kernel's own limit is the reason that it gives"),
    arm="soon",
)
def more_threads_add_little(run: Numbers) -> Compared:
    """32쓰레드로 테스트해 보았는데, 이때는 비약적인 성능 향상이 있지는 않았다"""
    sixteen, more = (elapsed(run, "soon", "overlapped", SMALL_SET, threads=n) for n in (16, 32))
    return sixteen / more


@more_threads_add_little.on_its_table
def _(table: Numbers) -> Compared:
    return printed(table, f"soon.{SMALL_SET}.16RnC") / printed(table, f"soon.{SMALL_SET}.32RnC")


def half_compute(run: Numbers, arm: str, threads: int) -> Values:
    """Return half of the threads computing over all of them reading first."""
    half = threads // 2
    return mix(run, arm, f"{half}RnC+{half}C") / mix(run, arm, f"{threads}RnC")


@text.claim(
    "4.11",
    "Role Specified Thread",
    "below 1",
    N_("Half of the threads reserved for computing beat as many that all read first."),
    concedes=OTHER_FILES,
    arm="roles",
)
def half_of_the_threads_compute(run: Numbers) -> Compared:
    """12/12 가 가장 좋은 결과를 보였다"""
    return half_compute(run, "roles", 2 * run.cpus)


@half_of_the_threads_compute.on_its_table
def _(table: Numbers) -> Compared:
    return printed(table, "roles.12RnC+12C") / printed(table, "roles.24RnC")


@half_of_the_threads_compute.fairly(N_("two and four threads for each CPU"))
def _(run: Numbers) -> Compared:
    return pd.concat([half_compute(run, "roles", times * run.cpus) for times in (2, 4)])


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


def small_in_text(table: Numbers) -> Quantity:
    """Return the map by as many threads over the best of the readings."""
    reads = all_printed(
        table, *(f"map.{SMALL_SET}.{mix}" for mix in ("12RnC+12C", "9RnC+15C", "8RnC+16C"))
    )
    return best_over_best([printed(table, f"map.{SMALL_SET}.24SYNC")], reads)


def map_over_read(run: Numbers, files: str, **levels: Level) -> Values:
    """Return a map over a read in turn, both through the page cache."""
    maps = elapsed(run, "map", "mmap", files, advice="none", threads=2 * run.cpus)
    return maps / elapsed(run, "map", "sync", files, direct="no", **levels)


@text.claim(
    "4.12",
    "Memory Mapped File",
    "below 1",
    N_(
        "Small files: maps beat reads by as many threads (as published, reads past the cache;"
        " files not in memory)."
    ),
    arm="map",
)
def maps_beat_reads_of_small_files(run: Numbers) -> Compared:
    """동일 쓰레드 수로 비교해 보아도, MMAP이 일반적인 Read 방식보다 빠르다"""
    return by_threads(*maps_and_reads(run, SMALL_SET, "cold", "yes"))


@maps_beat_reads_of_small_files.on_its_table
def _(table: Numbers) -> Compared:
    return small_in_text(table)


@maps_beat_reads_of_small_files.fairly(THROUGH_CACHE)
def _(run: Numbers) -> Compared:
    return map_over_read(run, SMALL_SET, threads=2 * run.cpus)


@text.claim(
    "4.12b",
    "Memory Mapped File",
    "below 1",
    N_("Small files: maps beat reads by as many threads (files in memory)."),
    arm="map",
)
def maps_beat_reads_in_memory(run: Numbers) -> Compared:
    """동일 쓰레드 수로 비교해 보아도, MMAP이 일반적인 Read 방식보다 빠르다"""
    return by_threads(*maps_and_reads(run, SMALL_SET, "warm", "no"))


@maps_beat_reads_in_memory.on_its_table
def _(table: Numbers) -> Compared:
    return small_in_text(table)


@text.claim(
    "4.13",
    "Memory Mapped File",
    "above 1",
    N_(
        "Large files that are not in memory: maps lose (the best map over the best read, judged"
        " over every pair)."
    ),
    arm="map",
)
def maps_lose_for_large_files(run: Numbers) -> Compared:
    """그래서 오히려 MMAP으로 처리하는 것이 느린 결과를 보였다"""
    return best_over_best(*maps_and_reads(run, LARGE_SET, "cold", "yes"))


@maps_lose_for_large_files.on_its_table
def _(table: Numbers) -> Compared:
    maps = all_printed(table, *(f"map.{LARGE_SET}.{n}SYNC" for n in (8, 16, 24, 32)))
    reads = all_printed(table, *(f"map.{LARGE_SET}.{n}RnC" for n in (4, 8, 16, 24)))
    return best_over_best(maps, reads)


@maps_lose_for_large_files.fairly(THROUGH_CACHE)
def _(run: Numbers) -> Compared:
    return map_over_read(run, LARGE_SET)


@text.claim(
    "4.14",
    "Massive File Count",
    "at_least 5",
    N_(
        "A million files: reading all first takes at least {low:int} times as long as with"
        " computing threads."
    ),
    figures={"low": 5},
    needs={"massive_files": 1_000_000},
    arm="massive",
)
def reading_all_first_takes_longer(run: Numbers) -> Compared:
    """파일 개수가 많아지면서 차이가 굉장히 벌어지는 것을 확인할 수 있다"""
    return 1 / half_compute(run, "massive", 2 * run.cpus)


@reading_all_first_takes_longer.on_its_table
def _(table: Numbers) -> Compared:
    return printed(table, "massive.16RnC") / printed(table, "massive.8RnC+8C")


@text.claim(
    "4.15",
    "Massive File Count",
    "below 1",
    N_("A million files: the best map beats the best reading mix (judged over every pair)."),
    needs={"massive_files": 1_000_000},
    arm="massive",
)
def the_best_map_beats_the_best_mix(run: Numbers) -> Compared:
    """ReadFile의 Optimal 조합인 12/12쓰레드로 테스트한 결과보다 더 좋은 결과를 보였다"""
    return best_over_best(mix(run, "massive", ALL, "mmap"), mix(run, "massive", ALL))


@the_best_map_beats_the_best_mix.on_its_table
def _(table: Numbers) -> Compared:
    maps = all_printed(table, *(f"massive.{n}SYNC" for n in (8, 16, 24, 32, 48, 64)))
    return best_over_best(maps, all_printed(table, "massive.8RnC+8C", "massive.12RnC+12C"))


def of_page(run: Numbers, op: str, backend: str, cache: Level) -> Values:
    """Return a part of reading files of 4 KiB, by whether they are in memory."""
    return run.each(op, arm="fault", backend=backend, set="size-4096", cache=cache)


def fault_over_read(run: Numbers, cache: Level) -> Values:
    """Return a page fault over a read."""
    return of_page(run, "file.fault", "mmap", cache) / of_page(run, "file.read", "sync", cache)


@text.claim(
    "4.16",
    "Memory Mapped File",
    "at_most 1",
    N_("Files of one page that are not in memory: a page fault takes less time than a read."),
    concedes=N_("it says mostly, not always"),
    arm="fault",
)
def a_fault_takes_less_than_a_read(run: Numbers) -> Compared:
    """Page Fault는 0.02ms ~ 0.09ms 정도로 대개 Read latency 보다 빠르다"""
    return fault_over_read(run, "cold")


@a_fault_takes_less_than_a_read.on_its_table
def _(table: Numbers) -> Compared:
    ends = [table.one("text", f"fault_{end}", label="map.page-mapped") for end in ("low", "high")]
    return listed(ends) / table.one("text", "latency", label="map.page")


@a_fault_takes_less_than_a_read.fairly(ANY_STATE)
def _(run: Numbers) -> Compared:
    return fault_over_read(run, STATES)


def fault_share(run: Numbers, cache: Level) -> Values:
    """Return the share of a map's time that page faults take, at each size of file."""
    levels: dict[str, Level] = {"cache": cache, "set": [f"size-{size}" for size in FAULT_SIZES]}
    worked, faulted = (
        run.each(op, arm="fault", backend="mmap", **levels) for op in ("file.compute", "file.fault")
    )
    return 1 / (1 + worked / faulted)


@text.claim(
    "4.17",
    "Memory Mapped File",
    "at_least 14 % rounded",
    N_(
        "The gaps of page faults take a considerable part of a map's time: at least"
        " {low:pct,int}, at each size of file."
    ),
    figures={"low": "14 %"},
    concedes=N_("several threads fill the gaps"),
    arm="fault",
)
def faults_take_a_considerable_part(run: Numbers) -> Compared:
    """상당한 시간을 차지하고 있음을 알 수 있다"""
    return fault_share(run, "cold")


@faults_take_a_considerable_part.on_its_table
def _(table: Numbers) -> Compared:
    return table.each("text", "share", label=[f"fault.{size}" for size in (*FAULT_SIZES, 262144)])


@faults_take_a_considerable_part.fairly(ANY_STATE)
def _(run: Numbers) -> Compared:
    return fault_share(run, STATES)


@text.claim(
    "4.18",
    "Summary",
    "below 1",
    N_(
        "The text advises maps for files of at most one page: they take less time than reads, of"
        " files that are not in memory."
    ),
    arm="fault",
)
def maps_are_for_files_of_a_page(run: Numbers) -> Compared:
    """파일 사이즈가 page size 보다 작은 경우, Memory Mapped File을 사용하는 것이 최적이다"""
    return of_page(run, "elapsed", "mmap", "cold") / of_page(run, "elapsed", "sync", "cold")


@maps_are_for_files_of_a_page.on_its_table
def _(table: Numbers) -> Compared:
    mapped, read = (table.one("text", "task", label=f"map.page{end}") for end in ("-mapped", ""))
    return mapped / read


@maps_are_for_files_of_a_page.fairly(ANY_STATE)
def _(run: Numbers) -> Compared:
    return of_page(run, "elapsed", "mmap", STATES) / of_page(run, "elapsed", "sync", STATES)


# What the text derives from its own numbers.

# The expected size of a file, exponential and clamped as the text states it, and the scale of it.
SMALL_FILE, LARGE_FILE = (4213.968, 4096), (524113.12, 524288)
MICROSECONDS = N_("a whole number of microseconds over a thousand, not over two to the tenth")
DELTA = N_("the time of the one less the time of the other")
EXPECTED = N_("the expected size of the stated distribution, times the files")


def said(metric: str, label: str) -> Any:
    """Return the function that looks up what the text prints."""
    return lambda table: table.one("text", metric, label=label)


def thousandths(metric: str, label: str) -> Any:
    """Return the function of what microseconds over a thousand give."""
    return lambda table: table.one("text", metric, label=label) * 1.024


def expected(label: str, file: tuple[float, float]) -> Any:
    """Return the function of all files' size, give or take four of its deviations."""

    def size(table: Numbers) -> Compared:
        count = float(table.one("text", "files", label=label).value)
        whole, far = file[0] * count, 4 * file[1] * sqrt(count)
        return Quantity(whole, "B", whole - far, whole + far)

    return size


text.derive(
    N_("the time less the read calls"),
    said("corrected", "overlap.serial"),
    lambda table: (
        printed(table, "overlap.serial")
        - table.one("file.submit", label="overlap.serial")
        * table.one("text", "files", label="overlap").as_unit("1")
    ),
)
text.derive(
    N_("the bytes over the time"),
    said("bandwidth", "overlap.overlapped"),
    lambda table: bandwidth(of(20 * 2**30).as_unit("B"), printed(table, "overlap.overlapped")),
)
for which, threads in (
    *(("big", 4), ("long", 4)),
    *(("longest", threads) for threads in (4, 5, 6, 7, 8)),
):
    text.derive(
        DELTA,
        said("delta", f"serial.{which}.{threads}"),
        partial(saved_in_text, which=which, threads=threads),
    )
text.derive(
    N_("the sum of its parts"),
    said("task", "map.page"),
    lambda table: (
        table.one("file.submit", label="map.page") + table.one("text", "compute", label="map.page")
    ),
)


def all_of_a_page(table: Numbers) -> Quantity:
    """Return the bytes of all files of 4 KiB."""
    return (table.one("text", "files", label="massive") * 4096).as_unit("B")


text.derive(N_("the files times their size"), said("bytes", "massive"), all_of_a_page)
for label, files, file in (
    ("soon.exp-small", "soon.exp-small", SMALL_FILE),
    ("soon.exp-large", "soon.exp-large", LARGE_FILE),
    ("general", "massive", SMALL_FILE),
):
    text.derive(EXPECTED, said("bytes", label), expected(files, file))
for name in ("low", "high", "mean", "variance"):
    metric = f"compute_{name}"
    text.derive(MICROSECONDS, said(metric, "massive"), thousandths(metric, "massive"))
text.derive(
    MICROSECONDS, said("compute_mean", "serial.long"), thousandths("compute_mean", "serial.long")
)

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
    source="Read Call Task Overhead",
    own=N_("Each file is worked on for {mean:ms} on average."),
    own_values=lambda _: {"mean": of(400_000).as_unit("ns")},
)
text.correct(
    quote="Total file size: 3.9GiB (100만개)",
    source="Read Call Task Overhead",
    own=N_("All files together have {bytes:GiB}."),
    own_values=lambda table: {"bytes": all_of_a_page(table)},
)
text.correct(
    quote="189.62ms (5) vs 185.13ms (1/4) -4.49ms",
    source=SERIAL,
    own=N_("With {threads} threads overlapping takes {less:ms} less."),
    own_values=lambda table: {"threads": of(5), "less": saved_in_text(table, "longest", 5)},
)
