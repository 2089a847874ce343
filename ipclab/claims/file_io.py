"""The claims of the file-reading text (seed 004) as rules; its figures are in `data/published/004_file_io.csv`.

Thread counts are the text's where the machine has enough CPUs (up to two threads for each), else multiples of its own.
"""

from collections.abc import Sequence

from ipclab.claims.claim import Claim, Facts, Need, Quantity, Rule, at_least, at_most, take
from ipclab.facts.fact import Fact
from ipclab.facts.file_io_found import NEAR, PUBLISHED_FILES
from ipclab.report.catalogue import N_

ONLY_PICTURES = N_("the text shows this in pictures only")
CORES = N_("needs {least} CPUs, here are {here}")
FILES = N_("needs {least} files, this run has {here}; take the profile full")
ABOVE, BELOW = 1.0 + 1e-9, 1.0 - 1e-9
WIDE = 32 << 20
THROUGH_CACHE = N_("both through the page cache, which only the maps of the text used")
BOTH_CACHES = N_("files in memory and not in memory")


def one(name: str) -> Rule:
    """Return a rule for one fact."""
    return lambda facts: [take(facts, name)]


def every(*names: str) -> Rule:
    """Return a rule for several facts."""
    return lambda facts: [take(facts, name) for name in names]


def steps(facts: Facts) -> Sequence[Quantity]:
    """Return by how much the saved share grows from one thread count of the text to the next."""
    return [take(facts, f"file_io.serial.step.{count}") for count in (6, 7, 8)]


def cores(threads: int) -> tuple[Need, ...]:
    """Return what `threads` threads need: a CPU for every two."""
    return (Need("file_io.cores", threads / 2, CORES),)


MILLION = (Need("file_io.set.massive.files", PUBLISHED_FILES, FILES),)


def _figures(**values: tuple[float, str]) -> dict[str, Fact]:
    return {name: Fact(name, value, unit, kind="published") for name, (value, unit) in values.items()}


def _claim(number: str, section: str, quote: str, meaning: str, **rest: object) -> Claim:
    return Claim(number, "004", section, "ko", quote, meaning, **rest)  # type: ignore[arg-type]


