"""MultithreadIOSimulator, description, in Korean (text 004): what it claims, and what it derives.

A run has one time of all files a launch: its median and its mean are the same there.
"""

from functools import partial
from math import sqrt

from ipclab.claims.claim import PublishedText
from ipclab.claims.extremes import bandwidth, best_over_best, change, growth
from ipclab.claims.numbers import ALL, Compared, Level, Lookup, Values, listed, look, several
from ipclab.frames.address import MissingError
from ipclab.stats.quantity import Quantity, of
from ipclab.words.catalogue import N_

LARGE_SET, SMALL_SET = "exp-large", "exp-small"
SERIAL = "Multithread Sync vs Overlapped IO"
READ_CALL, MAPPED = "Read Call Task Overhead", "Memory Mapped File"
STATES = ["cold", "warm"]
SHORT, LONG, LONGEST = 800_000, 5_000_000, 10_000_000  # work on each file, in ns
FAULT_SIZES = [65536, 1048576, 8388608, 33554432]
text = PublishedText(
    "004",
    "file_io",
    N_("MultithreadIOSimulator, description, in Korean"),
    "ko",
    printed={"elapsed": "elapsed.mean", "call": "file.submit.mean", "open": "file.open.mean"},
)
ANY_STATE = N_("files in memory and not in memory")
THROUGH_CACHE = N_("both through the page cache, which only the maps of the text used")

# In the text's own table.


def said(metric: str, label: str) -> Lookup:
    """Return a number that the text prints beside its times."""
    return look("text", metric, label=label)


def printed(*labels: str) -> Lookup:
    """Return printed times of all files, of a label or of several."""
    found = [look("elapsed", label=label) for label in labels]
    return several(*found) if len(found) > 1 else found[0]


def best_printed(files: str, syncs: list[int], reads: list[str]) -> Lookup:
    """Return the best printed map, by so many threads, over the best of the readings."""
    maps = several(*(printed(f"{files}.{threads}SYNC") for threads in syncs))
    return maps.pipe(best_over_best, printed(*(f"{files}.{mix}" for mix in reads)))


def saved_in_text(which: str, threads: int = 4) -> Lookup:
    """Return the printed time that overlapping saves."""
    return printed(f"serial.{which}.{threads}SYNC") - printed(f"serial.{which}.1R+{threads - 1}C")


SMALL_MAPS = best_printed("map.exp-small", [24], ["12RnC+12C", "9RnC+15C", "8RnC+16C"])

# In a run.


# The time of all files, which are not in memory unless said otherwise; of threads that read and
# compute, of files that are all asked for first, and of maps and reads by what threads do.
elapsed = partial(look, "elapsed", cache="cold")
serial = partial(elapsed, arm="serial", placement="free", threads=4)
base = partial(serial, set="mixed", compute_ns=SHORT)
soon = partial(elapsed, arm="soon", backend="overlapped")
by_role = partial(elapsed, arm="map", advice="none", threads=ALL, roles=ALL)
maps = partial(by_role, backend="mmap", direct="no")
reads = partial(by_role, backend="overlapped")
# Parts of overlapped reading of large files; of reading one file into memory that nothing touched;
# read calls by many threads; reading files of 4 KiB, by whether they are in memory.
overlapped = partial(look, arm="overlap", backend="overlapped", cache="cold")
one_file = partial(look, arm="call", backend="overlapped", buffer="fresh")
slowest_call = partial(look, "file.submit", "p99", arm="flight", backend="overlapped", depth=256)
of_page = partial(look, arm="fault", set="size-4096")


def saved(files: str, work: int, threads: Level = 4) -> Lookup:
    """Return the time that overlapping saves."""
    levels: dict[str, Level] = {"set": files, "compute_ns": work, "threads": threads}
    return serial(backend="sync", **levels) - serial(backend="overlapped", **levels)


