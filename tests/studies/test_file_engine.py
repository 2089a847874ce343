"""The native file-reading engine: every file once under every mix of roles, bad files and plans,
accounting.
"""

import os
import resource
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

native = pytest.importorskip("ipclab_native", reason="the native package is not built (no cargo)")
if not hasattr(native, "read_files"):
    pytest.skip("the native package installed has no file engine", allow_module_level=True)

DEADLINE_NS = 60_000_000_000
SIZES = [0, 1, 7, 8, 511, 512, 4095, 4096, 4097, 65_536, 100_003, 1_048_577] + [
    int(3.7 * n * n) for n in range(90)
]
MIXES = [
    ["both"],
    ["both"] * 3,
    ["read", "compute"],
    ["read", "compute", "compute", "compute"],
    ["read-then-compute"],
    ["read-then-compute"] * 3,
    ["compute-then-read"] * 2,
    ["read-then-compute", "read-then-compute", "compute", "compute"],
    ["read", "both", "compute", "read-then-compute", "compute-then-read"],
]
WAYS = [
    {"method": "sync"},
    {"method": "sync", "buffer": "prefaulted"},
    {"method": "sync", "direct": True},
    {"method": "overlapped", "depth": 4},
    {"method": "overlapped", "depth": 3, "buffer": "registered", "direct": True},
    {"method": "overlapped", "depth": 1, "buffer": "prefaulted", "direct": True},
    {"method": "mmap"},
    {"method": "mmap", "advice": "populate"},
    {"method": "mmap", "advice": "willneed"},
    {"method": "mmap", "advice": "random"},
]
EACH = [WAYS[0], WAYS[4], WAYS[6]]  # of each method one
ENODATA, ENOENT = 61, 2


def packed(sizes: list[int]) -> bytes:
    return struct.pack(f"<{len(sizes)}Q", *sizes)


def path_of(folder: Path, index: int) -> Path:
    return folder / f"{index // 1000:04}" / f"{index:07}"


def checksum(folder: Path, sizes: list[int]) -> int:
    """Return what the engine says of these files, computed here."""
    total = 0
    for index, size in enumerate(sizes):
        data = path_of(folder, index).read_bytes()
        assert len(data) == size
        words = np.frombuffer(data + bytes(-size % 8), "<u8")
        total += int(words.sum(dtype=np.uint64)) * (2 * index + 1)
    return total % 2**64


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files") / "set"
    native.make_files(str(folder), 0, packed(SIZES), 7, 2, None)
    return folder


def read(folder: Path, lengths: list[int] = SIZES, **more: Any) -> dict[str, Any]:
    plan = {
        "folder": str(folder),
        "sizes": packed(lengths),
        "method": "sync",
        "roles": ["both"],
        "in_flight": 8,
    }
    result: dict[str, Any] = native.read_files({**plan, "deadline_ns": DEADLINE_NS, **more})
    return result


def usable(way: dict[str, Any], folder: Path) -> None:
    """Skip what this machine or folder cannot do."""
    missing = native.io_uring_missing() if way["method"] == "overlapped" else None
    missing = missing or (native.direct_missing(str(folder)) if way.get("direct") else None)
    if missing:
        pytest.skip(missing)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
def test_every_file_is_read_once_under_every_mix_of_roles(files: Path, way: dict[str, Any]) -> None:
    usable(way, files)
    expected = checksum(files, SIZES)
    native.drop_files(str(files), packed(SIZES), 2)
    for roles in reversed(MIXES):  # every role from the disk, and each mix from memory
        done = read(files, roles=roles, checksum_rounds=2, repeat_order="shuffled", seed=5, **way)
        assert done["errors"] == []
        whole = (len(SIZES), sum(SIZES), expected)
        assert (done["files"], done["bytes"], done["checksum"]) == whole, roles
        assert sum(thread["files_read"] for thread in done["threads"]) == len(SIZES)
        assert 1 <= done["max_open_files"] <= 8
        assert [thread["role"] for thread in done["threads"]] == roles
        computing = {number for number, role in enumerate(roles) if role != "read"}
        assert set(struct.unpack(f"<{len(SIZES)}q", done["tasks"]["thread"])) <= computing
        for thread in done["threads"]:
            idle = {"read": "files_computed", "compute": "files_read"}.get(thread["role"])
            assert idle is None or thread[idle] == 0


