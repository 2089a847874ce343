"""Every shared-memory backend keeps the same promises."""

import os
from collections.abc import Iterator

import pytest

from ipclab.backends.installed import backend, backends
from ipclab.backends.interface import Segment
from ipclab.spawn.ledger import SHARED_MEMORY
from tests.support.commands import names_of

PAGE = os.sysconf("SC_PAGE_SIZE")
SEGMENTS = sorted(
    name for name, found in backends().items() if found.segment and not found.missing()
)


@pytest.fixture(params=SEGMENTS)
def kind(request: pytest.FixtureRequest) -> type[Segment]:
    found = backend(request.param).segment
    assert found is not None
    return found


@pytest.fixture
def name() -> Iterator[str]:
    chosen = f"ipclab-test-{os.getpid()}-{os.urandom(4).hex()}"
    yield chosen
    assert names_of(chosen) == []


@pytest.mark.parametrize("size", [1, PAGE + 1])
def test_a_segment_is_private_shared_and_gone(kind: type[Segment], name: str, size: int) -> None:
    made = kind(name, size, True)
    try:
        assert (SHARED_MEMORY / name).stat().st_mode & 0o777 == 0o600
        assert len(made.buffer) == size
        seen = kind(name, size, False)
        made.buffer[:] = content = os.urandom(size)
        assert bytes(seen.buffer) == content
        seen.buffer[size - 1] ^= 255
        assert made.buffer[size - 1] == content[-1] ^ 255
        with pytest.raises(FileExistsError):
            kind(name, size, True)
        assert (SHARED_MEMORY / name).exists()
        seen.close()
        seen.close()
    finally:
        made.close()
        made.close()
        made.unlink()
        made.unlink()
    with pytest.raises(FileNotFoundError):
        kind(name, size, False)


def test_a_segment_that_finds_no_room_leaves_no_name(kind: type[Segment], name: str) -> None:
    with pytest.raises(OSError):
        kind(name, 1 << 46, True)