def ratio(files: str, work: int, cache: Level = "cold") -> Lookup:
    """Return the time with overlapping over that without."""
    levels: dict[str, Level] = {"set": files, "compute_ns": work, "cache": cache}
    return serial(backend="overlapped", **levels) / serial(backend="sync", **levels)


def half_compute(arm: str, half: str, whole: str) -> Lookup:
    """Return the time of threads of which half compute over that of all reading first."""
    threads = partial(elapsed, arm=arm, backend="overlapped")
    return threads(roles=f"{half}RnC+{half}C") / threads(roles=f"{whole}RnC")


HALF_COMPUTE = half_compute("roles", "{cpus}", "{2*cpus}")


def by_threads(maps: Values, reads: Values) -> Values:
    """Return the map over the best of the reads by as many threads, where both have as many.

    Raises `MissingError` where none has.
    """
    groups = [dict(list(side.groupby(level="threads"))) for side in (maps, reads)]
    both = sorted(groups[0].keys() & groups[1].keys())
    if not both:
        raise MissingError("as many of both")
    return listed(best_over_best(*(side[threads] for side in groups)) for threads in both)


def map_over_read(files: str, **levels: Level) -> Lookup:
    """Return a map over a read in turn, both through the page cache."""
    mapped = elapsed(arm="map", backend="mmap", set=files, advice="none", threads="{2*cpus}")
    return mapped / elapsed(arm="map", backend="sync", set=files, direct="no", **levels)


def map_of_page(cache: Level, mapped: str = "elapsed", read: str = "elapsed") -> Lookup:
    """Return a part of mapping files of 4 KiB over a part of reading them."""
    return of_page(mapped, backend="mmap", cache=cache) / of_page(read, backend="sync", cache=cache)


def fault_share(cache: Level) -> Lookup:
    """Return the share of a map's time that page faults take, at each size of file."""
    files = [f"size-{size}" for size in FAULT_SIZES]
    worked, faulted = (
        look(op, arm="fault", backend="mmap", cache=cache, set=files)
        for op in ("file.compute", "file.fault")
    )
    return 1 / (1 + worked / faulted)


# The claims of a section by one arm.
of_overlap = partial(text.claim, "Overlapped IO Performance", arm="overlap")
of_serial = partial(text.claim, SERIAL, arm="serial", needs={"cpus": 2})
of_soon = partial(text.claim, "Do Read Call Task as soon as possible", arm="soon")
of_maps = partial(text.claim, MAPPED, arm="map")
of_faults = partial(text.claim, MAPPED, arm="fault")
of_massive = partial(
    text.claim, "Massive File Count", arm="massive", needs={"massive_files": 1_000_000}
)