@pytest.mark.parametrize("way", EACH, ids=lambda way: way["method"])
def test_the_shares_of_every_thread_are_the_whole(files: Path, way: dict[str, Any]) -> None:
    usable(way, files)
    for roles in (MIXES[1], MIXES[3], MIXES[-1]):
        # The kernel's clocks of a thread are read one after the other: who loses the CPU in between
        # reads them apart.
        assert any(_whole(files, roles, way) for _ in range(25)), roles


def _whole(files: Path, roles: list[str], way: dict[str, Any]) -> bool:
    native.drop_files(str(files), packed(SIZES), 2)
    done = read(files, roles=roles, compute_ns=packed([200_000] * len(SIZES)), **way)
    for thread in done["threads"]:
        parts = sum(
            thread[f"{part}_ns"] for part in ("execution", "io_wait", "work_wait", "preempted")
        )
        # 0.2 ms: what a thread that ended at once does before its first and after its last reading
        # of the clock.
        if abs(parts - thread["elapsed_ns"]) > 0.01 * thread["elapsed_ns"] + 200_000:
            return False
    return True


def test_times_are_in_order_and_tasks_complete(files: Path) -> None:
    done = read(files, roles=["read", "compute"], spans=20, compute_ns=packed([1_000] * len(SIZES)))
    tasks = {name: np.frombuffer(values, "<i8") for name, values in done["tasks"].items()}
    assert {len(values) for values in tasks.values()} == {len(SIZES)}
    assert (tasks["latency_ns"] >= tasks["open_ns"] + tasks["read_ns"]).all()
    assert (tasks["read_ns"] >= tasks["submit_ns"]).all()
    assert (tasks["compute_ns"] >= 1_000).all()
    assert (tasks["fault_ns"] == 0).all()
    assert 0 < done["first_compute_ns"] <= done["elapsed_ns"]
    assert 0 < done["read_end_ns"] <= done["elapsed_ns"]
    kinds = {
        kind: [span for span in done["spans"] if span[1] == kind]
        for kind in ("open", "read", "compute", "close")
    }
    assert {len(spans) for spans in kinds.values()} == {20}
    assert all(start <= end <= done["elapsed_ns"] for *_, start, end in done["spans"])


@pytest.mark.slow
def test_above_20000_files_an_even_sample_is_kept(tmp_path: Path) -> None:
    sizes = [0] * 25_000
    native.make_files(str(tmp_path / "set"), 0, packed(sizes), 1, 2, None)
    done = read(tmp_path / "set", sizes, roles=["both"] * 2, repeat_order="shuffled", seed=1)
    index = np.frombuffer(done["tasks"]["task_index"], "<i8")
    assert (done["files"], len(index), len(done["tasks"]["read_ns"])) == (25_000, 20_000, 160_000)
    assert set(np.diff(index)) == {1, 2}
    assert (np.frombuffer(done["tasks"]["thread"], "<i8") >= 0).all()


