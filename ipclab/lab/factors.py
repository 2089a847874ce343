"""The factors of a study and their levels, by which a mistyped one is told, not just empty."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ipclab.errors import UsageError, hint
from ipclab.store.run import RunFolder
from ipclab.words import labels

LIMITS = "limits"


def check_levels(
    run: RunFolder, study: str, frame: pd.DataFrame, levels: Mapping[str, Any]
) -> None:
    """Raise `UsageError`, with the nearest name, for words that `run` neither holds nor asks.

    `frame` holds what this run has. Numbers, such as sizes, are whatever was measured, and so are
    the columns of a contest; an operation or metric that this run lacks is known where it has a
    name (`labels.toml`, `levels.toml`).
    """
    possible = run.questions.of(study).levels
    for name, asked in levels.items():
        if name not in (*possible, "op", "metric"):
            continue
        usual = {*possible.get(name, ())}.union(frame[name].dropna() if name in frame else ())
        if study == LIMITS and name == "backend":  # a run measures those that bound its points
            usual |= run.questions.limits.keys()
        if not usual:  # of a study that this run does not hold, nothing tells right from wrong
            continue
        for level in asked if pd.api.types.is_list_like(asked) else [asked]:
            if isinstance(level, str) and level not in usual | labels.KNOWN:
                raise UsageError(f"{study} has no {name} {level!r}", "", hint(level, sorted(usual)))
