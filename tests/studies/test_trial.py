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
from ipclab.studies import trial
from ipclab.studies.trial import refusals
from tests.support.commands import names_of


def refuse(*_: object, **__: object) -> int:
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


def test_a_message_comes_through_each_kind_and_nothing_is_left(tmp_path: Path) -> None:
    kinds = ["unix", "lmdb", "shm-mmap"]  # a channel, a store, a segment
    assert dict(refusals(tmp_path, kinds)) == dict.fromkeys(kinds)
    assert list(tmp_path.iterdir()) == [] and names_of(f"ipclab-{os.getpid()}-") == []


@pytest.mark.slow
def test_ranks_are_tried_by_ranks(tmp_path: Path) -> None:
    names = ["mpi-p2p", "mpi-bcast", "mpi-window"]
    expected = {name: backend(name).missing() for name in names}
    assert dict(refusals(tmp_path, names)) == expected


def test_a_mechanism_that_hands_nothing_over_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "_target", lambda _: "share")  # of what has no memory to share
    ((name, why),) = refusals(tmp_path, ["pipe"])
    assert name == "pipe" and why and "pipe hands nothing over" in why


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
