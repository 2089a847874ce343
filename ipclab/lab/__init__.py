"""What a notebook holds: the lab, and the marks that its figures share; loaded when first used: drawing is slow."""

from importlib import import_module
from typing import Any

__all__ = [
    "Lab", "bars", "dots", "drawable", "facets", "groups", "leading", "limit", "lines", "name_ends", "scale", "sources",
    "ticks_at",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'lab' if name == 'Lab' else 'drawing'}"), name)
