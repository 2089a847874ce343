"""Making named facts from estimates."""

from ipclab.facts.fact import Fact
from ipclab.stats.intervals import Estimate


def measured(name: str, found: Estimate | None, unit: str) -> Fact:
    """Return the fact `name`; without an estimate it has no value, which reports print as not measured."""
    if found is None:
        return Fact(name, None, unit)
    n = f"{found.launches} x {found.samples}"
    return Fact(name, found.value, unit, n, found.low, found.high, "measured", "run")


def chosen(name: str, found: Estimate | None, bound: float, sentences: tuple[str, str, str]) -> Fact:
    """Return the sentence that the interval supports: above `bound`, below it, or undecided."""
    if found is None:
        return Fact(name, None, "text")
    above, below, undecided = sentences
    sentence = above if found.low > bound else below if found.high < bound else undecided
    return Fact(name, sentence, "text", source="run")


def computed(name: str, value: float | None, unit: str) -> Fact:
    """Return a fact that follows from constants, not from a clock."""
    return Fact(name, value, unit, kind="computed")


def published(name: str, value: float | str, unit: str, source: str) -> Fact:
    """Return a fact that a published text states; `source` is its seed and section."""
    return Fact(name, value, unit, kind="published", source=source)
