"""MultithreadIOSimulator, description, in Korean (seed 004): what each claim compares, and with which bounds.

The words of the claims, and what else the text derives, are in `data/published/004_file_io.toml`.
"""

from ipclab.claims.expression import Term
from ipclab.claims.told import (
    Claims,
    Stated,
    above,
    at,
    at_least,
    at_most,
    below,
    between,
    change,
    each,
    growth_along,
    least,
)

claim = Claims()


def printed(label: str) -> Term:
    """Return a time of the text's own table."""
    return at(f"file_io.elapsed[label={label}]")


def elapsed(arm: str, backend: str, files: str, cache: str, more: str) -> Term:
    """Return the time of all files of a set, by the published method or by a fair one."""
    return at(f"file_io.elapsed[arm={arm},backend={backend},set={files},cache={cache},{more}]")


def mix(arm: str, backend: str, roles: str) -> Term:
    """Return the time of threads with roles, of files that are not in memory."""
    return at(f"file_io.elapsed[arm={arm},backend={backend},cache=cold,roles={roles}]")


def map_faults(op: str, cache: str, files: str) -> Term:
    """Return what takes the time of a map, in files of such sizes."""
    return at(f"file_io.{op}[arm=fault,backend=mmap,cache={cache},set={files}]")


def serial(
    backend: str, files: str, compute_ns: int, cache: str, threads: int | str, metric: str = ""
) -> Term:
    """Return the time of threads that read and compute."""
    levels = f"backend={backend},set={files},compute_ns={compute_ns},cache={cache}"
    return at(f"file_io.elapsed[arm=serial,{levels},threads={threads},placement=free]", metric)


SAVED_TIME = serial("sync", "mixed", 800000, "cold", 4) - serial(
    "overlapped", "mixed", 800000, "cold", 4
)
SAVED_TIME_BIG = serial("sync", "mixed-big", 800000, "cold", 4) - serial(
    "overlapped", "mixed-big", 800000, "cold", 4
)
SAVED_TIME_LONG = serial("sync", "mixed", 5000000, "cold", 4) - serial(
    "overlapped", "mixed", 5000000, "cold", 4
)
SAVED_TIME_LONGEST = serial("sync", "mixed", 10000000, "cold", 4) - serial(
    "overlapped", "mixed", 10000000, "cold", 4
)
SAVED_TIME_OVER_THREADS = serial("sync", "mixed", 10000000, "cold", "5|6|7|8") - serial(
    "overlapped", "mixed", 10000000, "cold", "5|6|7|8"
)


@claim("4.1")
def overlapping_reads_no_faster() -> Stated:
    """Overlapped IO를 사용하여 여러 파일을 겹쳐 Read를 수행해도 결국 거의 Read 자체 성능은 동일한 성능을 가진다"""
    return Stated(
        between(
            at("file_io.elapsed[arm=overlap,backend=overlapped,cache=cold,depth=max]")
            / (
                at("file_io.elapsed[arm=overlap,backend=overlapped,cache=cold,depth=1]")
                - at("file_io.file.submit[arm=overlap,backend=overlapped,cache=cold,depth=1]")
                * at("file_io.launch[arm=overlap,backend=overlapped,cache=cold,depth=1].files")
            ),
            "0.8",
            "1.25",
        ),
        own=printed("overlap.overlapped") / at("file_io.text[label=overlap.serial].corrected"),
        fair=at("file_io.elapsed[arm=overlap,backend=overlapped,cache=cold,depth=max]")
        / at("file_io.elapsed[arm=overlap,backend=overlapped,cache=cold,depth=1]"),
    )


@claim("4.2")
def latency_grows_with_files_in_flight() -> Stated:
    """겹치는 파일이 점점 많아질수록 Latency가 일정 수치만큼 계속 증가하는 것을 확인할 수 있다"""
    return Stated(
        above(
            each(
                growth_along(
                    at("file_io.file.latency[arm=overlap,backend=overlapped,cache=cold,depth=*]"),
                    "depth",
                )
            ),
            "1",
        )
    )


@claim("4.3")
def one_reading_thread_wins() -> Stated:
    """뿐만 아니라 실행 시간도 단축되었다"""
    return Stated(
        below(
            serial("overlapped", "mixed", 800000, "cold", 4)
            / serial("sync", "mixed", 800000, "cold", 4),
            "1",
        ),
        own=printed("serial.base.1R+3C") / printed("serial.base.4SYNC"),
        fair=each(
            serial("overlapped", "mixed", 800000, "cold|warm", 4)
            / serial("sync", "mixed", 800000, "cold|warm", 4)
        ),
    )


