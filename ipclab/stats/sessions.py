"""Sessions of one run, hours or reboots apart: from three on, what they differ by is the scatter.

The number of a heat says in which session it was made: each begins at a multiple of `SESSION_HEATS`.
"""

from collections.abc import Iterable, Mapping

from ipclab.stats.intervals import mean_of

SESSION_HEATS = 1_000_000  # that a session has at most
LEAST_SESSIONS = 3  # sessions: two leave one degree of freedom, and say nothing


def several(heats: Iterable[int]) -> bool:
    """Tell whether `heats` are of as many sessions as an interval between sessions takes."""
    return len({heat // SESSION_HEATS for heat in heats}) >= LEAST_SESSIONS


def by_session(by_heat: Mapping[int, float], logs: bool = True) -> Mapping[int, float]:
    """Return the means of several sessions by their first heat, else the values `by_heat`.

    They are geometric ones with `logs`, where all values are above 0.
    """
    if not several(by_heat):
        return by_heat
    geometric = logs and min(by_heat.values()) > 0
    sessions = dict[int, list[float]]()
    for heat, value in by_heat.items():
        sessions.setdefault(heat - heat % SESSION_HEATS, []).append(value)
    return {first: mean_of(values, geometric) for first, values in sessions.items()}
