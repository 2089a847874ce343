"""What a mechanism must offer so that a study can sweep it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self


class Segment(Protocol):
    """A named region of memory that two processes share."""

    buffer: memoryview

    @classmethod
    def create(cls, name: str, size: int) -> Self:
        """Make a new region of `size` bytes, readable and writable by its owner only.

        Raises `FileExistsError` when the name is taken and `OSError` when there is no room.
        """
        ...

    @classmethod
    def attach(cls, name: str, size: int) -> Self:
        """Map the existing region `name`; raises `FileNotFoundError` when there is none."""
        ...

    def close(self) -> None:
        """Unmap; closing twice does nothing."""
        ...

    def unlink(self) -> None:
        """Remove the name; removing twice does nothing."""
        ...


def always_there() -> str | None:
    """Say that nothing is missing: the mechanism needs only Linux and Python."""
    return None


@dataclass(frozen=True)
class Backend:
    """One mechanism: its `name`, what it can do, and why it cannot be measured here (None when it can)."""

    name: str
    segment: type[Segment] | None = None
    missing: Callable[[], str | None] = always_there