@claim("4.4")
def execution_goes_up() -> Stated:
    """동기로 진행했을 때보다 Execution %가 높아진 것을 확인할 수 있다"""
    return Stated(
        above(
            serial("overlapped", "mixed", 800000, "cold", 4, "execution_share")
            - serial("sync", "mixed", 800000, "cold", 4, "execution_share"),
            "0 %p",
        ),
        own=at("file_io.text[label=serial.base.1R+3C].execution")
        - at("file_io.text[label=serial.base.4SYNC].execution"),
    )


@claim("4.4b")
def waiting_goes_down() -> Stated:
    """동기로 읽기를 진행했을 경우, Waiting 하는 데에 38%를 사용하고 있다"""
    return Stated(
        below(
            serial("overlapped", "mixed", 800000, "cold", 4, "io_wait_share")
            - serial("sync", "mixed", 800000, "cold", 4, "io_wait_share"),
            "0 %p",
        ),
        own=at("file_io.text[label=serial.base.1R+3C].io_wait")
        - at("file_io.text[label=serial.base.4SYNC].io_wait"),
    )


@claim("4.5")
def larger_files_save_more() -> Stated:
    """파일 사이즈가 클수록 Overlapped IO가 유리하다"""
    return Stated(
        above(SAVED_TIME_BIG - SAVED_TIME, "0 ms"),
        own=printed("serial.big.4SYNC")
        - printed("serial.big.1R+3C")
        - (printed("serial.base.4SYNC") - printed("serial.base.1R+3C")),
    )


@claim("4.5b")
def long_work_turns_it() -> Stated:
    """Compute time 이 상당히 커질 경우 오히려 동기로 읽는 것이 빨라지는 시점이 있는데"""
    return Stated(
        above(
            serial("overlapped", "mixed", 10000000, "cold", 4)
            / serial("sync", "mixed", 10000000, "cold", 4),
            "1",
        ),
        own=printed("serial.longest.1R+3C") / printed("serial.longest.4SYNC"),
    )


@claim("4.5c")
def longer_work_saves_more() -> Stated:
    """Compute time 이 길수록 Overlapped IO가 유리하나"""
    return Stated(
        above(SAVED_TIME_LONG - SAVED_TIME, "0 ms"),
        own=printed("serial.long.4SYNC")
        - printed("serial.long.1R+3C")
        - (printed("serial.base.4SYNC") - printed("serial.base.1R+3C")),
        fair=each(SAVED_TIME_LONG - SAVED_TIME, SAVED_TIME_LONGEST - SAVED_TIME_LONG),
    )


@claim("4.6")
def more_threads_save_more() -> Stated:
    """총 쓰레드 개수가 늘어날수록 Overlapped IO가 더욱 빨라진다"""
    return Stated(
        above(each(change(SAVED_TIME_OVER_THREADS, "threads")), "0 ms"),
        own=each(
            printed("serial.longest.6SYNC")
            - printed("serial.longest.1R+5C")
            - (printed("serial.longest.5SYNC") - printed("serial.longest.1R+4C")),
            printed("serial.longest.7SYNC")
            - printed("serial.longest.1R+6C")
            - (printed("serial.longest.6SYNC") - printed("serial.longest.1R+5C")),
            printed("serial.longest.8SYNC")
            - printed("serial.longest.1R+7C")
            - (printed("serial.longest.7SYNC") - printed("serial.longest.1R+6C")),
        ),
    )


@claim("4.7")
def calls_grow_with_the_file() -> Stated:
    """파일 크기가 커질수록 ReadFile에 소요되는 시간이 Linear 하게 증가한다"""
    return Stated(
        between(
            at("file_io.file.submit[arm=call,backend=overlapped,set=size-33554432,buffer=fresh]")
            / at("file_io.file.submit[arm=call,backend=overlapped,set=size-8388608,buffer=fresh]"),
            "3.2",
            "5",
        ),
        own=at("file_io.file.submit[label=call.33554432]")
        / at("file_io.file.submit[label=call.8388608]"),
    )


@claim("4.7b")
def opening_does_not_depend_on_size() -> Stated:
    """CreateFile의 경우 파일 크기에 연관되어 있지 않다"""
    return Stated(
        between(
            at("file_io.file.open[arm=call,backend=overlapped,set=size-33554432,buffer=fresh]")
            / at("file_io.file.open[arm=call,backend=overlapped,set=size-4096,buffer=fresh]"),
            "0.8",
            "1.25",
        ),
        own=at("file_io.file.open[label=call.33554432]") / at("file_io.file.open[label=call.4096]"),
    )


