"""A need: what data move, how often, between whom, by when, and what must hold at any cost."""

import json
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import inf
from pathlib import Path
from typing import Any, Self

from ipclab.console import bytes_of, nanoseconds_of
from ipclab.errors import UsageError, hint
from ipclab.frames.metrics import QUANTILES
from ipclab.plugins import chosen
from ipclab.store.files import file_text
from ipclab.store.questions import PLACEMENTS

ONE_WAY, ROUND_TRIP, STATE = WAYS = ("one-way", "round-trip", "state")
STUDIES = {ONE_WAY: "stream", ROUND_TRIP: "round_trip", STATE: "shared_dict"}
# the op of a closed loop
CLOSED = {ONE_WAY: "received", ROUND_TRIP: "round-trip", STATE: "read"}
LEAST = 8  # a message of a stream begins with its number
EACH, ONE = "each", "one"
NO_LOSS, SURVIVES = "no-loss", "survives-writer-crash"
MUSTS = (NO_LOSS, SURVIVES, "no-daemon", "other-languages", "across-hosts", "no-root")
CHOICES: dict[str, tuple[Any, ...]] = {
    "way": WAYS,
    "sharing": (EACH, ONE),
    "placement": PLACEMENTS,
    "quantile": tuple(QUANTILES.values()),
}
NUMBERS = ("rate", "consumers", "work_us", "deadline_us", "cpus")
US, SECOND = 1e3, 1e9
NEED = "need"  # the arm of points that were measured for a need
# The arms of streams that vary no more than a need does.
STREAMED = ["main", "consumers", "work", "open", "paced", NEED]


@dataclass(frozen=True)
class Need:
    """What one asks of a mechanism.

    `size` maps bytes (entries of a dictionary, for `state`) to the share of messages that have
    them. `rate` is in messages per second, 0 a closed loop; `sharing` says who gets a message:
    `each` consumer, or `one` of them. The `deadline_us` is met when the `quantile` of the times
    lies below it, for every size of a mix. `cpus` is how many CPUs both ends may keep busy
    together. `must` are names of `MUSTS`.
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
        """Raise `UsageError` for values that cannot be, or that no study measures."""
        for name, possible in CHOICES.items():
            chosen(name, str(getattr(self, name)), dict.fromkeys(map(str, possible)))
        for must in self.must:
            chosen("must", must, dict.fromkeys(MUSTS))
        for name in NUMBERS:
            value = getattr(self, name)
            least = int(name == "consumers")
            if not least <= value < inf:
                what = f"{name}={value} is not possible"
                raise UsageError(what, "", f"give a number of {least} or more")
        if self.producers != 1:
            raise UsageError("several producers: every study has one", "", "ask for each alone")
        if self.way == ONE_WAY:
            if min(self.size) < LEAST:
                what = f"size {min(self.size)} is not possible"
                raise UsageError(what, "", f"give {LEAST} or more")
            if self.deadline_us and not self.rate:
                what = "a deadline of messages one way: a closed loop has no due times"
                raise UsageError(what, "", "give a rate too, or way = round-trip")
        elif self.work_us:
            what = "work of a consumer: only messages one way are measured with it"
            raise UsageError(what, "", "leave work_us out")
        if self.way == ROUND_TRIP and self.consumers != 1:
            what = "round trips of several consumers: that study has one pair"
            raise UsageError(what, "", "give consumers = 1, or way = one-way")
        if self.way == STATE and self.rate:
            what = "a rate of reads: readers read in a closed loop"
            raise UsageError(what, "", "leave rate out")
        if self.way == STATE and NO_LOSS in self.must:
            what = "state without loss: shared state keeps the newest content only"
            raise UsageError(what, "", "give way = one-way")

    @property
    def study(self) -> str:
        """Return the study that measures it."""
        return STUDIES[self.way]

    @property
    def closed(self) -> Self:
        """Return the same need of a closed loop, of which the deadline is no part."""
        return replace(self, rate=0.0, deadline_us=0.0)

    @property
    def gap_ns(self) -> int:
        """Return how long it is from an answer to the next question; 0 without such a gap."""
        return round(SECOND / self.rate) if self.rate and self.way == ROUND_TRIP else 0

    @property
    def fault(self) -> str:
        """Return the fault that tells what a crash of the writer does."""
        return "killed-locked" if self.way == STATE else "killed-writing"

    @property
    def size_column(self) -> str:
        """Return the column of a frame that its sizes are levels of."""
        return "entries" if self.way == STATE else "size_bytes"

    @property
    def op(self) -> str:
        """Return the op whose time ranks mechanisms."""
        return "intended" if self.rate else CLOSED[self.way]

    def levels(self) -> dict[str, Any]:
        """Return the levels, beside size and mechanism, of its points."""
        levels: dict[str, Any] = {"placement": self.placement}
        if self.way == STATE:
            levels |= {"arm": "read-many", "readers": self.consumers, "nodes": 1}
            levels["codec"] = "pickle"
        elif self.way == ROUND_TRIP:
            levels |= {"arm": ["main", "gap", NEED], "receive": "bytes", "touch": "full"}
            levels["gap_ns"] = self.gap_ns
        else:
            levels |= {"window": 0, "batch": 1, "load": 0, "stall_ns": 0, "arm": STREAMED}
            levels |= {"work_ns": round(self.work_us * US), "consumers": self.consumers}
            levels["sharing"] = self.sharing if self.consumers > 1 else EACH
            levels["rate"] = round(self.rate)
        return levels

    def command(self) -> str:
        """Return what to type to measure every mechanism that may fit, in a run of its own."""
        sizes = [f"{size}:{share:g}" for size, share in self.size.items()]
        words = ["ipclab", "choose", "--measure", "--size"]
        words.append(",".join(sizes) if sizes[1:] else str(next(iter(self.size))))
        for side in fields(self):
            value = getattr(self, side.name)
            if side.name in ("size", "must") or value == side.default:
                continue
            words += [f"--{side.name.replace('_', '-')}", str(value).removesuffix(".0")]
        for must in self.must:
            words += ["--must", must]
        return shlex.join(words)

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, from which `need_of` makes it again."""
        sizes = {str(size): share for size, share in self.size.items()}
        return {**asdict(self), "size": sizes, "must": list(self.must)}