OVERLAP, SERIAL = "Overlapped IO Performance", "Multithread Sync vs Overlapped IO"
CALL, SOON, ROLES = "Read Call Task Overhead", "Do Read Call Task as soon as possible", "Role Specified Thread"
MAP, MASSIVE = "Memory Mapped File", "Massive File Count"
CLAIMS: tuple[Claim, ...] = (
    _claim(
        "4.1",
        OVERLAP,
        "Overlapped IO를 사용하여 여러 파일을 겹쳐 Read를 수행해도 결국 거의 Read 자체 성능은 동일한 성능을 가진다",
        N_("Overlapping does not make reading itself faster (within {margin:pct,int}, read calls taken out)."),
        quantities=one("file_io.overlap.read_ratio"),
        bounds=(0.95, 1.05),
        figures=_figures(margin=(0.05, "share")),
        fair=one("file_io.overlap.cold.ratio"),
        adds=N_("the whole time, read calls included"),
    ),
    _claim(
        "4.2",
        OVERLAP,
        "겹치는 파일이 점점 많아질수록 Latency가 일정 수치만큼 계속 증가하는 것을 확인할 수 있다",
        N_("The latency of a file grows with the files in flight, at every step."),
        quantities=one("file_io.overlap.latency.least_step"),
        bounds=at_least(ABOVE),
        unstated=ONLY_PICTURES,
    ),
    _claim(
        "4.3",
        SERIAL,
        "뿐만 아니라 실행 시간도 단축되었다",
        N_("One thread that reads and three that compute beat four that each do both ({fast:ms} against {slow:ms})."),
        quantities=one("file_io.serial.base.cold.ratio"),
        bounds=at_most(BELOW),
        figures=_figures(fast=(21.62e6, "ns"), slow=(28.33e6, "ns")),
        needs=cores(4),
        fair=every("file_io.serial.base.cold.ratio", "file_io.serial.base.warm.ratio"),
        adds=BOTH_CACHES,
    ),
    _claim(
        "4.4",
        SERIAL,
        "동기로 진행했을 때보다 Execution %가 높아진 것을 확인할 수 있다",
        N_("The share of execution goes up."),
        quantities=one("file_io.states.execution.more"),
        bounds=at_least(1e-9),
        unit="share",
        needs=cores(4),
    ),
    _claim(
        "4.4b",
        SERIAL,
        "동기로 읽기를 진행했을 경우, Waiting 하는 데에 38%를 사용하고 있다",
        N_("The share of waiting for the disk goes down."),
        quantities=one("file_io.states.io_wait.more"),
        bounds=at_most(-1e-9),
        unit="share",
        needs=cores(4),
    ),
    _claim(
        "4.5",
        SERIAL,
        "파일 사이즈가 클수록 Overlapped IO가 유리하다",
        N_("The larger the files, the greater the share of time that overlapping saves."),
        quantities=one("file_io.serial.growth"),
        bounds=at_least(1e-9),
        unit="share",
        needs=cores(4),
    ),
    _claim(
        "4.6",
        SERIAL,
        "총 쓰레드 개수가 늘어날수록 Overlapped IO가 더욱 빨라진다",
        N_("The more threads, the greater the share of time that overlapping saves, at every step."),
        quantities=steps,
        bounds=at_least(1e-9),
        unit="share",
        needs=cores(8),
    ),
    _claim(
        "4.7",
        CALL,
        "파일 크기가 커질수록 ReadFile에 소요되는 시간이 Linear 하게 증가한다",
        N_("The read call grows with the file: from {near} to {wide} about fourfold ({low:x} to {high:x})."),
        quantities=one("file_io.call.linear"),
        bounds=(2.8, 5.7),
        figures=_figures(near=(NEAR, "B"), wide=(WIDE, "B"), low=(2.8, "1"), high=(5.7, "1")),
    ),
    _claim(
        "4.7b",
        CALL,
        "CreateFile의 경우 파일 크기에 연관되어 있지 않다",
        N_("Opening does not depend on the file's size (between {low:x} and {high:x})."),
        quantities=one("file_io.call.open_growth"),
        bounds=(0.5, 2.0),
        figures=_figures(low=(0.5, "1"), high=(2.0, "1")),
    ),
    _claim(
        "4.8",
        CALL,
        "ReadFile Call이 0.1ms -> 28ms 로 매우 증가한 것을 확인할 수 있다",
        N_("The slowest read calls get slower when many threads make them."),
        quantities=one("file_io.flight.growth"),
        bounds=at_least(ABOVE),
    ),
    _claim(
        "4.9",
        SOON,
        "쓰레드 개수를 줄여도 거의 동일하거나 심지어 약간 더 빠른 결과가 나왔다",
        N_(
            "For large files the number of threads does not matter: each takes as long as one, within {margin:pct,int}."
        ),
        quantities=every(*(f"file_io.soon.large.cold.{factor}.over_one" for factor in ("x1", "x2", "x4"))),
        bounds=(0.95, 1.05),
        figures=_figures(margin=(0.05, "share")),
    ),
    _claim(
        "4.10",
        SOON,
        "16쓰레드로 테스트해 보았는데 비약적인 성능 향상이 있었다",
        N_("Small files: sixteen threads are three times as fast as four (at least {low:x})."),
        quantities=one("file_io.soon.small.cold.4-16"),
        bounds=at_least(2.0),
        figures=_figures(low=(2.0, "1")),
        needs=cores(16),
    ),
    _claim(
        "4.10b",
        SOON,
        "32쓰레드로 테스트해 보았는데, 이때는 비약적인 성능 향상이 있지는 않았다",
        N_("Small files: thirty-two threads add little to sixteen (at most {high:x})."),
        quantities=one("file_io.soon.small.cold.16-32"),
        bounds=(1.0, 1.3),
        figures=_figures(high=(1.3, "1")),
        needs=cores(32),
    ),
    _claim(
        "4.11",
        ROLES,
        "12/12 가 가장 좋은 결과를 보였다",
        N_("Half of the threads reserved for computing beat as many that all read first."),
        quantities=one("file_io.roles.x2.mixed_over_rnc"),
        bounds=at_most(BELOW),
        fair=every("file_io.roles.x2.mixed_over_rnc", "file_io.roles.x4.mixed_over_rnc"),
        adds=N_("two and four threads for each CPU"),
    ),
    _claim(
        "4.12",
        MAP,
        "동일 쓰레드 수로 비교해 보아도, MMAP이 일반적인 Read 방식보다 빠르다",
        N_("Small files: maps beat reads (as published, reads past the cache; files not in memory)."),
        quantities=one("file_io.map.small.cold.ratio"),
        bounds=at_most(BELOW),
        fair=one("file_io.map.small.through_cache"),
        adds=THROUGH_CACHE,
    ),
    _claim(
        "4.12b",
        MAP,
        "동일 쓰레드 수로 비교해 보아도, MMAP이 일반적인 Read 방식보다 빠르다",
        N_("Small files: maps beat reads (files in memory)."),
        quantities=one("file_io.map.small.warm.ratio"),
        bounds=at_most(BELOW),
    ),
    _claim(
        "4.13",
        MAP,
        "그래서 오히려 MMAP으로 처리하는 것이 느린 결과를 보였다",
        N_("Large files that are not in memory: maps lose."),
        quantities=one("file_io.map.large.cold.ratio"),
        bounds=at_least(ABOVE),
        fair=one("file_io.map.large.through_cache"),
        adds=THROUGH_CACHE,
    ),
    _claim(
        "4.14",
        MASSIVE,
        "파일 개수가 많아지면서 차이가 굉장히 벌어지는 것을 확인할 수 있다",
        N_("A million files: reading all first takes at least {low:int} times as long as with computing threads."),
        quantities=one("file_io.massive.rnc_over_mixed"),
        bounds=at_least(5.0),
        figures=_figures(low=(5, "1")),
        needs=MILLION,
    ),
    _claim(
        "4.15",
        MASSIVE,
        "ReadFile의 Optimal 조합인 12/12쓰레드로 테스트한 결과보다 더 좋은 결과를 보였다",
        N_("A million files: the best map beats the best reading mix."),
        quantities=one("file_io.massive.cold.ratio"),
        bounds=at_most(BELOW),
        needs=MILLION,
    ),
    _claim(
        "4.16",
        MAP,
        "Page Fault는 0.02ms ~ 0.09ms 정도로 대개 Read latency 보다 빠르다",
        N_("Files of one page that are not in memory: a page fault takes less time than a read."),
        quantities=one("file_io.fault.4k.cold.over_read"),
        bounds=at_most(1.0),
        fair=every("file_io.fault.4k.cold.over_read", "file_io.fault.4k.warm.over_read"),
        adds=BOTH_CACHES,
    ),
)