@claim("4.8")
def many_threads_slow_calls() -> Stated:
    """ReadFile Call이 0.1ms -> 28ms 로 매우 증가한 것을 확인할 수 있다"""
    return Stated(
        above(
            at("file_io.file.submit[arm=flight,backend=overlapped,depth=256,threads=max].p99")
            / at("file_io.file.submit[arm=flight,backend=overlapped,depth=256,threads=min].p99"),
            "1",
        ),
        own=at("file_io.text[label=flight.16RnC].call_last")
        / at("file_io.text[label=flight.1RnC].call_last"),
    )


@claim("4.9")
def threads_do_not_matter_for_large_files() -> Stated:
    """쓰레드 개수를 줄여도 거의 동일하거나 심지어 약간 더 빠른 결과가 나왔다"""
    return Stated(
        between(
            each(
                elapsed(
                    "soon", "overlapped", "exp-large", "cold", "threads={cpus}|{2*cpus}|{4*cpus}"
                )
                / elapsed("soon", "overlapped", "exp-large", "cold", "threads=1")
            ),
            "0.8",
            "1.25",
        ),
        own=each(
            printed("soon.exp-large.2RnC|soon.exp-large.4RnC|soon.exp-large.16RnC")
            / printed("soon.exp-large.1RnC")
        ),
    )


@claim("4.10")
def sixteen_threads_are_faster() -> Stated:
    """16쓰레드로 테스트해 보았는데 비약적인 성능 향상이 있었다"""
    return Stated(
        at_least(
            elapsed("soon", "overlapped", "exp-small", "cold", "threads=4")
            / elapsed("soon", "overlapped", "exp-small", "cold", "threads=16"),
            "2.4",
        ),
        own=printed("soon.exp-small.4RnC") / printed("soon.exp-small.16RnC"),
    )


@claim("4.10b")
def more_threads_add_little() -> Stated:
    """32쓰레드로 테스트해 보았는데, 이때는 비약적인 성능 향상이 있지는 않았다"""
    return Stated(
        between(
            elapsed("soon", "overlapped", "exp-small", "cold", "threads=16")
            / elapsed("soon", "overlapped", "exp-small", "cold", "threads=32"),
            "0.8",
            "1.25",
        ),
        own=printed("soon.exp-small.16RnC") / printed("soon.exp-small.32RnC"),
    )


@claim("4.11")
def half_of_the_threads_compute() -> Stated:
    """12/12 가 가장 좋은 결과를 보였다"""
    return Stated(
        below(
            mix("roles", "overlapped", "{cpus}RnC+{cpus}C")
            / mix("roles", "overlapped", "{2*cpus}RnC"),
            "1",
        ),
        own=printed("roles.12RnC+12C") / printed("roles.24RnC"),
        fair=each(
            mix("roles", "overlapped", "{cpus}RnC+{cpus}C")
            / mix("roles", "overlapped", "{2*cpus}RnC"),
            mix("roles", "overlapped", "{2*cpus}RnC+{2*cpus}C")
            / mix("roles", "overlapped", "{4*cpus}RnC"),
        ),
    )


@claim("4.12")
def maps_beat_reads_of_small_files() -> Stated:
    """동일 쓰레드 수로 비교해 보아도, MMAP이 일반적인 Read 방식보다 빠르다"""
    return Stated(
        below(
            each(
                elapsed("map", "mmap", "exp-small", "cold", "direct=no,advice=none,threads=*")
                / elapsed(
                    "map", "overlapped", "exp-small", "cold", "direct=yes,advice=none,threads=*"
                )
            ),
            "1",
        ),
        own=printed("map.exp-small.24SYNC")
        / least(printed("map.exp-small.12RnC+12C|map.exp-small.9RnC+15C|map.exp-small.8RnC+16C")),
        fair=elapsed("map", "mmap", "exp-small", "cold", "advice=none,threads={2*cpus}")
        / elapsed("map", "sync", "exp-small", "cold", "direct=no,threads={2*cpus}"),
    )


