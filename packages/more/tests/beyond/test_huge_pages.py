"""Memory in huge pages: what smaps says of it, when it is refused, and what a killed maker leaves."""

import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Segment
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.studies.interface import Sweep
from ipclab.studies.payload.study import PayloadStudy
from ipclab.studies.profile import PROFILES
from ipclab_more.backends import huge_pages
from ipclab_more.backends.huge_pages import NotHugeError, huge_bytes
from tests.support.measured import FREE

SIZE = 3_000_000  # bytes, of two pages of 2 MiB
NAME = f"ipclab-test-{os.getpid()}-huge"
NAMES = ["shm-hugetlb", "shm-thp"]


@pytest.fixture(params=NAMES)
def kind(request: pytest.FixtureRequest) -> Iterator[type[Segment]]:
    found = find(request.param)
    if why := found.missing():
        pytest.skip(why)
    assert found.segment
    try:
        probe = found.segment(NAME, SIZE, True)
    except NotHugeError as error:
        pytest.skip(str(error))  # memory is in too small pieces just now
    probe.unlink()
    probe.close()
    yield found.segment
    assert not (SHARED_MEMORY / NAME).exists()


def pages(kind: type[Segment]) -> int:
    """Return the bytes of the whole pages that hold `SIZE` bytes."""
    page: int = kind.page()  # type: ignore[attr-defined]
    return -(-SIZE // page) * page


def test_both_ends_tell_that_every_byte_is_in_a_huge_page(kind: type[Segment]) -> None:
    made, seen = kind(NAME, SIZE, True), kind(NAME, SIZE, False)
    assert made.facts == seen.facts == {"huge_bytes": pages(kind)}
    for end in (seen, made):
        end.close()
    made.unlink()


def test_what_is_not_huge_is_refused(
    kind: type[Segment], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    smaps = tmp_path / "smaps"
    smaps.write_text("nothing is huge\n")
    monkeypatch.setattr(huge_pages, "SMAPS", smaps)
    with pytest.raises(NotHugeError, match=f"0 of {pages(kind)} bytes are in huge pages"):
        kind(NAME, SIZE, True)


def test_small_pages_are_not_counted() -> None:
    plain = mmap.mmap(-1, SIZE)
    plain.write(b"touched")
    assert huge_bytes(huge_pages._address(plain)) == 0


def test_what_the_kernel_does_not_do_is_told_with_what_makes_it_do_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "meminfo"
    monkeypatch.setattr(huge_pages, "MEMINFO", told)
    told.write_text("HugePages_Total:      64\nHugePages_Free:        0\n")
    said = "no huge page is free; sysctl vm.nr_hugepages=64 reserves some"
    assert find("shm-hugetlb").missing() == said
    told.write_text("HugePages_Total:      64\nHugePages_Free:       64\n")
    assert find("shm-hugetlb").missing() is None
    monkeypatch.setattr(huge_pages, "MADE", tmp_path / "none")
    why = huge_pages.none_made.__wrapped__()
    assert why == "the kernel has no transparent huge pages; boot one that has"


def test_a_kernel_that_refuses_to_collapse_is_told_how_to_allow_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not huge_pages.MADE.exists():
        pytest.skip("no transparent huge pages")
    monkeypatch.setattr(huge_pages, "COLLAPSE", 9_999)
    why = str(huge_pages.none_made.__wrapped__())
    assert why.endswith(f"echo advise > {huge_pages.MADE}/shmem_enabled")


def test_a_killed_maker_leaves_its_name_alone_and_no_reader_finds_its_memory(
    kind: type[Segment],
) -> None:
    making = (
        "import signal\n"
        f"from {kind.__module__} import {kind.__name__}\n"
        f"{kind.__name__}({NAME!r}, {SIZE}, True)\n"
        "print('made', flush=True)\n"
        "signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", making], stdout=subprocess.PIPE) as maker:
        assert maker.stdout
        assert maker.stdout.readline() == b"made\n"
        maker.kill()
    left = SHARED_MEMORY / NAME
    assert left.stat().st_mode & 0o777 == 0o600
    if kind is huge_pages.ReservedSegment:
        with pytest.raises(FileNotFoundError):
            kind(NAME, SIZE, False)
    left.unlink()  # as the ledger does, by its name


@pytest.mark.parametrize("name", NAMES)
def test_a_handover_tells_how_much_was_huge(name: str, launcher: Launcher) -> None:
    found = find(name)
    if why := found.missing():
        pytest.skip(why)
    assert found.segment
    study, smoke = PayloadStudy(), PROFILES["smoke"]
    (point, *_) = study.points(smoke, Sweep((SIZE,), (name,)))
    outcomes = launcher.launch(study.roles(point, smoke, FREE, 7), 60)
    launch = study.collect(point, outcomes, 7)
    assert launch.facts["huge_bytes"] == pages(found.segment)
    assert launch.facts["compared"]
    assert len(launch.samples["handover"]) > 0
