"""What may be asked of a study: its factors and their levels, so that a mistyped one is told and
not just empty.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import UsageError, nearest
from ipclab.lab import labels

MOST = 12  # levels that a line names


@cache
def factors(study: str) -> Mapping[str, frozenset[Any]]:
    """Return every factor that a point of the study can have, with its usual levels; what it times
    is `op`.
    """
    from ipclab.studies.installed import study as study_of
    from ipclab.studies.interface import Sweep
    from ipclab.studies.profile import PROFILES

    known = study_of(study)
    found: dict[str, set[Any]] = {}
    for point in (
        point for profile in PROFILES.values() for point in known.points(profile, Sweep())
    ):
        for name, level in point.key().items():
            found.setdefault(name, set()).add(level)
    for name, levels in getattr(known, "factors", {}).items():
        found.setdefault(name, set()).update(levels)
    return {name: frozenset(levels) for name, levels in found.items()}


def check(study: str, frame: pd.DataFrame, levels: Mapping[str, Any]) -> None:
    """Raise `UsageError` with the nearest name for words among `levels` that no run of the study
    can have.

    `frame` holds what this run has. Numbers, such as sizes, are whatever was measured, and so are
    the columns of a contest; an operation or metric that this run lacks is known where it has a
    name (`labels.toml`, `levels.toml`).
    """
    known = factors(study)
    for name, asked in levels.items():
        if name not in (*known, "op", "metric"):
            continue
        here = set(frame[name].dropna()) if name in frame else set()
        usual = here | known.get(name, frozenset())
        several = isinstance(asked, list | tuple | set | frozenset | np.ndarray | pd.Series)
        for level in asked if several else [asked]:
            if isinstance(level, str) and level not in usual and level not in labels.KNOWN:
                words = sorted(word for word in usual if isinstance(word, str))
                more = ", ..." if len(words) > MOST else ""
                why = f"there are {', '.join(words[:MOST])}{more}"
                raise UsageError(
                    f"{study} has no {name} {level!r}",
                    why,
                    f"did you mean {nearest(level, words)!r}?",
                )