@claim("4.12b")
def maps_beat_reads_in_memory() -> Stated:
    """동일 쓰레드 수로 비교해 보아도, MMAP이 일반적인 Read 방식보다 빠르다"""
    return Stated(
        below(
            each(
                elapsed("map", "mmap", "exp-small", "warm", "direct=no,advice=none,threads=*")
                / elapsed(
                    "map", "overlapped", "exp-small", "warm", "direct=no,advice=none,threads=*"
                )
            ),
            "1",
        ),
        own=printed("map.exp-small.24SYNC")
        / least(printed("map.exp-small.12RnC+12C|map.exp-small.9RnC+15C|map.exp-small.8RnC+16C")),
    )


@claim("4.13")
def maps_lose_for_large_files() -> Stated:
    """그래서 오히려 MMAP으로 처리하는 것이 느린 결과를 보였다"""
    return Stated(
        above(
            least(elapsed("map", "mmap", "exp-large", "cold", "direct=no,advice=none,threads=*"))
            / least(
                elapsed(
                    "map", "overlapped", "exp-large", "cold", "direct=yes,advice=none,threads=*"
                )
            ),
            "1",
        ),
        own=least(
            printed(
                "map.exp-large.8SYNC|map.exp-large.16SYNC|map.exp-large.24SYNC|map.exp-large.32SYNC"
            )
        )
        / least(
            printed("map.exp-large.4RnC|map.exp-large.8RnC|map.exp-large.16RnC|map.exp-large.24RnC")
        ),
        fair=elapsed("map", "mmap", "exp-large", "cold", "advice=none,threads={2*cpus}")
        / elapsed("map", "sync", "exp-large", "cold", "direct=no"),
    )


@claim("4.14")
def reading_all_first_takes_longer() -> Stated:
    """파일 개수가 많아지면서 차이가 굉장히 벌어지는 것을 확인할 수 있다"""
    return Stated(
        at_least(
            mix("massive", "overlapped", "{2*cpus}RnC")
            / mix("massive", "overlapped", "{cpus}RnC+{cpus}C"),
            "5",
        ),
        own=printed("massive.16RnC") / printed("massive.8RnC+8C"),
    )


@claim("4.15")
def the_best_map_beats_the_best_mix() -> Stated:
    """ReadFile의 Optimal 조합인 12/12쓰레드로 테스트한 결과보다 더 좋은 결과를 보였다"""
    return Stated(
        below(least(mix("massive", "mmap", "*")) / least(mix("massive", "overlapped", "*")), "1"),
        own=least(
            printed(
                "massive.8SYNC|massive.16SYNC|massive.24SYNC|massive.32SYNC|massive.48SYNC|massive.64SYNC"
            )
        )
        / least(printed("massive.8RnC+8C|massive.12RnC+12C")),
    )


@claim("4.16")
def a_fault_takes_less_than_a_read() -> Stated:
    """Page Fault는 0.02ms ~ 0.09ms 정도로 대개 Read latency 보다 빠르다"""
    return Stated(
        at_most(
            map_faults("file.fault", "cold", "size-4096")
            / at("file_io.file.read[arm=fault,backend=sync,set=size-4096,cache=cold]"),
            "1",
        ),
        own=each(
            at("file_io.text[label=map.page-mapped].fault_low")
            / at("file_io.text[label=map.page].latency"),
            at("file_io.text[label=map.page-mapped].fault_high")
            / at("file_io.text[label=map.page].latency"),
        ),
        fair=each(
            map_faults("file.fault", "cold|warm", "size-4096")
            / at("file_io.file.read[arm=fault,backend=sync,set=size-4096,cache=cold|warm]")
        ),
    )


@claim("4.17")
def faults_take_a_considerable_part() -> Stated:
    """상당한 시간을 차지하고 있음을 알 수 있다"""
    return Stated(
        at_least(
            each(
                1
                / (
                    1
                    + map_faults(
                        "file.compute", "cold", "size-65536|size-1048576|size-8388608|size-33554432"
                    )
                    / map_faults(
                        "file.fault", "cold", "size-65536|size-1048576|size-8388608|size-33554432"
                    )
                )
            ),
            "14 %",
            rounded=True,
        ),
        own=each(
            at("file_io.text[label=fault.65536|fault.1048576|fault.8388608|fault.33554432].share")
        ),
        fair=each(
            1
            / (
                1
                + map_faults(
                    "file.compute",
                    "cold|warm",
                    "size-65536|size-1048576|size-8388608|size-33554432",
                )
                / map_faults(
                    "file.fault", "cold|warm", "size-65536|size-1048576|size-8388608|size-33554432"
                )
            )
        ),
    )
