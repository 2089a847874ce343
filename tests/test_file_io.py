"""The file-reading study: sets, roles, sweeps, making files, proof of the cache's state."""

import json
from array import array
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ipclab.errors import LabError
from ipclab.machine.placement import Placement
from ipclab.spawn.proof import PayloadError
from ipclab.spawn.worker import Outcome
from ipclab.store.point import Point
from ipclab.studies.file_io import KIB, MIB, engine, experiments, study
from ipclab.studies.file_io import sets as making
from ipclab.studies.file_io.experiments import Sweeps, parse
from ipclab.studies.file_io.sets import PROFILES as NAMES
from ipclab.studies.file_io.sets import Draw, FileSet, file_sets
from ipclab.studies.file_io.study import FileIoStudy
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES

STUDY = FileIoStudy()
SMALL = Draw("exponential", KIB, MIB, 4 * KIB)
HUNDRED = Draw("identical", 100, 100, 100)
FREE = Placement("free", (frozenset({0, 1}),), "free")


def test_a_set_follows_from_its_seed_alone() -> None:
    first, again = (FileSet("some", 100, SMALL, experiments.USUAL, 7) for _ in range(2))
    assert first.sizes.tolist() == again.sizes.tolist()
    assert first.compute_ns.tolist() == again.compute_ns.tolist()
    assert FileSet.from_json(first.to_json()) == first
    other = replace(first, seed=8)
    assert other.sizes.tolist() != first.sizes.tolist()
    assert other.content_seed != first.content_seed
    renamed = FileSet("other", 100, SMALL, None, 7)
    assert renamed.sizes.tolist() != first.sizes.tolist()
    assert renamed.content_seed != first.content_seed


def test_compute_times_change_without_the_files() -> None:
    usual = FileSet("some", 50, SMALL, experiments.USUAL, 7)
    longer = replace(usual, compute=experiments.LONG)
    assert longer.sizes.tolist() == usual.sizes.tolist()
    assert longer.files() == usual.files()
    assert longer.compute_ns.tolist() != usual.compute_ns.tolist()
    assert replace(usual, compute=None).compute_ns.size == 0


def test_distributions_are_clamped_and_what_they_say() -> None:
    every = {name: FileSet("x", 20_000, Draw(name, KIB, MIB, 4 * KIB, 2 * KIB)) for name in ("normal", "exponential")}
    for each in every.values():
        assert each.sizes.min() == KIB
        assert each.sizes.max() <= MIB
    assert abs(every["normal"].sizes.std() / (2 * KIB) - 1) < 0.1  # a standard deviation, not a variance
    # The integral of the survival function of an exponential that is clamped; the text's total of 10,000 such files,
    # 33.33 MiB, is far below what its parameters give: 40.19 MiB.
    below, above = (np.exp(-end / SMALL.mean) for end in (SMALL.low, SMALL.high))
    expected = SMALL.low + SMALL.mean * (below - above)
    assert round(expected * 10_000 / MIB, 2) == 40.19
    assert abs(every["exponential"].sizes.mean() / expected - 1) < 0.03
    assert FileSet("x", 3, HUNDRED).sizes.tolist() == [100, 100, 100]
    assert FileSet("x", 3, HUNDRED).on_disk == 3 * 4096


def test_role_mixes_are_read() -> None:
    assert parse("4SYNC") == ["both"] * 4
    assert parse("1R+3C") == ["read", "compute", "compute", "compute"]
    assert Counter(parse("12RnC+12C")) == {"read-then-compute": 12, "compute": 12}
    assert parse("2CnR") == ["compute-then-read"] * 2
    assert len(parse("8R+16C")) == 24


@pytest.mark.parametrize("profile", NAMES)
@pytest.mark.parametrize("cores", [1, 2, 3, 16, 256])
def test_every_experiment_scales_with_the_cores(profile: str, cores: int) -> None:
    sweeps = Sweeps(profile, cores)
    points = sweeps.points(STUDY.backends())
    arms = {str(point.levels["arm"]) for point in points}
    assert arms == {"overlap", "serial", "call", "flight", "soon", "roles", "map", "fault", "massive", "general"}
    counted = {int(point.levels["threads"]) for point in points}
    scaled = {min(factor * cores, 1024) for factor in (1, 2, 4)}
    assert scaled <= counted
    published = counted - {1, 2} - scaled
    assert all(count <= 2 * cores for count in published)
    for point in points:
        levels = point.levels
        assert len(parse(str(levels["roles"]))) == levels["threads"]
        assert (levels["direct"] == "yes") <= (levels["cache"] == "cold" and point.backend != "mmap")
        assert study.in_flight(point) <= 896
        assert str(levels["cache"]) in point.block
        assert point.size_bytes == file_sets(profile)[str(levels["set"])].bytes
    drawn = [point for point in points if sweeps.in_timeline(point)]
    assert {str(point.levels["arm"]) for point in drawn} == {"serial", "roles", "map"}


