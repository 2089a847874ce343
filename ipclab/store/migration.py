"""Reading what older versions wrote: one step for each schema, applied in memory; a run on disk is never rewritten.

A change of schema adds a step to each chain (one that changes nothing where nothing changed) and a stored run of the
schema before to `tests/data`.
"""

from collections.abc import Callable, Mapping
from typing import Any

About = dict[str, Any]
Step = Callable[[About], About]


def _run_from_1(about: About) -> About:
    """Schema 2 says which points cannot be measured and what studies noted, even when there is nothing to say."""
    return {**about, "points": about.get("points", {}), "notes": about.get("notes", {})}


def _point_from_1(about: About) -> About:
    """Schema 2 says with each launch for how many operations a sample stands; before, it was one."""
    return {**about, "launches": [{**launch, "per": launch.get("per", {})} for launch in about["launches"]]}


RUN_STEPS: Mapping[int, Step] = {1: _run_from_1}
POINT_STEPS: Mapping[int, Step] = {1: _point_from_1}
SCHEMA = 2


def migrated(about: About, steps: Mapping[int, Step]) -> About:
    """Return `about` as today's schema has it.

    Raises `ValueError` for a schema that this version does not know, and `KeyError` or `TypeError` for what is none.
    """
    schema = about["schema"]
    if not isinstance(schema, int) or isinstance(schema, bool) or not 1 <= schema <= SCHEMA:
        raise ValueError(f"its schema is {schema}, this ipclab knows 1 to {SCHEMA}")
    while schema < SCHEMA:
        about = {**steps[schema](about), "schema": schema + 1}
        schema += 1
    return about
