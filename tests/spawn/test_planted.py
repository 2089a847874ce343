"""Another user of the machine: every shared name is tried, with planted links and squatted."""

import gc
import os
import re
import secrets
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import posix_ipc
import pytest

from ipclab.backends.installed import backends
from ipclab.backends.interface import Place
from ipclab.errors import LabError
from ipclab.report.notebooks.execute import Kernel
from ipclab.spawn import names, scratch
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.ledger import NAME_KINDS, SHARED_MEMORY, close_session, open_session
from ipclab.spawn.mpi import mpiexec
from ipclab.spawn.rank_bench import RankBench
from ipclab.spawn.worker import Worker
from ipclab.store.files import part_of, write_whole
from ipclab.studies import limits
from ipclab.studies.payload import handover, published
from ipclab.studies.round_trip import published as bridge
from ipclab.studies.shared_dict.published import STORES
from tests.support.commands import ROOT

STRANGER, SIZE, PRECIOUS = 65534, 100, b"precious"
SOURCES = (ROOT / "ipclab", ROOT / "packages/more/ipclab_more", ROOT / "docs/peers")
# What makes a name in shared memory, or of a queue or a semaphore: all users share these
MAKES = re.compile(
    r"(SharedMemory|MessageQueue|Semaphore|(shm|sem|mq)_open|(shm|sem|msg)get)\(|names\.make"
)
# How many names a case makes that are the same each time, so that none is tried at no name at all
MADE = {"payload": 1, "handover": 3, "published-store": 1, "posix-shm": 6, "posix-shm store": 1}
MADE |= dict.fromkeys(("shared-memory store", "limit", "shm-spin", "iceoryx2"), 1)
# What says in its own words that a name is taken
LIBRARIES = {"iceoryx2", "bridge"}
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
Made = Callable[[Worker], Any]


def test_what_makes_a_name_that_all_users_share_is_tried() -> None:
    """Whatever else does is added here, and to the cases below."""
    files = [file for top in SOURCES for file in top.rglob("*") if "target" not in file.parts]
    sources = [file for file in files if file.suffix in (".py", ".rs", ".go", ".c")]
    assert {file.name for file in sources if MAKES.search(file.read_text("utf-8"))} == {
        *("message_queues.py", "posix_shm.py", "shm_mmap.py", "mp.py", "iceoryx.py"),
        *("published.py", "scratch.py"),
        "owned.py",  # which removes a queue
        "queue.rs",  # 128 bits of chance, made exclusively and gone at once
    }


def by_stranger(act: Callable[[], object]) -> bool:
    """Have another user do `act`; tell whether it was let."""
    gc.disable()  # what libraries of other tests hold may not be freed in a child (nng panics)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(STRANGER)
            os.setuid(STRANGER)
            act()
            code = 0
        finally:
            os._exit(code)
    gc.enable()
    return os.waitpid(child, 0)[1] == 0


