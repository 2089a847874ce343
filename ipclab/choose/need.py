"""A need: what data move, how often, between whom, by when, and what must hold whatever it costs."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Any

from ipclab.errors import UsageError, nearest
from ipclab.frames.points import QUANTILES
from ipclab.studies.profile import PLACEMENTS

ONE_WAY, ROUND_TRIP, STATE = WAYS = ("one-way", "round-trip", "state")
STUDIES = {ONE_WAY: "stream", ROUND_TRIP: "round_trip", STATE: "shared_dict"}
EACH, ONE = "each", "one"
NO_LOSS, SURVIVES = "no-loss", "survives-writer-crash"
MUSTS = (NO_LOSS, SURVIVES, "no-daemon", "other-languages", "across-hosts", "no-root")
UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*(?::\s*(\d+(?:\.\d+)?)\s*)?")
LEAST = {ONE_WAY: 8, ROUND_TRIP: 1, STATE: 1}  # a message of a stream begins with its number
REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))["need"]
US = 1e3
NEED = "need"  # the arm of points that were measured for a need


@dataclass(frozen=True)
class Need:
    """What one asks of a mechanism.

    `size` maps bytes (entries of a dictionary, for `state`) to the share of messages that have them. `rate` is in
    messages per second, 0 a closed loop; `sharing` says who gets a message: `each` consumer, or `one` of them. The
    `deadline_us` is met when the `quantile` of the times lies below it, for every size of a mix. `cpus` is how many
    CPUs both ends may keep busy together. `must` are names of `MUSTS`.
    """

    size: Mapping[int, float]
    way: str = ONE_WAY
    rate: float = 0.0
    producers: int = 1
    consumers: int = 1
    sharing: str = EACH
    placement: str = "cross"
    work_us: float = 0.0
    deadline_us: float = 0.0
    quantile: float = 0.99
    cpus: float = 0.0
    must: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `UsageError` for what no study can be asked."""
        for name, known in (("way", WAYS), ("sharing", (EACH, ONE)), ("placement", PLACEMENTS)):
            _known(name, getattr(self, name), known)
        for name in self.must:
            _known("must", name, MUSTS)
        for name in ("rate", "work_us", "deadline_us", "cpus"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise UsageError(f"{name}={getattr(self, name)} is not possible", "", "give a number of 0 or more")
        if self.consumers < 1:
            raise UsageError(f"consumers={self.consumers} is not possible", "", "give a whole number above 0")
        if self.quantile not in QUANTILES.values():
            told = ", ".join(map(str, QUANTILES.values()))
            raise UsageError(f"quantile {self.quantile} is not kept", f"there are {told}", "give one of them")
        if min(self.size) < LEAST[self.way]:
            raise UsageError(f"size {min(self.size)} is not possible", "", f"give {LEAST[self.way]} or more")
        given = {each.name for each in fields(self) if getattr(self, each.name) != each.default} | {*self.must}
        for rule in REFUSED:
            asked = self.way in rule.get("way", WAYS) and given.issuperset(rule["given"])
            if asked and given.isdisjoint(rule.get("without", ())):
                raise UsageError(rule["what"], rule["why"], rule["fix"])

    @property
    def study(self) -> str:
        """Return the study that measures it."""
        return STUDIES[self.way]

    @property
    def fault(self) -> str:
        """Return the fault that tells what a crash of the writer does."""
        return "killed-locked" if self.way == STATE else "killed-writing"

    @property
    def sized(self) -> str:
        """Return the column of a frame that its sizes are levels of."""
        return "entries" if self.way == STATE else "size_bytes"

    @property
    def op(self) -> str:
        """Return the op whose time ranks mechanisms."""
        paced = {ONE_WAY: "intended", ROUND_TRIP: "intended"}
        closed = {ONE_WAY: "received", ROUND_TRIP: "round-trip", STATE: "read"}
        return (paced if self.rate and self.way in paced else closed)[self.way]

    @property
    def metric(self) -> str:
        """Return the metric that is held against the deadline."""
        return next(name for name, share in QUANTILES.items() if share == self.quantile)

    def levels(self, rate: float | None = None) -> dict[str, Any]:
        """Return the levels, beside size and mechanism, of the points that tell of it, at its own or another `rate`."""
        rate = self.rate if rate is None else rate
        here = {"placement": self.placement}
        if self.way == STATE:
            return here | {"arm": "read-many", "readers": self.consumers, "nodes": 1, "codec": "pickle"}
        if self.way == ROUND_TRIP:
            gap = round(1e9 / rate) if rate else 0
            return here | {"arm": ["main", "gap", NEED], "gap_ns": gap, "receive": "bytes", "touch": "full"}
        alone = {"window": 0, "batch": 1, "load": 0, "stall_ns": 0, "work_ns": round(self.work_us * US)}
        sharing = self.sharing if self.consumers > 1 else EACH
        return here | alone | {"consumers": self.consumers, "sharing": sharing, "rate": round(rate)}

    def told(self) -> dict[str, Any]:
        """Return it as plain data, from which `of` makes it again."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return found | {"size": {str(size): share for size, share in self.size.items()}, "must": list(self.must)}


def of(told: Mapping[str, Any]) -> Need:
    """Return the need of plain data, such as a TOML file's; raises `UsageError` for what cannot be meant."""
    known = {each.name: each.type for each in fields(Need)}
    if wrong := next((name for name in told if name not in known), None):
        raise UsageError(f"a need has no {wrong!r}", "", f"did you mean {nearest(wrong, known)!r}?")
    if not told.get("size"):
        raise UsageError("a need without a size", "", "give one, such as size = 64 or --size 4KiB")
    made: dict[str, Any] = {}
    for name, value in told.items():
        try:
            made[name] = _sizes(value) if name == "size" else _plain(known[name], value)
        except (TypeError, ValueError, OverflowError) as error:
            raise UsageError(f"{name} = {value!r} is not possible", str(error), "see docs/choose.md") from error
    return Need(**made)


def read(words: str | Path) -> Need:
    """Return the need that `words` are as JSON, or that the TOML file they name holds; raises `UsageError`."""
    plain = str(words).lstrip().startswith("{")
    try:
        return of(json.loads(str(words)) if plain else tomllib.loads(Path(words).read_text("utf-8")))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError("this is no need" if plain else f"{words} is no need", why, "see docs/choose.md") from error


def _sizes(told: Any) -> dict[int, float]:
    """Return shares by size of a number, a table of weights, or words such as `64B:9, 1MiB:1`."""
    pairs = told.items() if isinstance(told, Mapping) else [(part, None) for part in str(told).split(",")]
    weights: dict[int, float] = {}
    for text, weight in pairs:
        parts = SIZE.fullmatch(str(text))
        if not parts or parts[2] not in UNITS:
            raise ValueError(f"{text!r} is no size: write 65536, 64KiB, or 64:9,1MiB:1")
        share = float(weight if weight is not None else parts[3] or 1)
        weights[round(float(parts[1]) * UNITS[parts[2]])] = share
    if not all(isfinite(share) and share > 0 for share in weights.values()):
        raise ValueError("a weight must be above 0")
    return {size: share / sum(weights.values()) for size, share in sorted(weights.items())}


def _plain(kind: Any, value: Any) -> Any:
    if kind is float or kind is int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError("give a number")
        if kind is int and value != int(value):
            raise ValueError("give a whole number")
        return kind(value)
    if kind is str:
        return str(value)
    return tuple(map(str, [value] if isinstance(value, str) else value))


def _known(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        near = f"did you mean {nearest(value, known)!r}? there are {', '.join(known)}"
        raise UsageError(f"{name} = {value!r} is not possible", "", near)
