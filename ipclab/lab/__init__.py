"""What a notebook holds: the lab, and the marks of its figures; loaded when first used, since drawing is slow."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipclab.lab.drawing import (
        bars,
        dots,
        drawable,
        facets,
        groups,
        limit,
        lines,
        name_ends,
        scale,
        sources,
        ticks_at,
    )
    from ipclab.lab.lab import Lab

__all__ = [
    "Lab", "bars", "dots", "drawable", "facets", "groups", "limit", "lines", "name_ends", "scale", "sources",
    "ticks_at",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return a public name from the module that defines it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'lab' if name == 'Lab' else 'drawing'}"), name)
