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


def _run_from_2(about: About) -> About:
    """Schema 3 says which levels were asked for, and nothing that is derived; its content has a digest of its own."""
    kept = {name: value for name, value in about.items() if name not in ("impossible", "derived_by")}
    return {"notes": {}, **kept, "parameters": {**about["parameters"], "levels": {}}}


def _same(about: About) -> About:
    return about


RUN_STEPS: Mapping[int, Step] = {1: _run_from_1, 2: _run_from_2}
POINT_STEPS: Mapping[int, Step] = {1: _point_from_1, 2: _same}
SCHEMA = 3
SEALED = 3  # the first schema whose run.json has a digest of its own


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
