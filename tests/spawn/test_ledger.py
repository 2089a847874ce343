"""The ledger removes what a dead session made, and nothing else."""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from ipclab.errors import LabError
from ipclab.spawn import ledger
from ipclab.spawn.ledger import (
    LONGEST_FOLDER,
    OPENING_SECONDS,
    Session,
    close_dead_sessions,
    close_session,
    is_alive,
    open_session,
    read_session,
    remove_names,
)

NOBODY = 65534


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of /dev/shm."""
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setattr(ledger, "SHARED_MEMORY", folder)
    return folder


@pytest.fixture
def dead(tmp_path: Path) -> Session:
    """A session whose ledger file nobody holds, though some process has the number that its owner
    had.
    """
    name = "ipclab-1-0badcafe"
    session = Session(name, str(tmp_path / name))
    write(tmp_path / "ledger", session)
    Path(session.folder).mkdir()
    return session


def write(folder: Path, session: Session) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / f"{session.id}.json"
    file.write_bytes(msgspec.json.encode(session) + b"\n")
    return file


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(b"x")


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_session_is_written_down_privately_and_closed_without_a_trace(tmp_path: Path) -> None:
    session = open_session(tmp_path / "ledger")
    file = tmp_path / "ledger" / f"{session.id}.json"
    assert read_session(file) == session
    assert session.id.startswith(f"ipclab-{os.getpid()}-")
    assert (mode(file), mode(file.parent), mode(Path(session.folder))) == (0o600, 0o700, 0o700)
    assert is_alive(file)
    assert close_session(tmp_path / "ledger", session) == [session.folder]
    assert not file.exists()
    assert not Path(session.folder).exists()
    assert close_session(tmp_path / "ledger", session) == []


def test_an_unwritable_ledger_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    told = r"cannot write in .*; make the folder writable or set IPCLAB_DATA"
    with pytest.raises(LabError, match=told):
        open_session(tmp_path / "file" / "ledger")


def test_a_folder_too_deep_for_sockets_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 90)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    session = open_session(tmp_path)
    assert len(session.folder) <= LONGEST_FOLDER
    assert Path(session.folder).stat().st_mode & 0o777 == 0o700
    close_session(tmp_path, session)
    assert not Path(session.folder).exists()


def test_only_names_of_the_session_or_the_launch_are_removed(shared: Path) -> None:
    session = Session("ipclab-7-8-aa", "")
    first = ["ipclab-7-8-aa-1-segment", "sem.ipclab-7-8-aa-1-full"]
    others = ["ipclab-7-8-aa-11-x", "ipclab-7-8-aa-2-segment"]
    foreign = {"ipclab-7-8-aab-1-x", "ipclab-7-8-a", "ipclab-77-8-aa-1-x", "xipclab-7-8-aa-1-x"}
    foreign |= {"psm_1", "ipclab-7-8-aa"}
    fill(shared, *first, *others, *foreign)
    assert remove_names(session.prefix(1)) == first
    assert names(shared) == {*others, *foreign}
    assert remove_names(session.id) == others
    assert names(shared) == foreign


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another owner")
def test_a_name_like_ours_of_another_owner_survives(
    shared: Path, dead: Session, tmp_path: Path
) -> None:
    fill(shared, f"{dead.id}-1-theirs", f"{dead.id}-1-ours")
    os.chown(shared / f"{dead.id}-1-theirs", NOBODY, NOBODY)
    close_dead_sessions(tmp_path / "ledger")
    assert names(shared) == {f"{dead.id}-1-theirs"}


def test_clean_closes_dead_sessions_only(shared: Path, dead: Session, tmp_path: Path) -> None:
    """Whoever holds the ledger file lives, whatever the numbers of processes say, as in another PID
    namespace.
    """
    living, other = replace(dead, id="ipclab-1-3-aa"), replace(dead, id="ipclab-1-4-aa")
    fill(shared, f"{dead.id}-1-segment", f"sem.{dead.id}-4-full", f"{other.id}-1-x")
    decoys = {"ipclab-1-2-deadbeef-x", f"{living.id}-1-segment", "ipclab-1-3-bb-1-segment"}
    fill(shared, *decoys)
    write(tmp_path / "ledger", other)
    of_dead = [f"{dead.id}-1-segment", f"sem.{dead.id}-4-full", dead.folder]
    with (held := write(tmp_path / "ledger", living)).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert is_alive(held)
        assert close_dead_sessions(tmp_path / "ledger") == [*of_dead, f"{other.id}-1-x"]
        assert names(shared) == decoys
        assert names(tmp_path / "ledger") == {held.name}
        assert close_dead_sessions(tmp_path / "ledger") == []


def test_a_ledger_file_is_believed_about_its_own_session_only(
    shared: Path, dead: Session, tmp_path: Path
) -> None:
    file = tmp_path / "ledger" / f"{dead.id}.json"
    file.rename(tmp_path / "ledger" / "ipclab-5-5-ff.json")
    fill(shared, "ipclab-5-5-ff-1-x", f"{dead.id}-1-x")
    assert close_dead_sessions(tmp_path / "ledger") == []
    assert names(shared) == {"ipclab-5-5-ff-1-x", f"{dead.id}-1-x"}
    assert Path(dead.folder).is_dir()


def test_no_folder_but_the_sessions_own_is_removed(
    shared: Path, dead: Session, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    write(tmp_path / "ledger", replace(dead, folder=str(precious)))
    assert close_dead_sessions(tmp_path / "ledger") == []
    assert precious.is_dir()


def test_a_folder_that_became_a_link_is_not_followed(
    shared: Path, dead: Session, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    Path(dead.folder).rmdir()
    Path(dead.folder).symlink_to(precious)
    close_dead_sessions(tmp_path / "ledger")
    assert precious.is_dir()


def test_a_half_written_ledger_file_goes_when_nobody_holds_it(shared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    folder.mkdir()
    young, old, held = (f"ipclab-1-1-{end}.json" for end in ("aa", "bb", "cc"))
    odd = "ipclab-odd.json"
    for name in (young, old, odd, held):
        (folder / name).write_text('{"id": ')
        if name != young:
            os.utime(folder / name, (0, time.time() - OPENING_SECONDS - 1))
    with (folder / held).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert close_dead_sessions(folder) == []
    assert names(folder) == {young, held}


@pytest.mark.parametrize("field", Session.__struct_fields__)
def test_a_ledger_file_of_wrong_types_is_left_alone(
    field: str, shared: Path, dead: Session, tmp_path: Path
) -> None:
    fill(shared, f"{dead.id}-1-x")
    wrong: tuple[object, ...] = (None, 7, [])
    for value in wrong:
        about = {**msgspec.to_builtins(dead), field: value}
        (tmp_path / "ledger" / f"{dead.id}.json").write_bytes(msgspec.json.encode(about))
        assert close_dead_sessions(tmp_path / "ledger") == []


def test_what_is_no_ledger_file_at_all_is_left_alone(shared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    (folder / "ipclab-1-1-dd.json").mkdir(parents=True)
    (folder / "ipclab-1-1-ee.json").symlink_to("nowhere")
    (folder / "ipclab-1-1-ff.json").write_bytes(b"[" * 100_000)
    assert close_dead_sessions(folder) == []
    assert len(names(folder)) == 3


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_an_unreadable_ledger_file_is_left_alone(
    shared: Path, dead: Session, tmp_path: Path
) -> None:
    (tmp_path / "ledger" / f"{dead.id}.json").chmod(0)
    assert close_dead_sessions(tmp_path / "ledger") == []


def test_a_name_that_vanishes_meanwhile_is_no_error(
    shared: Path, dead: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(shared, f"{dead.id}-1-a", f"{dead.id}-1-b")
    scan = os.scandir

    def scan_then_lose(folder: Path) -> Iterator["os.DirEntry[str]"]:
        entries = list(scan(folder))
        (shared / f"{dead.id}-1-a").unlink()
        return iter(entries)

    monkeypatch.setattr(os, "scandir", scan_then_lose)
    assert remove_names(dead.id) == [f"{dead.id}-1-b"]