def test_quick_fits_and_full_is_as_published() -> None:
    assert sum(each.on_disk for each in file_sets("quick").values()) <= 1 << 30
    assert [file_sets(name)["massive"].count for name in NAMES[1:]] == [10_000, 100_000, 1_000_000]
    large = file_sets("full")["large"]
    assert (large.count, large.bytes) == (40, 20 << 30)
    assert Draw("normal", 50_000, 5_000_000, 400_000, 400_000) == experiments.USUAL


def test_points_are_told_apart_and_backends_can_be_chosen() -> None:
    points = STUDY.points(PROFILES["quick"], Sweep())
    assert len({point.id for point in points}) == len(points)
    mapped = STUDY.points(PROFILES["quick"], Sweep(backends=("mmap",)))
    assert {point.backend for point in mapped} == {"mmap"}


class FakeNative:
    """A native package that keeps its files small and does as it is told."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.full = ""
        self.share = {"drop": 0.0, "warm": 1.0}
        self.now = 0.0

    def make_files(self, folder: str, first: int, sizes: bytes, seed: int, threads: int, done: Any) -> None:
        self.made.append(Path(folder).name)
        for index, size in enumerate(np.frombuffer(sizes, "<u8")):
            path = Path(folder) / f"{index // 1000:04}" / f"{index:07}"
            if Path(folder).name == self.full and index == 1:
                raise OSError(28, "No space left on device")
            path.parent.mkdir(exist_ok=True)
            if not path.exists() or path.stat().st_size != size:
                path.write_bytes(np.random.Generator(np.random.PCG64([seed, index])).bytes(int(size)))
            done(index + 1)

    def digest_files(self, folder: str, sizes: bytes, threads: int) -> str:
        import hashlib

        files = sorted(path for path in Path(folder).glob("*/*") if path.is_file())
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()

    def drop_files(self, folder: str, sizes: bytes, threads: int) -> None:
        self.now = self.share["drop"]

    def warm_files(self, folder: str, sizes: bytes, threads: int) -> None:
        self.now = self.share["warm"]

    def cache_state(self, folder: str, sizes: bytes) -> tuple[int, int]:
        return round(self.now * 1000), 1000


def tiny(name: str, count: int = 3, seed: int = 1) -> FileSet:
    return FileSet(name, count, HUNDRED, None, seed)


def make(scratch: Path, sets: list[FileSet], native: FakeNative, said: list[str] | None = None) -> dict[str, Any]:
    with making.made(scratch, sets, native, (said if said is not None else []).append) as found:
        digests = {name: each["digest"] for name, each in found.there.items()}
        return {"digests": digests, "refused": found.refused, "about": found.there}


def test_sets_are_made_once_and_again_when_they_are_others(tmp_path: Path) -> None:
    native, said = FakeNative(), list[str]()
    first = make(tmp_path, [tiny("a"), tiny("b")], native, said)
    assert said == ["file set a: 3 files, 300 bytes", "file set b: 3 files, 300 bytes"]
    folder = tmp_path / "ipclab-scratch-file-io" / "a"
    assert folder.stat().st_mode & 0o777 == 0o700
    when = (folder / "0000" / "0000000").stat().st_mtime_ns
    assert make(tmp_path, [tiny("a")], native)["digests"]["a"] == first["digests"]["a"]
    assert (folder / "0000" / "0000000").stat().st_mtime_ns == when  # kept
    (folder / "0000" / "0000001").unlink()  # as a killed making leaves it
    assert make(tmp_path, [tiny("a")], native)["digests"]["a"] == first["digests"]["a"]
    (folder / "0000" / "0000001").write_bytes(b"x" * 100)  # somebody wrote into it
    assert make(tmp_path, [tiny("a")], native)["digests"]["a"] == first["digests"]["a"]
    other = make(tmp_path, [tiny("a", 2, 9)], native)
    assert other["digests"]["a"] != first["digests"]["a"]
    assert len(list(folder.glob("0000/*"))) == 2
    assert other["about"]["a"]["bytes"] == 200


def test_a_full_disk_refuses_one_set_and_the_others_go_on(tmp_path: Path) -> None:
    native = FakeNative()
    native.full = "b"
    with making.made(tmp_path, [tiny("a"), tiny("b"), tiny("c")], native, lambda line: None) as found:
        assert sorted(found.there) == ["a", "c"]
        with pytest.raises(LabError, match=r"file set 'b' is not there: .*No space left.*--scratch DIR"):
            found.folder("b")
        assert not (tmp_path / "ipclab-scratch-file-io" / "b").exists()


def test_room_is_looked_at_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "free_bytes", lambda scratch: 1000)
    assert "1,000 bytes are free" in str(making.no_room(tiny("a"), tmp_path / "not" / "there"))
    native = FakeNative()
    assert "no room" not in make(tmp_path, [tiny("a")], native)["digests"]
    assert native.made == []
    monkeypatch.undo()
    assert making.no_room(tiny("a"), tmp_path) is None


def test_two_processes_do_not_share_files(tmp_path: Path) -> None:
    native = FakeNative()
    with (
        making.made(tmp_path, [tiny("a")], native, lambda line: None),
        pytest.raises(LabError, match=r"is in use.*--scratch DIR"),
        making.made(tmp_path, [tiny("a")], native, lambda line: None),
    ):
        pass


def test_a_cache_in_the_wrong_state_fails_the_launch() -> None:
    native = FakeNative()
    assert engine.prepare(native, "x", b"", "cold") == 0.0
    assert engine.prepare(native, "x", b"", "warm") == 1.0
    native.share = {"drop": 0.011, "warm": 0.989}
    with pytest.raises(LabError, match=r"the files are not cold: 1\.1% of the pages are in memory"):
        engine.prepare(native, "x", b"", "cold")
    with pytest.raises(LabError, match=r"the files are not warm: 98\.9%"):
        engine.prepare(native, "x", b"", "warm")


def result(files: int = 3, size: int = 100) -> dict[str, Any]:
    """Return what the engine would: two threads, of which one reads."""
    thread = {"elapsed_ns": 100, "execution_ns": 60, "io_wait_ns": 20, "work_wait_ns": 15, "preempted_ns": 5}
    counted = dict.fromkeys(engine.COUNTS, 2)
    tasks = {f"{name}_ns": np.full(files, 10, np.int64).tobytes() for name in ("open", "read", "latency")}
    return {
        **{"elapsed_ns": 500, "first_compute_ns": 50, "read_end_ns": 400, "files": files, "bytes": files * size},
        **{"checksum": 2**64 - 1, "errors": [], "peak_rss_bytes": 7, "max_open_files": 2},
        "tasks": {**tasks, "fault_ns": np.zeros(files, np.int64).tobytes()},
        "threads": [{**thread, **counted, "bytes": 300, "role": "read"}, {**thread, **counted, "bytes": 0}],
        "spans": [(0, "read", 0, 1, 2)],
    }


def test_a_result_is_taken_only_when_every_file_was_read_once() -> None:
    engine.check(result(), tiny("a"))
    with pytest.raises(PayloadError, match="2 files and 200 bytes were read"):
        engine.check(result(2), tiny("a"))
    torn = result() | {"errors": [(1, 2, "open")]}
    with pytest.raises(
        LabError, match="1 of 3 files could not be read: No such file or directory during open of file 1"
    ):
        engine.check(torn, tiny("a"))


def test_states_are_shares_of_all_threads_and_times_are_thinned_evenly() -> None:
    found = engine.counters(result()["threads"], 3)
    shares = {name: value for name, value in found.items() if name.endswith("_share")}
    assert shares == {"execution_share": 0.6, "io_wait_share": 0.2, "work_wait_share": 0.15, "preempted_share": 0.05}
    assert (found["minor_faults"], found["bytes_per_file"]) == (4.0, 100.0)
    kept = engine.samples(result(1000) | {"tasks": {"read_ns": np.arange(1, 1001).tobytes()}}, 3)
    assert kept["file.read"].tolist() == [1, 501, 1000]
    whole = engine.samples(result(), 1000)
    assert list(whole) == [
        "elapsed",
        "elapsed.first-compute",
        "elapsed.read-end",
        "file.open",
        "file.read",
        "file.latency",
    ]


def test_a_launch_of_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    native = FakeNative()
    plans: list[dict[str, Any]] = []

    def read_files(plan: dict[str, Any]) -> dict[str, Any]:
        plans.append(plan)
        return result()

    vars(native)["read_files"] = read_files
    monkeypatch.setitem(__import__("sys").modules, "ipclab_native", native)
    worker = SimpleNamespace(outcome=Outcome())
    arguments: dict[str, Any] = {"plan": {"method": "sync", "checksum_rounds": 0}, "most": 10, "timeline": True}
    arguments["verify"] = True
    engine.run(worker, "somewhere", tiny("a").to_json(), "cold", **arguments)  # type: ignore[arg-type]
    assert plans[0]["sizes"] == np.full(3, 100, "<u8").tobytes()
    assert (plans[0]["method"], plans[0]["folder"], plans[0]["spans"]) == ("sync", "somewhere", engine.MOST_SPANS)
    assert plans[1]["checksum_rounds"] == 1  # the proof, after the timed reading
    assert plans[1]["compute_ns"] == b""
    facts = worker.outcome.facts
    assert (facts["checksum"], facts["resident_share_before"], facts["spans"]) == (
        str(2**64 - 1),
        0.0,
        [[0, "read", 0, 1, 2]],
    )
    launch = STUDY.collect(a_point(), {"engine": worker.outcome}, 1)
    assert launch.samples["elapsed"].tolist() == [500]
    json.dumps(facts)


def a_point(**levels: str | int) -> Point:
    wanted = {"arm": "soon", "cache": "cold", "set": "exp-small", **levels}
    points = STUDY.points(PROFILES["smoke"], Sweep())
    return next(point for point in points if wanted.items() <= point.levels.items())


def test_what_the_engine_is_told() -> None:
    point = a_point(arm="map", cache="cold", advice="willneed")
    told = study.plan(point)
    assert (told["method"], told["advice"], told["checksum_rounds"], told["direct"]) == ("mmap", "willneed", 50, False)
    role = STUDY.roles(point, STUDY.effort(PROFILES["smoke"]), FREE, 5)[0]
    assert FileSet.from_json(role.arguments["files"]) == file_sets("smoke")["exp-small"]
    assert role.arguments["plan"]["cpus"] == []
    json.dumps(role.arguments)
    timed = STUDY.roles(a_point(), STUDY.effort(PROFILES["smoke"]), FREE, 5)[0]
    assert FileSet.from_json(timed.arguments["files"]).compute == experiments.USUAL


def test_checksums_of_all_ways_must_agree() -> None:
    sums: dict[str, str] = {}
    study.agree(sums, a_point(), "5")
    study.agree(sums, a_point(arm="map"), "5")
    study.agree(sums, a_point(), None)  # not every launch has one
    study.agree(sums, a_point(set="exp-large"), "6")
    with pytest.raises(PayloadError, match="checksums of two ways to read differ"):
        study.agree(sums, a_point(), "6")


def test_what_a_machine_lacks_is_said_with_the_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "_asked", lambda question, *arguments: None)
    monkeypatch.setattr(study, "_filesystem", lambda place: "ext4")
    every = STUDY.points(PROFILES["smoke"], Sweep())
    assert {STUDY.missing(point, tmp_path) for point in every} == {None}
    monkeypatch.setattr(study, "_filesystem", lambda place: "tmpfs")
    why = {point.levels["cache"]: STUDY.missing(point, tmp_path) for point in every}
    assert why == {"cold": study.NO_COLD, "warm": None}
    monkeypatch.setattr(study, "_filesystem", lambda place: "ext4")
    lacking = {"io_uring_missing": "no io_uring", "direct_missing": "no O_DIRECT"}
    monkeypatch.setattr(study, "_asked", lambda question, *arguments: lacking[question])
    assert {point.backend: STUDY.missing(point, tmp_path) for point in every if point.levels["cache"] == "warm"} == {
        **{"sync": None, "overlapped": "no io_uring", "mmap": None}
    }
    cold = {point.backend: STUDY.missing(point, tmp_path) for point in every if point.levels["direct"] == "yes"}
    assert cold == {"sync": "no O_DIRECT", "overlapped": "no io_uring"}
    monkeypatch.setattr(study, "_available", lambda: 0)
    assert "take a smaller profile" in str(STUDY.missing(next(p for p in every if p.backend == "mmap"), tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert STUDY.missing(every[0], tmp_path) == study.NO_NATIVE


def test_outcomes_keep_their_arrays() -> None:
    outcome = Outcome({"elapsed": array("q", [5])}, {"elapsed": {"execution_share": 1.0}}, facts={"checksum": "1"})
    assert STUDY.collect(a_point(), {"engine": outcome}, 1).samples["elapsed"].tolist() == [5]
