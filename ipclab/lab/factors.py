"""The factors of a study and their levels, by which a mistyped one is told, not just empty."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

import pandas as pd

from ipclab.errors import UsageError, nearest
from ipclab.lab import labels
from ipclab.studies.installed import study as study_of
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES

MOST_NAMED = 12  # levels that a line names


@cache
def levels_of(study: str) -> Mapping[str, set[Any]]:
    """Return the usual levels of every factor that a point of the study can have, and of `op`."""
    its_study = study_of(study)
    levels: dict[str, set[Any]] = defaultdict(set)
    for profile in PROFILES.values():
        for point in its_study.points(profile, Sweep()):
            for name, level in point.key().items():
                levels[name].add(level)
    for name, more in getattr(its_study, "factors", {}).items():
        levels[name].update(more)
    return dict(levels)


def check_levels(study: str, frame: pd.DataFrame, levels: Mapping[str, Any]) -> None:
    """Raise `UsageError`, with the nearest name, for words that no run of the study can have.

    `frame` holds what this run has. Numbers, such as sizes, are whatever was measured, and so are
    the columns of a contest; an operation or metric that this run lacks is known where it has a
    name (`labels.toml`, `levels.toml`).
    """
    possible = levels_of(study)
    for name, asked in levels.items():
        if name not in (*possible, "op", "metric"):
            continue
        usual = possible.get(name, set()).union(frame[name].dropna() if name in frame else ())
        for level in asked if pd.api.types.is_list_like(asked) else [asked]:
            if isinstance(level, str) and level not in usual | labels.KNOWN:
                words = sorted(word for word in usual if isinstance(word, str))
                more = ", ..." if len(words) > MOST_NAMED else ""
                why = f"there are {', '.join(words[:MOST_NAMED])}{more}"
                fix = f"did you mean {nearest(level, words)!r}?"
                raise UsageError(f"{study} has no {name} {level!r}", why, fix)
