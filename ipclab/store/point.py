"""A point: one combination of levels, the unit that is measured, stored and resumed."""

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from ipclab.store.schema import Count, StudyName, Whole

# Letters that are no markup anywhere: of backends, ops, factors and their levels
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9 +.,:=_-]{0,99}", re.ASCII)
# Columns of frames, which no factor may be called; one called `op` is the op that it names.
TAKEN = {
    "study", "point", "backend", "size_bytes", "placement", "metric", "unit", "value", "low",
    "high", "error", "freedom", "launches", "samples", "flags", "heats", "by_heat", "crowded",
    "launch", "order", "round", "heat", "turns", "row", "relation", "limit", "over_limit", "over",
    "fast", "slow", "why", "busy", "p99", "mean", "cpu_ns",
}  # fmt: skip
Level = str | Whole


@dataclass(frozen=True)
class Point:
    """One combination of levels of a study.

    `size_bytes` is what really moves. Points of one `block` are measured interleaved, since they
    will be compared. `primary` names the ops whose interval decides when enough launches were made.
    """

    study: StudyName
    backend: Annotated[str, Meta(min_length=1)]
    size_bytes: Count
    placement: str
    levels: dict[str, Level] = field(default_factory=dict)
    block: str = ""
    primary: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `ValueError` for a name or a level that would be markup where it is printed.

        A factor may not be called as a column of frames is, either.
        """
        if strange := TAKEN & {*self.levels}:
            raise ValueError(f"a factor is called {min(strange)!r}")
        words = [word for word in self.levels.values() if isinstance(word, str)]
        for name in (self.backend, self.placement, *self.levels, *filter(None, words)):
            if not NAME.fullmatch(name):
                raise ValueError(f"{name[:100]!r} is no name: letters, digits and + . , : = _ -")

    def key(self) -> dict[str, Level]:
        """Return all levels in one dictionary, sorted by name."""
        key = {
            "backend": self.backend,
            "size_bytes": self.size_bytes,
            "placement": self.placement,
            **self.levels,
        }
        return dict(sorted(key.items()))

    @property
    def id(self) -> str:
        """Return the point's name: readable, and unique through a digest of its levels."""
        text = json.dumps([self.study, self.key()], sort_keys=True)
        words = [
            self.backend,
            *(str(self.levels[name]) for name in sorted(self.levels)),
            self.placement,
        ]
        name = "-".join([*words, str(self.size_bytes)]).lower()
        slug = re.sub(r"[^a-z0-9]+", "-", name).strip("-")
        digest = hashlib.sha256(text.encode()).hexdigest()
        return f"{slug[:80]}-{digest[:8]}"
