"""The shared-dictionary study: its points, its scenarios on real ranks, its proof."""

import re
import struct
from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ipclab.backends.codecs import encoded_bytes
from ipclab.backends.interface import Place
from ipclab.backends.lmdb_store import LmdbStore
from ipclab.errors import LabError
from ipclab.frames.points import point_rows
from ipclab.spawn import mpi
from ipclab.spawn.failures import LaunchError
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.names import KEY
from ipclab.spawn.proof import PayloadError
from ipclab.spawn.rank_bench import RankBench
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Outcome
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.samples import Measured
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES, Profile
from ipclab.studies.shared_dict.published import STORES
from ipclab.studies.shared_dict.study import WRITES, SharedDictStudy, staleness
from tests.spawn.test_ranks import MISSING
from tests.support.commands import files_of, names_of, processes_of, servers_of
from tests.support.measured import CPUS, FREE

STUDY = SharedDictStudy()
QUICK, SMOKE = PROFILES["quick"], PROFILES["smoke"]
SHARED = {"lmdb", "mpi-window", "posix-shm", "shared-memory"}
LEVELS = {"arm", "codec", "entries", "readers", "sync", "map", "nodes"}


def points(profile: Profile = QUICK, *names: str) -> list[Point]:
    return STUDY.points(profile, Sweep(None, names or None))


@pytest.mark.parametrize(("size", "entries"), [(136, 1), (137, 2), (55_039, 1000)])
def test_a_size_is_the_dictionary_that_fits_in_it(size: int, entries: int) -> None:
    found = STUDY.points(SMOKE, Sweep((size,)))
    assert {point.levels["entries"] for point in found} == {entries}
    pickled = {point.size_bytes for point in found if point.levels["codec"] == "pickle"}
    assert pickled == {encoded_bytes("pickle", entries)}


def test_every_scenario_has_the_stores_that_it_can_have() -> None:
    found = points()
    assert len({point.id for point in found}) == len(found)
    assert all(set(point.levels) == LEVELS for point in found)
    stores: dict[str, set[str]] = {}
    for point in found:
        stores.setdefault(str(point.levels["arm"]), set()).add(point.backend)
    assert stores == {
        "published": {"lmdb", "shared-memory", "zmq-push"},
        "stream": SHARED | {"mpi-bcast", "zmq-pub", "zmq-push"},
        "live": SHARED,
        "read-many": SHARED | {"mpi-bcast", "zmq-pub"},
    }
    many = [point for point in points(QUICK, "lmdb") if point.levels["arm"] == "read-many"]
    levels = {name: {point.levels[name] for point in many} for name in ("codec", "sync", "map")}
    assert levels["codec"] == {"pickle", "msgpack", "json", "fixed"}
    assert (levels["sync"], levels["map"]) == ({"off", "on"}, {"writemap", "default"})


def test_without_mpi_a_point_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mpi, "mpiexec", lambda: None)
    why = STUDY.missing(points(SMOKE)[0], tmp_path)
    assert why and why.startswith("there is no mpiexec; install")


def test_all_launches_of_a_point_make_enough_writes() -> None:
    for profile in (each for each in PROFILES.values() if not each.as_texts):
        effort = STUDY.effort(profile)
        for point in points(profile, "lmdb"):
            writes = STUDY.roles(point, effort, FREE, 1)[0].arguments["writes"]
            turns = 1 if point.levels["arm"] == "published" else effort.turns
            launches = STUDY.of_point(point, effort, in_contest=False).least_launches
            assert writes * turns * launches >= 30


def test_a_third_backend_with_a_store_is_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    from ipclab.backends import installed as registry
    from ipclab.backends.interface import Backend

    other = Backend("other", store=registry.backend("posix-shm").store)
    monkeypatch.setattr(registry, "backends", lambda: {"other": other})
    assert Counter(point.levels["arm"] for point in points()) == {
        "read-many": 7,
        "stream": 4,
        "live": 2,
    }


@pytest.fixture(scope="module")
def bench(launcher: Launcher) -> Iterator[RankBench]:
    """Four ranks."""
    if MISSING:
        pytest.skip(MISSING)
    with RankBench(launcher, 4) as made:
        yield made