@pytest.fixture
def world() -> Iterator[Path]:
    """A folder that all may write to, as /dev/shm is without its sticky bit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    file = tmp_path / "precious"
    file.write_bytes(PRECIOUS)
    file.chmod(0o600)
    return file


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worker:
    made = Worker(
        socket.socketpair()[0], "server", f"ipclab-{secrets.token_hex(4)}-1", str(tmp_path)
    )
    monkeypatch.setattr(made, "meet", lambda **_: {})
    return made


def plants(path: Path, precious: Path) -> Iterator[Callable[[], object]]:
    """Yield what a stranger may put at `path`: links to something and to nothing, and a file."""
    yield lambda: path.symlink_to(precious)
    yield lambda: path.symlink_to(precious.with_name("nowhere"))

    def squat() -> None:
        path.write_bytes(b"theirs")
        path.chmod(0o666)

    yield squat


def place_of(worker: Worker) -> Place:
    return Place(worker.prefix, worker.folder, SIZE)


def end(kind: Any) -> Made:
    return lambda worker: closing(kind(place_of(worker), True))


def segment(kind: Any) -> Made:
    @contextmanager
    def made(worker: Worker) -> Iterator[None]:
        region = kind(worker.name("segment"), SIZE, True)
        region.close()
        try:
            yield
        finally:
            region.unlink()

    return made


@contextmanager
def limit(worker: Worker) -> Iterator[None]:
    pytest.importorskip("ipclab_native", reason="the native package is not built (no cargo)")
    task = limits.time_limit(worker, "map-kept", SIZE, [-1, -1], 1_000)
    next(task)
    yield
    task.close()


def cases() -> dict[str, Made]:
    """Return, by name, what makes something in a place that all users share."""
    found: dict[str, Made] = {
        "payload": lambda worker: published.room(worker, 0),
        "handover": lambda worker: handover._opened(worker, "shm-mmap", SIZE, True),
        "published-store": end(STORES["shared-memory"]),
        "bridge": lambda worker: bridge._bridge(worker, SIZE),
        "limit": limit,
    }
    for name, backend in backends().items():
        if backend.missing() or backend.ranks or name.startswith("mpi"):
            continue
        if backend.segment:
            found[f"{name} segment"] = segment(backend.segment)
        if backend.channel:
            found[name] = end(backend.channel)
        if backend.store:
            found[f"{name} store"] = end(backend.store)
    return found


CASES = cases()


def names_of(worker: Worker) -> set[str]:
    starts = tuple(f"{kind}{worker.prefix}" for kind in NAME_KINDS)
    return {path.name for path in SHARED_MEMORY.iterdir() if path.name.startswith(starts)}


def made_names(case: str, worker: Worker) -> set[str]:
    with CASES[case](worker):
        return names_of(worker)


def written(path: Path) -> tuple[int, ...]:
    """Return what changes when something is written to `path`, or to its folder: not by reading."""
    status = path.lstat()
    return status.st_ino, status.st_mode, status.st_uid, status.st_size, status.st_ctime_ns


@as_root
@pytest.mark.parametrize("case", CASES)
def test_nothing_is_written_through_what_a_stranger_has_put_there(
    case: str, worker: Worker, precious: Path
) -> None:
    """As by one who could foresee a name, which nobody can: the error is one line, and the names
    that were made before it are gone.
    """
    if case == "bridge" and (why := bridge.program_missing(bridge.PACKAGE)):
        pytest.skip(why)
    again = made_names(case, worker) & made_names(case, worker)
    least = 1 if case.endswith(" segment") else MADE.get(case, 0)
    assert len(again) >= least
    assert names_of(worker) == set()
    for path in (SHARED_MEMORY / name for name in sorted(again)):
        for plant in plants(path, precious):
            assert by_stranger(plant)
            before = written(path)
            try:
                with pytest.raises(Exception) as told, CASES[case](worker):
                    pass
                assert written(path) == before
                assert path.is_symlink() or path.read_bytes() == b"theirs"
            finally:
                path.unlink()
            assert precious.read_bytes() == PRECIOUS
            assert not precious.with_name("nowhere").exists()
            assert names_of(worker) == set()
            if case not in LIBRARIES:
                line = str(told.value)
                assert "is there already: another process or user made it; remove it" in line
                assert "\n" not in line


@as_root
@pytest.mark.parametrize("case", ["shm-mmap", "posix-shm", "mp-shm"])
def test_a_segment_of_another_user_is_not_opened(case: str, worker: Worker, precious: Path) -> None:
    kind: Any = backends()[case].segment
    path = SHARED_MEMORY / worker.name("segment")
    for plant in plants(path, precious):
        assert by_stranger(plant)
        try:
            with pytest.raises((LabError, OSError)):
                kind(path.name, 1, False)
        finally:
            path.unlink()


@as_root
@pytest.mark.parametrize("create", [True, False])
def test_a_queue_of_another_user_is_neither_made_nor_opened(create: bool, worker: Worker) -> None:
    place, kind = place_of(worker), backends()["posix-mq"].channel
    assert kind
    ours, theirs = (f"/{place.name(tag)}" for tag in ("request", "answer"))
    squat = partial(posix_ipc.MessageQueue, theirs, posix_ipc.O_CREX, mode=0o666)
    assert by_stranger(squat)
    if not create:
        posix_ipc.MessageQueue(ours, posix_ipc.O_CREX).close()
    try:
        with pytest.raises(LabError, match=r"is there already: .*; remove it"):
            kind(place, create)
    finally:
        posix_ipc.unlink_message_queue(theirs)
        if not create:
            posix_ipc.unlink_message_queue(ours)


@as_root
@pytest.mark.parametrize("create", [True, False])
def test_a_system_v_queue_of_another_user_is_neither_made_nor_opened(
    create: bool, worker: Worker
) -> None:
    sysv_ipc = pytest.importorskip("sysv_ipc", reason="the package sysv-ipc is not installed")
    place, kind = place_of(worker), backends()["sysv-mq"].channel
    assert kind
    key = place.key("request" if create else "answer")
    assert by_stranger(lambda: sysv_ipc.MessageQueue(key, sysv_ipc.IPC_CREX, mode=0o666))
    try:
        with pytest.raises(LabError, match=r"is there already: .*; remove it"):
            kind(place, create)
    finally:
        sysv_ipc.MessageQueue(key).remove()


@as_root
def test_nobody_else_comes_into_a_sessions_folder(tmp_path: Path, precious: Path) -> None:
    """Where its sockets, pipes and databases lie, and the key of its shared names."""
    session = open_session(tmp_path / "ledger")
    folder = Path(session.folder)
    try:
        names.shared(session.prefix(1), session.folder, "")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / names.KEY).stat().st_mode) == 0o600
        assert not by_stranger(lambda: list(folder.iterdir()))
        assert not by_stranger(lambda: (folder / "1-socket").symlink_to(precious))
        assert not by_stranger((folder / names.KEY).read_bytes)
    finally:
        close_session(tmp_path / "ledger", session)


def test_a_kernels_connection_file_and_sockets_lie_in_a_sessions_folder() -> None:
    with Kernel() as kernel:
        manager = kernel._managed()
        assert kernel.session
        folder = Path(kernel.session.folder)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert manager.transport == "ipc"
        for path in (manager.ip, manager.connection_file):
            assert Path(path).parent == folder
    assert not folder.exists()


@as_root
def test_a_session_does_not_take_a_folder_that_a_stranger_has_made(
    tmp_path: Path, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(world))
    monkeypatch.setattr(secrets, "token_hex", lambda size=4: "00" * size)
    folder = world / f"ipclab-{os.getpid()}-00000000"
    for plant in (folder.mkdir, lambda: folder.symlink_to(tmp_path)):
        assert by_stranger(plant)
        with pytest.raises(LabError, match="cannot write in"):
            open_session(tmp_path / "ledger")
        assert list((tmp_path / "ledger").iterdir()) == []
        folder.unlink() if folder.is_symlink() else folder.rmdir()


@as_root
def test_files_are_not_made_in_a_strangers_folder(world: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o777)
    path = scratch.path_of(world, "tag")
    for plant in (path.mkdir, lambda: path.symlink_to(target)):
        assert by_stranger(plant)
        with (
            pytest.raises(LabError, match=r"cannot make files in .*: another process or user"),
            scratch.held_subfolder(world, "tag", lambda path: None),
        ):
            pass
        assert list(target.iterdir()) == []
        path.unlink() if path.is_symlink() else path.rmdir()


@as_root
def test_what_is_written_whole_goes_through_no_link(world: Path, precious: Path) -> None:
    file = world / "report.html"
    for plant in plants(part_of(file), precious):
        assert by_stranger(plant)
        write_whole(file, b"ours")
        assert (file.read_bytes(), file.stat().st_uid) == (b"ours", os.getuid())
        assert precious.read_bytes() == PRECIOUS
        assert not precious.with_name("nowhere").exists()
        assert list(world.iterdir()) == [file]


@as_root
@pytest.mark.skipif(not mpiexec(), reason="there is no mpiexec")
def test_ranks_do_not_take_memory_that_a_stranger_has_made(
    tmp_path: Path, precious: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with Launcher(tmp_path / "ledger") as launcher, RankBench(launcher, 2) as bench:
        for plant in range(3):
            prefix = launcher.session.prefix(launcher.started + 1)
            path = SHARED_MEMORY / names.shared(prefix, launcher.session.folder, "mpi")
            assert by_stranger(list(plants(path, precious))[plant])
            try:
                with pytest.raises(LabError, match="is there already"):
                    bench._begin()
                assert path.lstat().st_uid == STRANGER
            finally:
                path.unlink()
    assert precious.read_bytes() == PRECIOUS


def test_no_name_tells_of_another(tmp_path: Path) -> None:
    """Each has 128 bits from a key, of which the session's id and other names say nothing."""
    keys = [str(tmp_path / name) for name in ("one", "other")]
    for folder in keys:
        Path(folder).mkdir(mode=0o700)
    asked = [*product(("ipclab-1-aa-1", "ipclab-1-aa-2"), keys, ("", "payload", "full"))]
    made = [names.shared(*each) for each in asked]
    told = [name.removeprefix(f"{prefix}-") for name, (prefix, *_) in zip(made, asked, strict=True)]
    assert len(set(told)) == len(told)
    assert {len(part) for part in told} == {22}  # 128 bits, 6 in each character
    # the same for every process of the launch, which reads the same key
    names._key.cache_clear()
    assert names.shared(*asked[0]) == made[0]


def test_names_need_a_folder_for_their_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="needs a folder"):
        names.shared("ipclab-1-aa-1", "", "")
    assert not [*tmp_path.iterdir()]


def test_a_queue_of_pythons_own_has_new_names_each_time(worker: Worker) -> None:
    from ipclab.backends.mp import _Unforeseen

    given = [str(_Unforeseen(worker.prefix)) for _ in range(2)]
    assert given[0] != given[1]
    assert all(name.startswith(f"/{worker.prefix}-") for name in given)
