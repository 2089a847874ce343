"""A fact: one number that a sentence of a report may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """One value with where it comes from.

    `unit` is ns, B, B/s, 1 (a ratio), share (0 to 1), count, text, date (ISO 8601) or any other symbol; `low`
    and `high` are the interval in the same unit; `n` says of how many; `kind` is measured, published,
    estimate or computed.
    """

    name: str
    value: float | int | str | None
    unit: str
    n: str = ""
    low: float | None = None
    high: float | None = None
    kind: str = "measured"
    source: str = ""