of_overlap(
    "4.1",
    "Overlapped IO를 사용하여 여러 파일을 겹쳐 Read를 수행해도 결국 거의 Read 자체 성능은 동일한 성능을 가진다",
    "between 0.8 and 1.25",
    N_(
        "Overlapping does not make reading itself faster (within a factor of {high:bare}, read"
        " calls taken out)."
    ),
    here=overlapped("elapsed", depth="max")
    / (
        overlapped("elapsed", depth=1)
        - overlapped("file.submit", depth=1) * overlapped("launch", "files", depth=1)
    ),
    table=printed("overlap.overlapped") / said("corrected", "overlap.serial"),
    fair=overlapped("elapsed", depth="max") / overlapped("elapsed", depth=1),
    adds=N_("the whole time, read calls included"),
    concedes=N_("the read call's own time is taken out; with it, overlapping is faster"),
)
of_overlap(
    "4.2",
    "겹치는 파일이 점점 많아질수록 Latency가 일정 수치만큼 계속 증가하는 것을 확인할 수 있다",
    "above 1",
    N_("The latency of a file grows with the files in flight, at every step."),
    here=overlapped("file.latency", depth=ALL).pipe(growth, "depth"),
    unstated=N_("the text shows this in pictures only"),
)
of_serial(
    "4.3",
    "뿐만 아니라 실행 시간도 단축되었다",
    "below 1",
    N_(
        "One thread that reads and three that compute beat four that each do both ({fast:ms}"
        " against {slow:ms})."
    ),
    figures={"fast": "21.62 ms", "slow": "28.33 ms"},
    here=ratio("mixed", SHORT),
    table=printed("serial.base.1R+3C") / printed("serial.base.4SYNC"),
    fair=ratio("mixed", SHORT, STATES),
    adds=ANY_STATE,
)
of_serial(
    "4.4",
    "동기로 진행했을 때보다 Execution %가 높아진 것을 확인할 수 있다",
    "above 0 %p",
    N_("With overlapped reads the share of execution is larger than with serial ones."),
    here=base("execution_share", backend="overlapped") - base("execution_share", backend="sync"),
    table=said("execution", "serial.base.1R+3C") - said("execution", "serial.base.4SYNC"),
)
of_serial(
    "4.4b",
    "동기로 읽기를 진행했을 경우, Waiting 하는 데에 38%를 사용하고 있다",
    "below 0 %p",
    N_("With overlapped reads the share of waiting for the disk is smaller than with serial ones."),
    here=base("io_wait_share", backend="overlapped") - base("io_wait_share", backend="sync"),
    table=said("io_wait", "serial.base.1R+3C") - said("io_wait", "serial.base.4SYNC"),
)
of_serial(
    "4.5",
    "파일 사이즈가 클수록 Overlapped IO가 유리하다",
    "above 0 ms",
    N_(
        "The larger the files, the more time overlapping saves (the text's delta, with the"
        " larger files less that before)."
    ),
    here=saved("mixed-big", SHORT) - saved("mixed", SHORT),
    table=saved_in_text("big") - saved_in_text("base"),
)
of_serial(
    "4.5b",
    "Compute time 이 상당히 커질 경우 오히려 동기로 읽는 것이 빨라지는 시점이 있는데",
    "above 1",
    N_(
        "When the work is long, four threads that each read and compute beat one that reads and"
        " three that compute."
    ),
    here=ratio("mixed", LONGEST),
    table=printed("serial.longest.1R+3C") / printed("serial.longest.4SYNC"),
    needs={"cpus": 4},
)
of_serial(
    "4.5c",
    "Compute time 이 길수록 Overlapped IO가 유리하나",
    "above 0 ms",
    N_(
        "The longer the work on each file, the more time overlapping saves (four threads, the"
        " longer work less the shorter)."
    ),
    here=saved("mixed", LONG) - saved("mixed", SHORT),
    table=saved_in_text("long") - saved_in_text("base"),
    fair=several(
        saved("mixed", LONG) - saved("mixed", SHORT),
        saved("mixed", LONGEST) - saved("mixed", LONG),
    ),
    adds=N_("work that is longer still"),
    concedes=N_("with few threads in all it may be alike or worse"),
)
of_serial(
    "4.6",
    "총 쓰레드 개수가 늘어날수록 Overlapped IO가 더욱 빨라진다",
    "above 0 ms",
    N_("The more threads, the more time overlapping saves, at every step."),
    here=saved("mixed", LONGEST, [5, 6, 7, 8]).pipe(change, "threads"),
    table=several(
        *(saved_in_text("longest", n + 1) - saved_in_text("longest", n) for n in (5, 6, 7))
    ),
    needs={"cpus": 4},
)
text.claim(
    READ_CALL,
    "4.7",
    "파일 크기가 커질수록 ReadFile에 소요되는 시간이 Linear 하게 증가한다",
    "between 3.2 and 5",
    N_(
        "The read call grows with the file: from {near} to {wide} about fourfold ({low:x} to"
        " {high:x})."
    ),
    figures={"near": "8 MiB", "wide": "32 MiB"},
    here=one_file("file.submit", set="size-33554432") / one_file("file.submit", set="size-8388608"),
    table=look("file.submit", label="call.33554432") / look("file.submit", label="call.8388608"),
    arm="call",
)
text.claim(
    READ_CALL,
    "4.7b",
    "CreateFile의 경우 파일 크기에 연관되어 있지 않다",
    "between 0.8 and 1.25",
    N_("Opening does not depend on the file's size (between {low:x} and {high:x})."),
    here=one_file("file.open", set="size-33554432") / one_file("file.open", set="size-4096"),
    table=look("file.open", label="call.33554432") / look("file.open", label="call.4096"),
    arm="call",
)
text.claim(
    READ_CALL,
    "4.8",
    "ReadFile Call이 0.1ms -> 28ms 로 매우 증가한 것을 확인할 수 있다",
    "above 1",
    N_("The slowest read calls get slower when many threads make them."),
    here=slowest_call(threads="max") / slowest_call(threads="min"),
    table=said("call_last", "flight.16RnC") / said("call_last", "flight.1RnC"),
    arm="flight",
)
of_soon(
    "4.9",
    "쓰레드 개수를 줄여도 거의 동일하거나 심지어 약간 더 빠른 결과가 나왔다",
    "between 0.8 and 1.25",
    N_(
        "For large files the number of threads does not matter: each takes as long as one,"
        " within a factor of {high:bare}."
    ),
    here=soon(set=LARGE_SET, threads=["{cpus}", "{2*cpus}", "{4*cpus}"])
    / soon(set=LARGE_SET, threads=1),
    table=printed(*(f"soon.exp-large.{n}RnC" for n in (2, 4, 16))) / printed("soon.exp-large.1RnC"),
    needs={"large_files": 10000},
)
of_soon(
    "4.10",
    "16쓰레드로 테스트해 보았는데 비약적인 성능 향상이 있었다",
    "at_least 2.4",
    N_("Small files: sixteen threads are three times as fast as four (at least {low:x})."),
    here=soon(set=SMALL_SET, threads=4) / soon(set=SMALL_SET, threads=16),
    table=printed("soon.exp-small.4RnC") / printed("soon.exp-small.16RnC"),
    needs={"cpus": 8},
)
of_soon(
    "4.10b",
    "32쓰레드로 테스트해 보았는데, 이때는 비약적인 성능 향상이 있지는 않았다",
    "between 0.8 and 1.25",
    N_("Small files: thirty-two threads add little to sixteen (at most {high:x})."),
    here=soon(set=SMALL_SET, threads=16) / soon(set=SMALL_SET, threads=32),
    table=printed("soon.exp-small.16RnC") / printed("soon.exp-small.32RnC"),
    needs={"cpus": 16},
    concedes=N_("the kernel's own limit is the reason that it gives"),
)
text.claim(
    "Role Specified Thread",
    "4.11",
    "12/12 가 가장 좋은 결과를 보였다",
    "below 1",
    N_("Half of the threads reserved for computing beat as many that all read first."),
    here=HALF_COMPUTE,
    table=printed("roles.12RnC+12C") / printed("roles.24RnC"),
    fair=several(HALF_COMPUTE, half_compute("roles", "{2*cpus}", "{4*cpus}")),
    adds=N_("two and four threads for each CPU"),
    concedes=N_("other files, sizes and work give other results"),
    arm="roles",
)
of_maps(
    "4.12",
    "동일 쓰레드 수로 비교해 보아도, MMAP이 일반적인 Read 방식보다 빠르다",
    "below 1",
    N_(
        "Small files: maps beat reads by as many threads (as published, reads past the cache;"
        " files not in memory)."
    ),
    here=maps(set=SMALL_SET).pipe(by_threads, reads(set=SMALL_SET, direct="yes")),
    table=SMALL_MAPS,
    fair=map_over_read(SMALL_SET, threads="{2*cpus}"),
    adds=THROUGH_CACHE,
)
of_maps(
    "4.12b",
    "동일 쓰레드 수로 비교해 보아도, MMAP이 일반적인 Read 방식보다 빠르다",
    "below 1",
    N_("Small files: maps beat reads by as many threads (files in memory)."),
    here=maps(set=SMALL_SET, cache="warm").pipe(
        by_threads, reads(set=SMALL_SET, direct="no", cache="warm")
    ),
    table=SMALL_MAPS,
)
of_maps(
    "4.13",
    "그래서 오히려 MMAP으로 처리하는 것이 느린 결과를 보였다",
    "above 1",
    N_(
        "Large files that are not in memory: maps lose (the best map over the best read, judged"
        " over every pair)."
    ),
    here=maps(set=LARGE_SET).pipe(best_over_best, reads(set=LARGE_SET, direct="yes")),
    table=best_printed("map.exp-large", [8, 16, 24, 32], ["4RnC", "8RnC", "16RnC", "24RnC"]),
    fair=map_over_read(LARGE_SET),
    adds=THROUGH_CACHE,
)
of_massive(
    "4.14",
    "파일 개수가 많아지면서 차이가 굉장히 벌어지는 것을 확인할 수 있다",
    "at_least 5",
    N_(
        "A million files: reading all first takes at least {low:int} times as long as with"
        " computing threads."
    ),
    here=1 / half_compute("massive", "{cpus}", "{2*cpus}"),
    table=printed("massive.16RnC") / printed("massive.8RnC+8C"),
)
of_massive(
    "4.15",
    "ReadFile의 Optimal 조합인 12/12쓰레드로 테스트한 결과보다 더 좋은 결과를 보였다",
    "below 1",
    N_("A million files: the best map beats the best reading mix (judged over every pair)."),
    here=elapsed(arm="massive", backend="mmap", roles=ALL).pipe(
        best_over_best, elapsed(arm="massive", backend="overlapped", roles=ALL)
    ),
    table=best_printed("massive", [8, 16, 24, 32, 48, 64], ["8RnC+8C", "12RnC+12C"]),
)
of_faults(
    "4.16",
    "Page Fault는 0.02ms ~ 0.09ms 정도로 대개 Read latency 보다 빠르다",
    "at_most 1",
    N_("Files of one page that are not in memory: a page fault takes less time than a read."),
    here=map_of_page("cold", "file.fault", "file.read"),
    table=several(said("fault_low", "map.page-mapped"), said("fault_high", "map.page-mapped"))
    / said("latency", "map.page"),
    fair=map_of_page(STATES, "file.fault", "file.read"),
    adds=ANY_STATE,
    concedes=N_("it says mostly, not always"),
)
of_faults(
    "4.17",
    "상당한 시간을 차지하고 있음을 알 수 있다",
    "at_least 14 % rounded",
    N_(
        "The gaps of page faults take a considerable part of a map's time: at least"
        " {low:pct,int}, at each size of file."
    ),
    here=fault_share("cold"),
    table=look("text", "share", label=[f"fault.{size}" for size in (*FAULT_SIZES, 262144)]),
    fair=fault_share(STATES),
    adds=ANY_STATE,
    concedes=N_("several threads fill the gaps"),
)
text.claim(
    "Summary",
    "4.18",
    "파일 사이즈가 page size 보다 작은 경우, Memory Mapped File을 사용하는 것이 최적이다",
    "below 1",
    N_(
        "The text advises maps for files of at most one page: they take less time than reads, of"
        " files that are not in memory."
    ),
    here=map_of_page("cold"),
    table=said("task", "map.page-mapped") / said("task", "map.page"),
    fair=map_of_page(STATES),
    adds=ANY_STATE,
    arm="fault",
)

