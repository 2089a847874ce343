"""Ready is what a message came through; a refused system call costs the mechanism that needs it."""

import errno
import os
import resource
from pathlib import Path

import posix_ipc
import pytest

from ipclab.backends import message_queues
from ipclab.backends.installed import backend
from ipclab.spawn import started
from ipclab.studies import probe
from ipclab.studies.probe import refusals
from tests.support.commands import names_of


def refuse(*_: object, **__: object) -> int:
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


@pytest.mark.slow
def test_a_message_comes_through_each_kind_or_it_is_told_why_not_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = probe._target  # of what has no memory to share: `share`
    monkeypatch.setattr(probe, "_target", lambda of: "share" if of.name == "pipe" else target(of))
    kinds = ["unix", "lmdb", "shm-mmap", "mpi-bcast"]  # a channel, a store, a segment, ranks
    told = dict(refusals(tmp_path, [*kinds, "pipe"]))
    assert "pipe hands nothing over" in str(told.pop("pipe"))
    assert told == {name: backend(name).missing() for name in kinds}
    assert list(tmp_path.iterdir()) == [] and names_of(f"ipclab-{os.getpid()}-") == []


def test_a_refused_call_costs_the_mechanism_that_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "memfd_create", refuse)
    for name in ("memfd", "shm-eventfd"):
        assert str(backend(name).missing()).startswith("memfd_create is refused (Function not")
    monkeypatch.undo()
    monkeypatch.setattr(os, "eventfd", refuse)
    assert backend("memfd").missing() is None
    assert "seccomp" in str(backend("shm-eventfd").missing())
    monkeypatch.setattr(posix_ipc, "MessageQueue", refuse)
    assert str(backend("posix-mq").missing()).startswith("mq_open is refused")
    monkeypatch.setattr(message_queues.sysv_ipc, "MessageQueue", refuse)
    assert str(backend("sysv-mq").missing()).startswith("msgget is refused")
    assert backend("pipe").missing() is None


def test_a_limit_of_queues_is_named_with_what_raises_it() -> None:
    before = resource.getrlimit(resource.RLIMIT_MSGQUEUE)
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, before[1]))
    try:
        why = str(backend("posix-mq").missing())
    finally:
        resource.setrlimit(resource.RLIMIT_MSGQUEUE, before)
    assert "RLIMIT_MSGQUEUE gives this user's queues 0 bytes" in why and "ulimit -q" in why


def test_workers_have_a_page_without_sealed_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "memfd_create", refuse)
    page = started.page()
    try:
        os.write(page, b"last words")
        assert os.pread(page, 100, 0) == b"last words"
        assert os.fstat(page).st_nlink == 0
    finally:
        os.close(page)


def test_where_no_process_can_be_started_each_mechanism_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "pidfd_open", refuse)
    ((_, why),) = refusals(tmp_path, ["pipe"])
    assert why and "pidfd_open is refused" in why
    assert list(tmp_path.iterdir()) == []
