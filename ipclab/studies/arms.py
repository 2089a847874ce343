"""The points of a study from a table of data beside its module: products of factors by arm.

A row of `[[arm]]` gives each factor one level or a list; `$name` stands for levels that the study
knows, and a table in a list sets several factors at once, its own product. Of a factor that is set
twice in a row, the later levels hold. `[usual]` has the levels that a row leaves out, `[brief]` the
levels that quick and smoke runs leave out, so that a quick one decides the rest, `[later]` those
on which no finding, advice or claim rests. `[effort]` has what depends on the profile. Beside the
levels stand `block` and `primary` (ops, apart by spaces), in which `{factor}` stands for its level.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

FILE = "arms.toml"
Levels = dict[str, Any]
Known = Mapping[str, Sequence[Any]]


@cache
def table(file: Path) -> dict[str, Any]:
    """Return the tables in the TOML `file`; none where there is none."""
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def under(profile: str, rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an `[effort]` under a profile.

    Each is one for all profiles, or a table by profile, in which `usual` stands for those that are
    not named. What then has no value is left out.
    """
    values = {}
    for name, value in rows.items():
        by_profile = value if isinstance(value, dict) else {"usual": value}
        if (chosen := by_profile.get(profile, by_profile.get("usual"))) is not None:
            values[name] = chosen
    return values


def expanded(row: Levels, known: Known) -> Iterator[Levels]:
    """Yield the product of the factors in `row`; `$name` stands for the levels `known[name]`."""
    for chosen in product(*(_choices(name, value, known) for name, value in row.items())):
        levels: Levels = {}
        for part in chosen:
            levels |= part
        yield levels


def _choices(name: str, value: Any, known: Known) -> Iterator[Levels]:
    for level in value if isinstance(value, list | tuple) else [value]:
        if isinstance(level, dict):
            yield from expanded(level, known)
        elif isinstance(level, str) and level.startswith("$"):
            yield from _choices(name, [*known[level[1:]]], known)
        else:
            yield {name: level}