def test_the_cache_is_dropped_and_warmed(files: Path) -> None:
    sizes = packed(SIZES)
    pages = sum(-(-size // resource.getpagesize()) for size in SIZES)
    native.warm_files(str(files), sizes, 2)
    assert native.cache_state(str(files), sizes) == (pages, pages)
    native.drop_files(str(files), sizes, 2)
    if native.direct_missing(str(files)):
        pytest.skip("the temporary folder's files are the page cache: nothing can be dropped")
    assert native.cache_state(str(files), sizes) == (0, pages)


@pytest.mark.parametrize("way", EACH, ids=lambda way: way["method"])
def test_bad_files_are_told_and_the_others_go_on(tmp_path: Path, way: dict[str, Any]) -> None:
    usable(way, tmp_path)
    sizes = [20_000] * 40
    native.make_files(str(tmp_path / "set"), 0, packed(sizes), 2, 2, None)
    path_of(tmp_path / "set", 3).unlink()
    os.truncate(path_of(tmp_path / "set", 17), 4_096)
    os.truncate(path_of(tmp_path / "set", 30), 0)
    for roles in MIXES:
        done = read(tmp_path / "set", sizes, roles=roles, checksum_rounds=1, **way)
        assert [(index, errno) for index, errno, _ in done["errors"]] == [
            (3, ENOENT),
            (17, ENODATA),
            (30, ENODATA),
        ]
        assert [phase for *_, phase in done["errors"]] == [
            "open",
            *(["fault" if "mmap" in way.values() else "read"] * 2),
        ]
        assert (done["files"], done["bytes"]) == (37, 37 * 20_000)


@pytest.mark.parametrize("method", ["sync", "overlapped", "mmap"])
def test_files_cut_and_removed_meanwhile_are_told(tmp_path: Path, method: str) -> None:
    usable({"method": method}, tmp_path)
    sizes = [50_000] * 300
    folder = tmp_path / "set"
    native.make_files(str(folder), 0, packed(sizes), 2, 2, None)
    stop = threading.Event()

    def spoil() -> None:
        for index in range(299, 100, -1):
            if index % 2:
                path_of(folder, index).unlink()
            else:
                os.truncate(path_of(folder, index), 10)
        stop.set()

    spoiler = threading.Thread(target=spoil)
    spoiler.start()
    done = read(folder, sizes, method=method, roles=["read", "compute", "both"], checksum_rounds=3)
    spoiler.join()
    assert stop.is_set()
    assert done["files"] + len(done["errors"]) == 300
    assert {errno for _, errno, _ in done["errors"]} <= {ENOENT, ENODATA}
    again = read(folder, sizes, method=method, roles=["read", "compute", "both"])
    assert [index for index, *_ in again["errors"]] == list(range(101, 300))


def test_the_deadline_ends_every_run(files: Path) -> None:
    for roles in MIXES[::3]:
        for method in ("sync", "mmap", *(() if native.io_uring_missing() else ("overlapped",))):
            with pytest.raises(TimeoutError):
                read(
                    files,
                    roles=roles,
                    method=method,
                    compute_ns=packed([10**9] * len(SIZES)),
                    deadline_ns=20_000_000,
                )


def test_many_files_stay_within_memory_and_open_files(files: Path) -> None:
    done = read(files, SIZES[:8], roles=["read-then-compute"], in_flight=100)
    assert done["max_open_files"] == done["in_flight"] == 8
    assert 0 < done["peak_rss_bytes"] < 2**31


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"method": "dma"}, "method"),
    ({"roles": []}, "threads"),
    ({"roles": ["read"]}, "compute"),
    ({"roles": ["compute"]}, "must read"),
    ({"roles": ["read", "both"]}, "nobody computes"),
    ({"roles": ["sleep"]}, "roles"),
    ({"in_flight": 0}, "in_flight"),
    ({"depth": 5_000}, "depth"),
    ({"sizes": b"123"}, "whole number"),
    ({"compute_ns": bytes(8)}, "compute_ns"),
    ({"buffer": "registered"}, "io_uring"),
    ({"method": "mmap", "direct": True}, "mmap"),
    ({"advice": "random"}, "mmap"),
    ({"colour": 1}, "colour"),
    ({"cpus": [100_000]}, "CPU"),
    ({"sizes": packed([2**50] * 2), "buffer": "prefaulted"}, "memory"),
]


@pytest.mark.parametrize(("change", "words"), WRONG, ids=lambda value: str(value)[:30])
def test_a_wrong_plan_is_a_value_error(files: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read(files, **change)


def test_a_missing_folder_is_an_os_error(tmp_path: Path) -> None:
    for call in CALLS:
        with pytest.raises(FileNotFoundError):
            call(tmp_path / "nowhere" / "set")


CALLS: list[Callable[[Path], object]] = [
    read,
    lambda path: native.make_files(str(path), 0, packed([1]), 1, 1, None),
    lambda path: native.digest_files(str(path), packed([1]), 1),
    lambda path: native.cache_state(str(path), packed([1])),
    lambda path: native.drop_files(str(path), packed([1]), 1),
    lambda path: native.warm_files(str(path), packed([1]), 1),
]


@pytest.fixture(autouse=True)
def _nothing_left_open(tmp_path: Path) -> Iterator[None]:
    yield
    links = list[str]()
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(
            FileNotFoundError
        ):  # the folder's own, or one that a finalizer has just closed
            links.append(str(entry.readlink()))
    assert [link for link in links if link.startswith(str(tmp_path))] == []