# What the text derives from its own numbers.

# The expected size of a file, exponential and clamped as the text states it, and the scale of it.
SMALL_FILE, LARGE_FILE = (4213.968, 4096), (524113.12, 524288)
MICROSECONDS = N_("a whole number of microseconds over a thousand, not over two to the tenth")
DELTA = N_("the time of the one less the time of the other")
EXPECTED = N_("the expected size of the stated distribution, times the files")
ALL_OF_A_PAGE = (said("files", "massive") * 4096).as_unit("B")


def expected(files: Compared, size: float, scale: float) -> Quantity:
    """Return all files' size, give or take four of its deviations."""
    count = float(files.value)
    whole, far = size * count, 4 * scale * sqrt(count)
    return Quantity(whole, "B", whole - far, whole + far)


text.derive(
    N_("the time less the read calls"),
    said("corrected", "overlap.serial"),
    printed("overlap.serial")
    - look("file.submit", label="overlap.serial") * said("files", "overlap").as_unit("1"),
)
text.derive(
    N_("the bytes over the time"),
    said("bandwidth", "overlap.overlapped"),
    printed("overlap.overlapped").pipe(partial(bandwidth, of(20 * 2**30).as_unit("B"))),
)
for which, threads in (
    *(("big", 4), ("long", 4)),
    *(("longest", threads) for threads in (4, 5, 6, 7, 8)),
):
    stated = said("delta", f"serial.{which}.{threads}")
    text.derive(DELTA, stated, saved_in_text(which, threads))
