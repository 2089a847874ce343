"""What findings are about: columns in which sides differ name them, columns they share are the topic.

A column is told when the run varies it; one that follows from the mechanism, as whether it sleeps,
is not told beside the mechanism.
"""

from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from ipclab.errors import UsageError
from ipclab.words import phrases

# Told wherever all sides share them, of whatever run.
ALWAYS_TOLD = {
    *("op", "size_bytes", "placement", "backend"),
    *("entries", "readers", "object", "python"),
}
NEVER = {"arm", "study", "point", "unit", "busy"}
MAIN = "main"  # the arm of what a study measures first
# Columns of a notebook that part mechanisms into kinds, or levels into ranges.
GROUPS = ("medium", "sends", "workers", "spinning", "gaps")
# What tells sides apart, the first that does; others may follow from it.
NAMERS = ("way", "backend")
Levels = dict[str, Any]


def levels_of(rows: pd.DataFrame, factors: Collection[str]) -> Levels:
    """Return the levels of `factors` that all rows share."""
    levels = {}
    for name in factors:
        if name in rows and len(rows) and rows[name].nunique(dropna=False) == 1:
            level = rows[name].iloc[0]
            if not pd.isna(level):
                levels[name] = level.item() if hasattr(level, "item") else level
    return levels


def factors_of(rows: pd.DataFrame, known: Collection[str]) -> list[str]:
    """Return the columns of rows that a finding may tell: factors of the study, and known ones."""
    study = str(rows.study.iloc[0]) if "study" in rows and len(rows) else ""
    unsaid = phrases.TABLE["unsaid"].get(study, {})
    told = {*known, *phrases.LEVELS, "op", "metric"} - NEVER
    return [str(name) for name in rows if name in told and unsaid.get(name) != "*"]


def parted(
    parts: Sequence[pd.DataFrame],
    study: pd.DataFrame,
    factors: Collection[str],
    without: Collection[str] = (),
) -> tuple[Levels, list[Levels]]:
    """Return what `parts` share and is told, and what tells each apart, in one thing only.

    `study` are all rows of it, by which a factor varies or not; `without` are columns that are told
    otherwise. Raises `UsageError` for sides that do not differ, or in more than one thing.
    """
    names = factors_of(parts[0], factors)
    every = [levels_of(part, [name for name in names if name not in without]) for part in parts]
    common = [name for name in names if all(name in levels for levels in every)]
    shared = {name: every[0][name] for name in common if len({str(e[name]) for e in every}) == 1}
    differ = [name for name in common if name not in shared]
    sides = [{name: levels[name] for name in differ} for levels in every]
    if len(parts) > 1:
        sides = _named_once(sides, study)
    return _told(shared, sides, study), sides


def _named_once(sides: list[Levels], study: pd.DataFrame) -> list[Levels]:
    """Return sides named by one thing: what follows from their mechanisms is left out."""
    namer = next((name for name in NAMERS if name in sides[0]), "")
    differ = [
        name
        for name in sides[0]
        if not namer or name == namer or name in GROUPS or not _follows(name, namer, sides, study)
    ]
    groups = [name for name in differ if name in GROUPS]
    beside = {*groups, "backend"} if groups else set()
    if len(groups) + len([name for name in differ if name not in beside]) != 1:
        what = " and ".join(differ) or "nothing"
        fix = "narrow both to one level of everything else"
        raise UsageError(f"sides differ in {what}", "a finding compares in one thing", fix)
    return [{name: side[name] for name in differ} for side in sides]


def _follows(name: str, namer: str, sides: Sequence[Levels], study: pd.DataFrame) -> bool:
    """Tell whether what names the sides (a mechanism, a way) has no level of a factor in common."""
    if name not in study:
        return True
    of = [{*study[name][study[namer] == side[namer]].dropna()} for side in sides]
    return not set.intersection(*of)


def _told(shared: Levels, sides: Sequence[Levels], study: pd.DataFrame) -> Levels:
    """Return the shared levels that do not go without saying.

    The one level that a factor has in the main arm goes without saying, and so does the median.
    """
    unsaid = phrases.TABLE["unsaid"].get(str(study.study.iloc[0]) if len(study) else "", {})
    main = study[study.arm == MAIN] if "arm" in study else study.iloc[:0]
    told = {}
    for name, level in shared.items():
        is_median = (str(name), str(level)) == ("metric", "p50")
        if is_median or unsaid.get(name) == level:
            continue
        usual = [*main[name].dropna().unique()] if name in main else []
        varies = name not in study or study[name].nunique() > 1
        own = usual != [level] and varies and not _of_mechanism(name, shared, sides, study)
        if name in ALWAYS_TOLD or own:
            told[name] = level
    return told


def _of_mechanism(name: str, shared: Levels, sides: Sequence[Levels], study: pd.DataFrame) -> bool:
    """Tell whether the mechanisms that are named have this level alone."""
    if name == "metric" or name not in study:
        return False
    named = [levels["backend"] for levels in (shared, *sides) if "backend" in levels]
    if not named:
        return False
    by_mechanism = study[study.backend.isin(named)].groupby("backend")[name]
    return bool((by_mechanism.nunique() <= 1).all())


def pairs_differ(pairs: pd.DataFrame, factors: Collection[str], on: Collection[str]) -> list[str]:
    """Return the factors in which paired rows (`_under`) differ, beside what pairs them."""
    found = []
    for name in factors:
        if name in on or name in NEVER or f"{name}_under" not in pairs:
            continue
        both = pairs[[name, f"{name}_under"]].dropna()
        if (both[name].astype(str) != both[f"{name}_under"].astype(str)).any():
            found.append(name)
    return found
