"""A need: what data move, how often, between whom, by when, and what must hold at any cost."""

import json
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from math import inf
from pathlib import Path
from typing import Any

from ipclab.console import bytes_of, nanoseconds_of
from ipclab.errors import UsageError, hint
from ipclab.frames.metrics import QUANTILES
from ipclab.store.files import file_text
from ipclab.store.questions import PLACEMENTS

ONE_WAY, ROUND_TRIP, STATE = WAYS = ("one-way", "round-trip", "state")
STUDIES = {ONE_WAY: "stream", ROUND_TRIP: "round_trip", STATE: "shared_dict"}
# the op of a closed loop
CLOSED = {ONE_WAY: "received", ROUND_TRIP: "round-trip", STATE: "read"}
# a message of a stream begins with its number
LEAST = {ONE_WAY: 8, ROUND_TRIP: 1, STATE: 1}
EACH, ONE = "each", "one"
NO_LOSS, SURVIVES = "no-loss", "survives-writer-crash"
MUSTS = (NO_LOSS, SURVIVES, "no-daemon", "other-languages", "across-hosts", "no-root")
WORDS = {"way": WAYS, "sharing": (EACH, ONE), "placement": PLACEMENTS}
CHOICES = WORDS | {"quantile": tuple(QUANTILES.values())}
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
        for name, words in WORDS.items():
            _check_word(name, getattr(self, name), words)
        for must in self.must:
            _check_word("must", must, MUSTS)
        if self.consumers < 1:
            what = f"consumers={self.consumers} is not possible"
            raise UsageError(what, "", "give a whole number above 0")
        for name in NUMBERS:
            value = getattr(self, name)
            if not 0 <= value < inf:
                what = f"{name}={value} is not possible"
                raise UsageError(what, "", "give a number of 0 or more")
        if self.quantile not in QUANTILES.values():
            kept = ", ".join(map(str, QUANTILES.values()))
            what = f"quantile {self.quantile} is not kept"
            raise UsageError(what, f"there are {kept}", "give one of them")
        if min(self.size) < LEAST[self.way]:
            what = f"size {min(self.size)} is not possible"
            raise UsageError(what, "", f"give {LEAST[self.way]} or more")
        self._check_measurable()

    def _check_measurable(self) -> None:
        """Raise `UsageError` for what no study measures."""
        if self.producers != 1:
            fix = "ask for each producer alone"
            raise UsageError("several producers", "every study has one", fix)
        if self.way == ONE_WAY and self.deadline_us and not self.rate:
            fix = "give a rate too, or way = round-trip"
            raise UsageError(
                "a deadline of messages one way", "a closed loop has no due times", fix
            )
        if self.way != ONE_WAY and self.work_us:
            why = "only messages one way are measured with it"
            raise UsageError("work of a consumer", why, "leave work_us out")
        if self.way == ROUND_TRIP and self.consumers != 1:
            fix = "give consumers = 1, or way = one-way"
            raise UsageError("round trips of several consumers", "that study has one pair", fix)
        if self.way == STATE and self.rate:
            raise UsageError("a rate of reads", "readers read in a closed loop", "leave rate out")
        if self.way == STATE and NO_LOSS in self.must:
            why = "shared state keeps the newest content only"
            raise UsageError("state without loss", why, "give way = one-way")

    @property
    def study(self) -> str:
        """Return the study that measures it."""
        return STUDIES[self.way]

    @property
    def gap_ns(self) -> float:
        """Return how long it is from an answer to the next question; 0 without such a gap."""
        return SECOND / self.rate if self.rate and self.way == ROUND_TRIP else 0.0

    @property
    def fault(self) -> str:
        """Return the fault that tells what a crash of the writer does."""
        return "killed-locked" if self.way == STATE else "killed-writing"

    @property
    def size_column(self) -> str:
        """Return the column of a frame that its sizes are levels of."""
        return "entries" if self.way == STATE else "size_bytes"

    @property
    def closed_op(self) -> str:
        """Return the op that a closed loop times."""
        return CLOSED[self.way]

    @property
    def op(self) -> str:
        """Return the op whose time ranks mechanisms."""
        return "intended" if self.rate and self.way != STATE else self.closed_op

    def levels(self, rate: float | None = None) -> dict[str, Any]:
        """Return the levels, beside size and mechanism, of its points, at its own or another `rate`."""
        rate = self.rate if rate is None else rate
        levels: dict[str, Any] = {"placement": self.placement}
        if self.way == STATE:
            levels |= {"arm": "read-many", "readers": self.consumers, "nodes": 1}
            levels["codec"] = "pickle"
        elif self.way == ROUND_TRIP:
            levels |= {"arm": ["main", "gap", NEED], "receive": "bytes", "touch": "full"}
            levels["gap_ns"] = round(SECOND / rate) if rate else 0
        else:
            levels |= {"window": 0, "batch": 1, "load": 0, "stall_ns": 0}
            levels |= {"work_ns": round(self.work_us * US), "consumers": self.consumers}
            levels["sharing"] = self.sharing if self.consumers > 1 else EACH
            levels["rate"] = round(rate)
            levels["arm"] = STREAMED
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
        plain = _with_rate(plain)
    kinds = {side.name: side.type for side in fields(Need)}
    for name in plain:
        if name not in kinds:
            raise UsageError(f"a need has no {name!r}", "", hint(name, kinds))
    if not plain.get("size"):
        raise UsageError("a need without a size", "", "give one, such as size = 64 or --size 4KiB")
    sides: dict[str, Any] = {}
    way = plain.get("way")
    for name, value in plain.items():
        try:
            if name == "size":
                sides[name] = _sizes(value, way)
            else:
                sides[name] = _converted(kinds[name], value)
        except (TypeError, ValueError, OverflowError) as error:
            what = f"{name} = {value!r} is not possible"
            raise UsageError(what, str(error), "see docs/choose.md") from error
    return Need(**sides)


def _with_rate(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain data whose `gap` is told as a rate of round trips."""
    told = {"way": ROUND_TRIP, **plain}
    gap = told.pop("gap")
    if told["way"] != ROUND_TRIP:
        what = f"a gap of way = {told['way']}"
        raise UsageError(what, "it is from an answer to a question", f"give way = {ROUND_TRIP}")
    if told.get("rate"):
        raise UsageError("a gap and a rate", "one is one over the other", "give one of them")
    try:
        told["rate"] = SECOND / nanoseconds_of(str(gap))
    except ValueError as error:
        raise UsageError(
            f"gap = {gap!r} is not possible", str(error), "see docs/choose.md"
        ) from error
    return told


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
    if kind is float or kind is int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError("give a number")
        if kind is int and value != int(value):
            raise ValueError("give a whole number")
        return kind(value)
    words = [value] if isinstance(value, str) else value
    return tuple(map(str, words))


def _check_word(name: str, word: str, words: Iterable[str]) -> None:
    if word not in words:
        raise UsageError(f"{name} = {word!r} is not possible", "", hint(word, words))