text.derive(
    N_("the sum of its parts"),
    said("task", "map.page"),
    look("file.submit", label="map.page") + said("compute", "map.page"),
)
text.derive(N_("the files times their size"), said("bytes", "massive"), ALL_OF_A_PAGE)
for label, files, file in (
    ("soon.exp-small", "soon.exp-small", SMALL_FILE),
    ("soon.exp-large", "soon.exp-large", LARGE_FILE),
    ("general", "massive", SMALL_FILE),
):
    text.derive(EXPECTED, said("bytes", label), said("files", files).pipe(expected, *file))
for label, metric in (
    *(("massive", f"compute_{name}") for name in ("low", "high", "mean", "variance")),
    ("serial.long", "compute_mean"),
):
    text.derive(MICROSECONDS, said(metric, label), said(metric, label) * 1.024)

# Sentences that can stand in place of claims.

text.correct(
    "4.5",
    table=N_("Overlapping saves {base:pct} of the time, and {big:pct} with the larger files."),
    table_values={
        which: 1 - printed(f"serial.{which}.1R+3C") / printed(f"serial.{which}.4SYNC")
        for which in ("base", "big")
    },
    here=N_(
        "Overlapping takes {base:x,interval} as long as reading in turn, and {big:x,interval}"
        " with the larger files."
    ),
    here_values={"base": ratio("mixed", SHORT), "big": ratio("mixed-big", SHORT)},
)
text.correct(
    *("4.12", "4.13"),
    here=N_(
        "Of files that are not in memory, both through the page cache, a map takes"
        " {small:x,interval} as long as a read of small files and {large:x,interval} as long as a"
        " read of large ones."
    ),
    here_values={"small": map_over_read(SMALL_SET), "large": map_over_read(LARGE_SET)},
)
text.correct(
    quote="File compute time: 0.048828 ms ~ 4.882812 ms, Mean(0.390625 ms)",
    source=READ_CALL,
    table=N_("Each file is worked on for {mean:ms} on average."),
    table_values={"mean": of(400_000).as_unit("ns")},
)
text.correct(
    quote="Total file size: 3.9GiB (100만개)",
    source=READ_CALL,
    table=N_("All files together have {bytes:GiB}."),
    table_values={"bytes": ALL_OF_A_PAGE},
)
text.correct(
    quote="189.62ms (5) vs 185.13ms (1/4) -4.49ms",
    source=SERIAL,
    table=N_("With {threads} threads overlapping takes {less:ms} less."),
    table_values={"threads": 5, "less": saved_in_text("longest", 5)},
)
