"""The factors of a study and their levels, by which a mistyped one is told, not just empty."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ipclab.errors import UsageError, hint
from ipclab.frames.address import Address
from ipclab.store.questions import Questions
from ipclab.store.run import RunFolder
from ipclab.studies.questions import usual_levels
from ipclab.words import labels

MECHANISM = "backend"


def known_words(questions: Questions, study: str, factor: str, frame: pd.DataFrame) -> set[str]:
    """Return the words that are levels of `factor`: asked of `study`, or measured in its `frame`.

    A mechanism, or a native program that bounds one, is known wherever a run asks for it: that this
    study, or this sweep, has none of it leaves a frame empty. Nothing is known where nothing is
    asked or measured.
    """
    words = {*questions.of(study).levels.get(factor, ())}
    if factor in frame:
        words.update(level for level in frame[factor].dropna() if isinstance(level, str))
    if factor == MECHANISM and words:
        words |= questions.mechanisms.keys() | questions.limits.keys()
    return words


def check_levels(
    run: RunFolder, study: str, frame: pd.DataFrame, levels: Mapping[str, Any]
) -> None:
    """Raise `UsageError`, with the nearest name, for words that `run` neither holds nor asks.

    `frame` holds what this run has; levels of the installed study are known, too. Numbers, such as
    sizes, are whatever was measured, and so are the columns of a contest; an operation or metric
    that this run lacks is known where it has a name (`labels.toml`, `levels.toml`).
    """
    possible, now = run.questions.of(study).levels, usual_levels(study)
    for name, asked in levels.items():
        if name not in (*possible, "op", "metric"):
            continue
        usual = known_words(run.questions, study, name, frame)
        if not usual:  # of a study that this run does not hold, nothing tells right from wrong
            continue
        usual |= {*now.get(name, ())}
        for level in asked if pd.api.types.is_list_like(asked) else [asked]:
            if isinstance(level, str) and level not in usual | labels.KNOWN:
                raise UsageError(f"{study} has no {name} {level!r}", "", hint(level, sorted(usual)))


def check_address(run: RunFolder, address: Address, frame: pd.DataFrame) -> None:
    """Raise as `check_levels` does for the words that an address has as levels."""
    # of numbers, whatever was measured can be asked for
    words = {
        name: [level for level in levels if not level.isdecimal()]
        for name, levels in address.named.items()
    }
    check_levels(run, address.study, frame, words)
