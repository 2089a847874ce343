"""What every registered backend with a store must do, on real ranks: add a backend, and it is
tested here.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ipclab.backends.codecs import CODECS, encoded_bytes, published_dictionary, rotations
from ipclab.backends.installed import backends
from ipclab.backends.interface import Backend, Place
from ipclab.backends.seqlock import LENGTH, SEQUENCE, START, SeqlockStore
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.proof import digest
from ipclab.spawn.rank_bench import RankBench
from ipclab.spawn.worker import Outcome
from tests.project.test_documents import blocks
from tests.spawn.test_ranks import MISSING, another, roles
from tests.support.commands import ROOT
from tests.support.payloads import payload
from tests.support.rank_targets import SIZES

STORES = [backend for backend in backends().values() if backend.store]
PUBLISHED_BYTES = {10: 521, 100: 5_105, 1000: 55_039, 10_000: 577_129}  # methods: text 001, slip 3


@pytest.fixture(scope="module")
def bench(launcher: Launcher) -> Iterator[RankBench]:
    """Three ranks for all stores."""
    if MISSING:
        pytest.skip(MISSING)
    with RankBench(launcher, 3) as made:
        yield made


@pytest.mark.parametrize("backend", STORES, ids=lambda backend: backend.name)
def test_contents_of_every_size_reach_every_reader_once_and_nothing_is_left(
    bench: RankBench, backend: Backend
) -> None:
    if why := backend.missing():
        pytest.skip(why)
    # which the launch's deadline alone ends
    late = not (backend.store and backend.store.collective)
    ranks = roles("use_store", backend=backend.name, late=late)
    check_conformance(launch_alone(bench, another(100 + STORES.index(backend)), ranks, 60), late)


def check_conformance(outcomes: dict[str, Outcome], late: bool) -> None:
    writer, *readers = (outcome.facts for outcome in outcomes.values())
    expected = [
        [version, digest(payload(1, version - 1, size)), version, True]
        for version, size in enumerate(SIZES, start=1)
    ]
    for reader in readers:
        assert reader["seen"] == expected
        assert reader.get("late") == ("TimeoutError" if late else None)
    assert [each["left"] for each in (writer, *readers)] == [[], [], []]
    assert set(writer["modes"]) <= {"0o0"}


def test_a_message_without_a_reader_is_given_up_at_its_deadline(tmp_path: Path) -> None:
    kind = backends()["zmq-push"].store
    assert kind
    place = Place("ipclab-test", str(tmp_path), 64)
    with (
        closing(kind(place, True)) as store,
        pytest.raises(TimeoutError, match="there was no reader in time"),
    ):
        store.write(b"message", 20_000_000)


def behind(memory: memoryview) -> SeqlockStore:
    store = SeqlockStore(Place("ipclab-test", "", 64), True)
    store.use(memory)
    return store


def test_nothing_half_written_is_read() -> None:
    memory = memoryview(bytearray(START + 64))
    writer, reader = behind(memory), behind(memory)
    with pytest.raises(TimeoutError):
        reader.read(0, 1)  # nothing yet
    writer.write(b"first")
    assert reader.read(0, 1) == (1, b"first")
    with pytest.raises(TimeoutError, match="no whole content above version 1"):
        reader.read(1, 1)
    writer.words[SEQUENCE] += 1  # a writer that was killed here
    memory[START : START + 3] = b"sec"
    with pytest.raises(TimeoutError, match="no whole content above version 0"):
        reader.read(0, 1)
    with pytest.raises(ValueError, match="65 bytes are above the capacity of 64"):
        writer.write(bytes(65))


def test_what_is_replaced_while_it_is_read_is_read_again() -> None:
    memory = memoryview(bytearray(START + 64))
    writer, reader = behind(memory), behind(memory)
    later = iter([b"second"])

    class Meanwhile:
        def __getitem__(self, place: slice) -> bytes:
            data = bytes(memory[place])
            for content in later:
                writer.write(content)
            return data

    writer.write(b"first")
    reader.buffer = Meanwhile()  # type: ignore[assignment]
    assert reader.read(0, 10**9) == (2, b"second")


def test_where_the_processor_reorders_a_checksum_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    memory = memoryview(bytearray(START + 64))
    writer, reader = behind(memory), behind(memory)
    writer.write(b"content")
    assert reader.read(0, 1) == (1, b"content")
    memory[START] ^= 1  # as if the sequence had overtaken the content
    with pytest.raises(TimeoutError):
        reader.read(0, 1)
    memory[START] ^= 1
    writer.words[LENGTH] = 3
    with pytest.raises(TimeoutError):
        reader.read(0, 1)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("entries", [1, 10, 2000])
def test_codecs_give_the_dictionary_back_and_its_size_is_known(codec: str, entries: int) -> None:
    chosen, seen = CODECS[codec], set()
    for rotation in range(rotations(entries)):
        content = published_dictionary(entries, rotation)
        data = chosen.encode(content)
        assert len(data) == encoded_bytes(codec, entries)
        assert chosen.restore(chosen.decode(data)) == content
        seen.add(data)
    assert len(seen) == rotations(entries) == {1: 1, 10: 10, 2000: 4}[entries]


def test_the_dictionary_is_the_published_one() -> None:
    assert published_dictionary(3)["key_2"] == {
        "value": 2,
        "squared": 4,
        "text": "test_value_2",
        "float": 2 / 3,
    }
    assert {
        entries: encoded_bytes("pickle", entries) for entries in PUBLISHED_BYTES
    } == PUBLISHED_BYTES


@pytest.mark.slow
def test_the_example_in_the_documents_conforms(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if MISSING:
        pytest.skip(MISSING)
    code = next(
        block for block in blocks(ROOT / "docs/backends.md", "python") if "class FileStore" in block
    )
    (tmp_path / "file_store.py").write_text(code)
    about = tmp_path / "file_store-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: file-store\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text("[ipclab.backends]\nfile-store = file_store:backend\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    with RankBench(launcher, 3) as ranks:
        check_conformance(
            launch_alone(
                ranks, another(200), roles("use_store", backend="file-store", late=True), 60
            ),
            True,
        )