def need_of(plain: Mapping[str, Any]) -> Need:
    """Return the need of plain data, such as a TOML file's.

    A `gap`, such as 50us, is a rate of round trips, one over it. Raises `UsageError` for what
    cannot be meant.
    """
    if "gap" in plain:
        plain = {"way": ROUND_TRIP, **plain}
        if plain["way"] != ROUND_TRIP:
            what = f"a gap of way = {plain['way']}: it is from an answer to a question"
            raise UsageError(what, "", f"give way = {ROUND_TRIP}")
        if plain.get("rate"):
            raise UsageError("a gap and a rate: one is one over the other", "", "give one of them")
        plain.pop("rate", None)
    kinds = {side.name: side.type for side in fields(Need)}
    for name in sorted(plain.keys() - {*kinds, "gap"}):
        raise UsageError(f"a need has no {name!r}", "", hint(name, kinds))
    if not plain.get("size"):
        raise UsageError("a need without a size", "", "give one, such as size = 64 or --size 4KiB")
    sides: dict[str, Any] = {}
    for name, value in plain.items():
        try:
            if name == "size":
                sides[name] = _sizes(value, plain.get("way"))
            elif name == "gap":
                sides["rate"] = SECOND / nanoseconds_of(str(value))
            else:
                sides[name] = _converted(kinds[name], value)
        except (TypeError, ValueError, OverflowError) as error:
            what = f"{name} = {value!r} is not possible"
            raise UsageError(what, str(error), "see docs/choose.md") from error
    return Need(**sides)


def read_need(text: str | Path) -> Need:
    """Return the need that `text` is as JSON, or that the TOML file it names holds.

    Raises `UsageError` for what is none.
    """
    is_json = str(text).lstrip().startswith("{")
    try:
        if is_json:
            return need_of(json.loads(str(text)))
        return need_of(tomllib.loads(file_text(Path(text))))
    except (OSError, ValueError, RecursionError) as error:
        what = "this is no need" if is_json else f"{text} is no need"
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(what, why, "see docs/choose.md") from error


def _sizes(sizes: Any, way: Any) -> dict[int, float]:
    """Return shares by size of a number, a table of weights, or words: `64B:9, 1MiB:1`."""
    if isinstance(sizes, Mapping):
        pairs = list(sizes.items())
    else:
        words = [word.partition(":") for word in str(sizes).split(",")]
        pairs = [(size, weight or 1) for size, _, weight in words]
    weights: dict[int, float] = {}
    for size, weight in pairs:
        if way == STATE and not str(size).strip().isdecimal():
            raise ValueError(f"the size of state is a number of entries, and {size!r} is none")
        weights[bytes_of(str(size))] = float(weight)
    if not all(0 < weight < inf for weight in weights.values()):
        raise ValueError("a weight must be above 0")
    total = sum(weights.values())
    return {size: weight / total for size, weight in sorted(weights.items())}


def _converted(kind: Any, value: Any) -> Any:
    """Return `value` as the type of a side of a need; raises `TypeError` or `ValueError`."""
    if kind is str:
        return str(value)
    if kind not in (int, float):
        return (value,) if isinstance(value, str) else tuple(map(str, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("give a number")
    if kind is int and int(value) != value:
        raise ValueError("give a whole number")
    return kind(value)
