"""What a notebook holds: the lab, what reports say with it, and the marks that figures share.

Each name is loaded from its module when it is first used: drawing is slow.
"""

from importlib import import_module
from typing import Any

MODULES = {
    "about": (
        "about_calibration",
        "about_limits",
        "about_machine",
        "about_run",
        "calibration_table",
        "notice",
    ),
    "advice": ("GUESS_NOTES", "guesses"),
    "audit": ("claims", "claims_table", "compute", "corrections", "with_own"),
    "uncertainty": ("COVERAGE", "LEAST", "TYPES", "budget", "smallest_found"),
    "configuration": ("about_configuration",),
    "axes": ("note_ends",),
    "drawing": (
        "bars",
        "dots",
        "drawable",
        "facets",
        "groups",
        "leading",
        "limit",
        "lines",
        "name_ends",
        "over",
        "scale",
        "sources",
        "values_beside",
        "ticks_at",
    ),
    "lab": ("Lab", "lab_of"),
    "limits": ("beaten", "impossible", "limited"),
    "signing": ("is_preliminary", "page_marks", "title_block"),
    "table": ("listed",),
    "tied": ("alike",),
    "trust": ("trusted",),
}
_PLACES = {name: module for module, names in MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