def launched(bench: RankBench, point: Point, target: str = "", **more: Any) -> Launch:
    roles = STUDY.roles(point, SMOKE, FREE, 3)
    if target:
        planted = f"tests.support.rank_targets:{target}"
        roles = [Role(role.name, planted, {**role.arguments, **more}, role.cpus) for role in roles]
    return STUDY.collect(point, launch_alone(bench, point, roles, 30), 3)


EACH = -(-WRITES // (SMOKE.least_launches * SMOKE.turns))  # writes of a turn at least
SCENARIOS = [
    point for point in points(SMOKE) if point.placement == "free" and point.levels["readers"] == 3
]


@pytest.mark.parametrize("point", SCENARIOS, ids=lambda point: point.id[:60])
def test_every_reader_makes_every_read_of_every_scenario(bench: RankBench, point: Point) -> None:
    launch = launched(bench, point)
    facts, samples, arm = launch.facts, launch.samples, point.levels["arm"]
    assert (facts["lost"], facts["torn"], facts["readers"], facts["fresh_ranks"]) == (0, 0, 3, 1)
    assert facts["reads"] == facts["reads_wanted"] == len(samples["read"])
    assert facts["reads_per_reader"] == [facts["reads_wanted"] / 3] * 3
    assert facts["ranks_per_cpu"] == 4 / len(CPUS)
    for op in ("read", "write"):
        whole = sum(samples[op])
        parts = [part for part in samples if part.startswith(f"{op}.")]
        assert len(parts) == 2
        assert sum(sum(samples[part]) for part in parts) == whole
    if arm == "published":
        messages = 300 if point.backend == "zmq-push" else 1
        assert facts["reads"] == 300
        # a program takes no turns
        assert len(samples["write"]) == max(messages, -(-WRITES // SMOKE.least_launches))
        assert samples["write-total"].tolist() == [sum(samples["write"][:messages])]
        assert len(samples["read-total"]) == 3
        assert sum(samples["read-total"]) == sum(samples["read"])
    if arm in ("published", "read-many"):
        assert samples["write-cold"].tolist() == [samples["write"][0]]
    if arm == "stream":
        assert len(samples["update"]) == len(samples["write"]) >= EACH
        assert facts["messages_per_second"] > 0  # type: ignore[operator]
    if arm == "live":
        assert len(samples["staleness"]) == facts["reads"]
        assert samples["staleness"].min() > 0
        assert facts["versions_behind_max"] >= facts["versions_behind_mean"] >= 0  # type: ignore[operator]


def test_the_published_stores_keep_the_published_layout(tmp_path: Path) -> None:
    """A header of size and version before the content, a segment of 100 MiB, one key; and none is
    left.
    """
    place = Place("ipclab-test-published-1", str(tmp_path), 64)
    lmdb, writer, reader = (
        STORES[name](place, end)
        for name, end in (("lmdb", True), ("shared-memory", True), ("shared-memory", False))
    )
    for content in (b"first", b"the second"):
        for writes, reads in ((lmdb, lmdb), (writer, reader)):
            writes.write(content, 0)
            assert reads.read(0, 0)[1] == content
    file = Path("/dev/shm", place.name("store"))
    assert (file.stat().st_size, file.stat().st_mode & 0o777) == (100 << 20, 0o600)
    assert file.read_bytes()[:18] == struct.pack("II", 10, 2) + b"the second"
    for store in (lmdb, reader, writer):
        store.close()
    left = [*tmp_path.iterdir(), *Path("/dev/shm").glob("ipclab-test-published*")]
    assert left == [tmp_path / KEY]


def test_a_map_that_is_too_small_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LmdbStore, "map_bytes", 1 << 16)
    why = "the LMDB map is full: 577,129 bytes do not fit into a map of 65,536; give it a larger"
    place = Place("ipclab-test-full-1", str(tmp_path), 100, writemap=True)
    with closing(LmdbStore(place, True)) as store, pytest.raises(LabError, match=why):
        store.write(bytes(577_129), 0)


@pytest.mark.slow
@pytest.mark.parametrize(("victim", "name"), [(0, "writer"), (2, "reader 2")])
def test_a_killed_rank_is_named_and_leaves_nothing(
    bench: RankBench, victim: int, name: str
) -> None:
    levels = {"arm": "stream", "entries": 100, "readers": 3}.items()
    point = next(each for each in points(QUICK, "posix-shm") if levels <= each.levels.items())
    with pytest.raises(
        LaunchError, match=re.escape(f"rank {victim} ({name}) was killed by SIGKILL")
    ):
        launched(bench, point, "killed", victim=victim)
    session = bench.launcher.session
    assert processes_of(session.id) == servers_of(bench.launcher)
    assert names_of(session.id) == files_of(session.folder) == []


def outcomes(reads: list[int], torn: int = 0) -> dict[str, Outcome]:
    facts = {"asked": 2, "writes": 3, "messages": 3, "ranks_per_cpu": 2.0, "fresh_ranks": 1}
    samples = {"write": array("q", [5, 6, 7]), "stamp": array("q", [100, 200, 300])}
    found = {"writer": Outcome(samples, {}, facts)}
    for number, made in enumerate(reads, start=1):
        kept = {"read": [4] * made, "version": [1, 2, 2][:made], "seen": [150, 310, 310][:made]}
        arrays = {op: array("q", values) for op, values in kept.items()}
        turns = {op: [len(values)] for op, values in kept.items()}
        counters = {"read": {"cpu_ns": float(number)}}
        found[f"reader {number}"] = Outcome(arrays, counters, {"reads": made, "torn": torn}, turns)
    return found


def test_lost_and_torn_reads_fail_the_launch() -> None:
    point = Point("shared_dict", "lmdb", 521, "free", {"arm": "live", "readers": 2})
    launch = STUDY.collect(point, outcomes([2, 2]), 1)
    assert launch.samples["read"].tolist() == [4] * 4
    assert launch.samples["staleness"].tolist() == [50, 110, 50, 110]
    assert launch.counters == {"read": {"cpu_ns": 1.5}}
    assert launch.facts["versions_behind_max"] == 1
    assert (launch.facts["reads"], launch.facts["reads_per_reader"]) == (4, [2, 2])
    with pytest.raises(
        PayloadError, match=re.escape("1 of 4 reads were lost: the readers made [2, 1]")
    ):
        STUDY.collect(point, outcomes([2, 1]), 1)
    with pytest.raises(PayloadError, match="2 of 4 reads were torn"):
        STUDY.collect(point, outcomes([2, 2], torn=1), 1)
    with pytest.raises(PayloadError, match="were lost"):
        STUDY.collect(point, outcomes([2]), 1)


def test_staleness_is_age_and_versions_behind() -> None:
    stamps = np.array([10, 20, 30], np.int64)
    ages, behind = staleness(stamps, np.array([1, 1, 3]), np.array([12, 31, 31]))
    assert ages.tolist() == [2, 21, 1]
    assert behind.tolist() == [0, 2, 0]


def test_more_ranks_than_cpus_are_flagged() -> None:
    point = Point("shared_dict", "lmdb", 521, "free", {"arm": "live"})

    def flags(ranks_per_cpu: float) -> set[str]:
        samples = {"read": np.array([5, 6], np.int64)}
        launches = [
            Launch(dict(samples), {}, facts={"ranks_per_cpu": ranks_per_cpu}) for _ in range(2)
        ]
        return {
            flag
            for row in point_rows(Measured(point, launches, "budget"))
            for flag in str(row["flags"]).split(";")
        }

    assert "oversubscribed" in flags(2.0)
    assert "oversubscribed" not in flags(1.0)


def test_ranks_that_share_cpus_have_few_launches_but_where_the_text_had_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    standard = STUDY.effort(PROFILES["standard"])
    for point in points(PROFILES["standard"], "lmdb"):
        crowded = int(point.levels["readers"]) > 3 and point.levels["arm"] != "published"
        assert STUDY.of_point(point, standard, in_contest=False).least_launches == (
            3 if crowded else standard.least_values
        )
