"""What a notebook holds: the lab, what reports say with it, and the marks that figures share.

Each name is loaded from its module when it is first used: drawing is slow.
"""

from importlib import import_module
from typing import Any

MODULES = {
    "about": ("about_machine", "about_run", "proved"),
    "advice": ("GUESS_NOTES", "guesses"),
    "audit": ("claims", "claims_table", "corrections", "with_own"),
    "calibration": ("calibration_table", "smallest_found"),
    "choices": ("alike",),
    "computed": ("compute",),
    "uncertainty": ("COVERAGE", "LEAST", "TYPES", "budget"),
    "axes": ("note_ends", "scale"),
    "drawing": ("bars", "dots", "facets", "limit", "spinning", "values_beside"),
    "curves": ("leading", "lines", "over"),
    "marks": ("drawable", "groups"),
    "lab": ("Lab", "lab_of"),
    "limits": ("about_limits", "beaten", "cpu_pairs", "impossible", "limited", "notice"),
    "required": ("requirements", "requirements_table"),
    "signing": ("about_configuration", "is_preliminary", "page_marks", "title_block"),
    "tabulation": ("listed",),
    "trust": ("trusted",),
    "steadiness": ("ranked", "told", "unsteady", "with_states"),
}
_PLACES = {name: module for module, names in MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
